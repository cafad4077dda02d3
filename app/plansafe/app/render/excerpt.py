"""Excerpts of sources with carets, in the manner of rustc."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from plansafe.app.system.terminal_text import TAB, Style, brief, folded, visible, width
from plansafe.grammar.diagnostics import Label, Span
from plansafe.grammar.named_tuple import NamedTuple
from plansafe.grammar.source import Source

_LEAST_ROOM = 30
"""Columns that the words of a mark get at least, further left than the mark if need be."""
_LONG = 1_000
_BARE = re.compile(r"[\s\[\](){},]*\n[^\S\n]*")
_CONTEXT = 20  # columns kept before the first mark of a line that is cut


class _Mark(NamedTuple):
    """A label on one line: columns counted from 0, half-open, on the text as shown."""

    start: int
    end: int
    text: str
    primary: bool


def gutter(labels: Iterable[Label], sources: Mapping[str, Source]) -> int:
    """How many columns the line numbers of these labels need."""
    shown_labels = [label for label in labels if label.source in sources]
    lines = [
        sources[label.source].position(_without_leading_brackets(label, sources[label.source]).span.start)[0]
        for label in shown_labels
    ]
    return len(str(max(lines, default=1)))


def excerpt(
    labels: Sequence[Label], sources: Mapping[str, Source], margin: int, style: Style, begun: bool = False
) -> list[str]:
    """Show the labelled places of all sources, the source of the first primary label first.

    Labels in sources that are not known are left out: there is nothing to show of them. ``begun`` says that the head
    line of the excerpt is there already, so that all sources are further ones.
    """
    by_source: dict[str, list[Label]] = {}
    for label in sorted(labels, key=lambda label: not label.primary):
        if label.source in sources:
            by_source.setdefault(label.source, []).append(label)
    out: list[str] = []
    for number, (name, places) in enumerate(by_source.items()):
        out += _of_source(sources[name], places, ":::" if number or begun else "-->", margin, style)
    return out


def _of_source(source: Source, labels: Sequence[Label], arrow: str, margin: int, style: Style) -> list[str]:
    lines: dict[int, list[Label]] = {}
    for label in [_without_leading_brackets(label, source) for label in labels]:
        lines.setdefault(source.position(label.span.start)[0], []).append(label)
    line, column = source.position(labels[0].span.start)
    bar = style.frame(" " * margin + " |")
    head = f"{' ' * margin}{style.frame(arrow)} {visible(source.name)}:{line}:{column}"
    out = [head, bar] if arrow == "-->" else [bar, head]
    last: int | None = None
    for number in sorted(lines):
        if last is not None and number == last + 2:
            out.append(_line(source, last + 1, margin, style))
        elif last is not None and number > last + 2:
            out.append(style.frame("." * min(3, margin + 2)))
        out += _marked_line(source, number, lines[number], margin, style)
        last = number
    return out


def _without_leading_brackets(label: Label, source: Source) -> Label:
    """A label without lines of mere brackets in front: of a step in JSON, ``{`` says nothing."""
    bare = _BARE.match(source.text, label.span.start, label.span.end)
    if bare is None or bare.end() >= label.span.end:
        return label
    return label._replace(span=Span(bare.end(), label.span.end))


def _line(source: Source, number: int, margin: int, style: Style) -> str:
    visible_text, _ = _window(_expand(source.line(number)[:_LONG])[0], [], _room(margin, style))
    return f"{style.frame(f'{number:>{margin}} |')} {visible_text}".rstrip()


def _marked_line(source: Source, number: int, labels: Sequence[Label], margin: int, style: Style) -> list[str]:
    raw = source.line(number)
    start = source.line_starts[number - 1]
    if len(raw) > _LONG:  # only the part around the first mark is ever shown
        cut = max(
            min([label.span.start for label in labels if label.primary] or [labels[0].span.start]) - start - _LONG // 4,
            0,
        )
        raw, start = raw[cut : cut + _LONG], start + cut
    text, columns = _expand(raw)
    marks = []
    for label in labels:
        end = min(label.span.end, start + len(raw))
        begin = min(max(label.span.start - start, 0), len(raw))
        first, last = columns[begin], columns[max(end - start, 0)]
        label_text = brief(label.text)
        if label.span.end > start + len(raw) + 1:
            line = source.position(max(label.span.end - 1, 0))[0]
            if line > number:  # and not a long line that is cut
                label_text = f"{label_text} (up to line {line})" if label_text else f"up to line {line}"
        marks.append(_Mark(first, max(last, first + 1), label_text, label.primary))
    room = _room(margin, style)
    visible_text, marks = _window(text, marks, room)
    out = [f"{style.frame(f'{number:>{margin}} |')} {visible_text}".rstrip()]
    bar = style.frame(" " * margin + " |")
    return out + [f"{bar} {row}".rstrip() for row in _mark_rows(marks, room, style)]


def _expand(raw: str) -> tuple[str, list[int]]:
    """Make a line visible, and say in which column each of its characters (and its end) begins."""
    if raw.isascii() and raw.isprintable():
        return raw, list(range(len(raw) + 1)) if len(raw) < 10_000 else _identity(len(raw) + 1)
    out: list[str] = []
    columns = []
    at = 0
    for character in raw:
        columns.append(at)
        visible_text = " " * (TAB - at % TAB) if character == "\t" else visible(character)
        at += width(visible_text)
        out.append(visible_text)
    columns.append(at)
    return "".join(out), columns


def _identity(size: int) -> list[int]:
    return list(range(size))


def _room(margin: int, style: Style) -> int:
    """The columns right of the bar."""
    return style.columns - margin - 3


def _window(text: str, marks: list[_Mark], limit: int) -> tuple[str, list[_Mark]]:
    """Cut a long line around its marks. Marks outside the window move to its edge."""
    if width(text) <= limit:
        return text, marks
    first = next((mark.start for mark in marks if mark.primary), marks[0].start if marks else 0)
    begin = max(first - _CONTEXT, 0)
    window: list[str] = []
    at = 0
    offset = begin
    for character in text:
        size = width(character)
        if at >= begin + limit - 1:
            window.append("\u2026")
            break
        if at == begin and begin:
            window.append("\u2026" + " " * (size - 1))
        elif at > begin or not begin:
            if begin and not window:  # a wide character straddled the edge
                offset = at - 1
                window.append("\u2026")
            window.append(character)
        at += size
    moved = []
    for mark in marks:
        start = min(max(mark.start - offset, 0), limit - 1)
        moved.append(mark._replace(start=start, end=max(min(mark.end - offset, limit), start + 1)))
    return "".join(window), moved


def _mark_rows(marks: list[_Mark], room: int, style: Style) -> list[str]:
    """Underline all marks in one row. The last mark's text follows it if it fits; other texts are below."""
    marks = sorted(marks, key=lambda mark: (mark.start, mark.end))
    size = max(mark.end for mark in marks)
    row = [" "] * size
    for mark in sorted(marks, key=lambda mark: mark.primary):
        row[mark.start : mark.end] = ("^" if mark.primary else "-") * (mark.end - mark.start)
    last = marks[-1]
    inline = last.text if last.end == size and size + 1 + width(last.text) <= room else ""
    pending = [mark for mark in marks if mark.text and not (inline and mark is last)]
    rows = [_coloured(row, style) + (f" {_styled_label(last.text, last, style)}" if inline else "")]
    while pending:
        mark = pending.pop()
        start = max(min(mark.start, room - min(_LEAST_ROOM, width(mark.text))), 0)
        before = [" "] * start
        for pending_mark in pending:
            if pending_mark.start < start:
                before[pending_mark.start] = "|"
        bars = style.frame("".join(before))
        rows += [bars + _styled_label(line, mark, style) for line in folded(mark.text, room - start)]
    return rows


def _coloured(row: list[str], style: Style) -> str:
    out = []
    begin = 0
    for at in range(1, len(row) + 1):
        if at == len(row) or row[at] != row[begin]:
            run = "".join(row[begin:at])
            out.append(style.mark(run) if run[0] == "^" else style.frame(run) if run[0] == "-" else run)
            begin = at
    return "".join(out)


def _styled_label(text: str, mark: _Mark, style: Style) -> str:
    return style.mark(text) if mark.primary else style.frame(text)


def place(source: str | None, span: Span | None, sources: Mapping[str, Source]) -> str:
    """``name:line:column`` of a span, as far as it is known."""
    if source is None:
        return ""
    if span is None or source not in sources:
        return visible(source)
    line, column = sources[source].position(span.start)
    return f"{visible(source)}:{line}:{column}"
