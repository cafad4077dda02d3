"""Derived predicates: the least fixpoint, stratum by stratum, and how it follows the changes of a step."""

from __future__ import annotations

from collections.abc import Iterable

from plansafe.verifier.compile.emitter import Emitter
from plansafe.verifier.execution.axiom_joins import (
    MAX_UNINDEXED_OBJECTS,
    Facts,
    Fluents,
    JoinIndexes,
    JoinQueue,
    StratumJoins,
)
from plansafe.verifier.execution.state import StateChange
from plansafe.verifier.model.nodes import Axiom, Task
from plansafe.verifier.model.operations import symbols_read

Delta = dict[int, set[int]]
"""Facts by predicate."""
DELETION_SHARE = 3
"""Where more than one in so many facts of a stratum would be deleted, it is cheaper to compute it anew."""
MAX_RECOMPUTED_FACTS = 24
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
        self._small = len(task.objects) <= MAX_UNINDEXED_OBJECTS
        self._strata = [
            StratumJoins(emitter, part) for stratum in task.axioms for part in dependency_components(stratum)
        ]

    def compute(self, facts: Facts, fluents: Fluents) -> None:
        """Set the derived predicates of a state to their fixpoint."""
        tables = JoinIndexes(self.emitter, facts)
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
            if self._small and sum([len(known) for known in before.values()]) <= MAX_RECOMPUTED_FACTS:
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


def dependency_components(stratum: tuple[Axiom, ...]) -> list[tuple[Axiom, ...]]:
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


def fixpoint(rules: StratumJoins, facts: Facts, fluents: Fluents, tables: JoinIndexes) -> None:
    """Set the predicates of a stratum to their least fixpoint; those before it are right."""
    for predicate in rules.predicates:
        facts[predicate] = set()
    if rules.recursive:
        _grow(rules, facts, fluents, tables, rules.first, {}, {})
        return
    for (head, find), codes in rules.first:
        find(facts, fluents, tables, codes, facts[head])


def _grow(
    rules: StratumJoins, facts: Facts, fluents: Fluents, tables: JoinIndexes, work: JoinQueue, delta: Delta, old: Delta
) -> None:
    """Add what joins find, and all that follows from that and from ``delta``, what is new already.

    Sets of ``old`` are replaced when they grow.
    """
    while True:
        for (head, find), codes in work:
            new: set[int] = set()
            find(facts, fluents, tables, codes, new)
            new -= facts[head]
            if not new:
                continue
            known = facts[head]
            if known is old.get(head):
                facts[head] = known | new
            else:
                known |= new
            delta[head] = delta[head] | new if head in delta else new
        work = [(seeded, codes) for head, codes in delta.items() for seeded in rules.grown(head)]
        if not work:
            return
        delta = {}


class Maintenance:
    """One step: the facts before and after it, and by predicate what has become false (``gone``) and true (``came``).

    Sets of derived facts may be shared with copies of the state: a set is replaced, once, and only if it differs.
    """

    def __init__(self, emitter: Emitter, facts: Facts, fluents: Fluents, log: list[StateChange]) -> None:
        self.facts = facts
        self.fluents = fluents
        self.gone: Delta = {}
        self.came: Delta = {}
        self.changed: set[int] = set()
        """What differs: predicates, and ``-1 - f`` for fluents."""
        base = len(facts)
        for index, code, value in log:
            if index >= base:
                self.changed.add(base - 1 - index)
                continue
            self.changed.add(index)
            into, other = (self.came, self.gone) if value else (self.gone, self.came)
            if code in other.get(index, ()):
                other[index].discard(code)  # changed back
            else:
                into.setdefault(index, set()).add(code)
        self.tables = JoinIndexes(emitter, facts)
        self._emitter = emitter
        self._before: JoinIndexes | None = None
        self._old: Delta = {}
        """The sets of the derived predicates that were replaced, as they were."""

    def follow(self, rules: StratumJoins) -> None:
        """Put a stratum right; those before it are."""
        touched = rules.reads & self.changed
        if not touched:
            return
        facts = self.facts
        old = {predicate: facts[predicate] for predicate in rules.predicates}
        self._old.update(old)
        over = None
        if rules.predicates.isdisjoint(rules.opaque) and touched.isdisjoint(rules.opaque):
            over = self._overdeleted(rules, touched, old)
        if over is None:
            self.recompute(rules, old)
            return
        for predicate, codes in over.items():
            facts[predicate] = old[predicate] - codes
        self._insert(rules, touched, old, over)
        for predicate, known in old.items():
            now = facts[predicate]
            if now is not known:
                self._note(predicate, known, over.get(predicate, set()) - now, now - known)

    def recompute(self, rules: StratumJoins, old: Delta) -> None:
        """Compute a stratum again and record the differences from its ``old`` facts."""
        facts = self.facts
        fixpoint(rules, facts, self.fluents, self.tables)
        for predicate, codes in old.items():
            self._note(predicate, codes, codes - facts[predicate], facts[predicate] - codes)

    def _note(self, predicate: int, known: set[int], gone: set[int], came: set[int]) -> None:
        if not gone and not came:
            self.facts[predicate] = known
            return
        self.changed.add(predicate)
        self.gone[predicate], self.came[predicate] = gone, came

    @property
    def before(self) -> JoinIndexes:
        """The facts before the step, with their indexes. Derived predicates must not have been replaced unnoted."""
        if self._before is None:
            past = list(self.facts)
            for index in self.changed:
                if index >= 0 and index not in self._old:
                    past[index] = (past[index] - self.came.get(index, set())) | self.gone.get(index, set())
            self._before = JoinIndexes(self._emitter, past, self.tables)
        for predicate, known in self._old.items():
            self._before.facts[predicate] = known
        return self._before

    def _seeds(self, rules: StratumJoins, touched: Iterable[int], less: bool) -> JoinQueue:
        """The joins from what changed that find what may be true no more (``less``), or newly true."""
        work: JoinQueue = []
        for predicate in touched:
            for codes, positive in ((self.gone.get(predicate), less), (self.came.get(predicate), not less)):
                if codes:
                    work += [(seeded, codes) for seeded in rules.seeded(predicate, positive)]
        return work

    def _overdeleted(self, rules: StratumJoins, touched: Iterable[int], old: Delta) -> Delta | None:
        """All that was derived, before the step, from what holds no more; ``None`` if that is much."""
        over: Delta = {}
        left = sum([len(known) for known in old.values()]) // DELETION_SHARE
        work = self._seeds(rules, touched, True)
        while work:
            tables = self.before
            delta: Delta = {}
            for (head, find), codes in work:
                out: set[int] = set()
                find(tables.facts, self.fluents, tables, codes, out)
                known = over.setdefault(head, set())
                new = out - known
                if new:
                    left -= len(new)
                    if left < 0:
                        return None
                    known |= new
                    delta[head] = delta[head] | new if head in delta else new
            work = [(seeded, codes) for head, codes in delta.items() for seeded in rules.seeded(head, True)]
        return {predicate: codes for predicate, codes in over.items() if codes}

    def _insert(self, rules: StratumJoins, touched: Iterable[int], old: Delta, over: Delta) -> None:
        """Add what is derived, still or newly."""
        facts, fluents, tables = self.facts, self.fluents, self.tables
        delta: Delta = {}
        for predicate, codes in over.items():
            back = rules.derivable(predicate, codes, facts, fluents, tables)
            if back:
                delta[predicate] = back
        for predicate, codes in delta.items():
            facts[predicate] |= codes
        _grow(rules, facts, fluents, tables, self._seeds(rules, touched, False), delta, old)
