"""CPU time, time of the clock, and peak memory of whole processes.

Peak memory is the larger of the child's and this process's own at the moment of the start (Linux hands the high-water
mark on), so the programs that measure stay small: about 20 MB is the least that can be seen.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Sample:
    """One run: CPU seconds (user and system), those of the clock, peak memory in MB, exit code, last line of errors.

    ``output`` is what was printed, where that was asked for.
    """

    cpu: float
    wall: float
    memory: float
    code: int
    last_words: str
    output: str = ""


@dataclass(frozen=True)
class Summary:
    """Medians over the runs of one command."""

    cpu: float
    wall: float
    memory: float
    runs: int
    code: int
    last_words: str


def run_once(command: Sequence[str], keep_output: bool = False) -> Sample:
    """Run a command with its output thrown away or kept. Raises OSError if it cannot be started."""
    with tempfile.TemporaryFile() as errors, tempfile.TemporaryFile() as output:
        started = time.monotonic()
        target = output if keep_output else subprocess.DEVNULL
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=target, stderr=errors)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.monotonic() - started
        child.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        words = errors.read().decode("utf-8", "replace").strip()
        output.seek(0)
        printed = output.read().decode("utf-8", "replace")
    return Sample(
        usage.ru_utime + usage.ru_stime,
        wall,
        usage.ru_maxrss / 1024,
        child.returncode,
        words.splitlines()[-1] if words else "",
        printed,
    )


def summarise(samples: Sequence[Sample]) -> Summary:
    """Medians of the samples; exit code and words of the last."""
    last = samples[-1]
    return Summary(
        statistics.median(sample.cpu for sample in samples),
        statistics.median(sample.wall for sample in samples),
        statistics.median(sample.memory for sample in samples),
        len(samples),
        last.code,
        last.last_words,
    )


def in_turn(commands: Sequence[Sequence[str]], runs: int, budget: float) -> list[Summary]:
    """Run the commands one after the other, ``runs`` times around.

    Each command runs once at least; one that would exceed its ``budget`` of CPU seconds with one run more is left out.
    """
    samples: list[list[Sample]] = [[] for _ in commands]
    for _ in range(runs):
        for command, taken in zip(commands, samples, strict=True):
            spent = sum(sample.cpu for sample in taken)
            if not taken or spent + taken[-1].cpu <= budget:
                taken.append(run_once(command))
    return [summarise(taken) for taken in samples]
