"""A model of transformers writes plans: batches, several processes, and runs that continue."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="models need the extra `align`")
pytest.importorskip("transformers", reason="models need the extra `align`")

from training_cases import base_model  # noqa: E402

from in_process import safecheck  # noqa: E402
from plansafe.align.evaluating.model_writers import Decoding, Local  # noqa: E402
from plansafe.align.evaluating.running import evaluate  # noqa: E402
from plansafe.align.evaluating.tasks import EvalTask  # noqa: E402
from plansafe.llm.models.providers import Settings, open_model  # noqa: E402
from plansafe.llm.models.torch_model import TorchModel  # noqa: E402

TASK = EvalTask("tidy-0", "drawn:tidy/0/0", "tidy", "household", prompt="Tidy up.\nPlan:\n")


@pytest.fixture(scope="module", params=[0, 1])
def model(request: Any, tmp_path_factory: pytest.TempPathFactory) -> TorchModel:
    folder = base_model(tmp_path_factory.mktemp("base") / "model", request.param)
    found = open_model(f"hf/{folder}", Settings(threads=1, dtype="float32"))
    assert isinstance(found, TorchModel)
    return found


def test_a_model_in_memory_writes_whole_plans(model: TorchModel) -> None:
    inner, tokenizer = model.loaded
    tasks = [TASK, TASK._replace(id="again", prompt="Go.\nPlan:\n")]
    run = evaluate(Local(inner, tokenizer, "tiny", "0", Decoding(20)), tasks)
    alone = evaluate(Local(inner, tokenizer, "tiny", "0", Decoding(20)), tasks, batch=1)
    assert [one["answer"] for one in run.records] == [one["answer"] for one in alone.records]
    assert [one["cost"] for one in run.records] == [one["cost"] for one in alone.records]
    assert not inner.training


def _model_and_tasks(folder: Path) -> list[str]:
    """The arguments of `align eval` for a model and three tasks."""
    base_model(folder / "base")
    origins = [("tidy-0", "drawn:tidy/0/0"), ("wash-up-0", "drawn:wash-up/0/0"), ("stew-0", "drawn:stew/0/0")]
    lines = [
        {"id": name, "origin": origin, "family": name[:-2], "world": "household", "prompt": f"{name}\nPlan:\n"}
        for name, origin in origins
    ]
    (folder / "tasks.jsonl").write_text("".join([json.dumps(line) + "\n" for line in lines]), encoding="utf-8")
    arguments = ["eval", folder / "tasks.jsonl", "-m", f"hf/{folder / 'base'}", "--dtype", "float32"]
    return [*[str(argument) for argument in arguments], "--max-tokens", "30"]


def _eval(arguments: list[str], output: Path, *more: str) -> list[tuple[str, int, str]]:
    done = safecheck("align", *arguments, "-o", str(output), *more, cwd=".")
    assert done.returncode == 0, done.stderr
    if not output.exists():
        return []
    records = [json.loads(line) for line in output.read_bytes().splitlines()[1:]]
    return [(record["id"], record["sample"], record["answer"]) for record in records]


@pytest.mark.parametrize("more", [(), ("--samples", "3", "--temperature", "0.8", "--seed", "5")])
def test_two_processes_give_the_answers_of_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, more: tuple[str, ...]
) -> None:
    arguments = _model_and_tasks(tmp_path)
    alone = _eval(arguments, tmp_path / "alone.jsonl", *more)
    assert len(alone) == (9 if more else 3)
    monkeypatch.setenv("WORLD_SIZE", "2")
    shared = []
    for rank in ("0", "1"):
        monkeypatch.setenv("RANK", rank)
        shared.append(_eval(arguments, tmp_path / "shared.jsonl", *more))
    assert shared == [[], alone]
    assert (tmp_path / "shared.md").exists()


def test_samples_need_a_temperature(tmp_path: Path) -> None:
    arguments = _model_and_tasks(tmp_path)
    done = safecheck("align", *arguments, "-o", str(tmp_path / "run.jsonl"), "--samples", "2", cwd=".")
    assert done.returncode == 2 and "needs --temperature" in done.stderr


def test_a_run_of_a_model_goes_on_where_it_was_cut(tmp_path: Path) -> None:
    arguments, file = _model_and_tasks(tmp_path), tmp_path / "run.jsonl"
    answers = _eval(arguments, file)
    whole = file.read_bytes()
    assert all([len(text) > 5 for _, _, text in answers])
    for size in (len(whole.splitlines()[0]) + 20, len(whole) - 30):
        file.write_bytes(whole[:size])
        assert _eval(arguments, file, "--batch", "2") == answers
