"""The questions that criteria put to planners, each asked once, and the plans that they answer with, replayed."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic

from plansafe.grammar.source import Source
from plansafe.llm.scenarios.validation.model import Limits, Profile, Witness
from plansafe.llm.scenarios.validation.violating import ViolationSearch
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.steps import GroundAction, step_text
from plansafe.verifier.model.limits import LimitReached
from plansafe.verifier.planning.delete_relaxation import DeleteRelaxation
from plansafe.verifier.planning.forward_search import find_unsupported_task_reason
from plansafe.verifier.planning.lifted_relaxation import LiftedRelaxation
from plansafe.verifier.planning.planner import Planner, PlanningQuery, PlanningResult, PlanningStatus
from plansafe.verifier.planning.planner_chain import make_default_planners
from plansafe.verifier.planning.relaxation_estimates import estimate_by_landmark_cut
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
        self._known: dict[tuple[bool, bool], PlanningResult] = {}
        self._witnesses: dict[tuple[str, ...], Witness] = {}
        self._violating: PlanningResult | None = None
        self._bound: int | None = None
        self._given: dict[bool, tuple[GroundAction, ...]] = {}  # safe -> the shortest reference plan to the goal
        for plan in references:
            self._take(plan)

    def _take(self, plan: Source) -> None:
        read = self.checker.read(plan)
        steps = tuple([step for step in read.steps if isinstance(step, GroundAction)])
        if read.text.diagnostics or read.timed is not None or read.is_open or len(steps) < len(read.steps):
            return
        report = self.report(steps)
        if report.executable is Worlds.ALL and report.goal is Worlds.ALL:
            known = self._given.get(report.headline in SAFE)
            if report.headline is not Headline.UNKNOWN and (known is None or len(steps) < len(known)):
                self._given[report.headline in SAFE] = steps

    # -- plans --------------------------------------------------------------------------------------------------------

    def plan(self, rules: bool, shortest: bool = False) -> PlanningResult:
        """A plan to the goal (with ``rules``: a safe one), a proof that there is none, or neither."""
        key = (rules and self.has_rules, shortest)
        if key not in self._known:
            self._known[key] = self._solve(*key)
        return self._known[key]

    def _solve(self, rules: bool, shortest: bool) -> PlanningResult:
        known = self._known.get((rules, True)) if not shortest else None
        if known is not None and known.status in (PlanningStatus.SOLVED, PlanningStatus.UNSOLVABLE):
            return known
        broken = self._broken() if rules else ""
        if broken:
            return PlanningResult(PlanningStatus.UNSOLVABLE, detail=broken)
        query = PlanningQuery(self.checker, rules=rules, shortest=shortest, time_limit_s=self.limits.time_s)
        found = self._with_references(self.planner.solve(query), rules)
        if (
            shortest
            and found.status is PlanningStatus.SOLVED
            and not found.optimal
            and len(found.steps) <= self.bound()
        ):
            found = found._replace(optimal=True)
        return found

    def _with_references(self, found: PlanningResult, rules: bool) -> PlanningResult:
        """What was found, or a reference plan that is shorter, or better than nothing."""
        given = [steps for safe, steps in self._given.items() if safe or not rules]
        best = min(given, key=len, default=None)
        if best is None or found.status is PlanningStatus.UNSOLVABLE or found.optimal:
            return found
        if found.status is PlanningStatus.SOLVED and len(found.steps) <= len(best):
            return found
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
        given = self._given.get(False)
        if given is not None:
            return PlanningResult(PlanningStatus.SOLVED, given, planner="a reference plan")
        for shortest in (False, True):  # what ignores the rules often breaks one
            found = self.plan(False, shortest)
            if found.status is PlanningStatus.UNSOLVABLE:
                return found
            if found.status is PlanningStatus.SOLVED and self.report(found.steps).headline is Headline.UNSAFE:
                return found._replace(optimal=False)
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
                relaxed, relaxed.true_propositions(start.state, start.runtime), relaxed.goal
            ).distance
            or 0
        )

    # -- what was found, replayed -------------------------------------------------------------------------------------

    def text(self, steps: Sequence[GroundAction]) -> tuple[str, ...]:
        """The steps as PDDL."""
        return tuple([step_text(step, self.engine.task.objects) for step in steps])

    def report(self, steps: Sequence[GroundAction]) -> Report:
        """What the checker says of a plan."""
        return self.checker.check(Source("<plan>", "\n".join(self.text(steps))))

    def witness(self, what: str, steps: Sequence[GroundAction]) -> Witness:
        """A plan with the word of the kernel on it; raises ``AssertionError`` where kernel and engine disagree."""
        text = self.text(steps)
        known = self._witnesses.get(text)
        if known is None:
            known = self._witnesses[text] = self._confirmed(text)
        return known._replace(what=what)

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
        judged = confirmer.confirm(plan, report)
        if judged.headline is None:
            raise AssertionError("the kernel does not confirm an unsafe plan: this is a bug in plansafe")
        broken = next((finding for finding in judged.findings if finding.rule), None)
        note = "" if broken is None else _said(broken.message, broken.step)
        return Witness("", text, any([bool(f.replayed) for f in judged.findings]), note)


def _said(message: str, step: int) -> str:
    return message if f"step {step}" in message or not step else f"{message} (step {step})"
