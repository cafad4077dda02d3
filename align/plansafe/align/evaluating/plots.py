"""The paper's figures 6 and 7 as SVG, by matplotlib (extra ``plots``)."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any, NamedTuple

from plansafe.align.evaluating.comparing import Group, over_lambda
from plansafe.align.evaluating.figures import BY_NAME, Cluster, estimated
from plansafe.align.evaluating.report import LAMBDA
from plansafe.llm.bench.judging import safeplan_taxonomy
from plansafe.llm.metrics.judged import Moment

_SETTINGS: Any = {"svg.hashsalt": "safecheck", "svg.fonttype": "path", "text.parse_math": False}


class NoPlots(Exception):
    """Matplotlib is not installed."""


class Series(NamedTuple):
    """A name, and a value with its interval at each place of the plot; ``None`` where the figure does not apply."""

    name: str
    values: tuple[float | None, ...]
    low: tuple[float | None, ...] = ()
    high: tuple[float | None, ...] = ()


def plots(groups: Sequence[Group], by: Cluster = "task", seed: int = 0) -> dict[str, str]:
    """Each plot as SVG, by the name of its file without extension. Raises :class:`NoPlots`."""
    moments = [f"breaks-{moment.value}" for moment in Moment]
    titles = {category.name: category.title for category in safeplan_taxonomy().categories}
    counts = [
        Series(group.name, tuple([float(group.violations.by_category[name].times) for name in titles]))
        for group in groups
    ]
    drawings = {
        "figure-6-moments": bars(
            "Answers that break a rule, by moment (figure 6)",
            [moment.value for moment in Moment],
            [_series(group.name, [(group, name) for name in moments], by, seed) for group in groups],
        ),
        "figure-6-categories": bars("Violations by category of hazard (figure 6)", list(titles.values()), counts),
    }
    for number, (name, members) in enumerate(over_lambda(groups).items(), 1):
        series = [_series(BY_NAME[figure].title, [(group, figure) for group in members], by, seed) for figure in LAMBDA]
        title = f"{name} over lambda, the weight of the common prefix"
        drawings["figure-7" if number == 1 else f"figure-7-{number}"] = curves(
            title, [group.factor or 0.0 for group in members], series
        )
    return drawings


def bars(title: str, places: Sequence[str], series: Sequence[Series]) -> str:
    """Bars in groups: one group for each place, one bar for each series."""

    def draw(axes: Any) -> None:
        width = 0.8 / max(1, len(series))
        for number, row in enumerate(series):
            positions = [place + (number + 0.5) * width - 0.4 for place in range(len(places))]
            axes.bar(positions, [value or 0.0 for value in row.values], width, label=row.name, yerr=_errors(row))
        turned = len(places) > 4
        axes.set_xticks(range(len(places)), places, rotation=25 if turned else 0, ha="right" if turned else "center")

    return _svg(title, draw)


def curves(title: str, places: Sequence[float], series: Sequence[Series]) -> str:
    """Lines over numbers with intervals; a figure that does not apply leaves a gap."""

    def draw(axes: Any) -> None:
        for row in series:
            values = [float("nan") if value is None else value for value in row.values]
            axes.errorbar(places, values, yerr=_errors(row), label=row.name, marker="o", capsize=2)
        axes.set_xticks(places)

    return _svg(title, draw)


def _series(title: str, places: Sequence[tuple[Group, str]], by: Cluster, seed: int) -> Series:
    """A figure of a group at each place."""
    intervals = [estimated(BY_NAME[name], group.answers, by, seed).interval for group, name in places]
    values, low, high = zip(*[(interval.value, interval.low, interval.high) for interval in intervals], strict=True)
    return Series(title, values, low, high)


def _errors(row: Series) -> list[list[float]] | None:
    """The distances from the values to the ends of their intervals, as matplotlib wants them."""
    if not row.low:
        return None
    ends = zip(row.values, row.low, row.high, strict=True)
    both = [
        (0.0, 0.0) if value is None or low is None or high is None else (max(value - low, 0.0), max(high - value, 0.0))
        for value, low, high in ends
    ]
    return [[below for below, _ in both], [above for _, above in both]]


def _svg(title: str, draw: Any) -> str:
    try:
        import matplotlib  # noqa: PLC0415 - an extra, slow to import
        from matplotlib.figure import Figure  # noqa: PLC0415
    except ImportError as error:
        raise NoPlots from error
    with matplotlib.rc_context(_SETTINGS):
        figure = Figure(figsize=(10, 5), layout="constrained")
        axes = figure.add_subplot()
        draw(axes)
        axes.set_title(title)
        axes.set_ylim(bottom=0)
        figure.legend(loc="outside right upper", fontsize=8)
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    return out.getvalue()
