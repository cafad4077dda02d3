"""A report as Markdown, as columns for a terminal, and as one HTML page.

What models and files call themselves is escaped. The page has no script and nothing from elsewhere; its plots are SVG.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape

from plansafe.llm.bench.report import Bar, Plot, Report, Table

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
        yield f"| {escaped(bar.label)} | {bar_text} | {_value(plot, bar)} |"


def _value(plot: Plot, bar: Bar) -> str:
    return "n/a" if bar.value is None else f"{100 * bar.value:.1f} %" if plot.percent else f"{bar.value:g}"


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


_STYLE = """
:root { color-scheme: light dark; --ink: #1c2024; --soft: #60646c; --line: #d9d9e0; --bar: #3b6fb6; --back: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #edeef0; --soft: #b0b4ba; --line: #43484e; --bar: #70b8ff; --back: #18191b; }
}
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--back); max-width: 70rem;
  margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.25rem; margin-top: 2.5rem; } h3 { font-size: 1rem; margin: 1.8rem 0 .5rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; } dt { color: var(--soft); }
dd { margin: 0; overflow-wrap: anywhere; } summary { cursor: pointer; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .7rem; border-bottom: 1px solid var(--line); text-align: right; }
td { white-space: nowrap; }
th:first-child, td:first-child { text-align: left; } thead th { border-bottom: 2px solid var(--line); }
.note { color: var(--soft); font-size: .9rem; } .warn { border-left: 4px solid #e5484d; padding-left: .7rem; }
svg { max-width: 100%; height: auto; } svg text { font: 13px system-ui, sans-serif; fill: var(--ink); }
svg .bar { fill: var(--bar); } svg .back { fill: var(--line); } svg .span { stroke: var(--ink); stroke-width: 1.5; }
"""
_LABELS, _BARS, _VALUES, _HEIGHT = 400, 340, 80, 22


def page(report: Report) -> str:
    """The whole page."""
    return "\n".join(_html_lines(report)) + "\n"


def _html_lines(report: Report) -> Iterator[str]:
    title = _html_text(report.title)
    yield '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">'
    yield "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
    yield '<meta name="viewport" content="width=device-width">'
    yield f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>"
    yield "<details><summary>Run</summary>\n<dl>"
    for name, value in report.about:
        yield f"<dt>{_html_text(name)}</dt><dd>{_html_text(value)}</dd>"
    yield "</dl>\n</details>"
    for warning in report.warnings:
        yield f'<p class="warn">{_html_text(warning)}</p>'
    for section in report.sections:
        yield f"<h2>{_html_text(section.title)}</h2>"
        for part in section.parts:
            yield from _html_plot(part) if isinstance(part, Plot) else _html_table(part)
    yield "</body>\n</html>"


def _html_text(text: str) -> str:
    return escape("".join([char if char.isprintable() else "\ufffd" for char in text]))


def _html_table(table: Table) -> Iterator[str]:
    yield f'<h3>{_html_text(table.title)}</h3>\n<div class="scroll"><table>'
    yield f"<thead><tr>{''.join([f'<th>{_html_text(column)}</th>' for column in table.columns])}</tr></thead>\n<tbody>"
    for row in table.rows:
        yield f"<tr>{''.join([f'<td>{_html_text(cell)}</td>' for cell in row])}</tr>"
    yield "</tbody>\n</table></div>"
    if table.note:
        yield f'<p class="note">{_html_text(table.note)}</p>'


def _html_plot(plot: Plot) -> Iterator[str]:
    height = _HEIGHT * len(plot.bars) + 4
    width = _LABELS + _BARS + _VALUES
    yield f"<h3>{_html_text(plot.title)}</h3>"
    yield f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">'
    yield f"<title>{_html_text(plot.title)}</title>"
    for number, bar in enumerate(plot.bars):
        yield from _bar(plot, bar, 2 + number * _HEIGHT)
    yield "</svg>"


def _bar(plot: Plot, bar: Bar, top: int) -> Iterator[str]:
    middle = top + _HEIGHT / 2
    yield f'<text x="{_LABELS - 8}" y="{middle + 4:g}" text-anchor="end">{_html_text(bar.label)}</text>'
    yield f'<rect class="back" x="{_LABELS}" y="{top + 4}" width="{_BARS}" height="{_HEIGHT - 8}" opacity="0.4"/>'
    if bar.value is not None:
        bar_width = _at(plot, bar.value)
        yield f'<rect class="bar" x="{_LABELS}" y="{top + 4}" width="{bar_width:.1f}" height="{_HEIGHT - 8}"/>'
    if bar.low is not None and bar.high is not None:
        left, right = _LABELS + _at(plot, bar.low), _LABELS + _at(plot, bar.high)
        yield f'<line class="span" x1="{left:.1f}" y1="{middle:g}" x2="{right:.1f}" y2="{middle:g}"/>'
    yield f'<text x="{_LABELS + _BARS + 8}" y="{middle + 4:g}">{_value(plot, bar)}</text>'


def _at(plot: Plot, value: float) -> float:
    return _BARS * min(1.0, max(0.0, value / plot.most))
