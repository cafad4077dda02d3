"""Plots of runs as SVG and PNG by matplotlib (extra ``plots``): bars, positions in the plan, a heat map."""

from __future__ import annotations

import io
from typing import Any

from plansafe.app.runs.rates import Rate
from plansafe.app.runs.stats import Table
from plansafe.app.system.terminal_text import visible

KINDS = ("bars", "where", "heat")
_MAX_LINES = 30
_MAX_NAME = 48
_MAX_TITLE = 110


class NoPlots(Exception):
    """Matplotlib is not installed."""


def draw_plot(table: Table, kind: str, form: str) -> bytes:
    """Draw a table as ``svg`` or ``png``. The same table gives the same bytes. Raises :class:`NoPlots`."""
    try:
        import matplotlib  # noqa: PLC0415 - an extra, slow to import
        from matplotlib.figure import Figure  # noqa: PLC0415
    except ImportError as error:
        raise NoPlots from error
    settings: Any = {"svg.hashsalt": "safecheck", "svg.fonttype": "path", "text.parse_math": False}
    with matplotlib.rc_context(settings):
        rows = max(len(table.rows[:_MAX_LINES]), 3)
        figure = Figure(figsize=(9, 1.4 + 0.28 * rows), layout="constrained")
        axes = figure.add_subplot()
        match kind:
            case "heat":
                _draw_heat_map(table, figure, axes)
            case "where":
                _draw_positions(table, axes)
            case _:
                _draw_bars(table, axes)
        axes.set_title(visible(table.title)[:_MAX_TITLE], fontsize=10)
        out = io.BytesIO()
        no_metadata = {"Date": None, "Creator": None} if form == "svg" else {"Software": None}
        figure.savefig(out, format=form, dpi=150, metadata=no_metadata)
        return out.getvalue()


def _draw_bars(table: Table, axes: Any) -> None:
    name_at = _name_column(table)
    rated = [at for at in range(len(table.head)) if any([isinstance(row[at], Rate) for row in table.rows])]
    of_plans = [at for at in rated if table.head[at] == "break a rule"]
    at = (of_plans or rated or [name_at])[0]
    rows = [(row, row[at]) for row in table.rows[:_MAX_LINES]]
    rates = [rate if isinstance(rate, Rate) else Rate(0, 0) for _, rate in rows]
    values = [100 * (rate.value or 0) for rate in rates]
    low = [value - 100 * min(rate.interval[0], rate.value or 0) for value, rate in zip(values, rates, strict=True)]
    high = [100 * max(rate.interval[1], rate.value or 0) - value for value, rate in zip(values, rates, strict=True)]
    names = [_shorten(str(row[name_at])) for row, _ in rows]
    axes.barh(range(len(rows)), values, xerr=[low, high], color="#4c72b0", ecolor="#555555", capsize=2)
    axes.set_yticks(range(len(rows)), names, fontsize=8)
    axes.invert_yaxis()
    axes.set_xlabel("% of plans, with 95 % intervals")


def _draw_positions(table: Table, axes: Any) -> None:
    names = [str(row[0]) for row in table.rows]
    below = [0.0] * len(names)
    for at, color in ((1, "#c44e52"), (2, "#8c8c8c")):
        values = [float(str(row[at])) for row in table.rows]
        axes.bar(range(len(names)), values, bottom=below, color=color, label=table.head[at])
        below = [b + v for b, v in zip(below, values, strict=True)]
    axes.set_xticks(range(len(names)), names, rotation=40, ha="right", fontsize=8)
    axes.set_ylabel("findings")
    axes.legend(fontsize=8)


def _draw_heat_map(table: Table, figure: Any, axes: Any) -> None:
    first = _name_column(table) + 1
    rows = table.rows[:_MAX_LINES]
    groups = [_shorten(name) for name in table.head[first : first + _MAX_LINES]]
    cells = [
        [100 * (c.value or 0) if isinstance(c, Rate) else 0 for c in row[first : first + _MAX_LINES]] for row in rows
    ]
    image = axes.imshow(cells or [[0]], aspect="auto", cmap="Reds", vmin=0)
    axes.set_xticks(range(len(groups)), groups, rotation=40, ha="right", fontsize=8)
    axes.set_yticks(range(len(rows)), [_shorten(str(row[first - 1])) for row in rows], fontsize=8)
    figure.colorbar(image, ax=axes, label="% of plans")


def _name_column(table: Table) -> int:
    """The index of the column with line names: 1 in a table of rules, whose first column is the hazard."""
    return 1 if table.head[:2] == ("hazard", "rule") else 0


def _shorten(text: str) -> str:
    text = visible(text)
    return text if len(text) <= _MAX_NAME else f"{text[:_MAX_NAME]}.."
