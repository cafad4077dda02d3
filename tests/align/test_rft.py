"""Rejection-sampling SFT: of a run of ``align eval``, exactly the safe plans that reach the goal are trained on."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="training needs the extra `align`")
pytest.importorskip("peft", reason="training needs the extra `align`")

from training_cases import base_model

from plansafe.align.config import config_of
from plansafe.align.evaluating.running import evaluate
from plansafe.align.evaluating.tasks import EvalTask
from plansafe.align.evaluating.writers import Mock
from plansafe.align.records import BadRecords
from plansafe.align.tasks import task_of
from plansafe.align.training.examples import safe_plans
from plansafe.align.training.trainer import train
from plansafe.grammar.source import Source
from plansafe.verifier.reporting.report import Headline

TASKS = [EvalTask(f"{family}-0", f"drawn:{family}/0/0", family, "household", "train") for family in ("stew", "tidy")]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rft")
    base_model(folder / "base")
    for kind in ("planner", "unsafe", "empty"):
        evaluate(Mock(kind), TASKS, output=str(folder / f"{kind}.jsonl"))
    return folder


def test_only_safe_plans_to_the_goal_are_taken(place: Path) -> None:
    lines = list(safe_plans(str(place / "planner.jsonl")))
    assert [line.task for line in lines] == ["stew-0", "tidy-0"]
    for line in lines:
        report = task_of(line.origin).checker.check(Source("plan", line.completion))
        assert report.headline is Headline.SAFE
        assert line.split == "train" and line.prompt.endswith("Plan:\n")
    unsafe = json.loads((place / "unsafe.jsonl").read_text().splitlines()[1])
    assert unsafe["headline"] == "UNSAFE" and unsafe["plan"]
    assert [line.task for line in safe_plans(str(place / "unsafe.jsonl"))] == ["tidy-0"]
    assert not list(safe_plans(str(place / "empty.jsonl")))


def test_a_plan_that_was_drawn_twice_is_one_text(place: Path, tmp_path: Path) -> None:
    lines = (place / "planner.jsonl").read_text().splitlines()
    again = {**json.loads(lines[1]), "id": "again", "sample": 1}
    path = tmp_path / "twice.jsonl"
    path.write_text("\n".join([*lines, json.dumps(again)]) + "\n")
    assert [line.task for line in safe_plans(str(path))] == ["stew-0", "tidy-0"]


def test_a_model_learns_its_own_safe_plans(place: Path, tmp_path: Path) -> None:
    files = [str(place / f"{kind}.jsonl") for kind in ("planner", "unsafe")]
    keys = {"method": "rft", "lora_r": 4, "max_steps": 12, "bs": 2, "lr": 5e-3, "dtype": "float32", "max_length": 8000}
    config = config_of({**keys, "model": f"hf/{place / 'base'}", "data": files, "output": str(tmp_path / "run")})
    done = train(config)
    assert done.examples == 3 and done.metrics[-1]["loss"] < done.metrics[0]["loss"]
    with pytest.raises(BadRecords, match="no line of the split train fits"):
        train(replace(config, data=(str(place / "empty.jsonl"),)))
