"""Test settings for GPUs without a GPU: devices, 4-bit bases, attention, loggers and vLLM."""

from __future__ import annotations

import functools
import importlib.util
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="training needs the extra `align`")
transformers = pytest.importorskip("transformers", reason="training needs the extra `align`")
pytest.importorskip("peft", reason="training needs the extra `align`")

from training_cases import write_base_model, write_pairs_file  # noqa: E402 - after the skips

from plansafe.align.config import Config, config_of  # noqa: E402
from plansafe.align.training import models  # noqa: E402
from plansafe.align.training.arguments import arguments  # noqa: E402
from plansafe.align.training.trainer import train  # noqa: E402
from plansafe.llm.models.port import ModelError  # noqa: E402


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("devices")
    write_base_model(folder / "base")
    write_pairs_file(folder / "pairs.jsonl")
    return folder


def _config(folder: Path, output: Path, **extra_keys: Any) -> Config:
    keys = {"method": "ours", "lora_r": 4, "max_steps": 4, "bs": 4, "lr": 5e-3, "dtype": "float32"}
    files = {"model": f"hf/{folder / 'base'}", "data": str(folder / "pairs.jsonl"), "output": str(output)}
    return config_of({**keys, **files, **extra_keys})


def test_process_with_two_gpus_trains_on_one(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def setup(args: Any) -> Any:
        args._n_gpu = 2
        return torch.device("cuda", 0)

    monkeypatch.setattr(torch.accelerator, "is_available", lambda: True)
    fake = functools.cached_property(setup)
    fake.__set_name__(transformers.TrainingArguments, "_setup_devices")
    monkeypatch.setattr(transformers.TrainingArguments, "_setup_devices", fake)
    monkeypatch.setattr(transformers.training_args, "is_torch_bf16_gpu_available", lambda: True)
    args = arguments(_config(folder, tmp_path / "run", dtype="bfloat16"))
    assert (args.device.type, args.n_gpu, args.train_batch_size) == ("cuda", 1, 4)
    assert not args.use_cpu and args.bf16 and args.dataloader_pin_memory


def test_cpu_is_used_without_a_gpu(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: False)
    args = arguments(_config(folder, tmp_path / "run"))
    assert args.use_cpu and args.device.type == "cpu" and args.n_gpu <= 1 and not args.dataloader_pin_memory


def test_4_bit_base_is_loaded_on_the_device_of_its_process(folder: Path, tmp_path: Path) -> None:
    needs = SimpleNamespace(torch=torch, transformers=SimpleNamespace(BitsAndBytesConfig=dict))
    config = _config(folder, tmp_path / "run", load_in_4bit=True, attn_implementation="sdpa", dtype="bfloat16")
    options = models._loading_options(config, SimpleNamespace(needs=needs), torch.device("cuda", 1))
    assert options["device_map"] == {"": torch.device("cuda", 1)} and options["attn_implementation"] == "sdpa"
    quantization = options["quantization_config"]
    assert quantization["bnb_4bit_quant_type"] == "nf4" and quantization["bnb_4bit_compute_dtype"] is torch.bfloat16
    assert models._loading_options(_config(folder, tmp_path / "run"), SimpleNamespace(needs=needs), "cpu") == {}


@pytest.mark.parametrize(
    ("keys", "package", "message"),
    [
        ({"load_in_4bit": True}, "bitsandbytes", "`load_in_4bit` needs bitsandbytes, which is not installed"),
        ({"load_in_4bit": True, "lora_r": 0}, "", "trains an adapter, but `lora_r` is 0"),
        ({"method": "grpo", "vllm": True}, "vllm", "`vllm` needs vllm, which is not installed"),
        ({"method": "dpo"}, "trl", '`method = "dpo"` needs trl, which is not installed'),
        ({"report_to": "loggerx"}, "", "`report_to`: loggerx is not installed"),
        ({"attn_implementation": "flash_attention_2"}, "", "FlashAttention2 has been toggled on"),
        ({"chat_template": True}, "", "has no chat template"),
    ],
)
def test_missing_package_or_setting_is_reported(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keys: dict[str, Any], package: str, message: str
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(models, "find_spec", lambda name: None if name == package else find(name))
    with pytest.raises(ModelError) as raised:
        train(_config(folder, tmp_path / "run", **keys))
    assert message in raised.value.diagnostic.message and not (tmp_path / "run").exists()


def test_qlora_has_the_losses_of_lora(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("bitsandbytes", reason="a 4-bit base needs bitsandbytes")
    lora, qlora = [
        train(_config(folder, tmp_path / str(bits), dtype="bfloat16", load_in_4bit=bits == 4)) for bits in (16, 4)
    ]
    assert qlora.finished and [line["loss"] for line in qlora.metrics] == pytest.approx(
        [line["loss"] for line in lora.metrics], abs=0.05
    )


@pytest.mark.parametrize("attention", ["eager", "sdpa"])
def test_the_attention_implementation_is_used(folder: Path, tmp_path: Path, attention: str) -> None:
    config = _config(folder, tmp_path / "run", attn_implementation=attention)
    model = models.loaded(config, models.opened(config, {})).model
    assert model.config._attn_implementation == attention


def test_evaluations_are_logged_and_kept_by_a_resumed_run(folder: Path, tmp_path: Path) -> None:
    write_pairs_file(tmp_path / "test.jsonl", 5, seed=1)
    keys = {"eval_data": str(tmp_path / "test.jsonl"), "eval_steps": 1, "save_steps": 1}
    with_evaluations = train(_config(folder, tmp_path / "run", **keys))
    path = tmp_path / "run/evaluations.jsonl"
    before = path.read_text()
    lines = [json.loads(line) for line in before.splitlines()]
    assert [line["step"] for line in lines] == [1, 2, 3, 4]
    assert {"eval_loss", "eval_margin", "eval_accuracy", "eval_sft"} <= set(lines[0])
    assert lines[0]["eval_loss"] != lines[3]["eval_loss"] and 0 <= lines[0]["eval_accuracy"] <= 1
    without_evaluations = train(_config(folder, tmp_path / "plain"))
    assert [line["loss"] for line in without_evaluations.metrics] == [line["loss"] for line in with_evaluations.metrics]


def test_logger_of_transformers_gets_the_metrics(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    logged: list[dict[str, float]] = []

    class Logger(transformers.TrainerCallback):  # type: ignore[misc]
        def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
            logged.append(dict(logs))

    integrations = transformers.integrations.integration_utils
    monkeypatch.setitem(integrations.INTEGRATION_TO_CALLBACK, "trackio", Logger)
    monkeypatch.setattr("plansafe.align.training.arguments.get_available_reporting_integrations", lambda: ["trackio"])
    train(_config(folder, tmp_path / "run", report_to=["trackio"]))
    assert [("margin" in logs, "grad_norm" in logs) for logs in logged[:4]] == [(True, True)] * 4
