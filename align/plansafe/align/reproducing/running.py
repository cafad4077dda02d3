"""All stages in order, the units of each in several processes, until everything is done or the time is over.

The report of a reproduction: the report of its evaluations, with the verifier calls and losses of training.

It uses the seeds whose evaluations are complete.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from statistics import mean
from typing import Any

from plansafe.align.evaluating.comparing import Group, grouped
from plansafe.align.evaluating.files import read_evaluation
from plansafe.align.evaluating.report import NoPlots, compared, plots
from plansafe.align.evaluating.running import Evaluation
from plansafe.align.files import write_file
from plansafe.align.records import BadRecords
from plansafe.align.reproducing.sizes import Size
from plansafe.align.reproducing.stages import (
    SAMPLED,
    SFT,
    TEST,
    TIMES,
    Place,
    Say,
    Unit,
    evaluated_runs,
    loss_curve,
    pair_sources,
    stages,
    work,
)
from plansafe.align.tables import BadConfig
from plansafe.align.training.folder import BadTraining
from plansafe.llm.bench.report import Report, Section, Table
from plansafe.llm.bench.report_text import markdown, page
from plansafe.llm.bench.run_file import BadRun
from plansafe.llm.models.port import ModelError

REPORT, PAGE = "report.md", "report.html"
_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


class NotReproduced(Exception):
    """A unit cannot be done; the text names it and the reason."""


def reproduce(size: Size, folder: str, jobs: int, seconds: float | None = None, say: Say = print) -> bool:
    """Do the units of a reproduction that are not done; whether all are. ``seconds``: stop after this time.

    ``jobs`` processes of one thread each, for as many seeds at once; with GPUs, process i has GPU i. The report is
    written for the complete seeds. Raises :class:`NotReproduced`, ``OSError``, and
    :class:`~plansafe.align.training.folder.BadTraining` for a folder of another size.
    """
    begun = time.monotonic()
    ends = None if seconds is None else begun + seconds
    place = Place(folder, size)
    for name in _THREADS:
        os.environ[name] = "1"  # of the processes that are started
    context = get_context("spawn")
    done = True
    with ProcessPoolExecutor(jobs, context, take_gpu, (context.Value("i", 0),)) as pool:
        for stage in stages(size, jobs):
            futures = [(unit, pool.submit(_unit, folder, size, unit, ends)) for unit in stage]
            for unit, future in futures:
                finished, messages, refusal, spent = future.result()
                if refusal:
                    raise NotReproduced(f"{unit}: {refusal}")
                done = done and finished
                for message in messages:
                    say(message)
                _add_time(place, unit, spent)
                say(f"{unit}: {'done' if finished else 'not done yet'} ({time.monotonic() - begun:.0f} s)")
            if not done:
                break
    if complete_seeds(place):
        write_tables(place)
    return done


def write_tables(place: Place) -> None:
    """Write report and plots of the seeds whose evaluations are complete."""
    study = report(place)
    write_file(place.at(REPORT), [markdown(study)])
    write_file(place.at(PAGE), [page(study)])
    try:
        drawings = plots([*groups(place).values()], "family")
    except NoPlots:
        return
    for name, drawing in drawings.items():
        write_file(place.at(f"{name}.svg"), [drawing])


def take_gpu(counter: Any) -> None:
    """Let this process see one GPU: the next one, by a counter that all processes share."""
    with counter.get_lock():
        number = counter.value
        counter.value += 1
    visible = os.environ.get("CUDA_VISIBLE_DEVICES", "")
    devices = [name for name in visible.split(",") if name] or gpus()
    if devices:
        os.environ["CUDA_VISIBLE_DEVICES"] = devices[number % len(devices)]


def gpus() -> list[str]:
    """The numbers of this machine's NVIDIA GPUs, without loading CUDA."""
    folder = "/proc/driver/nvidia/gpus"
    return [str(number) for number in range(len(os.listdir(folder)))] if os.path.isdir(folder) else []


def _add_time(place: Place, unit: Unit, seconds: float) -> None:
    if seconds >= 1:  # others were done before
        with open(place.at(TIMES), "a", encoding="ascii") as file:
            file.write(json.dumps({"unit": list(unit), "seconds": round(seconds, 1)}) + "\n")


def _unit(folder: str, size: Size, unit: Unit, ends: float | None) -> tuple[bool, list[str], str, float]:
    """Whether the unit is done, its messages, the reason if it cannot be done, and its seconds."""
    begun = time.monotonic()
    messages: list[str] = []
    add: Callable[[str], None] = messages.append
    refusal, done = "", False
    try:
        done = work(Place(folder, size), unit, ends, add)
    except BadConfig as error:
        refusal = error.diagnostics[0].message
    except ModelError as error:
        refusal = str(error)
    except (BadRecords, BadRun, BadTraining) as error:
        refusal = error.diagnostic.message
    return done, messages, refusal, time.monotonic() - begun


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
