"""Steps of one time, or nearly so, that read and write the same; what starts and ends at once. Engine and kernel."""

from __future__ import annotations

import pytest
from engine_texts import check, domain, problem, safety, verdict

from plansafe.verifier.api import Options
from plansafe.verifier.kernel import Kernel
from plansafe.verifier.reporting.report import FindingClass, Report

DOMAIN = domain(
    "(:derived (full ?x - thing) (>= (level ?x) 2))",
    "(:derived (some-full) (exists (?x - thing) (full ?x)))",
    "(:derived (haunted) (exists (?x - ghost) (p ?x)))",  # no object has this type
    "(:durative-action stir :parameters (?x - thing) :duration (= ?duration 2) :condition (at end (full ?x)))",
    "(:durative-action start :parameters (?x - thing) :duration (= ?duration 2) :condition (at start (some-full)))",
    "(:durative-action hold :parameters (?x - thing) :duration (= ?duration 2) :condition (over all (full ?x)))",
    "(:durative-action guess :parameters (?x - thing) :duration (= ?duration 2)"
    " :effect (at end (when (full ?x) (p ?x))))",
    "(:durative-action later :parameters (?x - thing) :duration (= ?duration 2)"
    " :effect (when (at start (full ?x)) (at end (p ?x))))",
    "(:durative-action known :parameters (?x - thing) :duration (= ?duration 2)"
    " :effect (when (and (at start (>= (level ?x) 2)) (at end (q ?x))) (at end (p ?x))))",
    "(:durative-action as-long :parameters (?x - thing) :duration (at start (= ?duration (level ?x))))",
    "(:durative-action so-long :parameters (?x - thing) :duration (at end (>= ?duration (level ?x))))",
    "(:durative-action flash :duration (>= ?duration 0) :effect (and (at start (lit)) (at end (seen))))",
    "(:action pour :parameters (?x - thing) :effect (assign (level ?x) 3))",
    "(:action heat :parameters (?x - thing) :effect (assign (warmth ?x) 3))",
    "(:action scare :precondition (not (haunted)))",
    "(:action set-p :parameters (?x - thing) :effect (p ?x))",
    "(:action set-q :parameters (?x - thing) :effect (q ?x))",
    "(:action need-p :parameters (?x - thing) :precondition (p ?x))",
    "(:action rise :parameters (?x - thing) :precondition (q ?x) :effect (increase (level ?x) 1))",
    "(:action twice :parameters (?x - thing) :effect (scale-up (level ?x) 2))",
    "(:action like :parameters (?x - thing) :precondition (preference wish (q ?x))"
    " :effect (and (when (or (p ?x) (>= (level ?x) 2)) (q ?x)) (p ?x)))",
    "(:durative-action long :duration (and (>= ?duration 1) (<= ?duration 1)) :effect (at start (lit)))",
    types="thing ghost - object",
    predicates="(p ?x - object) (q ?x - thing) (lit) (seen) (full ?x - thing) (some-full) (haunted)",
    functions="(level ?x - thing) (warmth ?x - thing)",
)
INIT = "(= (level a) 2) (= (warmth a) 1) (= (warmth b) 1)"  # the level of b is undefined


def audit(plan: str, *rules: str, init: str = INIT, goal: str = "()") -> tuple[str, Report]:
    """The verdict of the engine, after a comparison with the kernel."""
    task = problem(objects="a b - thing", init=init, goal=goal)
    specs = [safety(*rules)] if rules else []
    report = check(DOMAIN, task, plan, *specs, options=Options(replay="never"))
    theirs = Kernel(DOMAIN, task, specs).audit(plan)
    failed: dict[str, set[int]] = {"halt": set(), "skip": set(), "force": set()}
    for finding in report.findings:
        if finding.finding_class is FindingClass.INEXECUTABLE:
            for reading in finding.readings:
                failed[reading].add(finding.step)
    assert {reading: tuple(sorted(steps)) for reading, steps in failed.items()} == theirs.failed_steps
    assert report.headline is not None
    assert report.headline.value == theirs.headline
    invalid = report.headline.value == "INVALID"  # else the readings are one
    ours = {
        (finding.rule, finding.step, frozenset(finding.readings if invalid else ""))
        for finding in report.findings
        if finding.rule
    }
    assert ours == {
        (finding.rule, finding.step, frozenset(finding.readings if invalid else "")) for finding in theirs.findings
    }
    assert {n: c for n, c in report.preferences_violated if c} == {n: c for n, c in theirs.preferences.items() if c}
    return verdict(report), report


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        # a derived fact is read with the functions in its definition
        ("0: (stir a) [2] 2: (pour b)", "INVALID SC304@2"),
        ("0: (stir a) [2] 2: (pour a)", "INVALID SC304@2"),
        ("0: (stir b) [2] 2: (pour b)", "INVALID SC301@1 SC304@2"),
        ("0: (stir a) [2] 2: (heat a)", "VALID"),
        ("0: (stir a) [2] 2.001: (pour a)", "VALID"),
        ("1: (start b) [2] 1: (pour b)", "INVALID SC304@2"),
        ("1: (start b) [2] 1: (heat b)", "VALID"),
        ("0: (hold a) [2] 1: (pour a) 2: (pour a)", "VALID"),  # reads of over all conditions do not interfere
        ("0: (guess a) [2] 2: (pour b)", "INVALID SC304@2"),
        ("0: (guess a) [2] 0: (pour b)", "VALID"),
        ("0: (later a) [2] 0: (pour b)", "INVALID SC304@2"),
        ("0: (later a) [2] 2: (pour b)", "VALID"),
        ("1: (scare) 1: (set-p b)", "VALID"),
        # the fluent that constrains a duration is also read
        ("1: (as-long a) [2] 1: (pour a)", "INVALID SC304@2"),
        ("1: (as-long a) [2] 1: (pour b)", "VALID"),
        ("1: (as-long a) [2] 3: (pour a)", "VALID"),
        ("1: (so-long a) [2] 1: (twice a)", "INVALID SC305@1"),
        ("1: (so-long a) [2] 3: (twice a)", "INVALID SC304@2"),
        # a literal fails every action that interferes with it, before or after it
        ("2.9996: (need-p a) 5: (heat a)", "INVALID SC304@1"),
        ("3.0004: (set-p a) 5: (heat a)", "INVALID SC304@1"),
        ("3: (need-p a) 3: (need-p a) 5: (heat a)", "INVALID SC304@1 SC304@2"),
        # of two happenings, the later one fails
        ("0: (stir a) [2] 1.9996: (pour a)", "INVALID SC304@1"),
        ("0: (pour a) 0: (heat a) 0.0005: (twice a)", "INVALID SC304@3"),
    ],
)
def test_interference(plan: str, expected: str) -> None:
    init = INIT + ("(p a) (at 3 (not (p a)))" if "-p a" in plan else "")
    assert audit(plan, init=init)[0] == expected


def test_an_undefined_condition_at_the_start_fails_the_end_unless_another_condition_is_false() -> None:
    assert audit("0: (known a) [2] 1: (set-q a)", goal="(p a)")[0] == "VALID"
    assert audit("0: (known b) [2]")[0] == "VALID"
    assert audit("0: (known b) [2] 1: (set-q b)")[0] == "INVALID SC302@1"


def test_force_leaves_out_only_conflicting_effects() -> None:
    # 1 fails by its own condition alone; 2 and 3 change one fluent in ways that do not combine: the later is left out
    rules = ("(:process r :forbid (>= (level a) 3))", "(:process s :forbid (>= (level b) 3))")
    plan = "1: (rise a) 1: (pour b) 1: (twice b)"
    findings = audit(plan, *rules, init="(= (level a) 2) (= (level b) 2)")[1].findings
    assert [(finding.rule, sorted(finding.readings)) for finding in findings if finding.rule] == [
        ("s", ["force", "skip"]),
        ("r", ["force"]),
    ]


def test_preferences_count_for_executed_steps_once() -> None:
    assert audit("(like a) (like a) (like a)")[1].preferences_violated == (("wish", 1),)
    assert audit("(like b)")[0] == "INVALID SC302@1"
    assert audit("(set-p b) (like b)")[1].preferences_violated == (("wish", 1),)
    assert audit("1: (set-p b) 2: (like b) 2: (like b)")[0] == "INVALID SC304@3"


def test_an_action_of_no_duration_has_two_letters_at_one_time() -> None:
    late = "(:obligation r :when (lit) :then (seen) :within 0)"
    assert audit("1: (flash) [0]", late)[0] == "SAFE"
    assert audit("0: (flash) [0]", late)[0] == "SAFE"
    assert audit("1: (flash) [0.5]", late)[0] == "UNSAFE r@1"
    assert audit("1: (flash) [0]", "(:trajectory r :formula (within 1 (seen)))")[0] == "SAFE"
    assert audit("1: (flash) [0]", "(:trajectory r :formula (hold-after 1 (seen)))")[0] == "SAFE"
    assert audit("1: (flash) [0] 4: (heat a)", "(:trajectory r :formula (within 1 (p a)))")[0] == "UNSAFE r@1"
    assert audit("1: (long) [0] 2: (heat a)", "(:trajectory r :formula (within 1 (seen)))")[0].startswith("INVALID")
