"""Texts about commands: the overview, the settings, warnings about old names, suggestions for misspelt names."""

from __future__ import annotations

import os
import sys
from difflib import get_close_matches
from typing import Any

import typer

from plansafe.app.interfaces.cli.command_table import (
    COMMANDS,
    HEADINGS,
    Command,
    below,
    find,
    former_names,
    is_replaced,
)
from plansafe.app.options.option import Option
from plansafe.app.options.shared import Assignments, ColorOption, MemoryLimit, NoProject, ShowConfig
from plansafe.app.system.process import complain
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic

_ABOUT = "safecheck checks plans: can they be executed, do they reach the goal, are they safe?"
_USAGE = """usage: safecheck PLAN..     audit plans: files, folders, or `-` for standard input
       safecheck COMMAND .."""
_INPUTS = """The domain, the problem and the rules are found next to a plan, or named with --domain, --problem, --spec.
Options of audits: safecheck audit --help. Options of a command: safecheck help COMMAND.
Settings for --set: safecheck help settings. Completion in a shell: safecheck --install-completion."""
_SETTINGS = "settings"


def overview() -> str:
    """The commands under their headings, and the options that every command has."""
    top = below(())
    size = max(map(len, top))
    parts = [_ABOUT, _USAGE]
    for heading in HEADINGS:
        lines = [f"  {name:{size}}  {entry.summary}" for name, entry in top.items() if entry.heading == heading]
        parts.append("\n".join([f"{heading}:", *lines]))
    common = [
        option
        for group in (ColorOption, MemoryLimit, NoProject, ShowConfig, Assignments)
        for option in group.table().values()
    ]
    names = [f"{option.flag} {option.metavar}".rstrip() for option in common]
    width = max(map(len, names))
    lines = [f"  {name:{width}}  {option.help}" for name, option in zip(names, common, strict=True)]
    return (
        "\n\n".join([*parts, "\n".join(["Options of all commands in which they have an effect:", *lines]), _INPUTS])
        + "\n"
    )


def print_overview() -> int:
    """Print the overview on standard output."""
    print(overview(), end="")
    return 0


def print_usage() -> int:
    """Print the overview on standard error, and return the exit code of an empty command line."""
    print(overview(), end="", file=sys.stderr)
    return 2


def settings_text() -> str:
    """The settings for ``--set``: key, default, effect, commands."""
    settings: dict[str, tuple[Option, list[str]]] = {}
    for command in COMMANDS:
        if isinstance(command, Command) and not is_replaced(command):
            for option in command.load().options.table().values():
                if option.only_set:
                    settings.setdefault(option.key, (option, []))[1].append(command.name)
    lines = ["Settings for --set KEY=VALUE. The settings of `limits` can also be set in the project file.", ""]
    for key, (option, commands) in sorted(settings.items()):
        lines.append(f"{key}  (default: {_default(option)})")
        lines += [f"    {option.help}", f"    {', '.join(commands)}"]
    return "\n".join(lines) + "\n"


def _default(option: Option) -> str:
    if option.default is None or option.default in ((), ""):
        return "none"
    return str(option.default).lower() if option.kind == "switch" else str(option.default)


def help_for(words: list[str]) -> list[str]:
    """The arguments that ``safecheck help WORD..`` means. Exits with 2 for an unknown command."""
    if words == [_SETTINGS]:
        print(settings_text(), end="")
        raise typer.Exit(0)
    if find(words[0]) is None:
        old = former_names().get(tuple(words[:1]))
        if old is None:
            raise typer.Exit(_complain_unknown(words[0], f"no such command: {words[0]}"))
        words = [*old.split(), *words[1:]]
    return [*words, "--help"]


def check_spelling(word: str) -> None:
    """Exit with 2 if a word is not a file and resembles the name of a command."""
    if not os.path.lexists(word) and _near(word) is not None:
        raise typer.Exit(_complain_unknown(word, f"{word} is not a file and not a command"))


def _near(word: str) -> str | None:
    replacements = {name[0]: present for name, present in former_names().items() if len(name) == 1}
    matches = get_close_matches(word[:60], ("help", *below(()), *replacements), n=1, cutoff=0.7)
    return replacements.get(matches[0], matches[0]) if matches else None


def _complain_unknown(word: str, message: str) -> int:
    suggestion = _near(word)
    commands = f"commands: {', '.join(below(()))}"
    return complain(
        Diagnostic(SC.BAD_OPTION, message, help=f"did you mean `safecheck {suggestion}`?" if suggestion else commands)
    )


def warn_of_old_name(former: str) -> None:
    """Warn on standard error that a command has a new name."""
    present = {" ".join(old): name for old, name in former_names().items()}.get(former) or _replacement(former)
    print(
        f"warning: `safecheck {former}` is now `safecheck {present}`; the old name still works, for now",
        file=sys.stderr,
    )


def _replacement(former: str) -> str:
    command = find(former)
    return command.replaced_by if isinstance(command, Command) else ""


def warn_of_old_flag(option: Option) -> None:
    """Warn on standard error that a flag is a setting now."""
    print(f"warning: {option.flag} is now --set {option.key}=VALUE; the old flag still works, for now", file=sys.stderr)


def complete(group: Any) -> None:
    """Run Typer's ``--install-completion`` and ``--show-completion``, and the requests of the shell."""
    full = typer.Typer(cls=group, add_completion=True, rich_markup_mode=None, callback=lambda: None)
    full(prog_name="safecheck")
