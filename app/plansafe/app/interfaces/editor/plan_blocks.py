"""The blocks of a plan without a ``define`` form: steps that follow a comment or an empty line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from plansafe.grammar.source import Source


class Block(NamedTuple):
    """Lines of a plan, numbered from 0, both inclusive; ``heading`` is the comment that the block begins with."""

    first: int
    last: int
    heading: str


def plan_blocks(source: Source) -> Iterator[Block]:
    """Yield the blocks of a plan in order. A comment between steps begins a block, and an empty line ends one."""
    first, heading, has_steps = -1, "", False
    count = len(source.line_starts)
    for number in range(count + 1):
        line = source.line(number + 1).strip() if number < count else ""
        is_comment = line.startswith(";")
        if first >= 0 and (not line or (is_comment and has_steps)):
            yield Block(first, number - 1, heading)
            first = -1
        if line and first < 0:
            first, heading, has_steps = number, line.lstrip("; \t") if is_comment else "", False
        has_steps = has_steps or (bool(line) and not is_comment)
