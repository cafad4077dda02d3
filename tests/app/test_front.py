"""Test a user's first commands: no arguments, misspelt commands, ``help``, ``-V``, completion."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import NEW_PROCESS, run_app


def safecheck(*arguments: str, **environment: str) -> tuple[int, str, str]:
    """Run the command in a new process; return the exit code, the output and the error output."""
    process = subprocess.run(
        [*NEW_PROCESS, *arguments], capture_output=True, text=True, check=False, env={**os.environ, **environment}
    )
    return process.returncode, process.stdout, process.stderr


def bash_completions(words: str) -> list[str]:
    """The completions that bash gets after ``words``, whose last word is incomplete."""
    count = str(len(words.split(" ")) - 1)
    code, out, err = safecheck(_SAFECHECK_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD=count)
    assert (code, err) == (0, "")
    return out.split()


@pytest.mark.parametrize(
    ("typed", "command"), [("audti", "audit"), ("repiar", "repair"), ("diagnos", "diagnose"), ("hlep", "help")]
)
def test_similar_command_is_suggested(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: str, command: str
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = run_app(capsys, typed, "x.plan")
    assert (code, out) == (2, "")
    assert err == (
        f"error[SC607]: {typed} is not a file and not a command\n  = help: did you mean `safecheck {command}`?\n"
    )


def test_existing_file_with_the_name_of_a_misspelt_command_is_a_plan(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("audti").write_text("(a)")
    code, out, _ = run_app(capsys, "audti", "--format", "concise", "--memory-limit", "0")
    assert code == 2
    assert "SC602" in out  # the plan is read, and no domain exists
    code, out, _ = run_app(capsys, "quite-another", "--format", "concise", "--memory-limit", "0")
    assert "plan not found: quite-another" in out


def test_help_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(capsys, "help")[1] == run_app(capsys, "--help")[1] == run_app(capsys, "-h")[1]
    assert run_app(capsys, "help", "repair") == run_app(capsys, "repair", "--help")
    assert run_app(capsys, "help", "bench", "scenario", "check") == run_app(capsys, "bench", "scenario", "check", "-h")
    assert run_app(capsys, "help", "stats") == run_app(capsys, "runs", "stats", "--help")
    assert "\nlimits.instances  (default: 5000000)\n" in run_app(capsys, "help", "settings")[1]
    code, _, err = run_app(capsys, "help", "repare")
    assert code == 2
    assert "did you mean `safecheck repair`?" in err
    assert "commands: audit, repair, " in run_app(capsys, "help", "me")[2]


def test_the_version_has_a_short_flag(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_app(capsys, "-V") == run_app(capsys, "--version")
    assert run_app(capsys, "-V")[1].startswith("safecheck ")


def test_no_arguments_show_the_usage(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run_app(capsys)
    assert (code, out) == (2, "")
    for word in ("safecheck PLAN..", "repair", "worlds", "--domain", "safecheck audit --help"):
        assert word in err


@pytest.mark.slow
def test_completion_knows_commands_and_flags() -> None:
    assert bash_completions("safecheck re") == ["repair"]
    assert set(bash_completions("safecheck ")) > {"audit", "lint", "worlds", "runs"}
    assert bash_completions("safecheck --double") == ["--double-check"]
    assert bash_completions("safecheck x.plan --format s") == ["sarif"]
    assert bash_completions("safecheck repair --prot") == ["--protect"]
    assert set(bash_completions("safecheck bench scenario ")) >= {"check", "fix", "sheet", "agreement"}
    assert set(bash_completions("safecheck runs ")) == {"stats", "compare", "view", "export"}


def test_completion_is_installed(tmp_path: Path) -> None:
    code, out, _ = safecheck("--show-completion", _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    assert code != 0  # without a detected shell, its name is required
    detected = {"HOME": str(tmp_path), "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    code, out, err = safecheck("--show-completion", "bash", **detected)
    assert (code, err) == (0, "")
    assert "complete -o default -F _safecheck_completion safecheck" in out
    code, out, err = safecheck("--install-completion", "bash", **detected)
    assert code == 0, err
    assert "safecheck" in (tmp_path / ".bashrc").read_text()


def test_usage_is_imported_only_if_needed() -> None:
    script = (
        "import sys\nfrom plansafe.app.interfaces.cli.commandline import app\n"
        "try: app(['--version'], prog_name='safecheck')\n"
        "except SystemExit: pass\n"
        "print(*sys.modules)"
    )
    process = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "plansafe.app.render" in process.stdout.split()
    assert "plansafe.app.interfaces.cli.usage" not in process.stdout.split()


@pytest.mark.parametrize("name", ["align", "bench", "bench scenario", "rules", "runs"])
def test_a_command_with_commands_lists_them(name: str) -> None:
    code, out, err = safecheck(*name.split())
    assert (code, out) == (2, "")
    assert "\nCommands:\n" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("align", "trian"), "no such command: trian; did you mean `train`?"),
        (("worlds", "shwo"), "no such command: shwo; did you mean `show`?"),
        (("bench", "a\x1b[31m"), "no such command: a\u241b[31m"),
    ],
)
def test_similar_subcommand_is_suggested(words: tuple[str, str], message: str) -> None:
    code, out, err = safecheck(*words)
    assert (code, out) == (2, "")
    assert message in err
