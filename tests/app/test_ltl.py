"""Test ``--ltl``, which adds a rule on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import run_app

DOMAIN = """(define (domain d) (:predicates (lit) (open))
  (:action light :effect (lit)) (:action open :effect (open)) (:action go))"""
PROBLEM = "(define (problem x) (:domain d) (:init) (:goal ()))"
SPEC = "(define (safety s) (:process shut :forbid (open)))"


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in (("domain.pddl", DOMAIN), ("problem.pddl", PROBLEM), ("a.plan", "(light)\n(go)\n(open)\n")):
        Path(name).write_text(text)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    return run_app(capsys, *arguments, "--memory-limit", "0")


def test_formula_is_a_rule(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "a.plan", "--ltl", "G !(lit & go)", "--ltl", "F lit")
    assert code == 1
    assert "rule `ltl-1` is violated at step 1: not so: G !(lit & go)" in out
    assert "2 rules" in out
    assert run(capsys, "a.plan", "--ltl", "F lit", "--gate")[0] == 0


def test_formula_is_added_to_other_rules(capsys: pytest.CaptureFixture[str]) -> None:
    Path("rules.safe").write_text(SPEC)
    code, out, _ = run(capsys, "a.plan", "--ltl", "F lit")
    assert (code, "rule `shut`" in out) == (1, True)


def test_name_of_predicate_and_action_is_the_predicate(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "a.plan", "--ltl", "G !(open | do open | go)", "--show-config")
    assert "(always (not (or (open) (action (open)) (action (go)))))" in out


def test_formula_is_shown_as_a_specification(capsys: pytest.CaptureFixture[str]) -> None:
    """--show-config prints an equivalent .safe file."""
    _, out, _ = run(capsys, "a.plan", "--ltl", "G !(lit & go)", "--show-config")
    Path("copied.safe").write_text(out[out.index("(define (safety ltl)") :])
    code, out, _ = run(capsys, "a.plan", "--spec", "copied.safe")
    assert (code, "rule `ltl-1` is violated at step 1: not so: G !(lit & go)" in out) == (1, True)


@pytest.mark.parametrize("command", ["audit", "repair", "diagnose"])
def test_syntax_error_has_its_position(capsys: pytest.CaptureFixture[str], command: str) -> None:
    code, _, err = run(capsys, command, "a.plan", "--ltl", "G !(lit & go")
    assert code == 2
    assert "error[SC002]: this is not closed" in err
    assert "--ltl:1:4" in err
    assert "help: add `)`" in err


def test_names_are_checked(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "a.plan", "--ltl", "G !lot")
    assert (code, "unknown predicate `lot`" in out) == (2, True)


def test_repair_respects_the_formula(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "repair", "a.plan", "--ltl", "G !(lit & go)", "--no-default-spec")
    assert code == 0
    assert "SAFE" in out
