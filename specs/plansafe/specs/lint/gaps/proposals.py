"""From what a plan did with certain objects to a rule about all objects of their kinds, as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from plansafe.specs.lint.gaps.model import UNCOVERED, UNREAD
from plansafe.specs.lint.gaps.suspicion import UNREAD_WEIGHT, Suspicion, SuspicionWeights
from plansafe.verifier.execution.steps import GroundAction

NAME = "<name>"
"""Stands for the name of a proposed rule until it is printed."""
LINK_PENALTY = 0.5
"""What each fact costs that only connects."""


class GroundFact(NamedTuple):
    """A ground fact."""

    predicate: int
    objects: tuple[int, ...]


class Proposal(NamedTuple):
    """A rule that would forbid something, and why it may be wanted.

    ``text`` is the rule with :data:`NAME` for its name. ``words`` make it suspicious: proposals with the same words are
    about one hole.
    """

    code: str
    kind: str
    text: str
    score: float
    reasons: tuple[str, ...]
    words: frozenset[str]


def make_proposal(
    kind: str, text: str, words: Iterable[Suspicion], code: str | None = None, more: Sequence[str] = (), links: int = 0
) -> Proposal:
    """A proposal; it is as suspicious as its words, the weaker ones counted by half, a quarter, ..."""
    said = sorted({word for word in words if word.weight}, key=lambda word: (-word.weight, word.reason))
    strongest = said[0].weight if said else 0.0
    score = sum([word.weight / 2**place for place, word in enumerate(said)]) - LINK_PENALTY * links
    reasons = [word.reason for word in said]
    code = code or (UNREAD if strongest >= UNREAD_WEIGHT else UNCOVERED)
    return Proposal(code, kind, text, round(score, 3), tuple([*more, *reasons][:4]), frozenset([kind, *reasons]))


class LiftedNames:
    """Names for objects: variables, typed by the kinds that the objects were declared with."""

    def __init__(self, words: SuspicionWeights) -> None:
        self.words = words
        self.task = words.task
        self._named: dict[int, tuple[str, str]] = {}

    def variable(self, item: int) -> str:
        """The variable that stands for an object."""
        if item not in self._named:
            kind = self.task.type_names[self.words.kind_of(item)]
            self._named[item] = f"?{kind}-{len(self._named) + 1}", kind
        return self._named[item][0]

    def facts(self, facts: Sequence[GroundFact]) -> str:
        """Facts that hold together, about variables."""
        names = [(self.task.predicates[f.predicate].name, *[self.variable(o) for o in f.objects]) for f in facts]
        texts = [f"({' '.join(words)})" for words in names]
        return texts[0] if len(texts) == 1 else f"({' '.join(['and', *texts])})"

    def step(self, taken: GroundAction, used: set[int]) -> str:
        """A step; objects that are not ``used`` may be any."""
        words = [self.variable(o) if o in used else "_" for o in taken.objects]
        return f"({' '.join([taken.action.name, *words])})"

    def parameters(self) -> str:
        """The typed list of the variables that have been named."""
        return " ".join([f"{name} - {kind}" for name, kind in self._named.values()])
