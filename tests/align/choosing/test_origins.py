"""In which order tasks are taken."""

from __future__ import annotations

from itertools import cycle, islice
from pathlib import Path

from plansafe.align.choosing.origins import TURNS, origins
from plansafe.align.choosing.splits import split_of
from plansafe.align.records import Split
from plansafe.align.tasks import family_of, scenario_origins, task_of, virtualhome_origins


def test_sources_take_turns_and_serve_the_side_that_is_wanted() -> None:
    sides: list[Split] = ["train", "train", "test"]
    turns = cycle(sides)
    found = list(islice(origins(["drawn", "scenarios"], 1, None, lambda: next(turns)), 70))
    assert len(set(found)) == 70
    drawn = [one for one in found if one.startswith("drawn:")]
    rest = 70 * TURNS["drawn"] / (TURNS["drawn"] + TURNS["scenarios"])
    assert abs(len(drawn) - rest) < 1
    assert [split_of(family_of(one)) for one in found] == [sides[at % 3] for at in range(70)]
    assert all(one.endswith(("/1", "/1/3/full")) for one in drawn)
    assert any(one.endswith("/1/3/full") for one in drawn) and any(one.endswith("/1") for one in drawn)


def test_what_ends_is_passed_over() -> None:
    found = list(origins(["scenarios"], 0, None, lambda: "test"))
    assert sorted(found) == sorted(scenario_origins())
    test = [split_of(family_of(one)) for one in found].index("train")
    assert all(split_of(family_of(one)) == "train" for one in found[test:])
    assert found != list(origins(["scenarios"], 1, None, lambda: "test"))
    drawn = list(origins(["drawn"], 5, None, lambda: "train", drawn=range(2), rooms=1))
    assert len(drawn) == 30
    assert drawn[0] == "drawn:fetch/0/5/1/full" and "drawn:fetch/1/5/1" in drawn


def test_the_family_is_that_of_the_task(data: Path) -> None:
    for origin in ("drawn:stew/0/0", scenario_origins()[0], virtualhome_origins(str(data))[0]):
        assert family_of(origin, str(data)) == task_of(origin, str(data)).family
