"""safecheck as unified-planning's plan validator: verdicts, reasons, names and constraints."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from unified_planning.engines.results import FailedValidationReason as Reason
from unified_planning.engines.results import ValidationResult
from unified_planning.engines.results import ValidationResultStatus as Status
from unified_planning.environment import get_environment
from unified_planning.model import EndTiming, StartTiming
from unified_planning.plans import ActionInstance, SequentialPlan, TimeTriggeredPlan
from unified_planning.shortcuts import (
    Always,
    And,
    AtMostOnce,
    BoolType,
    DurativeAction,
    Equals,
    Fluent,
    InstantaneousAction,
    IntType,
    Not,
    Object,
    Or,
    PlanValidator,
    Problem,
    Sometime,
    SometimeAfter,
    SometimeBefore,
    UserType,
)

MODULE = "plansafe.verifier.planning.up_validator"
Steps = list[tuple[str, ...]]


@pytest.fixture(scope="module", autouse=True)
def registered() -> None:
    environment = get_environment()
    environment.credits_stream = None
    environment.factory.add_engine("safecheck", MODULE, "SafecheckValidator")


def kitchen() -> Problem:
    """A stove in a kitchen and a robot that walks; names as unified-planning allows and PDDL does not."""
    place, device = UserType("Place"), UserType("Device")
    at = Fluent("at", BoolType(), place=place)
    hot = Fluent("is hot", BoolType(), device=device)
    switch = InstantaneousAction("Switch-On", device=device, place=place)
    switch.add_precondition(at(switch.place))
    switch.add_effect(hot(switch.device), True)
    cool = InstantaneousAction("off", device=device, place=place)
    cool.add_precondition(at(cool.place))
    cool.add_effect(hot(cool.device), False)
    go = InstantaneousAction("go", start=place, to=place)
    go.add_precondition(And(at(go.start), Not(Equals(go.start, go.to))))
    go.add_effect(at(go.start), False)
    go.add_effect(at(go.to), True)
    problem = Problem("kitchen")
    for fluent in (at, hot):
        problem.add_fluent(fluent, default_initial_value=False)
    problem.add_actions([switch, cool, go])
    home, hall = Object("Kitchen", place), Object("hall", place)
    problem.add_objects([home, hall, Object("2nd stove", device)])
    problem.set_initial_value(at(home), True)
    problem.add_goal(at(hall))
    return problem


def plan(problem: Problem, steps: Steps) -> SequentialPlan:
    return SequentialPlan([instance(problem, *step) for step in steps])


def instance(problem: Problem, action: str, *objects: str) -> ActionInstance:
    manager = problem.environment.expression_manager
    return ActionInstance(problem.action(action), tuple([manager.ObjectExp(problem.object(name)) for name in objects]))


def validated(problem: Problem, checked_plan: Any, **parameters: Any) -> ValidationResult:
    with PlanValidator(name="safecheck", params=parameters) as validator:
        return validator.validate(problem, checked_plan)


GO = ("go", "Kitchen", "hall")
ON = ("Switch-On", "2nd stove", "Kitchen")
OFF = ("off", "2nd stove", "Kitchen")
RULES = """(define (safety s) (:process left-alone :on (go ?from ?to)
  :forbid (exists (?d - device) (and (is_hot ?d) (at kitchen) (= ?from kitchen)))))"""


def test_a_valid_plan() -> None:
    problem = kitchen()
    result = validated(problem, plan(problem, [ON, GO]))
    assert result.status is Status.VALID
    assert result.engine_name == "safecheck"
    assert not result.log_messages


def test_an_inapplicable_action_is_named() -> None:
    problem = kitchen()
    steps = plan(problem, [GO, ON])
    result = validated(problem, steps)
    assert result.status is Status.INVALID
    assert result.reason is Reason.INAPPLICABLE_ACTION
    assert result.inapplicable_action is steps.actions[1]
    assert any("(at kitchen)" in log.message for log in result.log_messages or ())


def test_an_unmet_goal() -> None:
    problem = kitchen()
    result = validated(problem, plan(problem, [ON]))
    assert (result.status, result.reason) == (Status.INVALID, Reason.UNSATISFIED_GOALS)


def test_a_safety_specification_as_text_and_as_file(tmp_path: Path) -> None:
    problem = kitchen()
    file = tmp_path / "s.safe"
    file.write_text(RULES)
    for specification in (RULES, file, [file]):
        bad = validated(problem, plan(problem, [ON, GO]), specification=specification)
        assert (bad.status, bad.reason) == (Status.INVALID, None)
        assert any("left-alone" in log.message for log in bad.log_messages or ())
        assert validated(problem, plan(problem, [ON, OFF, GO]), specification=specification).status is Status.VALID


def test_an_unreadable_specification_gives_no_verdict() -> None:
    problem = kitchen()
    result = validated(problem, plan(problem, [GO]), specification="(define (safety s) (:process a :forbid (nope)))")
    assert result.status is Status.UNKNOWN
    assert any("nope" in log.message for log in result.log_messages or ())


@pytest.mark.parametrize(
    ("constraint", "steps", "satisfied"),
    [
        (lambda hot: Always(Not(hot)), [GO], True),
        (lambda hot: Always(Not(hot)), [ON, GO], False),
        (Sometime, [ON, GO], True),
        (Sometime, [GO], False),
        (AtMostOnce, [ON, OFF, GO], True),
        (AtMostOnce, [ON, OFF, ON, GO], False),
        (lambda hot: SometimeAfter(hot, Not(hot)), [ON, OFF, GO], True),
        (lambda hot: SometimeAfter(hot, Not(hot)), [ON, GO], False),
        (lambda hot: SometimeBefore(hot, Not(hot)), [ON, GO], True),
        (lambda hot: And(Sometime(hot), AtMostOnce(hot)), [GO], False),
    ],
)
def test_trajectory_constraints(constraint: Any, steps: Steps, satisfied: bool) -> None:
    problem = kitchen()
    hot = problem.fluent("is hot")(problem.object("2nd stove"))
    problem.add_trajectory_constraint(constraint(hot))
    assert validated(problem, plan(problem, steps)).status is (Status.VALID if satisfied else Status.INVALID)


def test_several_trajectory_constraints() -> None:
    problem = kitchen()
    hot = problem.fluent("is hot")(problem.object("2nd stove"))
    problem.add_trajectory_constraint(Sometime(hot))
    problem.add_trajectory_constraint(AtMostOnce(hot))
    assert validated(problem, plan(problem, [ON, GO])).status is Status.VALID
    assert validated(problem, plan(problem, [ON, OFF, ON, GO])).status is Status.INVALID
    assert len(problem.trajectory_constraints) == 2  # the caller's problem is left as it was


def test_numbers_are_exact() -> None:
    level = Fluent("level", IntType())
    fill = InstantaneousAction("fill")
    fill.add_increase_effect(level, 1)
    problem = Problem("tank")
    problem.add_fluent(level, default_initial_value=0)
    problem.add_action(fill)
    problem.add_goal(Equals(level, 3))
    assert validated(problem, plan(problem, [("fill",)] * 3)).status is Status.VALID
    assert validated(problem, plan(problem, [("fill",)] * 2)).reason is Reason.UNSATISFIED_GOALS


def heating() -> Problem:
    warm, busy = Fluent("warm", BoolType()), Fluent("busy", BoolType())
    heat = DurativeAction("heat")
    heat.set_closed_duration_interval(2, 4)
    heat.add_condition(StartTiming(), Not(busy))
    heat.add_effect(StartTiming(), busy, True)
    heat.add_effect(EndTiming(), busy, False)
    heat.add_effect(EndTiming(), warm, True)
    problem = Problem("heating")
    for fluent in (warm, busy):
        problem.add_fluent(fluent, default_initial_value=False)
    problem.add_action(heat)
    problem.add_goal(warm)
    return problem


def timed(problem: Problem, *steps: tuple[str, str]) -> TimeTriggeredPlan:
    return TimeTriggeredPlan(
        [(Fraction(start), ActionInstance(problem.action("heat")), Fraction(length)) for start, length in steps]
    )


def test_timed_plans() -> None:
    problem = heating()
    assert validated(problem, timed(problem, ("0.5", "3"))).status is Status.VALID
    too_short = validated(problem, timed(problem, ("1", "1.5")))
    assert (too_short.status, too_short.reason) == (Status.INVALID, Reason.INAPPLICABLE_ACTION)
    overlapping = timed(problem, ("4", "3"), ("1", "3.5"))
    result = validated(problem, overlapping)
    assert result.reason is Reason.INAPPLICABLE_ACTION
    assert result.inapplicable_action is overlapping.timed_actions[0][1]  # the later one, though written first


def test_a_time_without_an_exact_decimal_gives_no_verdict() -> None:
    problem = heating()
    assert validated(problem, timed(problem, ("1/3", "3"))).status is Status.UNKNOWN


def test_agrees_with_the_validator_of_unified_planning() -> None:
    problem = kitchen()
    problem.add_goal(
        Or(problem.fluent("is hot")(problem.object("2nd stove")), Not(problem.fluent("at")(problem.object("hall"))))
    )
    for steps in ([GO], [ON, GO], [GO, ON], [ON], [], [ON, OFF, GO]):
        with PlanValidator(name="sequential_plan_validator") as reference_validator:
            expected = reference_validator.validate(problem, plan(problem, steps)).status
        assert validated(problem, plan(problem, steps)).status is expected


@pytest.mark.filterwarnings("ignore:We cannot establish")
def test_a_task_beyond_pddl_gives_no_verdict() -> None:
    problem = Problem("bounded")
    level = Fluent("level", IntType(0, 3))
    problem.add_fluent(level, default_initial_value=0)
    problem.add_goal(Equals(level, 0))
    result = validated(problem, SequentialPlan([], problem.environment))
    assert result.status is Status.UNKNOWN
    assert [log.message for log in result.log_messages or ()] == ["not supported: BOUNDED_TYPES"]
