"""The nearest safe plans of a plan: search, intent, order among ties, reasons, replay (docs/repair.md)."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from heapq import heappop, heappush
from itertools import combinations
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.plan_steps import ResolvedPlan
from plansafe.verifier.execution.replay import HALT, Outcome, Replay
from plansafe.verifier.execution.steps import GroundAction, IllFormed, step_text
from plansafe.verifier.model.limits import LimitReached
from plansafe.verifier.model.nodes import Number
from plansafe.verifier.repair.alignments import Alignment, enumerate_alignments
from plansafe.verifier.repair.edit_reasons import EditReasons
from plansafe.verifier.repair.effects import step_key
from plansafe.verifier.repair.model import Edit, EditKind, Repair, RepairOptions, RepairResult, RepairStatus
from plansafe.verifier.repair.planner_repairs import align_plan, remove_needless_steps
from plansafe.verifier.repair.ranking import RepairRanking
from plansafe.verifier.repair.repair_task import RepairTask
from plansafe.verifier.repair.search import RepairSearch
from plansafe.verifier.reporting.report import Headline

if TYPE_CHECKING:
    from plansafe.verifier.planning.planner import Planner

SAFE = (Headline.SAFE, Headline.VALID)
IN_PART = "plans cannot be repaired if a rule is exempt for only some objects"


ProgressCallback = Callable[[Number, int], None]
"""Called during a search with the lower bound of the cost, and the number of expanded nodes."""


def repair(
    checker: Checker,
    plan: Source,
    options: RepairOptions = RepairOptions(),  # noqa: B008
    progress: ProgressCallback | None = None,
) -> RepairResult:
    """The repairs of least cost of ``plan``, the best first, each replayed. ``checker`` must be ``ok``.

    Exponential in the cost of the repair in the worst case, and linear in the plan's length between faults; ends at the
    limits of ``options`` with what was found, and a lower bound. Raises ``ValueError`` if there is no task.
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
    meant = _meant(checker, read.steps, options)
    if meant > options.protected:
        begin, limit, work = monotonic(), options.time_limit_s, options.max_work
        half = options._replace(
            protected=meant,
            time_limit_s=None if limit is None else limit / 2,
            max_work=None if work is None else work // 2,
        )
        first = Repairer(checker, plan, read.steps, half, progress).run()
        if first.status is RepairStatus.FOUND:
            return first
        if limit is not None:
            options = options._replace(time_limit_s=max(limit / 2, limit - (monotonic() - begin)))
        options = options._replace(max_work=half.max_work)
    return Repairer(checker, plan, read.steps, options, progress).run()


def _meant(checker: Checker, steps: Sequence[GroundAction | IllFormed], options: RepairOptions) -> frozenset[int]:
    """The steps to keep: those that are protected, and, without a goal, those that the plan is there for."""
    if checker.engine.task.goal:
        return options.protected
    own = [
        n for n, step in enumerate(steps, 1) if isinstance(step, GroundAction) and step.action.name in options.purposes
    ]
    return options.protected | frozenset(own)


def unsupported_plan_reason(checker: Checker, read: ResolvedPlan) -> str:
    """Why a plan is not repaired, if it is of a sort that is not."""
    if read.text.diagnostics:
        return "the plan cannot be read"
    if checker.options.criteria.has_partial_exemptions:
        return IN_PART
    refused = checker.compiled.refusal("the search for repairs", read)
    if refused is not None:
        return refused.message
    if read.timed is not None or any([literal.time > 0 for literal in checker.engine.task.timed_literals]):
        return "plans with times, durative actions or timed facts cannot be repaired"
    return ""


class _Spare(NamedTuple):
    """A repair that may not be the nearest, its cost, and what found it."""

    aligned: Alignment
    cost: Number
    author: str


class Repairer:
    """One call of :func:`repair`."""

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
        text = checker.read(plan).text
        self.texts = ["(" + " ".join(step.tokens) + ")" for step in text.steps]
        self._order = RepairRanking(checker, steps, self.texts, bool(options.purposes) and not checker.engine.task.goal)
        self.ties: list[Alignment] = []
        """The repairs of least cost that were found, in order; more than are listed."""
        self.all_listed = True
        self._no_safe_plan = False
        """Whether it was proved that no safe plan reaches the goal."""
        self._reasons = EditReasons(checker.engine, steps, self.criteria)
        self._explained = 0
        self._places: dict[tuple[object, ...], set[int]] = {}
        self._safe: dict[tuple[object, ...], bool] = {}

    def run(self) -> RepairResult:
        """Search, and order what was found."""
        before = gc.get_threshold()
        gc.set_threshold(max(before[0], 500_000), *before[1:])  # many small objects, few of them garbage
        try:
            result = self._run()
        finally:
            gc.set_threshold(*before)
        if result.status is RepairStatus.FOUND and not result.repairs:
            self.ties = []
            detail = "the audit of the repaired plan reached a limit"
            return RepairResult(RepairStatus.NOT_FOUND, (), result.bound, False, False, detail, result.expanded)
        return result

    def _run(self) -> RepairResult:
        options = self.options
        search = self._search()
        limited = ""
        spare: _Spare | None = None
        try:
            self._allow(search, _FIRST)
            candidates, complete = self._levels(search, options.max_cost)
        except LimitReached:
            candidates, complete = self._at_the_limit(search)
            if not candidates:
                # Some repair first, then on with the search, which now has to look below its cost alone.
                spare, proof = self._some_repair()
                if proof:
                    return RepairResult(
                        RepairStatus.PROVED_NONE, (), search.proved, False, True, proof, search.expanded
                    )
                try:
                    self._allow(search, 1.0)
                    candidates, complete = self._levels(search, options.max_cost if spare is None else spare.cost)
                except LimitReached as reached:
                    limited = reached.kind.value
                    candidates, complete = self._at_the_limit(search)
        if spare is not None and not (candidates and _cost(candidates[0], options) <= spare.cost):
            return self._result_of(search, [spare.aligned], False, limited, spare.author)
        if not candidates:
            return self._nothing(search, limited)
        return self._result_of(search, candidates, complete, limited)

    def _result_of(
        self, search: RepairSearch, candidates: list[Alignment], complete: bool, limited: str, author: str = ""
    ) -> RepairResult:
        """The result where there are repairs of one cost. ``author``: what found them, if the search itself did not.

        A cost that is proved least is so whatever limit ended the search: ``detail`` does not name one then.
        """
        self.ties = self._order.sorted(candidates)
        cost = _cost(candidates[0], self.options)
        repairs = self._present(self.ties, cost)
        bound = min(search.proved, cost)
        # The search itself has tried whether each new step is needed.
        optimal = bound == cost and (not author or self._needed(candidates[0]) is True)
        details = [] if optimal else [limited or search.incomplete]
        details.append(f"this repair comes from {author}" if author else "")
        detail = "; ".join([text for text in details if text])
        complete = complete and optimal and self.all_listed and not search.is_doubtful
        return RepairResult(RepairStatus.FOUND, repairs, bound, optimal, complete, detail, search.expanded)

    def _task(self) -> RepairTask:
        return RepairTask(self.engine, self.steps, self.options.weights, self.options.protected, self.criteria)

    def _search(self, insertions_only: bool = False) -> RepairSearch:
        tie_limit = 0.1 if insertions_only else self.options.tie_limit_s
        progress = None if insertions_only else self._progress
        search = RepairSearch(self._task(), tie_limit, insertions_only, progress)
        self._searches.append(search)
        return search

    def _allow(self, search: RepairSearch, share: float) -> None:
        """Let a search use a share of the time and work that is left; a little time is kept for the rest."""
        if self.deadline is not None:
            left = self.deadline - monotonic()
            search.deadline = monotonic() + share * max(0.0, left - min(1.0, 0.1 * left))
        if self.options.max_work is not None:
            left = self.options.max_work - sum([each.work for each in self._searches])
            search.work_limit = search.work + int(share * max(0, left))

    def _some_repair(self) -> tuple[_Spare | None, str]:
        """Some repair, which may not be the nearest; or in words the proof that there is none.

        By insertions (and what ill-formed steps need) alone, or else from a planner.
        """
        search = self._search(insertions_only=True)
        try:
            self._allow(search, _SECOND)
            candidates = self._levels(search, self.options.max_cost)[0]
        except LimitReached:
            candidates = self._at_the_limit(search)[0]
        if candidates:
            best = self._order.sorted(candidates[:20])[0]
            return _Spare(best, _cost(best, self.options), "a search for insertions alone"), ""
        planned, proof = self._planned(_THIRD)
        return None if planned is None else _Spare(planned, _cost(planned, self.options), "a planner"), proof

    def _at_the_limit(self, search: RepairSearch) -> tuple[list[Alignment], bool]:
        """What a search had found when its time was up."""
        if not search.terminals:
            return [], False
        return self._extract(search, min([node.cost for node in search.terminals]))[0], False

    def _levels(self, search: RepairSearch, most: Number | None) -> tuple[list[Alignment], bool]:
        """Search at rising costs until repairs are found whose new steps are all needed; whether these are all.

        Raises :class:`LimitReached`.
        """
        if not search.terminals and not search.run(most):  # there is a repair, and perhaps more of its cost
            repairs, _ = self._at_the_limit(search)
            if repairs:
                return repairs, False
        if not search.terminals:
            return [], True
        least = min([node.cost for node in search.terminals])
        for cost in self._costs(least, most):
            search.run(cost, everything=True)
            repairs, complete = self._extract(search, cost)
            search.bound = cost
            if repairs:
                return repairs, complete
            if not complete:
                search.doubt(cost)
        return [], True

    def _costs(self, least: Number, most: Number | None) -> Iterator[Number]:
        """What repairs can cost, in rising order, where the cheapest safe plan costs ``least``.

        The needed part of that plan costs at most as much as if its substitutions were deletions.
        """
        weights = self.options.weights
        last: Number = least
        if weights.delete > weights.substitute:
            last = least * Fraction(weights.delete) / Fraction(weights.substitute)
        last = last if most is None else min(last, most)
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
        """The repairs of a cost, at most a multiple of what will be listed; whether these are all."""
        out: list[Alignment] = []
        most = max(20 * self.options.max_repairs, 200)
        late = None if self.deadline is None else monotonic() + self.options.tie_limit_s
        for aligned in enumerate_alignments(search.root, search.terminals, cost, late):
            needed = self._needed(aligned)
            if needed is None:
                return out, False
            if needed:
                out.append(aligned)
                if len(out) >= most:
                    return out, False
        return out, late is None or monotonic() < late

    # -- intent -------------------------------------------------------------------------------------------------------

    def _needed(self, aligned: Alignment) -> bool | None:
        """Whether no set of new steps can be left out; ``None`` if the time did not suffice for all sets.

        A set without substitutions need not be tried: leaving it out would be a cheaper repair, and there is none. Nor
        one with insertions, where a deletion costs no more than a substitution.
        """
        weights = self.options.weights
        if not aligned.substituted:
            return True
        pool = aligned.new if weights.delete > weights.substitute else tuple(sorted(aligned.substituted))
        for size in range(1, len(pool) + 1):
            for chosen in combinations(pool, size):
                if size > 1 and self.deadline is not None and monotonic() > self.deadline:
                    return None
                if aligned.substituted & set(chosen) and self.safe(aligned.without(frozenset(chosen))):
                    return False
        return True

    def safe(self, steps: tuple[GroundAction, ...]) -> bool:
        """Whether a plan is executable, reaches the goal and breaks no rule so that it decides."""
        key = tuple(map(step_key, steps))
        known = self._safe.get(key)
        if known is None:
            known = self._safe[key] = self.is_safe(self.outcome(steps))
        return known

    def is_safe(self, outcome: Outcome) -> bool:
        """Whether an outcome is that of a SAFE or VALID plan."""
        return (
            not outcome.failures
            and outcome.goal is True
            and not any([self.engine.decides(v, self.criteria) for v in outcome.violations])
            and not self.engine.leaves_undecided(outcome.undecided, self.criteria)
            and outcome.limit is None
        )

    def outcome(self, steps: Sequence[GroundAction]) -> Outcome:
        """What a plan comes to, without explanations."""
        run = Replay(self.engine, HALT)
        run.run_steps(steps)
        return run.outcome(len(steps))

    # -- presentation -------------------------------------------------------------------------------------------------

    def _present(self, ranked: list[Alignment], cost: Number) -> tuple[Repair, ...]:
        out: list[Repair] = []
        seen: set[tuple[object, ...]] = set()
        self._places = _places(ranked)
        for aligned in ranked:
            key = (*map(step_key, aligned.steps), *aligned.kinds)
            if key in seen:
                continue
            seen.add(key)
            if len(out) == self.options.max_repairs:
                self.all_listed = False
                break
            steps = tuple([step_text(step, self.engine.task.objects) for step in aligned.steps])
            source = Source(self.plan.name, "".join([step + "\n" for step in steps]))
            report = self.checker.check(source)
            if report.headline is Headline.UNKNOWN and report.limits:
                self.all_listed = False
                continue
            if report.headline not in SAFE:
                raise AssertionError("the checker does not confirm a repair as safe")
            replayed = self.checker.confirmer.is_safe(source, report.steps) if len(out) < _REPLAYED else None
            if replayed is False:
                raise AssertionError("the kernel does not confirm a repair as safe")
            out.append(Repair(steps, aligned.origin, self.edits(aligned), cost, report, replayed))
        return tuple(out)

    def edits(self, aligned: Alignment) -> tuple[Edit, ...]:
        """The edits of an alignment, in order of places, deletions last; with reasons while there is time for them."""
        out = []
        explain = self._explained < _EXPLAINED or (len(aligned.steps) * self._explained < _EXPLAINED_STEPS)
        self._explained += 1
        why = self._reasons
        for place, (origin, step) in enumerate(zip(aligned.origin, aligned.steps, strict=True)):
            text = step_text(step, self.engine.task.objects)
            if not origin:
                reason = why.of_new(aligned, place) if explain else ""
                first, last = self._range(aligned, place)
                out.append(Edit(EditKind.INSERT, 0, place + 1, "", text, reason, first, last))
            elif place in aligned.substituted:
                reason = why.of_substituted(aligned, place) if explain else ""
                out.append(Edit(EditKind.SUBSTITUTE, origin, place + 1, self.texts[origin - 1], text, reason))
            elif place in aligned.moved:
                reason = why.of_moved(aligned, place) if explain else ""
                first, last = self._range(aligned, place)
                out.append(Edit(EditKind.MOVE, origin, place + 1, text, text, reason, first, last))
        for gone in aligned.deleted:
            reason = why.of_deleted(aligned, gone) if explain else ""
            out.append(Edit(EditKind.DELETE, gone, 0, self.texts[gone - 1], "", reason))
        return tuple(out)

    def _range(self, aligned: Alignment, place: int) -> tuple[int, int]:
        """The places (from 1) around one at which a step does the same in some tied repair; (0, 0) if only there."""
        known = self._places.get(_elsewhere(aligned, place), set())
        first = last = place
        while first - 1 in known:
            first -= 1
        while last + 1 in known:
            last += 1
        return (first + 1, last + 1) if first < last else (0, 0)

    # -- where the search finds nothing -------------------------------------------------------------------------------

    def _nothing(self, search: RepairSearch, limited: str) -> RepairResult:
        """The result where the search ended without a repair."""
        bound, expanded = search.proved, search.expanded
        if search.root.broken:
            first = search.root.broken[0]
            rule = self.engine.rules[self.engine.rule_set.parts[first.part].rule].name
            how = "leaves undecided" if first.undecided else "already violates"
            detail = f"the initial state {how} rule `{rule}`"
            return RepairResult(RepairStatus.PROVED_NONE, (), bound, False, True, detail, expanded)
        detail = limited or search.incomplete
        if search.exhausted and not detail and not search.is_doubtful and not search.terminals:
            detail = "the search for repairs was complete"
            self._no_safe_plan = not self.options.protected
            return RepairResult(RepairStatus.PROVED_NONE, (), bound, False, True, detail, expanded)
        if not limited:  # else planners were asked before
            planned, proof = self._planned(_LAST)
            if proof:
                return RepairResult(RepairStatus.PROVED_NONE, (), bound, False, True, proof, expanded)
            if planned is not None:
                return self._result_of(search, [planned], False, detail or "the search stopped early", "a planner")
        if not detail and self.options.max_cost is None:
            detail = "the search stopped early"
        elif not detail:
            detail = f"the search was limited to cost {float(self.options.max_cost or 0):g} (--max-cost)"
        return RepairResult(RepairStatus.NOT_FOUND, (), bound, False, False, detail, expanded)

    def _planned(self, share: float) -> tuple[Alignment | None, str]:
        """The cheapest repair that planners' plans give within the limits; or in words that there is no safe plan."""
        from plansafe.verifier.planning.planner import PlanningQuery, PlanningStatus  # noqa: PLC0415 - loads the planners

        planners, limit = self._planners(share)
        most = self.options.max_cost
        best: Alignment | None = None
        for prefix in dict.fromkeys([0, self._good_steps()]):
            before = [step for step in self.steps[:prefix] if isinstance(step, GroundAction)]
            solution = planners.solve(PlanningQuery(self.checker, before, True, False, limit))
            if solution.status is PlanningStatus.UNSOLVABLE and not prefix:
                self._no_safe_plan = True
                return None, f"no safe plan reaches the goal ({solution.planner} searched all of them)"
            if solution.status is not PlanningStatus.SOLVED:
                continue
            steps = remove_needless_steps((*before, *solution.steps), self.steps, self.safe)
            aligned = align_plan(self.steps, steps, self.options.protected)
            if aligned is None or not self.safe(aligned.steps):
                continue
            if most is not None and _cost(aligned, self.options) > most:
                continue
            if best is None or _cost(aligned, self.options) < _cost(best, self.options):
                best = aligned
        return best, ""

    def _planners(self, share: float) -> tuple[Planner, float]:
        """The planners, and the seconds that one question to them may take."""
        from plansafe.verifier.planning.planner_chain import default_planners  # noqa: PLC0415 - loads the planners

        limit = 10.0 if self.deadline is None else max(0.3, share * (self.deadline - monotonic()))
        return default_planners() if self.options.max_work is None else default_planners(_PLANNER_NODES), limit

    @cached_property
    def unsafe_goal(self) -> bool:
        """Whether it was proved that the goal can be reached, but not safely; after :meth:`run`. Asks a planner."""
        from plansafe.verifier.planning.planner import PlanningQuery, PlanningStatus  # noqa: PLC0415 - loads the planners

        if not self._no_safe_plan:
            return False
        planners, limit = self._planners(_LAST)
        return planners.solve(PlanningQuery(self.checker, (), False, False, limit)).status is PlanningStatus.SOLVED

    def _good_steps(self) -> int:
        """How many steps of the original plan can be taken without breaking a rule."""
        run = Replay(self.engine, HALT)
        run.run_steps(self.steps)
        outcome = run.outcome(len(self.steps))
        bad = [failure.step for failure in outcome.failures]
        broken = [v for v in outcome.violations if self.engine.decides(v, self.criteria)]
        bad += [violation.step for violation in broken if not violation.at_end]
        return max(0, min(bad, default=len(self.steps) + 1) - 1)


_FIRST, _SECOND, _THIRD, _LAST = 0.35, 0.5, 0.25, 0.5
"""Shares of the time that is left: for the nearest repair at first, then for some repair by insertions alone, then for
each of two planners' plans; and for each of these at the end."""
_PLANNER_NODES = 20_000
"""States that a planner may look at where the work is limited."""
_REPLAYED = 3
"""Repairs of a plan that the kernel replays (if the checker's options leave that to us)."""
_EXPLAINED, _EXPLAINED_STEPS = 2, 400
"""Repairs whose edits are explained in any case; and steps of plans with edits that are explained beyond."""


def _elsewhere(aligned: Alignment, place: int) -> tuple[object, ...]:
    """What a repair is but for the place of one of its steps."""
    rest = [*aligned.steps[:place], *aligned.steps[place + 1 :]]
    return (*map(step_key, rest), step_key(aligned.steps[place]), aligned.origin[place], *aligned.kinds)


def _places(ties: Sequence[Alignment]) -> dict[tuple[object, ...], set[int]]:
    """The places of each inserted or moved step in repairs that are otherwise the same."""
    out: dict[tuple[object, ...], set[int]] = {}
    for aligned in ties[:_MOST_RANGED]:
        for place, origin in enumerate(aligned.origin):
            if not origin or place in aligned.moved:
                out.setdefault(_elsewhere(aligned, place), set()).add(place)
    return out


_MOST_RANGED = 500


def _cost(aligned: Alignment, options: RepairOptions) -> Number:
    return sum([options.weights.of(EditKind(kind)) for kind in aligned.kinds])
