"""Plans without a goal: purpose steps are kept, and steps that a new step would undo are deleted."""

from __future__ import annotations

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.repair.api import repair
from plansafe.verifier.repair.model import RepairOptions, RepairStatus, Weights
from plansafe.verifier.repair.plan_purpose import PurposeHints

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
