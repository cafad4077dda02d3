"""One search for the nearest repairs of a plan: its stages, and its limits of time and work (docs/repair.md)."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from heapq import heappop, heappush
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.steps import GroundAction, IllFormed
from plansafe.verifier.model.limits import LimitReached
from plansafe.verifier.model.nodes import Number
from plansafe.verifier.repair.alignments import Alignment, enumerate_alignments
from plansafe.verifier.repair.edit_reasons import EditDescriber
from plansafe.verifier.repair.effect_index import EffectIndex
from plansafe.verifier.repair.model import RepairOptions, RepairResult, RepairStatus
from plansafe.verifier.repair.ranking import RepairRanking
from plansafe.verifier.repair.repair_task import RepairTask
from plansafe.verifier.repair.replacements import enumerate_replacements
from plansafe.verifier.repair.search import RepairSearch
from plansafe.verifier.repair.verification import RepairVerifier

if TYPE_CHECKING:
    from plansafe.verifier.repair.planner_repairs import PlannerRepair

_FIRST_SEARCH_SHARE = 0.35
"""The share of the remaining time and work for the first search for the nearest repair."""
_INSERTIONS_SHARE = 0.5
"""The share for the search for some repair by insertions alone, if the first search reached a limit."""
_PLANNER_SHARE = 0.25
"""The share of the remaining time for each of two queries to planners, if that search found nothing."""
_LAST_PLANNER_SHARE = 0.5
"""The share of the remaining time for each of two queries to planners, after a search without a limit."""

ProgressCallback = Callable[[Number, int], None]
"""Called during a search with the lower bound of the cost, and the number of expanded nodes."""


class _Fallback(NamedTuple):
    """A repair that may not be the nearest, its cost, and what found it (a phrase)."""

    alignment: Alignment
    cost: Number
    source: str


class _FallbackAnswer(NamedTuple):
    """``fallback``: some repair, if one was found. ``proof``: the proof, in words, that there is none; or empty."""

    fallback: _Fallback | None
    proof: str = ""


class _RepairCandidates(NamedTuple):
    """Minimal repairs of one cost, and whether these are all minimal repairs of this cost."""

    alignments: list[Alignment]
    are_all: bool


class _ReplacementRepairs(NamedTuple):
    """Repairs with a replacement, all of one cost; whether they are all of this cost; and a lower bound."""

    alignments: list[Alignment]
    cost: Number
    are_all: bool
    bound: Number


class RepairAttempt:
    """One search for the nearest repairs of a plan.

    ``steps``: the resolved steps of ``plan``. ``purpose``: if the plan has no goal and its purpose counts, the steps
    that it is for, which ``options`` may protect; otherwise ``None``.
    ``report_progress``: see :data:`ProgressCallback`.
    """

    def __init__(
        self,
        checker: Checker,
        plan: Source,
        steps: Sequence[GroundAction | IllFormed],
        options: RepairOptions,
        purpose: frozenset[int] | None = None,
        report_progress: ProgressCallback | None = None,
        effect_index: EffectIndex | None = None,
    ) -> None:
        self.checker = checker
        self.engine = checker.engine
        self.criteria = checker.options.criteria
        self.steps = steps
        self.options = options
        self.deadline = None if options.time_limit_s is None else monotonic() + options.time_limit_s
        self.verifier = RepairVerifier(checker, plan, options, self.deadline)
        self._report_progress = report_progress
        self._searches: list[RepairSearch] = []
        self._effect_index = EffectIndex(self.engine) if effect_index is None else effect_index
        purpose_steps = purpose or frozenset()
        self._replacements = list(
            enumerate_replacements(
                self.engine.task,
                steps,
                options.same_use,
                options.protected - purpose_steps,
                options.protected & purpose_steps,
            )
        )
        self._safe_replacements: list[Alignment] = []
        """The replacements that repair the plan without further edits."""
        self._untried_replacements = False
        self._max_cost = options.max_cost
        self.texts = ["(" + " ".join(step.tokens) + ")" for step in checker.read(plan).text.steps]
        self._ranking = RepairRanking(checker, steps, self.texts, has_purpose=purpose is not None)
        self.describer = EditDescriber(checker.engine, steps, self.texts, self.criteria)
        self.ranked_alignments: list[Alignment] = []
        """The repairs that were found, all of one cost, the best first."""
        self._no_safe_plan = False
        """Whether it was proved that no safe plan reaches the goal."""
        self.reached_limit = False
        """Whether the search ended at a limit of time or work."""

    def run(self) -> RepairResult:
        """Search for the repairs, and order and replay them."""
        thresholds = gc.get_threshold()
        gc.set_threshold(max(thresholds[0], 500_000), *thresholds[1:])  # many small objects, few of them garbage
        try:
            self._find_safe_replacements()
            result = self._run()
            if self._replacements:
                result = self._add_replacements(result)
        finally:
            gc.set_threshold(*thresholds)
        if result.status is RepairStatus.FOUND and not result.repairs:
            self.ranked_alignments = []
            return RepairResult(
                RepairStatus.NOT_FOUND,
                bound=result.bound,
                detail="the audit of the repaired plan reached a limit",
                expanded=result.expanded,
            )
        return result

    def _run(self) -> RepairResult:
        search = self._create_search()
        reached_limit = ""
        fallback: _Fallback | None = None
        try:
            self._set_limits(search, _FIRST_SEARCH_SHARE)
            candidates = self._search_rising_costs(search, self._max_cost)
        except LimitReached as limit:
            candidates = self._list_candidates_so_far(search)
            if not candidates.alignments and self._safe_replacements:
                reached_limit = limit.kind.value
            elif not candidates.alignments:
                # First any repair; then the search continues, and has to look only below that repair's cost.
                fallback, proof = self._find_any_repair()
                if proof:
                    return self._make_impossible_result(search, proof)
                try:
                    self._set_limits(search, 1.0)
                    max_cost = self._max_cost if fallback is None else fallback.cost
                    candidates = self._search_rising_costs(search, max_cost)
                except LimitReached as later_limit:
                    reached_limit = later_limit.kind.value
                    candidates = self._list_candidates_so_far(search)
        self.reached_limit = bool(reached_limit)
        alignments = candidates.alignments
        if fallback is not None and not (alignments and self._compute_cost(alignments[0]) <= fallback.cost):
            fallback_candidates = _RepairCandidates([fallback.alignment], are_all=False)
            return self._make_found_result(search, fallback_candidates, reached_limit, fallback.source)
        if not alignments and self._safe_replacements:
            return RepairResult(
                RepairStatus.NOT_FOUND,
                bound=search.proved_bound,
                detail=reached_limit or search.incompleteness,
                expanded=search.expanded_count,
            )
        if not alignments:
            return self._make_result_without_candidates(search, reached_limit)
        return self._make_found_result(search, candidates, reached_limit)

    def _compute_cost(self, alignment: Alignment) -> Number:
        return self.options.weights.compute_cost(alignment.kinds)

    def _make_found_result(
        self, search: RepairSearch, candidates: _RepairCandidates, reached_limit: str, source: str = ""
    ) -> RepairResult:
        """Make the result if there are repairs of one cost.

        ``reached_limit``: the limit that ended the search; empty if none did. ``source``: what found the repairs; empty
        if ``search`` did. A cost that is proved least stays so whatever limit ended the search: then ``detail`` names
        no limit.
        """
        self.ranked_alignments = self._ranking.sort(candidates.alignments)
        cost = self._compute_cost(candidates.alignments[0])
        replayed = self.verifier.replay_repairs(self.ranked_alignments, cost, self.describer)
        bound = min(search.proved_bound, cost)
        # The repairs of the search itself are minimal already.
        optimal = bound == cost and (not source or self.verifier.is_minimal(candidates.alignments[0]) is True)
        details = [] if optimal else [reached_limit or search.incompleteness]
        details.append(f"this repair comes from {source}" if source else "")
        return RepairResult(
            RepairStatus.FOUND,
            replayed.repairs,
            bound,
            optimal=optimal,
            complete=candidates.are_all and optimal and replayed.are_all_listed and not search.is_doubtful,
            detail="; ".join([text for text in details if text]),
            expanded=search.expanded_count,
        )

    # -- replacements of an object ------------------------------------------------------------------------------------

    def _find_safe_replacements(self) -> None:
        """Find the replacements that repair the plan alone; then edits need not cost more."""
        cost = self.options.weights.replace
        if self._max_cost is not None and cost > self._max_cost:
            self._replacements = []
        for replacement in self._replacements:
            if self.deadline is not None and monotonic() > self.deadline:
                self._untried_replacements = True
                break
            steps = [step for step in replacement.apply_to(self.steps) if isinstance(step, GroundAction)]
            if len(steps) == len(self.steps) and self.verifier.is_safe(tuple(steps)):
                origin = tuple(range(1, len(steps) + 1))
                alignment = Alignment(tuple(steps), origin, frozenset(), frozenset(), (), replacement)
                self._safe_replacements.append(alignment)
        if self._safe_replacements:
            self._max_cost = cost

    def _add_replacements(self, result: RepairResult) -> RepairResult:
        """Add the repairs with a replacement, if they cost no more than the repairs of a result."""
        weights = self.options.weights
        cost = result.repairs[0].cost if result.repairs else None
        are_all = not self._untried_replacements
        replacement_repairs = _ReplacementRepairs(self._safe_replacements, weights.replace, are_all, weights.replace)
        if not replacement_repairs.alignments and (cost is None or cost >= weights.replace + self.min_edit_cost):
            if result.status is RepairStatus.PROVED_NONE and not self.options.protected:
                return result
            replacement_repairs = self._search_replacements(None if cost is None else cost - weights.replace)
        elif not replacement_repairs.alignments and are_all:
            replacement_repairs = replacement_repairs._replace(bound=weights.replace + self.min_edit_cost)
        if cost is not None and (not replacement_repairs.alignments or replacement_repairs.cost > cost):
            return self._apply_bound(result, min(result.bound, replacement_repairs.bound))
        if not replacement_repairs.alignments:
            if result.status is RepairStatus.PROVED_NONE:
                detail = "edits alone cannot repair the plan, and replacements of objects were not all searched"
                result = result._replace(status=RepairStatus.NOT_FOUND, complete=False, detail=detail)
            return result._replace(bound=min(result.bound, replacement_repairs.bound))
        base_alignments = self.ranked_alignments if cost == replacement_repairs.cost else []
        self.ranked_alignments = self._ranking.sort([*base_alignments, *replacement_repairs.alignments])
        replayed = self.verifier.replay_repairs(self.ranked_alignments, replacement_repairs.cost, self.describer)
        bound = min(
            replacement_repairs.cost,
            replacement_repairs.bound
            if result.status is RepairStatus.PROVED_NONE
            else min(result.bound, replacement_repairs.bound),
        )
        optimal = bound == replacement_repairs.cost
        detail = "" if optimal else result.detail or "replacements of objects were not all searched"
        are_all = replacement_repairs.are_all and replayed.are_all_listed and (result.complete or not base_alignments)
        return RepairResult(
            RepairStatus.FOUND, replayed.repairs, bound, optimal, optimal and are_all, detail, result.expanded
        )

    @property
    def min_edit_cost(self) -> Number:
        """The cost of the cheapest edit of a step."""
        return min(self.options.weights.of_steps)

    def _apply_bound(self, result: RepairResult, bound: Number) -> RepairResult:
        """A result whose repairs are the least known, if replacements may cost less than they do."""
        if not result.repairs or bound >= result.repairs[0].cost:
            return result
        detail = result.detail or "replacements of objects were not all searched"
        return result._replace(bound=bound, optimal=False, complete=False, detail=detail)

    def _search_replacements(self, max_cost: Number | None) -> _ReplacementRepairs:
        """Search for repairs with a replacement and further edits, which cost at most ``max_cost`` together."""
        replace = self.options.weights.replace
        if max_cost is None and self._max_cost is not None:
            max_cost = self._max_cost - replace
        elif max_cost is None:
            max_cost = 2 * max(self.options.weights.of_steps)
        alignments: list[Alignment] = []
        are_all, bound = True, replace + max_cost
        count = len(self._replacements)
        for number, replacement in enumerate(self._replacements):
            if self.deadline is not None and monotonic() > self.deadline:
                are_all, bound = False, replace
                break
            steps = replacement.apply_to(self.steps)
            search = self._create_search(steps=steps)
            try:
                self._set_limits(search, max(0.1, 1 / (count - number)))
                candidates = self._search_rising_costs(search, max_cost)
            except LimitReached:
                candidates = self._list_candidates_so_far(search)
                bound = min(bound, replace + search.proved_bound)
            are_all &= candidates.are_all
            for alignment in candidates.alignments:
                with_replacement = alignment._replace(replacement=replacement)
                if not self._keeps_replacement(with_replacement):
                    continue
                cost = self._compute_cost(with_replacement) - replace
                if cost < max_cost or not alignments:
                    alignments, max_cost = ([] if cost < max_cost else alignments), cost
                alignments.append(with_replacement)
        return _ReplacementRepairs(alignments, replace + max_cost, are_all, min(bound, replace + max_cost))

    def _keeps_replacement(self, alignment: Alignment) -> bool:
        """Whether the replaced object is in a step of the repaired plan that comes from the original plan."""
        replacement = alignment.replacement
        assert replacement is not None
        return any(
            [
                origin
                and place not in alignment.substituted
                and replacement.changes_step(origin, self.steps[origin - 1])
                for place, origin in enumerate(alignment.origin)
            ]
        )

    def _make_impossible_result(self, search: RepairSearch, proof: str) -> RepairResult:
        """Make the result if it was proved that there is no repair. ``proof``: the proof in words."""
        return RepairResult(
            RepairStatus.PROVED_NONE,
            bound=search.proved_bound,
            complete=True,
            detail=proof,
            expanded=search.expanded_count,
        )

    def _create_search(
        self, insertions_only: bool = False, steps: Sequence[GroundAction | IllFormed] | None = None
    ) -> RepairSearch:
        task = RepairTask(
            self.engine,
            self.steps if steps is None else steps,
            self.options.weights,
            self.options.protected,
            self.criteria,
            self._effect_index,
        )
        if insertions_only:
            search = RepairSearch(task, max_tie_work=10_000, insertions_only=True)
        else:
            search = RepairSearch(task, self.options.max_tie_work, report_progress=self._report_progress)
        self._searches.append(search)
        return search

    def _set_limits(self, search: RepairSearch, share: float) -> None:
        """Let a search use a share of the remaining time and work.

        A little time is kept for what follows the search.
        """
        if self.deadline is not None:
            time_left = self.deadline - monotonic()
            search.deadline = monotonic() + share * max(0.0, time_left - min(1.0, 0.1 * time_left))
        if self.options.max_work is not None:
            work_left = self.options.max_work - sum([earlier.work for earlier in self._searches])
            search.work_limit = search.work + int(share * max(0, work_left))

    def _find_any_repair(self) -> _FallbackAnswer:
        """Find any repair, by insertions (and what ill-formed steps need) alone or from a planner."""
        search = self._create_search(insertions_only=True)
        try:
            self._set_limits(search, _INSERTIONS_SHARE)
            alignments = self._search_rising_costs(search, self._max_cost).alignments
        except LimitReached:
            alignments = self._list_candidates_so_far(search).alignments
        if alignments:
            best = self._ranking.sort(alignments[:20])[0]
            return _FallbackAnswer(_Fallback(best, self._compute_cost(best), "a search for insertions alone"))
        alignment, proof = self._ask_planners(_PLANNER_SHARE)
        if alignment is None:
            return _FallbackAnswer(None, proof)
        return _FallbackAnswer(_Fallback(alignment, self._compute_cost(alignment), "a planner"), proof)

    def _list_candidates_so_far(self, search: RepairSearch) -> _RepairCandidates:
        """List the repairs of least cost in the graph of a search that reached a limit."""
        if not search.terminals:
            return _RepairCandidates([], are_all=False)
        least_cost = min([node.cost for node in search.terminals])
        return self._list_minimal_repairs(search, least_cost)._replace(are_all=False)

    def _search_rising_costs(self, search: RepairSearch, max_cost: Number | None) -> _RepairCandidates:
        """Search at rising costs, up to ``max_cost`` if it is given, for minimal repairs.

        Raises :class:`LimitReached`.
        """
        if not search.terminals and not search.run(max_cost):  # there is a repair, and maybe more of its cost
            candidates = self._list_candidates_so_far(search)
            if candidates.alignments:
                return candidates
        if not search.terminals:
            return _RepairCandidates([], are_all=True)
        least_cost = min([node.cost for node in search.terminals])
        for cost in self._enumerate_possible_costs(least_cost, max_cost):
            search.run(cost, all_costs=True)
            candidates = self._list_minimal_repairs(search, cost)
            search.bound = cost
            if candidates.alignments:
                return candidates
            if not candidates.are_all:
                search.record_doubt(cost)
        return _RepairCandidates([], are_all=True)

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

    def _list_minimal_repairs(self, search: RepairSearch, cost: Number) -> _RepairCandidates:
        """List the minimal repairs of a cost in the graph of a search: at most a multiple of those to be listed."""
        repairs: list[Alignment] = []
        max_count = max(20 * self.options.max_repairs, 200)
        max_work = None if self.deadline is None else self.options.max_tie_work
        checked_steps = 0
        for alignment in enumerate_alignments(search.root, search.terminals, cost, max_work):
            if alignment is None or (max_work is not None and checked_steps > max_work):
                return _RepairCandidates(repairs, are_all=False)
            checked_steps += len(alignment.steps)
            is_minimal = self.verifier.is_minimal(alignment)
            if is_minimal is None:
                return _RepairCandidates(repairs, are_all=False)
            if is_minimal:
                repairs.append(alignment)
                if len(repairs) >= max_count:
                    return _RepairCandidates(repairs, are_all=False)
        return _RepairCandidates(repairs, are_all=True)

    # -- if the search finds no repair --------------------------------------------------------------------------------

    def _make_result_without_candidates(self, search: RepairSearch, reached_limit: str) -> RepairResult:
        """Make the result if the search ended without a repair, asking planners if it ended by itself."""
        if search.root.broken_instances:
            first = search.root.broken_instances[0]
            rule = self.engine.rules[self.engine.rule_set.parts[first.part].rule].name
            verb = "leaves undecided" if first.undecided else "already violates"
            return self._make_impossible_result(search, f"the initial state {verb} rule `{rule}`")
        detail = reached_limit or search.incompleteness
        if search.is_exhausted and not detail and not search.is_doubtful and not search.terminals:
            self._no_safe_plan = not self.options.protected
            return self._make_impossible_result(search, "the search for repairs was complete")
        if not reached_limit:  # otherwise planners were asked before
            alignment, proof = self._ask_planners(_LAST_PLANNER_SHARE)
            if proof:
                return self._make_impossible_result(search, proof)
            if alignment is not None:
                candidates = _RepairCandidates([alignment], are_all=False)
                return self._make_found_result(search, candidates, detail or "the search stopped early", "a planner")
        if not detail and self.options.max_cost is None:
            detail = "the search stopped early"
        elif not detail:
            detail = f"the search was limited to cost {float(self.options.max_cost or 0):g} (--max-cost)"
        return RepairResult(
            RepairStatus.NOT_FOUND, bound=search.proved_bound, detail=detail, expanded=search.expanded_count
        )

    def _ask_planners(self, share: float) -> PlannerRepair:
        """Ask planners for the cheapest repair within the limits. ``share``: of the remaining time, for each query."""
        from plansafe.verifier.repair.planner_repairs import find_planner_repair  # noqa: PLC0415 - loads the planners

        time_limit_s = self._compute_planner_time(share)
        planner_repair = find_planner_repair(
            self.checker, self.steps, self.options, self.verifier.is_safe, time_limit_s
        )
        self._no_safe_plan |= bool(planner_repair.proof)
        return planner_repair

    def _compute_planner_time(self, share: float) -> float:
        return 10.0 if self.deadline is None else max(0.3, share * (self.deadline - monotonic()))

    @cached_property
    def is_goal_unsafe(self) -> bool:
        """Whether it was proved that the goal can be reached, but not safely; after :meth:`run`. Asks a planner."""
        from plansafe.verifier.repair.planner_repairs import reaches_goal_without_rules  # noqa: PLC0415 - as above

        if not self._no_safe_plan:
            return False
        time_limit_s = self._compute_planner_time(_LAST_PLANNER_SHARE)
        return reaches_goal_without_rules(self.checker, self.options, time_limit_s)
