"""All stages in order, the units of each in several processes, until everything is done or the time is over."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

from plansafe.align.evaluating.plots import NoPlots, plots
from plansafe.align.files import write_file
from plansafe.align.records import BadRecords
from plansafe.align.reproducing.report import complete_seeds, groups, report
from plansafe.align.reproducing.sizes import Size
from plansafe.align.reproducing.stages import TIMES, Place, Say, Unit, stages, work
from plansafe.align.tables import BadConfig
from plansafe.align.training.folder import BadTraining
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
