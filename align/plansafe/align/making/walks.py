"""Plans of one task, judged by the engine: those that begin alike share what they begin with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.deciding import counts
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
        self.question = checker.options.question
        self.start = Execution.initial(self.engine, True, self.question)
        self._unwatched = Execution.initial(self.engine, False, self.question)
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

    def possible(self, steps: Sequence[GroundAction], reaching: bool = False) -> bool:
        """Whether a plan can be executed (and reaches the goal). Rules are not watched, which take most of the time."""
        now = self._unwatched.fork()
        try:
            return all(now.take(step) for step in steps) and (not reaching or self.engine.goal(now.state) is True)
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

    def judge(self, steps: Sequence[GroundAction], at: Execution | None = None, done: int = 0) -> Judged | None:
        """The verdict on a plan whose first ``done`` steps lead to ``at``; ``None`` where it cannot be executed.

        Also ``None`` where a limit is passed, or something about it is undecided: then it is neither safe nor unsafe.
        """
        now = (self.start if at is None else at).fork()
        self.judged += 1
        try:
            if not self.possible(steps):
                return None
            for step in steps[done:]:
                if not now.take(step):
                    return None
            return self.verdict(tuple(steps), now)
        except (NumberTooLarge, TooManyInstances, LimitReached):
            return None

    def verdict(self, steps: Steps, end: Execution) -> Judged | None:
        """The verdict on a plan that led here; ``None`` where something is undecided."""
        goal = self.engine.goal(end.state)
        ended = end.ended()
        if goal is None or (ended is not None and ended.undecided()):
            return None
        broken: dict[int, Violation] = {}
        parts = self.engine.plan.parts
        for violation in () if ended is None else ended.violations():
            if counts(self.engine, violation, self.question):
                rule = parts[violation.part].rule
                known = broken.get(rule)
                if known is None or _when(violation) < _when(known):
                    broken[rule] = violation
        return Judged(steps, broken, goal is True)

    def moment(self, plan: Judged, rule: int) -> int:
        """The step by which a rule is broken whatever follows, from 1; one more than steps: by the end alone."""
        if plan.broken[rule].at_end:
            return len(plan.steps) + 1
        parts = self.engine.plan.parts
        now = self.start.fork()
        for number, step in enumerate(plan.steps, 1):
            now.take(step)
            if any([parts[one.part].rule == rule for one in now.news]):
                return number
        return len(plan.steps) + 1

    def read(self, plan: str) -> Steps | None:
        """The steps of a plan's text; ``None`` where one is ill-formed or it has times."""
        read = self.checker.read(Source("plan", plan))
        steps = tuple([step for step in read.steps if isinstance(step, GroundAction)])
        if read.text.diagnostics or read.timed is not None or read.open or len(steps) < len(read.steps):
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
    rule = walks.engine.plan.rules[number]
    if not rule.message:
        return f"rule `{rule.name}` is violated"
    part = walks.engine.plan.parts[violation.part]
    names = walks.engine.task.names(violation.binding)
    text = rule.message
    for variable, name in zip(part.parameters, names, strict=True):
        text = text.replace("{" + variable.name.partition("~")[0] + "}", name)
    return text
