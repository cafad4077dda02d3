"""Test that simple command lines are parsed without Typer, with the same result."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from plansafe.app import main
from plansafe.app.interfaces.cli import audit as audit_module
from plansafe.app.interfaces.cli.commandline import app

PARTS = (
    *(
        "a.plan",
        "b/c.plan",
        "-",
        "--domain d",
        "--problem p",
        "--spec s",
        "--spec t",
        "--format json",
        "--format concise",
    ),
    *("--replay never", "--output o", "--no-default-spec", "--gate", "--allow-no-rules --all", "--require-rules"),
    *(
        "--no-project",
        "plan",
        "repair",
        "--from text",
        "--",
        "-o o",
        "--domain=d",
        "--version",
        "--nonsense",
        "--all x",
    ),
    *(
        "--domain",
        "--format no",
        "--replay --gate",
        "audit",
        "--world virtualhome",
        "--time-limit 5",
        "--time-limit -1",
    ),
    *("--blame introduced", "--ltl G(a)", "--set limits.findings=3", "--max-findings 3", "--fix --diff", "--jobs 2"),
)
PROJECT = '[tool.safecheck]\ndomain = "d.pddl"\nspecifications = ["household"]\nformat = "json"\nlimits.time = 7\n'


def audits(monkeypatch: pytest.MonkeyPatch, arguments: list[str]) -> tuple[list[object], list[object]]:
    """Return the audits with Typer and without it (no audit if the simple parser refuses)."""
    calls: list[object] = []

    def audit_plans(plans, settings, *arguments):  # type: ignore[no-untyped-def]
        source = settings.project and settings.project.source.text
        settings = settings._replace(project=settings.project and settings.project._replace(source=source))
        calls.append((plans, settings, *arguments))
        return 0

    monkeypatch.setattr(audit_module, "audit_plans", audit_plans)
    with pytest.raises(SystemExit):
        app(arguments, prog_name="safecheck")
    with_typer = list(calls)
    calls.clear()
    options = main.plain_audit(arguments)
    if options is not None:
        audit_module.audit.run(options)
    return with_typer, list(calls)


@pytest.mark.slow
@pytest.mark.parametrize("project", ["", PROJECT])
def test_simple_command_lines_have_the_same_meaning(
    project: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(audit_module, "limit_memory", lambda mebibytes: None)
    (tmp_path / "pyproject.toml").write_text(project)
    rng = random.Random(11)
    equal_audits = 0
    for _ in range(60):
        parts = rng.choices(PARTS[:17], k=rng.randint(1, 5)) + rng.choices(PARTS, k=rng.randint(0, 1))
        arguments = [word for part in rng.sample(parts, len(parts)) for word in part.split()]
        with_typer, without_typer = audits(monkeypatch, arguments)
        assert not without_typer or without_typer == with_typer, arguments
        equal_audits += bool(without_typer)
    assert equal_audits >= 10
    capsys.readouterr()


def test_mistake_in_the_project_file_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "safecheck.toml").write_text("domian = 1\n")
    options = main.plain_audit(["x.plan"])
    assert options is not None
    with pytest.raises(SystemExit) as stop:
        audit_module.audit.run(options)
    assert stop.value.code == 2
    assert "domian" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        app(["x.plan"], prog_name="safecheck")
    assert "domian" in capsys.readouterr().err


def test_simple_audit_does_not_import_typer(root: Path) -> None:
    script = (
        "import os, sys\nfrom plansafe.app import main\n"
        "os._exit = lambda code: print(code, *sys.modules, file=sys.stderr)\nmain.main()"
    )
    plan = str(root / "examples" / "breakfast" / "tea-and-apple.plan")
    process = subprocess.run([sys.executable, "-c", script, plan], capture_output=True, text=True, check=False)
    code, *modules = process.stderr.split()
    assert (code, "typer" in modules, "plansafe.verifier.api" in modules) == ("0", False, True)
