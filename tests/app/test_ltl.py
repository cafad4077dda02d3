"""``--ltl``: a rule on the command line, beside the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from plansafe.app.interfaces.cli.commandline import app

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
    with pytest.raises(SystemExit) as stop:
        app([*arguments, "--memory-limit", "0"], prog_name="safecheck")
    out, err = capsys.readouterr()
    return int(stop.value.code or 0), out, err


def test_it_is_a_rule(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "a.plan", "--ltl", "G !(lit & go)", "--ltl", "F lit")
    assert code == 1
    assert "rule `ltl-1` is violated at step 1: not so: G !(lit & go)" in out
    assert "2 rules" in out
    assert run(capsys, "a.plan", "--ltl", "F lit", "--gate")[0] == 0


def test_beside_the_others(capsys: pytest.CaptureFixture[str]) -> None:
    Path("rules.safe").write_text(SPEC)
    code, out, _ = run(capsys, "a.plan", "--ltl", "F lit")
    assert (code, "rule `shut`" in out) == (1, True)


def test_a_name_of_both_is_the_predicate(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "a.plan", "--ltl", "G !(open | do open | go)", "--show-config")
    assert "(always (not (or (open) (action (open)) (action (go)))))" in out


def test_it_is_shown_as_a_specification(capsys: pytest.CaptureFixture[str]) -> None:
    """What --show-config prints is a .safe file that says the same."""
    _, out, _ = run(capsys, "a.plan", "--ltl", "G !(lit & go)", "--show-config")
    Path("copied.safe").write_text(out[out.index("(define (safety ltl)") :])
    code, out, _ = run(capsys, "a.plan", "--spec", "copied.safe")
    assert (code, "rule `ltl-1` is violated at step 1: not so: G !(lit & go)" in out) == (1, True)


@pytest.mark.parametrize("command", ["audit", "repair", "diagnose"])
def test_a_mistake_has_a_place(capsys: pytest.CaptureFixture[str], command: str) -> None:
    code, _, err = run(capsys, command, "a.plan", "--ltl", "G !(lit & go")
    assert code == 2
    assert "error[SC002]: this is not closed" in err
    assert "--ltl:1:4" in err
    assert "help: add `)`" in err


def test_names_are_checked(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "a.plan", "--ltl", "G !lot")
    assert (code, "unknown predicate `lot`" in out) == (2, True)


def test_repair_keeps_it(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "repair", "a.plan", "--ltl", "G !(lit & go)", "--no-default-spec")
    assert code == 0
    assert "SAFE" in out
