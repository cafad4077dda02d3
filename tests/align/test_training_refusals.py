"""Test that damaged, dangerous or foreign files are refused by name with exit code 2, and nothing is written."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="training needs the extra `align`")
pytest.importorskip("peft", reason="training needs the extra `align`")

from safetensors.torch import load_file, save_file  # noqa: E402 - after the skips
from training_cases import write_base_model, write_pairs_file  # noqa: E402

from in_process import safecheck  # noqa: E402
from plansafe.align.config import config_of  # noqa: E402
from plansafe.align.training.trainer import train  # noqa: E402
from plansafe.llm.models.adapter import file_sum  # noqa: E402
from plansafe.llm.models.port import ModelError  # noqa: E402
from plansafe.llm.models.providers import open_model  # noqa: E402

CHECKPOINT = "run/checkpoints/step-00000002"
FILE = """model = "hf/base"
data = "pairs.jsonl"
output = "run"
method = "dpo"
max_steps = 4
save_steps = 2
bs = 2
lora_r = 2
dtype = "float32"
"""


@pytest.fixture(scope="module")
def stopped_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run after two of four steps, and an adapter."""
    folder = tmp_path_factory.mktemp("refusals")
    write_base_model(folder / "base")
    write_pairs_file(folder / "pairs.jsonl", 6)
    (folder / "run.toml").write_text(FILE, encoding="utf-8")
    code, _ = _train(folder)
    assert code == 0
    shutil.copytree(folder / "run/adapter", folder / "adapter")
    shutil.rmtree(folder / "run/adapter")
    shutil.rmtree(folder / "run/checkpoints/step-00000004")
    return folder


@pytest.fixture
def folder(stopped_run: Path, tmp_path: Path) -> Path:
    """A copy of the stopped run, to damage."""
    shutil.copytree(stopped_run, tmp_path / "x")
    return tmp_path / "x"


def _train(folder: Path, *flags: str) -> tuple[int, str]:
    process = safecheck("align", "train", str(folder / "run.toml"), *flags, cwd=".")
    return process.returncode, process.stdout + process.stderr


def _tree(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


def _flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-5] ^= 1
    path.write_bytes(bytes(data))


def _edit(path: Path, **values: object) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


DAMAGE: dict[str, tuple[Callable[[Path], object], str, str]] = {
    "weights cut": (lambda f: _cut(f / CHECKPOINT / "weights.safetensors"), "SC661", "weights.safetensors"),
    "weights changed": (lambda f: _flip(f / CHECKPOINT / "weights.safetensors"), "SC661", "weights.safetensors"),
    "weights gone": (lambda f: (f / CHECKPOINT / "weights.safetensors").unlink(), "SC661", "weights.safetensors"),
    "optimizer cut": (lambda f: _cut(f / CHECKPOINT / "optimizer.safetensors"), "SC661", "optimizer.safetensors"),
    "state cut": (lambda f: _cut(f / CHECKPOINT / "state.json"), "SC661", "state.json: not JSON"),
    "state of another run": (
        lambda f: _edit(f / CHECKPOINT / "state.json", run_sha256="0" * 64),
        "SC661",
        "of another run or step",
    ),
    "state of another step": (
        lambda f: (f / CHECKPOINT).rename(f / "run/checkpoints/step-00000003"),
        "SC661",
        "of another run or step",
    ),
    "pickle in a checkpoint": (lambda f: (f / CHECKPOINT / "optimizer.pt").touch(), "SC661", "optimizer.pt"),
    "pickle next to it": (
        lambda f: (f / "run/checkpoints/old.bin").touch(),
        "SC661",
        "old.bin: it can run code",
    ),
    "file next to it": (
        lambda f: (f / "run/checkpoints/notes").touch(),
        "SC661",
        "notes: it is not a checkpoint",
    ),
    "metrics changed": (
        lambda f: (f / "run/metrics.jsonl").write_text("{}\n" * 4),
        "SC661",
        "metrics.jsonl:1: it is not about step 1",
    ),
    "metrics gone": (lambda f: (f / "run/metrics.jsonl").unlink(), "SC661", "it ends before step 2"),
    "run file cut": (lambda f: _cut(f / "run/run.json"), "SC661", "run.json: not JSON"),
    "run file gone": (lambda f: (f / "run/run.json").unlink(), "SC661", "has no run.json"),
    "trainer's state cut": (lambda f: _cut(f / CHECKPOINT / "trainer_state.json"), "SC661", "trainer_state.json"),
    "trainer's state gone": (lambda f: (f / CHECKPOINT / "trainer_state.json").unlink(), "SC661", "trainer_state.json"),
    "data cut": (lambda f: _cut(f / "pairs.jsonl"), "SC650", "the file is truncated"),
    "data changed": (
        lambda f: (f / "pairs.jsonl").write_text((f / "pairs.jsonl").read_text().replace('"edits":1', '"edits":2')),
        "SC661",
        "`data_sha256` differs",
    ),
    "data broken": (
        lambda f: (f / "pairs.jsonl").write_text((f / "pairs.jsonl").read_text().replace('"edits":1', '"edits":0')),
        "SC650",
        "pairs.jsonl:1: `edits`",
    ),
    "other base": (lambda f: write_base_model(f / "base", seed=1), "SC661", "`model_sha256` differs"),
    "base gone": (lambda f: shutil.rmtree(f / "base"), "SC631", "no weights found"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damaged_file_is_refused_by_name(folder: Path, name: str) -> None:
    damage, code, message = DAMAGE[name]
    damage(folder)
    before = _tree(folder)
    exit_code, output = _train(folder)
    assert exit_code == 2 and f"error[{code}]" in output and message in " ".join(output.split()), output
    assert "Traceback" not in output
    assert _tree(folder) == before


def test_torn_last_line_of_metrics_is_accepted(folder: Path) -> None:
    _cut(folder / "run/metrics.jsonl")
    assert _train(folder)[0] == 0


def test_truncated_base_is_refused(folder: Path) -> None:
    _cut(folder / "base/model.safetensors")
    code, output = _train(folder, "--set", f"output={folder / 'new'}")
    assert code == 2 and "SC632" in output and not (folder / "new").exists()


def test_folder_of_another_run_is_refused(folder: Path) -> None:
    before = _tree(folder)
    code, output = _train(folder, "--set", "lambda=0.9", "--set", "seed=3")
    assert code == 2 and "`lambda` differs" in output and _tree(folder) == before
    (folder / "full").mkdir()
    (folder / "full/notes.txt").touch()
    code, output = _train(folder, "--set", f"output={folder / 'full'}")
    assert code == 2 and "it is not empty" in output
    assert "notes.txt" in _tree(folder / "full") and "run.json" not in _tree(folder / "full")


ADAPTERS: dict[str, tuple[Callable[[Path], object], str]] = {
    "cut": (lambda f: _cut(f / "adapter_model.safetensors"), "it was changed or is incomplete"),
    "pickle": (lambda f: (f / "adapter_model.bin").touch(), "adapter_model.bin can run code"),
    "no identity": (lambda f: (f / "plansafe.json").unlink(), "plansafe.json is missing"),
    "identity cut": (lambda f: _cut(f / "plansafe.json"), "plansafe.json: not JSON"),
    "identity longer": (lambda f: _edit(f / "plansafe.json", more=1), "`more` is not a field"),
    "other tokenizer": (lambda f: _edit(f / "plansafe.json", tokenizer_sha256="0" * 64), "another tokenizer"),
    "other base": (lambda f: _edit(f / "plansafe.json", base_sha256="0" * 64), "with other weights"),
    "base by another way": (lambda f: _edit(f / "plansafe.json", base="https/x"), "is not a base of an adapter"),
    "no lora": (lambda f: _edit(f / "adapter_config.json", peft_type="IA3"), "it is not a LoRA adapter"),
    "dora": (lambda f: _edit(f / "adapter_config.json", use_dora=True), "unknown key `use_dora`"),
    "other kind of layers": (
        lambda f: _edit(f / "adapter_config.json", layer_replication=[[0, 1]]),
        "unknown key `layer_replication`",
    ),
    "other rank": (lambda f: _edit(f / "adapter_config.json", r=3), "is not a matrix of rank 3"),
    "not a number": (lambda f: _change_matrix(f, lambda t: t.fill_(float("nan"))), "contains NaN or infinity"),
    "one of two": (lambda f: _change_matrix(f, None), "has only one of two matrices"),
}


def _change_matrix(folder: Path, change: Callable[..., object] | None) -> None:
    """Change or delete the first matrix, and update the checksum."""
    path = folder / "adapter_model.safetensors"
    tensors = load_file(path)
    first = sorted(tensors)[0]
    if change is None:
        del tensors[first]
    else:
        change(tensors[first])
    save_file(tensors, path)
    _edit(folder / "plansafe.json", weights_sha256=file_sum(str(path)))


@pytest.mark.parametrize("name", ADAPTERS)
def test_damaged_adapter_is_refused_by_loading_and_training(folder: Path, name: str) -> None:
    damage, message = ADAPTERS[name]
    adapter = folder / "adapter"
    _edit(adapter / "plansafe.json", base=f"hf/{folder / 'base'}")
    open_model(f"hf/{adapter}")
    damage(adapter)
    with pytest.raises(ModelError) as raised:
        open_model(f"hf/{adapter}")
    assert message in raised.value.diagnostic.message
    (folder / "run.toml").write_text(FILE.replace("lora_r = 2\n", ""), encoding="utf-8")
    code, output = _train(folder, "--set", f"model=hf/{adapter}", "--set", f"output={folder / 'new'}")
    assert code == 2 and message in " ".join(output.split()), output
    assert not (folder / "new").exists()


def test_adapter_over_another_tokenizer_is_refused(folder: Path) -> None:
    """An adapter over the same weights with another tokenizer was trained on other texts."""
    other_base = write_base_model(folder / "words", words=())
    text = (other_base / "tokenizer.json").read_text(encoding="utf-8")
    tokenizer = json.loads(text)
    vocabulary = tokenizer["model"]["vocab"]
    vocabulary["a"], vocabulary["b"] = vocabulary["b"], vocabulary["a"]
    (other_base / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    for name in ("model.safetensors", "config.json"):
        shutil.copy(folder / "base" / name, other_base / name)
    _edit(folder / "adapter/plansafe.json", base=f"hf/{other_base}")
    with pytest.raises(ModelError, match="another tokenizer"):
        open_model(f"hf/{folder / 'adapter'}")
    config = config_of(
        {
            "model": f"hf/{other_base}", "adapter": str(folder / "adapter"), "data": str(folder / "pairs.jsonl"),
            "output": str(folder / "new"), "method": "simpo", "max_steps": 1,
        }
    )  # fmt: skip
    with pytest.raises(ModelError, match="another tokenizer"):
        train(config)


def test_rank_that_differs_from_the_adapter_is_refused(folder: Path) -> None:
    flags = ("--set", f"adapter={folder / 'adapter'}", "--set", f"output={folder / 'new'}")
    code, output = _train(folder, *flags, "--set", "lora_r=8")
    assert code == 2 and "SC660" in output and "`lora_r` is 8" in output and not (folder / "new").exists()


def test_environment_variable_names_a_moved_base(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _edit(folder / "adapter/plansafe.json", base="hf//nowhere")
    with pytest.raises(ModelError, match="no weights found at /nowhere"):
        open_model(f"hf/{folder / 'adapter'}")
    monkeypatch.setenv("SAFECHECK_BASE", f"hf/{folder / 'base'}")
    open_model(f"hf/{folder / 'adapter'}")
