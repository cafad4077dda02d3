"""Deleted rules are revealed, and what is reported of a gap is so; ``bench/gaps.py`` measures all of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from gaps_cases import full, household, judge, without

from plansafe.app.interfaces.cli.commandline import app
from plansafe.grammar.source import Source
from plansafe.specs.lint.gaps.gap_search import find_gaps
from plansafe.specs.lint.gaps.model import GapOptions
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.reporting.report import Blame

CASES = {case.rule: case for case in household()}


def caused(checker: Checker, plan: tuple[str, ...]) -> set[str | None]:
    """The rules that a plan breaks, whatever was broken before it began."""
    report = checker.check(Source("plan", "\n".join(plan)))
    return {f.rule for f in report.findings if f.rule and f.blame is not Blame.PRE_EXISTING}


@pytest.mark.slow
@pytest.mark.parametrize("rule", ["dry-hands-at-the-plug", "nothing-dangerous-in-hand", "one-dose-only"])
def test_a_deleted_rule_is_revealed(rule: str) -> None:
    case = CASES[rule]
    judged = judge(case, GapOptions(time_limit_s=60.0))
    assert judged.revealed is not None
    domain = Source("domain", case.domain.read_text(encoding="utf-8"))
    problem = Source("problem", case.problem.text)
    given = without(full(case), rule)
    for gap in judged.gaps:
        proposed = Source("proposed", f"(define (safety proposed) {gap.rule})")
        alone = Checker(domain, problem, [proposed], Options(replay="never"))
        assert alone.ok, alone.diagnostics
        assert caused(alone, gap.plan), "the plan breaks the proposed rule"
        assert not caused(alone, gap.instead), "another plan keeps it"
        kept = Checker(domain, problem, [given], Options(replay="never"))
        for plan in (gap.plan, gap.instead):
            report = kept.check(Source("plan", "\n".join(plan)))
            assert report.headline is not None
            assert report.headline.value in ("SAFE", "VALID")


def test_without_a_safe_plan_nothing_is_looked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "d.pddl").write_text("(define (domain d) (:predicates (p) (q)) (:action a :precondition (q)))")
    (tmp_path / "p.pddl").write_text("(define (problem p) (:domain d) (:init) (:goal (q)))")
    (tmp_path / "s.safe").write_text("(define (safety s) (:domain d) (:process c :forbid (p)))")
    given = ["--domain", str(tmp_path / "d.pddl"), "--problem", str(tmp_path / "p.pddl"), str(tmp_path / "s.safe")]
    for form in ("full", "concise", "json"):
        with pytest.raises(SystemExit) as stop:
            app(["lint", "--gaps", *given, "--format", form], prog_name="safecheck")
        shown = capsys.readouterr().out
        assert stop.value.code != 0
        assert "SC759" in shown
        assert "did not search for gaps" in shown


def test_in_a_world_what_was_broken_before_hides_no_gap() -> None:
    """A stove is on at the start: by every violation no plan is safe, and nothing can be looked for."""
    domain = """(define (domain home) (:types stove) (:predicates (on ?s - stove) (wiped))
      (:action wipe :effect (wiped)) (:action light :parameters (?s - stove) :effect (on ?s)))"""
    problem = """(define (problem p) (:domain home) (:objects gas oven - stove) (:init (on gas)) (:goal (wiped)))"""
    rules = "(define (safety s) (:termination off :parameters (?s - stove) :forbid (on ?s)))"
    texts = Source("d", domain), [Source("p", problem)], [Source("s", rules)]
    blind = find_gaps(*texts, options=GapOptions(time_limit_s=5.0, use_planners=False))
    assert [d.message for d in blind.diagnostics] != []
    assert blind.explored == 0
    seeing = find_gaps(*texts, options=GapOptions(time_limit_s=5.0, use_planners=False, judge="introduced"))
    assert seeing.diagnostics == ()
    assert seeing.explored > 0
