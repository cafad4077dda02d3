"""The paper's figures 6 and 7 as SVG, by matplotlib (extra ``plots``)."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from typing import Any

from plansafe.align.evaluating.comparing import Group, over_lambda
from plansafe.align.evaluating.figures import BY_NAME, Cluster, estimated
from plansafe.align.evaluating.report import LAMBDA
from plansafe.llm.bench.judging import safeplan_taxonomy
from plansafe.llm.metrics.bootstrap import Interval
from plansafe.llm.metrics.judged import Moment

_SETTINGS: Any = {"svg.hashsalt": "safecheck", "svg.fonttype": "path", "text.parse_math": False}


class NoPlots(Exception):
    """Matplotlib is not installed."""


Rows = Mapping[str, Sequence[Interval]]
"""For each name, a value with its interval at each place of a plot; ``None`` where a figure does not apply."""


def plots(groups: Sequence[Group], by: Cluster = "task", seed: int = 0) -> dict[str, str]:
    """Each plot as SVG, by the name of its file without extension. Raises :class:`NoPlots`."""

    def interval(group: Group, name: str) -> Interval:
        return estimated(BY_NAME[name], group.answers, by, seed).interval

    titles = {category.name: category.title for category in safeplan_taxonomy().categories}
    moments = {group.name: [interval(group, f"breaks-{moment.value}") for moment in Moment] for group in groups}
    counts = {group.name: [group.violations.by_category[name].times for name in titles] for group in groups}
    kinds = {name: [Interval(float(times), None, None, 0) for times in row] for name, row in counts.items()}
    drawings = {
        "figure-6-moments": bars(
            "Answers that break a rule, by moment (figure 6)", [moment.value for moment in Moment], moments
        ),
        "figure-6-categories": bars("Violations by category of hazard (figure 6)", [*titles.values()], kinds),
    }
    for number, (name, members) in enumerate(over_lambda(groups).items(), 1):
        rows = {BY_NAME[figure].title: [interval(group, figure) for group in members] for figure in LAMBDA}
        title = f"{name} over lambda, the weight of the common prefix"
        factors = [group.factor or 0.0 for group in members]
        drawings["figure-7" if number == 1 else f"figure-7-{number}"] = curves(title, factors, rows)
    return drawings


def bars(title: str, places: Sequence[str], rows: Rows) -> str:
    """Bars in groups: one group for each place, one bar for each row."""

    def draw(axes: Any) -> None:
        width = 0.8 / max(1, len(rows))
        for number, (name, row) in enumerate(rows.items()):
            positions = [place + (number + 0.5) * width - 0.4 for place in range(len(places))]
            axes.bar(positions, [interval.value or 0.0 for interval in row], width, label=name, yerr=_errors(row))
        turned = len(places) > 4
        axes.set_xticks(range(len(places)), places, rotation=25 if turned else 0, ha="right" if turned else "center")

    return _svg(title, draw)


def curves(title: str, places: Sequence[float], rows: Rows) -> str:
    """Lines over numbers with intervals; a figure that does not apply leaves a gap."""

    def draw(axes: Any) -> None:
        for name, row in rows.items():
            values = [math.nan if interval.value is None else interval.value for interval in row]
            axes.errorbar(places, values, yerr=_errors(row), label=name, marker="o", capsize=2)
        axes.set_xticks(places)

    return _svg(title, draw)


def _errors(row: Sequence[Interval]) -> list[list[float]]:
    """The distances from the values to the ends of their intervals, as matplotlib wants them."""
    below, above = [0.0] * len(row), [0.0] * len(row)
    for place, interval in enumerate(row):
        if interval.value is not None and interval.low is not None and interval.high is not None:
            below[place] = max(interval.value - interval.low, 0.0)
            above[place] = max(interval.high - interval.value, 0.0)
    return [below, above]


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
