"""Test rejection-sampling SFT: it trains on the safe plans of an ``align eval`` run that reach the goal."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="training needs the extra `align`")
pytest.importorskip("peft", reason="training needs the extra `align`")

from training_cases import write_base_model

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
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rft")
    write_base_model(folder / "base")
    for kind in ("planner", "unsafe", "empty"):
        evaluate(Mock(kind), TASKS, output=str(folder / f"{kind}.jsonl"))
    return folder


def test_only_safe_plans_that_reach_the_goal_are_used(folder: Path) -> None:
    lines = list(safe_plans(str(folder / "planner.jsonl")))
    assert [line.task for line in lines] == ["stew-0", "tidy-0"]
    for line in lines:
        report = task_of(line.origin).checker.check(Source("plan", line.completion))
        assert report.headline is Headline.SAFE
        assert line.split == "train" and line.prompt.endswith("Plan:\n")
    unsafe = json.loads((folder / "unsafe.jsonl").read_text().splitlines()[1])
    assert unsafe["headline"] == "UNSAFE" and unsafe["plan"]
    assert [line.task for line in safe_plans(str(folder / "unsafe.jsonl"))] == ["tidy-0"]
    assert not list(safe_plans(str(folder / "empty.jsonl")))


def test_repeated_plan_is_used_once(folder: Path, tmp_path: Path) -> None:
    lines = (folder / "planner.jsonl").read_text().splitlines()
    again = {**json.loads(lines[1]), "id": "again", "sample": 1}
    path = tmp_path / "twice.jsonl"
    path.write_text("\n".join([*lines, json.dumps(again)]) + "\n")
    assert [line.task for line in safe_plans(str(path))] == ["stew-0", "tidy-0"]


def test_a_model_learns_its_own_safe_plans(folder: Path, tmp_path: Path) -> None:
    files = [str(folder / f"{kind}.jsonl") for kind in ("planner", "unsafe")]
    keys = {"method": "rft", "lora_r": 4, "max_steps": 12, "bs": 2, "lr": 5e-3, "dtype": "float32", "max_length": 8000}
    config = config_of({**keys, "model": f"hf/{folder / 'base'}", "data": files, "output": str(tmp_path / "run")})
    run = train(config)
    assert run.examples == 3 and run.metrics[-1]["loss"] < run.metrics[0]["loss"]
    with pytest.raises(BadRecords, match="no line of the split train fits"):
        train(replace(config, data=(str(folder / "empty.jsonl"),)))
