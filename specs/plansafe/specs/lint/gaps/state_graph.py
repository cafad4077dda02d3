"""A state of a plan as a graph: which facts connect which objects, and which facts and objects are suspicious."""

from __future__ import annotations

from typing import NamedTuple

from plansafe.specs.lint.gaps.proposals import GroundFact
from plansafe.specs.lint.gaps.suspicion import FORBIDDEN_WEIGHT, TaskSuspicions
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.state import State

MAX_DISTANCE = 3
"""Maximum number of facts in a chain between objects."""
MAX_ITEMS = 24
"""Maximum number of suspicious items of a state."""
MAX_DEGREE = 40
"""An object with more facts than this does not connect objects."""


class SuspiciousItem(NamedTuple):
    """A suspicious fact of a state, or an object of a suspicious type."""

    weight: float
    fact: GroundFact | None
    objects: tuple[int, ...]


class TaskGraph:
    """The static facts of a task as a graph. ``items`` are the facts and objects that are suspicious in every state."""

    def __init__(self, task_suspicions: TaskSuspicions, engine: Engine) -> None:
        self.task_suspicions = task_suspicions
        self.engine = engine
        self.task = task = task_suspicions.task
        self.initial_state = engine.make_initial_state()
        basic = [index for index in range(len(task.static)) if index not in task_suspicions.derived]
        self.changing_predicates = [predicate for predicate in basic if not task.static[predicate]]
        static_facts = self.list_true_facts(
            self.initial_state, [predicate for predicate in basic if task.static[predicate]]
        )
        self.initial_facts = self.list_true_facts(self.initial_state, self.changing_predicates)
        self.edges = map_objects_to_facts(static_facts)
        self.items = self.find_suspicious_items(static_facts)
        for object_number in range(len(task.objects)):
            weight = task_suspicions.type_suspicions[task_suspicions.find_most_suspicious_type(object_number)].weight
            if weight:
                self.items.append(SuspiciousItem(weight, None, (object_number,)))

    def list_true_facts(self, state: State, predicates: list[int]) -> list[GroundFact]:
        """List the true facts of some predicates."""
        task = self.task
        return [
            GroundFact(predicate, task.decode(code, len(task.predicates[predicate].types)))
            for predicate in predicates
            for code in sorted(state.facts[predicate])
        ]

    def find_suspicious_items(self, facts: list[GroundFact]) -> list[SuspiciousItem]:
        """Find the suspicious facts among these."""
        suspicions = self.task_suspicions.predicate_suspicions
        return [
            SuspiciousItem(suspicions[fact.predicate].weight, fact, fact.objects)
            for fact in facts
            if suspicions[fact.predicate].weight
        ]

    def is_initially_false(self, fact: GroundFact) -> bool:
        """Whether a fact is false in S0."""
        return self.task.encode(fact.objects) not in self.initial_state.facts[fact.predicate]


class StateGraph:
    """The facts of one state as a graph, whose ``items`` are the most suspicious facts and objects."""

    def __init__(self, task_graph: TaskGraph, state: State) -> None:
        self.task_graph = task_graph
        self.changing_facts = task_graph.list_true_facts(state, task_graph.changing_predicates)
        self._edges = map_objects_to_facts(self.changing_facts)
        changing_items = task_graph.find_suspicious_items(self.changing_facts)
        changing_items.sort(
            key=lambda item: (-item.weight, item.fact is None or not task_graph.is_initially_false(item.fact))
        )
        items = [*changing_items[:MAX_ITEMS], *task_graph.items]
        self.items = sorted(items, key=lambda item: -item.weight)[:MAX_ITEMS]
        self._chains: dict[tuple[int, ...], dict[int, tuple[GroundFact, ...]]] = {}

    def _find_incident_facts(self, object_number: int) -> list[GroundFact]:
        """Find the facts that connect an object with others, suspicious facts first."""
        facts = [*self._edges.get(object_number, ()), *self.task_graph.edges.get(object_number, ())]
        suspicions = self.task_graph.task_suspicions.predicate_suspicions
        return sorted(facts, key=lambda fact: -suspicions[fact.predicate].weight) if len(facts) <= MAX_DEGREE else []

    def _find_chains(self, start: tuple[int, ...]) -> dict[int, tuple[GroundFact, ...]]:
        """Find the objects within :data:`MAX_DISTANCE` facts of ``start``, each with a shortest chain of facts."""
        chains: dict[int, tuple[GroundFact, ...]] = dict.fromkeys(start, ())
        layer = list(start)
        for _ in range(MAX_DISTANCE):
            next_layer = []
            for source in layer:
                for fact in self._find_incident_facts(source):
                    for target in fact.objects:
                        if target not in chains:
                            chains[target] = (*chains[source], fact)
                            next_layer.append(target)
            layer = next_layer
        return chains

    def find_chain(self, start: tuple[int, ...], end: tuple[int, ...]) -> tuple[GroundFact, ...] | None:
        """Find a shortest chain of facts between two groups of objects: empty if they share an object, or ``None``."""
        if start not in self._chains:
            self._chains[start] = self._find_chains(start)
        chains = [self._chains[start][target] for target in end if target in self._chains[start]]
        return min(chains, key=len, default=None)

    def count_links(self, chain: tuple[GroundFact, ...] | None) -> int:
        """Count the facts in a chain that are not suspicious themselves and only connect objects."""
        suspicions = self.task_graph.task_suspicions.predicate_suspicions
        return len([fact for fact in chain or () if suspicions[fact.predicate].weight < FORBIDDEN_WEIGHT])


def map_objects_to_facts(facts: list[GroundFact]) -> dict[int, list[GroundFact]]:
    """Map each object to the facts that connect it with others."""
    facts_by_object: dict[int, list[GroundFact]] = {}
    for fact in facts:
        if len(set(fact.objects)) > 1:
            for object_number in set(fact.objects):
                facts_by_object.setdefault(object_number, []).append(fact)
    return facts_by_object
