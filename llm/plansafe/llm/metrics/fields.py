"""Read the fields of one JSON line. Each has a type and a bound; an error names the field."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from math import isfinite
from typing import Any, BinaryIO

MOST_ITEMS = 100_000
MOST_DEPTH = 16
_MOST_CONTAINERS = 200_000
_BRACKET = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{}]')


class BadField(ValueError):
    """A line is not a valid record. ``field`` is empty if the error is about the whole line."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"`{field}` {reason}" if field else reason)
        self.field = field


def read_line(line: bytes) -> dict[str, Any]:
    """Parse a line as a JSON object.

    Raises :class:`BadField`: not UTF-8, not JSON, a repeated key, NaN, nested too deep.
    """
    if line.count(b"[") + line.count(b"{") > _MOST_CONTAINERS:
        raise BadField("", "too many lists and objects")
    if _depth(line) > MOST_DEPTH:
        raise BadField("", "nested too deep")
    try:
        value = json.loads(line.decode("utf-8"), object_pairs_hook=_pairs, parse_constant=_constant, parse_int=_int)
    except UnicodeDecodeError:
        raise BadField("", "not UTF-8") from None
    except BadField:
        raise
    except ValueError:
        raise BadField("", "not JSON") from None
    if not isinstance(value, dict):
        raise BadField("", "not a JSON object")
    return value


def bounded_lines(file: BinaryIO, max_line_bytes: int, max_lines: int) -> Iterator[bytes]:
    """Yield the lines of a file, each with its line break; the last one can lack it.

    Raises :class:`BadField` for a longer line and for more lines.
    """
    for number in range(1, max_lines + 1):
        line = file.readline(max_line_bytes + 1)
        if len(line) > max_line_bytes:
            raise BadField("", f"line {number} is longer than {max_line_bytes:,} bytes")
        if not line:
            return
        yield line
    if file.read(1):
        raise BadField("", f"it has more than {max_lines:,} lines")


def _depth(line: bytes) -> int:
    """How deep brackets nest outside of strings. The parser recurses in C: with a raised limit it would crash."""
    depth = deepest = 0
    for match in _BRACKET.finditer(line):
        char = line[match.start() : match.start() + 1]
        if char in b"[{":
            depth += 1
            deepest = max(deepest, depth)
        elif char in b"]}":
            depth -= 1
    return deepest


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    record: dict[str, Any] = {}
    for key, value in pairs:
        if key in record:
            raise BadField(key[:40], "is repeated")
        record[key] = value
    return record


def _int(text: str) -> int:
    if len(text) > 20:  # reading digits takes time in their square
        raise BadField("", "a whole number of more than 20 characters")
    return int(text)


def _constant(text: str) -> float:
    raise BadField("", f"{text} is not JSON")


def only(record: Mapping[str, Any], allowed: tuple[str, ...]) -> None:
    """Refuse unknown fields, because a misspelt field would otherwise count as missing."""
    for key in record:
        if key not in allowed:
            raise BadField(key[:40], "is not a field of this record")


def text(record: Mapping[str, Any], field: str, default: str | None = None, most: int = 1000) -> str:
    """A text without lone surrogates; without a default it has to be there, and not be empty."""
    value = record.get(field, default)
    if not isinstance(value, str):
        raise BadField(field, "is missing" if field not in record else "is not a text")
    if default is None and not value:
        raise BadField(field, "is empty")
    if len(value) > most:
        raise BadField(field, f"is longer than {most} characters")
    if any(["\ud800" <= char <= "\udfff" for char in value]):
        raise BadField(field, "holds half a character")
    return value


def whole(record: Mapping[str, Any], field: str, default: int | None = None) -> int:
    """A whole number from 0 to 10^9."""
    value = record.get(field, default)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= 10**9:
        raise BadField(field, "is missing" if value is None else "is not a whole number from 0 to 10^9")
    return value


def truth(record: Mapping[str, Any], field: str) -> bool | None:
    """True, false, or null, which is the same as left out."""
    value = record.get(field)
    if value is not None and not isinstance(value, bool):
        raise BadField(field, "is neither true, false nor null")
    return value


def shares(record: Mapping[str, Any], field: str) -> tuple[float | None, ...]:
    """A list of numbers between 0 and 1; entries can be null."""
    value = record.get(field, [])
    if not isinstance(value, list) or len(value) > MOST_ITEMS:
        raise BadField(field, f"is not a list of at most {MOST_ITEMS} numbers")
    numbers: list[float | None] = []
    for entry in value:
        if entry is None:
            numbers.append(None)
        elif isinstance(entry, bool) or not isinstance(entry, int | float) or not _within(entry):
            raise BadField(field, f"has at {len(numbers) + 1} an entry that is not a number from 0 to 1")
        else:
            numbers.append(float(entry))
    return tuple(numbers)


def _within(value: float) -> bool:
    return (isinstance(value, int) or isfinite(value)) and 0 <= value <= 1
