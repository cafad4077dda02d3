"""Test tasks by their origins: each kind is deterministic, and other origins open no files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plansafe.align.tasks import BadOrigin, data_folder, scenario_origins, task_of, virtualhome_origins
from plansafe.grammar.source import Source
from plansafe.verifier.reporting.report import Headline, Worlds

DATA = Path(os.environ.get("PLANSAFE_DATA", Path(__file__).parents[3] / "shared" / "data"))
needs_data = pytest.mark.skipif(not (DATA / "eai-virtualhome").is_dir(), reason="no virtualhome (set PLANSAFE_DATA)")


def test_drawn_task_is_deterministic_with_a_safe_reference() -> None:
    task, again = task_of("drawn:tidy/3/0"), task_of("drawn:tidy/3/0")
    assert (task.name, task.family, task.world, task.origin) == ("tidy-3/0", "tidy", "household", "drawn:tidy/3/0")
    assert task.words.startswith("Tidy the")
    assert task.checker.check(Source("plan", task.reference)).headline is Headline.SAFE
    assert (again.reference, again.words) == (task.reference, task.words)
    assert task_of("drawn:tidy/3/1").name != task.name


def test_drawn_task_respects_the_limit_of_rooms() -> None:
    for number in range(4):
        small = task_of(f"drawn:tidy/{number}/0/1")
        assert small.name == f"tidy-{number}/0/1"
        task = small.checker.engine.task
        assert len([kinds for kinds in task.object_types if task.type_names[kinds[0]] == "room"]) == 2


def test_scenario_has_a_request_and_a_safe_plan() -> None:
    assert len(scenario_origins()) >= 60
    task = task_of("scenario:sealed-tin-in-the-oven")
    assert task.name == "sealed-tin-in-the-oven" and task.words and task.checker.ok
    assert task.checker.check(Source("plan", task.reference)).headline is Headline.SAFE


@needs_data
def test_script_of_virtualhome_has_its_scene_and_goal() -> None:
    origins = virtualhome_origins(str(DATA))
    assert len(origins) >= 200 and "virtualhome:1003_2#1003_2" in origins
    task = task_of("virtualhome:1003_2#1003_2", str(DATA))
    report = task.checker.check(Source("plan", task.reference))
    assert (report.headline, report.goal) == (Headline.SAFE, Worlds.ALL)
    assert task.world == "virtualhome" and task.family == "write-an-email" and task.words.startswith("Write an email.")
    assert all(line.startswith("(") and line.endswith(")") for line in task.reference.splitlines())


@pytest.mark.parametrize(
    "origin",
    [
        "drawn:nothing/1/0",
        "drawn:tidy/-1/0",
        "drawn:tidy/1",
        "drawn:tidy/1/0/0",
        "drawn:tidy/1/0/6",
        "scenario:../../../etc",
        "scenario:no-such-thing",
        "scenario:no-such-set/x",
        "scenario:embodyguard-like/no-such-thing",
        "scenario:",
        "virtualhome:../x#1_1",
        "virtualhome:1_1#/etc/passwd",
        "virtualhome:9_9#999999_9",
        "/etc/passwd",
        "drawn:tidy/3/0\n",
        "drawn:tidy/٣/0",
    ],
)
def test_other_origins_are_refused_with_a_reason(origin: str, tmp_path: Path) -> None:
    (tmp_path / "eai-virtualhome").mkdir()
    (tmp_path / "eai-virtualhome" / "id2task.json").write_text('{"1_1": "Drink", "../x": "Drink"}')
    with pytest.raises(BadOrigin) as refusal:
        task_of(origin, str(tmp_path))
    assert str(refusal.value)


def test_missing_virtualhome_data_names_the_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PLANSAFE_DATA", raising=False)
    with pytest.raises(BadOrigin) as refusal:
        task_of("virtualhome:1003_2#1003_2", data_folder())
    assert "PLANSAFE_DATA" in str(refusal.value.help)


@given(st.text(max_size=30), st.sampled_from(["", "drawn:", "scenario:", "virtualhome:", "virtualhome:1_1#"]))
def test_no_text_is_opened_as_a_path(text: str, kind: str) -> None:
    with pytest.raises(BadOrigin):
        task_of(f"{kind}{text}/", None)
