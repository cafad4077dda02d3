"""Repairs under the question that decides: what was there before may stay, and no proof is of another question."""

from __future__ import annotations

import pytest
from repair_compare import differences, expected, reproduction
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
from quick import every

DOMAIN = """(define (domain home) (:types stove) (:predicates (on ?s - stove) (stuck ?s - stove) (wiped))
  (:action wipe :effect (wiped))
  (:action light :parameters (?s - stove) :effect (on ?s))
  (:action quench :parameters (?s - stove) :precondition (and (on ?s) (not (stuck ?s))) :effect (not (on ?s))))"""
PROBLEM = """(define (problem p) (:domain home) (:objects gas oven - stove)
  (:init (on gas) {stuck}) (:goal (wiped)))"""
HEAT = "(:termination heat-off :parameters (?s - stove) :forbid (on ?s) :severity medium)"


def checker(judge: str, rules: str = HEAT, severity: str = "low", stuck: str = "(stuck gas)") -> Checker:
    texts = Source("d", DOMAIN), Source("p", PROBLEM.format(stuck=stuck))
    made = Checker(*texts, [Source("s", f"(define (safety s) {rules})")], Options(judge=judge, min_severity=severity))
    assert made.ok, made.diagnostics
    return made


def mended(made: Checker, plan: str) -> tuple[RepairResult, set[str]]:
    result = repair(made, Source("plan", plan), RepairOptions(time_limit_s=60))
    return result, {"".join(one.steps) for one in result.repairs}


def test_what_was_on_before_stays_on_and_what_the_plan_lit_is_quenched() -> None:
    result, texts = mended(checker("introduced"), "(wipe)\n(light oven)\n")
    assert result.status is RepairStatus.FOUND
    assert texts == {"(wipe)", "(wipe)(light oven)(quench oven)"}
    assert [one.report.verdict_basis.before for one in result.repairs] == [1, 1]
    assert all([one.replayed for one in result.repairs])


def test_under_all_nothing_can_be_done() -> None:
    result, _ = mended(checker("all"), "(wipe)\n(light oven)\n")
    assert result.status is RepairStatus.PROVED_NONE
    assert mended(checker("introduced"), "(wipe)\n")[0].status is RepairStatus.ALREADY_SAFE


def test_a_step_that_makes_what_was_there_worse_is_taken_out() -> None:
    watched = "(:process lit :when (or (on gas) (on oven)) :require (or))"
    result, texts = mended(checker("introduced", watched), "(wipe)\n(light oven)\n")
    assert (result.optimal, texts) == (True, {"(wipe)"})


def test_what_only_restored_is_left_out_again() -> None:
    """The gas is off at first, which is wrong; a plan that lights and quenches it has introduced that."""
    burning = "(:process burning :forbid (not (on oven)))"
    made = checker("introduced", burning)
    result, texts = mended(made, "(light oven)\n(quench oven)\n(wipe)\n")
    assert result.optimal
    assert texts == {"(light oven)(wipe)"}
    protected = repair(
        made, Source("plan", "(light oven)\n(quench oven)\n(wipe)\n"), RepairOptions(protected=frozenset((2,)))
    )
    assert protected.status is RepairStatus.PROVED_NONE


def test_rules_below_the_level_are_not_mended() -> None:
    assert mended(checker("all", severity="high"), "(wipe)\n(light oven)\n")[0].status is RepairStatus.ALREADY_SAFE
    both = HEAT + "(:process dark :severity high :forbid (on oven))"
    result, texts = mended(checker("all", both, "high"), "(wipe)\n(light oven)\n")
    assert (result.status, texts) == (RepairStatus.FOUND, {"(wipe)"})
    assert result.repairs[0].report.verdict_basis.minor == 1


def test_a_diagnosis_names_what_decides() -> None:
    made, plan = checker("introduced"), Source("plan", "(wipe)\n(light oven)\n")
    found = diagnose(made, plan)
    assert found.report.headline is Headline.UNSAFE
    hazards = [w for w in found.witnesses if w.error is ErrorClass.TERMINATION_HAZARD]
    assert [w.rule for w in hazards] == ["heat-off"]
    assert {ErrorClass.MISSING, ErrorClass.ADDITIONAL} <= set(found.classes)
    assert localise(made, plan).last_safe == 2
    assert localise(checker("all"), plan).last_safe == -1


def test_an_execution_says_when_something_is_the_plans_doing() -> None:
    made = checker("introduced", "(:process lit :when (or (on gas) (on oven)) :require (or))")
    now = Execution.initial(made.engine, criteria=VerdictCriteria("introduced"))
    light = made.engine.resolver.tokens(["light", "oven"])
    assert not now.broken
    after = now.after(light)  # type: ignore[arg-type] # it is a step
    assert after is not None
    assert after.broken
    assert len(after.new_violations) == 1


@pytest.mark.parametrize("batch", every(6, range(6)))
def test_repairs_of_what_is_introduced_equal_the_enumeration(batch: int) -> None:
    for number in range(batch * 6, (batch + 1) * 6):
        made = task(2029, number, "introduced")
        best = expected(made)
        if best is not None and differences(made, best):
            pytest.fail(f"task {number} of seed 2029\n{reproduction(made)}", pytrace=False)


@pytest.mark.slow
@pytest.mark.parametrize("judge", ["all", "introduced"])
def test_rules_that_are_exempt_as_a_whole(judge: str) -> None:
    """As the enumeration has it, which is judged by the kernel with the same exemptions."""
    seen = 0
    for number in range(12):
        made = task(2031, number, judge, exempt=True)
        best = expected(made)
        if best is None or not made.exempt:
            continue
        seen += 1
        assert differences(made, best) == [], reproduction(made)
    assert seen >= 4
