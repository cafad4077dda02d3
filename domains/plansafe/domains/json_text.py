"""Read JSON from untrusted files: without recursion on the nesting depth, and with the places of errors."""

from __future__ import annotations

import json
import re
from typing import Any

from plansafe.grammar.codes import SC
from plansafe.grammar.data_literals import DataValue, UnreadableValue, parse_value
from plansafe.grammar.diagnostics import Diagnostic, Label, Span
from plansafe.grammar.source import Source

DEPTH = 30
_BRACKETS = re.compile(r"[\[\]{}]")
# Possessive quantifiers: a long string is not matched again by backtracking.
_TOKENS = re.compile(r'"(?:[^"\\]++|\\.)*+"|[\[\]{}]', re.DOTALL)


class BadJson(Exception):
    """The text is not JSON; ``position`` is the place of the error."""

    def __init__(self, message: str, position: int) -> None:
        super().__init__(message)
        self.message = message
        self.position = position


def read_json(text: str) -> Any:
    """Parse a JSON text. Raises :class:`BadJson`, also if it nests deeper than ``DEPTH``.

    The parser of the standard library is fast and recurses in C, so the depth is counted first.
    """
    if _depth(_BRACKETS, text)[0] > DEPTH:
        depth, position = _depth(_TOKENS, text)
        if depth > DEPTH:
            raise BadJson(f"this nests deeper than {DEPTH}", position)
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise _bad(text, error) from None
    except ValueError as error:  # a number with more digits than Python reads
        raise BadJson(f"this is not JSON: {error}", 0) from None
    if not text.isascii():
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:  # bytes of another encoding
            raise BadJson("this is not UTF-8: save the file as UTF-8", error.start) from None
    return value


def _bad(text: str, error: json.JSONDecodeError) -> BadJson:
    written = text.rstrip()
    if not written:
        return BadJson("the file is empty", 0)
    if error.pos >= len(written) or error.msg.startswith("Unterminated string"):
        return BadJson("this JSON is cut off: the text ends inside a value", min(error.pos, len(written) - 1))
    return BadJson(f"this is not JSON: {error.msg[:1].lower()}{error.msg[1:]}", error.pos)


def _depth(pattern: re.Pattern[str], text: str) -> tuple[int, int]:
    """The greatest depth of brackets, and the position at which it first exceeds ``DEPTH``."""
    depth = deepest = 0
    for match in pattern.finditer(text):
        bracket = match.group()
        if bracket in "[{":
            depth += 1
            if depth > deepest:
                deepest = depth
                if depth > DEPTH:
                    return depth, match.start()
        elif bracket in "]}":
            depth -= 1
    return deepest, 0


def broken_plan(source: Source, code: str = SC.FOREIGN_LINE) -> Diagnostic | None:
    """Report a plan that begins like JSON and is not valid JSON; ``None`` for other plans.

    Reading only its valid beginning would audit another plan.
    """
    if source.text.lstrip()[:1] not in ("[", "{"):
        return None
    try:
        read_json(source.text)
    except BadJson as error:
        place = Span(error.position, min(error.position + 1, len(source.text)))
        return Diagnostic(code, error.message, (Label(source.name, place),), help="a comma or a bracket may be missing")
    return None


def place_of(text: str, path: tuple[str | int, ...]) -> Span:
    """The place of the value at a path of keys and positions; the start of the text if there is no such value.

    Slow, since the text is parsed again with places: only for error messages.
    """
    start = len(text) - len(text.lstrip())
    if text[start : start + 1] not in ("[", "{"):
        return Span(start, len(text.rstrip()))
    try:
        value: DataValue | None = parse_value(text, start, len(text))
    except UnreadableValue:
        return Span(start, start)
    for step in path:
        assert value is not None
        value = _item(value, step)
        if value is None:
            return Span(start, min(start + 1, len(text)))
    assert value is not None
    return Span(value.start, value.end)


def _item(value: DataValue, step: str | int) -> DataValue | None:
    if isinstance(step, str):
        values = [item for key, item in value.pairs if key.text == step] if value.kind == "object" else []
        return values[-1] if values else None
    return value.items[step] if value.kind == "list" and step < len(value.items) else None
