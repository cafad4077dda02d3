"""Test the device, vLLM and several GPUs, with fakes for missing hardware and packages."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="models need the extra `align`")
pytest.importorskip("transformers", reason="models need the extra `align`")

from plansafe.align.evaluating import model_writers  # noqa: E402
from plansafe.align.evaluating.model_writers import Decoding, VllmWriter  # noqa: E402
from plansafe.align.evaluating.running import use_own_gpu  # noqa: E402
from plansafe.align.evaluating.tasks import EvalTask, opener  # noqa: E402
from plansafe.llm.models.answer import Finish  # noqa: E402

TASK = EvalTask("tidy-0", "drawn:tidy/0/0", "tidy", "household", prompt="Tidy.")


def test_gpu_is_used_if_available(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen: list[int] = []
    monkeypatch.setattr(torch.cuda, "set_device", chosen.append)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert model_writers.best_device() == "cpu"
    use_own_gpu({"LOCAL_RANK": "1"})
    assert chosen == []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert model_writers.best_device() == "cuda"
    use_own_gpu({})
    use_own_gpu({"LOCAL_RANK": "1"})
    assert chosen == [1]


class _Tokenizer:
    bos_token_id, eos_token_id = None, 0

    def encode(self, text: str, add_special_tokens: bool = True) -> list[int]:
        return [ord(letter) for letter in text]

    def decode(self, tokens: list[int], **_: Any) -> str:
        return "".join(map(chr, tokens))


class _Engine:
    """Repeats the prompt, and records its calls."""

    def __init__(self) -> None:
        self.calls: list[dict[str, Any]] = []

    def get_tokenizer(self) -> _Tokenizer:
        return _Tokenizer()

    def generate(self, prompts: list[dict[str, Any]], parameters: list[Any], **options: Any) -> list[Any]:
        self.calls.append({"parameters": parameters, **options})
        texts = [prompt["prompt_token_ids"] for prompt in prompts]
        return [
            SimpleNamespace(outputs=[SimpleNamespace(token_ids=[*text, 0][: params.max_tokens], finish_reason=reason)])
            for text, params in zip(texts, parameters, strict=True)
            for reason in ["stop" if len(text) < params.max_tokens else "length"]
        ]


@pytest.fixture
def vllm(monkeypatch: pytest.MonkeyPatch) -> None:
    package, lora, request = ModuleType("vllm"), ModuleType("vllm.lora"), ModuleType("vllm.lora.request")
    package.SamplingParams = SimpleNamespace  # type: ignore[attr-defined]
    request.LoRARequest = lambda *values: values  # type: ignore[attr-defined]
    for module in (package, lora, request):
        monkeypatch.setitem(sys.modules, module.__name__, module)


@pytest.mark.usefixtures("vllm")
def test_vllm_answers_in_batches_with_a_seed_for_each_sample() -> None:
    engine = _Engine()
    writer = VllmWriter(engine, "hf/x", "sum", Decoding(20, 0.8, 3), "run/adapter")
    opened = opener()(TASK)
    answers = writer.write([opened, opened._replace(sample=1), opened._replace(prompt="a" * 30)])
    assert [(answer.text, answer.finish) for answer in answers] == [
        ("Tidy.", Finish.STOP),
        ("Tidy.", Finish.STOP),
        ("a" * 20, Finish.LENGTH),
    ]
    assert [answer.completion_tokens for answer in answers] == [5, 5, 20]
    (call,) = engine.calls
    seeds = [sampling.seed for sampling in call["parameters"]]
    assert {sampling.temperature for sampling in call["parameters"]} == {0.8}
    assert seeds[0] == seeds[2] != seeds[1]
    assert call["lora_request"] == ("adapter", 1, "run/adapter")
    greedy = VllmWriter(engine, "hf/x", "sum")
    assert greedy.identity != writer.identity
    greedy.write([opened])
    assert engine.calls[-1]["lora_request"] is None
    assert engine.calls[-1]["parameters"][0].temperature == 0.0
