"""One search for the nearest repairs of a plan: its stages, and its limits of time and work (docs/repair.md)."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from functools import cached_property
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.steps import GroundAction, IllFormed
from plansafe.verifier.model.limits import LimitReached
from plansafe.verifier.model.nodes import Number
from plansafe.verifier.repair.alignments import Alignment
from plansafe.verifier.repair.edit_reasons import EditDescriber
from plansafe.verifier.repair.effect_index import EffectIndex
from plansafe.verifier.repair.limited_searches import LimitedSearches, ProgressCallback, RepairCandidates
from plansafe.verifier.repair.model import RepairOptions, RepairResult, RepairStatus
from plansafe.verifier.repair.ranking import RepairRanking
from plansafe.verifier.repair.replacement_search import ReplacementRepairs, ReplacementSearch
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

_MIN_PLANNER_S = 0.3
"""The least time for a query to planners."""
_UNLIMITED_PLANNER_S = 10.0
"""The time for a query to planners if the attempt has no time limit."""
_GC_THRESHOLD = 500_000
"""The objects between two garbage collections: a search creates many small objects, and few of them are garbage."""
_MAX_RANKED_INSERTIONS = 20
"""Repairs by insertions alone that are ranked, to take the best."""
_NOT_ALL_SEARCHED = "replacements of objects were not all searched"


class _Fallback(NamedTuple):
    """A repair that may not be the nearest, its cost, and what found it (a phrase)."""

    alignment: Alignment
    cost: Number
    source: str


class _FallbackAnswer(NamedTuple):
    """``fallback``: some repair, if one was found. ``proof``: the proof, in words, that there is none; or empty."""

    fallback: _Fallback | None
    proof: str = ""


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
        if effect_index is None:
            effect_index = EffectIndex(self.engine)
        self._searches = LimitedSearches(checker, options, self.verifier, self.deadline, effect_index, report_progress)
        purpose_steps = purpose or frozenset()
        fixed_steps, protected_purpose = options.protected - purpose_steps, options.protected & purpose_steps
        replacements = list(
            enumerate_replacements(self.engine.task, steps, options.same_use, fixed_steps, protected_purpose)
        )
        self._replacement_search = ReplacementSearch(
            self._searches, self.verifier, steps, replacements, options, self.deadline
        )
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
        youngest_threshold, *other_thresholds = gc.get_threshold()
        gc.set_threshold(max(youngest_threshold, _GC_THRESHOLD), *other_thresholds)
        try:
            self._replacement_search.try_replacements()
            result = self._search_edits()
            if self._replacement_search.replacements:
                result = self._add_replacements(result)
        finally:
            gc.set_threshold(youngest_threshold, *other_thresholds)
        if result.status is RepairStatus.FOUND and not result.repairs:
            self.ranked_alignments = []
            return RepairResult(
                RepairStatus.NOT_FOUND,
                bound=result.bound,
                detail="the audit of the repaired plan reached a limit",
                expanded=result.expanded,
            )
        return result

    def _search_edits(self) -> RepairResult:
        """Search for repairs without replacements; if the search reaches a limit, also with other methods."""
        search = self._searches.create(self.steps)
        max_cost = self.options.max_cost
        if self._replacement_search.sufficient_replacements:
            max_cost = self.options.weights.replace
        reached_limit = ""
        fallback: _Fallback | None = None
        try:
            self._searches.set_limits(search, _FIRST_SEARCH_SHARE)
            candidates = self._searches.search_rising_costs(search, max_cost)
        except LimitReached as limit:
            candidates = self._searches.list_candidates_so_far(search)
            if not candidates.alignments and self._replacement_search.sufficient_replacements:
                reached_limit = limit.kind.value
            elif not candidates.alignments:
                # First any repair; then the search continues, and has to look only below that repair's cost.
                fallback, proof = self._find_any_repair()
                if proof:
                    return self._make_impossible_result(search, proof)
                candidates, reached_limit = self._continue_search(
                    search, max_cost if fallback is None else fallback.cost
                )
        self.reached_limit = bool(reached_limit)
        alignments = candidates.alignments
        if fallback is not None and not (alignments and self._compute_cost(alignments[0]) <= fallback.cost):
            fallback_candidates = RepairCandidates([fallback.alignment], is_complete=False)
            return self._make_found_result(search, fallback_candidates, reached_limit, fallback.source)
        if not alignments and self._replacement_search.sufficient_replacements:
            return RepairResult(
                RepairStatus.NOT_FOUND,
                bound=search.proved_bound,
                detail=reached_limit or search.incompleteness,
                expanded=search.expanded_count,
            )
        if not alignments:
            return self._make_result_without_candidates(search, reached_limit)
        return self._make_found_result(search, candidates, reached_limit)

    def _continue_search(self, search: RepairSearch, max_cost: Number | None) -> tuple[RepairCandidates, str]:
        """Continue a search that reached a limit; returns its repairs, and the limit that ended it (empty: none)."""
        try:
            self._searches.set_limits(search, 1.0)
            return self._searches.search_rising_costs(search, max_cost), ""
        except LimitReached as limit:
            return self._searches.list_candidates_so_far(search), limit.kind.value

    def _compute_cost(self, alignment: Alignment) -> Number:
        return self.options.weights.compute_cost(alignment.kinds)

    def _make_found_result(
        self, search: RepairSearch, candidates: RepairCandidates, reached_limit: str, source: str = ""
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
            complete=candidates.is_complete and optimal and replayed.is_complete and not search.is_doubtful,
            detail="; ".join([text for text in details if text]),
            expanded=search.expanded_count,
        )

    # -- replacements of an object ------------------------------------------------------------------------------------

    def _add_replacements(self, result: RepairResult) -> RepairResult:
        """Add the repairs with a replacement to a result, if they cost no more than its repairs."""
        if (
            result.status is RepairStatus.PROVED_NONE
            and not self.options.protected
            and not self._replacement_search.sufficient_replacements
        ):
            return result
        cost = result.repairs[0].cost if result.repairs else None
        replacement_repairs = self._replacement_search.find_repairs(cost)
        if not replacement_repairs.alignments or (cost is not None and replacement_repairs.cost > cost):
            return self._with_bound(result, min(result.bound, replacement_repairs.bound))
        return self._merge_replacement_repairs(result, replacement_repairs)

    def _merge_replacement_repairs(self, result: RepairResult, replacement_repairs: ReplacementRepairs) -> RepairResult:
        """Return a result with the repairs by replacement, and with the repairs of ``result`` if they cost the same."""
        cost, bound = replacement_repairs.cost, replacement_repairs.bound
        has_same_cost = bool(result.repairs) and result.repairs[0].cost == cost
        base_alignments = self.ranked_alignments if has_same_cost else []
        self.ranked_alignments = self._ranking.sort([*base_alignments, *replacement_repairs.alignments])
        replayed = self.verifier.replay_repairs(self.ranked_alignments, cost, self.describer)
        bound = min(cost, bound) if result.status is RepairStatus.PROVED_NONE else min(cost, bound, result.bound)
        optimal = bound == cost
        is_complete = (
            replacement_repairs.is_complete and replayed.is_complete and (result.complete or not base_alignments)
        )
        return RepairResult(
            RepairStatus.FOUND,
            replayed.repairs,
            bound,
            optimal=optimal,
            complete=optimal and is_complete,
            detail="" if optimal else result.detail or _NOT_ALL_SEARCHED,
            expanded=result.expanded,
        )

    def _with_bound(self, result: RepairResult, bound: Number) -> RepairResult:
        """Return a result with this lower bound of the cost; a result above the bound is not proved optimal."""
        if not result.repairs:
            if result.status is RepairStatus.PROVED_NONE:
                detail = f"edits alone cannot repair the plan, and {_NOT_ALL_SEARCHED}"
                result = result._replace(status=RepairStatus.NOT_FOUND, complete=False, detail=detail)
            return result._replace(bound=bound)
        if bound >= result.repairs[0].cost:
            return result
        detail = result.detail or _NOT_ALL_SEARCHED
        return result._replace(bound=bound, optimal=False, complete=False, detail=detail)

    def _make_impossible_result(self, search: RepairSearch, proof: str) -> RepairResult:
        """Make the result if it was proved that there is no repair. ``proof``: the proof in words."""
        return RepairResult(
            RepairStatus.PROVED_NONE,
            bound=search.proved_bound,
            complete=True,
            detail=proof,
            expanded=search.expanded_count,
        )

    def _find_any_repair(self) -> _FallbackAnswer:
        """Find any repair, by insertions (and what ill-formed steps need) alone or from a planner."""
        search = self._searches.create(self.steps, insertions_only=True)
        try:
            self._searches.set_limits(search, _INSERTIONS_SHARE)
            alignments = self._searches.search_rising_costs(search, self.options.max_cost).alignments
        except LimitReached:
            alignments = self._searches.list_candidates_so_far(search).alignments
        if alignments:
            best = self._ranking.sort(alignments[:_MAX_RANKED_INSERTIONS])[0]
            return _FallbackAnswer(_Fallback(best, self._compute_cost(best), "a search for insertions alone"))
        alignment, proof = self._ask_planners(_PLANNER_SHARE)
        if alignment is None:
            return _FallbackAnswer(None, proof)
        return _FallbackAnswer(_Fallback(alignment, self._compute_cost(alignment), "a planner"), proof)

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
                candidates = RepairCandidates([alignment], is_complete=False)
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
        if self.deadline is None:
            return _UNLIMITED_PLANNER_S
        return max(_MIN_PLANNER_S, share * (self.deadline - monotonic()))

    @cached_property
    def is_goal_unsafe(self) -> bool:
        """Whether it was proved that the goal can be reached, but not safely; after :meth:`run`. Asks a planner."""
        from plansafe.verifier.repair.planner_repairs import reaches_goal_without_rules  # noqa: PLC0415 - as above

        if not self._no_safe_plan:
            return False
        time_limit_s = self._compute_planner_time(_LAST_PLANNER_SHARE)
        return reaches_goal_without_rules(self.checker, self.options, time_limit_s)
