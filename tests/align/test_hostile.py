"""Test that damaged or hostile adapters and runs are refused by name, without hanging, crashing or writing."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="training needs the extra `align`")
pytest.importorskip("peft", reason="training needs the extra `align`")

from safetensors.torch import load_file, save_file  # noqa: E402 - after the skip
from training_cases import write_base_model, write_pairs_file  # noqa: E402

from plansafe.align.config import Config, config_of  # noqa: E402
from plansafe.align.training.folder import BadTraining  # noqa: E402
from plansafe.align.training.trainer import train  # noqa: E402
from plansafe.llm.models.adapter import base_sum, read_adapter, tensors_of  # noqa: E402
from plansafe.llm.models.port import ModelError  # noqa: E402

WEIGHTS = "adapter_model.safetensors"
Damage = Callable[[Path], object]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a base, pairs and a finished run."""
    folder = tmp_path_factory.mktemp("hostile")
    write_base_model(folder / "base")
    write_pairs_file(folder / "pairs.jsonl")
    train(_config(folder, folder / "run"))
    return folder


def _config(folder: Path, output: Path, **keys: Any) -> Config:
    shape = {"method": "ours", "lora_r": 2, "max_steps": 2, "bs": 2, "dtype": "float32", "save_steps": 1}
    files = {"model": f"hf/{folder / 'base'}", "data": [str(folder / "pairs.jsonl")], "output": str(output)}
    return config_of({**shape, **files, **keys})


def _change_tensors(change: Callable[[dict[str, Any]], None]) -> Damage:
    def damage(folder: Path) -> None:
        tensors = load_file(folder / WEIGHTS)
        change(tensors)
        save_file(tensors, folder / WEIGHTS)

    return damage


def _first(tensors: dict[str, Any]) -> Any:
    return tensors[min(tensors)]


def _replace_header(header: bytes, body: bytes = b"", length: int | None = None) -> Damage:
    size = len(header) if length is None else length
    return lambda folder: (folder / WEIGHTS).write_bytes(struct.pack("<Q", size) + header + body)


def _replace(name: str, old: str, new: str) -> Damage:
    def damage(folder: Path) -> None:
        text = (folder / name).read_text(encoding="utf-8")
        assert old in text
        (folder / name).write_text(text.replace(old, new), encoding="utf-8")

    return damage


def _replace_by_pipe(name: str) -> Damage:
    return lambda folder: ((folder / name).unlink(), os.mkfifo(folder / name))


def _replace_by_link(name: str, target: str) -> Damage:
    return lambda folder: ((folder / name).unlink(), (folder / name).symlink_to(target))


LARGE = json.dumps({"a.lora_A.weight": {"dtype": "F32", "shape": [10**9, 10**9], "data_offsets": [0, 4]}}).encode()
SHAPE = "adapter_config.json"


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (_change_tensors(lambda tensors: _first(tensors).view(-1)[0].fill_(float("nan"))), "contains NaN or infinity"),
        (_change_tensors(lambda tensors: _first(tensors).view(-1)[0].fill_(float("-inf"))), "contains NaN or infinity"),
        (_change_tensors(lambda tensors: tensors.update(evil=_first(tensors).clone())), "'evil'"),
        (_change_tensors(lambda tensors: tensors.pop(min(tensors))), "only one of two matrices"),
        (_replace_header(b"{}", length=2**62), "cannot be loaded"),
        (_replace_header(b"{" * 5_000_000), "cannot be loaded"),
        (_replace_header(b"[" * 1_000_000), "cannot be loaded"),
        (_replace_header(LARGE, b"1234"), "cannot be loaded"),
        (lambda folder: (folder / WEIGHTS).write_bytes(b"\x80\x04\x95cos\nsystem\n"), "cannot be loaded"),
        (lambda folder: os.truncate(folder / WEIGHTS, 100), "cannot be loaded"),
        (lambda folder: (folder / "adapter_model.bin").write_bytes(b"\x80"), "adapter_model.bin can run code"),
        (_replace(SHAPE, '"r": 2', '"r": 1000000000'), "`r` is not a valid rank"),
        (_replace(SHAPE, '"r": 2', '"r": 2, "r": 2'), "`r` is repeated"),
        (
            _replace(SHAPE, '"LORA"', '"LORA", "auto_mapping": {"base_model_class": "os"}'),
            "unknown key `auto_mapping`",
        ),
        (lambda folder: (folder / SHAPE).write_text("[" * 100_000), "nested too deep"),
        (lambda folder: (folder / SHAPE).write_text('{"a":"' + "x" * 2_000_000 + '"}'), "longer than"),
    ],
)
def test_hostile_adapter_is_refused(trained: Path, tmp_path: Path, damage: Damage, message: str) -> None:
    """A correct checksum does not make a hostile adapter acceptable."""
    folder = tmp_path / "adapter"
    shutil.copytree(trained / "run" / "adapter", folder)
    damage(folder)
    identity = json.loads((folder / "plansafe.json").read_text())
    identity["weights_sha256"] = hashlib.sha256((folder / WEIGHTS).read_bytes()).hexdigest()
    (folder / "plansafe.json").write_text(json.dumps(identity))
    with pytest.raises(ModelError) as error:
        tensors_of(read_adapter(str(folder)))
    assert message in error.value.diagnostic.message and str(folder) in error.value.diagnostic.message


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda folder: os.truncate(folder / WEIGHTS, 100), "does not match plansafe.json"),
        (_replace_by_link(WEIGHTS, "/etc/hostname"), "does not match plansafe.json"),
        (_replace_by_link(WEIGHTS, "/dev/zero"), "not a regular file"),
        (_replace_by_pipe(WEIGHTS), "not a regular file"),
        (_replace_by_pipe(SHAPE), "not a regular file"),
        (_replace_by_pipe("plansafe.json"), "not a regular file"),
        (lambda folder: ((folder / WEIGHTS).unlink(), (folder / WEIGHTS).mkdir()), "not a regular file"),
    ],
)
def test_special_files_are_refused(trained: Path, tmp_path: Path, damage: Damage, message: str) -> None:
    folder = tmp_path / "adapter"
    shutil.copytree(trained / "run" / "adapter", folder)
    damage(folder)
    with pytest.raises(ModelError) as error:
        read_adapter(str(folder))
    assert message in error.value.diagnostic.message


@pytest.mark.parametrize("base", ["hf/a\0b", "hf//etc", "hf/", "gguf//dev/zero", "gguf/", "zip/x", ""])
def test_invalid_base_is_refused(base: str) -> None:
    with pytest.raises(ModelError):
        base_sum(base)


def _checkpoint(run: Path) -> Path:
    return run / "checkpoints" / "step-00000002"


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda run: os.truncate(_checkpoint(run) / "weights.safetensors", 50), "weights.safetensors"),
        (
            lambda run: (_checkpoint(run) / "optimizer.safetensors").write_bytes(b"\x80\x04\x95."),
            "optimizer.safetensors",
        ),
        (lambda run: (_checkpoint(run) / "rng.pkl").write_bytes(b"\x80"), "rng.pkl: it can run code"),
        (lambda run: (run / "checkpoints" / "optimizer.pt").write_bytes(b"\x80"), "optimizer.pt: it can run code"),
        (lambda run: (_checkpoint(run) / "state.json").write_text('{"version": NaN}'), "NaN is not JSON"),
        (lambda run: (_checkpoint(run) / "state.json").unlink(), "state.json"),
        (lambda run: _replace_by_pipe("state.json")(_checkpoint(run)), "not a regular file"),
        (lambda run: _replace_by_pipe("weights.safetensors")(_checkpoint(run)), "not a regular file"),
        (lambda run: (run / "checkpoints" / "step-00000009").write_text("x"), "step-00000009"),
        (
            lambda run: shutil.copytree(_checkpoint(run), run / "checkpoints" / "step-99999999"),
            "another run or step",
        ),
        (lambda run: os.truncate(run / "metrics.jsonl", 30), "metrics.jsonl:1"),
        (lambda run: (run / "metrics.jsonl").write_bytes(b"a" * 5_000_000), "metrics.jsonl:1"),
        (_replace_by_pipe("metrics.jsonl"), "not a regular file"),
        (lambda run: (run / "metrics.jsonl").unlink(), "ends before step 2"),
        (lambda run: (run / "run.json").write_text("[" * 100_000), "nested too deep"),
        (_replace_by_link("run.json", "/dev/zero"), "not a regular file"),
    ],
)
def test_damaged_run_is_not_resumed(trained: Path, tmp_path: Path, damage: Damage, message: str) -> None:
    run = tmp_path / "run"
    shutil.copytree(trained / "run", run)
    shutil.rmtree(run / "adapter")
    damage(run)
    with pytest.raises(BadTraining) as error:
        train(_config(trained, run))
    assert message in error.value.diagnostic.message and not (run / "adapter").exists()


def test_nan_loss_is_reported_and_no_checkpoint_is_written(trained: Path, tmp_path: Path) -> None:
    shutil.copytree(trained / "base", tmp_path / "base")
    tensors = load_file(tmp_path / "base" / "model.safetensors")
    tensors["model.norm.weight"][0] = float("nan")
    save_file(tensors, tmp_path / "base" / "model.safetensors", {"format": "pt"})
    shutil.copy(trained / "pairs.jsonl", tmp_path)
    with pytest.raises(BadTraining, match="step 1 is NaN or infinity"):
        train(_config(tmp_path, tmp_path / "run"))
    assert not (tmp_path / "run" / "adapter").exists() and not list(tmp_path.glob("run/checkpoints/*"))
