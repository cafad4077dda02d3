"""Timed plans: happenings that are apart are taken by generated code, as the general definition would take them."""

from __future__ import annotations

from fractions import Fraction

import pytest
from case import Case, Plan, plan_text
from compare import Both
from generate import case

from plansafe.grammar.source import Source
from plansafe.verifier.execution.replay import FORCE, HALT, SKIP
from plansafe.verifier.execution.steps import TimedStep
from plansafe.verifier.execution.timed import TimedReplay
from plansafe.verifier.execution.timed_fast import FastTimedReplay, GroundCode, IsolatedEvents


def about_states(candidate: Case) -> Case:
    """The same task with the rules of the problem alone, which do not ask what happens."""
    return candidate._replace(rules=())


def without_rules(candidate: Case) -> Case:
    """The same task with nothing that watches."""
    return candidate._replace(laws=(), constraints=(), rules=())


def stretched(plan: Plan, factor: int) -> Plan:
    """A plan with more time between its steps, so that more of it is apart."""
    return tuple([step._replace(time=(step.time or Fraction(0)) * factor) for step in plan])


def compare(both: Both, plan: Plan) -> None:
    """All that comes of a plan's readings is the same."""
    read = both.checker.read(Source("p", plan_text(plan)))
    engine = both.checker.engine
    assert read.timed is not None
    for reading in (HALT, SKIP, FORCE):
        found = []
        for kind in (FastTimedReplay, TimedReplay):
            run = kind(engine, reading, read.timed, both.checker.compiled.tolerance(read))
            run.run()
            outcome = run.outcome(len(read.steps))
            found.append((outcome._replace(state=None), outcome.state.key(), run.rounded))  # type: ignore[arg-type]
        assert found[0] == found[1]


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each event that is apart was taken as such, so far."""
    out: list[bool] = []
    take = IsolatedEvents._take

    def counted(self: IsolatedEvents, step: TimedStep, ground: GroundCode, ends: int) -> bool:
        out.append(take(self, step, ground, ends))
        return out[-1]

    monkeypatch.setattr(IsolatedEvents, "_take", counted)
    return out


@pytest.mark.slow
@pytest.mark.parametrize("stream", ["timed", "clashes"])
def test_the_same_comes_of_a_plan(stream: str, taken: list[bool]) -> None:
    for number in range(40):
        candidate = without_rules(case(stream, 20, number))
        both = Both(candidate)
        for plan in candidate.plans[:3]:
            if plan and not both.problem:
                compare(both, plan)
                compare(both, stretched(plan, 3))
                differences = both.differences(plan)
                assert [d for d in differences if not d.startswith("safe:")] == []  # there are no rules
    assert taken.count(True) > 100
    assert taken.count(False) > 0  # what was not as it should be was left to the general definition


def test_rules_about_states_see_the_same(taken: list[bool]) -> None:
    for number in range(6):
        candidate = about_states(case("timed", 21, number))
        both = Both(candidate)
        for plan in candidate.plans[:1]:
            if plan and not both.problem:
                compare(both, stretched(plan, 2))
    assert taken.count(True) > 20
