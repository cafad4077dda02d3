"""The command line as pages: every command and every flag, from the Typer app."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import typer
from bench.site.markdown import block, cell, code

_FLAG = re.compile(r"(?<![\w`-])(--[a-z][a-z-]*)(?![`\w])")


def every_command() -> Iterator[tuple[tuple[str, ...], Any]]:
    """The name of each command as words, and what Typer has of it; a group before its commands."""
    from plansafe.app.interfaces.cli.commandline import app

    root: Any = typer.main.get_command(app)
    waiting = [((name,), root, root) for name in reversed(dict.fromkeys(root.list_commands(None)))]
    while waiting:
        words, group, _ = waiting.pop()
        command = group.get_command(None, words[-1])
        yield words, command
        if hasattr(command, "list_commands"):
            waiting += [((*words, name), command, root) for name in reversed(command.list_commands(None))]


def options(words: tuple[str, ...], command: Any) -> list[tuple[str, str]]:
    """Each flag and each argument of a command as it is typed, and what it does."""
    context = command.make_context(" ".join(words), [], resilient_parsing=True)
    rows = []
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None:
            rows.append(record)
        elif parameter.param_type_name == "argument":
            rows.append((parameter.make_metavar(context), "what it works on"))
    return rows


def usage(words: tuple[str, ...], command: Any) -> str:
    """The line of usage."""
    context = command.make_context(" ".join(words), [], resilient_parsing=True)
    return f"safecheck {' '.join([*words, *command.collect_usage_pieces(context)])}"


def pages() -> dict[str, str]:
    """A page for each command, by its file below ``reference/commands``."""
    made: dict[str, list[str]] = {}
    index = ["# Commands", "", "Made from the command line itself.", "", "| command | what it does |", "|---|---|"]
    for words, command in every_command():
        said = _paragraphs(command.help or "")
        name = f"{words[0]}.md"
        link = name if len(words) == 1 else f"{name}#{'safecheck-' + '-'.join(words)}"
        index.append(f"| [`safecheck {' '.join(words)}`]({link}) | {cell(said[0] if said else '')} |")
        lines = made.setdefault(name, [])
        lines += [f"{'#' if len(words) == 1 else '##'} safecheck {' '.join(words)}", ""]
        lines += [block("text", usage(words, command))]
        lines += [f"{paragraph}\n" for paragraph in said]
        lines += ["| | |", "|---|---|"]
        lines += [f"| {code(' '.join(typed.split()))} | {cell(does)} |" for typed, does in options(words, command)]
        lines.append("")
    return {"index.md": "\n".join(index) + "\n"} | {name: "\n".join(lines) for name, lines in made.items()}


def _paragraphs(text: str) -> list[str]:
    """Its paragraphs; what is written with less than and greater than stays text."""
    parts = [part.replace("\b", "") for part in text.split("\n\n")]
    return [cell(_FLAG.sub(r"`\1`", part)) for part in parts if part.strip()]
