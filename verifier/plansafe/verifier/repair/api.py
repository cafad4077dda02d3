"""The nearest safe plans of a plan: search, minimality, order of ties, reasons, replay (docs/repair.md)."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from heapq import heappop, heappush
from itertools import combinations
from time import monotonic
from typing import NamedTuple

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.plan_steps import ResolvedPlan
from plansafe.verifier.execution.replay import HALT, Outcome, Replay
from plansafe.verifier.execution.steps import GroundAction, IllFormed, step_text
from plansafe.verifier.model.limits import LimitReached
from plansafe.verifier.model.nodes import Number
from plansafe.verifier.repair.alignments import Alignment, enumerate_alignments
from plansafe.verifier.repair.edit_reasons import EditDescriber
from plansafe.verifier.repair.ground_effects import step_key
from plansafe.verifier.repair.model import Repair, RepairOptions, RepairResult, RepairStatus
from plansafe.verifier.repair.ranking import RepairRanking
from plansafe.verifier.repair.repair_task import RepairTask
from plansafe.verifier.repair.search import RepairSearch
from plansafe.verifier.reporting.report import Headline

SAFE = (Headline.SAFE, Headline.VALID)
_FIRST, _SECOND, _THIRD, _LAST = 0.35, 0.5, 0.25, 0.5
"""Shares of the remaining time: for the nearest repair at first; then for some repair by insertions alone; then for
each of two planners' plans; and for each of these at the end."""
_MAX_REPLAYED = 3
"""Repairs of a plan that the kernel replays, if the checker's options allow it."""


ProgressCallback = Callable[[Number, int], None]
"""Called during a search with the lower bound of the cost, and the number of expanded nodes."""


def repair(
    checker: Checker,
    plan: Source,
    options: RepairOptions = RepairOptions(),  # noqa: B008
    progress: ProgressCallback | None = None,
) -> RepairResult:
    """Find the repairs of least cost of ``plan``, the best first, each replayed. ``checker`` must be ``ok``.

    Exponential in the cost of the repair in the worst case, and linear in the plan's length between faults. Ends at the
    limits of ``options`` with the best repair found and a lower bound. Raises ``ValueError`` without a task.
    """
    if not checker.ok:
        raise ValueError("the domain, problem or specification has errors")
    report = checker.check(plan)
    if report.headline in SAFE:
        return RepairResult(RepairStatus.ALREADY_SAFE, (), 0, True, True)
    read = checker.read(plan)
    problem = unsupported_plan_reason(checker, read)
    if problem:
        return RepairResult(RepairStatus.NOT_FOUND, detail=problem)
    protected = _with_purposes(checker, read.steps, options)
    if protected > options.protected:
        begin, limit, work = monotonic(), options.time_limit_s, options.max_work
        half = options._replace(
            protected=protected,
            time_limit_s=None if limit is None else limit / 2,
            max_work=None if work is None else work // 2,
        )
        result = Repairer(checker, plan, read.steps, half, progress).run()
        if result.status is RepairStatus.FOUND:
            return result
        if limit is not None:
            options = options._replace(time_limit_s=max(limit / 2, limit - (monotonic() - begin)))
        options = options._replace(max_work=half.max_work)
    return Repairer(checker, plan, read.steps, options, progress).run()


def _with_purposes(
    checker: Checker, steps: Sequence[GroundAction | IllFormed], options: RepairOptions
) -> frozenset[int]:
    """The protected steps, and, if the task has no goal, the steps that the plan is for."""
    if checker.engine.task.goal:
        return options.protected
    purposes = [
        n for n, step in enumerate(steps, 1) if isinstance(step, GroundAction) and step.action.name in options.purposes
    ]
    return options.protected | frozenset(purposes)


def unsupported_plan_reason(checker: Checker, read: ResolvedPlan) -> str:
    """The reason why a plan cannot be repaired; empty if it can."""
    if read.text.diagnostics:
        return "the plan cannot be read"
    if checker.options.criteria.has_partial_exemptions:
        return "plans cannot be repaired if a rule is exempt for only some objects"
    refused = checker.compiled.refusal("the search for repairs", read)
    if refused is not None:
        return refused.message
    if read.timed is not None or any([literal.time > 0 for literal in checker.engine.task.timed_literals]):
        return "plans with times, durative actions or timed facts cannot be repaired"
    return ""


class _Fallback(NamedTuple):
    """A repair that may not be the nearest, its cost, and its source."""

    alignment: Alignment
    cost: Number
    source: str


class Repairer:
    """One call of :func:`repair`.

    ``ties``: the repairs of least cost that were found, in order; maybe more than are listed.
    """

    def __init__(
        self,
        checker: Checker,
        plan: Source,
        steps: Sequence[GroundAction | IllFormed],
        options: RepairOptions,
        progress: ProgressCallback | None = None,
    ) -> None:
        self.checker = checker
        self.engine = checker.engine
        self.criteria = checker.options.criteria
        self.plan = plan
        self.steps = steps
        self.options = options
        limit = options.time_limit_s
        self.deadline = None if limit is None else monotonic() + limit
        self._progress = progress
        self._searches: list[RepairSearch] = []
        self.texts = ["(" + " ".join(step.tokens) + ")" for step in checker.read(plan).text.steps]
        purposes_protected = bool(options.purposes) and not checker.engine.task.goal
        self._ranking = RepairRanking(checker, steps, self.texts, purposes_protected)
        self.describer = EditDescriber(checker.engine, steps, self.texts, self.criteria)
        self.ties: list[Alignment] = []
        self._all_listed = True
        self._no_safe_plan = False
        """Whether it was proved that no safe plan reaches the goal."""
        self._safe: dict[tuple[object, ...], bool] = {}

    def run(self) -> RepairResult:
        """Search for the repairs, and order and replay them."""
        thresholds = gc.get_threshold()
        gc.set_threshold(max(thresholds[0], 500_000), *thresholds[1:])  # many small objects, few of them garbage
        try:
            result = self._run()
        finally:
            gc.set_threshold(*thresholds)
        if result.status is RepairStatus.FOUND and not result.repairs:
            self.ties = []
            detail = "the audit of the repaired plan reached a limit"
            return RepairResult(RepairStatus.NOT_FOUND, (), result.bound, False, False, detail, result.expanded)
        return result

    def _run(self) -> RepairResult:
        options = self.options
        search = self._new_search()
        limited = ""
        fallback: _Fallback | None = None
        try:
            self._allow(search, _FIRST)
            candidates, complete = self._search_rising_costs(search, options.max_cost)
        except LimitReached:
            candidates, complete = self._candidates_so_far(search), False
            if not candidates:
                # First any repair; then the search continues, and has to look only below that repair's cost.
                fallback, proof = self._find_any_repair()
                if proof:
                    return self._proved_none(search, proof)
                try:
                    self._allow(search, 1.0)
                    most = options.max_cost if fallback is None else fallback.cost
                    candidates, complete = self._search_rising_costs(search, most)
                except LimitReached as reached:
                    limited = reached.kind.value
                    candidates, complete = self._candidates_so_far(search), False
        if fallback is not None and not (candidates and self._cost(candidates[0]) <= fallback.cost):
            return self._result_with(search, [fallback.alignment], False, limited, fallback.source)
        if not candidates:
            return self._result_without(search, limited)
        return self._result_with(search, candidates, complete, limited)

    def _cost(self, alignment: Alignment) -> Number:
        return self.options.weights.total(alignment.kinds)

    def _result_with(
        self, search: RepairSearch, candidates: list[Alignment], complete: bool, limited: str, source: str = ""
    ) -> RepairResult:
        """The result if there are repairs of one cost. ``source``: what found them, if the search itself did not.

        A cost that is proved least stays so whatever limit ended the search: then ``detail`` names no limit.
        """
        self.ties = self._ranking.sorted(candidates)
        cost = self._cost(candidates[0])
        repairs = self._replay_repairs(self.ties, cost)
        bound = min(search.proved, cost)
        # The search itself has tested whether each new step is needed.
        optimal = bound == cost and (not source or self._is_minimal(candidates[0]) is True)
        details = [] if optimal else [limited or search.incomplete]
        details.append(f"this repair comes from {source}" if source else "")
        detail = "; ".join([text for text in details if text])
        complete = complete and optimal and self._all_listed and not search.is_doubtful
        return RepairResult(RepairStatus.FOUND, repairs, bound, optimal, complete, detail, search.expanded)

    def _proved_none(self, search: RepairSearch, proof: str) -> RepairResult:
        return RepairResult(RepairStatus.PROVED_NONE, (), search.proved, False, True, proof, search.expanded)

    def _new_search(self, insertions_only: bool = False) -> RepairSearch:
        task = RepairTask(self.engine, self.steps, self.options.weights, self.options.protected, self.criteria)
        tie_limit = 0.1 if insertions_only else self.options.tie_limit_s
        progress = None if insertions_only else self._progress
        search = RepairSearch(task, tie_limit, insertions_only, progress)
        self._searches.append(search)
        return search

    def _allow(self, search: RepairSearch, share: float) -> None:
        """Let a search use a share of the remaining time and work; a little time is kept for the rest."""
        if self.deadline is not None:
            left = self.deadline - monotonic()
            search.deadline = monotonic() + share * max(0.0, left - min(1.0, 0.1 * left))
        if self.options.max_work is not None:
            left = self.options.max_work - sum([earlier.work for earlier in self._searches])
            search.work_limit = search.work + int(share * max(0, left))

    def _find_any_repair(self) -> tuple[_Fallback | None, str]:
        """Find any repair, by insertions (and what ill-formed steps need) alone or from a planner.

        Also returns the proof, in words, that there is none, if a planner has one.
        """
        search = self._new_search(insertions_only=True)
        try:
            self._allow(search, _SECOND)
            candidates = self._search_rising_costs(search, self.options.max_cost)[0]
        except LimitReached:
            candidates = self._candidates_so_far(search)
        if candidates:
            best = self._ranking.sorted(candidates[:20])[0]
            return _Fallback(best, self._cost(best), "a search for insertions alone"), ""
        planned, proof = self._ask_planners(_THIRD)
        return None if planned is None else _Fallback(planned, self._cost(planned), "a planner"), proof

    def _candidates_so_far(self, search: RepairSearch) -> list[Alignment]:
        """The repairs of least cost in the graph of a search that reached a limit."""
        if not search.terminals:
            return []
        return self._extract(search, min([node.cost for node in search.terminals]))[0]

    def _search_rising_costs(self, search: RepairSearch, max_cost: Number | None) -> tuple[list[Alignment], bool]:
        """Search at rising costs for minimal repairs; also returns whether all repairs of their cost were found.

        Raises :class:`LimitReached`.
        """
        if not search.terminals and not search.run(max_cost):  # there is a repair, and maybe more of its cost
            repairs = self._candidates_so_far(search)
            if repairs:
                return repairs, False
        if not search.terminals:
            return [], True
        least = min([node.cost for node in search.terminals])
        for cost in self._possible_costs(least, max_cost):
            search.run(cost, all_costs=True)
            repairs, complete = self._extract(search, cost)
            search.bound = cost
            if repairs:
                return repairs, complete
            if not complete:
                search.doubt(cost)
        return [], True

    def _possible_costs(self, least: Number, max_cost: Number | None) -> Iterator[Number]:
        """The possible costs of repairs in rising order, if the cheapest safe plan costs ``least``.

        The minimal part of that plan costs at most as much as if its substitutions were deletions.
        """
        weights = self.options.weights
        last: Number = least
        if weights.delete > weights.substitute:
            last = least * Fraction(weights.delete) / Fraction(weights.substitute)
        last = last if max_cost is None else min(last, max_cost)
        heap: list[Number] = [0]
        while heap and heap[0] <= last:
            cost = heappop(heap)
            while heap and heap[0] == cost:
                heappop(heap)
            if cost >= least:
                yield cost
            for weight in set(weights):
                heappush(heap, cost + weight)

    def _extract(self, search: RepairSearch, cost: Number) -> tuple[list[Alignment], bool]:
        """The minimal repairs of a cost, at most a multiple of those to be listed; and whether these are all."""
        repairs: list[Alignment] = []
        most = max(20 * self.options.max_repairs, 200)
        deadline = None if self.deadline is None else monotonic() + self.options.tie_limit_s
        for alignment in enumerate_alignments(search.root, search.terminals, cost, deadline):
            is_minimal = self._is_minimal(alignment)
            if is_minimal is None:
                return repairs, False
            if is_minimal:
                repairs.append(alignment)
                if len(repairs) >= most:
                    return repairs, False
        return repairs, deadline is None or monotonic() < deadline

    # -- minimality ---------------------------------------------------------------------------------------------------

    def _is_minimal(self, alignment: Alignment) -> bool | None:
        """Whether the plan is unsafe without any set of its new steps; ``None`` if the time did not suffice.

        A set without substitutions need not be tested: without it there would be a cheaper repair, and there is none.
        The same holds for a set with insertions if a deletion costs no more than a substitution.
        """
        weights = self.options.weights
        if not alignment.substituted:
            return True
        any_new = weights.delete > weights.substitute
        positions = alignment.new_positions if any_new else tuple(sorted(alignment.substituted))
        for size in range(1, len(positions) + 1):
            for subset in combinations(positions, size):
                if size > 1 and self.deadline is not None and monotonic() > self.deadline:
                    return None
                if alignment.substituted & set(subset) and self.is_safe(alignment.without(frozenset(subset))):
                    return False
        return True

    def is_safe(self, steps: tuple[GroundAction, ...]) -> bool:
        """Whether a plan is executable, reaches the goal and breaks no rule that decides."""
        key = tuple(map(step_key, steps))
        safe = self._safe.get(key)
        if safe is None:
            run = Replay(self.engine, HALT)
            run.run_steps(steps)
            safe = self._safe[key] = self._is_safe(run.outcome(len(steps)))
        return safe

    def _is_safe(self, outcome: Outcome) -> bool:
        return (
            not outcome.failures
            and outcome.goal is True
            and not any([self.engine.decides(v, self.criteria) for v in outcome.violations])
            and not self.engine.leaves_undecided(outcome.undecided, self.criteria)
            and outcome.limit is None
        )

    def _replay_repairs(self, ranked: list[Alignment], cost: Number) -> tuple[Repair, ...]:
        repairs: list[Repair] = []
        replayed_keys: set[tuple[object, ...]] = set()
        self.describer.compare_ties(ranked)
        for alignment in ranked:
            key = (*map(step_key, alignment.steps), *alignment.kinds)
            if key in replayed_keys:
                continue
            replayed_keys.add(key)
            if len(repairs) == self.options.max_repairs:
                self._all_listed = False
                break
            steps = tuple([step_text(step, self.engine.task.objects) for step in alignment.steps])
            source = Source(self.plan.name, "".join([step + "\n" for step in steps]))
            report = self.checker.check(source)
            if report.headline is Headline.UNKNOWN and report.limits:
                self._all_listed = False
                continue
            if report.headline not in SAFE:
                raise AssertionError("the checker does not confirm a repair as safe")
            replayed = self.checker.confirmer.is_safe(source, report.steps) if len(repairs) < _MAX_REPLAYED else None
            if replayed is False:
                raise AssertionError("the kernel does not confirm a repair as safe")
            edits = self.describer.describe(alignment)
            repairs.append(Repair(steps, alignment.origin, edits, cost, report, replayed))
        return tuple(repairs)

    # -- if the search finds no repair --------------------------------------------------------------------------------

    def _result_without(self, search: RepairSearch, limited: str) -> RepairResult:
        """The result if the search ended without a repair."""
        if search.root.broken:
            first = search.root.broken[0]
            rule = self.engine.rules[self.engine.rule_set.parts[first.part].rule].name
            verb = "leaves undecided" if first.undecided else "already violates"
            return self._proved_none(search, f"the initial state {verb} rule `{rule}`")
        detail = limited or search.incomplete
        if search.exhausted and not detail and not search.is_doubtful and not search.terminals:
            self._no_safe_plan = not self.options.protected
            return self._proved_none(search, "the search for repairs was complete")
        if not limited:  # otherwise planners were asked before
            planned, proof = self._ask_planners(_LAST)
            if proof:
                return self._proved_none(search, proof)
            if planned is not None:
                return self._result_with(search, [planned], False, detail or "the search stopped early", "a planner")
        if not detail and self.options.max_cost is None:
            detail = "the search stopped early"
        elif not detail:
            detail = f"the search was limited to cost {float(self.options.max_cost or 0):g} (--max-cost)"
        return RepairResult(RepairStatus.NOT_FOUND, (), search.proved, False, False, detail, search.expanded)

    def _ask_planners(self, share: float) -> tuple[Alignment | None, str]:
        """The cheapest repair from planners within the limits, and the proof, in words, that no safe plan exists."""
        from plansafe.verifier.repair.planner_repairs import find_planner_repair  # noqa: PLC0415 - loads the planners

        limit = self._planner_time(share)
        planned = find_planner_repair(self.checker, self.steps, self.options, self.is_safe, limit)
        self._no_safe_plan |= bool(planned.proof)
        return planned

    def _planner_time(self, share: float) -> float:
        """The seconds for one query to planners."""
        return 10.0 if self.deadline is None else max(0.3, share * (self.deadline - monotonic()))

    @cached_property
    def unsafe_goal(self) -> bool:
        """Whether it was proved that the goal can be reached, but not safely; after :meth:`run`. Asks a planner."""
        from plansafe.verifier.repair.planner_repairs import reaches_goal_without_rules  # noqa: PLC0415 - as above

        return self._no_safe_plan and reaches_goal_without_rules(self.checker, self.options, self._planner_time(_LAST))
