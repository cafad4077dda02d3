"""Derived predicates: the least fixpoint of each stratum, and its update after a step.

An update deletes and rederives (Gupta, Mumick and Subrahmanian, 1993), stratum by stratum. It deletes the facts whose
derivations a step may have broken, with all facts that were derived from them before the step. Then it restores those
that have another derivation, and propagates them and the new facts through the rules, round by round.
"""

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
from plansafe.verifier.model.operations import find_signed_symbols

PredicateFacts = dict[int, set[int]]
"""Facts by predicate."""
DELETION_SHARE = 3
"""A stratum is computed again if more than one in this many of its facts would be deleted: that is cheaper then."""
MAX_RECOMPUTED_FACTS = 24
"""Up to this many derived facts are computed again instead of updated, in tasks with few objects."""


class Axioms:
    """Keeps the derived facts of a state correct."""

    def __init__(self, task: Task, emitter: Emitter) -> None:
        self.emitter = emitter
        axioms = [axiom for stratum in task.axioms for axiom in stratum]
        self.derived = frozenset([axiom.predicate for axiom in axioms])
        self.inputs = frozenset(find_signed_symbols(*[axiom.body for axiom in axioms]) - self.derived)
        """The predicates (and ``-1 - f`` for fluents) that derived predicates depend on."""
        self._has_few_objects = len(task.objects) <= MAX_UNINDEXED_OBJECTS
        self._strata = [
            StratumJoins(emitter, group) for stratum in task.axioms for group in find_dependency_components(stratum)
        ]

    def compute(self, facts: Facts, fluents: Fluents) -> None:
        """Set the derived predicates of a state to their fixpoint."""
        indexes = JoinIndexes(self.emitter, facts)
        for joins in self._strata:
            compute_fixpoint(joins, facts, fluents, indexes)

    def update(self, facts: Facts, fluents: Fluents, log: list[StateChange]) -> None:
        """After a step: correct the derived facts that depend on its changes, and append their changes to ``log``.

        The derived facts must have been correct before the step, and ``log`` must contain all changes that they read. A
        set that differs is replaced, never changed, because copies of the state may share it. After an exception the
        derived facts are those from before.
        """
        predicate_count, inputs = len(facts), self.inputs
        relevant_changes = [
            change
            for change in log
            if (change[0] if change[0] < predicate_count else predicate_count - 1 - change[0]) in inputs
        ]
        if not relevant_changes:
            return
        before = {predicate: facts[predicate] for predicate in self.derived}
        try:
            if self._has_few_objects and sum([len(codes) for codes in before.values()]) <= MAX_RECOMPUTED_FACTS:
                self.compute(facts, fluents)
            else:
                maintenance = Maintenance(self.emitter, facts, fluents, relevant_changes)
                for joins in self._strata:
                    maintenance.update_stratum(joins)
        except Exception:
            for predicate, codes in before.items():
                facts[predicate] = codes
            raise
        for predicate, codes_before in before.items():
            codes = facts[predicate]
            if codes is codes_before:
                continue
            deleted, added = codes_before - codes, codes - codes_before
            if deleted:
                log += [(predicate, code, False) for code in sorted(deleted)]
            if added:
                log += [(predicate, code, True) for code in sorted(added)]
            if not deleted and not added:
                facts[predicate] = codes_before


def find_dependency_components(stratum: tuple[Axiom, ...]) -> list[tuple[Axiom, ...]]:
    """The axioms of a stratum grouped by mutual dependency, each group after those it reads (Kosaraju, 1978)."""
    graph: dict[int, set[int]] = {axiom.predicate: set() for axiom in stratum}
    readers: dict[int, list[int]] = {predicate: [] for predicate in graph}
    for axiom in stratum:
        new = find_signed_symbols(axiom.body) & graph.keys() - graph[axiom.predicate]
        graph[axiom.predicate] |= new
        for predicate in sorted(new):
            readers[predicate].append(axiom.predicate)
    visited: set[int] = set()
    finished: list[int] = []
    for start in graph:
        path = [] if start in visited else [(start, iter(readers[start]))]
        visited.add(start)
        while path:
            predicate, unvisited = path[-1]
            reader = next((reader for reader in unvisited if reader not in visited), None)
            if reader is None:
                finished.append(predicate)
                path.pop()
            else:
                visited.add(reader)
                path.append((reader, iter(readers[reader])))
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


def compute_fixpoint(joins: StratumJoins, facts: Facts, fluents: Fluents, indexes: JoinIndexes) -> None:
    """Set the predicates of a stratum to their least fixpoint; the strata before it are correct."""
    for predicate in joins.predicates:
        facts[predicate] = set()
    if joins.recursive:
        _grow(joins, facts, fluents, indexes, joins.initial_joins, {}, {})
        return
    for (head, find), codes in joins.initial_joins:
        find(facts, fluents, indexes, codes, facts[head])


def _grow(
    joins: StratumJoins,
    facts: Facts,
    fluents: Fluents,
    indexes: JoinIndexes,
    queue: JoinQueue,
    added: PredicateFacts,
    old: PredicateFacts,
) -> None:
    """Add the facts that queued joins find, and all facts that follow from those and from ``added``.

    The sets in ``old`` are replaced when they grow.
    """
    while True:
        for (head, find), codes in queue:
            new: set[int] = set()
            find(facts, fluents, indexes, codes, new)
            new -= facts[head]
            if not new:
                continue
            head_facts = facts[head]
            if head_facts is old.get(head):
                facts[head] = head_facts | new
            else:
                head_facts |= new
            added[head] = added[head] | new if head in added else new
        queue = [(join, codes) for head, codes in added.items() for join in joins.get_joins_after_growth(head)]
        if not queue:
            return
        added = {}


class Maintenance:
    """One step's update: the facts before and after it, and by predicate the ``deleted`` and ``added`` facts.

    Copies of the state may share the sets of derived facts: a set is replaced, once, and only if it differs.
    """

    def __init__(self, emitter: Emitter, facts: Facts, fluents: Fluents, log: list[StateChange]) -> None:
        self.facts = facts
        self.fluents = fluents
        self.deleted: PredicateFacts = {}
        self.added: PredicateFacts = {}
        self.changed_symbols: set[int] = set()
        """The changed predicates, and ``-1 - f`` for fluents."""
        predicate_count = len(facts)
        for index, code, value in log:
            if index >= predicate_count:
                self.changed_symbols.add(predicate_count - 1 - index)
                continue
            self.changed_symbols.add(index)
            target, opposite = (self.added, self.deleted) if value else (self.deleted, self.added)
            if code in opposite.get(index, ()):
                opposite[index].discard(code)  # changed back
            else:
                target.setdefault(index, set()).add(code)
        self.indexes = JoinIndexes(emitter, facts)
        self._emitter = emitter
        self._before: JoinIndexes | None = None
        self._old: PredicateFacts = {}
        """The sets of the replaced derived predicates before the step."""

    def update_stratum(self, joins: StratumJoins) -> None:
        """Correct a stratum; those before it are correct."""
        changed_reads = joins.reads & self.changed_symbols
        if not changed_reads:
            return
        facts = self.facts
        old = {predicate: facts[predicate] for predicate in joins.predicates}
        self._old.update(old)
        overdeleted = None
        if joins.predicates.isdisjoint(joins.opaque) and changed_reads.isdisjoint(joins.opaque):
            overdeleted = self._find_overdeleted(joins, changed_reads, old)
        if overdeleted is None:
            self.recompute(joins, old)
            return
        for predicate, codes in overdeleted.items():
            facts[predicate] = old[predicate] - codes
        self._rederive(joins, changed_reads, old, overdeleted)
        for predicate, old_codes in old.items():
            codes = facts[predicate]
            if codes is not old_codes:
                self._record(predicate, old_codes, overdeleted.get(predicate, set()) - codes, codes - old_codes)

    def recompute(self, joins: StratumJoins, old: PredicateFacts) -> None:
        """Compute a stratum again and record the differences from its ``old`` facts."""
        facts = self.facts
        compute_fixpoint(joins, facts, self.fluents, self.indexes)
        for predicate, old_codes in old.items():
            self._record(predicate, old_codes, old_codes - facts[predicate], facts[predicate] - old_codes)

    def _record(self, predicate: int, old_codes: set[int], deleted: set[int], added: set[int]) -> None:
        if not deleted and not added:
            self.facts[predicate] = old_codes
            return
        self.changed_symbols.add(predicate)
        self.deleted[predicate], self.added[predicate] = deleted, added

    @property
    def before(self) -> JoinIndexes:
        """The facts before the step, with their indexes; every replaced derived predicate must be recorded."""
        if self._before is None:
            past = list(self.facts)
            for index in self.changed_symbols:
                if index >= 0 and index not in self._old:
                    past[index] = (past[index] - self.added.get(index, set())) | self.deleted.get(index, set())
            self._before = JoinIndexes(self._emitter, past, self.indexes)
        for predicate, codes in self._old.items():
            self._before.facts[predicate] = codes
        return self._before

    def _find_changed_joins(self, joins: StratumJoins, changed_reads: Iterable[int], deletes: bool) -> JoinQueue:
        """The joins from changed facts that find possible deletions (``deletes``) or additions."""
        queue: JoinQueue = []
        for predicate in changed_reads:
            for codes, positive in ((self.deleted.get(predicate), deletes), (self.added.get(predicate), not deletes)):
                if codes:
                    queue += [(join, codes) for join in joins.get_joins_from(predicate, positive)]
        return queue

    def _find_overdeleted(
        self, joins: StratumJoins, changed_reads: Iterable[int], old: PredicateFacts
    ) -> PredicateFacts | None:
        """All facts derived, before the step, from deleted facts; ``None`` if they are more than the share allows."""
        overdeleted: PredicateFacts = {}
        budget = sum([len(codes) for codes in old.values()]) // DELETION_SHARE
        queue = self._find_changed_joins(joins, changed_reads, True)
        while queue:
            indexes = self.before
            new_codes: PredicateFacts = {}
            for (head, find), codes in queue:
                derived: set[int] = set()
                find(indexes.facts, self.fluents, indexes, codes, derived)
                head_deleted = overdeleted.setdefault(head, set())
                new = derived - head_deleted
                if new:
                    budget -= len(new)
                    if budget < 0:
                        return None
                    head_deleted |= new
                    new_codes[head] = new_codes[head] | new if head in new_codes else new
            queue = [(join, codes) for head, codes in new_codes.items() for join in joins.get_joins_from(head, True)]
        return {predicate: codes for predicate, codes in overdeleted.items() if codes}

    def _rederive(
        self, joins: StratumJoins, changed_reads: Iterable[int], old: PredicateFacts, overdeleted: PredicateFacts
    ) -> None:
        """Restore the overdeleted facts that have another derivation, and add the new ones."""
        facts, fluents, indexes = self.facts, self.fluents, self.indexes
        restored: PredicateFacts = {}
        for predicate, codes in overdeleted.items():
            derivable = joins.find_derivable(predicate, codes, facts, fluents, indexes)
            if derivable:
                restored[predicate] = derivable
        for predicate, codes in restored.items():
            facts[predicate] |= codes
        _grow(joins, facts, fluents, indexes, self._find_changed_joins(joins, changed_reads, False), restored, old)
