"""Test the tables of commands and options: former names and flags, settings, help texts."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from command_line import NEW_PROCESS, run_app

from plansafe.app.interfaces.agents.operation_fields import AUDIT, OPEN
from plansafe.app.interfaces.cli.command_table import (
    COMMANDS,
    HEADINGS,
    Command,
    CommandGroup,
    below,
    find,
    former_names,
)
from plansafe.app.options.option import Option, Options, integer
from plansafe.app.options.shared import FORMATS, ModelRetries
from plansafe.llm.loop.model import Style

LEAVES = [command for command in COMMANDS if isinstance(command, Command)]
FORMER_NAMES = [
    *former_names(),
    ("scenario", "check"),
    ("domains", "show"),
    ("verify-certificate",),
]
_NOT_VERBS = ("The", "A", "An", "For", "Of", "What", "Where", "How", "With", "Without", "Which", "Who", "Only", "Also")


@pytest.mark.parametrize("name", FORMER_NAMES, ids=" ".join)
def test_former_name_runs_with_one_warning(capsys: pytest.CaptureFixture[str], name: tuple[str, ...]) -> None:
    code, out, err = run_app(capsys, *name, "--help")
    assert (code, err.count("warning: ")) == (0, 0 if name == ("verify-certificate",) else 1)
    assert len(err.splitlines()) == err.count("warning: ")
    new_name = former_names().get(name) or former_names().get(name[:1])
    if new_name is not None:
        assert f"`safecheck {new_name}`" in err
        words = new_name.split() if name in former_names() else [*new_name.split(), *name[1:]]
        assert (out, "") == run_app(capsys, *words, "--help")[1:]


@pytest.mark.parametrize(
    ("old", "new"), [("domains list", "worlds list"), ("domains", "worlds"), ("models", "models list")]
)
def test_former_name_prints_the_same(capsys: pytest.CaptureFixture[str], old: str, new: str) -> None:
    assert run_app(capsys, *old.split())[:2] == run_app(capsys, *new.split())[:2]


def test_former_certificate_command_warns_and_runs(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "x.cert"
    file.write_text("nothing")
    old = run_app(capsys, "verify-certificate", str(file), "--memory-limit", "0")
    new = run_app(capsys, "audit", "--verify-certificate", str(file), "--memory-limit", "0")
    assert old[0] == new[0] == 2
    warning, _, message = old[2].partition("\n")
    assert warning.startswith("warning: ")
    assert "`safecheck audit --verify-certificate FILE`" in warning
    assert message == new[2]
    assert "is not a certificate" in message


def test_an_option_without_effect_on_a_certificate_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run_app(capsys, "--verify-certificate", "x.cert", "--fix")
    assert (code, out) == (2, "")
    assert "--fix has no effect with --verify-certificate" in err


def test_language_server_starts_by_old_and_new_names() -> None:
    """Editors may start it as ``server`` and with ``--stdio``. Its output is only the protocol's."""
    for words in (("server", "--stdio"), ("serve", "lsp", "--stdio"), ("serve", "lsp")):
        process = subprocess.run([*NEW_PROCESS, *words], capture_output=True, check=False, input=b"")
        assert process.stdout == b""
        assert (b"warning: `safecheck server`" in process.stderr) == (words[0] == "server")


def test_top_level_is_small_and_names_are_found() -> None:
    top = below(())
    assert len(top) <= 13
    assert {entry.heading for entry in top.values()} == set(HEADINGS)
    assert len({command.name for command in COMMANDS}) == len(COMMANDS)
    for name in [name for command in COMMANDS for name in (command.name, *command.former)]:
        assert find(*name.split()) is None or find(*name.split()) in COMMANDS
    for entry in COMMANDS:
        if isinstance(entry, CommandGroup):
            assert below(entry.words)
            assert not entry.default or entry.default in below(entry.words)


@pytest.mark.parametrize("entry", LEAVES, ids=lambda entry: entry.name)
def test_help_of_commands_and_options_is_an_imperative(entry: Command, capsys: pytest.CaptureFixture[str]) -> None:
    loaded = entry.load()
    first = (loaded.run.__doc__ or "").split()[0]
    assert first not in _NOT_VERBS
    flags = [
        flag
        for option in loaded.options.table().values()
        for flag in (*option.flags, *([option.off] if option.off else []))
    ]
    assert len(flags) == len(set(flags))
    for name, option in loaded.options.table().items():
        assert option.help.endswith("."), name
        assert option.help[0].isupper(), name
        assert option.argument or option.help.split()[0].strip(",") not in _NOT_VERBS, (name, option.help)
        assert not option.only_set or option.key, name
    assert run_app(capsys, *entry.words, "--help")[0] == 0


def test_setting_has_one_type() -> None:
    kinds: dict[str, set[object]] = {}
    for entry in LEAVES:
        for option in entry.load().options.table().values():
            if option.only_set:
                kinds.setdefault(option.key, set()).add((option.kind, option.many))
    assert {key: types for key, types in kinds.items() if len(types) > 1} == {}


def test_choices_are_those_of_the_packages() -> None:
    feedback = ModelRetries.table()["feedback"]
    assert feedback.choices == tuple([style.value for style in Style])
    from plansafe.app.render import FORMATS as RENDERED

    assert set(RENDERED) <= set(FORMATS)


def test_fields_of_requests_have_the_defaults_and_choices_of_the_options() -> None:
    fields = {field.name: field for field in (*AUDIT.fields, *OPEN.fields)}
    assert fields["judge"].choices == ("introduced", "all", "mitigate")
    assert (fields["min_severity"].default, fields["max_findings"].default) == ("low", 100)
    assert fields["form"].choices == ("pddl", "text")
    assert fields["default_rules"].default is True


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--set", "limits.findings"), "--set takes KEY=VALUE, not 'limits.findings'"),
        (
            ("--set", "limit.findings=1"),
            "'limit.findings' is not a setting of this command; did you mean `limits.findings`?",
        ),
        (("--set", "limits.findings=0"), "limits.findings is at least 1, not '0'"),
        (("--set", "limits.findings=x"), "limits.findings is a whole number, not 'x'"),
        (("--set", "full_state=maybe"), "full_state is true or false, not 'maybe'"),
        (("--set", "judge=none"), "judge is one of introduced, all, mitigate, not 'none'"),
        (("--set", "limits.time=1", "--time-limit", "2"), "--set limits.time and --time-limit set the same value"),
    ],
)
def test_a_setting_is_checked(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], message: str) -> None:
    code, out, err = run_app(capsys, "x.plan", *arguments)
    assert (code, out) == (2, "")
    assert message in err


def test_setting_and_its_former_flag_have_the_same_effect(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    setting = run_app(capsys, "--show-config", "--set", "limits.instances=7", "--set", "full_state=true")
    flag = run_app(capsys, "--show-config", "--max-instances", "7", "--full-state")
    assert setting[0] == flag[0] == 0
    assert "limits.instances  7                             --set limits.instances" in setting[1]
    assert "full_state        true                          --set full_state" in setting[1]
    assert flag[1] == setting[1].replace("--set limits.instances", "--max-instances").replace(
        "--set full_state", "--full-state"
    )
    assert setting[2] == ""
    assert flag[2].count("warning: ") == 2
    assert "warning: --max-instances is now --set limits.instances=VALUE" in flag[2]


def test_option_cannot_hide_a_method() -> None:
    with pytest.raises(TypeError, match="settings"):
        type("Bad", (Options,), {"settings": integer("--settings", help="Count.")})
    assert isinstance(ModelRetries.rounds, Option)
