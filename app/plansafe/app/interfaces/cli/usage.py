"""What comes before a command: a word for who types none, help by name, and commands that are misspelt.

Loaded for these alone; a plain audit needs none of it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

import typer

from plansafe.app.system.process import complain
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic

DEFAULT = "audit"
_ABOUT = "safecheck judges plans: can they be executed, do they reach the goal, are they safe?"
_FORMS = """usage: safecheck PLAN..     judge plans: files, folders, or `-` for standard input
       safecheck COMMAND .."""
_INPUTS = """The domain, the problem and the rules are found beside a plan, or named with --domain, --problem, --spec.
All flags: safecheck --help. Those of a command: safecheck help COMMAND."""


def listed(commands: Mapping[str, str]) -> str:
    """Each command with what it is for, on a line of its own."""
    size = max(map(len, commands))
    return "\n".join([f"  {name:{size}}  {about}" for name, about in commands.items()])


def usage(commands: Mapping[str, str]) -> str:
    """What to type, for someone who typed nothing."""
    return "\n\n".join([_ABOUT, _FORMS, listed(commands), _INPUTS]) + "\n"


def help_for(words: list[str], commands: Mapping[str, str]) -> list[str]:
    """The arguments that ``safecheck help WORD..`` stands for. Exits with 2 for a command that there is not."""
    if words and words[0] not in (DEFAULT, *commands):
        raise typer.Exit(_no_such(words[0], commands, f"no such command: {words[0]}"))
    return [*(words or [DEFAULT]), "--help"]


def check_spelling(word: str, commands: Mapping[str, str]) -> None:
    """Exit with 2 where a word that names no file is nearly the name of a command."""
    if not os.path.lexists(word) and _near(word, commands) is not None:
        raise typer.Exit(_no_such(word, commands, f"there is no file {word}, and no such command"))


def _near(word: str, commands: Mapping[str, str]) -> str | None:
    found = get_close_matches(word[:60], (DEFAULT, "help", *commands), n=1, cutoff=0.7)
    return found[0] if found else None


def _no_such(word: str, commands: Mapping[str, str], message: str) -> int:
    near = _near(word, commands)
    known = f"commands: {', '.join((DEFAULT, *commands))}"
    return complain(Diagnostic(SC.BAD_OPTION, message, help=f"did you mean `safecheck {near}`?" if near else known))


def complete(app: typer.Typer, group: Any) -> None:
    """Run with Typer's ``--install-completion`` and ``--show-completion``, and answer the shell."""
    full = typer.Typer(cls=group, add_completion=True, rich_markup_mode=None, callback=lambda: None)
    full.registered_commands += app.registered_commands
    full(prog_name="safecheck")


def print_usage(commands: Mapping[str, str]) -> int:
    """Print it, and return the exit code of a command line that asks for nothing."""
    print(usage(commands), end="", file=sys.stderr)
    return 2
