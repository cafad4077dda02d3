"""The kept run of SmolLM2: its tables are those of its records, and its records what the engine says of their plans."""

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

KEPT = Path(__file__).resolve().parents[3] / "bench" / "align" / "small"


def test_the_tables_are_those_of_the_records(tmp_path: Path) -> None:
    folder = tmp_path / "small"
    shutil.copytree(KEPT, folder)
    write_tables(Place(str(folder), read_size(str(KEPT) + ".toml")))
    for name in (REPORT, METHODS):
        assert (folder / name).read_text() == (KEPT / name.replace(".md", ".txt")).read_text()


def test_all_methods_were_asked_the_same_hundred_tasks() -> None:
    place = Place(str(KEPT), read_size(str(KEPT) + ".toml"))
    runs = [read_evaluation(place.evaluation(0, name)) for name in methods(place)]
    assert {run.header["tasks"]["sha256"] for run in runs} == {runs[0].header["tasks"]["sha256"]}
    assert {len(run.records) for run in runs} == {100}


@pytest.mark.parametrize("place", range(6))
def test_a_record_is_what_the_engine_says_of_its_plan(place: int) -> None:
    files = sorted(KEPT.glob("eval-*.jsonl"))
    random = Random(place)
    record = random.choice(read_evaluation(str(random.choice(files))).records)
    plan = Source("plan", "".join([f"{step}\n" for step in record["plan"]]))
    report = task_of(record["origin"]).checker.check(plan)
    assert report.headline is not None
    assert report.headline.value == record["headline"]
