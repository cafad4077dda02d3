"""Plans that models wrote for drawn households, from kept runs of the suite ``planning``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from plansafe.align.records import Source
from plansafe.llm.bench.run_file import read_run

MOST_ACTIONS = 100
"""Of a plan; longer ones are loops."""


class Written(NamedTuple):
    """A plan that a model wrote. ``source``: whether it was asked for a plan, or for a bad one."""

    plan: str
    source: Source


def written_in(runs: Sequence[str], adversarial: Sequence[str]) -> dict[str, list[Written]]:
    """The plans of runs by the origins of their tasks; those of ``adversarial`` are of that source.

    As in Safe-BeAl, section 4.2: a model is asked for plans that go wrong, and those are kept that can be executed,
    which who makes pairs finds out. Raises as :func:`plans_of_runs`.
    """
    out: dict[str, list[Written]] = {}
    sources: tuple[tuple[Source, Sequence[str]], ...] = (("sample", runs), ("adversarial", adversarial))
    for source, paths in sources:
        for origin, plans in plans_of_runs(paths).items():
            out.setdefault(origin, []).extend([Written(plan, source) for plan in plans])
    return out


def plans_of_runs(paths: Sequence[str]) -> dict[str, list[str]]:
    """The plans by the origins of their tasks, each once, in the order of the files.

    Raises :class:`plansafe.llm.bench.run_file.BadRun` for a file that is no run. Answers without a plan are left out,
    and so are runs of other suites.
    """
    out: dict[str, dict[str, None]] = {}
    for path in paths:
        run = read_run(path)
        if run.suite != "planning":
            continue
        for record in run.records:
            name, family, steps = record.get("id"), record.get("family"), record.get("plan")
            if not isinstance(name, str) or not isinstance(family, str) or not isinstance(steps, list):
                continue
            number = name.removeprefix(f"{family}-")
            if not 0 < len(steps) <= MOST_ACTIONS or not all([isinstance(step, str) for step in steps]):
                continue
            # The suite draws its instances by the seed 0, whatever the run's own seed is.
            out.setdefault(f"drawn:{family}/{number}/0", {})["".join([f"{step}\n" for step in steps])] = None
    return {origin: list(plans) for origin, plans in out.items()}
