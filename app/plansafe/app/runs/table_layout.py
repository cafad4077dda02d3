"""Format tables as Markdown, CSV or LaTeX. Cells are escaped, so that they cannot contain commands or formulas."""

from __future__ import annotations

import csv
import io
import re

from plansafe.app.runs.rates import Rate
from plansafe.app.runs.stats import Cell, Table
from plansafe.app.system.terminal_text import visible

LAYOUTS = ("markdown", "csv", "latex")
_LATEX_ESCAPES = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip


def format_table(table: Table, layout: str) -> str:
    """Format a table as text."""
    match layout:
        case "csv":
            return _csv(table)
        case "latex":
            return _latex(table)
        case _:
            return _markdown(table)


def _format_rate(rate: Rate) -> str:
    if rate.value is None:
        return "-"
    low, high = rate.interval
    return f"{rate.hits} of {rate.of}: {100 * rate.value:.1f} % ({100 * low:.1f} to {100 * high:.1f})"


def _format_cell(cell: Cell) -> str:
    match cell:
        case None | "":
            return "-"
        case Rate():
            return _format_rate(cell)
        case _:
            return visible(str(cell))


def _markdown(table: Table) -> str:
    def line(cells: list[str]) -> str:
        return "| " + " | ".join([re.sub(r"([\\|<>`*\[\]])", r"\\\1", cell) for cell in cells]) + " |"

    head = [line(list(table.head)), "|" + "---|" * len(table.head)]
    return "\n".join([*head, *[line([_format_cell(cell) for cell in row]) for row in table.rows]]) + "\n"


def _csv(table: Table) -> str:
    """Format a table as CSV. A rate has four columns; an apostrophe escapes text that looks like a formula."""
    rates = [any([isinstance(row[column], Rate) for row in table.rows]) for column in range(len(table.head))]
    header: list[str] = []
    for name, is_rate in zip(table.head, rates, strict=True):
        header += [name, f"{name}: of", f"{name}: low", f"{name}: high"] if is_rate else [name]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([_escape_formula(name) for name in header])
    for row in table.rows:
        cells: list[Cell] = []
        for cell, is_rate in zip(row, rates, strict=True):
            if isinstance(cell, Rate):
                cells += [cell.hits, cell.of, *[round(bound, 6) for bound in cell.interval]]
            else:
                cells += [_escape_formula(cell) if isinstance(cell, str) else cell, *([None] * (3 if is_rate else 0))]
        writer.writerow(cells)
    return out.getvalue()


def _escape_formula(text: str) -> str:
    text = visible(text)  # the table may be printed to a terminal
    return f"'{text}" if text != "-" and text[:1] in ("=", "+", "-", "@") else text


def _latex(table: Table) -> str:
    def line(cells: list[str]) -> str:
        return " & ".join(["".join([_LATEX_ESCAPES.get(letter, letter) for letter in cell]) for cell in cells]) + r" \\"

    out = [r"\begin{tabular}{" + "l" * len(table.head) + "}", r"\toprule", line(list(table.head)), r"\midrule"]
    out += [line([_format_cell(cell) for cell in row]) for row in table.rows]
    return "\n".join([*out, r"\bottomrule", r"\end{tabular}"]) + "\n"
