"""A benchmark that is killed at random times and resumed gives the same files and repeats no saved question."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

import pytest
from stub_server import Reply, Stub, chat, serving

pytest.importorskip("httpx", reason="models over HTTP need httpx (extra `llm`)")

KILLS, CONNECTIONS = 20, 3
DRIVER = """
import os, sys
from plansafe.app.interfaces.cli.bench.benchmark_run import ModelChoice, RunOutput, run_benchmark
from plansafe.llm.bench.settings import Settings, Suite
from plansafe.llm.bench.sources import TaskSelection, compiled, selected
import plansafe.app.interfaces.cli.bench.benchmark_run as runs
import plansafe.llm.models.chat, plansafe.llm.models.transport, httpx

wanted = TaskSelection(limit=6, seed=3)
read = selected(wanted)
tasks = compiled(read)  # once, before the first run: kills never interrupt reading and compiling
runs.selected, runs.compiled = lambda wanted: read, lambda read: tasks
url, folder = sys.argv[1:]
print("ready", flush=True)
for line in sys.stdin:  # each line is a run, in a process of its own
    child = os.fork()
    if not child:
        os.close(1)
        os.open(os.devnull, os.O_WRONLY)
        choice = ModelChoice("vllm/m", f"{url}/v1", 3, cache=f"{folder}/answers.sqlite")
        output = RunOutput(f"{folder}/{line.strip()}", log_samples=True)
        os._exit(run_benchmark(Settings(Suite.SAFEL), wanted, choice, output).code)
    print(child, flush=True)
    print(os.waitpid(child, 0)[1], flush=True)
"""


class Driver:
    """A process with all modules loaded; it starts runs that the test can kill."""

    def __init__(self, url: str, folder: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", DRIVER, url, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._line() == "ready"

    def _line(self) -> str:
        assert self._process.stdout is not None
        return self._process.stdout.readline().strip()

    def start(self, name: str) -> int:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{name}\n")
        self._process.stdin.flush()
        return int(self._line())

    def status(self) -> int:
        return int(self._line())

    def close(self) -> None:
        self._process.communicate(timeout=20)


def answer(prompt: str, *_: object) -> Reply:
    """Return an answer for each test, determined by the prompt."""
    text = "REFUSE" if "Command" in prompt and "Answer:" in prompt else f"(:goal (hot x{len(prompt) % 7}))"
    return chat(text)._replace(delay=0.02)


def kill_run(driver: Driver, stub: Stub, draw: random.Random, max_calls: int) -> bool:
    """Start the run and kill it after a few calls; return whether it was still running."""
    goal, end = sum(stub.request_counts.values()) + draw.randint(0, max_calls), time.monotonic() + 2
    child = driver.start("run.jsonl")
    while sum(stub.request_counts.values()) < goal and time.monotonic() < end:
        time.sleep(0.002)
    time.sleep(draw.uniform(0, 0.03))
    with suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)
    return driver.status() == signal.SIGKILL


@pytest.mark.slow
def test_a_run_killed_at_random_times_is_completed(tmp_path: Path) -> None:
    draw = random.Random(11)
    names = ("run.jsonl", "run.samples.jsonl", "run.md", "run.html", "run.judged.jsonl")
    with serving(answer) as stub:
        for folder in ("whole", "torn"):
            (tmp_path / folder).mkdir()
            before, kills = Counter(stub.request_counts), 0
            driver = Driver(stub.url, tmp_path / folder)
            for _ in range(KILLS if folder == "torn" else 0):
                kills += kill_run(driver, stub, draw, 2)
            driver.start("run.jsonl")
            assert driver.status() == 0
            driver.close()
        requests, request_count = stub.request_counts - before, sum(before.values())
    complete, interrupted = (
        {name: (tmp_path / folder_name / name).read_bytes() for name in names} for folder_name in ("whole", "torn")
    )
    assert kills == KILLS
    assert request_count > 15
    assert {name: text.replace(b"/torn/", b"/whole/") for name, text in interrupted.items()} == complete
    assert len(requests) == request_count
    # Only questions that were open at a kill are asked again; a question whose answer is written is not repeated.
    assert sum(requests.values()) <= request_count + kills * CONNECTIONS
    repeated = [prompt for prompt, times in requests.items() if times > 1]
    assert len(repeated) < request_count
    assert max(requests.values()) <= 1 + kills


@pytest.mark.slow
def test_a_finished_run_asks_no_questions(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    with serving(answer) as stub:
        driver = Driver(stub.url, tmp_path)
        driver.start("run.jsonl")
        assert driver.status() == 0
        before, contents = sum(stub.request_counts.values()), path.read_bytes()
        for size in (len(contents), len(contents) // 2, 10, 0):  # cut at any byte: the answers are also in the cache
            path.write_bytes(contents[:size])
            driver.start("run.jsonl")
            assert driver.status() == 0
            assert path.read_bytes() == contents
        driver.close()
    assert sum(stub.request_counts.values()) == before
