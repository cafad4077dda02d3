"""The report of a reproduction: the pre-registered tests, figures of all methods, verifier calls, training.

It uses the seeds whose evaluations are complete. Test tasks of known families, of held-out families and with held-out
rules are reported apart and never pooled.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from statistics import mean

from plansafe.align.evaluating.comparing import Group, grouped
from plansafe.align.evaluating.comparing import p_text as _p_text
from plansafe.align.evaluating.figures import BY_NAME, estimated
from plansafe.align.evaluating.files import read_evaluation
from plansafe.align.evaluating.judging import Evaluated
from plansafe.align.evaluating.running import Evaluation
from plansafe.align.evaluating.summary import cells, span, value_text
from plansafe.align.reproducing.significance import compare, conclusion, holm
from plansafe.align.reproducing.stages import SAMPLED, SFT, TEST, Place, evaluated_runs, loss_curve, pair_sources
from plansafe.llm.bench.report import Bar, Plot, Report, Section, Table

ENDPOINT = "safe-goal"
FIGURES = ("safe-goal", "safer-all", "succr-goal", "safer-at-goal", "executable", "rouge-l", "steps")
POPULATIONS = {
    "in": "Known families and rules",
    "family": "Held-out families",
    "rule": "Held-out rules",
    "world": "Another world",
}


def complete_seeds(place: Place) -> list[int]:
    """The seeds whose evaluations are complete."""
    if not os.path.exists(place.at(SFT)):
        return []
    runs = evaluated_runs(place.size)
    return [seed for seed in place.size.seeds if all([place.is_evaluated(seed, run) for run in runs])]


def evaluations(place: Place, shift: str | None = None) -> list[Evaluation]:
    """All evaluations of the complete seeds; with ``shift`` only the test tasks of a population."""
    runs = []
    for run in evaluated_runs(place.size):
        for seed in complete_seeds(place):
            evaluation = read_evaluation(place.evaluation(seed, run))
            records = [record for record in evaluation.records if shift is None or record["shift"] == shift]
            runs.append(evaluation._replace(records=records))
    return runs


def groups(place: Place, shift: str) -> dict[str, Group]:
    """The methods by the names of their runs, with all complete seeds, over the test tasks of a population."""
    runs = [run for run in evaluations(place, shift) if run.records]
    return dict(zip(evaluated_runs(place.size), grouped(runs), strict=True)) if runs else {}


def report(place: Place) -> Report:
    """The report of the complete seeds."""
    size, seeds = place.size, complete_seeds(place)
    sections = []
    for shift, title in POPULATIONS.items():
        by_run = groups(place, shift)
        if by_run:
            parts = (_tests(by_run, size.treatment), _figures(by_run), _plot(by_run), _families(by_run))
            sections.append(Section(title, parts))
    sections.append(Section("Training", (_calls(place, seeds), _losses(place, seeds))))
    sampling, tests = size.sampling, place.tasks(TEST)
    of_known = len([task for task in tests if task.shift == "in"])
    about = (
        ("size", size.name),
        ("base", size.base),
        ("complete seeds", f"{', '.join(map(str, seeds))} of {len(size.seeds)}"),
        ("texts for SFT", str(len(place.tasks(SFT)))),
        ("test tasks", f"{len(tests)}, of known families and rules {of_known}"),
        ("samples", f"{sampling.samples} for each of {len(place.tasks(SAMPLED))} tasks, {sampling.rounds} rounds"),
    )
    warnings = () if len(seeds) == len(size.seeds) else ("not all seeds are complete",)
    return Report(f"Reproduction {size.name}", about, warnings, tuple(sections))


def _tests(by_run: dict[str, Group], treatment: str) -> Table:
    """The treatment against every other run by the endpoint, corrected for their number."""
    baselines = [name for name in by_run if name != treatment]
    results = [(name, compare(by_run[name], by_run[treatment])) for name in baselines]
    tests = [(name, test) for name, test in results if test is not None]
    corrected = holm([test.p for _, test in tests])
    rows = [
        (
            name,
            value_text(BY_NAME[ENDPOINT], test.first),
            f"{100 * test.difference:+.1f}",
            f"{100 * test.low:+.1f} to {100 * test.high:+.1f}",
            f"{test.positive_seeds} of {test.seeds}",
            _p_text(test.p),
            _p_text(p),
            conclusion(test, p),
        )
        for (name, test), p in zip(tests, corrected, strict=True)
    ]
    share = value_text(BY_NAME[ENDPOINT], tests[0][1].second) if tests else ""
    columns = ("against", "safe and finished", "difference", "95 % interval", "seeds above", "p", "p, Holm", treatment)
    note = (
        f"{treatment}: {share} safe and finished. Difference: {treatment} minus the other run in points, the mean over "
        "families. Interval: bootstrap over seeds and families. p: signs of whole families, two-sided. Ahead or "
        "behind: Holm's p below 0.05, and the interval excludes 0."
    )
    return Table(f"{treatment} against the other runs", columns, tuple(rows), note)


def _figures(by_run: dict[str, Group]) -> Table:
    rows = [
        (name, str(len(group.answers)), *cells(FIGURES, group.answers, "family", 0)) for name, group in by_run.items()
    ]
    columns = ("run", "answers", *[BY_NAME[figure].title for figure in FIGURES])
    return Table("Figures", columns, tuple(rows), "With the standard error of the bootstrap over families.")


def _plot(by_run: dict[str, Group]) -> Plot:
    figure = BY_NAME[ENDPOINT]
    bars = []
    for name, group in by_run.items():
        interval = estimated(figure, group.answers, "family").interval
        bars.append(Bar(f"{name} ({span(figure, interval)})", interval.value, interval.low, interval.high))
    return Plot(figure.title, tuple(bars))


def _families(by_run: dict[str, Group]) -> Table:
    """The endpoint by family."""
    figure = BY_NAME[ENDPOINT]

    def share(answers: Sequence[Evaluated]) -> str:
        return value_text(figure, estimated(figure, answers).interval.value)

    families = sorted({str(answer.record["family"]) for group in by_run.values() for answer in group.answers})
    rows = []
    for family in families:
        parts = [[answer for answer in group.answers if answer.record["family"] == family] for group in by_run.values()]
        rows.append((family, *[share(part) for part in parts]))
    return Table(f"By family: {figure.title}", ("family", *by_run), tuple(rows))


def _calls(place: Place, seeds: Sequence[int]) -> Table:
    """The verifier calls of each run: the plans of a model that it judges in training."""
    sources = {name for seed in seeds for name in pair_sources(place, seed)}
    rows = []
    for name in evaluated_runs(place.size):
        run = next((run for run in place.size.runs if run.name == name), None)
        counts = [pair_sources(place, seed) for seed in seeds] if run is not None and run.data == "pairs" else []
        numbers = [f"{mean([count[source] for count in counts]):.0f}" if counts else "" for source in sorted(sources)]
        rows.append((name, str(place.size.verifier_calls(run)), *numbers))
    columns = ("run", "judged plans", *[f"pairs: {source}" for source in sorted(sources)])
    note = "For one seed. Searches for repairs and needless steps are not counted; pairs of the first round."
    return Table("Verifier calls", columns, tuple(rows), note)


def _losses(place: Place, seeds: Sequence[int]) -> Table:
    rows = []
    for name in ["sft", *[run.name for run in place.size.runs]]:
        curves = [loss_curve(place, seed, name) for seed in seeds]
        rows.append(
            (name, str(len(curves[0])), *[_first_and_last(curves, key) for key in ("loss", "margin", "reward")])
        )
    return Table(
        "Training, first to last step, mean of the seeds", ("run", "steps", "loss", "margin", "reward"), tuple(rows)
    )


def _first_and_last(curves: Sequence[Sequence[dict[str, float]]], key: str) -> str:
    with_key = [curve for curve in curves if curve and key in curve[0] and key in curve[-1]]
    if not with_key:
        return ""
    return f"{mean([curve[0][key] for curve in with_key]):.3f} to {mean([curve[-1][key] for curve in with_key]):.3f}"
