"""The fields of a repair besides its steps: reasons, ranges, proofs, limits, and fallbacks when time is short."""

from __future__ import annotations

from fractions import Fraction

import pytest

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.diagnose.api import diagnose
from plansafe.verifier.diagnose.model import ErrorClass
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.repair.api import repair
from plansafe.verifier.repair.attempt import RepairAttempt
from plansafe.verifier.repair.model import EditKind, RepairOptions, RepairStatus, Weights
from plansafe.verifier.repair.planner_repairs import align_plan, remove_needless_steps

DOMAIN = """
(define (domain kitchen)
  (:types room item - object)
  (:predicates (at ?r - room) (in ?x - item ?r - room) (holding ?x - item) (free) (clean ?x - item) (cut ?x - item))
  (:action go :parameters (?from ?to - room)
    :precondition (and (at ?from) (not (= ?from ?to))) :effect (and (not (at ?from)) (at ?to)))
  (:action take :parameters (?x - item ?r - room)
    :precondition (and (at ?r) (in ?x ?r) (free)) :effect (and (holding ?x) (not (in ?x ?r)) (not (free))))
  (:action put :parameters (?x - item ?r - room)
    :precondition (and (at ?r) (holding ?x)) :effect (and (in ?x ?r) (free) (not (holding ?x))))
  (:action wash :parameters (?x - item) :precondition (holding ?x) :effect (clean ?x))
  (:action slice :parameters (?x - item) :precondition (holding ?x) :effect (cut ?x)))
"""
PROBLEM = """
(define (problem lunch) (:domain kitchen)
  (:objects kitchen hall - room apple pear - item)
  (:init (at hall) (in apple kitchen) (in pear kitchen) (free))
  (:goal (and (cut apple) (in apple hall))))
"""
RULES = "(define (safety s) (:process washed :on (slice ?x) :require (clean ?x)))"


def checker(rules: str = RULES, problem: str = PROBLEM) -> Checker:
    kitchen_checker = Checker(Source("d", DOMAIN), Source("p", problem), [Source("s", rules)] if rules else [])
    assert kitchen_checker.ok, kitchen_checker.diagnostics
    return kitchen_checker


def plan(*steps: str) -> Source:
    return Source("lunch.plan", "\n".join(f"({step})" for step in steps))


SAFE_STEPS = ("go hall kitchen", "take apple kitchen", "wash apple", "slice apple", "go kitchen hall", "put apple hall")


def reasons(*steps: str, rules: str = RULES) -> list[tuple[str, str, str]]:
    result = repair(checker(rules), plan(*steps))
    assert result.status is RepairStatus.FOUND
    assert result.optimal
    return [(edit.kind.value, edit.after or edit.before, edit.reason) for edit in result.repairs[0].edits]


def test_the_reason_of_an_insertion_names_the_served_step() -> None:
    [edit] = reasons(*SAFE_STEPS[1:])
    assert edit == (
        "insert",
        "(go hall kitchen)",
        "gives (at kitchen) to `(take apple kitchen)` and gives (at kitchen) to `(go kitchen hall)`",
    )


def test_the_reason_of_an_insertion_names_the_served_rule() -> None:
    [edit] = reasons(*SAFE_STEPS[:2], *SAFE_STEPS[3:])
    assert edit == ("insert", "(wash apple)", "keeps rule `washed` for apple")


def test_the_reason_of_an_insertion_names_the_goal() -> None:
    [edit] = reasons(*SAFE_STEPS[:5])
    assert edit == ("insert", "(put apple hall)", "gives (in apple hall) to the goal")


def test_the_reason_of_a_move_names_the_failure_at_the_old_position() -> None:
    [edit] = reasons(SAFE_STEPS[0], SAFE_STEPS[2], SAFE_STEPS[1], *SAFE_STEPS[3:])
    assert edit[0] == "move"
    assert "at its old position" in edit[2]
    assert "(holding apple) is not true" in edit[2]


def test_the_reason_of_a_substitution_names_the_error_of_the_old_step() -> None:
    [edit] = reasons("go hall kitchn", *SAFE_STEPS[1:])
    assert edit[:2] == ("substitute", "(go hall kitchen)")
    assert edit[2].startswith("unknown object `kitchn`; the new step gives (at kitchen) to `(take apple kitchen)`")


def test_the_reason_of_a_deletion_names_the_effect_of_the_step() -> None:
    result = repair(checker(), plan(*SAFE_STEPS[:4], "put apple kitchen", *SAFE_STEPS[4:]))
    [edit] = next(repair.edits for repair in result.repairs if repair.edits[0].kind is EditKind.DELETE)
    assert edit.reason == "it makes `(put apple hall)` impossible: (holding apple) is not true"


def test_equal_insertions_are_listed_with_the_latest_position_first() -> None:
    result = repair(checker(""), plan("go hall kitchen", "take apple kitchen", "go kitchen hall", "put apple hall"))
    [edit] = result.repairs[0].edits
    assert edit.after == "(slice apple)"
    assert (edit.earliest, edit.position, edit.latest) == (3, 4, 4)
    assert [repair.edits[0].position for repair in result.repairs] == [4, 3]


def test_the_kernel_replays_the_first_repair() -> None:
    result = repair(checker(), plan(*SAFE_STEPS[1:]))
    assert result.repairs[0].replayed is True
    assert result.repairs[0].report.headline is not None


def test_protected_steps_are_kept() -> None:
    faulty = plan(*SAFE_STEPS[:4], "put apple kitchen", *SAFE_STEPS[4:])
    result = repair(checker(), faulty, RepairOptions(protected=frozenset([5])))
    assert result.repairs
    assert all("(put apple kitchen)" in repair.steps for repair in result.repairs)


@pytest.mark.slow
def test_a_goal_that_a_rule_forbids_is_proved_unsafe() -> None:
    rules = "(define (safety s) (:process whole :forbid (cut ?x) :parameters (?x - item)))"
    diagnosis = diagnose(checker(rules), plan(*SAFE_STEPS))
    assert diagnosis.repair.status is RepairStatus.PROVED_NONE
    assert {ErrorClass.IRREPARABLE, ErrorClass.UNSAFE_GOAL} <= set(diagnosis.classes)
    assert all(
        witness.text.startswith("PROVED") for witness in diagnosis.witnesses if witness.error is ErrorClass.UNSAFE_GOAL
    )


def test_a_goal_that_nothing_reaches_is_irreparable_and_not_unsafe() -> None:
    problem = PROBLEM.replace("(in apple kitchen)", "")
    diagnosis = diagnose(checker("", problem), plan("go hall kitchen"))
    assert ErrorClass.IRREPARABLE in diagnosis.classes
    assert ErrorClass.UNSAFE_GOAL not in diagnosis.classes
    assert diagnosis.repair.status is RepairStatus.PROVED_NONE


def test_a_violated_initial_state_is_a_proof_that_names_the_rule() -> None:
    rules = "(define (safety s) (:process tidy :forbid (in apple kitchen)))"
    result = repair(checker(rules), plan(*SAFE_STEPS))
    assert result.status is RepairStatus.PROVED_NONE
    assert "`tidy`" in result.detail


def test_at_the_cost_limit_no_repair_is_found_and_the_bound_is_higher() -> None:
    result = repair(checker(), plan("go hall kitchen"), RepairOptions(max_cost=2))
    assert result.status is RepairStatus.NOT_FOUND
    assert result.bound > 2


def test_an_expired_time_limit_makes_no_claim() -> None:
    result = repair(checker(), plan("go hall kitchen"), RepairOptions(time_limit_s=0.0))
    assert result.status in (RepairStatus.NOT_FOUND, RepairStatus.FOUND)
    assert not (result.status is RepairStatus.FOUND and result.optimal and result.repairs[0].cost > result.bound)


def test_a_repair_by_insertions_alone_keeps_every_step() -> None:
    kitchen_checker = checker()
    source = plan(*SAFE_STEPS[:2], "put apple kitchen", *SAFE_STEPS[2:])
    repairer = RepairAttempt(kitchen_checker, source, kitchen_checker.read(source).steps, RepairOptions())
    spare, _ = repairer._find_any_repair()
    assert spare is not None
    assert spare.source == "a search for insertions alone"
    assert set(spare.alignment.kinds) == {"insert"}
    assert repairer.verifier.is_safe(spare.alignment.steps)


def ground_steps(kitchen_checker: Checker, *steps: str) -> tuple[GroundAction, ...]:
    return tuple(step for step in kitchen_checker.read(plan(*steps)).steps if isinstance(step, GroundAction))


def test_the_plan_of_a_planner_is_aligned_with_the_original() -> None:
    kitchen_checker = checker()
    original = kitchen_checker.read(plan("go hall kitchen", "take pear kitchen", "slice apple", "put apple hall")).steps
    aligned = align_plan(original, ground_steps(kitchen_checker, *SAFE_STEPS), frozenset())
    assert aligned is not None
    assert aligned.origin == (1, 2, 0, 3, 0, 4)
    assert aligned.kinds == ("insert", "insert", "substitute")
    assert align_plan(original, ground_steps(kitchen_checker, *SAFE_STEPS), frozenset([2])) is None


def test_needless_new_steps_are_removed() -> None:
    kitchen_checker = checker()
    repairer = RepairAttempt(
        kitchen_checker, plan(*SAFE_STEPS), kitchen_checker.read(plan(*SAFE_STEPS)).steps, RepairOptions()
    )
    detour = ground_steps(kitchen_checker, "go hall kitchen", "take pear kitchen", "put pear kitchen", *SAFE_STEPS[1:])
    assert len(
        remove_needless_steps(detour, kitchen_checker.read(plan(*SAFE_STEPS)).steps, repairer.verifier.is_safe)
    ) in (6, 8)
    idle = ground_steps(kitchen_checker, *SAFE_STEPS[:3], "wash apple", *SAFE_STEPS[3:])
    assert len(remove_needless_steps(idle, [], repairer.verifier.is_safe)) == 6


@pytest.mark.parametrize("kind", ["insert", "delete", "substitute", "move"])
def test_a_costlier_kind_is_avoided_if_another_suffices(kind: str) -> None:
    faulty = plan(*SAFE_STEPS[:4], "put apple kitchen", *SAFE_STEPS[4:])
    weights = Weights(**{kind: 5})
    result = repair(checker(), faulty, RepairOptions(weights=weights))
    assert result.optimal
    assert kind not in {edit_kind.value for edit_kind in result.repairs[0].kinds}


def test_a_search_that_ends_at_a_limit_is_unknown_and_not_irreparable() -> None:
    diagnosis = diagnose(checker(), plan(*SAFE_STEPS[1:]), RepairOptions(max_cost=Fraction(1, 2)))
    assert diagnosis.repair.status is RepairStatus.NOT_FOUND
    assert ErrorClass.IRREPARABLE not in diagnosis.classes
    [witness] = [witness for witness in diagnosis.witnesses if witness.error is ErrorClass.UNKNOWN]
    assert witness.text.startswith(
        "NOT FOUND: no repair within the limits, and only repairs that cost less than 1 are ruled out"
    )


def test_an_audit_at_a_limit_accepts_no_repair_and_raises_no_error() -> None:
    slow = Checker(Source("d", DOMAIN), Source("p", PROBLEM), [Source("s", RULES)], Options(time_limit_s=1e-9))
    for limit in (30.0, 1e-9):
        result = diagnose(slow, plan(*SAFE_STEPS[1:]), RepairOptions(time_limit_s=limit)).repair
        assert (result.status, result.repairs) == (RepairStatus.NOT_FOUND, ())
