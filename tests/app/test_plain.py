"""Plain command lines are read as the whole command line reads them, without what that costs."""

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
    """What is audited, by way of Typer and without it; nothing by the latter where it gives up."""
    calls: list[object] = []

    def audit_plans(plans, settings, *rest):  # type: ignore[no-untyped-def]
        source = settings.project and settings.project.source.text
        settings = settings._replace(project=settings.project and settings.project._replace(source=source))
        calls.append((plans, settings, *rest))
        return 0

    monkeypatch.setattr(audit_module, "audit_plans", audit_plans)
    with pytest.raises(SystemExit):
        app(arguments, prog_name="safecheck")
    whole = list(calls)
    calls.clear()
    options = main.plain_audit(arguments)
    if options is not None:
        audit_module.audit.run(options)
    return whole, list(calls)


@pytest.mark.slow
@pytest.mark.parametrize("project", ["", PROJECT])
def test_plain_command_lines_mean_the_same(
    project: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(audit_module, "limit_memory", lambda mebibytes: None)
    (tmp_path / "pyproject.toml").write_text(project)
    rnd = random.Random(11)
    alike = 0
    for _ in range(60):
        parts = rnd.choices(PARTS[:17], k=rnd.randint(1, 5)) + rnd.choices(PARTS, k=rnd.randint(0, 1))
        arguments = [word for part in rnd.sample(parts, len(parts)) for word in part.split()]
        whole, own = audits(monkeypatch, arguments)
        assert not own or own == whole, arguments
        alike += bool(own)
    assert alike >= 10
    capsys.readouterr()


def test_a_mistake_in_the_project_file_is_told(
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


def test_a_plain_audit_does_without_typer(root: Path) -> None:
    script = (
        "import os, sys\nfrom plansafe.app import main\n"
        "os._exit = lambda code: print(code, *sys.modules, file=sys.stderr)\nmain.main()"
    )
    plan = str(root / "examples" / "breakfast" / "tea-and-apple.plan")
    done = subprocess.run([sys.executable, "-c", script, plan], capture_output=True, text=True, check=False)
    code, *modules = done.stderr.split()
    assert (code, "typer" in modules, "plansafe.verifier.api" in modules) == ("0", False, True)
