"""Read TOML tables that people edit, with bounded work, and find the lines of their keys."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from plansafe.grammar.diagnostics import Diagnostic, Label, Severity, Span
from plansafe.grammar.source import Source

MAX_CHARACTERS = 1_000_000
MAX_LINE = 10_000
MAX_DEPTH = 100
_ERROR_POSITION = re.compile(r" \(at line (\d+), column (\d+)\)$")
Keys = tuple[str, ...]
"""The keys that lead to a value in a table; numbers count rows from 1."""


def read_toml(table: Source, code: str) -> dict[str, Any] | Diagnostic:
    """The parsed table; a diagnostic with this code if it is too large or not TOML."""
    refusal = _find_refusal_reason(table.text)
    if refusal is not None:
        return Diagnostic(code, refusal, (Label(table.name, Span(0, min(1, len(table.text))), "in this table"),))
    try:
        return tomllib.loads(table.text)
    except tomllib.TOMLDecodeError as error:
        return _make_syntax_error(table, code, str(error))


def locate_syntax_error(source: Source, message: str) -> tuple[int, str]:
    """Return offset and reason of a message of ``tomllib``; a message without a place is at the end of the text."""
    place = _ERROR_POSITION.search(message)
    if place is None:
        return len(source.text), message
    starts = source.line_starts
    offset = starts[min(int(place[1]), len(starts)) - 1] + int(place[2]) - 1
    return min(offset, len(source.text)), message[: place.start()]


class TableReader:
    """Collects the mistakes in the values of a table, as diagnostics with one code."""

    def __init__(self, table: Source, code: str) -> None:
        self.table = table
        self.code = code
        self.diagnostics: list[Diagnostic] = []

    def parse_table(self) -> dict[str, Any] | None:
        """Parse the table; ``None`` if it is not TOML, which is reported."""
        data = read_toml(self.table, self.code)
        if isinstance(data, Diagnostic):
            self.diagnostics.append(data)
            return None
        return data

    def report(
        self,
        message: str,
        keys: Keys = (),
        help: str | None = None,
        code: str | None = None,
        severity: Severity = Severity.ERROR,
    ) -> None:
        """Report a mistake in the value of a key."""
        text = f"in `{'.'.join(keys)}`" if keys else "in this table"
        label = Label(self.table.name, find_key_span(self.table, keys), text)
        self.diagnostics.append(Diagnostic(code or self.code, message, (label,), help=help, severity=severity))


def find_key_span(table: Source, keys: Keys) -> Span:
    """Find the line of a key in the text, because TOML's reader does not return places."""
    text, start = table.text, 0
    for depth, key in enumerate(keys):
        if key.isdecimal():
            continue
        row = int(keys[depth + 1]) if depth + 1 < len(keys) and keys[depth + 1].isdecimal() else 1
        path = r"\.".join([rf"\"?{re.escape(key)}\"?" for key in keys[: depth + 1] if not key.isdecimal()])
        header = re.compile(rf"^[ \t]*\[\[?{path}\]\]?", re.MULTILINE)
        entry = re.compile(rf"(?:^|[{{,])[ \t]*\"?{re.escape(key)}\"?[ \t]*=", re.MULTILINE)
        matches = list(header.finditer(text)) or list(entry.finditer(text, start))
        if not matches:
            continue
        start = matches[min(row, len(matches)) - 1].start()
    start += len(text[start:]) - len(text[start:].lstrip(" \t\n{,"))
    end = text.find("\n", start)
    return Span(start, end if end >= 0 else len(text))


def _find_refusal_reason(text: str) -> str | None:
    """Return why a text is refused: TOML's reader takes quadratic time for long keys, and recurses into values."""
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


def _make_syntax_error(table: Source, code: str, message: str) -> Diagnostic:
    offset, reason = locate_syntax_error(table, message)
    label = Label(table.name, Span(offset, min(offset + 1, len(table.text))), "here")
    return Diagnostic(code, f"this is not TOML: {reason[:1].lower()}{reason[1:]}", (label,))
