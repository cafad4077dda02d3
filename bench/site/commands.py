"""Reference pages of the command line: every command and option, from the Typer app."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import typer
from bench.site.markdown import code_block, index_page, inline_code, table, table_cell

_FLAG = re.compile(r"(?<![\w`-])(--[a-z][a-z-]*)(?![`\w])")


def iterate_commands() -> Iterator[tuple[tuple[str, ...], Any]]:
    """The words of each command and its Typer object; a group comes before its commands."""
    from plansafe.app.interfaces.cli.commandline import app

    root: Any = typer.main.get_command(app)
    pending = [((name,), root, root) for name in reversed(dict.fromkeys(root.list_commands(None)))]
    while pending:
        words, group, _ = pending.pop()
        command = group.get_command(None, words[-1])
        yield words, command
        if hasattr(command, "list_commands"):
            pending += [((*words, name), command, root) for name in reversed(command.list_commands(None))]


def option_rows(words: tuple[str, ...], command: Any) -> list[tuple[str, str]]:
    """Each option and argument of a command, with its help text."""
    context = command.make_context(" ".join(words), [], resilient_parsing=True)
    rows = []
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None:
            rows.append(record)
        elif parameter.param_type_name == "argument":
            rows.append((parameter.make_metavar(context), "the input"))
    return rows


def usage_line(words: tuple[str, ...], command: Any) -> str:
    """The usage line of a command."""
    context = command.make_context(" ".join(words), [], resilient_parsing=True)
    return f"safecheck {' '.join([*words, *command.collect_usage_pieces(context)])}"


def command_pages() -> dict[str, str]:
    """A page for each command, by its file name in ``reference/commands``."""
    texts: dict[str, list[str]] = {}
    index = []
    for words, command in iterate_commands():
        paragraphs = _paragraphs(command.help or "")
        page_name = f"{words[0]}.md"
        link = page_name if len(words) == 1 else f"{page_name}#{'safecheck-' + '-'.join(words)}"
        index.append((f"[`safecheck {' '.join(words)}`]({link})", paragraphs[0] if paragraphs else ""))
        lines = texts.setdefault(page_name, [])
        lines += [f"{'#' if len(words) == 1 else '##'} safecheck {' '.join(words)}", ""]
        lines += [code_block("text", usage_line(words, command))]
        lines += [f"{paragraph}\n" for paragraph in paragraphs]
        rows = [
            (inline_code(" ".join(synopsis.split())), table_cell(help_text))
            for synopsis, help_text in option_rows(words, command)
        ]
        lines += [*table(("option", "effect"), rows), ""]
    return {"index.md": index_page("Commands", "Generated from the command line.", ("command", "effect"), index)} | {
        page_name: "\n".join(lines) for page_name, lines in texts.items()
    }


def _paragraphs(text: str) -> list[str]:
    """The paragraphs of a help text, with flags as code and other markup escaped."""
    parts = [part.replace("\b", "") for part in text.split("\n\n")]
    return [table_cell(_FLAG.sub(r"`\1`", part)) for part in parts if part.strip()]
