"""Gaps reveal deleted rules, and their plans have the reported verdicts (``bench/gaps.py`` measures all cases)."""

from __future__ import annotations

from pathlib import Path

import pytest
from gaps_cases import assess, full, household, without

from plansafe.app.interfaces.cli.commandline import app
from plansafe.grammar.source import Source
from plansafe.specs.lint.gaps.gap_search import find_gaps
from plansafe.specs.lint.gaps.model import GapOptions
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.reporting.report import Blame

CASES = {case.rule: case for case in household()}


def caused(checker: Checker, plan: tuple[str, ...]) -> set[str | None]:
    """The rules that a plan violates, without violations by the initial state."""
    report = checker.check(Source("plan", "\n".join(plan)))
    return {f.rule for f in report.findings if f.rule and f.blame is not Blame.PRE_EXISTING}


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["dry-hands-at-the-plug", "nothing-dangerous-in-hand", "one-dose-only"])
def test_a_deleted_rule_is_revealed(rule: str) -> None:
    case = CASES[rule]
    outcome = assess(case, GapOptions(time_limit_s=60.0))
    assert outcome.revealed is not None
    domain = Source("domain", case.domain.read_text(encoding="utf-8"))
    problem = Source("problem", case.problem.text)
    spec = without(full(case), rule)
    for gap in outcome.gaps:
        proposed = Source("proposed", f"(define (safety proposed) {gap.rule})")
        proposed_checker = Checker(domain, problem, [proposed], Options(replay="never"))
        assert proposed_checker.ok, proposed_checker.diagnostics
        assert caused(proposed_checker, gap.plan), "the plan violates the proposed rule"
        assert not caused(proposed_checker, gap.instead), "another plan satisfies it"
        checker = Checker(domain, problem, [spec], Options(replay="never"))
        for plan in (gap.plan, gap.instead):
            report = checker.check(Source("plan", "\n".join(plan)))
            assert report.headline is not None
            assert report.headline.value in ("SAFE", "VALID")


def test_no_search_without_a_safe_plan(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "d.pddl").write_text("(define (domain d) (:predicates (p) (q)) (:action a :precondition (q)))")
    (tmp_path / "p.pddl").write_text("(define (problem p) (:domain d) (:init) (:goal (q)))")
    (tmp_path / "s.safe").write_text("(define (safety s) (:domain d) (:process c :forbid (p)))")
    files = ["--domain", str(tmp_path / "d.pddl"), "--problem", str(tmp_path / "p.pddl"), str(tmp_path / "s.safe")]
    for form in ("full", "concise", "json"):
        with pytest.raises(SystemExit) as stop:
            app(["lint", "--gaps", *files, "--format", form], prog_name="safecheck")
        output = capsys.readouterr().out
        assert stop.value.code != 0
        assert "SC759" in output
        assert "did not search for gaps" in output


def test_violations_by_the_initial_state_hide_no_gap() -> None:
    """A stove is on in S0. If every violation counts, no plan is safe, and the search does not start."""
    domain = """(define (domain home) (:types stove) (:predicates (on ?s - stove) (wiped))
      (:action wipe :effect (wiped)) (:action light :parameters (?s - stove) :effect (on ?s)))"""
    problem = """(define (problem p) (:domain home) (:objects gas oven - stove) (:init (on gas)) (:goal (wiped)))"""
    rules = "(define (safety s) (:termination off :parameters (?s - stove) :forbid (on ?s)))"
    texts = Source("d", domain), [Source("p", problem)], [Source("s", rules)]
    with_all = find_gaps(*texts, options=GapOptions(time_limit_s=5.0, use_planners=False))
    assert [d.message for d in with_all.diagnostics] != []
    assert with_all.explored == 0
    with_introduced = find_gaps(*texts, options=GapOptions(time_limit_s=5.0, use_planners=False, judge="introduced"))
    assert with_introduced.diagnostics == ()
    assert with_introduced.explored > 0
