"""Tables that people edit, in TOML: reading them with bounded work, and finding the line that a value stands on."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from plansafe.grammar.diagnostics import Diagnostic, Label, Span
from plansafe.grammar.source import Source

MAX_CHARACTERS = 1_000_000
MAX_LINE = 10_000
MAX_DEPTH = 100
_WHERE = re.compile(r" \(at line (\d+), column (\d+)\)$")


def read_toml(table: Source, code: str) -> dict[str, Any] | Diagnostic:
    """The table as data; a diagnostic with this code if it is too large or no TOML."""
    refusal = _too_much(table.text)
    if refusal is not None:
        return Diagnostic(code, refusal, (Label(table.name, Span(0, min(1, len(table.text))), "in this table"),))
    try:
        return tomllib.loads(table.text)
    except tomllib.TOMLDecodeError as error:
        return _not_toml(table, code, str(error))


def key_span(table: Source, at: tuple[str, ...]) -> Span:
    """The line on which a key stands; ``at`` are the keys that lead there, and numbers count rows from 1.

    TOML's reader gives no places, so the line is looked for.
    """
    text, start = table.text, 0
    for depth, key in enumerate(at):
        if key.isdecimal():
            continue
        times = int(at[depth + 1]) if depth + 1 < len(at) and at[depth + 1].isdecimal() else 1
        path = r"\.".join([rf"\"?{re.escape(k)}\"?" for k in at[: depth + 1] if not k.isdecimal()])
        header = re.compile(rf"^[ \t]*\[\[?{path}\]\]?", re.MULTILINE)
        entry = re.compile(rf"(?:^|[{{,])[ \t]*\"?{re.escape(key)}\"?[ \t]*=", re.MULTILINE)
        found = list(header.finditer(text)) or list(entry.finditer(text, start))
        if not found:
            continue
        start = found[min(times, len(found)) - 1].start()
    start += len(text[start:]) - len(text[start:].lstrip(" \t\n{,"))
    end = text.find("\n", start)
    return Span(start, end if end >= 0 else len(text))


def _too_much(text: str) -> str | None:
    """What TOML's reader is not to be asked: it takes quadratic time for long keys, and recurses into values."""
    if len(text) > MAX_CHARACTERS:
        return f"the table has more than {MAX_CHARACTERS} characters"
    if max(map(len, text.split("\n"))) > MAX_LINE:
        return f"a line has more than {MAX_LINE} characters"
    depth = 0
    for bracket in re.findall(r"[\[\]{}]", text):
        depth += 1 if bracket in "[{" else -1
        if depth > MAX_DEPTH:
            return f"brackets are nested deeper than {MAX_DEPTH}"
    return None


def _not_toml(table: Source, code: str, message: str) -> Diagnostic:
    found = _WHERE.search(message)
    at = len(table.text)
    if found is not None:
        lines = table.text.split("\n")
        at = sum([len(line) + 1 for line in lines[: int(found[1]) - 1]]) + int(found[2]) - 1
    label = Label(table.name, Span(at, min(at + 1, len(table.text))), "here")
    said = _WHERE.sub("", message)
    return Diagnostic(code, f"this is not TOML: {said[:1].lower()}{said[1:]}", (label,))
