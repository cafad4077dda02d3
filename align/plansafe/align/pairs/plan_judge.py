"""Judge many plans of one task: plans with a common prefix share its execution.

Plans without needless steps: delete steps while the plan stays SAFE and reaches its goal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.monitors.finding import TooManyInstances, Violation
from plansafe.verifier.execution.state import NumberTooLarge
from plansafe.verifier.execution.steps import GroundAction, step_text
from plansafe.verifier.model.limits import LimitReached

Steps = tuple[GroundAction, ...]
LIMITS = (NumberTooLarge, TooManyInstances, LimitReached)
"""Exceptions of an execution that leave a plan undecided."""


def step_key(steps: Steps) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """The steps as names of actions and numbers of objects: equal for equal plans, and quick to hash."""
    return tuple([(step.action.name, step.objects) for step in steps])


class JudgedPlan(NamedTuple):
    """An executable plan. ``violations``: for each rule that it breaks, by number, the first violation."""

    steps: Steps
    violations: dict[int, Violation]
    reaches_goal: bool

    @property
    def is_safe(self) -> bool:
        """True if it breaks no rule and reaches the goal."""
        return self.reaches_goal and not self.violations


class PlanJudge:
    """Judges plans of a task with one world (``checker.is_open`` is false)."""

    def __init__(self, checker: Checker) -> None:
        self.checker = checker
        self.engine = checker.engine
        self.start = Execution.initial(self.engine, True, checker.options.criteria)

    def read(self, plan: str) -> Steps | None:
        """The steps of a plan's text; None if a step is ill-formed or the plan has times."""
        read = self.checker.read(Source("plan", plan))
        steps = tuple([step for step in read.steps if isinstance(step, GroundAction)])
        if read.text.diagnostics or read.timed is not None or read.is_open or len(steps) < len(read.steps):
            return None
        return steps

    def texts(self, steps: Sequence[GroundAction]) -> tuple[str, ...]:
        """The steps as texts such as ``(go robot hall)``."""
        objects = self.engine.task.objects
        return tuple([step_text(step, objects) for step in steps])

    def executions(self, steps: Sequence[GroundAction]) -> list[Execution]:
        """The executions before each step and after the last, as far as the steps can be executed."""
        executions = [self.start]
        for step in steps:
            try:
                after = executions[-1].after(step)
            except LIMITS:
                break
            if after is None:
                break
            executions.append(after)
        return executions

    def judge(self, steps: Steps, start: Execution | None = None, done: int = 0) -> JudgedPlan | None:
        """Judge a plan whose first ``done`` steps lead to ``start``.

        None if it cannot be executed, reaches a limit, or a rule or the goal is undecided: such a plan is neither safe
        nor unsafe.
        """
        start = self.start if start is None else start
        try:
            if not start.without_rules().follow(steps[done:]):  # rules take most of the time
                return None
            end = start.fork()
            return self._verdict(steps, end) if end.follow(steps[done:]) else None
        except LIMITS:
            return None

    def is_safe(self, steps: Steps, start: Execution | None = None, done: int = 0) -> bool:
        """True if a plan reaches the goal and breaks no rule. See :meth:`judge` for ``start`` and ``done``."""
        start = self.start if start is None else start
        try:
            without_rules = start.without_rules()
            if not without_rules.follow(steps[done:]) or self.engine.evaluate_goal(without_rules.state) is not True:
                return False
        except LIMITS:
            return False
        plan = self.judge(steps, start, done)
        return plan is not None and plan.is_safe

    def _verdict(self, steps: Steps, end: Execution) -> JudgedPlan | None:
        goal = self.engine.evaluate_goal(end.state)
        runtime = end.finish_runtime()
        if goal is None or (runtime is not None and runtime.collect_undecided()):
            return None
        first: dict[int, Violation] = {}
        for violation in () if runtime is None else runtime.collect_violations():
            if self.engine.is_decisive(violation, self.checker.options.criteria):
                rule = self.engine.rule_set.parts[violation.part].rule
                if rule not in first or _order(violation) < _order(first[rule]):
                    first[rule] = violation
        return JudgedPlan(steps, first, goal is True)

    def violation_steps(self, plan: JudgedPlan) -> dict[int, int]:
        """For each broken rule, by number, the step after which it is broken whatever follows.

        Steps count from 1; the length + 1 means that only the end of the plan breaks the rule. The step can be later
        than the step of the finding: of a second dose, the finding names the first.
        """
        parts = self.engine.rule_set.parts
        first: dict[int, int] = {}
        now = self.start.fork()
        for number, step in enumerate(plan.steps, 1):
            now.take(step)
            for violation in now.lasting_violations:
                first.setdefault(parts[violation.part].rule, number)
        return {rule: first.get(rule, len(plan.steps) + 1) for rule in plan.violations}

    def message(self, violation: Violation) -> str:
        """The message of a violation: the text of its rule with the names of the objects."""
        part = self.engine.rule_set.parts[violation.part]
        rule = self.engine.rule_set.rules[part.rule]
        if not rule.message:
            return f"rule `{rule.name}` is violated"
        text = rule.message
        for variable, name in zip(part.parameters, self.engine.task.names(violation.binding), strict=True):
            text = text.replace("{" + variable.name.partition("~")[0] + "}", name)
        return text


def _order(violation: Violation) -> tuple[bool, int, tuple[int, ...]]:
    return violation.at_end, violation.step, violation.binding


MAX_STEPS_FOR_PAIRS = 80
"""Length of a plan above which only single steps and blocks are deleted: pairs grow with its square."""


def shortened_steps(judge: PlanJudge, steps: Steps) -> Steps:
    """Delete steps of a safe plan until no step, block of consecutive steps or pair of steps can be deleted.

    A deletion is kept if the plan stays executable, reaches the goal and is SAFE. At least one step is left.
    """
    while (shorter := _one_deletion(judge, steps)) is not None:
        steps = shorter
    return steps


def _one_deletion(judge: PlanJudge, steps: Steps) -> Steps | None:
    executions = judge.executions(steps)
    for deleted in deletions(len(steps)):
        shorter = _without(steps, deleted)
        if judge.is_safe(shorter, executions[deleted[0]], deleted[0]):
            return shorter
    return None


def deletions(length: int) -> Iterator[tuple[int, ...]]:
    """The places (from 0, sorted) to delete, in this order: blocks of steps, the shortest first; then pairs of steps.

    Blocks find loops of any length (``go a b``, ``go b c``, ``go c a``). Pairs find an action and its reversal later.
    """
    for size in range(1, length):
        for first in range(length - size + 1):
            yield tuple(range(first, first + size))
    if length <= MAX_STEPS_FOR_PAIRS:
        for first in range(length):
            for second in range(first + 2, length):
                yield first, second


def _without(steps: Steps, deleted: Sequence[int]) -> Steps:
    return tuple([step for place, step in enumerate(steps) if place not in deleted])
