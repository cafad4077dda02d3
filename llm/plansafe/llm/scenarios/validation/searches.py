"""The questions that criteria put to planners, each asked once, and the plans that they answer with, replayed.

A search for plans that reach the goal and break a rule.

A search state has what the rules remember, as in :mod:`plansafe.verifier.planning.forward_search`. Once a rule is
broken it stays broken, and only the state counts. Greedy by relaxed plans; an exhausted search is a proof that every
plan to the goal keeps the rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from time import monotonic

from plansafe.grammar.source import Source
from plansafe.llm.scenarios.validation.model import Limits, Profile, Witness
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.monitors.finding import TooManyInstances
from plansafe.verifier.execution.state import NumberTooLarge
from plansafe.verifier.execution.steps import GroundAction, step_text
from plansafe.verifier.model.limits import LimitKind, LimitReached
from plansafe.verifier.planning.delete_relaxation import DeleteRelaxation
from plansafe.verifier.planning.forward_search import find_unsupported_task_reason
from plansafe.verifier.planning.lifted_relaxation import LiftedRelaxation
from plansafe.verifier.planning.planner import Planner, PlanningQuery, PlanningResult, PlanningStatus
from plansafe.verifier.planning.planner_chain import make_default_planners
from plansafe.verifier.planning.relaxation_estimates import estimate_by_landmark_cut, estimate_by_relaxed_plan
from plansafe.verifier.reporting.report import Headline, Report, Worlds

SAFE = (Headline.SAFE, Headline.VALID)


class Searches:
    """Answers about one task, remembered. For a checker that is ``ok`` and leaves nothing open.

    ``guarded``: admissible plans keep the rules (there are some, and the profile does not want them broken).
    ``references`` are plans that answer what planners do not.
    """

    def __init__(
        self,
        checker: Checker,
        profile: Profile,
        limits: Limits,
        planner: Planner | None = None,
        references: Sequence[Source] = (),
    ) -> None:
        self.checker = checker
        self.engine = checker.engine
        self.limits = limits
        self.planner = planner if planner is not None else make_default_planners()
        self.has_rules = any([rule.parts and not rule.preference for rule in checker.engine.rules])
        self.guarded = self.has_rules and not profile.malicious
        self._answers: dict[tuple[bool, bool], PlanningResult] = {}
        self._witnesses: dict[tuple[str, ...], Witness] = {}
        self._violating: PlanningResult | None = None
        self._bound: int | None = None
        self._reference_plans: dict[bool, tuple[GroundAction, ...]] = {}
        """The shortest reference plan to the goal, by whether it is safe."""
        for plan in references:
            self._take(plan)

    def _take(self, plan: Source) -> None:
        read = self.checker.read(plan)
        steps = tuple([step for step in read.steps if isinstance(step, GroundAction)])
        if read.text.diagnostics or read.timed is not None or read.is_open or len(steps) < len(read.steps):
            return
        report = self.report(steps)
        if report.executable is Worlds.ALL and report.goal is Worlds.ALL:
            answer = self._reference_plans.get(report.headline in SAFE)
            if report.headline is not Headline.UNKNOWN and (answer is None or len(steps) < len(answer)):
                self._reference_plans[report.headline in SAFE] = steps

    # -- plans --------------------------------------------------------------------------------------------------------

    def plan(self, rules: bool, shortest: bool = False) -> PlanningResult:
        """A plan to the goal (with ``rules``: a safe one), a proof that there is none, or neither."""
        key = (rules and self.has_rules, shortest)
        if key not in self._answers:
            self._answers[key] = self._solve(*key)
        return self._answers[key]

    def _solve(self, rules: bool, shortest: bool) -> PlanningResult:
        answer = self._answers.get((rules, True)) if not shortest else None
        if answer is not None and answer.status in (PlanningStatus.SOLVED, PlanningStatus.UNSOLVABLE):
            return answer
        broken = self._broken() if rules else ""
        if broken:
            return PlanningResult(PlanningStatus.UNSOLVABLE, detail=broken)
        query = PlanningQuery(self.checker, rules=rules, shortest=shortest, time_limit_s=self.limits.time_s)
        result = self._with_references(self.planner.solve(query), rules)
        if (
            shortest
            and result.status is PlanningStatus.SOLVED
            and not result.optimal
            and len(result.steps) <= self.bound()
        ):
            result = result._replace(optimal=True)
        return result

    def _with_references(self, result: PlanningResult, rules: bool) -> PlanningResult:
        """The planner's result, or a reference plan that is shorter or the only plan."""
        plans = [steps for safe, steps in self._reference_plans.items() if safe or not rules]
        best = min(plans, key=len, default=None)
        if best is None or result.status is PlanningStatus.UNSOLVABLE or result.optimal:
            return result
        if result.status is PlanningStatus.SOLVED and len(result.steps) <= len(best):
            return result
        return PlanningResult(PlanningStatus.SOLVED, best, planner="a reference plan")

    def _broken(self) -> str:
        """The rule that the initial state breaks for good, in words."""
        if find_unsupported_task_reason(self.checker.compiled, True) or not Execution.initial(self.engine).broken:
            return ""
        finding = next((f for f in self.report(()).findings if f.rule and not f.at_end), None)
        return "a rule is violated in the initial state" if finding is None else finding.message

    def unsafe(self) -> PlanningResult:
        """A plan to the goal that breaks a rule, a proof that there is none, or neither."""
        if self._violating is None:
            self._violating = self._unsafe()
        return self._violating

    def _unsafe(self) -> PlanningResult:
        plans = self._reference_plans.get(False)
        if plans is not None:
            return PlanningResult(PlanningStatus.SOLVED, plans, planner="a reference plan")
        for shortest in (False, True):  # what ignores the rules often breaks one
            result = self.plan(False, shortest)
            if result.status is PlanningStatus.UNSOLVABLE:
                return result
            if result.status is PlanningStatus.SOLVED and self.report(result.steps).headline is Headline.UNSAFE:
                return result._replace(optimal=False)
        why = find_unsupported_task_reason(self.checker.compiled, True)
        if why:
            return PlanningResult(PlanningStatus.UNSUPPORTED, detail=why)
        return ViolationSearch(self.engine, monotonic() + self.limits.time_s).run()

    def bound(self) -> int:
        """A lower bound on the number of steps of an admissible plan, by landmark cuts."""
        if self._bound is None:
            self._bound = self._lower()
        return self._bound

    def _lower(self) -> int:
        if find_unsupported_task_reason(self.checker.compiled, self.guarded):
            return 0
        start = Execution.initial(self.engine, self.guarded)
        try:
            relaxed = DeleteRelaxation(
                LiftedRelaxation(self.engine, self.guarded), start.state, start.runtime, lambda: None
            )
        except LimitReached:
            return 0
        return (
            estimate_by_landmark_cut(
                relaxed, relaxed.list_true_propositions(start.state, start.runtime), relaxed.goal
            ).distance
            or 0
        )

    # -- replays of plans -------------------------------------------------------------------------------------

    def text(self, steps: Sequence[GroundAction]) -> tuple[str, ...]:
        """The steps as PDDL."""
        return tuple([step_text(step, self.engine.task.objects) for step in steps])

    def report(self, steps: Sequence[GroundAction]) -> Report:
        """What the checker says of a plan."""
        return self.checker.check(Source("<plan>", "\n".join(self.text(steps))))

    def witness(self, role: str, steps: Sequence[GroundAction]) -> Witness:
        """A plan with the word of the kernel on it; raises ``AssertionError`` where kernel and engine disagree."""
        text = self.text(steps)
        answer = self._witnesses.get(text)
        if answer is None:
            answer = self._witnesses[text] = self._confirmed(text)
        return answer._replace(what=role)

    def _confirmed(self, text: tuple[str, ...]) -> Witness:
        plan = Source("<plan>", "\n".join(text))
        report = self.checker.check(plan)
        if report.executable is not Worlds.ALL or report.goal is not Worlds.ALL:
            raise AssertionError("a plan that was found does not replay: this is a bug in plansafe")
        confirmer = self.checker.confirmer
        if report.headline in SAFE:
            confirmed = confirmer.is_safe(plan, report.steps)
            if confirmed is False:
                raise AssertionError("the kernel does not confirm a safe plan: this is a bug in plansafe")
            return Witness("", text, bool(confirmed))
        confirmed_report = confirmer.confirm(plan, report)
        if confirmed_report.headline is None:
            raise AssertionError("the kernel does not confirm an unsafe plan: this is a bug in plansafe")
        broken = next((finding for finding in confirmed_report.findings if finding.rule), None)
        note = "" if broken is None else _with_step(broken.message, broken.step)
        return Witness("", text, any([bool(f.replayed) for f in confirmed_report.findings]), note)


def _with_step(message: str, step: int) -> str:
    return message if f"step {step}" in message or not step else f"{message} (step {step})"


MAX_NODES = 200_000
_Path = tuple["_Path | None", GroundAction] | None


class ViolationSearch:
    """One search, from S0 of an engine whose task is untimed and closed, until ``deadline`` (monotonic seconds)."""

    def __init__(self, engine: Engine, deadline: float) -> None:
        self.engine = engine
        self.deadline = deadline
        self.visited = 0
        self._relaxed: DeleteRelaxation | None = None

    def run(self) -> PlanningResult:
        """``SOLVED`` with the steps, ``UNSOLVABLE`` (proved), or ``NOT_FOUND``. Steps are not replayed here."""
        try:
            return self._run()
        except (LimitReached, NumberTooLarge, TooManyInstances):
            return PlanningResult(
                PlanningStatus.NOT_FOUND, detail=f"no plan found within the limit, after {self.visited} states"
            )

    def _run(self) -> PlanningResult:
        start = self._settled(Execution.initial(self.engine))
        try:
            self._relaxed = DeleteRelaxation(LiftedRelaxation(self.engine, False), start.state, None, self._check)
        except LimitReached as limit:
            if limit.kind is LimitKind.TIME:
                raise
            self._relaxed = None
        if self._unsafe_end(start):
            return PlanningResult(PlanningStatus.SOLVED)
        closed = {self._key(start)}
        queue: list[tuple[int, bool, int, Execution, list[GroundAction], _Path]] = []
        self._push(queue, start, None)
        complete = True
        while queue:
            _, _, _, execution, steps, path = heappop(queue)
            for step in steps:
                self._check()
                after = execution.after(step)
                if after is None:
                    continue
                if after.undecided:
                    complete = False
                    continue
                after = self._settled(after)
                key = self._key(after)
                if key in closed:
                    continue
                closed.add(key)
                here: _Path = (path, step)
                if self._unsafe_end(after):
                    return PlanningResult(PlanningStatus.SOLVED, _steps(here))
                self._push(queue, after, here)
        if not complete:
            return PlanningResult(PlanningStatus.NOT_FOUND, detail="the search met undefined numbers")
        return PlanningResult(PlanningStatus.UNSOLVABLE, detail=f"all {self.visited} reachable states were visited")

    def _check(self) -> None:
        if monotonic() > self.deadline or self.visited > MAX_NODES:
            raise LimitReached(LimitKind.TIME)

    def _settled(self, execution: Execution) -> Execution:
        """The same moment; without monitors where a rule is broken for good."""
        if execution.runtime is None or not execution.broken:
            return execution
        return Execution(self.engine, execution.state, None, execution.letter)

    def _unsafe_end(self, execution: Execution) -> bool:
        if self.engine.evaluate_goal(execution.state) is not True:
            return False
        return execution.runtime is None or execution.find_first_violated_step() is not None

    def _key(self, execution: Execution) -> object:
        return (None, execution.state_key()) if execution.runtime is None else execution.key()

    def _push(
        self,
        queue: list[tuple[int, bool, int, Execution, list[GroundAction], _Path]],
        execution: Execution,
        path: _Path,
    ) -> None:
        """Queue a state with the steps that may be possible there, unless the goal is out of reach, rules ignored."""
        self.visited += 1
        relaxed = self._relaxed
        value: int | None = 0
        if relaxed is None:
            steps = list(execution.legal())
        else:
            estimate = estimate_by_relaxed_plan(
                relaxed, relaxed.list_true_propositions(execution.state, None), relaxed.goal
            )
            value, steps = estimate.distance, [relaxed.steps[number] for number in estimate.applicable_steps]
        if value is not None:
            heappush(queue, (value, execution.runtime is not None, self.visited, execution, steps, path))


def _steps(path: _Path) -> tuple[GroundAction, ...]:
    out: list[GroundAction] = []
    while path is not None:
        path, step = path
        out.append(step)
    return tuple(reversed(out))
