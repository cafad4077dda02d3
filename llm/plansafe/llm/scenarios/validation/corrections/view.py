"""The input of a correction rule: the present texts of a scenario, their declarations and uses.

Names that are close to each other: what a language model, or a person, writes for a name that is declared.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

from plansafe.grammar.diagnostics import Span
from plansafe.grammar.sexpr import Node
from plansafe.llm.scenarios.validation.drafts import Draft, Edit, TextEdit
from plansafe.llm.scenarios.validation.survey import Survey

_COUNTER = re.compile(r"[-_.]?\d+\Z")
FOREIGN = {
    "==": "=",
    "equal": "=",
    "equals": "=",
    "eq": "=",
    "&&": "and",
    "&": "and",
    "\u2227": "and",
    "||": "or",
    "|": "or",
    "\u2228": "or",
    "!": "not",
    "~": "not",
    "\u00ac": "not",
    "neg": "not",
    "->": "imply",
    "=>": "imply",
    "implies": "imply",
    "\u2192": "imply",
    "\u2200": "forall",
    "for-all": "forall",
    "for_all": "forall",
    "\u2203": "exists",
    "exist": "exists",
    "there-exists": "exists",
    "if": "when",
}
"""Operators of other languages, and what PDDL writes for them."""


class View:
    """The drafts of one round. ``domain`` is the scenario's own; ``base`` is never edited.

    ``fixed_words`` are the words of texts that are not edited either: specifications and plans.
    """

    def __init__(
        self, problem: Draft, domain: Draft | None, base: Draft | None, fixed_words: frozenset[str] = frozenset()
    ) -> None:
        self.problem = problem
        self.domain = domain
        self.base = base
        self.fixed_words = fixed_words

    @property
    def editable(self) -> list[tuple[str, Draft]]:
        """The texts that may be corrected, with what each of them is."""
        out = [("domain", self.domain)] if self.domain is not None else []
        return [*[(kind, draft) for kind, draft in out if draft is not None], ("problem", self.problem)]

    @property
    def domains(self) -> list[Draft]:
        """The domain's texts, the base first."""
        return [draft for draft in (self.base, self.domain) if draft is not None]

    @property
    def readable(self) -> bool:
        """Whether all texts can be read as nodes, and hold a definition."""
        return all([draft.top is not None and draft.form for draft in [*self.domains, self.problem]])

    @cached_property
    def survey(self) -> Survey:
        """Declarations and uses. For texts that are ``readable``."""
        return Survey(self.domains, self.problem)

    def declare(self, rule: str, reason: str, head: str, text: str, more: tuple[TextEdit, ...] = ()) -> Edit | None:
        """An edit that adds a declaration to the scenario's own domain; ``None`` without such a text."""
        if self.domain is None:
            return None
        return Edit(rule, reason, (self.domain.add_to(head, [text]), *more))

    def renamed(self, draft: Draft, node: list[Node], child: int, rule: str, reason: str, name: str) -> Edit:
        """An edit that puts a name in the place of another."""
        return Edit(rule, reason, (draft.change(node, child, name),))


def stems(name: str) -> tuple[str, str]:
    """What a name may be made of, nearest first: ``cup_n_01_2`` is a ``cup_n_01``, or else a ``cup_n``."""
    first = _COUNTER.sub("", name)
    return first, _COUNTER.sub("", first)


def typed(name: str, types: tuple[str, ...]) -> str:
    """``name - type``."""
    kind = types[0] if len(types) == 1 else f"(either {' '.join(types)})"
    return f"{name} - {kind}"


def signature(name: str, types: list[tuple[str, ...]]) -> str:
    """``(name ?x1 - t ?x2 - u)``."""
    words = [name, *[typed(f"?x{number}", kind) for number, kind in enumerate(types, 1)]]
    return f"({' '.join(words)})"


def cover(draft: Draft, node: list[Node], first: int, last: int) -> Span:
    """The place from one child to another."""
    return Span(draft.span(node, first).start, draft.span(node, last).end)


def is_field(node: Node) -> bool:
    """Whether a node is a keyword such as ``:effect``."""
    return isinstance(node, str) and len(node) > 1 and node[0] == ":"


_SEPARATORS = re.compile(r"[-_.]")
_NUMBER = re.compile(r"\d+")
_PREFIXES = ("is", "has", "be", "are")
_SUFFIXES = ("ed", "ing", "s", "of", "object", "obj")
MAX_LENGTH = 60


def nearest(name: str, names: Iterable[str], slips: int = 2) -> str | None:
    """The declared name that is near a name, if there is exactly one; ``None`` otherwise.

    Names that differ in the way words are joined or inflected are closest (``on_top`` and ``ontop``, ``is-open`` and
    ``open``); then names one or two slips of the pen apart, and not more than ``slips``. Numbers in names must agree:
    ``cup_1`` is never ``cup_2``.
    """
    if len(name) > MAX_LENGTH:
        return None
    candidates = [
        candidate
        for candidate in names
        if abs(len(candidate) - len(name)) <= 8 and _numbers(candidate) == _numbers(name)
    ]
    for alike in (_joined, _stem):
        same = [candidate for candidate in candidates if alike(candidate) == alike(name)]
        if same:
            return same[0] if len(same) == 1 else None
    most = min(slips, 0 if len(name) < 4 else 1 if len(name) < 8 else 2)
    ranked: dict[int, list[str]] = {}
    for candidate in candidates:
        apart = distance(name, candidate, most)
        if apart <= most and not (len(candidate) < 4 or len(candidate) - apart < 3):
            ranked.setdefault(apart, []).append(candidate)
    best = ranked[min(ranked)] if ranked else []
    return best[0] if len(best) == 1 else None


def distance(first: str, second: str, most: int) -> int:
    """Slips of the pen between two names (letters missed, added, changed, or swapped); beyond ``most`` it is more."""
    if abs(len(first) - len(second)) > most:
        return most + 1
    before: list[int] = []
    row = list(range(len(second) + 1))
    for i, a in enumerate(first, 1):
        new = [i]
        for j, b in enumerate(second, 1):
            cost = min(row[j] + 1, new[j - 1] + 1, row[j - 1] + (a != b))
            if i > 1 and j > 1 and a == second[j - 2] and first[i - 2] == b:
                cost = min(cost, before[j - 2] + 1)
            new.append(cost)
        before, row = row, new
        if min(row) > most:
            return most + 1
    return row[-1]


def _numbers(name: str) -> list[str]:
    return _NUMBER.findall(name)


def _joined(name: str) -> str:
    return _SEPARATORS.sub("", name)


def _stem(name: str) -> str:
    words = [word for word in _SEPARATORS.split(name) if word]
    if len(words) > 1 and words[0] in _PREFIXES:
        words = words[1:]
    if len(words) > 1 and words[-1] in _SUFFIXES:
        words = words[:-1]
    text = "".join(words)
    for suffix in ("ing", "ed"):
        if text.endswith(suffix) and len(text) - len(suffix) >= 3:
            return text[: -len(suffix)].rstrip("e")
    return text.rstrip("e")
