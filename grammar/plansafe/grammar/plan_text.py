"""Plans: IPC lines, timed lines, and ``(define (plan ..) ..)``.

Plans of a million steps are read without places: :func:`split_plain_steps` cuts the text after each closing
parenthesis. Equal steps give equal chunks, so that the caller can cache resolved steps. All other plans, and
plans with a mistake, are read with places by :func:`read_plan`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from plansafe.grammar.diagnostics import Span
from plansafe.grammar.plan_definition import read_definition
from plansafe.grammar.plan_lines import read_lines
from plansafe.grammar.plan_steps import PlanText, Step, count_decimals
from plansafe.grammar.sexpr import has_invalid_utf8, parse_number
from plansafe.grammar.source import Source

_COMMENT = re.compile(r";[^\r\n]*")
_DEFINE = re.compile(
    r"(?:\s|;[^\r\n]*(?:[\r\n]|\Z))*\(\s*(?:;[^\r\n]*[\r\n]\s*)*define(?![^\s();])(?:[^();]|;[^\r\n]*[\r\n])*\(",
    re.IGNORECASE,
)
"""The beginning of a definition: ``define`` and a list. Without the list it is a step of an action of that name."""
_TIMED = r"\s*(\d{1,18}(?:\.\d{1,18})?)\s*:\s*(\([^()\[\]]*\))(?:\s*\[\s*(\d{1,18}(?:\.\d{1,18})?)\s*\])?"
"""A timed step on a regular line: its time, the step, its duration; compiled at first use."""
_BLOCK = 1 << 20
"""The number of characters that are split at once."""


def split_plain_steps(text: str) -> Iterator[list[str]] | None:
    """Split a plan into blocks of chunks ``"(name a b"`` in lower case, one for each step; ``None`` if it is not plain.

    A chunk includes the white space before its step. The caller must check that a chunk is a step: white space, one
    ``(``, and tokens.
    """
    if ":" in text or "[" in text or '"' in text:
        return None
    if ";" in text:
        text = _COMMENT.sub(" ", text)
    if text.count("(") != text.count(")"):
        return None
    if has_invalid_utf8(text):
        return None
    return _split_blocks(text)


def _split_blocks(text: str) -> Iterator[list[str]]:
    start = 0
    size = len(text)
    while start < size:
        end = size if size - start <= _BLOCK else text.rfind(")", start, start + _BLOCK) + 1
        if end <= start:
            end = text.find(")", start) + 1 or size
        chunks = text[start:end].lower().split(")")
        text_after_steps = chunks.pop()
        if text_after_steps.strip():
            chunks.append(text_after_steps + " (")  # the caller finds that this is not a step
        yield chunks
        start = end


def split_chunk(chunk: str) -> list[str] | None:
    """Return the tokens of a chunk; ``None`` if it is not one step."""
    body = chunk.lstrip()
    if not body or body[0] != "(" or "(" in body[1:]:
        return None
    tokens = body[1:].split()
    return tokens or None


def is_definition(text: str) -> bool:
    """Whether a text begins with ``(define (``."""
    return _DEFINE.match(text) is not None


def read_plan(source: Source) -> PlanText:
    """Read a plan with places. Mistakes become diagnostics; the other steps are kept."""
    if is_definition(source.text):
        return read_definition(source)
    return _read_plain_steps(source.text) or _read_timed_steps(source.text) or read_lines(source)


def _read_plain_steps(text: str) -> PlanText | None:
    """Read a plain ASCII plan without mistakes, from the places of its parentheses alone; ``None`` for another plan."""
    if not text.isascii() or ";" in text or ":" in text or "[" in text or "]" in text or '"' in text:
        return None
    steps = []
    position = 0
    *chunks, text_after_steps = text.lower().split(")")
    if text_after_steps.strip():
        return None
    for chunk in chunks:
        tokens = split_chunk(chunk)
        end = position + len(chunk) + 1
        if tokens is None:
            return None
        steps.append(Step(tuple(tokens), None, None, Span(position + chunk.index("("), end)))
        position = end
    return PlanText(tuple(steps), ())


def _read_timed_steps(text: str) -> PlanText | None:
    """Read an ASCII plan of regular timed lines without mistakes; ``None`` for another plan."""
    if ":" not in text:
        return None
    if ";" in text:
        text = _COMMENT.sub(_blank_out, text)
    text = text.rstrip()
    if not text or not text.isascii():
        return None
    numbers: dict[str, int | Fraction | None] = {}
    tokens_by_step: dict[str, tuple[str, ...]] = {}
    steps: list[Step] = []
    most_decimals = position = 0
    match_at, size = re.compile(_TIMED, re.ASCII).match, len(text)
    while position < size:
        match = match_at(text, position)
        if match is None:
            return None
        position = match.end()
        time, step, duration = match.groups()
        tokens = tokens_by_step.get(step)
        if tokens is None:
            tokens = tokens_by_step[step] = tuple(step[1:-1].lower().split())
            if not tokens:
                return None
        most_decimals = max(most_decimals, count_decimals(time))
        step_duration: int | Fraction | None = None
        if duration is not None:
            if duration not in numbers:
                numbers[duration] = parse_number(duration)
                most_decimals = max(most_decimals, count_decimals(duration))
            step_duration = numbers[duration]
        steps.append(Step(tokens, _parse_decimal(time), step_duration, Span(*match.span(2))))
    return PlanText(tuple(steps), (), decimals=most_decimals)


def _blank_out(comment: re.Match[str]) -> str:
    """Return white space of a comment's length, so that places do not change."""
    return " " * len(comment.group())


def _parse_decimal(token: str) -> int | Fraction:
    """Return the exact value of an unsigned decimal number that matches ``_TIMED``."""
    digits, _, decimals = token.partition(".")
    if not decimals.strip("0"):
        return int(digits)
    return Fraction(int(digits + decimals), 10 ** len(decimals))
