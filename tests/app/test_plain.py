"""Plain command lines are read as the whole command line reads them, without what that costs."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

from plansafe.app.interfaces.cli import audit_command, audit_without_typer
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
    *("--domain", "--format no", "--replay --gate"),
)
PROJECT = '[tool.safecheck]\ndomain = "d.pddl"\nspecifications = ["household"]\nformat = "json"\nlimits.time = 7\n'


def audits(monkeypatch: pytest.MonkeyPatch, arguments: list[str]) -> tuple[list[object], list[object]]:
    """What is audited, by the whole command line and by the plain one; nothing by the latter where it gives up."""
    whole: list[object] = []
    own: list[object] = []

    def noted(into: list[object]):  # type: ignore[no-untyped-def]
        def run(
            plans,
            settings,
            form,
            output=None,
            color="auto",
            fix=False,
            diff=False,
            certificate=None,
            write_baseline=None,
        ):  # type: ignore[no-untyped-def]
            source = settings.project and settings.project.source.text
            settings = settings._replace(project=settings.project and settings.project._replace(source=source))
            into.append((plans, settings, form, output, color, fix, diff, certificate, write_baseline))
            return 0

        return run

    monkeypatch.setattr(audit_command, "audit_plans", noted(whole))
    monkeypatch.setattr(audit_without_typer, "audit_plans", noted(own))
    with pytest.raises(SystemExit):
        app(arguments, prog_name="safecheck")
    said = audit_without_typer.read(arguments)
    if said is not None:
        audit_without_typer.run(said)
    return whole, own


@pytest.mark.parametrize("project", ["", PROJECT])
def test_plain_command_lines_mean_the_same(
    project: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("plansafe.app.system.process.limit_memory", lambda mebibytes: None)
    monkeypatch.setattr(audit_without_typer, "limit_memory", lambda mebibytes: None)
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
    said = audit_without_typer.read(["x.plan"])
    assert said is not None
    assert audit_without_typer.run(said) is None
    assert audits(monkeypatch, ["x.plan"]) == ([], [])
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
