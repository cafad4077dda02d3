"""S-expressions: a fast reader without places; places are computed on demand.

PDDL files may have megabytes of flat facts, and nearly all of them are correct. The reader therefore records no places:
it creates nested lists of lower-case tokens. Only for a diagnostic the text is read a second time, with places,
into a tree of the same shape (:class:`Places`). Neither reader recurses, so nesting depth is bounded by memory alone.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TypeAlias

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity, Span
from plansafe.grammar.named_tuple import NamedTuple
from plansafe.grammar.source import Source

Node: TypeAlias = str | list["Node"]
"""A token (lower case; strings keep their quotes and case) or a list of nodes."""

_COMMENT = re.compile(r";[^\r\n]*")
TOKEN = re.compile(r'[()]|"(?:[^"\\]|\\.)*"|;[^\r\n]*|[^\s();"]+|"', re.DOTALL)
_SECTION = re.compile(
    r"\s*:(?:requirements|types|constants|predicates|functions|derived|action|durative-action|objects|init|goal|metric)\b(?!-)",
    re.IGNORECASE,
)
MAX_DIGITS = 20_000
"""Maximum number of digits of a number."""
_MAX_ERRORS = 3
"""Maximum number of syntax errors that are reported for one text."""


class ParsedSource(NamedTuple):
    """The top-level nodes of a file, and the diagnostics about its parentheses and characters.

    ``nodes`` is ``None`` if one of the diagnostics is an error.
    """

    nodes: list[Node] | None
    diagnostics: tuple[Diagnostic, ...]


def has_invalid_utf8(text: str) -> bool:
    """Whether a text has bytes that were not UTF-8 (as lone surrogates)."""
    if text.isascii():
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def parse_number(token: object) -> int | Fraction | None:
    """Return the exact value of a decimal token; ``None`` if it is not a number or has more than ``MAX_DIGITS`` digits.

    PDDL has no exponents.
    """
    if not isinstance(token, str) or not token:
        return None
    digits = token[1:] if token[0] in "+-" else token
    integer, dot, decimals = digits.partition(".")
    if not (integer + decimals).isdecimal() or not digits.isascii() or (dot and not decimals):
        return None
    if len(digits) > MAX_DIGITS:
        return None
    value: int | Fraction = int(integer or "0")
    if decimals:
        value = Fraction(int(integer + decimals), 10 ** len(decimals))
        value = value.numerator if value.denominator == 1 else value
    return -value if token[0] == "-" else value


def parse_nodes(source: Source) -> list[Node] | None:
    """Read all top-level nodes of a text; ``None`` if parentheses or characters are wrong.

    :func:`find_syntax_errors` reports the errors.

    Linear in the text; about 25 ns a character.
    """
    text = source.text
    if '"' in text:
        return _read_quoted(text)
    if ";" in text:
        text = _COMMENT.sub(" ", text)
    if has_invalid_utf8(text):
        return None
    # Cut at the opening parentheses: nearly every piece is one flat list, which two splits in C take apart.
    before, *pieces = text.lower().split("(")
    if ")" in before:
        return None
    top: list[Node] = [*before.split()]
    open_list = top
    stack: list[list[Node]] = []
    for piece in pieces:
        parts = piece.split(")")
        child: list[Node] = [*parts[0].split()]  # a copy: split leaves room for twelve
        open_list.append(child)
        if len(parts) == 1:
            stack.append(open_list)
            open_list = child
            continue
        for tail in parts[1:-1]:  # after each of these, one more list is closed
            if not stack:
                return None
            open_list.extend(tail.split())
            open_list = stack.pop()
        last = parts[-1]
        if last and not last.isspace():
            open_list.extend(last.split())
    return None if stack else top


def _read_quoted(text: str) -> list[Node] | None:
    """Read a text with strings, token by token."""
    matches = [match for match in TOKEN.findall(text) if match[0] != ";"]
    tokens = [match if match[0] == '"' else match.lower() for match in matches]
    if '"' in tokens or any([has_invalid_utf8(token) for token in tokens]):
        return None
    top: list[Node] = []
    open_list = top
    stack: list[list[Node]] = []
    for token in tokens:
        if token == "(":
            stack.append(open_list)
            child: list[Node] = []
            open_list.append(child)
            open_list = child
        elif token == ")":
            if not stack:
                return None
            open_list = stack.pop()
        else:
            open_list.append(token)
    return None if stack else top


def parse_source(source: Source) -> ParsedSource:
    """Read a file: like :func:`parse_nodes`, but one surplus ``)`` at its end is a warning."""
    nodes = parse_nodes(source)
    if nodes is not None:
        return ParsedSource(nodes, ())
    place = _find_surplus_parenthesis(source)
    if place is None:
        return ParsedSource(None, find_syntax_errors(source))
    nodes = parse_nodes(Source(source.name, source.text[: place.start]))
    return ParsedSource(
        nodes, (make_surplus_warning(source, place),) if nodes is not None else find_syntax_errors(source)
    )


def make_surplus_warning(source: Source, place: Span) -> Diagnostic:
    """Return the warning about a ``)`` at the end of a file that closes nothing."""
    label = Label(source.name, place, "closes nothing")
    message = "unmatched `)` at the end of the file: ignored"
    return Diagnostic(SC.DIALECT, message, (label,), help="remove it", severity=Severity.WARNING)


def _find_surplus_parenthesis(source: Source) -> Span | None:
    """Return the place of a ``)`` at the end of a text, if it closes nothing and all other parentheses match."""
    depth = 0
    has_lists = False
    place: Span | None = None
    for match in TOKEN.finditer(source.text):
        token = match.group()
        if token[0] == ";":
            continue
        if place is not None or token == '"':
            return None
        if token == "(":
            depth += 1
            has_lists = True
        elif token == ")":
            depth -= 1
            if depth < 0:
                place = Span(*match.span())
    return place if has_lists else None


def find_syntax_errors(source: Source) -> tuple[Diagnostic, ...]:
    """Return the errors for which :func:`parse_nodes` rejects a text.

    These are stray and missing parentheses, open strings and bytes that are not UTF-8, in order.
    """
    errors: list[Diagnostic] = []
    text = source.text
    open_offsets: list[int] = []
    open_string = False
    nested_section: tuple[int, int] | None = None
    for match in TOKEN.finditer(text):
        start, end = match.span()
        token = match.group()
        if token == "(":
            if nested_section is None and len(open_offsets) > 1 and _SECTION.match(text, end):
                nested_section = start, open_offsets[1]
            open_offsets.append(start)
        elif token == ")":
            if open_offsets:
                open_offsets.pop()
            elif len(errors) < _MAX_ERRORS:
                errors.append(_make_error(source, SC.UNBALANCED, "unmatched `)`", start, end, "nothing is open here"))
        elif token == '"':
            errors.append(_make_error(source, SC.UNBALANCED, "a string is not closed", start, end, "it begins here"))
            open_string = True
            break
        elif token[0] != ";" and has_invalid_utf8(token) and len(errors) < _MAX_ERRORS:
            label = "these bytes are not UTF-8"
            errors.append(_make_error(source, SC.NOT_UTF8, "bytes outside a comment are not UTF-8", start, end, label))
    if open_offsets and not open_string:
        errors.append(_make_unclosed_error(source, open_offsets, nested_section))
    return tuple(errors)


def _make_unclosed_error(source: Source, open_offsets: list[int], nested_section: tuple[int, int] | None) -> Diagnostic:
    """Return the error that the text ends inside a parenthesis.

    ``open_offsets``: the places of the open parentheses. ``nested_section``: the offset of the first section that
    begins within another section, and the offset of that other section; ``None`` without one.
    """
    count = len(open_offsets)
    message = "the text ends inside a parenthesis" if count == 1 else f"the text ends inside {count} parentheses"
    if nested_section is None:
        diagnostic = _make_error(
            source, SC.UNBALANCED, message, open_offsets[-1], open_offsets[-1] + 1, "this one is not closed"
        )
        help = f"add `{')' * min(count, 20)}` at the end, or close it where it should end"
    else:
        start, outer = nested_section
        diagnostic = _make_error(
            source, SC.UNBALANCED, message, start, start + 1, "a `)` is missing before this section"
        )
        hint = Label(source.name, Span(outer, outer + 1), "this one is not closed", False)
        diagnostic = diagnostic._replace(labels=(*diagnostic.labels, hint))
        help = "close the section before this one begins"
    return diagnostic._replace(help=help)


def _make_error(source: Source, code: str, message: str, start: int, end: int, text: str) -> Diagnostic:
    return Diagnostic(code, message, (Label(source.name, Span(start, end), text),))


def format_node(node: Node) -> str:
    """Return a node as text, from which ``parse_nodes`` reads the node again."""
    pieces: list[str] = []
    stack: list[Node] = [node]
    separator = ""
    while stack:
        item = stack.pop()
        if isinstance(item, list):
            pieces.append(separator + "(")
            stack.append(")")
            stack.extend(reversed(item))
            separator = ""
        elif item == ")":
            pieces.append(")")
            separator = " "
        else:
            pieces.append(separator + item)
            separator = " "
    return "".join(pieces)


def quote_text(text: str) -> str:
    """Return a text as a string token of a specification."""
    escaped_text = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped_text}"'


def unquote_text(token: str) -> str:
    """Return the text of a string token, as the inverse of :func:`quote_text`."""
    return token[1:-1].replace('\\"', '"').replace("\\\\", "\\")
