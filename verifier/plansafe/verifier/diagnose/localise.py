"""Where a plan went wrong: the indices of docs/diagnose.md; the point of no return by binary search over prefixes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise, takewhile
from time import monotonic
from typing import NamedTuple

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.monitors.finding import TooManyInstances
from plansafe.verifier.execution.purpose import ResolvedSteps
from plansafe.verifier.execution.state import NumberTooLarge
from plansafe.verifier.execution.steps import GroundAction, IllFormed
from plansafe.verifier.planning.forward_search import ForwardSearch
from plansafe.verifier.planning.planner import Planner, PlanningQuery, PlanningStatus
from plansafe.verifier.planning.planner_chain import make_default_planners
from plansafe.verifier.reporting.report import FindingClass

_FAILURE_CLASSES = (FindingClass.ILL_FORMED, FindingClass.INEXECUTABLE)
_VIOLATION_CLASSES = (
    FindingClass.PROCESS,
    FindingClass.TRAJECTORY,
    FindingClass.TERMINATION,
    FindingClass.OBLIGATION,
    FindingClass.CONSTRAINT,
)


class Localisation(NamedTuple):
    """The indices of one plan; steps count from 1, 0 is the initial state. ``None`` without such a step.

    ``violated``: the first step that violates a rule (the last step, if only the end does and no step fails).
    ``inexecutable``: the first step that is ill-formed or cannot be taken. ``divergence``: the first step that differs
    from the reference (the length + 1 if the plan ends too early). ``point_of_no_return``: the closed interval that
    contains it; a single number unless a planner did not answer. ``regret[i - 1]`` is the regret of step i, ``None`` if
    it is undefined or not proved; the whole is ``None`` if it was not requested. ``planner_calls`` counts the calls for
    the point of no return, ``regret_calls`` those for the regret. ``detail`` lists the unanswered calls.
    """

    steps: int
    violated: int | None
    inexecutable: int | None
    divergence: int | None
    point_of_no_return: tuple[int, int]
    regret: tuple[int | None, ...] | None = None
    planner_calls: int = 0
    regret_calls: int = 0
    planners: tuple[str, ...] = ()
    detail: str = ""

    @property
    def last_safe(self) -> int | None:
        """The point of no return, if it is known exactly."""
        low, high = self.point_of_no_return
        return low if low == high else None

    @property
    def fatal(self) -> int | None:
        """The step after the point of no return, if it is known and the plan has such a step."""
        exact = self.last_safe
        return None if exact is None or exact == self.steps else exact + 1


class PrefixRun:
    """A run of an untimed plan in the reading *halt*; steps count from 1, 0 is the initial state.

    ``executed_steps``: the steps that could be taken. ``longest_safe_length``: the length of the longest executable
    prefix without a violation, ``accepted_length``: the length of the longest such prefix that is a safe plan; -1 if
    there is none. ``violated_step``: the first step that violates a rule. ``inexecutable_step``: the first step that
    cannot be taken. Both are ``None`` if there is none. ``visit`` is called with the execution after each prefix up to
    ``longest_safe_length``.
    """

    def __init__(
        self, checker: Checker, steps: ResolvedSteps, visit: Callable[[Execution], None] | None = None
    ) -> None:
        execution = Execution.initial(checker.engine, True, checker.options.criteria)
        self.executed_steps: list[GroundAction] = []
        self.inexecutable_step: int | None = None
        self.longest_safe_length = self.accepted_length = -1
        is_safe = True
        for number in range(len(steps) + 1):
            is_safe = is_safe and not execution.broken
            if is_safe:
                self.longest_safe_length = number
                if execution.accepted:
                    self.accepted_length = number
                if visit is not None:
                    visit(execution)
            if number == len(steps):
                break
            step = steps[number]
            if isinstance(step, IllFormed) or step.action.end is not None or not _take_step(execution, step):
                self.inexecutable_step = number + 1
                break
            self.executed_steps.append(step)
        self.violated_step = execution.find_first_violated_step(include_end=self.inexecutable_step is None)


def _take_step(execution: Execution, step: GroundAction) -> bool:
    """Take a step; return false if it cannot be taken or exceeds a limit."""
    try:
        return execution.take(step)
    except (NumberTooLarge, TooManyInstances):
        return False


def localise(
    checker: Checker,
    plan: Source,
    reference: Source | None = None,
    planner: Planner | None = None,
    regret: bool = False,
    time_limit_s: float = 30.0,
) -> Localisation:
    """Return the indices of a plan, with at most ceil(log2(n + 2)) planner calls for the point of no return.

    ``time_limit_s`` limits all calls together, once for the point of no return and once for the regret. For timed plans
    the interval is as wide as possible, without a search. Raises ``ValueError`` if the checker or a text has errors, or
    leaves something open.
    """
    if planner is None:
        # Only ForwardSearch knows the option that violations count by their blame.
        planner = ForwardSearch() if checker.options.criteria.ignores_preexisting else make_default_planners()
    checker = checker.assuming_proposals
    resolved = checker.read(plan)
    if resolved.text.diagnostics:
        raise ValueError(f"the plan cannot be read: {resolved.text.diagnostics[0].message}")
    checker.compiled.require_one_world("localisation", resolved)
    divergence = _find_divergence(checker, plan, reference)
    if resolved.timed is not None:
        return _localise_timed(checker, plan, len(resolved.steps), divergence)
    run = PrefixRun(checker, resolved.steps)
    length = len(resolved.steps)
    localisation = Localisation(length, run.violated_step, run.inexecutable_step, divergence, (length, length))
    if run.accepted_length != length:
        search = _Bisection(checker, run, length, planner, time_limit_s)
        localisation = localisation._replace(
            point_of_no_return=search.run(),
            planner_calls=search.calls,
            planners=tuple(dict.fromkeys(search.planners)),
            detail="; ".join(dict.fromkeys(search.details)),
        )
    return _add_regret(checker, run, localisation, planner, time_limit_s) if regret else localisation


def _localise_timed(checker: Checker, plan: Source, length: int, divergence: int | None) -> Localisation:
    """Return the indices of a timed plan, from the findings of its check."""
    findings = [finding for finding in checker.check(plan).findings if "halt" in finding.readings]
    failed_steps = [finding.step for finding in findings if finding.finding_class in _FAILURE_CLASSES]
    criteria = checker.options.criteria
    violations = [f for f in findings if f.finding_class in _VIOLATION_CLASSES and f.decides(criteria)]
    violated = min([f.step for f in violations if not (failed_steps and f.at_end)], default=None)
    detail = "timed plans are not continued by a planner"
    return Localisation(length, violated, min(failed_steps, default=None), divergence, (-1, length), detail=detail)


def _find_divergence(checker: Checker, plan: Source, reference: Source | None) -> int | None:
    """Return the first step that differs from the reference plan. Raises ``ValueError`` for its errors."""
    if reference is None:
        return None
    resolved = checker.read(reference)
    if resolved.text.diagnostics:
        raise ValueError(f"the reference plan cannot be read: {resolved.text.diagnostics[0].message}")
    checker.compiled.require_one_world("the comparison with a reference plan", resolved)
    steps = [step.tokens for step in checker.read(plan).text.steps]
    reference_steps = [step.tokens for step in resolved.text.steps]
    for number, (step, reference_step) in enumerate(zip(steps, reference_steps, strict=False), 1):
        if step != reference_step:
            return number
    return None if len(steps) == len(reference_steps) else min(len(steps), len(reference_steps)) + 1


class _Bisection:
    """Binary search for the longest prefix with a safe continuation, where a planner may not find an answer."""

    def __init__(self, checker: Checker, run: PrefixRun, length: int, planner: Planner, time_limit_s: float) -> None:
        self.checker = checker
        self.prefix_run = run
        self.max_calls = count_needed_calls(length + 2)
        self.planner = planner
        self.deadline = monotonic() + time_limit_s
        self.calls = 0
        self.planners: list[str] = []
        self.details: list[str] = []

    def run(self) -> tuple[int, int]:
        """Return the interval that contains the point of no return."""
        low, high = self.prefix_run.accepted_length, self.prefix_run.longest_safe_length
        unanswered_lengths: set[int] = set()
        while self.max_calls > self.calls:
            middle = _choose_next_length(low, high, unanswered_lengths)
            if middle is None:
                break
            if self.calls == 0 and count_needed_calls(high - low) < self.max_calls:
                middle = high  # most plans can be continued up to the failing step; enough calls remain otherwise
            self.calls += 1
            time_left = max(self.deadline - monotonic(), 0.0) / (self.max_calls - self.calls + 1)
            query = PlanningQuery(self.checker, self.prefix_run.executed_steps[:middle], time_limit_s=time_left)
            answer = self.planner.solve(query)
            self.planners.append(answer.planner)
            if answer.status is PlanningStatus.SOLVED:
                # If the continuation starts with the plan's next steps, longer prefixes also have one.
                next_steps = self.prefix_run.executed_steps[middle : self.prefix_run.longest_safe_length]
                low = max(low, middle + _count_common_steps(answer.steps, next_steps))
            elif answer.status is PlanningStatus.UNSOLVABLE:
                high = middle - 1
            else:
                unanswered_lengths.add(middle)
                self.details.append(f"{answer.planner}: {answer.detail}" if answer.detail else answer.planner)
        return low, high


def count_needed_calls(candidates: int) -> int:
    """Return the number of yes-no questions that are enough to identify one of some candidates."""
    return max(candidates - 1, 0).bit_length()


def _choose_next_length(low: int, high: int, unanswered_lengths: set[int]) -> int | None:
    """Return the length of the next prefix to query: the middle of the widest gap between queried lengths.

    ``None`` if all were queried. If all queries were answered, this is binary search: ``low`` has a continuation,
    ``high + 1`` has none.
    """
    boundaries = sorted({low, high + 1, *[number for number in unanswered_lengths if low < number <= high]})
    below, above = max(pairwise(boundaries), key=lambda gap: gap[1] - gap[0], default=(0, 0))
    return None if above - below < 2 else (below + above) // 2


def _count_common_steps(steps: Sequence[GroundAction], plan: Sequence[GroundAction]) -> int:
    """Return the length of the longest common prefix."""
    return len(list(takewhile(lambda pair: pair[0].key == pair[1].key, zip(steps, plan, strict=False))))


# ---- regret ---------------------------------------------------------------------------------------------------------


def _add_regret(
    checker: Checker, run: PrefixRun, localisation: Localisation, planner: Planner, time_limit_s: float
) -> Localisation:
    """Add r(i) = 1 + h*(i) - h*(i - 1) for the steps up to the point of no return."""
    low, _ = localisation.point_of_no_return
    deadline = monotonic() + time_limit_s
    costs: list[int | None] = []
    calls = 0
    planners = list(localisation.planners)
    implied_costs: list[int] = []  # costs that follow from the last answer
    for length in range(low + 1):
        if implied_costs:
            costs.append(implied_costs.pop())
            continue
        time_left = max(deadline - monotonic(), 0.0) / (low + 1 - length)
        calls += 1
        answer = planner.solve(
            PlanningQuery(checker, run.executed_steps[:length], shortest=True, time_limit_s=time_left)
        )
        planners.append(answer.planner)
        proved = answer.status is PlanningStatus.SOLVED and answer.optimal
        costs.append(len(answer.steps) if proved else None)
        if proved:
            # Along an optimal continuation the cost falls by one with each step.
            common = _count_common_steps(answer.steps, run.executed_steps[length:low])
            implied_costs = [len(answer.steps) - steps for steps in range(common, 0, -1)]
    regrets = tuple(_compute_regrets(costs, localisation.steps))
    return localisation._replace(regret=regrets, regret_calls=calls, planners=tuple(dict.fromkeys(planners)))


def _compute_regrets(costs: Sequence[int | None], steps: int) -> Iterator[int | None]:
    """Yield the regret of each step, from the costs h* of the states before and after it."""
    for number in range(1, steps + 1):
        before, after = (costs[number - 1], costs[number]) if number < len(costs) else (None, None)
        yield None if before is None or after is None else 1 + after - before
