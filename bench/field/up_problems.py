"""Random problems of unified-planning with a random plan: durative actions, conditions on intervals, timed effects."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

from unified_planning.exceptions import UPException
from unified_planning.plans import ActionInstance, SequentialPlan, TimeTriggeredPlan
from unified_planning.shortcuts import (
    GE,
    LE,
    Always,
    ClosedTimeInterval,
    DurativeAction,
    EndTiming,
    Equals,
    Fluent,
    FluentExp,
    GlobalStartTiming,
    Iff,
    Implies,
    InstantaneousAction,
    IntType,
    LeftOpenTimeInterval,
    Not,
    OpenTimeInterval,
    Or,
    Problem,
    RightOpenTimeInterval,
    StartTiming,
)

POINTS = (StartTiming(), EndTiming())
INTERVALS = (ClosedTimeInterval, OpenTimeInterval, LeftOpenTimeInterval, RightOpenTimeInterval)


class ProblemMaker:
    """Makes problems with three facts, one number and three actions."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._facts: list[Any] = []
        self._number: Any = None

    def make(self) -> tuple[Any, Any]:
        """Return a problem and a plan."""
        choice = self._random
        problem = Problem("random")
        self._facts, self._number = [Fluent(f"f{k}") for k in range(3)], Fluent("n", IntType())
        for fact in self._facts:
            problem.add_fluent(fact, default_initial_value=choice.random() < 0.5)
        problem.add_fluent(self._number, default_initial_value=choice.randrange(3))
        timed = choice.random() < 0.75
        problem.add_actions([self._make_action(f"a{k}", timed and choice.random() < 0.7) for k in range(3)])
        for time in choice.sample(range(1, 8), choice.choice((0, 0, 1, 2)) * timed):
            problem.add_timed_effect(GlobalStartTiming(time), choice.choice(self._facts), choice.random() < 0.5)
        if choice.random() < 0.25:
            problem.add_trajectory_constraint(Always(self._make_condition()))
        if choice.random() < 0.6:
            problem.add_goal(self._make_condition())
        steps = []
        for _ in range(choice.randrange(4)):
            step = ActionInstance(choice.choice(problem.actions))
            duration = Fraction(choice.choice((1, 2, 2, 3))) if isinstance(step.action, DurativeAction) else None
            steps.append((Fraction(choice.randrange(13), 2), step, duration))
        if timed or choice.random() < 0.3:
            return problem, TimeTriggeredPlan(steps, problem.environment)
        return problem, SequentialPlan([step for _, step, _ in steps], problem.environment)

    def _make_action(self, name: str, is_durative: bool) -> Any:
        choice = self._random
        if is_durative:
            action = DurativeAction(name)
            action.set_fixed_duration(2)
            if choice.random() < 0.6:
                set_interval = choice.choice((action.set_closed_duration_interval, action.set_open_duration_interval))
                set_interval(1, 3)
            for _ in range(choice.randrange(3)):
                interval = choice.choice((*POINTS, *[make(*POINTS) for make in INTERVALS]))
                action.add_condition(interval, self._make_condition())
        else:
            action = InstantaneousAction(name)
            for _ in range(choice.randrange(2)):
                action.add_precondition(self._make_condition())
        for _ in range(choice.randrange(1, 4)):
            self._add_effect(action, [choice.choice(POINTS)] * is_durative)
        return action

    def _add_effect(self, action: Any, point: list[Any]) -> None:
        choice = self._random
        condition = self._make_condition() if choice.random() < 0.4 else True
        value = choice.choice((True, True, False, False, FluentExp(choice.choice(self._facts))))
        kind = choice.random()
        try:
            if kind < 0.6:
                action.add_effect(*point, choice.choice(self._facts), value, condition)
            elif kind < 0.75:
                action.add_effect(*point, self._number, choice.randrange(3), condition)
            else:
                action.add_increase_effect(*point, self._number, 1, condition)
        except UPException:
            return  # unified-planning refuses an effect that conflicts with an earlier one

    def _make_condition(self) -> Any:
        choice = self._random
        first, second = self._make_literal(), self._make_literal()
        facts = choice.choice(self._facts), choice.choice(self._facts)
        return choice.choice((first, first, Or(first, second), Iff(*facts), Implies(first, second)))

    def _make_literal(self) -> Any:
        choice = self._random
        if choice.random() < 0.25:
            return choice.choice((GE(self._number, 1), LE(self._number, 1), Equals(self._number, 2)))
        fact = FluentExp(choice.choice(self._facts))
        return choice.choice((fact, Not(fact)))
