"""Derived predicates: the least fixpoint, stratum by stratum, and how it follows the changes of a step."""

from __future__ import annotations

from plansafe.verifier.compile.emit import Emitter
from plansafe.verifier.execution.derivations import UNINDEXED, Derivations, Facts, Fluents, Tables
from plansafe.verifier.execution.maintain import Maintenance, fixpoint
from plansafe.verifier.execution.state import StateChange
from plansafe.verifier.model.nodes import Axiom, Task
from plansafe.verifier.model.operations import symbols_read

FEW = 24
"""So many derived facts are sooner computed anew than followed, where there are few objects, too."""


class Axioms:
    """Keeps the derived facts of a state right."""

    def __init__(self, task: Task, emitter: Emitter) -> None:
        self.task = task
        self.emitter = emitter
        self.derived = frozenset([axiom.predicate for stratum in task.axioms for axiom in stratum])
        inputs: set[int] = set()
        for stratum in task.axioms:
            for axiom in stratum:
                inputs |= symbols_read(axiom.body)
        self.inputs = frozenset(inputs - self.derived)
        """What derived predicates depend on: predicates, and ``-1 - f`` for fluents."""
        self._small = len(task.objects) <= UNINDEXED
        self._strata = [Derivations(emitter, part) for stratum in task.axioms for part in components(stratum)]

    def compute(self, facts: Facts, fluents: Fluents) -> None:
        """Set the derived predicates of a state to their fixpoint."""
        tables = Tables(self.emitter, facts)
        for rules in self._strata:
            fixpoint(rules, facts, fluents, tables)

    def update(self, facts: Facts, fluents: Fluents, log: list[StateChange]) -> None:
        """After a step: put right what depends on what changed, and append what that changed to ``log``.

        Derived facts must have been right before the step, and ``log`` must have all that it changed and they read. A
        set that differs is replaced, never changed: copies of the state may share it. After an exception the derived
        facts are those from before.
        """
        base, inputs = len(facts), self.inputs
        if not any([(change[0] if change[0] < base else base - 1 - change[0]) in inputs for change in log]):
            return
        before = {predicate: facts[predicate] for predicate in self.derived}
        try:
            if self._small and sum([len(known) for known in before.values()]) <= FEW:
                self.compute(facts, fluents)
            else:
                read = [change for change in log if (change[0] if change[0] < base else base - 1 - change[0]) in inputs]
                step = Maintenance(self.emitter, facts, fluents, read)
                for rules in self._strata:
                    step.follow(rules)
        except Exception:
            for predicate, known in before.items():
                facts[predicate] = known
            raise
        for predicate, known in before.items():
            now = facts[predicate]
            if now is known:
                continue
            gone, came = known - now, now - known
            if gone:
                log += [(predicate, code, False) for code in sorted(gone)]
            if came:
                log += [(predicate, code, True) for code in sorted(came)]
            if not gone and not came:
                facts[predicate] = known


def components(stratum: tuple[Axiom, ...]) -> list[tuple[Axiom, ...]]:
    """The axioms of a stratum by what depends on each other, each group after those it reads (Kosaraju, 1978)."""
    graph: dict[int, set[int]] = {axiom.predicate: set() for axiom in stratum}
    readers: dict[int, list[int]] = {predicate: [] for predicate in graph}
    for axiom in stratum:
        new = symbols_read(axiom.body) & graph.keys() - graph[axiom.predicate]
        graph[axiom.predicate] |= new
        for predicate in sorted(new):
            readers[predicate].append(axiom.predicate)
    seen: set[int] = set()
    finished: list[int] = []
    for start in graph:
        path = [] if start in seen else [(start, iter(readers[start]))]
        seen.add(start)
        while path:
            predicate, rest = path[-1]
            following = next((reader for reader in rest if reader not in seen), None)
            if following is None:
                finished.append(predicate)
                path.pop()
            else:
                seen.add(following)
                path.append((following, iter(readers[following])))
    group: dict[int, int] = {}
    for number, start in enumerate(reversed(finished)):
        stack = [] if start in group else [start]
        while stack:
            predicate = stack.pop()
            group[predicate] = number
            stack += [read for read in graph[predicate] if read not in group]
    groups: dict[int, list[Axiom]] = {}
    for axiom in stratum:
        groups.setdefault(group[axiom.predicate], []).append(axiom)
    return [tuple(groups[number]) for number in sorted(groups)]
