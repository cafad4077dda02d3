"""A search for repairs that ends at a limit reports a lower bound, and never a cost that is proved least."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from plansafe.app.interfaces.agents import operations
from plansafe.app.interfaces.agents.worker_messages import Limits
from plansafe.app.render.repair import RepairRenderer
from plansafe.app.render.repair_json import RepairJsonRenderer
from plansafe.app.session.model import Settings
from plansafe.app.session.repair import ExaminationOptions, examine
from plansafe.app.system.terminal_text import Style
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.diagnose.api import diagnose
from plansafe.verifier.diagnose.model import ErrorClass
from plansafe.verifier.repair import edit_reasons
from plansafe.verifier.repair.api import repair
from plansafe.verifier.repair.model import RepairOptions, RepairStatus
from plansafe.verifier.reporting.report import Headline, Report

DOMAIN = """
(define (domain stacking)
  (:requirements :strips :negative-preconditions)
  (:predicates (on ?x ?y) (on-table ?x) (clear ?x) (gripper-empty) (held ?x))
  (:action lift :parameters (?x) :precondition (and (clear ?x) (on-table ?x) (gripper-empty))
    :effect (and (held ?x) (not (on-table ?x)) (not (clear ?x)) (not (gripper-empty))))
  (:action lower :parameters (?x) :precondition (held ?x)
    :effect (and (on-table ?x) (clear ?x) (gripper-empty) (not (held ?x))))
  (:action stack :parameters (?x ?y) :precondition (and (held ?x) (clear ?y))
    :effect (and (on ?x ?y) (clear ?x) (gripper-empty) (not (held ?x)) (not (clear ?y))))
  (:action unstack :parameters (?x ?y) :precondition (and (on ?x ?y) (clear ?x) (gripper-empty))
    :effect (and (held ?x) (clear ?y) (not (on ?x ?y)) (not (clear ?x)) (not (gripper-empty)))))
"""
PROBLEM = """
(define (problem tower) (:domain stacking)
  (:objects a b c d e f g h)
  (:init (on-table a) (on b a) (on c b) (on d c) (on-table e) (on f e) (on g f) (on h g) (clear d) (clear h)
    (gripper-empty))
  (:goal (and (on a e) (on b f) (on c g) (on d h)))
  (:constraints (always (not (on d a)))))
"""
SMALL = """
(define (problem small) (:domain stacking) (:objects a b c d)
  (:init (on-table a) (on b a) (on c b) (on d c) (clear d) (gripper-empty)) (:goal (and (on a b))))
"""
JUNK = Source("junk.plan", "(lift e)\n")
EMPTY = Source("empty.plan", "")
WORK = 20_000


def checker(problem: str = PROBLEM) -> Checker:
    compiled = Checker(Source("d", DOMAIN), Source("p", problem))
    assert compiled.ok, compiled.diagnostics
    return compiled


def test_without_a_cost_limit_a_costly_repair_is_found_with_a_lower_bound() -> None:
    result = repair(checker(), JUNK, RepairOptions(time_limit_s=None, max_work=WORK))
    assert result.status is RepairStatus.FOUND
    assert result.repairs[0].cost >= 20
    assert 0 < result.bound < result.repairs[0].cost
    assert not result.optimal
    assert "limit" in result.detail


def test_the_cost_limit_is_a_hard_bound() -> None:
    result = repair(checker(), JUNK, RepairOptions(time_limit_s=None, max_cost=8))
    assert (result.status, result.bound, result.repairs) == (RepairStatus.NOT_FOUND, 9, ())
    assert result.detail == "the search was limited to cost 8 (--max-cost)"


def test_a_work_limit_gives_deterministic_results() -> None:
    options = RepairOptions(time_limit_s=None, max_work=5_000)
    first, second = [repair(checker(), JUNK, options) for _ in range(2)]
    assert (first.bound, first.expanded, first.detail) == (second.bound, second.expanded, second.detail)
    assert [tie.steps for tie in first.repairs] == [tie.steps for tie in second.repairs]


@pytest.mark.parametrize("work", [0, 10, 100, 300, 1_000, 3_000, 10_000, 30_000])
def test_a_cost_is_never_proved_least_at_a_limit(work: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This holds in Python, on the terminal, in JSON and in the service; the least cost is 8."""
    options = RepairOptions(time_limit_s=None, max_work=work)
    result = repair(checker(SMALL), EMPTY, options)
    assert result.bound <= 8
    assert result.optimal == (result.status is RepairStatus.FOUND and result.bound == result.repairs[0].cost)
    assert not (result.optimal and "limit" in result.detail)

    (tmp_path / "d.pddl").write_text(DOMAIN)
    (tmp_path / "p.pddl").write_text(SMALL)
    settings = Settings(domain=str(tmp_path / "d.pddl"), problem=str(tmp_path / "p.pddl"), allow_no_rules=True)
    (done,) = examine([EMPTY], settings, ExaminationOptions(options))
    rendered = RepairRenderer(Style(False), changes=True).plan(done)
    assert not ("proved least" in rendered and "limit" in rendered)
    assert ("proved least" in rendered) == result.optimal
    monkeypatch.setattr(operations, "BOUNDED_WORK", work)
    body = json.dumps({"domain": DOMAIN, "problem": SMALL, "plan": ""}).encode()
    served = operations.perform("repair", body, operations.OperationContext(Limits(600, 2048, None)))
    for text in (RepairJsonRenderer(settings, "1").plan(done), served):
        answer = json.loads(text)
        assert (answer["optimal"], answer["bound"]) == (result.optimal, result.bound)
        assert not (answer["optimal"] and "limit" in answer["detail"])


def test_the_limit_for_ties_ends_the_search_at_the_repairs_of_least_cost() -> None:
    plan = Source("plan", "(unstack d c)\n")
    all_ties = repair(checker(SMALL), plan, RepairOptions(time_limit_s=None))
    assert (all_ties.bound, all_ties.optimal, all_ties.complete) == (7, True, True)
    some_ties = repair(checker(SMALL), plan, RepairOptions(time_limit_s=3600, max_tie_work=100))
    assert (some_ties.bound, some_ties.optimal, some_ties.complete) == (7, True, False)
    assert some_ties.expanded < all_ties.expanded


def test_a_repair_whose_audit_reaches_a_limit_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    plan, compiled = Source("plan", "(unstack d c)\n"), checker(SMALL)
    options = RepairOptions(time_limit_s=None)
    every_repair = repair(compiled, plan, options).repairs
    check = compiled.check
    left_out = every_repair[1].text

    def check_with_limit(plan: Source, *, confirm: bool = True, recorder: object = None) -> Report:
        report = check(plan, confirm=confirm)
        return report._replace(headline=Headline.UNKNOWN, limits=("a limit",)) if plan.text == left_out else report

    monkeypatch.setattr(compiled, "check", check_with_limit)
    result = repair(compiled, plan, options)
    assert [listed.text for listed in result.repairs] == [
        repair.text for repair in every_repair if repair.text != left_out
    ]
    assert (result.optimal, result.complete) == (True, False)


def test_a_diagnosis_at_a_limit_names_the_bound() -> None:
    diagnosis = diagnose(checker(), JUNK, RepairOptions(time_limit_s=None, max_cost=3))
    (unknown,) = [witness for witness in diagnosis.witnesses if witness.error is ErrorClass.UNKNOWN]
    assert "only repairs that cost less than 4 are ruled out" in unknown.text


def test_the_bound_is_reported_while_the_search_runs() -> None:
    bounds: list[float] = []
    repair(checker(), JUNK, RepairOptions(time_limit_s=None, max_cost=6), lambda bound, _: bounds.append(float(bound)))
    assert bounds == sorted(bounds)
    assert bounds[-1] >= 6


def test_only_the_first_deletions_of_a_repair_have_reasons(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edit_reasons, "_MAX_EXPLAINED_DELETIONS", 1)
    problem = "(define (problem tower) (:domain stacking) (:objects a) (:init) (:goal (and)))"
    checker = Checker(Source("d", DOMAIN), Source("p", problem))
    (first_repair, *_) = repair(checker, Source("plan", "(lift a) (lower a)")).repairs
    assert [edit.reason != "" for edit in first_repair.edits] == [True, False]
