"""Tables as text: Markdown, CSV, LaTeX. What stands in a cell cannot end it, nor become a command or a formula."""

from __future__ import annotations

import csv
import io
import re

from plansafe.app.runs.rates import Rate
from plansafe.app.runs.stats import Cell, Table
from plansafe.app.system.terminal_text import visible

LAYOUTS = ("markdown", "csv", "latex")
_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip


def laid_out(table: Table, layout: str) -> str:
    """The text of a table."""
    match layout:
        case "csv":
            return _csv(table)
        case "latex":
            return _latex(table)
        case _:
            return _markdown(table)


def _rate(rate: Rate) -> str:
    if rate.value is None:
        return "-"
    low, high = rate.interval
    return f"{rate.hits} of {rate.of}: {100 * rate.value:.1f} % ({100 * low:.1f} to {100 * high:.1f})"


def _text(cell: Cell) -> str:
    match cell:
        case None | "":
            return "-"
        case Rate():
            return _rate(cell)
        case _:
            return visible(str(cell))


def _markdown(table: Table) -> str:
    def line(cells: list[str]) -> str:
        return "| " + " | ".join([re.sub(r"([\\|<>`*\[\]])", r"\\\1", cell) for cell in cells]) + " |"

    head = [line(list(table.head)), "|" + "---|" * len(table.head)]
    return "\n".join([*head, *[line([_text(cell) for cell in row]) for row in table.rows]]) + "\n"


def _csv(table: Table) -> str:
    """A rate is four columns; a text that a spreadsheet would compute is held by an apostrophe."""
    rates = [any([isinstance(row[at], Rate) for row in table.rows]) for at in range(len(table.head))]
    head: list[str] = []
    for name, is_rate in zip(table.head, rates, strict=True):
        head += [name, f"{name}: of", f"{name}: low", f"{name}: high"] if is_rate else [name]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([_plain(name) for name in head])
    for row in table.rows:
        cells: list[Cell] = []
        for cell, is_rate in zip(row, rates, strict=True):
            if isinstance(cell, Rate):
                cells += [cell.hits, cell.of, *[round(bound, 6) for bound in cell.interval]]
            else:
                cells += [_plain(cell) if isinstance(cell, str) else cell, *([None] * (3 if is_rate else 0))]
        writer.writerow(cells)
    return out.getvalue()


def _plain(text: str) -> str:
    text = visible(text)  # as the table may be printed
    return f"'{text}" if text != "-" and text[:1] in ("=", "+", "-", "@") else text


def _latex(table: Table) -> str:
    def line(cells: list[str]) -> str:
        return " & ".join(["".join([_LATEX.get(letter, letter) for letter in cell]) for cell in cells]) + r" \\"

    out = [r"\begin{tabular}{" + "l" * len(table.head) + "}", r"\toprule", line(list(table.head)), r"\midrule"]
    out += [line([_text(cell) for cell in row]) for row in table.rows]
    return "\n".join([*out, r"\bottomrule", r"\end{tabular}"]) + "\n"
