"""The report of a reproduction: the report of its evaluations, with the verifier calls and losses of training.

It uses the seeds whose evaluations are complete.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from statistics import mean

from plansafe.align.evaluating.comparing import Group, grouped
from plansafe.align.evaluating.files import read_evaluation
from plansafe.align.evaluating.report import compared
from plansafe.align.evaluating.running import Evaluation
from plansafe.align.reproducing.stages import SAMPLED, SFT, TEST, Place, evaluated_runs, loss_curve, pair_sources
from plansafe.llm.bench.report import Report, Section, Table


def complete_seeds(place: Place) -> list[int]:
    """The seeds whose evaluations are complete."""
    if not os.path.exists(place.at(SFT)):
        return []
    runs = evaluated_runs(place.size)
    return [seed for seed in place.size.seeds if all([place.is_evaluated(seed, run) for run in runs])]


def evaluations(place: Place) -> list[Evaluation]:
    """All evaluations of the complete seeds."""
    seeds = complete_seeds(place)
    return [read_evaluation(place.evaluation(seed, run)) for run in evaluated_runs(place.size) for seed in seeds]


def groups(place: Place) -> dict[str, Group]:
    """The methods by the names of their runs, with all complete seeds."""
    return dict(zip(evaluated_runs(place.size), grouped(evaluations(place)), strict=True))


def report(place: Place) -> Report:
    """The report of the complete seeds."""
    size, seeds = place.size, complete_seeds(place)
    sampling, tests = size.sampling, place.tasks(TEST)
    about = (
        ("base", size.base),
        ("complete seeds", f"{', '.join(map(str, seeds))} of {len(size.seeds)}"),
        ("texts for SFT", str(len(place.tasks(SFT)))),
        ("test tasks", f"{len(tests)}, of known families and rules {sum([task.shift == 'in' for task in tests])}"),
        ("samples", f"{sampling.samples} for each of {len(place.tasks(SAMPLED))} tasks, {sampling.rounds} rounds"),
    )
    tested = groups(place)[size.treatment].name
    comparison = compared(evaluations(place), tested, "family", title=f"Reproduction {size.name}", about=about)
    training = Section("Training", (_calls(place, seeds), _losses(place, seeds)))
    warnings = comparison.warnings if len(seeds) == len(size.seeds) else ("not all seeds are complete",)
    return comparison._replace(warnings=warnings, sections=(*comparison.sections, training))


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
