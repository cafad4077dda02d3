"""Timed plans: generated code executes isolated happenings with the same result as the general definition."""

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
    """The same task with the rules of the problem alone, which are about states, not steps."""
    return candidate._replace(rules=())


def without_rules(candidate: Case) -> Case:
    """The same task without rules."""
    return candidate._replace(laws=(), constraints=(), rules=())


def stretched(plan: Plan, factor: int) -> Plan:
    """A plan with more time between its steps, so that more happenings are isolated."""
    return tuple([step._replace(time=(step.time or Fraction(0)) * factor) for step in plan])


def compare(both: Both, plan: Plan) -> None:
    """Both replays of a plan have the same outcome in every reading."""
    read = both.checker.read(Source("p", plan_text(plan)))
    engine = both.checker.engine
    assert read.timed is not None
    for reading in (HALT, SKIP, FORCE):
        outcomes = []
        for kind in (FastTimedReplay, TimedReplay):
            run = kind(engine, reading, read.timed, both.checker.compiled.find_tolerance(read))
            run.run()
            outcome = run.finish(len(read.steps))
            outcomes.append((outcome._replace(state=None), outcome.state.key(), run.rounded_steps))  # type: ignore[arg-type]
        assert outcomes[0] == outcomes[1]


@pytest.fixture
def fast_events(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """For each isolated event, whether the generated code executed it."""
    out: list[bool] = []
    take = IsolatedEvents._take

    def counted(self: IsolatedEvents, step: TimedStep, ground: GroundCode, ends: int) -> bool:
        out.append(take(self, step, ground, ends))
        return out[-1]

    monkeypatch.setattr(IsolatedEvents, "_take", counted)
    return out


@pytest.mark.slow
@pytest.mark.parametrize("stream", ["timed", "clashes"])
def test_both_replays_agree(stream: str, fast_events: list[bool]) -> None:
    for number in range(40):
        candidate = without_rules(case(stream, 20, number))
        both = Both(candidate)
        for plan in candidate.plans[:3]:
            if plan and not both.problem:
                compare(both, plan)
                compare(both, stretched(plan, 3))
                differences = both.differences(plan)
                assert [text for text in differences if not text.startswith("safe:")] == []  # the case has no rules
    assert fast_events.count(True) > 100
    assert fast_events.count(False) > 0  # the general definition executes the others


def test_both_replays_agree_under_rules_about_states(fast_events: list[bool]) -> None:
    for number in range(6):
        candidate = about_states(case("timed", 21, number))
        both = Both(candidate)
        for plan in candidate.plans[:1]:
            if plan and not both.problem:
                compare(both, stretched(plan, 2))
    assert fast_events.count(True) > 20
