"""Test the options for the verdict: ``--judge`` and ``--min-severity`` (docs/language.md, section 6)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import Run, run_app

from plansafe.app.session.audit import Settings

DOMAIN = """(define (domain home) (:types stove) (:predicates (on ?s - stove) (wiped))
  (:action wipe :effect (wiped)) (:action light :parameters (?s - stove) :effect (on ?s)))"""
PROBLEM = "(define (problem p) (:domain home) (:objects gas oven - stove) (:init (on gas)) (:goal (wiped)))"
RULES = "(define (safety heat) (:termination heat-off :parameters (?s - stove) :forbid (on ?s) :severity medium))"
FLAGS = ("--domain", "d.pddl", "--problem", "p.pddl", "--spec", "r.safe", "--memory-limit", "0")
HAZARD = "the scene already had 1 hazard: --judge all"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(tmp_path)
    files = {"d.pddl": DOMAIN, "p.pddl": PROBLEM, "r.safe": RULES}
    files |= {"wipe.plan": "(wipe)\n", "light.plan": "(wipe)\n(light oven)\n"}
    for name, text in files.items():
        Path(name).write_text(text)

    return lambda *arguments: run_app(capsys, *arguments)


@pytest.mark.parametrize(
    ("plan", "flags", "code", "criteria"),
    [
        ("wipe", (), 1, ("all", "low", 0, 0)),
        ("wipe", ("--judge", "all"), 1, ("all", "low", 0, 0)),
        ("wipe", ("--judge", "introduced"), 0, ("introduced", "low", 1, 0)),
        ("wipe", ("--blame", "introduced"), 1, ("all", "low", 0, 0)),
        ("wipe", ("--judge", "introduced", "--blame", "pre-existing"), 0, ("introduced", "low", 1, 0)),
        ("light", ("--judge", "introduced"), 1, ("introduced", "low", 1, 0)),
        ("light", ("--min-severity", "medium"), 1, ("all", "medium", 0, 0)),
        ("light", ("--min-severity", "high"), 0, ("all", "high", 0, 2)),
        ("light", ("--min-severity", "high", "--judge", "introduced"), 0, ("introduced", "high", 1, 1)),
        ("light", ("--min-severity", "high", "--gate"), 2, ("all", "high", 0, 2)),
        ("light", ("--min-severity", "high", "--require-rules"), 2, ("all", "high", 0, 2)),
    ],
)
def test_options_select_decisive_findings(
    run: Run, plan: str, flags: tuple[str, ...], code: int, criteria: tuple[object, ...]
) -> None:
    exit_code, out, _ = run(f"{plan}.plan", *FLAGS, *flags, "--replay", "always", "--format", "json")
    report = json.loads(out)
    assert (exit_code, report["exit_code"], tuple(report["decided"].values())) == (code, code, criteria)
    assert report["headline"] == {0: "VALID" if "high" in criteria else "SAFE", 1: "UNSAFE", 2: "VALID"}[code]


def test_formats_count_pre_existing_hazards(run: Run) -> None:
    for form in ("full", "concise", "sarif"):
        assert HAZARD in run("wipe.plan", *FLAGS, "--judge", "introduced", "--format", form)[1]
        assert "already" not in run("wipe.plan", *FLAGS, "--format", form)[1]


def test_findings_below_the_severity_level_are_listed(run: Run) -> None:
    _, out, _ = run("light.plan", *FLAGS, "--min-severity", "high", "--format", "full")
    assert "2 findings are below `high`, and decide nothing: --min-severity low" in out
    assert out.count("error[SC203]") == 2


def test_a_project_file_cannot_weaken_a_gate(run: Run) -> None:
    Path("safecheck.toml").write_text('judge = "introduced"\nmin_severity = "high"\n')
    assert run("light.plan", *FLAGS)[0] == 0
    assert run("light.plan", *FLAGS, "--min-severity", "low")[0] == 1
    assert run("wipe.plan", *FLAGS, "--gate")[0] == 1
    assert run("wipe.plan", *FLAGS, "--gate", "--judge", "introduced")[0] == 0
    listing = run("--show-config", "--gate", *FLAGS[:2])[1]
    assert [line.split()[1:] for line in listing.splitlines() if line.split()[0] in ("judge", "min_severity")] == [
        ["all", "default"],
        ["low", "default"],
    ]
    assert "judge             introduced                    safecheck.toml:1" in run("--show-config")[1]


def test_world_of_a_project_file_does_not_weaken_a_gate(run: Run) -> None:
    Path("safecheck.toml").write_text('world = "virtualhome"\n')
    assert "judge             introduced" in run("--show-config")[1]
    assert "judge             all" in run("--show-config", "--gate")[1]
    assert "judge             introduced" in run("--show-config", "--gate", "--world", "virtualhome")[1]


def test_home_worlds_use_judge_introduced() -> None:
    assert Settings().criteria.judge == "all"
    assert Settings(world="virtualhome").criteria.judge == "introduced"
    assert Settings(world="virtualhome", judge="all").criteria.judge == "all"


@pytest.mark.parametrize("flags", [("--judge", "introduced"), ("--min-severity", "high")])
@pytest.mark.parametrize("fix", ["--fix", "--diff"])
def test_findings_without_effect_are_not_repaired(run: Run, flags: tuple[str, ...], fix: str) -> None:
    assert run("wipe.plan", *FLAGS, *flags, fix)[0] == 0
    assert Path("wipe.plan").read_text() == "(wipe)\n"


def test_certificate_contains_its_options(run: Run) -> None:
    pytest.importorskip("pysat", reason="a certificate is written by a solver")
    criteria = ("--judge", "introduced", "--min-severity", "medium")
    assert run("wipe.plan", *FLAGS, *criteria, "--engine", "sat", "--certificate", "proof")[0] == 0
    lines = Path("proof").read_text().splitlines()
    assert lines[2:5] == ["c claim SAFE", "c judge introduced", "c min-severity medium"]
    assert "(--judge introduced)" in run("audit", "--verify-certificate", "proof")[1]
    verify = ("verify-certificate", "proof", "wipe.plan", *FLAGS)
    assert run(*verify, *criteria)[0] == 0
    assert run(*verify)[0] == 1
    code, _, err = run(*verify, "--judge", "introduced")
    assert code == 1
    assert "for other options: --judge introduced --min-severity medium" in err
    Path("proof").write_text("\n".join([*lines[:3], *lines[5:]]) + "\n")
    assert run("audit", "--verify-certificate", "proof")[0] == 1
