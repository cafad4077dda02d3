"""Where the grammars and the readers may differ, and why. Everything else is a failure of the property test.

``READER_ALONE`` and ``named_first`` follow from what a grammar cannot say, or from the order in which a reader looks at
things: the text is rightly refused all the same. ``LAX`` are readers that accept more than docs/language.md says; each
row goes when its reader is mended.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from plansafe.grammar.diagnostics import Diagnostic, Span
from plansafe.grammar.expected_syntax import Refusal

NAME_CODES = frozenset(("SC101", "SC102", "SC103", "SC107", "SC108", "SC109", "SC114", "SC115", "SC120", "SC702"))
PAST = ("yesterday", "weak-yesterday", "once", "historically", "since")
FUTURE = ("next", "weak-next", "until", "release")
OTHER = ("action", "action-end", "action-during", "at", "over", "unknown", "oneof", "probabilistic")
SOFT = frozenset((*PAST, *FUTURE, *OTHER))
_TOKEN = re.compile(r'[()]|"(?:[^"\\]|\\.)*"?|;[^\r\n]*|[^\s();"]+', re.DOTALL)


class Lists:
    """The lists of a text that lie around an offset, innermost first: for each its head and its place."""

    def __init__(self, text: str) -> None:
        self.lists: list[tuple[str, Span]] = []
        opened: list[tuple[int, list[str]]] = []
        for match in _TOKEN.finditer(text):
            token = match.group()
            if token == "(":
                opened.append((match.start(), []))
            elif token == ")" and opened:
                start, own = opened.pop()
                self.lists.append((own[0] if own else "", Span(start, match.end())))
            elif token[0] != ";" and opened:
                opened[-1][1].append(token.lower())
        self.lists += [(own[0] if own else "", Span(start, len(text))) for start, own in reversed(opened)]

    def around(self, offset: int) -> list[tuple[str, Span]]:
        found = [(head, span) for head, span in self.lists if span.start <= offset < span.end]
        return sorted(found, key=lambda entry: entry[1].end - entry[1].start)

    def heads(self, offset: int) -> list[str]:
        return [head for head, _ in self.around(offset)]


class Row(NamedTuple):
    """A mistake that only the elaborator sees. ``applies`` gets the kind, the text, its lists and the diagnostic."""

    name: str
    reason: str
    applies: Callable[[str, str, Lists, Diagnostic], bool]


class LaxRow(NamedTuple):
    """A reader that accepts what the grammar refuses."""

    name: str
    reason: str
    applies: Callable[[str, str, Lists, Refusal], bool]


def _label(text: str, diagnostic: Diagnostic) -> str:
    span = diagnostic.labels[0].span
    return text[span.start : span.end]


def _is_name(token: str) -> bool:
    return re.fullmatch(r'(?:[A-Za-z_]|[^\x00-\x7f])[^\s();"?]*', token) is not None or token.lower() == "?duration"


def _is_macro(text: str, head: str) -> bool:
    return head != "" and re.search(rf"(?i)\(:define\s*\(\s*{re.escape(head)}[\s)]", text) is not None


def _is_unused(text: str, around: list[tuple[str, Span]]) -> bool:
    """Whether the outermost list is a mapping for a specification that the text does not have."""
    form = text[around[-1][1].start : around[-1][1].end] if around else ""
    named = re.search(r"(?i)\(\s*:specification\s+([^\s()]+)", form)
    return named is not None and not re.search(rf"(?i)\(\s*safety\s+{re.escape(named[1])}[\s)]", text)


READER_ALONE = (
    Row(
        "twice",
        "a grammar of sections in any order, each once, needs a state for every subset",
        lambda kind, text, lists, d: d.code == "SC105",
    ),
    Row(
        "fluent",
        "a bare name is the shape of a fluent without arguments, and `?duration` that of a bound variable",
        lambda kind, text, lists, d: d.message.startswith("expected a number, found") and _is_name(_label(text, d)),
    ),
    Row(
        "equality",
        "`(= ?x 5)` compares objects if there is an object `5`, else numbers",
        lambda kind, text, lists, d: (
            d.message.startswith("expected a number, found `?") and lists.heads(d.labels[0].span.start)[:1] == ["="]
        ),
    ),
    Row(
        "soft operator",
        "`(next a)` has the shape of an atom, `(next (p))` that of an operator; declarations say which it is",
        lambda kind, text, lists, d: (
            any(head in SOFT for head in lists.heads(d.labels[0].span.start)[:2])
            or any(f"the future operator `{name}`" in d.message for name in SOFT)
        ),
    ),
    Row(
        "expansion",
        "what a template or a macro becomes is known after it was applied",
        lambda kind, text, lists, d: any(
            head in (":apply", ":template", ":define") or _is_macro(text, head)
            for head in lists.heads(d.labels[0].span.start)
        ),
    ),
    Row(
        "parameter",
        "`$name` outside a template is an unbound name",
        lambda kind, text, lists, d: "`$" in d.message or "$" in _label(text, d),
    ),
    Row(
        "value",
        "values: a time before 0, a number beyond all bounds, a dependence on the future",
        lambda kind, text, lists, d: d.labels[0].text == "negative" or "cannot depend on the end" in d.message,
    ),
    Row(
        "alternatives",
        "alternatives that give values to different fluents",
        lambda kind, text, lists, d: d.message.startswith("the alternatives give values"),
    ),
    Row(
        "kind of name",
        "whether a predicate is derived or an action durative is a matter of declarations",
        lambda kind, text, lists, d: "derived predicate" in d.message or "is not durative" in d.message,
    ),
)
"""The grammar accepts; a diagnostic with a code of shape is reported."""


def named_first(text: str, lists: Lists, diagnostic: Diagnostic, refusal: Refusal) -> bool:
    """The reader looked up a name that is none (or an operator where none can be), and looked no further.

    It stops inside of a list, before what is wrong with the list, or outside; and at rules that are not applicable.
    """
    if diagnostic.code not in NAME_CODES:
        return False
    label = diagnostic.labels[0].span
    if (
        any(span.start <= refusal.offset < span.end for _, span in lists.around(label.start)[:1])
        or refusal.offset == label.end
    ):
        return True
    return any(span.start <= label.start < span.end for _, span in lists.around(refusal.offset)[:1])


def _in(*heads: str) -> Callable[[str, str, Lists, Refusal], bool]:
    return lambda kind, text, lists, r: kind == "specification" and any(head in heads for head in lists.heads(r.offset))


LAX = (
    LaxRow("macro", "the head and body of a macro that is not used are not looked at", _in(":define")),
    LaxRow("template", "parameters and body of a template are looked at only when it is applied", _in(":template")),
    LaxRow(
        "macro call",
        "an argument of a macro may be anything as long as the result is right",
        lambda kind, text, lists, r: any(_is_macro(text, head) for head in lists.heads(r.offset)[:2]),
    ),
    LaxRow(
        "mapping",
        "a mapping of a specification that is not there is not used, and not looked at",
        lambda kind, text, lists, r: kind == "specification" and _is_unused(text, lists.around(r.offset)),
    ),
    LaxRow("vocabulary", "typed lists of a vocabulary are looked at loosely", _in(":vocabulary")),
    LaxRow(
        "tokens of plans",
        "strings and brackets inside steps are read as names, for the resolver to report",
        lambda kind, text, lists, r: kind == "plan" and r.token[:1] in ('"', "[", "]"),
    ),
    LaxRow(
        "types of functions",
        "`- number` is passed over wherever it stands",
        lambda kind, text, lists, r: (
            kind == "domain" and lists.heads(r.offset)[:1] == [":functions"] and r.token == "-"
        ),
    ),
    LaxRow(
        "strings",
        "docs/language.md has strings in `.safe` files only; they are read as tokens",
        lambda kind, text, lists, r: r.token.startswith('"'),
    ),
)
"""The grammar refuses; no diagnostic is reported."""
