"""Find the names in a text, with their spans and kinds, from the syntax alone.

Predicates, functions, actions, types and objects have separate name spaces (docs/language.md, section 1). This module
does not resolve names: a rename must analyse the changed files to verify the result.

Semantic tokens: the kind of each word in a file, with positions relative to the previous word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

from plansafe.app.interfaces.editor.document_text import Text
from plansafe.app.interfaces.editor.source_tree import Form, Part, Word, parse_tree
from plansafe.app.project.file_kinds import Kind
from plansafe.grammar.diagnostics import Span
from plansafe.grammar.plan_text import read_plan
from plansafe.grammar.source import Source
from plansafe.verifier.elaborate.symbols import ACTION_ATOMS, ARITHMETIC, COMPARISONS, OPERATORS, RESERVED

_TOKEN = re.compile(r";[^\r\n]*|[()\[\]]|[^\s()\[\];]+")
_CHANGES = frozenset(("assign", "increase", "decrease", "scale-up", "scale-down"))
_NUMERIC = COMPARISONS | ARITHMETIC | _CHANGES
_CONNECTIVES = frozenset(("and", "or", "not", "imply", "when", "preference"))
_NUMBER = re.compile(r"[+-]?\.?\d[\d.]*\Z")
RULES = frozenset((":process", ":trajectory", ":termination", ":obligation"))
_FORMULAS = frozenset(
    (
        ":precondition", ":condition", ":effect", ":duration", ":formula", ":forbid", ":require", ":when", ":then",
        ":forbid-after", ":require-after", ":holds", ":exactly-one", ":at-most-one",
    )
)  # fmt: skip
_VARIABLES = frozenset((":parameters", ":vars", ":agent"))
_STEPS = frozenset((":on", ":at-end", ":during"))


class NameKind(Enum):
    """The kind of thing that a name refers to."""

    PREDICATE = "predicate"
    FUNCTION = "function"
    ACTION = "action"
    TYPE = "type"
    OBJECT = "object"
    VARIABLE = "variable"
    RULE = "rule"
    DOMAIN = "domain"
    PROBLEM = "problem"
    KEYWORD = "keyword"
    OPERATOR = "operator"
    NUMBER = "number"
    STRING = "string"


class Mention(NamedTuple):
    """A name at a span. ``declares`` marks its declaration; ``within`` is the form that binds a variable."""

    name_kind: NameKind
    name: str
    span: Span
    declares: bool = False
    within: Span | None = None


def find_mentions(source: Source, kind: Kind) -> tuple[Mention, ...]:
    """Return every name in a text, in text order."""
    if kind in (Kind.PLAN, Kind.STEPS, Kind.EMPTY, Kind.OTHER):
        names = list(_plan(source, kind))
    else:
        names = [mention for form in parse_tree(source) if isinstance(form, Form) for mention in _definition(form)]
    return tuple(sorted(names, key=lambda mention: mention.span))


def step_words(source: Source, span: Span) -> list[tuple[str, Span]]:
    """Return the words of a step with their spans."""
    tokens = _TOKEN.finditer(source.text, span.start, span.end)
    return [(m.group().lower(), Span(*m.span())) for m in tokens if m.group()[0] not in ";()[]"]


def _plan(source: Source, kind: Kind) -> Iterator[Mention]:
    for step in read_plan(source).steps:
        for number, (name, span) in enumerate(step_words(source, step.span)):
            yield Mention(NameKind.OBJECT if number else NameKind.ACTION, name, span)
    if kind is Kind.PLAN:
        for form in parse_tree(source):
            for part in form.arguments if isinstance(form, Form) else ():
                if isinstance(part, Form) and part.head in (":domain", ":problem"):
                    names = NameKind.DOMAIN if part.head == ":domain" else NameKind.PROBLEM
                    yield from [Mention(names, w.text, w.span) for w in part.arguments if isinstance(w, Word)]
                if isinstance(part, Form) and part.head[:1] == ":":
                    yield Mention(NameKind.KEYWORD, part.head, part.parts[0].span)


def _definition(form: Form) -> Iterator[Mention]:
    """Yield the names in ``(define (KIND name) section ..)``."""
    if form.head == "define":
        yield Mention(NameKind.KEYWORD, "define", form.parts[0].span)
    kind = ""
    for part in form.arguments:
        if not isinstance(part, Form):
            continue
        if part.head and part.head[0] != ":":
            kind = part.head
            yield Mention(NameKind.KEYWORD, kind, part.parts[0].span)
            names = {"domain": NameKind.DOMAIN, "problem": NameKind.PROBLEM}.get(kind)
            if names is not None:
                yield from [Mention(names, w.text, w.span, True) for w in part.arguments[:1] if isinstance(w, Word)]
        else:
            yield from _section(part, kind)


def _section(form: Form, kind: str) -> Iterator[Mention]:
    head, arguments = form.head, form.arguments
    if not head:
        return
    yield Mention(NameKind.KEYWORD, head, form.parts[0].span)
    match head:
        case ":types" if kind != "mapping":
            yield from _typed(arguments, NameKind.TYPE, form.span)
        case ":constants" | ":objects" if kind != "mapping":
            yield from _typed(arguments, NameKind.OBJECT, form.span)
        case ":predicates" | ":functions" | ":open" if kind != "mapping":
            names = NameKind.FUNCTION if head == ":functions" else NameKind.PREDICATE
            for part in arguments:
                yield from _signature(part, names, head != ":open")
        case ":actions" if kind != "mapping":
            for part in arguments:
                yield from _signature(part, NameKind.ACTION, False)
        case ":vocabulary":
            for part in arguments:
                if isinstance(part, Form):  # the domain declares these names
                    yield from [mention._replace(declares=False) for mention in _section(part, "")]
        case ":predicates" | ":functions" | ":actions" | ":types" | ":constants" | ":groups":
            yield from _mapped(head, arguments)
        case ":derived" | ":define":
            yield from _signature(arguments[0] if arguments else form, NameKind.PREDICATE, head == ":define", form.span)
            for part in arguments[1:]:
                yield from _formula(part, form.span)
        case ":action" | ":durative-action":
            yield from _action_or_rule(arguments, NameKind.ACTION, form)
        case ":invariant":
            yield from _action_or_rule(arguments, NameKind.RULE, form)
        case ":template":
            for part in arguments[2:]:
                if isinstance(part, Form):
                    yield from _section(part, kind)
        case ":disable":
            yield from [Mention(NameKind.RULE, w.text, w.span) for w in arguments if isinstance(w, Word)]
        case ":domain" | ":problem":
            names = NameKind.DOMAIN if head == ":domain" else NameKind.PROBLEM
            yield from [Mention(names, w.text, w.span) for w in arguments[:1] if isinstance(w, Word)]
        case ":init" | ":goal" | ":constraints":
            for part in arguments:
                yield from _formula(part, form.span)
        case ":metric":
            for part in arguments[1:]:
                yield from _number(part, form.span)
        case _ if head in RULES:
            yield from _action_or_rule(arguments, NameKind.RULE, form)


def _action_or_rule(arguments: tuple[Part, ...], names: NameKind, form: Form) -> Iterator[Mention]:
    """Yield the names in an action or a rule: its name, then its fields."""
    if arguments and isinstance(arguments[0], Word) and arguments[0].text[0] not in ":$":
        yield Mention(names, arguments[0].text, arguments[0].span, True)
        arguments = arguments[1:]
    field = ""
    for part in arguments:
        if isinstance(part, Word) and part.text[0] == ":":
            field = part.text
            yield Mention(NameKind.KEYWORD, field, part.span)
        elif field in _VARIABLES:
            yield from _typed(part.parts if isinstance(part, Form) else (part,), NameKind.VARIABLE, form.span)
        elif field in _STEPS:
            yield from _step(part, form.span)
        elif field in _FORMULAS:
            yield from _formula(part, form.span)
        elif isinstance(part, Word) and part.text[0] == '"':
            yield Mention(NameKind.STRING, part.text, part.span)
        elif isinstance(part, Word) and _NUMBER.match(part.text):
            yield Mention(NameKind.NUMBER, part.text, part.span)


def _typed(parts: tuple[Part, ...], names: NameKind, within: Span) -> Iterator[Mention]:
    """Yield the declared names and the types in a typed list such as ``a b - t c``."""
    expects_type = False
    for part in parts:
        if isinstance(part, Form):
            if part.head == "either":
                yield Mention(NameKind.OPERATOR, "either", part.parts[0].span)
                yield from [Mention(NameKind.TYPE, w.text, w.span) for w in part.arguments if isinstance(w, Word)]
            elif part.head == ":private":
                yield from _typed(part.arguments, names, within)
            expects_type = False
        elif part.text == "-":
            expects_type = True
        elif expects_type or (part.text[0] == "-" and len(part.text) > 1):
            has_dash = not expects_type
            start = part.span.start + (1 if has_dash else 0)
            yield Mention(NameKind.TYPE, part.text[1:] if has_dash else part.text, Span(start, part.span.end))
            expects_type = False
        elif part.text[0] == "?":
            yield Mention(NameKind.VARIABLE, part.text, part.span, True, within)
        elif part.text[0] != "$":
            yield Mention(names, part.text, part.span, True)


def _signature(part: Part, names: NameKind, declares: bool, within: Span | None = None) -> Iterator[Mention]:
    """Yield the names in a signature such as ``(name ?x - t ..)``."""
    if not isinstance(part, Form) or not part.head:
        return
    if part.head == ":private":
        for inner in part.arguments:
            yield from _signature(inner, names, declares, within)
        return
    yield Mention(names, part.head, part.parts[0].span, declares)
    yield from _typed(part.arguments, NameKind.VARIABLE, within or part.span)


def _mapped(head: str, arguments: tuple[Part, ...]) -> Iterator[Mention]:
    """Yield this domain's names in a mapping; the first part of each pair belongs to the other vocabulary."""
    for pair in arguments:
        if not isinstance(pair, Form):
            continue
        for part in pair.arguments:
            if head == ":actions":
                yield from _step(part, pair.span)
            elif head in (":predicates", ":functions"):
                yield from (_formula if head == ":predicates" else _number)(part, pair.span)
            elif isinstance(part, Word):
                yield Mention(NameKind.OBJECT if head == ":constants" else NameKind.TYPE, part.text, part.span)
            elif part.head == "either":
                yield from [Mention(NameKind.TYPE, w.text, w.span) for w in part.arguments if isinstance(w, Word)]


def _step(part: Part, within: Span) -> Iterator[Mention]:
    """Yield the names in a step pattern, or in alternatives of step patterns."""
    if not isinstance(part, Form) or not part.head:
        return
    first = part.parts[0]
    if part.head in ("or", "exists", "when"):
        yield Mention(NameKind.OPERATOR, part.head, first.span)
        for number, inner in enumerate(part.arguments):
            if part.head == "exists" and number == 0 and isinstance(inner, Form):
                yield from _typed(inner.parts, NameKind.VARIABLE, within)
            elif part.head == "when" and number == 0:
                yield from _formula(inner, within)
            else:
                yield from _step(inner, within)
        return
    if part.head[0] != "$":
        yield Mention(NameKind.ACTION, part.head, first.span)
    yield from _terms(part.arguments, within)


def _terms(parts: tuple[Part, ...], within: Span) -> Iterator[Mention]:
    for part in parts:
        if isinstance(part, Word):
            yield from _word(part, NameKind.OBJECT, within)


def _word(word: Word, names: NameKind, within: Span) -> Iterator[Mention]:
    if word.text[0] == "?":
        yield Mention(NameKind.VARIABLE, word.text, word.span, False, within)
    elif _NUMBER.match(word.text):
        yield Mention(NameKind.NUMBER, word.text, word.span)
    elif word.text[0] not in '$"-:' and word.text != "_":
        yield Mention(names, word.text, word.span)


def _number(part: Part, within: Span) -> Iterator[Mention]:
    """Yield the names in a numeric expression or one side of a comparison."""
    if isinstance(part, Word):
        yield from _word(part, NameKind.OBJECT, within)
        return
    if not part.head:
        return
    if part.head in ARITHMETIC:
        for inner in part.arguments:
            yield from _number(inner, within)
    elif part.head[0] != "$":
        yield Mention(NameKind.FUNCTION, part.head, part.parts[0].span)
        yield from _terms(part.arguments, within)


def _formula(part: Part, within: Span) -> Iterator[Mention]:
    if isinstance(part, Word):
        yield from _word(part, NameKind.OBJECT, within)
        return
    head, arguments = part.head, part.arguments
    if not head:
        for inner in part.parts:
            yield from _formula(inner, within)
        return
    first = part.parts[0].span
    if head in ("forall", "exists"):
        yield Mention(NameKind.OPERATOR, head, first)
        if arguments and isinstance(arguments[0], Form):
            yield from _typed(arguments[0].parts, NameKind.VARIABLE, within)
        for inner in arguments[1:]:
            yield from _formula(inner, within)
    elif head in _NUMERIC:
        yield Mention(NameKind.OPERATOR, head, first)
        for inner in arguments:
            yield from _number(inner, within)
    elif head in ACTION_ATOMS and any([isinstance(inner, Form) for inner in arguments]):
        yield Mention(NameKind.OPERATOR, head, first)
        for inner in arguments:
            yield from _step(inner, within)
    elif head in _CONNECTIVES or (_is_operator(head) and any([isinstance(inner, Form) for inner in arguments])):
        yield Mention(NameKind.OPERATOR, head, first)
        for inner in arguments:
            if isinstance(inner, Form):
                yield from _formula(inner, within)
            elif _NUMBER.match(inner.text):
                yield Mention(NameKind.NUMBER, inner.text, inner.span)
            elif inner.text in ("start", "end", "all"):
                yield Mention(NameKind.OPERATOR, inner.text, inner.span)
            elif inner.text[0] == "?":
                yield Mention(NameKind.VARIABLE, inner.text, inner.span, False, within)
    elif head[0] not in "$:":
        yield Mention(NameKind.PREDICATE, head, first)
        yield from _terms(arguments, within)


def _is_operator(head: str) -> bool:
    """Whether a word is an operator when lists follow it; otherwise it is a predicate."""
    return head in OPERATORS or head in RESERVED or head in ("at", "over", "unknown", "oneof")


def mention_at(names: tuple[Mention, ...], offset: int) -> Mention | None:
    """Return the name that covers an offset or ends at it."""
    candidates = [m for m in names if m.span.start <= offset <= m.span.end]
    return min(candidates, key=lambda m: (offset == m.span.end, m.span), default=None)


KINDS = {
    NameKind.PREDICATE: "property",
    NameKind.FUNCTION: "property",
    NameKind.ACTION: "function",
    NameKind.TYPE: "type",
    NameKind.OBJECT: "variable",
    NameKind.VARIABLE: "parameter",
    NameKind.RULE: "class",
    NameKind.DOMAIN: "namespace",
    NameKind.PROBLEM: "namespace",
    NameKind.KEYWORD: "keyword",
    NameKind.OPERATOR: "operator",
    NameKind.NUMBER: "number",
    NameKind.STRING: "string",
}
LEGEND = list(dict.fromkeys(KINDS.values()))
MODIFIERS = ["declaration"]


def encode_tokens(text: Text, mentions: tuple[Mention, ...]) -> list[int]:
    """Encode the tokens of a file as five numbers each; strings over several lines are skipped."""
    out: list[int] = []
    line = column = 0
    for mention in mentions:
        start, end = text.position(mention.span.start), text.position(mention.span.end)
        if start.line != end.line or (start.line, start.character) < (line, column):
            continue
        same_line = start.line == line
        out += [
            start.line - line,
            start.character - column if same_line else start.character,
            end.character - start.character,
            LEGEND.index(KINDS[mention.name_kind]),
            int(mention.declares),
        ]
        line, column = start.line, start.character
    return out
