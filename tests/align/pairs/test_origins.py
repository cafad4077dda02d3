"""Test the order of the tasks for mutants."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from plansafe.align.pairs.origins import origins
from plansafe.align.tasks import family_of, scenario_origins, task_of, virtualhome_origins


def test_every_second_household_is_full() -> None:
    tasks = list(islice(origins("drawn", 1, None), 40))
    assert len(set(tasks)) == 40
    assert {origin.split("/", 2)[2] for origin in tasks} == {"1", "1/3/full"}


def test_stated_tasks_alternate_with_their_twins() -> None:
    tasks = list(islice(origins("stated", 1, None), 40))
    numbers = [int(origin.split("/")[1]) for origin in tasks]
    assert len(set(tasks)) == 40 and numbers[::2] == [number - 1 for number in numbers[1::2]]


def test_seed_determines_the_order_of_all_scenarios() -> None:
    tasks = list(origins("scenarios", 0, None))
    assert sorted(tasks) == sorted(scenario_origins())
    assert tasks != list(origins("scenarios", 1, None))
    assert list(origins("virtualhome", 0, None)) == []


def test_origin_and_task_have_the_same_family(data: Path) -> None:
    for origin in ("drawn:stew/0/0", scenario_origins()[0], virtualhome_origins(str(data))[0]):
        assert family_of(origin, str(data)) == task_of(origin, str(data)).family
