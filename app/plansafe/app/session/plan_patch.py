"""Apply a repair to the text of a plan; the text of unchanged steps stays the same.

Comments on separate lines stay in their place; a comment after a step moves with the step.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from plansafe.grammar.diagnostics import Span
from plansafe.grammar.plan_text import is_definition, read_plan
from plansafe.grammar.source import Source
from plansafe.verifier.repair.model import EditKind, Repair

_BLANKS = " \t"
_STEPS = re.compile(r";[^\r\n]*|(\(\s*:steps)(?=[\s()])", re.IGNORECASE)


class _Unit(NamedTuple):
    """A step in the text: a deletion removes ``start`` to ``end``, a replacement only ``span``.

    ``leads``: only blanks precede it on its line. ``trails``: only blanks and a comment follow it, up to ``tail``, the
    start of the next line.
    """

    span: Span
    start: int
    end: int
    tail: int
    indent: str
    leads: bool
    trails: bool


def patched(source: Source, repair: Repair) -> str:
    """The text of the repaired plan, in linear time. ``source`` must be a plan without times."""
    spans = [step.span for step in read_plan(source).steps]
    text = _Patch(source.text, spans, repair).text()
    steps = [tuple(step.strip("()").split()) for step in repair.steps]
    read = read_plan(Source(source.name, text))
    if read.diagnostics or [step.tokens for step in read.steps] != steps:
        return repair.text  # fall back to the plain text of the repair
    return text


class _Patch:
    def __init__(self, text: str, spans: list[Span], repair: Repair) -> None:
        self._old = text
        self._newline = "\r\n" if "\r\n" in text else "\n"
        self._units = [_unit(text, span) for span in spans]
        self._repair = repair
        self._moved = {edit.step for edit in repair.edits if edit.kind is EditKind.MOVE}
        self._changes: list[tuple[int, int, str]] = []

    def text(self) -> str:
        """Apply all edits."""
        repair = self._repair
        standing = [step for step in repair.origin if step and step not in self._moved]
        for number, unit in enumerate(self._units, 1):
            if number not in standing:
                self._changes.append((unit.start, unit.end, ""))
        for edit in repair.edits:
            if edit.kind in (EditKind.SUBSTITUTE, EditKind.REPLACE):
                span = self._units[edit.step - 1].span
                self._changes.append((span.start, span.end, edit.after))
        after = 0
        waiting: list[int] = []
        for position, step in enumerate(repair.origin):
            if not step or step in self._moved:
                waiting.append(position)
            else:
                self._insert(waiting, step, after)
                after, waiting = step, []
        self._insert(waiting, 0, after)
        return self._applied()

    def _insert(self, positions: list[int], before: int, after: int) -> None:
        """Insert steps before step ``before`` or, if that is 0, after step ``after``; 0 means no step."""
        if not positions:
            return
        if before or (not after and self._units):
            unit = self._units[before - 1 if before else 0]
            for position in positions:
                if unit.leads:
                    begin = unit.span.start - len(unit.indent)
                    self._changes.append((begin, begin, self._line(position, unit.indent)))
                else:
                    self._changes.append((unit.span.start, unit.span.start, self._bare(position) + " "))
        elif after:
            unit = self._units[after - 1]
            closed = unit.trails and self._old[: unit.tail].endswith(("\n", "\r"))
            at = unit.tail if unit.trails else unit.span.end
            for position in positions:
                if closed:
                    self._changes.append((at, at, self._line(position, unit.indent)))
                elif unit.trails or unit.leads:
                    self._changes.append((at, at, self._newline + unit.indent + self._bare(position)))
                else:
                    self._changes.append((at, at, " " + self._bare(position)))
        else:
            self._fill(positions)

    def _fill(self, positions: list[int]) -> None:
        """Insert steps into an empty plan."""
        steps = [self._bare(position) for position in positions]
        if is_definition(self._old):
            section = next(match for match in _STEPS.finditer(self._old) if match[1])
            lines = "".join([f"{self._newline}    {step}" for step in steps])
            self._changes.append((section.end(), section.end(), lines))
        else:
            end = len(self._old)
            lead = self._newline if self._old and not self._old.endswith(("\n", "\r")) else ""
            self._changes.append((end, end, lead + "".join([step + self._newline for step in steps])))

    def _line(self, position: int, indent: str) -> str:
        """The line of a new step; a moved step keeps its line with the comment."""
        step = self._repair.origin[position]
        if step and self._units[step - 1].leads and self._units[step - 1].trails:
            unit = self._units[step - 1]
            line = self._old[unit.span.start : unit.tail]
            return indent + line.rstrip("\r\n") + self._newline
        return indent + self._bare(position) + self._newline

    def _bare(self, position: int) -> str:
        step = self._repair.origin[position]
        if not step:
            return self._repair.steps[position]
        span = self._units[step - 1].span
        return self._old[span.start : span.end]

    def _applied(self) -> str:
        out = []
        at = 0
        # At the same place, insertions precede deletions, in their order.
        for start, end, new in sorted(self._changes, key=lambda change: (change[0], change[1] > change[0])):
            out.append(self._old[at : max(start, at)])
            out.append(new)
            at = max(at, end)
        out.append(self._old[at:])
        return "".join(out)


def _unit(text: str, span: Span) -> _Unit:
    first = span.start
    while first and text[first - 1] in _BLANKS:
        first -= 1
    leads = first == 0 or text[first - 1] in "\r\n"
    last = span.end
    while last < len(text) and text[last] in _BLANKS:
        last += 1
    blanks = last
    trails = last == len(text) or text[last] in "\r\n;"
    if trails:
        while last < len(text) and text[last] not in "\r\n":
            last += 1
        last += 2 if text.startswith("\r\n", last) else 1 if last < len(text) else 0
    indent = text[first : span.start] if leads else ""
    if leads and trails:
        return _Unit(span, first, last, last, indent, leads, trails)
    if trails:
        return _Unit(span, first, span.end, last, indent, leads, trails)
    return _Unit(span, span.start, blanks, span.end, indent, leads, trails)
