"""Test ``safecheck align merge``: the merged model computes the same as base and adapter."""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="training needs the extra `align`")
transformers = pytest.importorskip("transformers", reason="training needs the extra `align`")
pytest.importorskip("peft", reason="training needs the extra `align`")

from training_cases import write_base_model, write_pairs_file  # noqa: E402 - after the skips

from in_process import safecheck  # noqa: E402
from plansafe.align.config import config_of  # noqa: E402
from plansafe.align.training.trainer import train  # noqa: E402
from plansafe.llm.models.providers import open_model  # noqa: E402
from plansafe.llm.models.request import Message, Request, Role  # noqa: E402


@pytest.fixture(scope="module")
def adapter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("merging")
    write_base_model(folder / "base")
    write_pairs_file(folder / "pairs.jsonl")
    keys = {"lora_r": 4, "max_steps": 6, "bs": 4, "lr": 5e-3, "dtype": "float32", "method": "ours"}
    files = {"model": f"hf/{folder / 'base'}", "data": str(folder / "pairs.jsonl"), "output": str(folder / "run")}
    return Path(str(train(config_of({**keys, **files})).folder))


def _score(model: Path) -> float:
    request = Request((Message(Role.USER, "task 1\nPlan:\n"),))
    return open_model(f"hf/{model}").score(request, ["(take cup)\n(open tap)\n"])[0].log_probability


def test_merged_model_equals_base_and_adapter(adapter: Path, tmp_path: Path) -> None:
    process = safecheck("align", "merge", str(adapter), "-o", str(tmp_path / "model"), "--dtype", "float32", cwd=".")
    assert process.returncode == 0, process.stderr
    assert f"convert_hf_to_gguf.py {tmp_path / 'model'} --outfile model.gguf" in process.stdout
    assert f"vllm serve {tmp_path / 'model'}" in process.stdout
    assert _score(tmp_path / "model") == pytest.approx(_score(adapter), abs=1e-5)
    assert abs(_score(adapter) - _score(adapter.parent.parent / "base")) > 1e-2
    assert not list(tmp_path.glob("model/*.bin"))
    half_precision = safecheck("align", "merge", str(adapter), "-o", str(tmp_path / "half"), cwd=".")
    assert half_precision.returncode == 0
    model = transformers.AutoModelForCausalLM.from_pretrained(tmp_path / "half")
    assert model.dtype == torch.bfloat16


def test_mistakes_write_nothing(adapter: Path, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    for source, output, message in (
        (adapter, "there", "file exists"),
        (adapter.parent.parent / "base", "new", "adapter_config.json is missing"),
        (tmp_path / "nothing", "new", "no such file"),
    ):
        process = safecheck("align", "merge", str(source), "-o", str(tmp_path / output), cwd=".")
        assert process.returncode == 2 and message in process.stderr.lower(), process.stderr
    assert sorted([path.name for path in tmp_path.iterdir()]) == ["there"] and not list(tmp_path.glob("there/*"))
