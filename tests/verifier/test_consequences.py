"""Findings that follow from a failed step are marked; the others are independent (docs/language.md, section 6)."""

from __future__ import annotations

import pytest
from engine_texts import check, domain, problem, safety

from plansafe.verifier.reporting.report import Finding, Report, Worlds

DOMAIN = domain(
    "(:action put :parameters (?x - cup) :precondition (not (on ?x)) :effect (on ?x))",
    "(:action take :parameters (?x - cup) :precondition (on ?x) :effect (not (on ?x)))",
    "(:action heat :parameters (?x - cup) :precondition (on ?x) :effect (hot ?x))",
    "(:action fill :effect (increase (level) 1))",
    "(:durative-action boil :parameters (?x - cup) :duration (= ?duration 3)"
    " :condition (over all (on ?x)) :effect (at end (hot ?x)))",
    types="cup - object",
    predicates="(on ?x - cup) (hot ?x - cup)",
    functions="(level) - number",
)
OFF = "(:termination off :parameters (?x - cup) :forbid (hot ?x))"
DRY = "(:process dry :on (take ?x) :require (once (action (put ?x))))"


def audit(plan: str, *rules: str, init: str = "", goal: str = "(and)") -> Report:
    texts = [safety(*rules)] if rules else []
    return check(DOMAIN, problem(objects="a b - cup", init=init, goal=goal), plan, *texts)


def consequences(report: Report) -> list[tuple[str, int, tuple[int, ...]]]:
    return [(finding.rule or finding.code, finding.step, finding.follows) for finding in report.findings]


def only_finding(report: Report, name: str) -> Finding:
    (finding,) = [finding for finding in report.findings if name in (finding.rule, finding.code)]
    return finding


def test_a_violation_under_skip_follows_from_the_failed_step() -> None:
    report = audit("(heat a) (take b)", "(:process cold :on (take ?x) :require (hot a))", init="(on b)")
    assert consequences(report) == [("SC301", 1, ()), ("cold", 2, (1,))]
    assert report.findings[1].readings == ("skip",)


def test_a_step_that_fails_in_every_reading_is_independent() -> None:
    assert consequences(audit("(take a) (take b)")) == [("SC301", 1, ()), ("SC301", 2, ())]
    assert consequences(audit("(put a) (put a) (take a) (take a)")) == [("SC301", 2, ()), ("SC301", 4, ())]
    assert consequences(audit("(take a) (put b) (put b)")) == [("SC301", 1, ()), ("SC301", 3, ())]


def test_a_stopped_plan_has_no_final_state() -> None:
    report = audit("(put a) (heat a) (put a) (take a)", "(:termination off :parameters (?x - cup) :forbid (on ?x))")
    finding = only_finding(report, "off")
    assert (finding.readings, finding.follows) == (("halt",), (3,))
    assert finding.message == "rule `off` is violated where the plan stops, before step 3"


def test_a_violation_in_every_reading_is_independent() -> None:
    report = audit("(put a) (heat a) (put a) (take a)", OFF)
    assert consequences(report) == [("SC301", 3, ()), ("off", 4, ()), ("off", 2, (3,))]
    assert report.findings[1].readings == ("skip", "force")
    assert report.findings[1].message == "rule `off` is violated at the end of the plan"


def test_a_violation_before_the_plan_stops_is_independent() -> None:
    report = audit("(put a) (put a)", "(:process none :parameters (?x - cup) :forbid (on ?x))")
    assert sorted(consequences(report), key=str) == [("SC301", 2, ()), ("none", 1, ())]


@pytest.mark.parametrize("wrong", ["(pour a)", "(fill)"])
def test_findings_after_a_step_without_effects_follow_from_it(wrong: str) -> None:
    """An ill-formed step, or one that reads an undefined number, is left out under skip and under force."""
    report = audit(f"{wrong} (take a)")
    assert [(finding.step, finding.readings, finding.follows) for finding in report.findings] == [
        (1, ("halt", "skip", "force"), ()),
        (2, ("skip", "force"), (1,)),
    ]


def test_every_ill_formed_step_is_independent() -> None:
    assert [(finding.step, finding.follows) for finding in audit("(pour a) (take a) (pour b)").findings] == [
        (1, ()),
        (3, ()),
        (2, (1,)),
    ]


@pytest.mark.parametrize(("plan", "follows"), [("(take a) (put b)", (1,)), ("(take a)", ())])
def test_the_goal(plan: str, follows: tuple[int, ...]) -> None:
    finding = only_finding(audit(plan, goal="(on b)"), "SC310")
    assert finding.follows == follows
    assert ("it is also not reached if the failed steps are skipped or forced" in finding.notes) == (not follows)


def test_timed_plans_stop_at_a_time() -> None:
    report = audit("0: (boil a) [3] 1: (take a) 4: (put b)", init="(on a)", goal="(on b)")
    assert consequences(report) == [("SC306", 1, ()), ("SC310", 1, (1,))]
    assert report.findings[1].message == "the goal is not reached where the plan stops, after time 0"


def test_independent_findings_are_listed_first() -> None:
    plan = "(pour a)" + " (take a)" * 150 + " (pour b)"
    report = audit(plan)
    assert [finding.step for finding in report.findings[:2]] == [1, 152]
    assert (len(report.findings), report.suppressed) == (100, 52)


@pytest.mark.parametrize(
    ("plan", "safe"),
    [
        ("(pour a)", Worlds.UNKNOWN),
        ("(take a) (pour a)", Worlds.UNKNOWN),
        ("(put a) (pour a)", Worlds.NONE),
        ("(take a)", Worlds.ALL),
    ],
)
def test_a_plan_with_an_ill_formed_step_is_not_known_to_be_safe(plan: str, safe: Worlds) -> None:
    report = audit(plan, "(:process none :parameters (?x - cup) :forbid (on ?x))")
    assert report.safe is safe
    assert {reading.safe for reading in report.readings} == {safe}


def test_no_finding_follows_if_no_step_fails() -> None:
    assert consequences(audit("(put a) (heat a)", OFF, goal="(on b)")) == [("off", 2, ()), ("SC310", 2, ())]
