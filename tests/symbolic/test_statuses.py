"""The status of each rule in a report over many worlds agrees with the enumeration of the worlds."""

from __future__ import annotations

import pytest
from worlds_compare import find_report_differences
from worlds_generate import generate_worlds_case

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.kernel import KernelLimit, KernelRejects
from plansafe.verifier.reporting.report import Headline, Report, Worlds

DOMAIN = """(define (domain d) (:predicates (p) (q) (g)) (:functions (f))
  (:action go :effect (g)) (:action clear :effect (not (g))) (:action need :precondition (p) :effect (g))
  (:action a-p :effect (p))
  (:action fill :effect (when (p) (increase (f) 2)))
  (:action drop :effect (oneof (and (when (q) (not (g)))) (and))))"""
BOTH = "(:termination no-p :forbid (p)) (:termination no-q :forbid (q))"


def check_plan(
    rules: str, plan: str, init: str, engine: str = "auto", constraints: str = "", goal: str = "(and)"
) -> Report:
    problem = f"(define (problem x) (:domain d) (:init {init}) (:goal {goal}) {constraints})"
    specs = [Source("s", f"(define (safety s) {rules})")] if rules else []
    report = Checker(Source("d", DOMAIN), Source("p", problem), specs, Options(engine=engine)).check(Source("x", plan))
    assert report.headline is not None, report.diagnostics
    return report


def statuses(report: Report) -> dict[str, str]:
    return {count.name: count.status for count in report.rules}


@pytest.mark.parametrize("plan", ["(go)", "1: (go)", "(define (plan x) (:steps (go) (go)) (:ordering))"])
def test_rules_violated_in_different_worlds_are_both_violated(plan: str) -> None:
    report = check_plan(BOTH, plan, "(oneof (p) (q))")
    assert statuses(report) == {"no-p": "violated", "no-q": "violated"}
    assert {(finding.rule, finding.worlds) for finding in report.findings} == {
        ("no-p", Worlds.SOME),
        ("no-q", Worlds.SOME),
    }


@pytest.mark.parametrize("plan", ["(go)", "1: (go)", "(define (plan x) (:steps (go) (go)) (:ordering))"])
def test_a_rule_violated_in_no_world_is_kept(plan: str) -> None:
    rules = "(:termination no-p :forbid (p)) (:termination never :forbid (and (p) (q)))"
    assert statuses(check_plan(rules, plan, "(oneof (p) (q))")) == {"no-p": "violated", "never": "kept"}


@pytest.mark.parametrize("plan", ["(need) (go)", "1: (need)\n2: (go)"])
def test_a_rule_about_a_step_executed_in_some_worlds_is_kept(plan: str) -> None:
    report = check_plan("(:process r :on (go) :require (g))", plan, "(unknown (p))")
    assert (report.executable, statuses(report)) == (Worlds.SOME, {"r": "kept"})
    assert report.rules[0].instances == 1


@pytest.mark.parametrize("engine", ["sat", "smt"])
def test_a_step_may_break_what_certainly_held_before_it(engine: str) -> None:
    report = check_plan("(:process r :on (clear) :require-after (g))", "(go) (clear)", "(unknown (p))", engine)
    assert (report.safe, statuses(report)) == (Worlds.NONE, {"r": "violated"})


@pytest.mark.parametrize("plan", ["(go)", "1: (go)"])
def test_preferences_have_statuses(plan: str) -> None:
    soft = "(:constraints (and (preference a (always (not (p)))) (preference b (always (not (q))))))"
    by_rule = statuses(check_plan("", plan, "(oneof (p) (g))", constraints=soft))
    assert by_rule == {"a": "preference violated", "b": "kept"}


@pytest.mark.parametrize("engine", ["sat", "smt"])
def test_an_undefined_number_makes_a_rule_undecided_only_if_it_matters(engine: str) -> None:
    constraints = "(:constraints (sometime-after (not (<= 1 (f))) (not (q))))"
    report = check_plan("", "", "", engine, constraints)
    assert (report.headline, statuses(report)) == (Headline.SAFE, {"constraint-1": "kept"})
    constraints = "(:constraints (sometime-after (not (<= 1 (f))) (q)))"
    report = check_plan("", "", "", engine, constraints)
    assert (report.headline, statuses(report)) == (Headline.UNKNOWN, {"constraint-1": "undecided"})


def test_each_rule_has_a_status_over_durations() -> None:
    domain = """(define (domain d) (:predicates (p) (q) (r))
      (:durative-action a :duration (>= ?duration 1) :effect (at end (p))) (:action c :effect (r)))"""
    problem = "(define (problem x) (:domain d) (:init) (:goal (p)))"
    rules = """(define (safety s)
      (:trajectory early :formula (within 3 (p))) (:trajectory late :formula (not (within 3 (p))))
      (:trajectory never :formula (within 9 (p))) (:process unused :on (c) :require (p)))"""
    checker = Checker(Source("d", domain), Source("p", problem), [Source("s", rules)])
    report = checker.check(Source("x", "0: (a) [3 +- 1]\n"))
    assert statuses(report) == {"early": "violated", "late": "violated", "never": "kept", "unused": "never applied"}


def test_a_step_reads_the_conditions_of_unselected_alternatives() -> None:
    report = check_plan("", "2: (drop)\n3: (go)", "(q) (at 2 (not (q)))")
    assert (report.executable, [finding.code for finding in report.findings]) == (Worlds.NONE, ["SC304"])


ANY_ORDER = "(define (plan x) (:steps {}) (:ordering))"


@pytest.mark.parametrize(
    ("plan", "init", "goal", "expected"),
    [
        ("(go)", "(unknown (p))", "(p)", Worlds.SOME),
        ("(go)", "(unknown (p))", "(q)", Worlds.ALL),
        ("1: (go)", "(unknown (p))", "(p)", Worlds.SOME),
        ("1: (go)", "(unknown (p))", "(q)", Worlds.ALL),
        (ANY_ORDER.format("(go) (go)"), "", "(q)", Worlds.ALL),
        (ANY_ORDER.format("(need) (go)"), "", "(and)", Worlds.ALL),
        (ANY_ORDER.format("(a-p) (need)"), "", "(and)", Worlds.SOME),
        (ANY_ORDER.format("(a-p) (need) (go) (need)"), "", "(and)", Worlds.SOME),
        (ANY_ORDER.format("(need)"), "(unknown (p))", "(and)", Worlds.SOME),
    ],
)
def test_a_finding_says_whether_all_worlds_have_it(plan: str, init: str, goal: str, expected: Worlds) -> None:
    report = check_plan("", plan, init, goal=goal)
    assert [finding.worlds for finding in report.findings] == [expected]


@pytest.mark.parametrize("engine", ["sat", "smt"])
@pytest.mark.parametrize(("limit", "status"), [(-3, "kept"), (-2, "violated")])
def test_numbers_may_be_negated(engine: str, limit: int, status: str) -> None:
    report = check_plan(f"(:termination r :require (> (- (f)) {limit}))", "(fill)", "(unknown (p)) (= (f) 0)", engine)
    assert statuses(report) == {"r": status}


WINDOWS = [f"(hold-during {begin} {end} (g))" for begin in (0, 1, 1.5) for end in (2, 2.5, 4)]
WINDOWS += [f"(hold-after {begin} (g))" for begin in (0, 0.5, 1, 2.5)]


@pytest.mark.parametrize("formula", WINDOWS)
@pytest.mark.parametrize("plan", ["(fill) (go)", "(go) (fill)", "(fill) (fill) (go)", "(fill) (go) (clear) (fill)"])
def test_windows_agree_with_each_world(formula: str, plan: str) -> None:
    rule = f"(:trajectory r :formula {formula})"
    in_worlds = {statuses(check_plan(rule, plan, init))["r"] for init in ("(= (f) 0)", "(p) (= (f) 0)")}
    in_all = statuses(check_plan(rule, plan, "(unknown (p)) (= (f) 0)", "sat"))["r"]
    assert in_all == ("violated" if "violated" in in_worlds else "kept")


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["timed", "one-order", "orders"])
def test_statuses_of_random_cases_agree_with_enumeration(mode: str) -> None:
    compared_cases = 0
    for number in range(25):
        case = generate_worlds_case(mode, 77, number)
        try:
            assert find_report_differences(case, ("auto",)) == [], case.show()
        except (KernelRejects, KernelLimit):
            continue
        compared_cases += 1
    assert compared_cases > 15
