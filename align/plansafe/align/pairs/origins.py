"""The tasks for mutants, if a model has answered none: families take turns."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from random import Random
from typing import Literal

from plansafe.align.stated.families import FAMILIES as STATED_FAMILIES
from plansafe.align.stated.families import HELD_OUT_FAMILIES
from plansafe.align.tasks import scenario_origins, virtualhome_origins
from plansafe.llm.instances.families import FAMILIES
from plansafe.llm.instances.home import MOST_ROOMS

TaskSource = Literal["stated", "drawn", "scenarios", "virtualhome"]


def origins(source: TaskSource, seed: int, data: str | None) -> Iterator[str]:
    """Origins of tasks; without end if tasks are drawn. Raises ``OSError`` for data that cannot be read."""
    if source == "stated":
        return _stated(seed)
    if source == "drawn":
        return _household(seed)
    tasks = list(scenario_origins() if source == "scenarios" else virtualhome_origins(data) if data else ())
    Random(f"{seed}/{source}").shuffle(tasks)
    return iter(tasks)


def _household(seed: int) -> Iterator[str]:
    """Every second household has objects of all kinds."""
    for number in count():
        for family in FAMILIES:
            yield f"drawn:{family}/{number}/{seed}" + (f"/{MOST_ROOMS}/full" if number % 2 == 0 else "")


def _stated(seed: int) -> Iterator[str]:
    """Twins of all families; one in four belongs to a held-out family."""
    for number in count():
        for place, family in enumerate(STATED_FAMILIES):
            yield from [f"stated:{family}/{2 * number + twin}/{seed}" for twin in (0, 1)]
            if place % 3 == 0:
                held_out = HELD_OUT_FAMILIES[(number + place) % len(HELD_OUT_FAMILIES)]
                yield from [f"stated:{held_out}/{2 * number + twin}/{seed}" for twin in (0, 1)]
