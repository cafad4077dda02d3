"""A repair as a listing of steps with the numbers of both plans, in the manner of ``diff``; and in one sentence."""

from __future__ import annotations

import difflib
import io
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from plansafe.app.system.terminal_text import Style, escaped, visible
from plansafe.grammar.diagnostics import Span
from plansafe.verifier.model.nodes import Number
from plansafe.verifier.repair.model import Edit, EditKind, Repair

CONTEXT = 2
_PAINT = {"+": "1;32", "-": "1;31", "~": "1;33", "<": "1;36", ">": "1;36"}


class Replacement(NamedTuple):
    """A part of a text that is replaced; ``span`` is empty for an insertion."""

    span: Span
    text: str


class Line(NamedTuple):
    """A step of either plan. ``old`` and ``new`` are its numbers (0: not there); ``remarks``: edit and reason.

    ``mark``: `` `` kept, ``+`` inserted, ``-`` deleted, ``~`` substituted, ``<`` moved away, ``>`` moved here.
    """

    mark: str
    old: int
    new: int
    text: str
    remarks: tuple[str, ...] = ()


def lines(original: Sequence[str], repair: Repair) -> list[Line]:
    """All steps of both plans in order; at the same position, deleted steps come before inserted ones."""
    by_step = {edit.step: edit for edit in repair.edits if edit.step}
    inserted = {edit.position: edit for edit in repair.edits if edit.kind is EditKind.INSERT}
    out: list[Line] = []
    waiting: list[Line] = []
    done = 0

    def leave(until: int) -> None:
        nonlocal done
        for step in range(done + 1, until):
            edit = by_step[step]
            if edit.kind is EditKind.MOVE:
                out.append(Line("<", step, 0, original[step - 1], (f"moved: now new step {edit.position}",)))
            else:
                out.append(Line("-", step, 0, original[step - 1], _because(edit)))
        done = until

    for position, step in enumerate(repair.origin, 1):
        text = repair.steps[position - 1]
        edit = by_step.get(step) if step else inserted.get(position)
        if edit is None and step:
            leave(step)
            out += [*waiting, Line(" ", step, position, text)]
            waiting = []
        elif edit is not None and edit.kind in (EditKind.SUBSTITUTE, EditKind.REPLACE):
            leave(step)
            out += [*waiting, Line("~", step, position, text, (f"instead of {edit.before}", *_because(edit)))]
            waiting = []
        elif step:
            assert edit is not None
            waiting.append(Line(">", step, position, text, (f"moved: was old step {step}", *_because(edit))))
        else:
            remarks = () if edit is None else (*_because(edit), *_range(edit, repair))
            waiting.append(Line("+", 0, position, text, remarks))
    leave(len(original) + 1)
    return out + waiting


def listing(original: Sequence[str], repair: Repair, style: Style) -> list[str]:
    """The changed steps, each with its reason, and a few steps around them."""
    rows = lines(original, repair)
    near = {at + by for at, row in enumerate(rows) if row.mark != " " for by in range(-CONTEXT, CONTEXT + 1)}
    size = max(3, len(str(len(original))), len(str(len(repair.steps))))
    out = [style.faint(f"{'old':>{size}}  {'new':>{size}}")]
    hidden = 0
    for at, row in enumerate(rows):
        if at not in near:
            hidden += 1
            continue
        if hidden:
            out.append(_gap(hidden, size, style))
            hidden = 0
        numbers = f"{row.old or '':>{size}}  {row.new or '':>{size}}"
        body = f"{row.mark} {visible(row.text)}"
        out.append(f"{style.faint(numbers)}  {style.paint(body, _PAINT[row.mark]) if row.mark != ' ' else body}")
        out += [f"{' ' * (2 * size + 6)}{style.frame('=')} {visible(remark)}" for remark in row.remarks]
    if hidden:
        out.append(_gap(hidden, size, style))
    return out


def _gap(hidden: int, size: int, style: Style) -> str:
    return style.faint(f"{' ' * (2 * size + 4)}.. {hidden:,} step{'' if hidden == 1 else 's'} unchanged")


def sentence(original: Sequence[str], repair: Repair) -> str:
    """The edits in words, in the order of the plan: ``insert (a b) before step 4; delete step 6, (c)``."""
    words = []
    for row in lines(original, repair):
        edit = row.text
        if row.mark == "+":
            words.append(f"insert {edit} {_place(repair, row.new, row.new)}")
        elif row.mark == "-":
            words.append(f"delete step {row.old}, {edit}")
        elif row.mark == "~":
            words.append(f"replace step {row.old} by {edit}")
        elif row.mark == ">":
            words.append(f"move step {row.old}, {edit}, {_place(repair, row.new, row.new)}")
    return "; ".join(words) or "nothing"


def _because(edit: Edit) -> tuple[str, ...]:
    return (edit.reason,) if edit.reason else ()


def _range(edit: Edit, repair: Repair) -> tuple[str, ...]:
    first, last = edit.earliest or edit.position, edit.latest or edit.position
    if first == last:
        return ()
    return (f"it may stand anywhere {_place(repair, first, last, edit.position)}",)


def _place(repair: Repair, first: int, last: int, step_position: int = 0) -> str:
    """Where positions ``first`` to ``last`` of the repaired plan are, relative to the author's steps.

    ``step_position`` is the position of the step itself, which does not count as its own neighbour.
    """
    before = next(
        (repair.origin[at - 1] for at in range(first - 1, 0, -1) if at != step_position and repair.origin[at - 1]), 0
    )
    size = len(repair.origin)
    after = next(
        (repair.origin[at - 1] for at in range(last + 1, size + 1) if at != step_position and repair.origin[at - 1]), 0
    )
    if first != last and before and after:
        return f"between step {before} and step {after}"
    if after:
        return f"before step {after}"
    if before:
        return f"after step {before}"
    return "in the plan" if first != last else "into the empty plan"


def cost_text(number: Number) -> str:
    """A cost as people write it."""
    try:
        return str(number) if isinstance(number, int) else f"{float(number):g}"
    except OverflowError:
        return str(number)


def replacements(before: str, after: str) -> list[Replacement]:
    """The line differences between two texts, one replacement for each group of adjacent lines."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    starts = [0, *accumulate([len(line) for line in old])]
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    return [
        Replacement(Span(starts[a], starts[b]), "".join(new[c:d]))
        for tag, a, b, c, d in matcher.get_opcodes()
        if tag != "equal"
    ]


def unified(before: str, after: str, old: str, new: str) -> Iterator[str]:
    """The lines of a unified diff between two texts called ``old`` and ``new``; what cannot be seen is escaped."""
    for line in difflib.unified_diff(list(io.StringIO(before, "\n")), list(io.StringIO(after, "\n")), old, new):
        yield escaped(line) if line.endswith("\n") else f"{escaped(line)}\n\\ No newline at end of file\n"
