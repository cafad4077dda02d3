"""Which names a text mentions, where, and what each of them names: by the shape of the language alone.

Predicates, functions, actions, types and objects are name spaces of their own (docs/language.md, section 1). What a
name means is the compiler's matter; whoever changes names here has the service judge what came of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum
from typing import NamedTuple

from plansafe.app.interfaces.editor.source_tree import Form, Part, Word, tree
from plansafe.app.project.file_kinds import Kind
from plansafe.grammar.diagnostics import Span
from plansafe.grammar.plan_text import read_plan
from plansafe.grammar.source import Source
from plansafe.verifier.elaborate.conditions import ACTION_ATOMS, ARITHMETIC, COMPARISONS, OPERATORS, RESERVED

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


class Names(Enum):
    """What a name names."""

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
    """A name at a place. ``declares``: here it is said what it is. ``within``: the form that a variable is bound in."""

    names: Names
    name: str
    span: Span
    declares: bool = False
    within: Span | None = None


def mentions(source: Source, kind: Kind) -> tuple[Mention, ...]:
    """Every name of a text, in the order of the text."""
    if kind in (Kind.PLAN, Kind.STEPS, Kind.EMPTY, Kind.OTHER):
        found = list(_plan(source, kind))
    else:
        found = [mention for form in tree(source) if isinstance(form, Form) for mention in _definition(form)]
    return tuple(sorted(found, key=lambda mention: mention.span))


def step_words(source: Source, span: Span) -> list[tuple[str, Span]]:
    """The words of a step, with their places."""
    found = _TOKEN.finditer(source.text, span.start, span.end)
    return [(m.group().lower(), Span(*m.span())) for m in found if m.group()[0] not in ";()[]"]


def _plan(source: Source, kind: Kind) -> Iterator[Mention]:
    for step in read_plan(source).steps:
        for number, (name, span) in enumerate(step_words(source, step.span)):
            yield Mention(Names.OBJECT if number else Names.ACTION, name, span)
    if kind is Kind.PLAN:
        for form in tree(source):
            for part in form.rest if isinstance(form, Form) else ():
                if isinstance(part, Form) and part.head in (":domain", ":problem"):
                    names = Names.DOMAIN if part.head == ":domain" else Names.PROBLEM
                    yield from [Mention(names, w.text, w.span) for w in part.rest if isinstance(w, Word)]
                if isinstance(part, Form) and part.head[:1] == ":":
                    yield Mention(Names.KEYWORD, part.head, part.parts[0].span)


def _definition(form: Form) -> Iterator[Mention]:
    """One ``(define (KIND name) section ..)``."""
    if form.head == "define":
        yield Mention(Names.KEYWORD, "define", form.parts[0].span)
    kind = ""
    for part in form.rest:
        if not isinstance(part, Form):
            continue
        if part.head and part.head[0] != ":":
            kind = part.head
            yield Mention(Names.KEYWORD, kind, part.parts[0].span)
            names = {"domain": Names.DOMAIN, "problem": Names.PROBLEM}.get(kind)
            if names is not None:
                yield from [Mention(names, w.text, w.span, True) for w in part.rest[:1] if isinstance(w, Word)]
        else:
            yield from _section(part, kind)


def _section(form: Form, kind: str) -> Iterator[Mention]:
    head, rest = form.head, form.rest
    if not head:
        return
    yield Mention(Names.KEYWORD, head, form.parts[0].span)
    match head:
        case ":types" if kind != "mapping":
            yield from _typed(rest, Names.TYPE, form.span)
        case ":constants" | ":objects" if kind != "mapping":
            yield from _typed(rest, Names.OBJECT, form.span)
        case ":predicates" | ":functions" | ":open" if kind != "mapping":
            names = Names.FUNCTION if head == ":functions" else Names.PREDICATE
            for part in rest:
                yield from _signature(part, names, head != ":open")
        case ":actions" if kind != "mapping":
            for part in rest:
                yield from _signature(part, Names.ACTION, False)
        case ":vocabulary":
            for part in rest:
                if isinstance(part, Form):  # its words are those of the domain, which declares them
                    yield from [mention._replace(declares=False) for mention in _section(part, "")]
        case ":predicates" | ":functions" | ":actions" | ":types" | ":constants" | ":groups":
            yield from _mapped(head, rest)
        case ":derived" | ":define":
            yield from _signature(rest[0] if rest else form, Names.PREDICATE, head == ":define", form.span)
            for part in rest[1:]:
                yield from _formula(part, form.span)
        case ":action" | ":durative-action":
            yield from _named(rest, Names.ACTION, form)
        case ":invariant":
            yield from _named(rest, Names.RULE, form)
        case ":template":
            for part in rest[2:]:
                if isinstance(part, Form):
                    yield from _section(part, kind)
        case ":disable":
            yield from [Mention(Names.RULE, w.text, w.span) for w in rest if isinstance(w, Word)]
        case ":domain" | ":problem":
            names = Names.DOMAIN if head == ":domain" else Names.PROBLEM
            yield from [Mention(names, w.text, w.span) for w in rest[:1] if isinstance(w, Word)]
        case ":init" | ":goal" | ":constraints":
            for part in rest:
                yield from _formula(part, form.span)
        case ":metric":
            for part in rest[1:]:
                yield from _number(part, form.span)
        case _ if head in RULES:
            yield from _named(rest, Names.RULE, form)


def _named(rest: tuple[Part, ...], names: Names, form: Form) -> Iterator[Mention]:
    """An action or a rule: its name, then fields."""
    if rest and isinstance(rest[0], Word) and rest[0].text[0] not in ":$":
        yield Mention(names, rest[0].text, rest[0].span, True)
        rest = rest[1:]
    field = ""
    for part in rest:
        if isinstance(part, Word) and part.text[0] == ":":
            field = part.text
            yield Mention(Names.KEYWORD, field, part.span)
        elif field in _VARIABLES:
            yield from _typed(part.parts if isinstance(part, Form) else (part,), Names.VARIABLE, form.span)
        elif field in _STEPS:
            yield from _step(part, form.span)
        elif field in _FORMULAS:
            yield from _formula(part, form.span)
        elif isinstance(part, Word) and part.text[0] == '"':
            yield Mention(Names.STRING, part.text, part.span)
        elif isinstance(part, Word) and _NUMBER.match(part.text):
            yield Mention(Names.NUMBER, part.text, part.span)


def _typed(parts: tuple[Part, ...], names: Names, within: Span) -> Iterator[Mention]:
    """``a b - t c``: names that are declared, and types."""
    behind = False
    for part in parts:
        if isinstance(part, Form):
            if part.head == "either":
                yield Mention(Names.OPERATOR, "either", part.parts[0].span)
                yield from [Mention(Names.TYPE, w.text, w.span) for w in part.rest if isinstance(w, Word)]
            elif part.head == ":private":
                yield from _typed(part.rest, names, within)
            behind = False
        elif part.text == "-":
            behind = True
        elif behind or (part.text[0] == "-" and len(part.text) > 1):
            glued = not behind
            start = part.span.start + (1 if glued else 0)
            yield Mention(Names.TYPE, part.text[1:] if glued else part.text, Span(start, part.span.end))
            behind = False
        elif part.text[0] == "?":
            yield Mention(Names.VARIABLE, part.text, part.span, True, within)
        elif part.text[0] != "$":
            yield Mention(names, part.text, part.span, True)


def _signature(part: Part, names: Names, declares: bool, within: Span | None = None) -> Iterator[Mention]:
    """``(name ?x - t ..)``."""
    if not isinstance(part, Form) or not part.head:
        return
    if part.head == ":private":
        for inner in part.rest:
            yield from _signature(inner, names, declares, within)
        return
    yield Mention(names, part.head, part.parts[0].span, declares)
    yield from _typed(part.rest, Names.VARIABLE, within or part.span)


def _mapped(head: str, rest: tuple[Part, ...]) -> Iterator[Mention]:
    """What words of another vocabulary stand for: the second parts are about this domain."""
    for pair in rest:
        if not isinstance(pair, Form):
            continue
        for part in pair.rest:
            if head == ":actions":
                yield from _step(part, pair.span)
            elif head in (":predicates", ":functions"):
                yield from (_formula if head == ":predicates" else _number)(part, pair.span)
            elif isinstance(part, Word):
                yield Mention(Names.OBJECT if head == ":constants" else Names.TYPE, part.text, part.span)
            elif part.head == "either":
                yield from [Mention(Names.TYPE, w.text, w.span) for w in part.rest if isinstance(w, Word)]


def _step(part: Part, within: Span) -> Iterator[Mention]:
    """A step, or several of which any is meant."""
    if not isinstance(part, Form) or not part.head:
        return
    first = part.parts[0]
    if part.head in ("or", "exists", "when"):
        yield Mention(Names.OPERATOR, part.head, first.span)
        for number, inner in enumerate(part.rest):
            if part.head == "exists" and number == 0 and isinstance(inner, Form):
                yield from _typed(inner.parts, Names.VARIABLE, within)
            elif part.head == "when" and number == 0:
                yield from _formula(inner, within)
            else:
                yield from _step(inner, within)
        return
    if part.head[0] != "$":
        yield Mention(Names.ACTION, part.head, first.span)
    yield from _terms(part.rest, within)


def _terms(parts: tuple[Part, ...], within: Span) -> Iterator[Mention]:
    for part in parts:
        if isinstance(part, Word):
            yield from _word(part, Names.OBJECT, within)


def _word(word: Word, names: Names, within: Span) -> Iterator[Mention]:
    if word.text[0] == "?":
        yield Mention(Names.VARIABLE, word.text, word.span, False, within)
    elif _NUMBER.match(word.text):
        yield Mention(Names.NUMBER, word.text, word.span)
    elif word.text[0] not in '$"-:' and word.text != "_":
        yield Mention(names, word.text, word.span)


def _number(part: Part, within: Span) -> Iterator[Mention]:
    """An expression, or one side of a comparison: a word may be a function without arguments."""
    if isinstance(part, Word):
        yield from _word(part, Names.OBJECT, within)
        return
    if not part.head:
        return
    if part.head in ARITHMETIC:
        for inner in part.rest:
            yield from _number(inner, within)
    elif part.head[0] != "$":
        yield Mention(Names.FUNCTION, part.head, part.parts[0].span)
        yield from _terms(part.rest, within)


def _formula(part: Part, within: Span) -> Iterator[Mention]:
    if isinstance(part, Word):
        yield from _word(part, Names.OBJECT, within)
        return
    head, rest = part.head, part.rest
    if not head:
        for inner in part.parts:
            yield from _formula(inner, within)
        return
    first = part.parts[0].span
    if head in ("forall", "exists"):
        yield Mention(Names.OPERATOR, head, first)
        if rest and isinstance(rest[0], Form):
            yield from _typed(rest[0].parts, Names.VARIABLE, within)
        for inner in rest[1:]:
            yield from _formula(inner, within)
    elif head in _NUMERIC:
        yield Mention(Names.OPERATOR, head, first)
        for inner in rest:
            yield from _number(inner, within)
    elif head in ACTION_ATOMS and any([isinstance(inner, Form) for inner in rest]):
        yield Mention(Names.OPERATOR, head, first)
        for inner in rest:
            yield from _step(inner, within)
    elif head in _CONNECTIVES or (_operates(head) and any([isinstance(inner, Form) for inner in rest])):
        yield Mention(Names.OPERATOR, head, first)
        for inner in rest:
            if isinstance(inner, Form):
                yield from _formula(inner, within)
            elif _NUMBER.match(inner.text):
                yield Mention(Names.NUMBER, inner.text, inner.span)
            elif inner.text in ("start", "end", "all"):
                yield Mention(Names.OPERATOR, inner.text, inner.span)
            elif inner.text[0] == "?":
                yield Mention(Names.VARIABLE, inner.text, inner.span, False, within)
    elif head[0] not in "$:":
        yield Mention(Names.PREDICATE, head, first)
        yield from _terms(rest, within)


def _operates(head: str) -> bool:
    """Whether a word is an operator where lists stand behind it, and else a predicate."""
    return head in OPERATORS or head in RESERVED or head in ("at", "over", "unknown", "oneof")


def at(found: tuple[Mention, ...], offset: int) -> Mention | None:
    """The name that stands at a place, or ends there."""
    near = [m for m in found if m.span.start <= offset <= m.span.end]
    return min(near, key=lambda m: (offset == m.span.end, m.span), default=None)
