"""Plans of one task, judged by the engine: those that begin alike share what they begin with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.monitors.finding import TooManyInstances, Violation
from plansafe.verifier.execution.state import NumberTooLarge
from plansafe.verifier.execution.steps import GroundAction, step_text
from plansafe.verifier.model.evaluation import Evaluator
from plansafe.verifier.model.limits import LimitReached
from plansafe.verifier.model.nodes import And
from plansafe.verifier.reporting.report import Headline

Steps = tuple[GroundAction, ...]
Key = tuple[tuple[str, tuple[int, ...]], ...]
"""Steps as names of actions and numbers of objects."""


def sensible(step: GroundAction) -> bool:
    """Whether a step names no object twice: some worlds let a thing be put onto itself, and nobody learns from that."""
    return len(set(step.objects)) == len(step.objects)


class Judged(NamedTuple):
    """A plan that can be executed. ``broken``: of each rule that it breaks, by number, the first violation."""

    steps: Steps
    broken: dict[int, Violation]
    goal: bool

    @property
    def key(self) -> Key:
        """What tells it from other plans of the task."""
        return tuple([(step.action.name, step.objects) for step in self.steps])

    @property
    def safe(self) -> bool:
        """Whether it keeps all rules and reaches the goal."""
        return self.goal and not self.broken


class Walks:
    """Judges plans of one task."""

    def __init__(self, checker: Checker) -> None:
        self.checker = checker
        self.engine = checker.engine
        self.criteria = checker.options.criteria
        self.start = Execution.initial(self.engine, True, self.criteria)
        self._known: list[tuple[Steps, list[Execution]]] = []
        self.judged = 0
        """How many plans were judged."""

    def path(self, steps: Sequence[GroundAction]) -> list[Execution]:
        """The executions before each step and behind the last, as far as the steps can be taken."""
        out = [self.start]
        for step in steps:
            try:
                after = out[-1].after(step)
            except (NumberTooLarge, TooManyInstances, LimitReached):
                break
            if after is None:
                break
            out.append(after)
        return out

    def remember(self, steps: Steps) -> list[Execution]:
        """The executions along a plan (:meth:`path`), from which plans that begin like it are judged from now on."""
        path = self.path(steps)
        self._known.append((steps, path))
        return path

    def begun(self, steps: Sequence[GroundAction]) -> tuple[Execution, int]:
        """Where a plan parts from the remembered one that it is longest like: the execution, and how many steps."""
        best, done = self.start, 0
        for plan, path in self._known:
            most = min(len(path) - 1, len(steps))
            same = next((at for at in range(most) if steps[at] != plan[at]), most)
            if same > done:
                best, done = path[same], same
        return best, done

    def possible(self, steps: Sequence[GroundAction], reaching: bool = False) -> bool:
        """Whether a plan can be executed (and reaches the goal). Rules are not watched, which take most of the time."""
        here, done = self.begun(steps)
        return self._possible(steps[done:], here, reaching)

    def _possible(self, steps: Sequence[GroundAction], here: Execution, reaching: bool) -> bool:
        now = here.without_rules()
        try:
            return now.follow(steps) and (not reaching or self.engine.evaluate_goal(now.state) is True)
        except (NumberTooLarge, TooManyInstances, LimitReached):
            return False

    def can(self, now: Execution, step: GroundAction) -> bool:
        """Whether a step can be taken; it is not taken, so that no rule is asked."""
        return (
            Evaluator(self.engine.task, now.state.facts, now.state.fluents).holds(
                And(step.action.start.condition), step.binding
            )
            is not False
        )

    def judge(
        self,
        steps: Sequence[GroundAction],
        at: Execution | None = None,
        done: int = 0,
        *,
        reaching: bool = False,
        safe_behind: int | None = None,
    ) -> Judged | None:
        """The verdict on a plan whose first ``done`` steps lead to ``at``; ``None`` where it cannot be executed.

        Also ``None`` where a limit is passed, or something about it is undecided: then it is neither safe nor unsafe.
        Without ``at`` it is judged from where it parts from a remembered plan. With ``reaching`` there is none for what
        does not reach the goal. With ``safe_behind`` neither, and none for what has broken a rule behind so many steps:
        that spares the rest, for who looks for safe plans.
        """
        here, done = self.begun(steps) if at is None else (at, done)
        self.judged += 1
        if not self._possible(steps[done:], here, reaching or safe_behind is not None):
            return None
        now, between = here.fork(), max(done, safe_behind or 0)
        try:
            if not now.follow(steps[done:between]) or (between > done and now.broken):
                return None
            return self.verdict(tuple(steps), now) if now.follow(steps[between:]) else None
        except (NumberTooLarge, TooManyInstances, LimitReached):
            return None

    def verdict(self, steps: Steps, end: Execution) -> Judged | None:
        """The verdict on a plan that led here; ``None`` where something is undecided."""
        goal = self.engine.evaluate_goal(end.state)
        ended = end.finished_runtime()
        if goal is None or (ended is not None and ended.undecided()):
            return None
        broken: dict[int, Violation] = {}
        parts = self.engine.rule_set.parts
        for violation in () if ended is None else ended.violations():
            if self.engine.is_decisive(violation, self.criteria):
                rule = parts[violation.part].rule
                known = broken.get(rule)
                if known is None or _when(violation) < _when(known):
                    broken[rule] = violation
        return Judged(steps, broken, goal is True)

    def moment(self, plan: Judged, rule: int) -> int:
        """The step by which a rule is broken whatever follows, from 1; one more than steps: by the end alone.

        It is the step that the finding names or a later one: of a second dose a finding names the first.
        """
        violation = plan.broken[rule]
        if violation.at_end:
            return len(plan.steps) + 1
        parts = self.engine.rule_set.parts
        before = max(0, violation.step - 1)
        here, done = self.begun(plan.steps[:before])
        now = here.fork()
        now.follow(plan.steps[done:before])
        for number, step in enumerate(plan.steps[before:], before + 1):
            now.take(step)
            if any([parts[one.part].rule == rule for one in now.new_violations]):
                return number
        return len(plan.steps) + 1

    def read(self, plan: str) -> Steps | None:
        """The steps of a plan's text; ``None`` where one is ill-formed or it has times."""
        read = self.checker.read(Source("plan", plan))
        steps = tuple([step for step in read.steps if isinstance(step, GroundAction)])
        if read.text.diagnostics or read.timed is not None or read.is_open or len(steps) < len(read.steps):
            return None
        return steps

    def texts(self, steps: Sequence[GroundAction]) -> tuple[str, ...]:
        """The steps as they are written."""
        objects = self.engine.task.objects
        return tuple([step_text(step, objects) for step in steps])

    def witness(self, judged: Judged, rule: int) -> str:
        """What is said of the first violation of a rule."""
        return _witness(self, judged.broken[rule], rule)

    def confirmed(self, judged: Judged) -> bool:
        """Whether the checker says the same of the plan's text, read anew."""
        report = self.checker.check(Source("plan", "".join([f"{text}\n" for text in self.texts(judged.steps)])))
        if judged.safe:
            return report.headline is Headline.SAFE
        return report.headline is Headline.UNSAFE


def _when(violation: Violation) -> tuple[bool, int, tuple[int, ...]]:
    return violation.at_end, violation.step, violation.binding


def _witness(walks: Walks, violation: Violation, number: int) -> str:
    rule = walks.engine.rule_set.rules[number]
    if not rule.message:
        return f"rule `{rule.name}` is violated"
    part = walks.engine.rule_set.parts[violation.part]
    names = walks.engine.task.names(violation.binding)
    text = rule.message
    for variable, name in zip(part.parameters, names, strict=True):
        text = text.replace("{" + variable.name.partition("~")[0] + "}", name)
    return text
