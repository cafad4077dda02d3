"""Folding ranges: forms over several lines, runs of comments, and the blocks of a plan."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types

from plansafe.app.interfaces.editor.document_text import Text
from plansafe.app.interfaces.editor.plan_blocks import plan_blocks
from plansafe.app.interfaces.editor.source_tree import Form, Part, parse_tree
from plansafe.app.project.file_kinds import Kind

MAX_RANGES = 5_000


def folding_ranges(text: Text, kind: Kind) -> list[types.FoldingRange]:
    """Return the folding ranges of a file, at most one for each first line."""
    if kind in (Kind.STEPS, Kind.EMPTY, Kind.OTHER):
        ranges = [types.FoldingRange(block.first, block.last) for block in plan_blocks(text.source)]
    else:
        ranges = [*_forms(text, parse_tree(text.source)), *_comments(text)]
    widest: dict[int, types.FoldingRange] = {}
    for folding in ranges:
        if folding.end_line > folding.start_line:
            widest_range = widest.setdefault(folding.start_line, folding)
            widest_range.end_line = max(widest_range.end_line, folding.end_line)
    return sorted(widest.values(), key=lambda folding: folding.start_line)[:MAX_RANGES]


def _forms(text: Text, parts: tuple[Part, ...]) -> Iterator[types.FoldingRange]:
    """Yield a range for each form; a last line of closing brackets alone stays visible."""
    for part in parts:
        if not isinstance(part, Form):
            continue
        first = text.source.position(part.span.start)[0]
        last = text.source.position(max(part.span.end - 1, part.span.start))[0]
        if last == first:
            continue
        end = last - 1 if set(text.source.line(last).strip()) <= {")"} else last
        yield types.FoldingRange(first - 1, end - 1)
        yield from _forms(text, part.parts)


def _comments(text: Text) -> Iterator[types.FoldingRange]:
    """Yield the runs of lines that are comments."""
    first = -1
    for number in range(len(text.source.line_starts) + 1):
        is_comment = number < len(text.source.line_starts) and text.source.line(number + 1).lstrip().startswith(";")
        if is_comment and first < 0:
            first = number
        elif not is_comment and first >= 0:
            yield types.FoldingRange(first, number - 1, kind=types.FoldingRangeKind.Comment)
            first = -1
