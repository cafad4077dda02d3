"""The paper's figures 6 and 7 as plots, and the main figures of all methods."""

from __future__ import annotations

from collections.abc import Sequence

from plansafe.align.evaluating.comparing import LAMBDA, Group, over_lambda, violations
from plansafe.align.evaluating.drawing import Series, Value, bars, curves
from plansafe.align.evaluating.figures import BY_NAME, Cluster, Figure, estimated
from plansafe.llm.bench.judging import safeplan_taxonomy
from plansafe.llm.metrics.judged import Moment

_METHODS = ("safer-executable", "succr-goal", "safer-at-goal", "safe-goal", "rouge-l")


def plots(groups: Sequence[Group], by: Cluster = "task", seed: int = 0) -> dict[str, str]:
    """Each plot as SVG, by the name of its file without an ending."""
    made = {
        "methods": bars(
            "Main figures by method",
            [BY_NAME[name].title for name in _METHODS],
            [
                Series(group.name, tuple([_value(BY_NAME[name], group, by, seed) for name in _METHODS]))
                for group in groups
            ],
            percent=True,
        ),
        "figure-6-moments": _moments(groups, by, seed),
        "figure-6-categories": _categories(groups),
    }
    for number, (name, some) in enumerate(over_lambda(groups).items()):
        made["figure-7" if not number else f"figure-7-{number + 1}"] = curves(
            f"{name} over lambda",
            "lambda, the weight of what both plans share",
            [group.factor or 0.0 for group in some],
            [
                Series(BY_NAME[one].title, tuple([_value(BY_NAME[one], group, by, seed) for group in some]))
                for one in LAMBDA
            ],
            percent=True,
        )
    return made


def _value(figure: Figure, group: Group, by: Cluster, seed: int) -> Value:
    found = estimated(figure, group.found, by, seed).interval
    return Value(found.value, found.low, found.high)


def _moments(groups: Sequence[Group], by: Cluster, seed: int) -> str:
    figures = [BY_NAME[f"breaks-{moment.value}"] for moment in Moment]
    series = [Series(group.name, tuple([_value(one, group, by, seed) for one in figures])) for group in groups]
    title = "Answers that break a rule, by when they do (figure 6)"
    return bars(title, [moment.value for moment in Moment], series, percent=True)


def _categories(groups: Sequence[Group]) -> str:
    titles = {one.name: one.title for one in safeplan_taxonomy().categories}
    series = [
        Series(group.name, tuple([Value(float(found.by_category[name].times)) for name in titles]))
        for group, found in zip(groups, violations(groups), strict=True)
    ]
    return bars("Violations by category of hazard (figure 6)", list(titles.values()), series, percent=False)
