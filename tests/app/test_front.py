"""What a new user types first: nothing, half a word, ``help``, ``-V``, a tab."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from plansafe.app.interfaces.cli.commandline import app


def safecheck(*arguments: str, **environment: str) -> tuple[int, str, str]:
    """The command in a process of its own, as a shell starts it."""
    script = "from plansafe.app.main import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )
    return done.returncode, done.stdout, done.stderr


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        app([*arguments], prog_name="safecheck")
    out, err = capsys.readouterr()
    return int(stop.value.code or 0), out, err


def completed(words: str) -> list[str]:
    """What bash is told after these words; the last one is not finished."""
    count = str(len(words.split(" ")) - 1)
    code, out, err = safecheck(_SAFECHECK_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD=count)
    assert (code, err) == (0, "")
    return out.split()


@pytest.mark.parametrize(
    ("typed", "meant"), [("audti", "audit"), ("repiar", "repair"), ("diagnos", "diagnose"), ("hlep", "help")]
)
def test_a_misspelt_command_is_named(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, typed: str, meant: str
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = said(capsys, typed, "x.plan")
    assert (code, out) == (2, "")
    assert err == (
        f"error[SC607]: {typed} is not a file and not a command\n  = help: did you mean `safecheck {meant}`?\n"
    )


def test_a_file_is_a_plan_though_its_name_is_nearly_a_command(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("audti").write_text("(a)")
    code, out, _ = said(capsys, "audti", "--format", "concise", "--memory-limit", "0")
    assert code == 2
    assert "SC602" in out  # read, and no domain is there
    code, out, _ = said(capsys, "quite-another", "--format", "concise", "--memory-limit", "0")
    assert "plan not found: quite-another" in out


def test_help_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "help")[1] == said(capsys, "--help")[1] == said(capsys, "-h")[1]
    assert said(capsys, "help", "repair") == said(capsys, "repair", "--help")
    assert said(capsys, "help", "bench", "scenario", "check") == said(capsys, "bench", "scenario", "check", "-h")
    assert said(capsys, "help", "stats") == said(capsys, "runs", "stats", "--help")
    assert "\nlimits.instances  (default: 5000000)\n" in said(capsys, "help", "settings")[1]
    code, _, err = said(capsys, "help", "repare")
    assert code == 2
    assert "did you mean `safecheck repair`?" in err
    assert "commands: audit, repair, " in said(capsys, "help", "me")[2]


def test_the_version_has_a_short_flag(capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "-V") == said(capsys, "--version")
    assert said(capsys, "-V")[1].startswith("safecheck ")


def test_no_arguments_show_what_to_type(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = said(capsys)
    assert (code, out) == (2, "")
    for word in ("safecheck PLAN..", "repair", "worlds", "--domain", "safecheck audit --help"):
        assert word in err


@pytest.mark.slow
def test_completion_knows_every_command_and_its_flags() -> None:
    assert completed("safecheck re") == ["repair"]
    assert set(completed("safecheck ")) > {"audit", "lint", "worlds", "runs"}
    assert completed("safecheck --double") == ["--double-check"]
    assert completed("safecheck x.plan --format s") == ["sarif"]
    assert completed("safecheck repair --prot") == ["--protect"]
    assert set(completed("safecheck bench scenario ")) >= {"check", "fix", "sheet", "agreement"}
    assert set(completed("safecheck runs ")) == {"stats", "compare", "view", "export"}


def test_completion_is_installed(tmp_path: Path) -> None:
    code, out, _ = safecheck("--show-completion", _TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION="1")
    assert code != 0  # no shell to be seen: it has to be named
    detected = {"HOME": str(tmp_path), "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    code, out, err = safecheck("--show-completion", "bash", **detected)
    assert (code, err) == (0, "")
    assert "complete -o default -F _safecheck_completion safecheck" in out
    code, out, err = safecheck("--install-completion", "bash", **detected)
    assert code == 0, err
    assert "safecheck" in (tmp_path / ".bashrc").read_text()


def test_what_needs_no_usage_does_not_load_it() -> None:
    script = (
        "import sys\nfrom plansafe.app.interfaces.cli.commandline import app\n"
        "try: app(['--version'], prog_name='safecheck')\n"
        "except SystemExit: pass\n"
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "plansafe.app.render" in done.stdout.split()
    assert "plansafe.app.interfaces.cli.usage" not in done.stdout.split()


@pytest.mark.parametrize("name", ["align", "bench", "bench scenario", "rules", "runs"])
def test_a_command_with_commands_lists_them(name: str) -> None:
    code, out, err = safecheck(*name.split())
    assert (code, out) == (2, "")
    assert "\nCommands:\n" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("align", "trian"), "no such command: trian; did you mean `train`?"),
        (("worlds", "shwo"), "no such command: shwo; did you mean `show`?"),
        (("bench", "a\x1b[31m"), "no such command: a\u241b[31m"),
    ],
)
def test_a_misspelt_command_below_another_has_its_near_name(words: tuple[str, str], said: str) -> None:
    code, out, err = safecheck(*words)
    assert (code, out) == (2, "")
    assert said in err
