"""The outline of a file (its declarations, or the steps of a plan), and the declarations of a workspace.

The blocks of a plan without a ``define`` form: steps that follow a comment or an empty line.

Folding ranges: forms over several lines, runs of comments, and the blocks of a plan.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from lsprotocol import types

from plansafe.app.interfaces.editor.document_text import Text
from plansafe.app.interfaces.editor.lsp_diagnostics import clean
from plansafe.app.interfaces.editor.name_mentions import RULES, Mention, NameKind
from plansafe.app.interfaces.editor.source_tree import Form, Part, Word, parse_tree
from plansafe.app.interfaces.editor.symbols import Symbols
from plansafe.app.project.file_kinds import Kind
from plansafe.grammar.diagnostics import Span
from plansafe.grammar.source import Source

MAX_STEPS = 5_000
MAX_SYMBOLS = 500
"""Maximum number of symbols of a workspace in one answer."""
_LONGEST = 200
_KINDS = {
    NameKind.DOMAIN: types.SymbolKind.Namespace,
    NameKind.PROBLEM: types.SymbolKind.Namespace,
    NameKind.TYPE: types.SymbolKind.Class,
    NameKind.PREDICATE: types.SymbolKind.Property,
    NameKind.FUNCTION: types.SymbolKind.Number,
    NameKind.ACTION: types.SymbolKind.Function,
    NameKind.OBJECT: types.SymbolKind.Variable,
    NameKind.RULE: types.SymbolKind.Constant,
}
_NAMED_FORMS = frozenset((":action", ":durative-action", ":invariant", *RULES))
"""Forms whose second word is the name that they declare."""


def outline_of_definition(text: Text, mentions: Iterable[Mention]) -> list[types.DocumentSymbol]:
    """Return the declarations of a file, below the domain, problem or specification that contains them."""
    tree = parse_tree(text.source)
    places: dict[int, Span] = {}
    _collect_places(tree, places)
    roots = [root for form in tree if isinstance(form, Form) for root in _root(text, form)]
    names = {(root.selection_range.start.line, root.selection_range.start.character) for root in roots}
    out = list(roots)
    for mention in mentions:
        if not mention.declares or mention.name_kind not in _KINDS:
            continue
        selection = text.range(mention.span)
        if (selection.start.line, selection.start.character) in names:
            continue
        place = text.range(places.get(mention.span.start, mention.span))
        symbol = types.DocumentSymbol(clean(mention.name), _KINDS[mention.name_kind], place, selection)
        parent = next((root for root in roots if root.range.start <= place.start <= root.range.end), None)
        (out if parent is None else _children(parent)).append(symbol)
    return out


def _root(text: Text, form: Form) -> list[types.DocumentSymbol]:
    """Return the symbol of a form ``(define (KIND name) ..)``."""
    head = form.parts[1] if form.head == "define" and len(form.parts) > 1 else None
    if not isinstance(head, Form) or len(head.parts) != 2 or not isinstance(head.parts[1], Word):
        return []
    name = head.parts[1]
    kind = types.SymbolKind.Namespace
    return [
        types.DocumentSymbol(clean(name.text), kind, text.range(form.span), text.range(name.span), clean(head.head))
    ]


def _collect_places(parts: tuple[Part, ...], places: dict[int, Span]) -> None:
    """Map the start of each declared name to its form: an action, a rule, or the signature of a predicate."""
    for part in parts:
        if not isinstance(part, Form):
            continue
        if part.head in _NAMED_FORMS and len(part.parts) > 1:
            places[part.parts[1].span.start] = part.span
        elif part.head and not part.head.startswith(":"):
            places[part.parts[0].span.start] = part.span
        _collect_places(part.parts, places)


def outline_of_plan(text: Text, steps: Sequence[Span]) -> list[types.DocumentSymbol]:
    """Return the steps of a plan, numbered; the steps below a comment are children of a symbol with its text."""
    out: list[types.DocumentSymbol] = []
    blocks = plan_blocks(text.source)
    block, parent = next(blocks, None), None
    for number, span in enumerate(steps[:MAX_STEPS], 1):
        place = text.range(span)
        while block is not None and block.last < place.start.line:
            block, parent = next(blocks, None), None
        name = f"{number}: {' '.join(text.source.slice(span).split())[:_LONGEST]}"
        symbol = types.DocumentSymbol(clean(name), types.SymbolKind.Event, place, place)
        if block is not None and block.heading and parent is None:
            parent = _heading(text, block)
            out.append(parent)
        if parent is not None:
            parent.range.end = max(parent.range.end, place.end)
        (out if parent is None else _children(parent)).append(symbol)
    return out


def _heading(text: Text, block: Block) -> types.DocumentSymbol:
    """Return the symbol of a block that begins with a comment."""
    starts = text.source.line_starts
    line = Span(starts[block.first], starts[block.first] + len(text.source.line(block.first + 1)))
    end = starts[block.last] + len(text.source.line(block.last + 1))
    name, kind = clean(block.heading[:_LONGEST]), types.SymbolKind.Module
    return types.DocumentSymbol(name, kind, text.range(Span(line.start, end)), text.range(line))


def _children(symbol: types.DocumentSymbol) -> list[types.DocumentSymbol]:
    """Return the list of the children, to which a symbol can be added."""
    if not isinstance(symbol.children, list):
        symbol.children = []
    return symbol.children


def workspace_symbols(symbols: Symbols, query: str) -> list[types.WorkspaceSymbol]:
    """Return the declarations in the workspace whose names contain the characters of a query, in this order."""
    characters = "".join(query.lower().split())
    out: list[types.WorkspaceSymbol] = []
    for text in symbols.definition_files():
        for mention in symbols.mentions(text):
            rest = iter(mention.name)
            matches = all(character in rest for character in characters)
            if not mention.declares or mention.name_kind not in _KINDS or not matches:
                continue
            place = types.Location(text.uri, text.range(mention.span))
            container = clean(os.path.basename(text.path))
            kind = _KINDS[mention.name_kind]
            out.append(types.WorkspaceSymbol(place, clean(mention.name), kind, container_name=container))
            if len(out) == MAX_SYMBOLS:
                return out
    return out


class Block(NamedTuple):
    """Lines of a plan, numbered from 0, both inclusive; ``heading`` is the comment that the block begins with."""

    first: int
    last: int
    heading: str


def plan_blocks(source: Source) -> Iterator[Block]:
    """Yield the blocks of a plan in order. A comment between steps begins a block, and an empty line ends one."""
    first, heading, has_steps = -1, "", False
    count = len(source.line_starts)
    for number in range(count + 1):
        line = source.line(number + 1).strip() if number < count else ""
        is_comment = line.startswith(";")
        if first >= 0 and (not line or (is_comment and has_steps)):
            yield Block(first, number - 1, heading)
            first = -1
        if line and first < 0:
            first, heading, has_steps = number, line.lstrip("; \t") if is_comment else "", False
        has_steps = has_steps or (bool(line) and not is_comment)


MAX_RANGES = 5_000


def folding_ranges(text: Text, kind: Kind) -> list[types.FoldingRange]:
    """Return the folding ranges of a file, at most one for each first line."""
    if kind in (Kind.STEPS, Kind.EMPTY, Kind.OTHER):
        ranges = [types.FoldingRange(block.first, block.last) for block in plan_blocks(text.source)]
    else:
        ranges = [*_forms(text, parse_tree(text.source)), *_comments(text)]
    widest: dict[int, types.FoldingRange] = {}
    for folding in ranges:
        if folding.end_line > folding.start_line:
            widest_range = widest.setdefault(folding.start_line, folding)
            widest_range.end_line = max(widest_range.end_line, folding.end_line)
    return sorted(widest.values(), key=lambda folding: folding.start_line)[:MAX_RANGES]


def _forms(text: Text, parts: tuple[Part, ...]) -> Iterator[types.FoldingRange]:
    """Yield a range for each form; a last line of closing brackets alone stays visible."""
    for part in parts:
        if not isinstance(part, Form):
            continue
        first = text.source.position(part.span.start)[0]
        last = text.source.position(max(part.span.end - 1, part.span.start))[0]
        if last == first:
            continue
        end = last - 1 if set(text.source.line(last).strip()) <= {")"} else last
        yield types.FoldingRange(first - 1, end - 1)
        yield from _forms(text, part.parts)


def _comments(text: Text) -> Iterator[types.FoldingRange]:
    """Yield the runs of lines that are comments."""
    first = -1
    for number in range(len(text.source.line_starts) + 1):
        is_comment = number < len(text.source.line_starts) and text.source.line(number + 1).lstrip().startswith(";")
        if is_comment and first < 0:
            first = number
        elif not is_comment and first >= 0:
            yield types.FoldingRange(first, number - 1, kind=types.FoldingRangeKind.Comment)
            first = -1
