"""The report of a reproduction: figures of all methods, what each changed, and how training went."""

from __future__ import annotations

import os
from collections.abc import Sequence
from statistics import mean

from plansafe.align.evaluating.comparing import Difference, Group, compare_groups, grouped
from plansafe.align.evaluating.figures import BY_NAME, Figure, estimated
from plansafe.align.evaluating.files import read_evaluation
from plansafe.align.evaluating.running import Evaluation
from plansafe.align.evaluating.summary import span, value_text
from plansafe.align.reproducing.stages import Place, loss_curve
from plansafe.llm.bench.report import Bar, Plot, Report, Section, Table
from plansafe.llm.metrics.shares import NOT_APPLICABLE

FIGURES = ("safer-all", "succr-goal", "safer-at-goal", "safe-goal", "executable", "rouge-l", "steps")
GAINS = ("safer-all", "succr-goal", "safer-at-goal", "safe-goal", "rouge-l", "steps")
SHIFTS = (("in", "Other tasks of the families that were trained on"), ("family", "Families that were not trained on"))


def methods(place: Place) -> list[str]:
    """What was evaluated, in the order of the tables; the base model where it was."""
    base = all([os.path.exists(place.evaluation(seed, "base")) for seed in place.size.seeds])
    return [*(["base"] if base else []), "sft", *[run.name for run in place.size.runs]]


def evaluations(place: Place, shift: str | None = None) -> list[Evaluation]:
    """All evaluations of a reproduction; with ``shift`` of such test tasks alone."""
    found = []
    for run in methods(place):
        for seed in place.size.seeds:
            one = read_evaluation(place.evaluation(seed, run))
            kept = [record for record in one.records if shift is None or record["shift"] == shift]
            found.append(one._replace(records=kept))
    return found


def groups(place: Place, shift: str) -> dict[str, Group]:
    """The methods by the names of their runs, all seeds of each together, over test tasks of a shift."""
    return dict(zip(methods(place), grouped(evaluations(place, shift)), strict=True))


def report(place: Place) -> Report:
    """The report of a reproduction whose stages are done."""
    size = place.size
    sections = []
    for shift, title in SHIFTS:
        found = groups(place, shift)
        if found["sft"].answers:
            sections.append(Section(title, (_figures(found), _gains(found), _plot(found))))
    sections.append(Section("Training", (_training(place),)))
    about = (
        ("size", size.name),
        ("model", size.base.rpartition("/")[2]),
        ("seeds", ", ".join(map(str, size.seeds))),
        ("families", ", ".join(size.data.families)),
        ("unseen families", ", ".join(size.data.unseen) or "none"),
    )
    return Report(f"Reproduction, {size.name}", about, (), tuple(sections))


def _figures(found: dict[str, Group]) -> Table:
    chosen = [BY_NAME[name] for name in FIGURES]
    rows = []
    for run, group in found.items():
        known = [(figure, estimated(figure, group.answers).interval) for figure in chosen]
        cells = [_cell(value_text(figure, one.value), span(figure, one)) for figure, one in known]
        rows.append((run, str(len(group.answers)), *cells))
    note = "With 95 % percentile intervals over tasks; all seeds are pooled."
    return Table("Figures", ("", "answers", *[figure.title for figure in chosen]), tuple(rows), note)


def _gains(found: dict[str, Group]) -> Table:
    chosen = [BY_NAME[name] for name in GAINS]
    rows = []
    for run, group in found.items():
        if run != "sft":
            rows.append((run, *[_gain(figure, compare_groups(figure, found["sft"], group)) for figure in chosen]))
    note = "The difference to the SFT model with its 95 % interval, paired by task; shares in points."
    return Table("What changed", ("", *[figure.title for figure in chosen]), tuple(rows), note)


def _gain(figure: Figure, one: Difference) -> str:
    between = NOT_APPLICABLE
    if one.low is not None and one.high is not None:
        between = f"{_signed(figure, one.low)} to {_signed(figure, one.high)}"
    return _cell(_signed(figure, one.difference), between)


def _signed(figure: Figure, value: float | None) -> str:
    if value is None:
        return NOT_APPLICABLE
    return f"{100 * value:+.1f}" if figure.percent else f"{value:+.2f}"


def _cell(value: str, between: str) -> str:
    return value if between == NOT_APPLICABLE else f"{value} ({between})"


def _plot(found: dict[str, Group]) -> Plot:
    figure = BY_NAME["safer-at-goal"]
    values = [(run, estimated(figure, group.answers).interval) for run, group in found.items()]
    return Plot(figure.title, tuple([Bar(run, one.value, one.low, one.high) for run, one in values]))


def _training(place: Place) -> Table:
    rows = []
    for run in methods(place):
        if run != "base":
            curves = [loss_curve(place, seed, run) for seed in place.size.seeds]
            keys = ("loss", "margin", "accuracy", "length_gap")
            rows.append((run, str(len(curves[0])), *[_ends(curves, key) for key in keys]))
    columns = ("", "steps", "loss", "margin", "accuracy", "|1/|y_w| - 1/|y_l||")
    note = "Means of the first and of the last three steps, all seeds."
    return Table("First and last steps", columns, tuple(rows), note)


def _ends(curves: Sequence[Sequence[dict[str, float]]], key: str) -> str:
    if key not in curves[0][0]:
        return NOT_APPLICABLE
    first = mean([line[key] for curve in curves for line in curve[:3]])
    last = mean([line[key] for curve in curves for line in curve[-3:]])
    return f"{first:.3f} to {last:.3f}"
