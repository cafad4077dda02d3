"""Test that a run with random SIGKILLs has the loss curve of an uninterrupted run."""

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

from training_cases import write_base_model, write_pairs_file  # noqa: E402 - after the skips

from plansafe.align.config import Config, config_of  # noqa: E402
from plansafe.align.training.trainer import train  # noqa: E402

KILLS = 10
_FILE_EVENTS = ("open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "os.chmod", "os.listdir")
_MAX_SECONDS = 60.0


def _config(folder: Path, name: str, method: str) -> Config:
    keys = {
        "model": f"hf/{folder / 'base'}", "data": str(folder / "pairs.jsonl"), "output": str(folder / name),
        "method": method, "max_steps": 40, "bs": 2, "lr": 5e-3, "lora_r": 4, "dtype": "float32", "save_steps": 2,
    }  # fmt: skip
    return config_of(keys)


def _start_training(config: Config, events: int | None) -> int:
    """Start a process that trains, and that kills itself after ``events`` file operations."""
    pid = os.fork()
    if pid:
        return pid
    remaining = [events]

    def watch(event: str, _arguments: object) -> None:
        if event in _FILE_EVENTS and remaining[0] is not None:
            remaining[0] -= 1
            if remaining[0] < 0:
                os.kill(os.getpid(), signal.SIGKILL)

    try:
        sys.addaudithook(watch)
        train(config)
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def _wait_or_kill(pid: int, seconds: float | None) -> int:
    """Wait for a process, or kill it after ``seconds``; return its status."""
    if seconds is not None:
        stop = time.monotonic() + seconds
        while time.monotonic() < stop:
            ended_pid, status = os.waitpid(pid, os.WNOHANG)
            if ended_pid:
                return status
            time.sleep(0.002)
        os.kill(pid, signal.SIGKILL)
    return os.waitpid(pid, 0)[1]


@pytest.mark.parametrize("method", ["ours", "dpo"])
def test_killed_run_has_the_loss_curve_of_an_uninterrupted_run(tmp_path: Path, method: str) -> None:
    write_base_model(tmp_path / "base")
    write_pairs_file(tmp_path / "pairs.jsonl", 9)
    started = time.monotonic()
    assert _wait_or_kill(_start_training(_config(tmp_path, "whole", method), None), None) == 0
    duration = min(time.monotonic() - started, _MAX_SECONDS)
    uninterrupted = train(_config(tmp_path, "whole", method))
    config = _config(tmp_path, "killed", method)
    random = Random(f"kills/{method}")
    kills = 0
    for _ in range(200):
        by_time = kills % 2 == 0
        seconds = random.uniform(0.2, 0.8) * duration if by_time else None
        status = _wait_or_kill(_start_training(config, None if by_time else random.randrange(40, 220)), seconds)
        if os.WIFSIGNALED(status):
            kills += 1
        else:
            assert os.WEXITSTATUS(status) == 0, "a killed run can be resumed"
            if kills >= KILLS:
                break
            shutil.rmtree(tmp_path / "killed")  # it finished before the kill: start again
        if kills >= KILLS:
            break
    assert kills == KILLS
    killed = train(config)
    assert killed.finished and len(killed.metrics) == 40
    assert [line["loss"] for line in killed.metrics] == [line["loss"] for line in uninterrupted.metrics]
    adapters = [tmp_path / name / "adapter/adapter_model.safetensors" for name in ("whole", "killed")]
    assert adapters[0].read_bytes() == adapters[1].read_bytes()
    partial_files = [path.name for path in (tmp_path / "killed").rglob("*") if path.name.startswith(".part-")]
    assert not partial_files, "partial files of killed processes are deleted"
