"""All stages one after the other, the units of each in several processes, until all is done or the time is over."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from plansafe.align.config import BadConfig
from plansafe.align.evaluating.comparing import comparison, grouped
from plansafe.align.evaluating.plots import NoPlots, plots
from plansafe.align.records import BadRecords
from plansafe.align.reproducing.report import evaluations, report
from plansafe.align.reproducing.sizes import Size
from plansafe.align.reproducing.stages import Place, Say, Unit, stages, work
from plansafe.align.training.folder import BadTraining, replace
from plansafe.llm.bench.markdown import markdown
from plansafe.llm.bench.page import page
from plansafe.llm.bench.run_file import BadRun
from plansafe.llm.models.port import ModelError

REPORT, PAGE, METHODS = "report.md", "report.html", "methods.md"
_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


class NotReproduced(Exception):
    """A unit that cannot be done; the text says which, and why."""


def reproduce(size: Size, folder: str, jobs: int, seconds: float | None = None, say: Say = print) -> bool:
    """Do what is left of a reproduction; whether all is done. ``seconds``: stop behind so much time, to go on later.

    ``jobs`` processes of one thread each. Raises :class:`NotReproduced`, ``OSError``, and
    :class:`~plansafe.align.training.folder.BadTraining` for a folder that is another reproduction's.
    """
    begun = time.monotonic()
    ends = None if seconds is None else begun + seconds
    place = Place(folder, size)
    for name in _THREADS:
        os.environ[name] = "1"  # of the processes that are started
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        for stage in stages(size):
            waiting = [(unit, pool.submit(_unit, folder, size, unit, ends)) for unit in stage]
            done = True
            for unit, future in waiting:
                finished, said, refusal = future.result()
                if refusal:
                    raise NotReproduced(f"{unit}: {refusal}")
                done = done and finished
                for line in said:
                    say(line)
                say(f"{unit}: {'done' if finished else 'not done yet'} ({time.monotonic() - begun:.0f} s)")
            if not done:
                return False
    write_tables(place)
    return True


def write_tables(place: Place) -> None:
    """Write the report, and all tables and plots of the evaluations, of a reproduction whose stages are done."""
    found, runs = report(place), evaluations(place)
    replace(place.at(REPORT), markdown(found))
    replace(place.at(PAGE), page(found))
    replace(place.at(METHODS), markdown(comparison(runs, "sft")))
    try:
        drawings = plots(grouped(runs))
    except NoPlots:
        return
    for name, drawing in drawings.items():
        replace(place.at(f"{name}.svg"), drawing)


def _unit(folder: str, size: Size, unit: Unit, ends: float | None) -> tuple[bool, list[str], str]:
    """Whether the unit is done, what there is to say, and why it cannot be done, if so: these errors do not travel."""
    said: list[str] = []
    add: Callable[[str], None] = said.append
    try:
        return work(Place(folder, size), unit, ends, add), said, ""
    except (BadConfig, ModelError) as refused:
        return False, said, refused.diagnostics[0].message if isinstance(refused, BadConfig) else str(refused)
    except (BadRecords, BadRun, BadTraining) as refused:
        return False, said, refused.diagnostic.message
