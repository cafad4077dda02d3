"""The timeline of a plan against executions, which keep their monitors by another way, and against reports."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from pathlib import Path
from time import monotonic

import pytest

from plansafe.app.session.audit import Session
from plansafe.app.session.model import Prepared, Settings
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.one_world import NeedsOneWorld
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.reporting.fluent_courses import SAMPLE_COUNT
from plansafe.verifier.reporting.timeline import (
    AT_RISK,
    BREAKS,
    BROKEN,
    WATCHES,
    Timeline,
    TimelineRecorder,
    record_timeline,
)
from plansafe.verifier.symbolic.worlds.world_replay import close_task_and_plan

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("dinner", "fragile-glass", "metal-cup", "visit")
PLANS = [
    str(path.relative_to(ROOT)) for folder in FOLDERS for path in sorted((ROOT / "examples" / folder).glob("*.plan"))
]


SESSION = Session(Settings())


@cache
def prepared(path: str) -> Prepared:
    plan = SESSION.prepare(str(ROOT / path))
    assert isinstance(plan, Prepared)
    return plan


@cache
def plan_timeline(path: str) -> tuple[Checker, Timeline]:
    checker = (plan := prepared(path)).checker
    return checker, record_timeline(checker.compiled, checker.read(plan.plan))


def single_world(path: str) -> bool:
    checker = prepared(path).checker
    return not checker.is_open and not checker.read(prepared(path).plan).is_open


@pytest.mark.parametrize("path", PLANS)
def test_states_and_rules_are_those_of_an_execution(path: str) -> None:
    if not single_world(path):
        with pytest.raises(NeedsOneWorld):
            plan_timeline(path)
        return
    checker, line = plan_timeline(path)
    steps = checker.read(prepared(path).plan).steps
    state = dict(line.initial)
    execution = Execution.initial(checker.engine)
    for step, moment in zip(steps, line.letters[1:], strict=False):
        if not isinstance(step, GroundAction) or not execution.take(step):
            break  # an execution has no state after a failed step
        for change in moment.changes:
            assert state.get(change.what, "F") == change.before != change.after
            state[change.what] = change.after
        assert {fact for fact, value in state.items() if value == "T"} == facts(execution)
        assert _instances_at(line, BREAKS, moment.letter) == parts(checker, execution.new_violations)
        risky = parts(checker, execution.violations_at_end) - parts(checker, execution.lasting_violations)
        assert _instances_at(line, AT_RISK, moment.letter) == risky
    else:
        assert len(line.letters) == len(steps) + 1
        assert _instances_at(line, BREAKS, len(steps) + 1) == parts(checker, execution.violations_at_end) - parts(
            checker, execution.lasting_violations
        )


def facts(execution: Execution) -> set[str]:
    hidden = set(execution.engine.action_predicates.values())
    task = execution.task
    return {
        task.fact_text(predicate, code)
        for predicate, codes in enumerate(execution.state.facts)
        if predicate not in hidden
        for code in codes
    }


def parts(checker: Checker, instances: object) -> set[tuple[int, tuple[str, ...]]]:
    plan, task = checker.engine.rule_set, checker.engine.task
    return {(plan.parts[i.part].rule, tuple(sorted(task.names(i.binding)))) for i in instances}  # type: ignore[attr-defined]


def _instances_at(line: Timeline, state: str, letter: int) -> set[tuple[int, tuple[str, ...]]]:
    return {
        (track.rule, tuple(sorted([value for _, value in instance])))
        for track in line.tracks
        for look in track.spans
        if look.state == state and look.first <= letter <= look.last
        for instance in look.instances
    }


@pytest.mark.parametrize("path", PLANS)
def test_each_violation_of_a_report_breaks_its_rule_where_it_says(path: str) -> None:
    if not single_world(path):
        return
    checker, line = plan_timeline(path)
    report = checker.check(prepared(path).plan)
    end = len(line.letters)
    places = {moment.steps[0][0]: moment.letter for moment in line.letters[1:]}
    names = {rule.name: number for number, rule in enumerate(checker.rules)}
    for finding in report.findings:
        if finding.rule is None or ("force" not in finding.readings and len(report.readings) > 1):
            continue
        letter = end if finding.at_end else places.get(finding.step, 0)
        at = [
            look
            for track in line.tracks
            if track.rule == names[finding.rule]
            for look in track.spans
            if look.state == BREAKS
        ]
        assert any([look.first == letter and finding.binding in look.instances for look in at]), (finding, at)


def test_a_failed_step_and_the_steps_after_it_are_shown() -> None:
    _, line = plan_timeline("examples/dinner/hands-full.plan")
    failed = line.failures[0]
    assert failed.code == "SC301"
    assert [moment.steps[0][0] for moment in line.letters[1:]][-1] == len(line.steps) > failed.step
    assert line.complete


def test_a_lasting_violation_is_broken_until_it_ends() -> None:
    checker, line = plan_timeline("examples/dinner/stove-left-alone.plan")
    track = next(track for track in line.tracks if checker.rules[track.rule].name == "stove-attended")
    assert [(look.first, look.last, look.state) for look in track.spans] == [
        (21, 21, BREAKS),
        (21, 21, WATCHES),
        (22, 22, BROKEN),
    ]


DOMAIN = """(define (domain d) (:requirements :durative-actions :fluents)
  (:types lamp) (:predicates (lit ?l - lamp) (dark)) (:functions (used))
  (:durative-action shine :parameters (?l - lamp) :duration (= ?duration 4)
    :condition (at start (dark))
    :effect (and (at start (lit ?l)) (at end (not (lit ?l))) (at end (increase (used) 1))))
  (:action darken :parameters () :precondition (lit a) :effect (not (dark))))"""
PROBLEM = "(define (problem p) (:domain d) (:objects a b - lamp) (:init (dark) (= (used) 0)) (:goal (dark)))"
RULES = "(define (safety s) (:trajectory one-at-a-time :formula (always (not (and (lit a) (lit b))))))"


def timed(plan: str) -> Timeline:
    checker = Checker(Source("d", DOMAIN), Source("p", PROBLEM), [Source("s", RULES)])
    assert checker.ok, checker.diagnostics
    return record_timeline(checker.compiled, checker.read(Source("plan", plan)))


def test_timed_plans_have_starts_ends_numbers_and_tracks() -> None:
    line = timed("0: (shine a) [4]\n1: (shine b) [4]\n")
    assert [(step.text, step.time, step.duration) for step in line.steps] == [("(shine a)", 0, 4), ("(shine b)", 1, 4)]
    assert [(moment.time, moment.steps) for moment in line.letters] == [
        (0, ()),
        (0, ((1, "start"),)),
        (1, ((2, "start"),)),
        (4, ((1, "end"),)),
        (5, ((2, "end"),)),
    ]
    assert ("(used)", "1", "2") in line.letters[-1].changes
    (track,) = line.tracks
    assert [(look.first, look.last, look.state) for look in track.spans if look.state != WATCHES] == [(2, 2, BREAKS)]
    assert not line.failures


def test_interference_names_both_steps() -> None:
    line = timed("0: (shine a) [4]\n2: (shine b) [4]\n2: (darken)\n")
    assert [(failure.step, failure.code, failure.other, failure.time) for failure in line.failures] == [
        (3, "SC304", 2, 2)
    ]


def test_continuous_time_has_moments_events_and_courses() -> None:
    line = plan_timeline("examples/battery/both-rooms.plan")[1]
    stall = next(letter for letter in line.letters if letter.cause is not None and letter.cause.event)
    assert (stall.time, stall.cause and stall.cause.event) == (Fraction(73, 2), "event `(stall)`")
    assert stall.changes == (("(stalled)", "F", "T"),)
    (track,) = line.tracks
    (begin,) = [look.first for look in track.spans if look.state == BREAKS]
    cause = line.letters[begin].cause
    assert cause is not None and cause.is_interval and cause.time == "just after time 63/2"
    (course,) = line.courses
    assert course.fluent == "(charge)"
    assert [(bound.text, bound.rules, bound.steps) for bound in course.bounds] == [("10", (0,), ()), ("0", (), (3,))]
    assert [(point.when, point.text) for point in course.points][4:6] == [("63/2", "10"), ("73/2", "0")]
    assert line.failures[0][3:] == (0, Fraction(73, 2))


def test_numbers_in_an_interval_are_changes_of_its_end() -> None:
    line = plan_timeline("examples/bathtub/phone-call.plan")[1]
    level = "0"
    for letter in line.letters:
        for change in letter.changes:
            if change.what == "(level)":
                assert letter.cause is None or not letter.cause.is_interval
                assert change.before == level
                level = change.after
    assert level == "0"


def test_first_fluents_come_first() -> None:
    checker = Checker(
        Source("d", CONTINUOUS), Source("p", "(define (problem p) (:domain d) (:init (= (a) 0) (= (b) 0)) (:goal ()))")
    )
    read = checker.read(Source("plan", "0: (start)\n4: (stop)\n"))
    assert [course.fluent for course in record_timeline(checker.compiled, read).courses] == ["(a)", "(b)"]
    line = record_timeline(checker.compiled, read, first_fluents=["(on)", "(b)"])
    assert [course.fluent for course in line.courses] == ["(b)", "(a)"]
    curve = [(point.time, point.value) for point in line.courses[0].points]
    assert len(curve) == SAMPLE_COUNT + 2
    assert all(value == pytest.approx(time**2 / 2) for time, value in curve)


CONTINUOUS = """(define (domain d) (:predicates (on)) (:functions (a) (b))
  (:process p :precondition (on) :effect (and (increase (a) (* #t 1)) (increase (b) (* #t (a)))))
  (:action start :effect (on)) (:action stop :effect (not (on))))"""


def test_a_witness_has_a_timeline() -> None:
    plan = prepared("examples/two-robots/each-at-its-own-pace.plan")
    checker = plan.checker
    report = checker.check(plan.plan)
    assert report.worlds is not None
    for witness in report.worlds.witnesses:
        assert witness.completion is not None
        line = record_timeline(*close_task_and_plan(checker.compiled, checker.read(plan.plan), witness.completion))
        broken = {
            checker.rules[track.rule].name for track in line.tracks for look in track.spans if look.state == BREAKS
        }
        assert broken == {finding.rule for finding in report.findings}


def test_a_deadline_leaves_the_rest_out() -> None:
    plan = prepared("examples/dinner/stew-and-salad.plan")
    long = Source("long", plan.plan.text + "(open robot fridge kitchen) (close robot fridge kitchen)\n" * 300)
    line = record_timeline(plan.checker.compiled, plan.checker.read(long), deadline=monotonic() - 1)
    assert not line.complete
    assert 0 < len(line.letters) < 600


def test_a_late_recorder_stops_and_the_audit_goes_on() -> None:
    plan = prepared("examples/dinner/stew-and-salad.plan")
    recorder = TimelineRecorder(plan.checker.engine, deadline=monotonic() - 1)
    report = plan.checker.check(plan.plan, recorder=recorder)
    assert recorder.is_late
    assert len(recorder.letters) == 1
    assert report == plan.checker.check(Source(plan.plan.name, plan.plan.text))
