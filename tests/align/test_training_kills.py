"""A run that is killed (SIGKILL) at random moments and started again has the loss curve of one that was not."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
import traceback
from pathlib import Path
from random import Random

import pytest

torch = pytest.importorskip("torch", reason="training needs the extra `align`")
pytest.importorskip("peft", reason="training needs the extra `align`")
if not hasattr(os, "fork"):
    pytest.skip("processes are forked", allow_module_level=True)

from training_cases import base_model, pairs_file  # noqa: E402 - behind the skips

from plansafe.align.config import Config, config_of  # noqa: E402
from plansafe.align.training.trainer import train  # noqa: E402

KILLS = 10
_FILES = ("open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "os.chmod", "os.listdir")
_OUT_OF_MEASURE = 60.0


def _config(folder: Path, name: str, method: str) -> Config:
    said = {
        "model": f"hf/{folder / 'base'}", "data": str(folder / "pairs.jsonl"), "output": str(folder / name),
        "method": method, "max_steps": 40, "bs": 2, "lr": 5e-3, "lora_r": 4, "dtype": "float32", "save_steps": 2,
    }  # fmt: skip
    return config_of(said)


def _forked(config: Config, events: int | None) -> int:
    """A process that trains, and that kills itself at the so-many-th time it does something with files."""
    pid = os.fork()
    if pid:
        return pid
    left = [events]

    def watch(event: str, _arguments: object) -> None:
        if event in _FILES and left[0] is not None:
            left[0] -= 1
            if left[0] < 0:
                os.kill(os.getpid(), signal.SIGKILL)

    try:
        sys.addaudithook(watch)
        train(config)
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def _ended(pid: int, seconds: float | None) -> int:
    """Wait for a process, or kill it behind so many seconds; its status."""
    if seconds is not None:
        stop = time.monotonic() + seconds
        while time.monotonic() < stop:
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                return status
            time.sleep(0.002)
        os.kill(pid, signal.SIGKILL)
    return os.waitpid(pid, 0)[1]


@pytest.mark.parametrize("method", ["ours", "dpo"])
def test_ten_kills_leave_the_loss_curve_as_it_is(tmp_path: Path, method: str) -> None:
    base_model(tmp_path / "base")
    pairs_file(tmp_path / "pairs.jsonl", 9)
    started = time.monotonic()
    assert _ended(_forked(_config(tmp_path, "whole", method), None), None) == 0
    took = min(time.monotonic() - started, _OUT_OF_MEASURE)
    whole = train(_config(tmp_path, "whole", method))
    config = _config(tmp_path, "killed", method)
    drawn = Random(f"kills/{method}")
    kills = 0
    for _ in range(200):
        by_time = kills % 2 == 0
        seconds = drawn.uniform(0.2, 0.8) * took if by_time else None
        status = _ended(_forked(config, None if by_time else drawn.randrange(40, 220)), seconds)
        if os.WIFSIGNALED(status):
            kills += 1
        else:
            assert os.WEXITSTATUS(status) == 0, "a run that was killed can always be gone on with"
            if kills >= KILLS:
                break
            shutil.rmtree(tmp_path / "killed")  # it was through: once more from the beginning
        if kills >= KILLS:
            break
    assert kills == KILLS
    killed = train(config)
    assert killed.finished and len(killed.metrics) == 40
    assert [line["loss"] for line in killed.metrics] == [line["loss"] for line in whole.metrics]
    one, other = [(tmp_path / name / "adapter/adapter_model.safetensors").read_bytes() for name in ("whole", "killed")]
    assert one == other
    left = [path.name for path in (tmp_path / "killed").rglob("*") if path.name.startswith(".part-")]
    assert not left, "what killed processes left is gone"
