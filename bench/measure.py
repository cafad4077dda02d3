"""Measure CPU time, wall-clock time and peak memory of whole processes, and summarize measured values.

A child process inherits the peak memory of this process at its start (Linux). So scripts that measure import little;
the smallest peak that can be measured is about 20 MB.
"""

from __future__ import annotations

import math
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Sample:
    """One run: CPU seconds (user and system), wall-clock seconds, peak memory in MB, exit code, last line on stderr.

    ``output`` is the standard output, if it was requested.
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
    """Run a command; keep or discard its output. Raises OSError if it cannot be started."""
    with tempfile.TemporaryFile() as errors, tempfile.TemporaryFile() as output:
        started = time.monotonic()
        target = output if keep_output else subprocess.DEVNULL
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=target, stderr=errors)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.monotonic() - started
        child.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        error_text = errors.read().decode("utf-8", "replace").strip()
        output.seek(0)
        printed = output.read().decode("utf-8", "replace")
    return Sample(
        usage.ru_utime + usage.ru_stime,
        wall,
        usage.ru_maxrss / 1024,
        child.returncode,
        error_text.splitlines()[-1] if error_text else "",
        printed,
    )


def summarize(samples: Sequence[Sample]) -> Summary:
    """Medians of the samples; exit code and last line of the last sample."""
    last = samples[-1]
    return Summary(
        statistics.median(sample.cpu for sample in samples),
        statistics.median(sample.wall for sample in samples),
        statistics.median(sample.memory for sample in samples),
        len(samples),
        last.code,
        last.last_words,
    )


def spread(values: Sequence[float]) -> dict[str, float]:
    """Median, 95th percentile and maximum of at least one value."""
    ordered = sorted(values)
    return {
        "median": round(statistics.median(ordered), 3),
        "95 %": round(ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))], 3),
        "max": round(ordered[-1], 3),
    }


def fit_exponent(points: Sequence[tuple[int, float]]) -> float:
    """The slope of log seconds over log size, by least squares."""
    return statistics.linear_regression(
        [math.log(size) for size, _ in points], [math.log(seconds) for _, seconds in points]
    ).slope


def run_in_turn(commands: Sequence[Sequence[str]], runs: int, budget: float) -> list[Summary]:
    """Run the commands in turn, ``runs`` times each.

    Each command runs at least once; it is skipped if another run would exceed its ``budget`` of CPU seconds.
    """
    samples: list[list[Sample]] = [[] for _ in commands]
    for _ in range(runs):
        for command, command_samples in zip(commands, samples, strict=True):
            spent = sum(sample.cpu for sample in command_samples)
            if not command_samples or spent + command_samples[-1].cpu <= budget:
                command_samples.append(run_once(command))
    return [summarize(command_samples) for command_samples in samples]
