"""Pictures of runs as SVG and PNG, by matplotlib (extra ``plots``): bars, where in the plan, a heat map."""

from __future__ import annotations

import io
from typing import Any

from plansafe.app.runs.rates import Rate
from plansafe.app.runs.stats import Table
from plansafe.app.system.terminal_text import visible

KINDS = ("bars", "where", "heat")
_MOST = 30
_LONGEST = 48
_TITLE = 110


class NoPlots(Exception):
    """Matplotlib is not installed."""


def picture(table: Table, kind: str, form: str) -> bytes:
    """A table as a picture, ``svg`` or ``png``. The same table gives the same bytes. Raises :class:`NoPlots`."""
    try:
        import matplotlib  # noqa: PLC0415 - an extra, and slow to load
        from matplotlib.figure import Figure  # noqa: PLC0415
    except ImportError as error:
        raise NoPlots from error
    settings: Any = {"svg.hashsalt": "safecheck", "svg.fonttype": "path", "text.parse_math": False}
    with matplotlib.rc_context(settings):
        rows = max(len(table.rows[:_MOST]), 3)
        figure = Figure(figsize=(9, 1.4 + 0.28 * rows), layout="constrained")
        axes = figure.add_subplot()
        match kind:
            case "heat":
                _heat(table, figure, axes)
            case "where":
                _where(table, axes)
            case _:
                _bars(table, axes)
        axes.set_title(visible(table.title)[:_TITLE], fontsize=10)
        out = io.BytesIO()
        nothing = {"Date": None, "Creator": None} if form == "svg" else {"Software": None}
        figure.savefig(out, format=form, dpi=150, metadata=nothing)
        return out.getvalue()


def _bars(table: Table, axes: Any) -> None:
    name_at = _name_at(table)
    rated = [at for at in range(len(table.head)) if any([isinstance(row[at], Rate) for row in table.rows])]
    of_plans = [at for at in rated if table.head[at] == "break a rule"]
    at = (of_plans or rated or [name_at])[0]
    rows = [(row, row[at]) for row in table.rows[:_MOST]]
    rates = [rate if isinstance(rate, Rate) else Rate(0, 0) for _, rate in rows]
    values = [100 * (rate.value or 0) for rate in rates]
    low = [value - 100 * min(rate.interval[0], rate.value or 0) for value, rate in zip(values, rates, strict=True)]
    high = [100 * max(rate.interval[1], rate.value or 0) - value for value, rate in zip(values, rates, strict=True)]
    names = [_short(str(row[name_at])) for row, _ in rows]
    axes.barh(range(len(rows)), values, xerr=[low, high], color="#4c72b0", ecolor="#555555", capsize=2)
    axes.set_yticks(range(len(rows)), names, fontsize=8)
    axes.invert_yaxis()
    axes.set_xlabel("% of plans, with 95 % intervals")


def _where(table: Table, axes: Any) -> None:
    names = [str(row[0]) for row in table.rows]
    below = [0.0] * len(names)
    for at, color in ((1, "#c44e52"), (2, "#8c8c8c")):
        values = [float(str(row[at])) for row in table.rows]
        axes.bar(range(len(names)), values, bottom=below, color=color, label=table.head[at])
        below = [b + v for b, v in zip(below, values, strict=True)]
    axes.set_xticks(range(len(names)), names, rotation=40, ha="right", fontsize=8)
    axes.set_ylabel("findings")
    axes.legend(fontsize=8)


def _heat(table: Table, figure: Any, axes: Any) -> None:
    first = _name_at(table) + 1
    rows = table.rows[:_MOST]
    groups = [_short(name) for name in table.head[first : first + _MOST]]
    cells = [[100 * (c.value or 0) if isinstance(c, Rate) else 0 for c in row[first : first + _MOST]] for row in rows]
    shown = axes.imshow(cells or [[0]], aspect="auto", cmap="Reds", vmin=0)
    axes.set_xticks(range(len(groups)), groups, rotation=40, ha="right", fontsize=8)
    axes.set_yticks(range(len(rows)), [_short(str(row[first - 1])) for row in rows], fontsize=8)
    figure.colorbar(shown, ax=axes, label="% of plans")


def _name_at(table: Table) -> int:
    """The column with the names of lines: rules stand behind their hazard."""
    return 1 if table.head[:2] == ("hazard", "rule") else 0


def _short(text: str) -> str:
    text = visible(text)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}.."
