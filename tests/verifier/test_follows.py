"""What follows from a failed step is told apart from what stands by itself (docs/language.md, section 6)."""

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


def judged(plan: str, *rules: str, init: str = "", goal: str = "(and)") -> Report:
    texts = [safety(*rules)] if rules else []
    return check(DOMAIN, problem(objects="a b - cup", init=init, goal=goal), plan, *texts)


def told(report: Report) -> list[tuple[str, int, tuple[int, ...]]]:
    return [(finding.rule or finding.code, finding.step, finding.follows) for finding in report.findings]


def found(report: Report, name: str) -> Finding:
    (finding,) = [f for f in report.findings if name in (f.rule, f.code)]
    return finding


def test_what_is_found_if_the_step_is_skipped_follows_from_it() -> None:
    report = judged("(heat a) (take b)", "(:process cold :on (take ?x) :require (hot a))", init="(on b)")
    assert told(report) == [("SC301", 1, ()), ("cold", 2, (1,))]
    assert report.findings[1].readings == ("skip",)


def test_a_step_that_fails_whatever_becomes_of_the_first_stands_by_itself() -> None:
    assert told(judged("(take a) (take b)")) == [("SC301", 1, ()), ("SC301", 2, ())]
    assert told(judged("(put a) (put a) (take a) (take a)")) == [("SC301", 2, ()), ("SC301", 4, ())]
    assert told(judged("(take a) (put b) (put b)")) == [("SC301", 1, ()), ("SC301", 3, ())]


def test_the_end_of_a_plan_that_stopped_is_no_end() -> None:
    report = judged("(put a) (heat a) (put a) (take a)", "(:termination off :parameters (?x - cup) :forbid (on ?x))")
    finding = found(report, "off")
    assert (finding.readings, finding.follows) == (("halt",), (3,))
    assert finding.message == "rule `off` is violated where the plan stops, before step 3"


def test_a_rule_that_is_broken_whatever_becomes_of_the_step_stands_by_itself() -> None:
    report = judged("(put a) (heat a) (put a) (take a)", OFF)
    assert told(report) == [("SC301", 3, ()), ("off", 4, ()), ("off", 2, (3,))]
    assert report.findings[1].readings == ("skip", "force")
    assert report.findings[1].message == "rule `off` is violated at the end of the plan"


def test_what_was_broken_before_the_plan_stops_stands_by_itself() -> None:
    report = judged("(put a) (put a)", "(:process none :parameters (?x - cup) :forbid (on ?x))")
    assert sorted(told(report), key=str) == [("SC301", 2, ()), ("none", 1, ())]


@pytest.mark.parametrize("wrong", ["(pour a)", "(fill)"])
def test_of_a_step_without_effects_nobody_knows_what_would_be(wrong: str) -> None:
    """An ill-formed step, or one that reads an undefined number, is left out under skip and under force."""
    report = judged(f"{wrong} (take a)")
    assert [(f.step, f.readings, f.follows) for f in report.findings] == [
        (1, ("halt", "skip", "force"), ()),
        (2, ("skip", "force"), (1,)),
    ]


def test_every_ill_formed_step_stands_by_itself() -> None:
    assert [(f.step, f.follows) for f in judged("(pour a) (take a) (pour b)").findings] == [(1, ()), (3, ()), (2, (1,))]


@pytest.mark.parametrize(("plan", "follows"), [("(take a) (put b)", (1,)), ("(take a)", ())])
def test_the_goal(plan: str, follows: tuple[int, ...]) -> None:
    finding = found(judged(plan, goal="(on b)"), "SC310")
    assert finding.follows == follows
    assert ("it is also not reached if the failed steps are skipped or forced" in finding.notes) == (not follows)


def test_timed_plans_stop_at_a_time() -> None:
    report = judged("0: (boil a) [3] 1: (take a) 4: (put b)", init="(on a)", goal="(on b)")
    assert told(report) == [("SC306", 1, ()), ("SC310", 1, (1,))]
    assert report.findings[1].message == "the goal is not reached where the plan stops, after time 0"


def test_what_stands_by_itself_is_listed_first() -> None:
    plan = "(pour a)" + " (take a)" * 150 + " (pour b)"
    report = judged(plan)
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
    report = judged(plan, "(:process none :parameters (?x - cup) :forbid (on ?x))")
    assert report.safe is safe
    assert {reading.safe for reading in report.readings} == {safe}


def test_nothing_follows_where_no_step_fails() -> None:
    assert told(judged("(put a) (heat a)", OFF, goal="(on b)")) == [("off", 2, ()), ("SC310", 2, ())]
