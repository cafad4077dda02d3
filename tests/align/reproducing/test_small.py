"""The kept runs of SmolLM2: their tables are those of their records, and these what the engine says of their plans."""

from __future__ import annotations

import shutil
from pathlib import Path
from random import Random

import pytest

from plansafe.align.evaluating.files import read_evaluation
from plansafe.align.reproducing.report import methods
from plansafe.align.reproducing.running import METHODS, REPORT, write_tables
from plansafe.align.reproducing.sizes import read_size
from plansafe.align.reproducing.stages import Place
from plansafe.align.tasks import task_of
from plansafe.grammar.source import Source
from quick import quick_every

BENCH = Path(__file__).resolve().parents[3] / "bench" / "align"
KEPT = ("small", "small-150")


@pytest.mark.slow
@pytest.mark.parametrize("kept", [pytest.param("small", marks=pytest.mark.whole), "small-150"])
def test_the_tables_are_those_of_the_records(kept: str, tmp_path: Path) -> None:
    folder = tmp_path / "small"
    shutil.copytree(BENCH / kept, folder)
    write_tables(Place(str(folder), read_size(str(BENCH / f"{kept}.toml"))))
    for name in (REPORT, METHODS):
        assert (folder / name).read_text() == (BENCH / kept / name.replace(".md", ".txt")).read_text()


@pytest.mark.parametrize("kept", KEPT)
def test_all_methods_were_asked_the_same_hundred_tasks(kept: str) -> None:
    place = Place(str(BENCH / kept), read_size(str(BENCH / f"{kept}.toml")))
    runs = [read_evaluation(place.evaluation(0, name)) for name in methods(place)]
    assert {run.header["tasks"]["sha256"] for run in runs} == {runs[0].header["tasks"]["sha256"]}
    assert {len(run.records) for run in runs} == {100}


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("kept", quick_every(8, KEPT))
def test_a_record_is_what_the_engine_says_of_its_plan(kept: str, place: int) -> None:
    files = sorted((BENCH / kept).glob("eval-*.jsonl"))
    records = [one for file in files for one in read_evaluation(str(file)).records]
    record = Random(place).choice([one for one in records if one["judged"]["read"]])  # few of the base model's are
    plan = Source("plan", "".join([f"{step}\n" for step in record["plan"]]))
    report = task_of(record["origin"]).checker.check(plan)
    assert report.headline is not None
    assert report.headline.value == record["headline"]
