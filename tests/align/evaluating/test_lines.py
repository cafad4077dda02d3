"""A model that is asked for the next line: its choice is what greedy decoding among the lines comes to."""

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
from plansafe.align.evaluating.stepping import Lines, local_steps  # noqa: E402
from plansafe.align.evaluating.tasks import EvalTask, opener  # noqa: E402
from plansafe.llm.decoding.stepwise import DONE, Mode  # noqa: E402
from plansafe.llm.models.providers import Settings, open_model  # noqa: E402
from plansafe.llm.models.request import Choice, Message, Request, Role, Situation  # noqa: E402
from plansafe.llm.models.torch_model import TorchModel  # noqa: E402

TASK = EvalTask("tidy-0", "drawn:tidy/0/0", "tidy", "household", prompt="Tidy up.\nPlan:\n")


@pytest.fixture(scope="module", params=[0, 1])
def model(request: Any, tmp_path_factory: pytest.TempPathFactory) -> TorchModel:
    folder = base_model(tmp_path_factory.mktemp("base") / "model", request.param)
    found = open_model(f"hf/{folder}", Settings(threads=1, dtype="float32"))
    assert isinstance(found, TorchModel)
    return found


def _best(model: TorchModel, prompt: list[int], texts: list[str]) -> str:
    """The same by brute force: all rows, token by token, the whole text read anew for each."""
    inner, tokenizer = model.loaded
    rows = {
        text: [tokenizer.eos_token_id] if text == DONE else tokenizer.encode(f"{text}\n", add_special_tokens=False)
        for text in texts
    }
    done: list[int] = []
    while len(rows) > 1:
        with torch.inference_mode():
            logits = inner(input_ids=torch.tensor([[*prompt, *done]])).logits[0, -1]
        allowed = sorted({row[len(done)] for row in rows.values()})
        done.append(max(allowed, key=lambda token: float(logits[token])))
        rows = {text: row for text, row in rows.items() if row[: len(done)] == done}
    return next(iter(rows))


def test_a_choice_is_the_likeliest_token_by_token(model: TorchModel) -> None:
    one = opener()(TASK)
    lines, (_, tokenizer) = Lines(model, one), model.loaded
    texts = ["(go robot hall kitchen)", "(go robot hall bedroom)", "(take robot cup table hall)", "(wait)", DONE]
    seen = set()
    for taken in ((), ("(wait)",), ("(wait)", "(go robot hall kitchen)"), ("(take robot cup table hall)",)):
        for some in (texts, texts[:3], texts[1:4], texts[::2], texts[3:]):
            asked = Request(
                (Message(Role.USER, "x"),), constraint=Choice(tuple(some)), situation=Situation("t", taken, tuple(some))
            )
            text = TASK.prompt + "".join([f"{step}\n" for step in taken])
            prompt = tokenizer.encode(text, add_special_tokens=False)
            found = lines.answer(asked).text
            assert found == _best(model, prompt, some)
            seen.add(found)
    assert len(seen) > 1


def test_under_the_guide_even_a_model_that_knows_nothing_arrives(model: TorchModel) -> None:
    writer = local_steps(*model.loaded, Mode.GUIDED, model.label, model.identity)
    record = evaluate(writer, [TASK]).records[0]
    assert record["headline"] == "SAFE"
    assert record["cost"]["calls"] >= len(record["choices"]) - sum([one[5] for one in record["choices"]])


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
    for more, message in (
        (("--samples", "2"), "needs --temperature"),
        (("--temperature", "1", "--decode", "shield"), "--decode free"),
    ):
        done = safecheck("align", *arguments, "-o", str(tmp_path / "run.jsonl"), *more, cwd=".")
        assert done.returncode == 2 and message in done.stderr


def test_a_run_of_a_model_goes_on_where_it_was_cut(tmp_path: Path) -> None:
    arguments, file = _model_and_tasks(tmp_path), tmp_path / "run.jsonl"
    answers = _eval(arguments, file)
    whole = file.read_bytes()
    assert all([len(text) > 5 for _, _, text in answers])
    for size in (len(whole.splitlines()[0]) + 20, len(whole) - 30):
        file.write_bytes(whole[:size])
        assert _eval(arguments, file, "--batch", "2") == answers
