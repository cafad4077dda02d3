"""Timed plans: durations, timed literals, interference (docs/language.md, section 3); preferences and metrics."""

from __future__ import annotations

import pytest
from engine_texts import check, checker, domain, problem, safety, verdict

from plansafe.verifier.kernel import Kernel

DOMAIN = domain(
    "(:durative-action boil :parameters (?x - thing) :duration (and (>= ?duration 2) (<= ?duration 4))"
    " :condition (and (at start (cold ?x)) (over all (lit)) (at end (lit)))"
    " :effect (and (at start (not (cold ?x))) (at end (hot ?x)) (at end (assign (g) ?duration))))",
    "(:durative-action watch :parameters (?x - thing) :duration (= ?duration 1)"
    " :effect (and (when (and (at start (cold ?x)) (at end (lit))) (at end (seen ?x)))"
    " (forall (?y - thing) (when (at start (hot ?y)) (at end (not (hot ?y)))))))",
    "(:action light :effect (lit))",
    "(:action douse :effect (not (lit)))",
    "(:action count :effect (increase (g) 1))",
    "(:action double :effect (scale-up (g) 2))",
    "(:action taste :parameters (?x - thing) :precondition (hot ?x) :effect (seen ?x))",
    predicates="(cold ?x - thing) (hot ?x - thing) (seen ?x - thing) (lit)",
    functions="(g)",
)


def run(plan: str, *rules: str, init: str = "(cold a) (lit)", goal: str = "()", more: str = "") -> str:
    specs = [safety(*rules)] if rules else []
    return verdict(
        check(DOMAIN, problem(more, objects="a b - thing", init=init + "(= (g) 0)", goal=goal), plan, *specs)
    )


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        ("0: (boil a) [3]", "VALID"),
        ("0: (boil a) [2]", "VALID"),
        ("0: (boil a) [1.9995]", "VALID"),
        ("0: (boil a) [1.99]", "INVALID SC305@1"),
        ("0: (boil a) [4.01]", "INVALID SC305@1"),
        ("0: (boil a) [3] 1: (douse)", "INVALID SC306@1 SC301@1"),
        ("0: (boil a) [3] 3: (douse)", "INVALID SC304@2"),
        ("0: (boil a) [3] 3.1: (douse)", "VALID"),
        ("0: (boil a) [3] 0: (boil a) [3]", "INVALID SC304@2"),
        ("0: (boil a) [3] 1: (boil a) [3]", "INVALID SC301@2"),
        ("2: (taste a) 0: (boil a) [3]", "INVALID SC301@2"),
        ("4: (taste a) 0: (boil a) [3]", "VALID"),
        ("3: (taste a) 0: (boil a) [3]", "INVALID SC301@2 SC304@2"),
        ("0: (count) 0: (count)", "VALID"),
        ("0: (count) 0: (double)", "INVALID SC304@2"),
        ("0: (light) 0: (light)", "VALID"),
        ("0: (light) 0: (douse)", "INVALID SC304@2"),
        (f"1{'0' * 400}: (boil a) [3]", "VALID"),
        (f"0: (light) 1{'0' * 400}: (boil a) [3]", "VALID"),
        (f"1{'0' * 400}: (light) 2{'0' * 400}: (taste a)", "INVALID SC301@2"),
        ("0: (light) 0.0005: (douse)", "INVALID SC304@2"),
        ("0: (light) 0.001: (douse)", "VALID"),
        ("-1: (light)", "INVALID SC406@1"),
        ("0: (light) [0]", "VALID"),
        ("0: (light) [0.5]", "VALID"),
        ("0: (light) [0.5 +- 0.1]", "INVALID SC406@1"),
        ("0.00000: (watch a) [1.00101]", "VALID"),
        ("0.00000: (watch a) [1.00102]", "INVALID SC305@1"),
        ("0: (watch a) [1.0011]", "INVALID SC305@1"),
    ],
)
def test_plans(plan: str, expected: str) -> None:
    assert run(plan) == expected


def test_steps_are_sorted_by_time() -> None:
    assert run("5: (taste a) 0: (boil a) [3]", goal="(and (seen a) (= (g) 3))") == "VALID"


def test_effects_of_one_time_add_up() -> None:
    assert run("0: (count) 0: (count) 1: (count)", goal="(= (g) 3)") == "VALID"


def test_conditions_at_the_start_guard_effects_at_the_end() -> None:
    assert run("0: (watch a) [1]", goal="(seen a)") == "VALID"
    assert run("0: (watch a) [1]", init="(lit)", goal="(not (seen a))") == "VALID"
    assert run("0: (watch a) [1] 0.5: (douse)", goal="(not (seen a))") == "VALID"
    assert run("0: (watch a) [1]", init="(hot b)", goal="(not (hot b))") == "VALID"
    # b becomes hot after the start: the value at the start does not change
    assert run("1: (boil a) [2] 2.5: (watch b) [1]", goal="(hot a)") == "VALID"
    assert run("1: (boil a) [2] 3.5: (watch b) [1]", goal="(hot a)") == "INVALID SC310@end"


def test_timed_literals() -> None:
    init = "(cold a) (at 2 (lit)) (at 6 (not (lit))) (at 1 (= (g) 7))"
    assert run("3: (boil a) [2]", init=init, goal="(hot a)") == "VALID"
    assert run("1: (boil a) [3]", init=init) == "INVALID SC306@1"
    assert run("3: (boil a) [4]", init=init) == "INVALID SC306@1 SC301@1"
    assert run("1.5: (count)", init=init, goal="(= (g) 8)") == "VALID"
    assert run("1: (count)", init=init) == "INVALID SC304@1"
    assert run("", init=init, goal="(not (lit))") == "VALID"  # later than the last action: does not happen
    assert run("(light) (light)", init=init, goal="(= (g) 7)") == "VALID"  # step i happens at time i


def test_a_timed_literal_of_time_0_is_part_of_s0() -> None:
    assert run("", "(:process r :forbid (lit))", init="(at 0 (lit))") == "UNSAFE r@0"


def test_a_timed_literal_that_is_given_twice_is_one() -> None:
    init = "(cold a) (lit) (at 1 (= (g) 1)) (at 1 (= (g) 1)) (at 1 (seen b)) (at 1 (seen b))"
    assert run("2: (douse)", init=init, goal="(and (= (g) 1) (seen b))") == "VALID"


def test_rules_about_durative_actions() -> None:
    plan = "0: (boil a) [3] 1: (light) 5: (light)"
    assert run(plan, "(:process r :on (boil ?x) :forbid ())") == "UNSAFE r(?x=a)@1"
    assert run(plan, "(:process r :at-end (boil ?x) :require-after (seen ?x))") == "UNSAFE r(?x=a)@1"
    assert run(plan, "(:process r :during (boil ?x) :forbid ())") == "UNSAFE r(?x=a)@1"
    assert run(plan, "(:process r :on (light) :forbid (action-during (boil _)))") == "UNSAFE r@2"
    assert run(plan, "(:trajectory r :formula (always-within 3 (cold a) (hot a)))") == "SAFE"
    assert run(plan, "(:trajectory r :formula (always-within 2 (cold a) (hot a)))") != "SAFE"


# -- preferences and metrics ------------------------------------------------------------------------------------------


def scores(
    goal: str, metric: str, plan: str, *, more: str = "", action: str = "()"
) -> tuple[str | None, dict[str, int]]:
    text = domain(
        "(:constants a b c - thing)",
        f"(:action do :parameters (?x - thing) :precondition {action} :effect (p ?x))",
        "(:action undo :parameters (?x - thing) :effect (not (p ?x)))",
        predicates="(p ?x - thing)",
    )
    task = problem(f"(:metric minimize {metric})", more, goal=goal)
    report = check(text, task, plan)
    assert verdict(report).startswith("VALID"), verdict(report)
    return report.metric, dict(report.preferences_violated)


def test_preferences_in_goals() -> None:
    goal = "(and (p a) (preference x (p b)) (forall (?y - thing) (preference y (p ?y))))"
    metric = "(+ (* 10 (is-violated x)) (is-violated y))"
    assert scores(goal, metric, "(do a)") == ("12", {"x": 1, "y": 2})
    assert scores(goal, metric, "(do a) (do b) (do c)") == ("0", {"x": 0, "y": 0})


def test_a_preference_over_a_quantifier_is_one() -> None:
    goal = "(preference y (forall (?y - thing) (p ?y)))"
    assert scores(goal, "(is-violated y)", "(do a)") == ("1", {"y": 1})


def test_preferences_in_preconditions_count_once_for_each_step() -> None:
    action = "(and (preference z (p a)) (forall (?y - thing) (preference w (p ?y))))"
    metric = "(+ (is-violated z) (* 100 (is-violated w)))"
    assert scores("()", metric, "(do b) (do a) (do c)", action=action) == ("602", {"z": 2, "w": 3 + 2 + 1})


def test_preferences_in_durative_conditions_count_once_for_each_step() -> None:
    text = domain(
        "(:constants a b - thing)",
        "(:action do :parameters (?x - thing) :effect (p ?x))",
        "(:action undo :parameters (?x - thing) :effect (not (p ?x)))",
        """(:durative-action wait :parameters (?x - thing) :duration (>= ?duration 1)
          :condition (and (preference s (at start (p ?x))) (preference e (at end (p ?x)))
            (forall (?y - thing) (preference o (over all (p ?y))))))""",
        predicates="(p ?x - thing)",
    )
    metric = "(+ (is-violated s) (+ (* 10 (is-violated e)) (* 100 (is-violated o))))"
    task = problem(f"(:metric minimize {metric})")
    satisfying = "0: (do a) 0.5: (do b) 1: (wait a) [5]"
    for plan, value in (
        (satisfying, 0),
        ("0: (wait a) [5]", 211),
        (f"{satisfying} 2: (undo b) 3: (do b) 4: (undo b)", 100),
        (f"{satisfying} 2: (undo a)", 110),
        (f"{satisfying} 6: (undo a)", 0),  # the end is read before it, and "over all" reaches no farther
        (f"{satisfying} 1: (wait b) [4] 2: (undo a)", 210),
        ("0: (wait a) [2] 3: (wait a) [2]", 422),
    ):
        report = check(text, task, plan)
        assert report.metric == str(value), plan
        violated = {name: n for name, n in report.preferences_violated if n}
        assert violated == {name: n for name, n in Kernel(text, task).audit(plan).preferences.items() if n}, plan


def test_preferences_in_constraints() -> None:
    soft = "(preference x (always (not (p a)))) (forall (?y - thing) (preference y (sometime (p ?y))))"
    more = f"(:constraints (and {soft}))"
    metric = "(+ (is-violated x) (* 10 (is-violated y)))"
    assert scores("()", metric, "(do b)", more=more)[0] == "20"
    assert scores("()", metric, "(do a) (undo a)", more=more)[0] == "21"


def test_total_time() -> None:
    assert run("0: (boil a) [3] 5: (light)", more="(:metric minimize (total-time))") == "VALID"
    report = check(DOMAIN, problem("(:metric minimize (total-time))", init="(= (g) 0)"), "2.5: (light)")
    assert report.metric == "5/2"
    report = check(DOMAIN, problem("(:metric minimize (+ total-time (g)))", init="(= (g) 0)"), "(count) (count)")
    assert report.metric == "4"


def test_constraints_with_forall() -> None:
    constraints = "(:constraints (forall (?x - thing) (and (at-most-once (seen ?x)) (always (not (hot ?x))))))"
    checked = checker(DOMAIN, problem(constraints, objects="a b - thing", init="(= (g) 0) (cold a) (lit)"))
    assert [rule.name for rule in checked.rules] == ["constraint-1"]
    assert run("0: (boil a) [3]", more=constraints) == "UNSAFE constraint-1(?x=a)@1"
    assert run("0: (watch a) [1]", more=constraints) == "SAFE"


def notes(plan: str) -> list[tuple[str, str]]:
    report = check(DOMAIN, problem(objects="a - thing", init="(= (g) 0)"), plan)
    return [(diagnostic.code, plan[slice(*diagnostic.labels[0].span)]) for diagnostic in report.diagnostics]


def test_a_duration_that_means_nothing_is_noted_once() -> None:
    assert notes("0: (light) [0] 1: (count) [1] 2: (count) [0.002]") == [("SC707", "(count)")]
    assert notes("0: (light) [0.001]") == []


def test_tolerated_rounding_is_noted() -> None:
    assert notes("0: (light) 0.00100: (douse)") == []
    assert notes("0: (light) 0.00099: (douse)") == [("SC708", "(douse)")]
    assert notes("0.000000: (watch a) [1.001001]") == [("SC708", "(watch a)")]
    assert notes("0: (count) 0.00099: (light)") == []


def test_a_late_stop_is_named_exactly() -> None:
    plan = f"1{'0' * 400}: (light) 2{'0' * 400}: (taste a)"
    report = check(DOMAIN, problem("", objects="a b - thing", init="(= (g) 0)", goal="(hot a)"), plan)
    assert any(f"after time 1{'0' * 400}" in finding.message for finding in report.findings)
