"""Plans without a goal: purpose steps are kept, and steps that a new step would undo are deleted."""

from __future__ import annotations

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.repair.api import repair
from plansafe.verifier.repair.model import RepairOptions, RepairStatus, Weights
from plansafe.verifier.repair.plan_purpose import (
    ACTIONS_SOURCE,
    DESCRIPTION_SOURCE,
    LAST_EFFECT_SOURCE,
    TITLE_SOURCE,
    PurposeHints,
    find_plan_purpose,
)

DOMAIN = """
(define (domain den)
  (:types stove soap washer - object)
  (:predicates (on ?s - stove) (running ?w - washer) (inside ?x - soap ?w - washer) (held ?x - soap) (asleep))
  (:action switch-on :parameters (?s - stove) :precondition (not (on ?s)) :effect (on ?s))
  (:action switch-off :parameters (?s - stove) :precondition (on ?s) :effect (not (on ?s)))
  (:action grab :parameters (?x - soap) :precondition (not (held ?x))
    :effect (and (held ?x) (forall (?w - washer) (not (inside ?x ?w)))))
  (:action put-in :parameters (?x - soap ?w - washer) :precondition (held ?x)
    :effect (and (inside ?x ?w) (not (held ?x))))
  (:action run :parameters (?w - washer) :effect (running ?w))
  (:action sleep :parameters () :effect (asleep)))
"""
RULES = """
(define (safety den)
  (:process no-sleep-beside-heat :parameters (?s - stove) :forbid (and (asleep) (on ?s)))
  (:process no-soap-in-the-washer :parameters (?x - soap ?w - washer) :forbid (and (running ?w) (inside ?x ?w))))
"""


def checker(goal: str = "") -> Checker:
    problem = f"""
(define (problem p) (:domain den) (:objects hob - stove bar - soap drum - washer)
  (:init (on hob)) (:goal {goal or "(and)"}))
"""
    checker_of_task = Checker(Source("d.pddl", DOMAIN), Source("p.pddl", problem), [Source("r.safe", RULES)])
    assert checker_of_task.ok, checker_of_task.diagnostics
    return checker_of_task


def first_repaired_plan(plan: str, options: RepairOptions, goal: str = "") -> str:
    result = repair(checker(goal), Source("x.plan", plan), options)
    assert result.status is RepairStatus.FOUND
    return result.repairs[0].text.replace("\n", " ").strip()


PURPOSE_OPTIONS = RepairOptions(
    purpose_hints=PurposeHints(frozenset({"sleep", "run"})), weights=Weights(substitute=2, move=2)
)


def test_a_purpose_step_is_kept() -> None:
    assert first_repaired_plan("(sleep)", PURPOSE_OPTIONS) == "(switch-off hob) (sleep)"


def test_a_step_that_a_new_step_would_undo_is_deleted() -> None:
    plan = "(switch-off hob) (grab bar) (put-in bar drum) (run drum)"
    assert first_repaired_plan(plan, PURPOSE_OPTIONS) == "(switch-off hob) (grab bar) (run drum)"
    assert (
        first_repaired_plan(plan, RepairOptions()) == "(switch-off hob) (grab bar) (put-in bar drum)"
    )  # nothing is washed


def test_a_goal_replaces_the_purposes() -> None:
    assert first_repaired_plan("(sleep) (grab bar)", PURPOSE_OPTIONS, "(held bar)") == first_repaired_plan(
        "(sleep) (grab bar)", RepairOptions(), "(held bar)"
    )


def test_purposes_are_dropped_if_no_repair_keeps_them() -> None:
    options = PURPOSE_OPTIONS._replace(purpose_hints=PurposeHints(frozenset({"put-in", "run"})), max_cost=1)
    stuck = "(switch-off hob) (grab bar) (put-in bar drum) (run drum)"
    assert first_repaired_plan(stuck, options) == "(switch-off hob) (grab bar) (put-in bar drum) (grab bar) (run drum)"
    protected_options = RepairOptions(
        purpose_hints=PurposeHints(frozenset({"sleep", "grab", "switch-off"})), max_cost=1
    )
    assert (
        first_repaired_plan("(grab bar) (sleep)", protected_options._replace(protected=frozenset({1})))
        == "(grab bar) (switch-off hob) (sleep)"
    )


# -- the purpose of a plan ---------------------------------------------------------------------------------------------


def purpose_of(plan: str, hints: PurposeHints) -> tuple[list[int], str]:
    purposeful_checker = checker()
    steps = purposeful_checker.read(Source("x.plan", plan)).steps
    purpose = find_plan_purpose(purposeful_checker.engine, steps, hints)
    return sorted(purpose.steps), purpose.source


DISHES = "(switch-off hob) (grab bar) (put-in bar drum) (run drum)"


def test_the_title_names_steps_by_verb_and_object() -> None:
    assert purpose_of(DISHES, PurposeHints(title="Turn off the hob")) == ([1], TITLE_SOURCE)
    assert purpose_of(DISHES, PurposeHints(title="Switch the stove off, then leave")) == ([1], TITLE_SOURCE)
    assert purpose_of(DISHES, PurposeHints(title="Placing a bar somewhere")) == ([3], TITLE_SOURCE)


def test_the_title_and_the_main_actions_add_up() -> None:
    hints = PurposeHints(frozenset({"run"}), "turn off the hob")
    assert purpose_of(DISHES, hints) == ([1, 4], f"{TITLE_SOURCE} and {ACTIONS_SOURCE}")


def test_the_description_counts_if_nothing_else_names_a_step() -> None:
    hints = PurposeHints(title="Laundry", description="I grab the bar and put it in the drum.")
    assert purpose_of(DISHES, hints) == ([3], DESCRIPTION_SOURCE)


def test_the_last_step_with_a_lasting_effect_is_the_purpose() -> None:
    other_hints = PurposeHints(frozenset({"iron"}))
    assert purpose_of(DISHES, other_hints) == ([4], LAST_EFFECT_SOURCE)
    tidied = "(run drum) (switch-off hob) (switch-on hob) (grab bar)"
    assert purpose_of(tidied, other_hints) == ([4], LAST_EFFECT_SOURCE)
    restored = "(run drum) (switch-off hob) (switch-on hob)"
    assert purpose_of(restored, other_hints) == ([1], LAST_EFFECT_SOURCE)


def test_without_main_actions_the_verbs_of_the_actions_decide() -> None:
    assert purpose_of("(sleep) (switch-on hob) (grab bar)", PurposeHints()) == ([1, 2], ACTIONS_SOURCE)


def test_steps_that_do_the_same_belong_to_the_purpose() -> None:
    assert purpose_of("(switch-off hob) (grab bar) (grab bar)", PurposeHints(title="take it"))[0] == [2, 3]
    assert purpose_of("(frobnicate)", PurposeHints(title="take it")) == ([], "")


def test_the_result_says_whether_the_purpose_is_kept() -> None:
    result = repair(checker(), Source("x.plan", "(sleep)"), PURPOSE_OPTIONS)
    assert (result.purpose.is_kept, result.purpose.steps) == (True, {1})
    dropped = repair(checker(), Source("x.plan", "(sleep)"), PURPOSE_OPTIONS._replace(weights=Weights(2), max_cost=1))
    assert dropped.status is RepairStatus.FOUND
    assert (dropped.purpose.is_kept, dropped.purpose.steps) == (False, {1})
    assert dropped.repairs[0].steps == ()


def test_only_the_last_step_of_the_purpose_is_kept_if_all_together_are_impossible() -> None:
    options = PURPOSE_OPTIONS._replace(
        purpose_hints=PurposeHints(frozenset({"put-in", "run"})),
        weights=Weights(insert=9, substitute=9, move=9),
        max_cost=8,
    )
    result = repair(checker(), Source("x.plan", DISHES), options)
    assert result.repairs[0].steps == ("(switch-off hob)", "(grab bar)", "(run drum)")
    assert (result.purpose.is_kept, result.purpose.steps) == (True, {4})
