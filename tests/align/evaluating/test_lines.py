"""Test plans written by a transformers model: batches, several processes, resumed runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="models need the extra `align`")
pytest.importorskip("transformers", reason="models need the extra `align`")

from training_cases import write_base_model  # noqa: E402

from in_process import safecheck  # noqa: E402
from plansafe.align.evaluating.model_writers import Decoding, Local  # noqa: E402
from plansafe.align.evaluating.running import evaluate  # noqa: E402
from plansafe.align.evaluating.tasks import EvalTask  # noqa: E402
from plansafe.llm.models.providers import Settings, open_model  # noqa: E402
from plansafe.llm.models.torch_model import TorchModel  # noqa: E402

TASK = EvalTask("tidy-0", "drawn:tidy/0/0", "tidy", "household", prompt="Tidy up.\nPlan:\n")


@pytest.fixture(scope="module", params=[0, 1])
def model(request: Any, tmp_path_factory: pytest.TempPathFactory) -> TorchModel:
    folder = write_base_model(tmp_path_factory.mktemp("base") / "model", request.param)
    opened = open_model(f"hf/{folder}", Settings(threads=1, dtype="float32"))
    assert isinstance(opened, TorchModel)
    return opened


def test_loaded_model_writes_the_same_plans_in_batches(model: TorchModel) -> None:
    inner, tokenizer = model.loaded
    tasks = [TASK, TASK._replace(id="again", prompt="Go.\nPlan:\n")]
    run = evaluate(Local(inner, tokenizer, "tiny", "0", Decoding(20)), tasks)
    unbatched = evaluate(Local(inner, tokenizer, "tiny", "0", Decoding(20)), tasks, batch=1)
    assert [record["answer"] for record in run.records] == [record["answer"] for record in unbatched.records]
    assert [record["cost"] for record in run.records] == [record["cost"] for record in unbatched.records]
    assert not inner.training


def _model_and_tasks(folder: Path) -> list[str]:
    """The arguments of `align eval` for a model and three tasks."""
    write_base_model(folder / "base")
    origins = [("tidy-0", "drawn:tidy/0/0"), ("wash-up-0", "drawn:wash-up/0/0"), ("stew-0", "drawn:stew/0/0")]
    lines = [
        {"id": name, "origin": origin, "family": name[:-2], "world": "household", "prompt": f"{name}\nPlan:\n"}
        for name, origin in origins
    ]
    (folder / "tasks.jsonl").write_text("".join([json.dumps(line) + "\n" for line in lines]), encoding="utf-8")
    arguments = ["eval", folder / "tasks.jsonl", "-m", f"hf/{folder / 'base'}", "--dtype", "float32"]
    return [*[str(argument) for argument in arguments], "--max-tokens", "30"]


def _eval(arguments: list[str], output: Path, *flags: str) -> list[tuple[str, int, str]]:
    process = safecheck("align", *arguments, "-o", str(output), *flags, cwd=".")
    assert process.returncode == 0, process.stderr
    if not output.exists():
        return []
    records = [json.loads(line) for line in output.read_bytes().splitlines()[1:]]
    return [(record["id"], record["sample"], record["answer"]) for record in records]


@pytest.mark.parametrize("flags", [(), ("--samples", "3", "--temperature", "0.8", "--seed", "5")])
def test_two_processes_give_the_same_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flags: tuple[str, ...]
) -> None:
    arguments = _model_and_tasks(tmp_path)
    alone = _eval(arguments, tmp_path / "alone.jsonl", *flags)
    assert len(alone) == (9 if flags else 3)
    monkeypatch.setenv("WORLD_SIZE", "2")
    answers = []
    for rank in ("0", "1"):
        monkeypatch.setenv("RANK", rank)
        answers.append(_eval(arguments, tmp_path / "shared.jsonl", *flags))
    assert answers == [[], alone]
    assert (tmp_path / "shared.md").exists()


def test_samples_need_a_temperature(tmp_path: Path) -> None:
    arguments = _model_and_tasks(tmp_path)
    process = safecheck("align", *arguments, "-o", str(tmp_path / "run.jsonl"), "--samples", "2", cwd=".")
    assert process.returncode == 2 and "needs --temperature" in process.stderr


def test_truncated_run_is_resumed(tmp_path: Path) -> None:
    arguments, file = _model_and_tasks(tmp_path), tmp_path / "run.jsonl"
    answers = _eval(arguments, file)
    contents = file.read_bytes()
    assert all([len(text) > 5 for _, _, text in answers])
    for size in (len(contents.splitlines()[0]) + 20, len(contents) - 30):
        file.write_bytes(contents[:size])
        assert _eval(arguments, file, "--batch", "2") == answers
