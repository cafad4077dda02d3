"""The order of the tasks that mutants are made of."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from plansafe.align.pairs.origins import origins
from plansafe.align.tasks import family_of, scenario_origins, task_of, virtualhome_origins


def test_every_second_household_is_full() -> None:
    tasks = list(islice(origins("drawn", 1, None), 40))
    assert len(set(tasks)) == 40
    assert {origin.split("/", 2)[2] for origin in tasks} == {"1", "1/3/full"}


def test_half_of_the_stated_tasks_are_the_twins_of_the_others() -> None:
    tasks = list(islice(origins("stated", 1, None), 40))
    numbers = [int(origin.split("/")[1]) for origin in tasks]
    assert len(set(tasks)) == 40 and numbers[::2] == [number - 1 for number in numbers[1::2]]


def test_every_scenario_is_there_once_in_an_order_by_the_seed() -> None:
    tasks = list(origins("scenarios", 0, None))
    assert sorted(tasks) == sorted(scenario_origins())
    assert tasks != list(origins("scenarios", 1, None))
    assert list(origins("virtualhome", 0, None)) == []


def test_the_family_is_that_of_the_task(data: Path) -> None:
    for origin in ("drawn:stew/0/0", scenario_origins()[0], virtualhome_origins(str(data))[0]):
        assert family_of(origin, str(data)) == task_of(origin, str(data)).family
