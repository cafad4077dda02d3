"""Test that without rules no format reports a plan as safe, and that ``--gate`` refuses all plans."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import run_app

from plansafe.app.session.audit import audit
from plansafe.app.session.model import Settings

Run = Callable[..., tuple[int, str]]
DOMAIN = """(define (domain tidy) {}
  (:predicates (on) (done))
  (:action work :effect (done))
  (:action never :precondition (on) :effect (done)))"""
PROBLEM = "(define (problem p) (:domain tidy) (:init) (:goal (done)) {})"
IDLE = "(define (safety s) (:domain tidy) (:process r :on (never) :forbid (done)))"
FILES = ("--domain", "domain.pddl", "--problem", "problem.pddl")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(tmp_path)
    Path("domain.pddl").write_text(DOMAIN.format(""))
    Path("problem.pddl").write_text(PROBLEM.format(""))
    Path("work.plan").write_text("(work)\n")
    Path("failing.plan").write_text("(never)\n(work)\n")

    return lambda *arguments: run_app(capsys, *arguments, *FILES, "--memory-limit", "0")[:2]


@pytest.mark.parametrize("form", ["full", "concise", "sarif"])
@pytest.mark.parametrize("plan", ["work.plan", "failing.plan"])
def test_no_format_reports_a_plan_as_safe(run: Run, form: str, plan: str) -> None:
    _, out = run(plan, "--format", form)
    assert "safe: not checked, no rules" in out
    assert "safe ALL" not in out


@pytest.mark.parametrize("plan", ["work.plan", "failing.plan"])
def test_json(run: Run, plan: str) -> None:
    report = json.loads(run(plan, "--format", "json")[1])
    assert report["safe"] is None
    assert report["rules_checked"] == 0
    assert all(reading["safe"] is None for reading in report["readings"])


def test_gate_refuses_plans_without_rules(run: Run) -> None:
    code, out = run("work.plan", "--gate")
    assert code == 2
    assert "error[SC620]" in out
    assert "--set allow_no_rules=true" in out
    assert run("work.plan", "--gate", "--allow-no-rules")[0] == 0
    assert run("failing.plan", "--gate", "--allow-no-rules")[0] == 1


@pytest.mark.parametrize("command", ["repair", "diagnose"])
def test_repair_is_not_reported_as_safe(run: Run, command: str) -> None:
    code, out = run(command, "failing.plan", "--gate")
    assert code == 2
    assert "error[SC620]" in out
    assert "safe ALL" not in run(command, "failing.plan")[1]
    assert run(command, "failing.plan", "--gate", "--allow-no-rules")[0] == 0


def test_constraints_are_rules(run: Run) -> None:
    Path("problem.pddl").write_text(PROBLEM.format("(:constraints (always (not (on))))"))
    code, out = run("work.plan", "--gate", "--format", "json")
    assert code == 0
    report: dict[str, Any] = json.loads(out)
    assert (report["safe"], report["rules_checked"]) == ("ALL", 1)


def test_rules_with_nothing_to_check_stay_valid(run: Run) -> None:
    Path("s.safe").write_text(IDLE)
    code, out = run("work.plan", "--spec", "s.safe", "--gate", "--format", "json")
    assert code == 0
    report = json.loads(out)
    assert (report["headline"], report["safe"], report["rules_checked"]) == ("VALID", "ALL", 0)
    assert run("work.plan", "--spec", "s.safe", "--require-rules")[0] == 2


INAPPLICABLE = """(define (safety s) (:domain tidy)
  (:vocabulary (:predicates (leaking)))
  (:process empty-type :parameters (?t - tool) :forbid (and (done) (= ?t ?t)))
  (:process missing-predicate :forbid (leaking)){})"""
TYPED = DOMAIN.replace("(:predicates", "(:types tool)\n  (:predicates")


@pytest.fixture
def inapplicable(run: Run) -> Run:
    Path("domain.pddl").write_text(TYPED.format(""))
    Path("s.safe").write_text(INAPPLICABLE.format(""))
    return lambda *arguments: run(*arguments, "--spec", "s.safe")


@pytest.mark.parametrize("form", ["full", "concise", "sarif"])
@pytest.mark.parametrize("plan", ["work.plan", "failing.plan"])
def test_safety_is_not_checked_if_no_rule_can_apply(inapplicable: Run, form: str, plan: str) -> None:
    _, out = inapplicable(plan, "--format", form)
    assert "safe: not checked, none of 2 rules can apply" in out
    assert "safe ALL" not in out


def test_a_single_rule_that_cannot_apply(inapplicable: Run) -> None:
    Path("s.safe").write_text(
        "(define (safety s) (:domain tidy) (:vocabulary (:predicates (leaking))) (:process r :forbid (leaking)))"
    )
    assert "safe: not checked, the only rule cannot apply" in inapplicable("work.plan")[1]
    assert "the only rule cannot apply to this task" in inapplicable("work.plan", "--gate")[1]


def test_json_if_no_rule_can_apply(inapplicable: Run) -> None:
    code, out = inapplicable("work.plan", "--format", "json")
    assert code == 0
    report = json.loads(out)
    assert (report["headline"], report["safe"], report["rules_checked"]) == ("VALID", None, 0)
    assert [rule["status"] for rule in report["rules"]] == ["never applied", "not applicable"]
    assert "applicable" not in report["rules"][0]


def test_safety_of_ill_formed_plans_is_not_checked_if_no_rule_can_apply(inapplicable: Run) -> None:
    Path("work.plan").write_text("(wrok)\n")
    report = json.loads(inapplicable("work.plan", "--format", "json")[1])
    assert (report["headline"], report["safe"]) == ("INVALID", None)


def test_gate_ignores_rules_that_cannot_apply(inapplicable: Run) -> None:
    code, out = inapplicable("work.plan", "--gate")
    assert code == 2
    assert "error[SC620]: none of 2 rules can apply to this task" in out
    assert "--set allow_no_rules=true" in out
    assert inapplicable("work.plan", "--gate", "--allow-no-rules")[0] == 0
    assert inapplicable("work.plan", "--require-rules")[0] == 2


@pytest.mark.parametrize("command", ["repair", "diagnose"])
def test_repair_is_not_reported_as_safe_if_no_rule_can_apply(inapplicable: Run, command: str) -> None:
    code, out = inapplicable(command, "failing.plan", "--gate")
    assert code == 2
    assert "error[SC620]: none of 2 rules can apply to this task" in out
    assert "safe ALL" not in inapplicable(command, "failing.plan")[1]
    assert inapplicable(command, "failing.plan", "--gate", "--allow-no-rules")[0] == 0


def test_one_applicable_rule_is_enough(inapplicable: Run) -> None:
    Path("s.safe").write_text(INAPPLICABLE.format("(:process off :forbid (on))"))
    code, out = inapplicable("work.plan", "--gate", "--format", "json")
    assert code == 0
    report = json.loads(out)
    assert (report["headline"], report["safe"], report["rules_checked"]) == ("SAFE", "ALL", 1)


def test_safety_is_not_checked_in_many_worlds_if_no_rule_can_apply(inapplicable: Run) -> None:
    Path("problem.pddl").write_text("(define (problem p) (:domain tidy) (:init (unknown (on))) (:goal (done)))")
    code, out = inapplicable("work.plan")
    assert code == 0
    assert "safe: not checked, none of 2 rules can apply" in out
    assert inapplicable("work.plan", "--gate")[0] == 2


def test_unreadable_task_is_unknown(run: Run) -> None:
    Path("problem.pddl").write_text("(define")
    report = json.loads(run("work.plan", "--format", "json")[1])
    assert (report["headline"], report["safe"]) == (None, "UNKNOWN")


def test_from_python(run: Run) -> None:
    (result,) = audit(["work.plan"], Settings(domain="domain.pddl", problem="problem.pddl"))
    assert result.report.safety is None
    assert result.report.rules_checked == 0
