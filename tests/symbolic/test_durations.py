"""Verdicts over all durations are as expected on small plans, and agree with the explicit engine on random plans."""

from __future__ import annotations

from fractions import Fraction
from time import monotonic

import pytest
from durations_random import compare_plans, generate_open_case

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.reporting.report import Worlds
from plansafe.verifier.symbolic.durations.duration_audit import DurationAudit, audit_durations
from plansafe.verifier.symbolic.worlds.verdict import WorldsVerdict
from quick import quick_every

SEED = 2026
DOMAIN = """(define (domain kitchen) (:types dish)
  (:predicates (hot ?d - dish) (served ?d - dish) (on ?d - dish) (door-open))
  (:functions (energy) (price))
  (:durative-action bake :parameters (?d - dish) :duration (and (>= ?duration 1) (<= ?duration 50)) :condition (and)
    :effect (and (at start (on ?d)) (at end (not (on ?d))) (at end (hot ?d))
                 (at end (increase (energy) (* 2 ?duration)))))
  (:durative-action rest :parameters (?d - dish) :duration (>= ?duration 0)
    :condition (over all (not (door-open))) :effect (and))
  (:durative-action count :parameters (?d - dish) :duration (>= ?duration 0) :condition (and)
    :effect (at end (assign (price) (* ?duration (energy)))))
  (:action serve :parameters (?d - dish) :precondition (hot ?d) :effect (served ?d))
  (:action open-door :parameters () :precondition (and) :effect (door-open)))"""
ALL, SOME, NONE, UNKNOWN = Worlds.ALL, Worlds.SOME, Worlds.NONE, Worlds.UNKNOWN
Intervals = dict[int, tuple[Fraction | int, Fraction | int]]


def create_checker(
    goal: str = "(and)", constraints: str = "", rules: str = "", init: str = "", options: Options | None = None
) -> Checker:
    problem = f"""(define (problem p) (:domain kitchen) (:objects a b c d e f g h - dish)
      (:init (= (energy) 0) (= (price) 1) {init}) (:goal {goal}) (:constraints (and {constraints})))"""
    specs = [Source("rules.safe", f"(define (safety s) {rules})")] if rules else []
    task = Checker(Source("domain.pddl", DOMAIN), Source("problem.pddl", problem), specs, options)
    assert task.ok, task.diagnostics
    return task


def audit_plan(task: Checker, plan: str, intervals: Intervals, deadline: float | None = None) -> WorldsVerdict:
    steps = task.read(Source("x.plan", plan)).timed
    assert steps is not None
    return audit_durations(task.compiled, steps, intervals, deadline)


def verdict_values(verdict: WorldsVerdict) -> tuple[Worlds, Worlds, Worlds]:
    return verdict.executable, verdict.goal, verdict.safe


@pytest.mark.parametrize("number", quick_every(10, range(50)))
def test_verdicts_on_random_plans_agree_with_the_explicit_engine(number: int) -> None:
    comparisons = compare_plans(generate_open_case(SEED, number), max_worlds=14, kernel_world_count=1)
    assert [difference for comparison in comparisons for difference in comparison.differences] == []


def test_random_plans_cover_all_some_and_none() -> None:
    comparisons = [c for number in range(6) for c in compare_plans(generate_open_case(SEED, number), max_worlds=0)]
    assert {ALL, SOME, NONE} <= {value for comparison in comparisons for value in comparison.values}
    assert max(comparison.runs for comparison in comparisons) > 3


def test_a_step_that_needs_an_effect_fails_if_the_action_ends_later() -> None:
    verdict = audit_plan(create_checker("(served a)"), "0: (bake a) [30]\n31: (serve a)\n", {1: (28, 32)})
    assert verdict_values(verdict) == (SOME, SOME, ALL)
    assert verdict.inexecutable_world is not None
    assert verdict.inexecutable_world.durations == ((1, 32),)
    early = audit_plan(create_checker("(served a)"), "0: (bake a) [30]\n31: (serve a)\n", {1: (28, 30)})
    assert verdict_values(early) == (ALL, ALL, ALL)


def test_separation_of_a_thousandth_is_required() -> None:
    plan = "0: (bake a) [30]\n31: (serve a)\n"
    last = Fraction(31) - Fraction(1, 1000)
    assert audit_plan(create_checker(), plan, {1: (28, last)}).executable is ALL
    assert audit_plan(create_checker(), plan, {1: (28, last + Fraction(1, 10**9))}).executable is SOME


def test_a_single_pair_of_equal_ends_changes_the_verdict() -> None:
    # One dish alone is hot at some time, unless both end at once.
    both = "(always (or (and (hot a) (hot b)) (and (not (hot a)) (not (hot b)))))"
    verdict = audit_plan(
        create_checker(constraints=both), "0: (bake a) [30]\n0: (bake b) [30]\n", {1: (29, 31), 2: (29, 31)}
    )
    assert verdict_values(verdict) == (ALL, ALL, SOME)
    apart = audit_plan(
        create_checker(constraints=both), "0: (bake a) [30]\n2: (bake b) [30]\n", {1: (29, 31), 2: (29, 31)}
    )
    assert apart.safe is SOME
    never = audit_plan(
        create_checker(constraints=both), "0: (bake a) [30]\n3: (bake b) [30]\n", {1: (29, 31), 2: (29, 31)}
    )
    assert never.safe is NONE


@pytest.mark.parametrize(
    ("bound", "expected"), [("33", ALL), ("32", ALL), ("31.999", SOME), ("28", SOME), ("27", NONE)]
)
def test_bounds_of_rules_are_exact(bound: str, expected: Worlds) -> None:
    task = create_checker(constraints=f"(within {bound} (hot a))")
    assert audit_plan(task, "0: (bake a) [30]\n40: (serve a)\n", {1: (28, 32)}).safe is expected


def test_a_deadline_between_two_open_ends_is_decided() -> None:
    task = create_checker(constraints="(always-within 3 (hot a) (hot b))")
    plan = "0: (bake a) [30]\n1: (bake b) [30]\n"
    assert audit_plan(task, plan, {1: (29, 31), 2: (28, 30)}).safe is ALL
    assert audit_plan(task, plan, {1: (29, 31), 2: (28, Fraction(311, 10))}).safe is SOME


def test_goals_about_numbers_that_durations_change_are_decided() -> None:
    plan = "0: (bake a) [30]\n1: (bake b) [30]\n"
    both: Intervals = {1: (29, 31), 2: (29, 31)}
    assert audit_plan(create_checker("(<= (energy) 124)"), plan, both).goal is ALL
    assert audit_plan(create_checker("(< (energy) 124)"), plan, both).goal is SOME
    assert audit_plan(create_checker("(= (energy) 119.5)"), plan, both).goal is SOME
    assert audit_plan(create_checker("(> (energy) 124)"), plan, both).goal is NONE


def test_a_condition_over_all_ends_with_its_action() -> None:
    plan = "0: (rest a) [5]\n6: (open-door)\n"
    assert audit_plan(create_checker(), plan, {1: (4, 6)}).executable is ALL
    assert audit_plan(create_checker(), plan, {1: (4, Fraction(601, 100))}).executable is SOME
    assert audit_plan(create_checker(), plan, {1: (7, 8)}).executable is NONE


def test_a_timed_literal_counts_only_if_the_plan_lasts_until_it() -> None:
    task = create_checker(constraints="(always (not (door-open)))", init="(at 30 (door-open))")
    assert audit_plan(task, "0: (bake a) [29]\n", {1: (28, 29)}).safe is ALL
    assert audit_plan(task, "0: (bake a) [29]\n", {1: (28, 30)}).safe is SOME
    assert audit_plan(task, "0: (bake a) [31]\n", {1: (30, 31)}).safe is NONE


def test_zero_and_negative_durations_are_not_executable() -> None:
    plan = "0: (rest a) [0.5]\n"
    assert audit_plan(create_checker(), plan, {1: (0, 1)}).executable is ALL
    assert audit_plan(create_checker(), plan, {1: (-1, 1)}).executable is SOME
    assert audit_plan(create_checker(), plan, {1: (-1, Fraction(-1, 2))}).executable is NONE
    assert audit_plan(create_checker(), "0: (open-door)\n", {1: (0, Fraction(1, 1000))}).executable is ALL
    assert audit_plan(create_checker(), "0: (open-door)\n", {1: (0, 1)}).executable is SOME


def test_independent_events_are_not_ordered() -> None:
    task = create_checker(
        constraints="(within 70 (hot a)) (forall (?d - dish) (always (or (on ?d) (not (served ?d)))))"
    )
    plan = "".join(f"{i}: (bake {dish}) [30]\n" for i, dish in enumerate("abcdefgh"))
    steps = task.read(Source("x.plan", plan)).timed
    assert steps is not None
    duration_audit = DurationAudit(task.compiled, steps, dict.fromkeys(range(1, 9), (20, 40)))
    duration_audit.run()
    assert duration_audit.complete_aspects == {"executable", "goal", "safe"}
    assert duration_audit.run_count == 1


def test_products_of_open_durations_are_unknown() -> None:
    plan = "0: (bake a) [30]\n35: (count b) [5]\n"
    verdict = audit_plan(create_checker("(<= (price) 100)"), plan, {1: (29, 31), 2: (4, 6)})
    assert verdict_values(verdict) == (UNKNOWN, UNKNOWN, UNKNOWN)
    assert "multiplies durations" in verdict.limits[0]
    linear = audit_plan(create_checker("(<= (price) 300)"), plan, {1: (29, 31)})  # a product with one open duration
    assert verdict_values(linear) == (ALL, SOME, ALL)
    assert linear.limits == ()


def test_a_rule_is_undecided_if_some_world_cannot_be_judged() -> None:
    """In the plan's own world, the count ends before the baking; in other worlds it multiplies two open durations."""
    task = create_checker(rules="(:process r :forbid (> (price) 10000))")
    verdict = audit_plan(task, "0: (bake a) [40]\n0: (count b) [30]\n", {1: (20, 45), 2: (25, 35)})
    assert verdict_values(verdict) == (UNKNOWN, UNKNOWN, UNKNOWN)
    assert [count.status for count in verdict.rules] == ["undecided"]


def test_the_verdict_is_unknown_after_the_deadline() -> None:
    verdict = audit_plan(create_checker(), "0: (bake a) [30]\n31: (serve a)\n", {1: (28, 32)}, monotonic() - 1)
    assert verdict_values(verdict) == (UNKNOWN, UNKNOWN, UNKNOWN)
    assert "time limit" in verdict.limits[0]


def test_pre_existing_violations_count_as_in_a_report() -> None:
    rules = "(:process cold :parameters (?d - dish) :forbid (hot ?d))"
    plan = "0: (bake a) [30]\n31: (serve a)\n"
    only_introduced = Options(judge="introduced")
    assert audit_plan(create_checker(rules=rules, options=only_introduced), plan, {1: (28, 30)}).safe is NONE
    hot = "(hot a)"  # in S0: the plan does not introduce a violation
    assert audit_plan(create_checker(rules=rules, init=hot, options=only_introduced), plan, {1: (28, 30)}).safe is ALL
    assert audit_plan(create_checker(rules=rules, init=hot), plan, {1: (28, 30)}).safe is NONE


WORKSHOP = """(define (domain workshop) (:types item)
  (:predicates (done ?i - item) (ready) (seen ?i - item) (warm ?i - item) (useful))
  (:functions (energy))
  (:derived (useful) (>= (energy) 5))
  (:durative-action work :parameters (?i - item) :duration (>= ?duration 0) :condition (and)
    :effect (and (at end (when (ready) (done ?i))) (at start (warm ?i)) (at end (not (warm ?i)))
                 (at end (increase (energy) ?duration))))
  (:durative-action late :parameters (?i - item) :duration (>= ?duration 0) :condition (and)
    :effect (when (at start (>= (energy) 5)) (at end (done ?i))))
  (:durative-action watch :parameters (?i - item) :duration (>= ?duration 0)
    :condition (over all (not (done ?i))) :effect (and (at start (seen ?i)) (at end (not (seen ?i)))))
  (:action prepare :parameters () :effect (ready))
  (:action check :parameters (?i - item) :effect (when (>= (energy) 5) (done ?i)))
  (:action finish :parameters (?i - item) :effect (done ?i)))"""


def create_workshop_checker(rules: str = "", goal: str = "(and)", constraints: str = "") -> Checker:
    problem = f"""(define (problem p) (:domain workshop) (:objects a b c - item) (:init (= (energy) 0)) (:goal {goal})
      (:constraints (and {constraints})))"""
    specs = [Source("rules.safe", f"(define (safety s) {rules})")] if rules else []
    task = Checker(Source("domain.pddl", WORKSHOP), Source("problem.pddl", problem), specs)
    assert task.ok, task.diagnostics
    return task


NEVER_DONE = "(:process open :parameters (?i - item) :forbid (done ?i))"


# In each case, the replay with the durations of the text meets all checks that the case is not about.
@pytest.mark.parametrize(
    ("rules", "plan", "intervals", "expected"),
    [
        pytest.param(NEVER_DONE, "0: (work a) [3]\n4: (prepare)\n", {1: (3, 5)}, SOME, id="effect after a fact"),
        pytest.param(NEVER_DONE, "0: (work a) [4]\n10: (check b)\n", {1: (4, 6)}, SOME, id="effect by a number"),
        pytest.param(NEVER_DONE, "0: (work a) [4]\n10: (late b) [1]\n", {1: (4, 6)}, SOME, id="condition at start"),
        pytest.param(
            "(:process enough :on (check ?i) :require (>= (energy) 5))",
            "0: (work a) [6]\n10: (check b)\n",
            {1: (4, 6)},
            SOME,
            id="number at a step",
        ),
        pytest.param(
            "(:process enough :on (check ?i) :require-after (useful))",
            "0: (work a) [6]\n10: (check b)\n",
            {1: (4, 6)},
            SOME,
            id="number that a derived fact depends on",
        ),
        pytest.param(
            "(:termination enough :require (>= (energy) 5))", "0: (work a) [6]\n", {1: (4, 6)}, SOME, id="number at end"
        ),
        pytest.param(
            "(:process order :parameters (?i ?j - item) :forbid (and (warm ?i) (seen ?j)))"
            "(:trajectory early :formula (within 4 (warm b)))"
            "(:trajectory soon :formula (sometime (not (warm a))))",
            "0: (work a) [4]\n4: (watch b) [1]\n",
            {1: (3, 5)},
            NONE,
            id="never early",
        ),
        pytest.param(
            "(:trajectory cold :formula (hold-after 4 (not (warm a))))"
            "(:trajectory pair :formula (sometime-before (done c) (warm a)))"
            "(:trajectory both :formula (at-most-once (or (warm a) (done c))))",
            "0: (work a) [4]\n4: (finish c)\n9: (finish b)\n",
            {1: (3, 5)},
            SOME,
            id="time of another event of the same happening",
        ),
        pytest.param(
            "(:trajectory answer :formula (forall (?i - item) (always-within 5 (warm ?i) (not (warm ?i)))))",
            "0: (work a) [7]\n2: (work b) [4]\n",
            {1: (4, 7)},
            SOME,
            id="deadline while others end",
        ),
        pytest.param(
            "(:trajectory last :formula (always (imply (warm a) (weak-next (weak-next (not (done b)))))))",
            "0: (work a) [1]\n2: (check c)\n3: (finish b)\n",
            {1: (1, 4)},
            SOME,
            id="counted letters",
        ),
        pytest.param(
            "(:process seldom :parameters (?i - item) :forbid (and (done ?i) (exists (?j - item) (warm ?j))))",
            "0: (work a) [3]\n1: (work b) [3]\n5: (finish c)\n",
            {1: (3, 6), 2: (3, 5)},
            SOME,
            id="state of several",
        ),
    ],
)
def test_every_event_that_decides_a_rule_is_found(
    rules: str, plan: str, intervals: Intervals, expected: Worlds
) -> None:
    verdict = audit_plan(create_workshop_checker(rules), plan, intervals)
    assert verdict.executable in (ALL, SOME)  # some ends are too close to a step that reads their effects
    assert verdict.safe is expected


def test_an_effect_during_a_condition_over_all_violates_it() -> None:
    plan = "0: (work a) [2]\n1: (prepare)\n3: (watch a) [2]\n"
    assert audit_plan(create_workshop_checker(), plan, {1: (2, 4)}).executable is NONE
    assert audit_plan(create_workshop_checker(), plan, {1: (4, 6)}).executable is SOME
    assert audit_plan(create_workshop_checker(), plan, {1: (6, 7)}).executable is ALL
    at_once = "0: (watch a) [6]\n4: (finish a)\n"
    assert (
        audit_plan(create_workshop_checker(), at_once, {1: (4, 6)}).executable is SOME
    )  # step 1 may end at the same time
    assert audit_plan(create_workshop_checker(), at_once, {1: (Fraction(41, 10), 6)}).executable is NONE


def test_goals_that_depend_on_numbers_and_event_orders_are_decided() -> None:
    assert audit_plan(create_workshop_checker(goal="(useful)"), "0: (work a) [6]\n", {1: (4, 6)}).goal is SOME
    assert (
        audit_plan(create_workshop_checker(goal="(done a)"), "0: (work a) [6]\n4: (prepare)\n", {1: (3, 6)}).goal
        is SOME
    )
    assert (
        audit_plan(create_workshop_checker(goal="(done a)"), "0: (work a) [6]\n4: (prepare)\n", {1: (5, 6)}).goal is ALL
    )


def test_events_at_the_time_of_a_failure_are_not_in_the_trace() -> None:
    # Item a is finished at 4. If step 1 lasts until then, an event at that time fails.
    plan = "0: (work b) [4]\n4: (finish a)\n4: (watch c) [1]\n4.5: (finish c)\n"
    verdict = audit_plan(create_workshop_checker(NEVER_DONE), plan, {1: (3, 5)})
    assert (verdict.executable, verdict.safe) == (NONE, NONE)
    early = "0: (finish c)\n1: (watch b) [3]\n4: (finish a)\n4: (watch c) [1]\n"
    rule = "(:process open :forbid (done a))"
    assert audit_plan(create_workshop_checker(rule), early, {2: (2, 4)}).safe is ALL


@pytest.mark.parametrize(("start", "executable"), [("2.00099", Worlds.ALL), ("2.00098", Worlds.SOME)])
def test_one_unit_of_the_last_decimal_is_accepted(start: str, executable: Worlds) -> None:
    domain = """(define (domain d) (:predicates (p) (q)) (:action use :precondition (p) :effect (q))
      (:durative-action make :duration (and (>= ?duration 1) (<= ?duration 2)) :effect (at end (p))))"""
    problem = "(define (problem p) (:domain d) (:goal (q)))"
    task = Checker(Source("d", domain), Source("p", problem))
    assert task.check(Source("x.plan", f"0: (make) [1.5 +- 0.5]\n{start}: (use)")).executable is executable
