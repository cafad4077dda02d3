"""The searches of one repair attempt, which share its limits of time and work (docs/repair.md)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from heapq import heappop, heappush
from time import monotonic
from typing import NamedTuple

from plansafe.verifier.api import Checker
from plansafe.verifier.execution.steps import GroundAction, IllFormed
from plansafe.verifier.model.nodes import Number
from plansafe.verifier.repair.alignments import Alignment, enumerate_alignments
from plansafe.verifier.repair.effect_index import EffectIndex
from plansafe.verifier.repair.model import RepairOptions
from plansafe.verifier.repair.repair_task import RepairTask
from plansafe.verifier.repair.search import RepairSearch
from plansafe.verifier.repair.verification import RepairVerifier

_MAX_TIE_WORK_OF_INSERTIONS = 10_000
"""``max_tie_work`` of a search by insertions alone, which needs only one repair."""
_CANDIDATES_PER_LISTED_REPAIR, _MIN_CANDIDATES = 20, 200
"""How many minimal repairs are extracted at most, to list the best: for each repair to be listed, but at least .."""
ProgressCallback = Callable[[Number, int], None]
"""Called during a search with the lower bound of the cost, and the number of expanded nodes."""


class RepairCandidates(NamedTuple):
    """Minimal repairs of one cost; ``is_complete``: these are all minimal repairs of this cost."""

    alignments: list[Alignment]
    is_complete: bool


class LimitedSearches:
    """Creates and runs searches for minimal repairs; ``verifier`` decides whether a repair is minimal."""

    def __init__(
        self,
        checker: Checker,
        options: RepairOptions,
        verifier: RepairVerifier,
        deadline: float | None,
        effect_index: EffectIndex,
        report_progress: ProgressCallback | None,
    ) -> None:
        self.checker = checker
        self.options = options
        self.verifier = verifier
        self.deadline = deadline
        self._effect_index = effect_index
        self._report_progress = report_progress
        self._searches: list[RepairSearch] = []

    def create(self, steps: Sequence[GroundAction | IllFormed], *, insertions_only: bool = False) -> RepairSearch:
        """Create a search for repairs of these steps."""
        task = RepairTask(
            self.checker.engine,
            steps,
            self.options.weights,
            self.options.protected,
            self.checker.options.criteria,
            self._effect_index,
        )
        if insertions_only:
            search = RepairSearch(task, max_tie_work=_MAX_TIE_WORK_OF_INSERTIONS, insertions_only=True)
        else:
            search = RepairSearch(task, self.options.max_tie_work, report_progress=self._report_progress)
        self._searches.append(search)
        return search

    def set_limits(self, search: RepairSearch, share: float) -> None:
        """Let a search use a share of the remaining time and work, except a little time for ranking and replaying."""
        if self.deadline is not None:
            time_left = self.deadline - monotonic()
            search.deadline = monotonic() + share * max(0.0, time_left - min(1.0, 0.1 * time_left))
        if self.options.max_work is not None:
            work_left = self.options.max_work - sum([other_search.work for other_search in self._searches])
            search.work_limit = search.work + int(share * max(0, work_left))

    def list_candidates_so_far(self, search: RepairSearch) -> RepairCandidates:
        """List the repairs of least cost in the graph of a search that reached a limit."""
        if not search.terminals:
            return RepairCandidates([], is_complete=False)
        least_cost = min([node.cost for node in search.terminals])
        return self._list_minimal_repairs(search, least_cost)._replace(is_complete=False)

    def search_rising_costs(self, search: RepairSearch, max_cost: Number | None) -> RepairCandidates:
        """Search at rising costs, up to ``max_cost`` if it is given, for minimal repairs.

        Raises :class:`LimitReached`.
        """
        if not search.terminals and not search.run(max_cost):  # there is a repair, and maybe more of its cost
            candidates = self.list_candidates_so_far(search)
            if candidates.alignments:
                return candidates
        if not search.terminals:
            return RepairCandidates([], is_complete=True)
        least_cost = min([node.cost for node in search.terminals])
        for cost in self._enumerate_possible_costs(least_cost, max_cost):
            search.run(cost, all_costs=True)
            candidates = self._list_minimal_repairs(search, cost)
            search.bound = cost
            if candidates.alignments:
                return candidates
            if not candidates.is_complete:
                search.record_doubt(cost)
        return RepairCandidates([], is_complete=True)

    def _enumerate_possible_costs(self, least_cost: Number, max_cost: Number | None) -> Iterator[Number]:
        """The possible costs of repairs in rising order, if the cheapest safe plan costs ``least_cost``.

        The minimal part of that plan costs at most as much as if its substitutions were deletions.
        """
        weights = self.options.weights
        last_cost: Number = least_cost
        if weights.delete > weights.substitute:
            last_cost = least_cost * Fraction(weights.delete) / Fraction(weights.substitute)
        last_cost = last_cost if max_cost is None else min(last_cost, max_cost)
        heap: list[Number] = [0]
        while heap and heap[0] <= last_cost:
            cost = heappop(heap)
            while heap and heap[0] == cost:
                heappop(heap)
            if cost >= least_cost:
                yield cost
            for weight in set(weights):
                heappush(heap, cost + weight)

    def _list_minimal_repairs(self, search: RepairSearch, cost: Number) -> RepairCandidates:
        """List the minimal repairs of a cost in the graph of a search, up to a number that depends on the options."""
        repairs: list[Alignment] = []
        max_count = max(_CANDIDATES_PER_LISTED_REPAIR * self.options.max_repairs, _MIN_CANDIDATES)
        max_work = None if self.deadline is None else self.options.max_tie_work
        checked_step_count = 0
        for alignment in enumerate_alignments(search.root, search.terminals, cost, max_work):
            if alignment is None or (max_work is not None and checked_step_count > max_work):
                return RepairCandidates(repairs, is_complete=False)
            checked_step_count += len(alignment.steps)
            is_minimal = self.verifier.is_minimal(alignment)
            if is_minimal is None:
                return RepairCandidates(repairs, is_complete=False)
            if is_minimal:
                repairs.append(alignment)
                if len(repairs) >= max_count:
                    return RepairCandidates(repairs, is_complete=False)
        return RepairCandidates(repairs, is_complete=True)
