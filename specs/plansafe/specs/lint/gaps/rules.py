"""From what a plan did with certain objects to a rule about all objects of their kinds, as text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from plansafe.specs.lint.gaps.words import Word, Words
from plansafe.verifier.execution.steps import GroundAction

FADE = 0.7
"""Of two words that make something suspicious, how much of the weaker counts; of the third, its square, and so on."""
NAME = "<name>"
"""Stands for the name of a proposed rule until it is printed."""


class GroundLiteral(NamedTuple):
    """A ground fact, or that it does not hold."""

    predicate: int
    objects: tuple[int, ...]
    positive: bool = True


class Proposal(NamedTuple):
    """A rule that would forbid something, and why it may be wanted.

    ``text`` is the rule with :data:`NAME` for its name. ``words`` make it suspicious, with their weights:
    proposals with the same words are about one hole.
    """

    code: str
    kind: str
    text: str
    score: float
    reasons: tuple[str, ...]
    words: dict[str, float]

    def named(self, name: str) -> str:
        """The text under a name."""
        return self.text.replace(NAME, name)


class Lifted:
    """Names for objects: variables, typed by the kinds that the objects were declared with."""

    def __init__(self, words: Words) -> None:
        self.words = words
        self.task = words.task
        self.names: dict[int, str] = {}
        self.kinds: dict[int, str] = {}

    def variable(self, item: int) -> str:
        """The variable that stands for an object."""
        if item not in self.names:
            kind = self.task.type_names[self.words.kind_of(item)]
            count = sum([1 for known in self.kinds.values() if known == kind])
            self.kinds[item] = kind
            self.names[item] = f"?{kind}" if not count else f"?{kind}{count + 1}"
        return self.names[item]

    def literal(self, literal: GroundLiteral) -> str:
        """A fact about variables."""
        words = [self.task.predicates[literal.predicate].name, *[self.variable(o) for o in literal.objects]]
        text = f"({' '.join(words)})"
        return text if literal.positive else f"(not {text})"

    def conjunction(self, literals: Sequence[GroundLiteral]) -> str:
        """Facts that hold together."""
        texts = list(dict.fromkeys([self.literal(literal) for literal in literals]))
        return texts[0] if len(texts) == 1 else f"(and {' '.join(texts)})"

    def step(self, taken: GroundAction, used: frozenset[int] | set[int]) -> str:
        """A step; objects that are not ``used`` may be any."""
        words = [self.variable(o) if o in used else "_" for o in taken.objects]
        return f"({' '.join([taken.action.name, *words])})"

    def parameters(self, items: Sequence[int] | None = None) -> str:
        """The typed list of the variables given (all that have been named, if none are)."""
        chosen = list(self.names) if items is None else items
        return " ".join([f"{self.names[o]} - {self.kinds[o]}" for o in chosen])


class Scoring:
    """Adds up the weights of the words that something is said with, each once, the weaker ones by less and less."""

    def __init__(self, words: Words) -> None:
        self.words = words
        self.reasons: dict[str, float] = {}
        self._weights: dict[str, float] = {}
        self._bonus = 0.0

    @property
    def total(self) -> float:
        """The score so far."""
        ordered = sorted(self._weights.values(), reverse=True)
        return sum([weight * FADE**place for place, weight in enumerate(ordered)]) + self._bonus

    def facts(self, literals: Sequence[GroundLiteral]) -> Scoring:
        """Count predicates."""
        for literal in literals:
            name = self.words.task.predicates[literal.predicate].name
            self._add(f"predicate {name}", self.words.facts[literal.predicate])
        return self

    def objects(self, items: Sequence[int]) -> Scoring:
        """Count the kinds of objects."""
        for item in items:
            self.kind(self.words.kind_of(item))
        return self

    def kind(self, number: int) -> Scoring:
        """Count a kind."""
        self._add(f"type {self.words.task.type_names[number]}", self.words.kinds[number])
        return self

    def action(self, name: str) -> Scoring:
        """Count an action."""
        self._add(f"action {name}", self.words.actions[name])
        return self

    def function(self, number: int) -> Scoring:
        """Count a function."""
        self._add(f"function {self.words.task.functions[number].name}", self.words.functions[number])
        return self

    def bonus(self, weight: float, reason: str = "") -> Scoring:
        """Count something that is no word."""
        self._bonus += weight
        if reason:
            self.reasons[reason] = weight
        return self

    def _add(self, name: str, word: Word) -> None:
        if word.weight > 0 and name not in self._weights:
            self._weights[name] = word.weight
            self.reasons[word.reason] = word.weight

    def proposal(self, code: str, kind: str, text: str) -> Proposal:
        """The proposal, its strongest reasons first."""
        reasons = sorted(self.reasons, key=lambda reason: -self.reasons[reason])
        return Proposal(code, kind, text, round(self.total, 3), tuple(reasons[:4]), {kind: 0.3, **self._weights})
