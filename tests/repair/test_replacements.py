"""Repairs that replace an object by another one of the same use."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest
from repair_random import task
from repair_replacements import compare_replacement_repairs, make_wrong_object_task

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.execution.steps import GroundAction, IllFormed
from plansafe.verifier.repair.api import repair
from plansafe.verifier.repair.limited_searches import LimitedSearches
from plansafe.verifier.repair.model import EditKind, RepairOptions, RepairResult, RepairStatus, SameUse, Weights
from plansafe.verifier.repair.plan_purpose import PurposeHints

DOMAIN = """
(define (domain laundry)
  (:types agent soap washer - object)
  (:predicates (held ?x - soap) (inside ?x - soap ?w - washer) (running ?w - washer) (foams ?x - soap)
    (old ?w - washer))
  (:action grab :parameters (?a - agent ?x - soap) :effect (held ?x))
  (:action put-in :parameters (?a - agent ?x - soap ?w - washer) :precondition (held ?x)
    :effect (and (inside ?x ?w) (not (held ?x))))
  (:action switch-on :parameters (?a - agent ?w - washer) :effect (running ?w)))
"""
PROBLEM = """
(define (problem p) (:domain laundry)
  (:objects ann - agent dish_soap tablet - soap washer_1 washer_2 - washer)
  (:init (foams dish_soap) (old washer_1)) (:goal {goal}))
"""
FOAM = "(:process no-foam :parameters (?x - soap ?w - washer) :forbid (and (running ?w) (inside ?x ?w) (foams ?x)))"
OLD = "(:process no-old-washer :parameters (?w - washer) :forbid (and (running ?w) (old ?w)))"
PLAN = "(grab ann dish_soap) (put-in ann dish_soap washer_1) (switch-on ann washer_1)"
SOAPS = SameUse("washing agent", frozenset({"dish_soap", "tablet"}))
WASHERS = SameUse("washer", frozenset({"washer_1", "washer_2"}))


def repaired(rules: str = FOAM, goal: str = "(and)", plan: str = PLAN, **changes: object) -> RepairResult:
    rule_source = Source("r.safe", f"(define (safety laundry) {rules})")
    options = Options(replay="always")
    checker = Checker(Source("d.pddl", DOMAIN), Source("p.pddl", PROBLEM.format(goal=goal)), [rule_source], options)
    assert checker.ok, checker.diagnostics
    defaults = RepairOptions(same_use=(SOAPS, WASHERS), purpose_hints=PurposeHints())
    return repair(checker, Source("x.plan", plan), defaults._replace(**changes))  # type: ignore[arg-type]


def text(result: RepairResult) -> str:
    assert result.status is RepairStatus.FOUND
    return " ".join(result.repairs[0].steps)


def test_a_harmless_object_of_the_same_use_replaces_a_dangerous_one() -> None:
    result = repaired()
    assert text(result) == "(grab ann tablet) (put-in ann tablet washer_1) (switch-on ann washer_1)"
    best = result.repairs[0]
    assert (best.cost, best.kinds, result.optimal, best.replayed) == (1, (EditKind.REPLACE,), True, True)
    assert [(edit.kind, edit.step, edit.position) for edit in best.edits] == [
        (EditKind.REPLACE, 1, 1),
        (EditKind.REPLACE, 2, 2),
    ]
    assert "tablet instead of dish_soap, for the same use (washing agent)" in best.edits[0].reason


def test_only_objects_of_the_same_use_replace_each_other() -> None:
    result = repaired(same_use=(WASHERS,))
    assert all(EditKind.REPLACE not in listed.kinds for listed in result.repairs)


def test_the_one_object_of_a_purpose_step_is_not_replaced() -> None:
    only_switched_on = "(switch-on ann washer_1) (grab ann tablet)"
    result = repaired(OLD, plan=only_switched_on)
    assert not result.purpose.is_kept  # no repair keeps the step, and without it another washer may run
    assert text(result) == "(switch-on ann washer_2) (grab ann tablet)"
    protected_result = repaired(OLD, plan=only_switched_on, protected=frozenset({1}))
    assert not protected_result.repairs


def test_protected_steps_keep_their_objects() -> None:
    result = repaired(protected=frozenset({2}))
    assert all("(put-in ann dish_soap washer_1)" in listed.steps for listed in result.repairs)


def test_a_replacement_and_a_further_edit() -> None:
    forgotten = "(put-in ann dish_soap washer_1) (switch-on ann washer_1)"
    result = repaired(goal="(exists (?x - soap) (and (inside ?x washer_1) (running washer_1)))", plan=forgotten)
    assert (result.repairs[0].cost, result.optimal, result.complete) == (2, True, True)
    assert "(grab ann tablet) (put-in ann tablet washer_1) (switch-on ann washer_1)" in {
        " ".join(listed.steps) for listed in result.repairs if EditKind.REPLACE in listed.kinds
    }


def test_the_weight_of_a_replacement_decides() -> None:
    dear = repaired(weights=Weights(replace=3))
    assert (dear.repairs[0].cost, dear.optimal) == (1, True)
    assert all(EditKind.REPLACE not in listed.kinds for listed in dear.repairs)
    cheap = repaired(weights=Weights(2, 2, 2, 2, replace=1))
    assert (cheap.repairs[0].cost, cheap.optimal, len(cheap.repairs)) == (1, True, 1)


def test_a_limit_makes_no_claim_about_replacements() -> None:
    result = repaired(time_limit_s=0.0)
    assert not (result.status is RepairStatus.FOUND and result.optimal and result.repairs[0].cost > result.bound)


def test_no_search_begins_after_the_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each replacement has a search of its own, after the search for repairs of the plan itself."""
    create, searched_steps = LimitedSearches.create, []

    def record_search(searches: LimitedSearches, steps: Sequence[GroundAction | IllFormed], **options: bool) -> object:
        searched_steps.append(steps)
        return create(searches, steps, **options)

    monkeypatch.setattr(LimitedSearches, "create", record_search)
    plan = "(put-in ann dish_soap washer_1) (switch-on ann washer_1)"
    goal = "(exists (?x - soap) (and (inside ?x washer_1) (running washer_1)))"
    repaired(goal=goal, plan=plan)
    assert any(steps != searched_steps[0] for steps in searched_steps)
    searched_steps.clear()
    result = repaired(goal=goal, plan=plan, time_limit_s=0.0)
    assert all(steps == searched_steps[0] for steps in searched_steps) and not result.optimal


@pytest.mark.parametrize("number", range(24))
def test_the_enumeration_agrees(number: int) -> None:
    assert compare_replacement_repairs(make_wrong_object_task(task(5, number), Random(number))) == []
