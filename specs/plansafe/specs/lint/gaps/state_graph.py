"""One moment of a plan as a graph: which facts connect which objects, and which of them are suspicious."""

from __future__ import annotations

from typing import NamedTuple

from plansafe.specs.lint.gaps.proposals import GroundFact
from plansafe.specs.lint.gaps.suspicion import FORBIDDEN_WEIGHT, SuspicionWeights
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.state import State

MAX_DISTANCE = 3
MAX_ITEMS = 24
HUB = 40
"""An object with more facts than this connects everything with everything, and so nothing."""


class SuspiciousItem(NamedTuple):
    """Something suspicious at one moment: a fact, or an object of a suspicious kind."""

    weight: float
    fact: GroundFact | None
    objects: tuple[int, ...]


class TaskGraph:
    """What all moments of a task have in common. ``items`` are suspicious for good, by the facts that never change."""

    def __init__(self, words: SuspicionWeights, engine: Engine) -> None:
        self.words = words
        self.engine = engine
        self.task = task = words.task
        self.initial = engine.initial()
        basic = [p for p in range(len(task.static)) if p not in words.derived]
        self.changing = [p for p in basic if not task.static[p]]
        always = self.facts(self.initial, [p for p in basic if task.static[p]])
        self.at_first = self.facts(self.initial, self.changing)
        self.edges = incident_facts(always)
        kinds = [words.kinds[words.kind_of(o)].weight for o in range(len(task.objects))]
        self.items = self.suspicious(always)
        self.items += [SuspiciousItem(weight, None, (o,)) for o, weight in enumerate(kinds) if weight]

    def facts(self, state: State, predicates: list[int]) -> list[GroundFact]:
        """The facts of some predicates that hold."""
        task = self.task
        return [
            GroundFact(p, task.decode(code, len(task.predicates[p].types)))
            for p in predicates
            for code in sorted(state.facts[p])
        ]

    def suspicious(self, facts: list[GroundFact]) -> list[SuspiciousItem]:
        """Those of the facts that are."""
        weights = self.words.facts
        return [SuspiciousItem(weights[f.predicate].weight, f, f.objects) for f in facts if weights[f.predicate].weight]

    def new(self, fact: GroundFact) -> bool:
        """Whether a fact did not hold in S0."""
        return self.task.encode(fact.objects) not in self.initial.facts[fact.predicate]


class StateGraph:
    """The facts of one state. Paths are found once for each start."""

    def __init__(self, shared: TaskGraph, state: State) -> None:
        self.shared = shared
        self.changing = shared.facts(state, shared.changing)
        self._edges = incident_facts(self.changing)
        now = sorted(shared.suspicious(self.changing), key=lambda item: (-item.weight, not shared.new(item.fact)))  # type: ignore[arg-type] # all are facts
        items = [*now[:MAX_ITEMS], *shared.items]
        self.items = sorted(items, key=lambda item: -item.weight)[:MAX_ITEMS]
        self._reached: dict[tuple[int, ...], dict[int, tuple[GroundFact, ...]]] = {}

    def _around(self, item: int) -> list[GroundFact]:
        """The facts that connect an object with others, suspicious ones first."""
        found = [*self._edges.get(item, ()), *self.shared.edges.get(item, ())]
        weights = self.shared.words.facts
        return sorted(found, key=lambda f: -weights[f.predicate].weight) if len(found) <= HUB else []

    def _from(self, start: tuple[int, ...]) -> dict[int, tuple[GroundFact, ...]]:
        """The objects within :data:`MAX_DISTANCE` facts of some, each with a shortest chain of facts."""
        found: dict[int, tuple[GroundFact, ...]] = dict.fromkeys(start, ())
        layer = list(start)
        for _ in range(MAX_DISTANCE):
            following = []
            for item in layer:
                for fact in self._around(item):
                    for other in fact.objects:
                        if other not in found:
                            found[other] = (*found[item], fact)
                            following.append(other)
            layer = following
        return found

    def chain(self, start: tuple[int, ...], end: tuple[int, ...]) -> tuple[GroundFact, ...] | None:
        """A shortest chain of facts between two groups of objects: empty if they share one, ``None`` if none."""
        if start not in self._reached:
            self._reached[start] = self._from(start)
        chains = [self._reached[start][item] for item in end if item in self._reached[start]]
        return min(chains, key=len, default=None)

    def links(self, chain: tuple[GroundFact, ...] | None) -> int:
        """How many facts of a chain only connect."""
        weights = self.shared.words.facts
        return len([fact for fact in chain or () if weights[fact.predicate].weight < FORBIDDEN_WEIGHT])


def incident_facts(facts: list[GroundFact]) -> dict[int, list[GroundFact]]:
    """For each object, the facts that connect it with others."""
    found: dict[int, list[GroundFact]] = {}
    for fact in facts:
        if len(set(fact.objects)) > 1:
            for item in set(fact.objects):
                found.setdefault(item, []).append(fact)
    return found
