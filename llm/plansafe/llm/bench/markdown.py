"""A report as Markdown. What models and files call themselves is escaped."""

from __future__ import annotations

import re
from collections.abc import Iterator

from plansafe.llm.bench.report import Plot, Report, Table

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|])")
_WIDTH = 30


def markdown(report: Report) -> str:
    """The whole report; plots are bars of characters."""
    return "\n".join(_lines(report)) + "\n"


def escaped(text: str) -> str:
    """Escape a text so that it is not markup, on one line."""
    printable = "".join([char if char.isprintable() else "\ufffd" for char in text])
    return _SPECIAL.sub(r"\\\1", printable)


def _lines(report: Report) -> Iterator[str]:
    yield f"# {escaped(report.title)}"
    yield ""
    for name, value in report.about:
        yield f"- {escaped(name)}: {escaped(value)}"
    for warning in report.warnings:
        yield f"- **Note:** {escaped(warning)}"
    for section in report.sections:
        yield ""
        yield f"## {escaped(section.title)}"
        for part in section.parts:
            yield ""
            yield from _plot(part) if isinstance(part, Plot) else _table(part)


def _table(table: Table) -> Iterator[str]:
    yield f"### {escaped(table.title)}"
    yield ""
    yield _row(table.columns)
    yield "|---|" + "---:|" * (len(table.columns) - 1)
    for row in table.rows:
        yield _row(row)
    if table.note:
        yield ""
        yield escaped(table.note)


def _row(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join([escaped(cell) for cell in cells])} |"


def _plot(plot: Plot) -> Iterator[str]:
    yield f"### {escaped(plot.title)}"
    yield ""
    yield "| | | |"
    yield "|---|---|---:|"
    for bar in plot.bars:
        share = 0.0 if bar.value is None else min(1.0, max(0.0, bar.value / plot.most))
        bar_text = "█" * round(share * _WIDTH)
        value = "n/a" if bar.value is None else f"{100 * bar.value:.1f} %" if plot.percent else f"{bar.value:g}"
        yield f"| {escaped(bar.label)} | {bar_text} | {value} |"


def brief(report: Report) -> str:
    """The first section in columns for a terminal, with what makes its figures worth less."""
    lines = [report.title, *[f"note: {warning}" for warning in report.warnings]]
    for section in report.sections[:1]:
        for part in section.parts:
            if isinstance(part, Table):
                lines += ["", part.title, *_columns(part)]
    return "\n".join(lines) + "\n"


def _columns(table: Table) -> Iterator[str]:
    """One figure a line where there is one row, since tables of many columns fit no terminal; else a grid."""
    if len(table.rows) == 1:
        size = max([len(name) for name in table.columns])
        for name, value in zip(table.columns, table.rows[0], strict=True):
            yield f"  {name:{size}}  {value}"
        return
    rows = [table.columns, *table.rows]
    sizes = [max([len(row[at]) for row in rows]) for at in range(len(table.columns))]
    for row in rows:
        cells = [cell.rjust(size) for cell, size in zip(row[1:], sizes[1:], strict=True)]
        yield f"  {row[0].ljust(sizes[0])}  {'  '.join(cells)}"
