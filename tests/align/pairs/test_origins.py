"""The order of the tasks that mutants are made of."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from plansafe.align.pairs.origins import TURNS, origins
from plansafe.align.tasks import family_of, scenario_origins, task_of, virtualhome_origins


def test_sources_take_turns() -> None:
    found = list(islice(origins(["drawn", "scenarios"], 1, None), 70))
    assert len(set(found)) == 70
    drawn = [one for one in found if one.startswith("drawn:")]
    assert abs(len(drawn) - 70 * TURNS["drawn"] / (TURNS["drawn"] + TURNS["scenarios"])) < 1
    assert all(one.endswith(("/1", "/1/3/full")) for one in drawn)
    assert any(one.endswith("/1/3/full") for one in drawn) and any(one.endswith("/1") for one in drawn)


def test_every_scenario_is_there_once_in_an_order_by_the_seed() -> None:
    found = list(origins(["scenarios"], 0, None))
    assert sorted(found) == sorted(scenario_origins())
    assert found != list(origins(["scenarios"], 1, None))
    assert list(origins(["virtualhome"], 0, None)) == []


def test_the_family_is_that_of_the_task(data: Path) -> None:
    for origin in ("drawn:stew/0/0", scenario_origins()[0], virtualhome_origins(str(data))[0]):
        assert family_of(origin, str(data)) == task_of(origin, str(data)).family
