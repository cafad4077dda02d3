"""Where the grammars and the readers may differ, and why. Everything else is a failure of the property test.

``READER_ONLY`` and ``stopped_at_a_name`` follow from what a grammar cannot express, or from the order in which a reader
checks a text: the text is rightly refused in both cases. ``GRAMMAR_ONLY`` lists readers that accept more than
docs/language.md allows; delete a row when its reader is fixed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from plansafe.grammar.diagnostics import Diagnostic, Span
from plansafe.grammar.expected_syntax import Rejection

NAME_CODES = frozenset(("SC101", "SC102", "SC103", "SC107", "SC108", "SC109", "SC114", "SC115", "SC120", "SC702"))
PAST_OPERATORS = ("yesterday", "weak-yesterday", "once", "historically", "since")
FUTURE_OPERATORS = ("next", "weak-next", "until", "release")
OTHER_OPERATORS = ("action", "action-end", "action-during", "at", "over", "unknown", "oneof", "probabilistic")
SOFT_OPERATORS = frozenset((*PAST_OPERATORS, *FUTURE_OPERATORS, *OTHER_OPERATORS))
_TOKEN = re.compile(r'[()]|"(?:[^"\\]|\\.)*"?|;[^\r\n]*|[^\s();"]+', re.DOTALL)


class EnclosingLists:
    """Finds the lists of a text that enclose an offset, innermost first: the head and the span of each."""

    def __init__(self, text: str) -> None:
        self.lists: list[tuple[str, Span]] = []
        open_lists: list[tuple[int, list[str]]] = []
        for match in _TOKEN.finditer(text):
            token = match.group()
            if token == "(":
                open_lists.append((match.start(), []))
            elif token == ")" and open_lists:
                start, tokens = open_lists.pop()
                self.lists.append((tokens[0] if tokens else "", Span(start, match.end())))
            elif token[0] != ";" and open_lists:
                open_lists[-1][1].append(token.lower())
        self.lists += [(tokens[0] if tokens else "", Span(start, len(text))) for start, tokens in reversed(open_lists)]

    def around(self, offset: int) -> list[tuple[str, Span]]:
        enclosing = [(head, span) for head, span in self.lists if span.start <= offset < span.end]
        return sorted(enclosing, key=lambda entry: entry[1].end - entry[1].start)

    def heads(self, offset: int) -> list[str]:
        return [head for head, _ in self.around(offset)]


class ReaderOnlyError(NamedTuple):
    """A mistake that only the elaborator sees. ``applies`` gets the kind, the text, its lists and the diagnostic."""

    name: str
    reason: str
    applies: Callable[[str, str, EnclosingLists, Diagnostic], bool]


class GrammarOnlyError(NamedTuple):
    """A reader that accepts what the grammar refuses."""

    name: str
    reason: str
    applies: Callable[[str, str, EnclosingLists, Rejection], bool]


def _label(text: str, diagnostic: Diagnostic) -> str:
    span = diagnostic.labels[0].span
    return text[span.start : span.end]


def _is_name(token: str) -> bool:
    return re.fullmatch(r'(?:[A-Za-z_]|[^\x00-\x7f])[^\s();"?]*', token) is not None or token.lower() == "?duration"


def _is_macro_call(text: str, head: str) -> bool:
    return head != "" and re.search(rf"(?i)\(:define\s*\(\s*{re.escape(head)}[\s)]", text) is not None


def _is_unused_mapping(text: str, around: list[tuple[str, Span]]) -> bool:
    """Whether the outermost list is a mapping for a specification that the text does not define."""
    form = text[around[-1][1].start : around[-1][1].end] if around else ""
    specification = re.search(r"(?i)\(\s*:specification\s+([^\s()]+)", form)
    return specification is not None and not re.search(rf"(?i)\(\s*safety\s+{re.escape(specification[1])}[\s)]", text)


READER_ONLY = (
    ReaderOnlyError(
        "twice",
        "a grammar of sections in any order, each once, needs a state for every subset",
        lambda kind, text, lists, d: d.code == "SC105",
    ),
    ReaderOnlyError(
        "fluent",
        "a bare name is the shape of a fluent without arguments, and `?duration` has the shape of a bound variable",
        lambda kind, text, lists, d: d.message.startswith("expected a number, found") and _is_name(_label(text, d)),
    ),
    ReaderOnlyError(
        "equality",
        "`(= ?x 5)` compares objects if there is an object `5`, else numbers",
        lambda kind, text, lists, d: (
            d.message.startswith("expected a number, found `?") and lists.heads(d.labels[0].span.start)[:1] == ["="]
        ),
    ),
    ReaderOnlyError(
        "soft operator",
        "`(next a)` has the shape of an atom, `(next (p))` has the shape of an operator; declarations decide",
        lambda kind, text, lists, d: (
            any(head in SOFT_OPERATORS for head in lists.heads(d.labels[0].span.start)[:2])
            or any(f"the future operator `{name}`" in d.message for name in SOFT_OPERATORS)
        ),
    ),
    ReaderOnlyError(
        "expansion",
        "the expansion of a template or a macro is known only after it is applied",
        lambda kind, text, lists, d: any(
            head in (":apply", ":template", ":define") or _is_macro_call(text, head)
            for head in lists.heads(d.labels[0].span.start)
        ),
    ),
    ReaderOnlyError(
        "parameter",
        "`$name` outside a template is an unbound name",
        lambda kind, text, lists, d: "`$" in d.message or "$" in _label(text, d),
    ),
    ReaderOnlyError(
        "value",
        "values: a time before 0, a number beyond all bounds, a dependence on the future",
        lambda kind, text, lists, d: d.labels[0].text == "negative" or "cannot depend on the end" in d.message,
    ),
    ReaderOnlyError(
        "alternatives",
        "alternatives that give values to different fluents",
        lambda kind, text, lists, d: d.message.startswith("the alternatives give values"),
    ),
    ReaderOnlyError(
        "kind of name",
        "whether a predicate is derived or an action durative is decided by declarations",
        lambda kind, text, lists, d: "derived predicate" in d.message or "is not durative" in d.message,
    ),
)
"""The grammar accepts; a diagnostic with a shape code is reported."""


def stopped_at_a_name(text: str, lists: EnclosingLists, diagnostic: Diagnostic, refusal: Rejection) -> bool:
    """Whether the reader stopped at an unknown name or a misplaced operator, and did not check the rest.

    It stops inside a list, before the error in the list, or outside the list; and at rules that are not applicable.
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


def _in(*heads: str) -> Callable[[str, str, EnclosingLists, Rejection], bool]:
    return lambda kind, text, lists, r: kind == "specification" and any(head in heads for head in lists.heads(r.offset))


GRAMMAR_ONLY = (
    GrammarOnlyError("macro", "the head and body of an unused macro are not checked", _in(":define")),
    GrammarOnlyError(
        "template", "parameters and body of a template are checked only when it is applied", _in(":template")
    ),
    GrammarOnlyError(
        "macro call",
        "an argument of a macro may be anything if the expansion is correct",
        lambda kind, text, lists, r: any(_is_macro_call(text, head) for head in lists.heads(r.offset)[:2]),
    ),
    GrammarOnlyError(
        "mapping",
        "a mapping of a missing specification is not used, and not checked",
        lambda kind, text, lists, r: kind == "specification" and _is_unused_mapping(text, lists.around(r.offset)),
    ),
    GrammarOnlyError("vocabulary", "typed lists of a vocabulary are checked loosely", _in(":vocabulary")),
    GrammarOnlyError(
        "tokens of plans",
        "strings and brackets inside steps are read as names, for the resolver to report",
        lambda kind, text, lists, r: kind == "plan" and r.token[:1] in ('"', "[", "]"),
    ),
    GrammarOnlyError(
        "types of functions",
        "`- number` is skipped at every position",
        lambda kind, text, lists, r: (
            kind == "domain" and lists.heads(r.offset)[:1] == [":functions"] and r.token == "-"
        ),
    ),
    GrammarOnlyError(
        "strings",
        "docs/language.md allows strings only in `.safe` files; elsewhere they are read as tokens",
        lambda kind, text, lists, r: r.token.startswith('"'),
    ),
)
"""The grammar refuses; no diagnostic is reported."""
