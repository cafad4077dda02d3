"""The order of the tasks that mutants are made of."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from plansafe.align.pairs.origins import TURNS, origins
from plansafe.align.tasks import family_of, scenario_origins, task_of, virtualhome_origins


def test_sources_take_turns() -> None:
    tasks = list(islice(origins(["drawn", "scenarios"], 1, None), 70))
    assert len(set(tasks)) == 70
    household_origins = [origin for origin in tasks if origin.startswith("drawn:")]
    assert abs(len(household_origins) - 70 * TURNS["drawn"] / (TURNS["drawn"] + TURNS["scenarios"])) < 1
    assert all(origin.endswith(("/1", "/1/3/full")) for origin in household_origins)
    assert any(origin.endswith("/1/3/full") for origin in household_origins) and any(
        origin.endswith("/1") for origin in household_origins
    )


def test_every_scenario_is_there_once_in_an_order_by_the_seed() -> None:
    tasks = list(origins(["scenarios"], 0, None))
    assert sorted(tasks) == sorted(scenario_origins())
    assert tasks != list(origins(["scenarios"], 1, None))
    assert list(origins(["virtualhome"], 0, None)) == []


def test_the_family_is_that_of_the_task(data: Path) -> None:
    for origin in ("drawn:stew/0/0", scenario_origins()[0], virtualhome_origins(str(data))[0]):
        assert family_of(origin, str(data)) == task_of(origin, str(data)).family
