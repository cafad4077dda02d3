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
"""Some facts of some predicates: codes by predicate."""
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
        derived facts are the same as before.
        """
        predicate_count, inputs = len(facts), self.inputs
        relevant_changes = []
        for change in log:
            symbol_index = change[0]
            if (symbol_index if symbol_index < predicate_count else predicate_count - 1 - symbol_index) in inputs:
                relevant_changes.append(change)
        if not relevant_changes:
            return
        old_sets = {predicate: facts[predicate] for predicate in self.derived}
        try:
            if self._has_few_objects and sum([len(codes) for codes in old_sets.values()]) <= MAX_RECOMPUTED_FACTS:
                self.compute(facts, fluents)
            else:
                update = StepUpdate(self.emitter, facts, fluents, relevant_changes)
                for joins in self._strata:
                    update.update_stratum(joins)
        except Exception:
            for predicate, codes in old_sets.items():
                facts[predicate] = codes
            raise
        for predicate, old_codes in old_sets.items():
            codes = facts[predicate]
            if codes is old_codes:
                continue
            deleted, added = old_codes - codes, codes - old_codes
            if deleted:
                log += [(predicate, code, False) for code in sorted(deleted)]
            if added:
                log += [(predicate, code, True) for code in sorted(added)]
            if not deleted and not added:
                facts[predicate] = old_codes


def find_dependency_components(stratum: tuple[Axiom, ...]) -> list[tuple[Axiom, ...]]:
    """Group the axioms of a stratum by mutual dependency, each group after the groups it reads (Kosaraju, 1978)."""
    reads: dict[int, set[int]] = {axiom.predicate: set() for axiom in stratum}
    readers: dict[int, list[int]] = {predicate: [] for predicate in reads}
    for axiom in stratum:
        new_reads = find_signed_symbols(axiom.body) & reads.keys() - reads[axiom.predicate]
        reads[axiom.predicate] |= new_reads
        for predicate in sorted(new_reads):
            readers[predicate].append(axiom.predicate)
    group_numbers: dict[int, int] = {}
    for number, start in enumerate(reversed(_list_in_postorder(readers))):
        stack = [] if start in group_numbers else [start]
        while stack:
            predicate = stack.pop()
            group_numbers[predicate] = number
            stack += [read for read in reads[predicate] if read not in group_numbers]
    groups: dict[int, list[Axiom]] = {}
    for axiom in stratum:
        groups.setdefault(group_numbers[axiom.predicate], []).append(axiom)
    return [tuple(groups[number]) for number in sorted(groups)]


def _list_in_postorder(successors: dict[int, list[int]]) -> list[int]:
    """Return the nodes of a graph in the order in which a depth-first search finishes them."""
    visited: set[int] = set()
    finished: list[int] = []
    for start in successors:
        path = [] if start in visited else [(start, iter(successors[start]))]
        visited.add(start)
        while path:
            node, remaining_successors = path[-1]
            successor = next((s for s in remaining_successors if s not in visited), None)
            if successor is None:
                finished.append(node)
                path.pop()
            else:
                visited.add(successor)
                path.append((successor, iter(successors[successor])))
    return finished


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
    shared_sets: PredicateFacts,
) -> None:
    """Add the facts that queued joins find, and all facts that follow from these and from ``added``.

    Sets in ``shared_sets`` are replaced when they grow; other sets are changed in place.
    """
    while True:
        for (head, find), codes in queue:
            found_codes: set[int] = set()
            find(facts, fluents, indexes, codes, found_codes)
            found_codes -= facts[head]
            if not found_codes:
                continue
            head_facts = facts[head]
            if head_facts is shared_sets.get(head):
                facts[head] = head_facts | found_codes
            else:
                head_facts |= found_codes
            added[head] = added[head] | found_codes if head in added else found_codes
        queue = [(join, codes) for head, codes in added.items() for join in joins.get_joins_after_growth(head)]
        if not queue:
            return
        added = {}


class StepUpdate:
    """The update of derived facts after one step, with the ``deleted`` and ``added`` facts of each predicate.

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
        for symbol_index, code, value in log:
            if symbol_index >= predicate_count:
                self.changed_symbols.add(predicate_count - 1 - symbol_index)
                continue
            self.changed_symbols.add(symbol_index)
            changes, opposite_changes = (self.added, self.deleted) if value else (self.deleted, self.added)
            if code in opposite_changes.get(symbol_index, ()):
                opposite_changes[symbol_index].discard(code)  # changed back
            else:
                changes.setdefault(symbol_index, set()).add(code)
        self.indexes = JoinIndexes(emitter, facts)
        self._emitter = emitter
        self._indexes_before: JoinIndexes | None = None
        self._replaced_sets: PredicateFacts = {}
        """By derived predicate of an updated stratum, its set before the step."""

    def update_stratum(self, joins: StratumJoins) -> None:
        """Correct a stratum; the strata before it are correct."""
        changed_inputs = joins.reads & self.changed_symbols
        if not changed_inputs:
            return
        facts = self.facts
        old_sets = {predicate: facts[predicate] for predicate in joins.predicates}
        self._replaced_sets.update(old_sets)
        overdeleted_facts = None
        if joins.predicates.isdisjoint(joins.opaque) and changed_inputs.isdisjoint(joins.opaque):
            overdeleted_facts = self._find_overdeleted(joins, changed_inputs, old_sets)
        if overdeleted_facts is None:
            self.recompute(joins, old_sets)
            return
        for predicate, codes in overdeleted_facts.items():
            facts[predicate] = old_sets[predicate] - codes
        self._rederive(joins, changed_inputs, old_sets, overdeleted_facts)
        for predicate, old_codes in old_sets.items():
            codes = facts[predicate]
            if codes is not old_codes:
                self._record_change(
                    predicate, old_codes, overdeleted_facts.get(predicate, set()) - codes, codes - old_codes
                )

    def recompute(self, joins: StratumJoins, old_sets: PredicateFacts) -> None:
        """Compute a stratum again and record the differences from its old facts."""
        facts = self.facts
        compute_fixpoint(joins, facts, self.fluents, self.indexes)
        for predicate, old_codes in old_sets.items():
            self._record_change(predicate, old_codes, old_codes - facts[predicate], facts[predicate] - old_codes)

    def _record_change(self, predicate: int, old_codes: set[int], deleted: set[int], added: set[int]) -> None:
        """Record the deleted and added facts of a predicate; if there are none, restore the old set."""
        if not deleted and not added:
            self.facts[predicate] = old_codes
            return
        self.changed_symbols.add(predicate)
        self.deleted[predicate], self.added[predicate] = deleted, added

    @property
    def indexes_before(self) -> JoinIndexes:
        """The indexes of the facts before the step; every replaced set of a derived predicate must be recorded."""
        if self._indexes_before is None:
            facts_before = list(self.facts)
            for symbol in self.changed_symbols:
                if symbol >= 0 and symbol not in self._replaced_sets:
                    added, deleted = self.added.get(symbol, set()), self.deleted.get(symbol, set())
                    facts_before[symbol] = (facts_before[symbol] - added) | deleted
            self._indexes_before = JoinIndexes(self._emitter, facts_before, self.indexes)
        for predicate, codes in self._replaced_sets.items():
            self._indexes_before.facts[predicate] = codes
        return self._indexes_before

    def _list_joins_from_changes(
        self, joins: StratumJoins, changed_inputs: Iterable[int], *, deletes: bool
    ) -> JoinQueue:
        """Return the joins from changed facts that find possible deletions (``deletes``) or additions."""
        queue: JoinQueue = []
        for predicate in changed_inputs:
            for codes, positive in ((self.deleted.get(predicate), deletes), (self.added.get(predicate), not deletes)):
                if codes:
                    queue += [(join, codes) for join in joins.get_joins_from(predicate, positive)]
        return queue

    def _find_overdeleted(
        self, joins: StratumJoins, changed_inputs: Iterable[int], old_sets: PredicateFacts
    ) -> PredicateFacts | None:
        """Return all facts that were derived from deleted facts; ``None`` if they are more than the share allows."""
        overdeleted_facts: PredicateFacts = {}
        budget = sum([len(codes) for codes in old_sets.values()]) // DELETION_SHARE
        queue = self._list_joins_from_changes(joins, changed_inputs, deletes=True)
        while queue:
            indexes = self.indexes_before
            new_codes: PredicateFacts = {}
            for (head, find), codes in queue:
                derived_codes: set[int] = set()
                find(indexes.facts, self.fluents, indexes, codes, derived_codes)
                overdeleted_codes = overdeleted_facts.setdefault(head, set())
                new_overdeleted_codes = derived_codes - overdeleted_codes
                if new_overdeleted_codes:
                    budget -= len(new_overdeleted_codes)
                    if budget < 0:
                        return None
                    overdeleted_codes |= new_overdeleted_codes
                    new_codes[head] = (
                        new_codes[head] | new_overdeleted_codes if head in new_codes else new_overdeleted_codes
                    )
            queue = [(join, codes) for head, codes in new_codes.items() for join in joins.get_joins_from(head, True)]
        return {predicate: codes for predicate, codes in overdeleted_facts.items() if codes}

    def _rederive(
        self,
        joins: StratumJoins,
        changed_inputs: Iterable[int],
        old_sets: PredicateFacts,
        overdeleted_facts: PredicateFacts,
    ) -> None:
        """Restore the overdeleted facts that have another derivation, and add the new facts."""
        facts, fluents, indexes = self.facts, self.fluents, self.indexes
        restored_facts: PredicateFacts = {}
        for predicate, codes in overdeleted_facts.items():
            derivable = joins.find_derivable(predicate, codes, facts, fluents, indexes)
            if derivable:
                restored_facts[predicate] = derivable
        for predicate, codes in restored_facts.items():
            facts[predicate] |= codes
        queue = self._list_joins_from_changes(joins, changed_inputs, deletes=False)
        _grow(joins, facts, fluents, indexes, queue, restored_facts, old_sets)
