"""Repairs by the criteria of the verdict: pre-existing violations may stay, and a proof holds for these criteria."""

from __future__ import annotations

import pytest
from repair_compare import find_differences, find_optimum_within_limit, format_reproduction
from repair_random import task

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.diagnose.api import diagnose
from plansafe.verifier.diagnose.localise import localise
from plansafe.verifier.diagnose.model import ErrorClass
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.repair.api import repair
from plansafe.verifier.repair.model import RepairOptions, RepairResult, RepairStatus
from plansafe.verifier.reporting.report import Headline
from plansafe.verifier.rules.verdict_criteria import VerdictCriteria
from quick import quick_every

DOMAIN = """(define (domain home) (:types stove) (:predicates (on ?s - stove) (stuck ?s - stove) (wiped))
  (:action wipe :effect (wiped))
  (:action light :parameters (?s - stove) :effect (on ?s))
  (:action quench :parameters (?s - stove) :precondition (and (on ?s) (not (stuck ?s))) :effect (not (on ?s))))"""
PROBLEM = """(define (problem p) (:domain home) (:objects gas oven - stove)
  (:init (on gas) {stuck}) (:goal (wiped)))"""
HEAT = "(:termination heat-off :parameters (?s - stove) :forbid (on ?s) :severity medium)"


def checker(judge: str, rules: str = HEAT, severity: str = "low", stuck: str = "(stuck gas)") -> Checker:
    texts = Source("d", DOMAIN), Source("p", PROBLEM.format(stuck=stuck))
    question_checker = Checker(
        *texts, [Source("s", f"(define (safety s) {rules})")], Options(judge=judge, min_severity=severity)
    )
    assert question_checker.ok, question_checker.diagnostics
    return question_checker


def repaired_plans(question_checker: Checker, plan: str) -> tuple[RepairResult, set[str]]:
    result = repair(question_checker, Source("plan", plan), RepairOptions(time_limit_s=60))
    return result, {"".join(listed.steps) for listed in result.repairs}


def test_only_violations_introduced_by_the_plan_are_repaired() -> None:
    result, texts = repaired_plans(checker("introduced"), "(wipe)\n(light oven)\n")
    assert result.status is RepairStatus.FOUND
    assert texts == {"(wipe)", "(wipe)(light oven)(quench oven)"}
    assert [listed.report.verdict_basis.before for listed in result.repairs] == [1, 1]
    assert all([listed.replayed for listed in result.repairs])


def test_a_pre_existing_violation_is_irreparable_if_all_violations_count() -> None:
    result, _ = repaired_plans(checker("all"), "(wipe)\n(light oven)\n")
    assert result.status is RepairStatus.PROVED_NONE
    assert repaired_plans(checker("introduced"), "(wipe)\n")[0].status is RepairStatus.ALREADY_SAFE


def test_a_step_that_worsens_a_violation_is_deleted() -> None:
    watched = "(:process lit :when (or (on gas) (on oven)) :require (or))"
    result, texts = repaired_plans(checker("introduced", watched), "(wipe)\n(light oven)\n")
    assert (result.optimal, texts) == (True, {"(wipe)"})


def test_a_step_that_restores_the_violation_is_deleted() -> None:
    """The initial violation is that the oven is off. A plan that lights and quenches it introduces a violation."""
    burning = "(:process burning :forbid (not (on oven)))"
    question_checker = checker("introduced", burning)
    result, texts = repaired_plans(question_checker, "(light oven)\n(quench oven)\n(wipe)\n")
    assert result.optimal
    assert texts == {"(light oven)(wipe)"}
    protected = repair(
        question_checker,
        Source("plan", "(light oven)\n(quench oven)\n(wipe)\n"),
        RepairOptions(protected=frozenset((2,))),
    )
    assert protected.status is RepairStatus.PROVED_NONE


def test_rules_below_the_severity_are_not_repaired() -> None:
    assert (
        repaired_plans(checker("all", severity="high"), "(wipe)\n(light oven)\n")[0].status is RepairStatus.ALREADY_SAFE
    )
    both = HEAT + "(:process dark :severity high :forbid (on oven))"
    result, texts = repaired_plans(checker("all", both, "high"), "(wipe)\n(light oven)\n")
    assert (result.status, texts) == (RepairStatus.FOUND, {"(wipe)"})
    assert result.repairs[0].report.verdict_basis.minor == 1


def test_a_diagnosis_names_the_rule_that_decides() -> None:
    question_checker, plan = checker("introduced"), Source("plan", "(wipe)\n(light oven)\n")
    diagnosis = diagnose(question_checker, plan)
    assert diagnosis.report.headline is Headline.UNSAFE
    hazards = [witness for witness in diagnosis.witnesses if witness.error is ErrorClass.TERMINATION_HAZARD]
    assert [witness.rule for witness in hazards] == ["heat-off"]
    assert {ErrorClass.MISSING, ErrorClass.ADDITIONAL} <= set(diagnosis.classes)
    assert localise(question_checker, plan).last_safe == 2
    assert localise(checker("all"), plan).last_safe == -1


def test_an_execution_reports_violations_introduced_by_the_plan() -> None:
    question_checker = checker("introduced", "(:process lit :when (or (on gas) (on oven)) :require (or))")
    now = Execution.initial(question_checker.engine, criteria=VerdictCriteria("introduced"))
    light = question_checker.engine.resolver.resolve_tokens(["light", "oven"])
    assert not now.broken
    after = now.after(light)  # type: ignore[arg-type] # it is a step
    assert after is not None
    assert after.broken
    assert len(after.new_violations) == 1


@pytest.mark.parametrize("batch", quick_every(6, range(6)))
def test_repairs_of_introduced_violations_equal_the_enumeration(batch: int) -> None:
    for number in range(batch * 6, (batch + 1) * 6):
        question_checker = task(2029, number, "introduced")
        best = find_optimum_within_limit(question_checker)
        if best is not None and find_differences(question_checker, best):
            pytest.fail(f"task {number} of seed 2029\n{format_reproduction(question_checker)}", pytrace=False)


@pytest.mark.slow
@pytest.mark.parametrize("judge", ["all", "introduced"])
def test_repairs_with_exempt_rules_equal_the_enumeration(judge: str) -> None:
    """The kernel audits the plans of the enumeration with the same exemptions."""
    compared = 0
    for number in range(12):
        question_checker = task(2031, number, judge, exempt=True)
        best = find_optimum_within_limit(question_checker)
        if best is None or not question_checker.exempt:
            continue
        compared += 1
        assert find_differences(question_checker, best) == [], format_reproduction(question_checker)
    assert compared >= 4
