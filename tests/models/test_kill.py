"""A run that is killed at random moments and started again: nothing is lost, nothing that was kept is asked again."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from stub_server import chat, serving

from plansafe.llm.models.answer import Answer
from plansafe.llm.models.batch import ask_all, ask_each
from plansafe.llm.models.cache import Cache
from plansafe.llm.models.providers import Settings, open_model
from plansafe.llm.models.request import Request, said

pytest.importorskip("httpx", reason="models over HTTP need httpx (extra `llm`)")

SIZE, CONNECTIONS = 60, 3
RUN = """
import sys
from plansafe.llm.models.batch import ask_all
from plansafe.llm.models.cache import Cache
from plansafe.llm.models.providers import Settings, open_model
from plansafe.llm.models.request import Request, said
model = open_model("openai/m", Settings(base_url=sys.argv[1] + "/v1", connections=3, environment={}))
with Cache(sys.argv[2]) as cache:
    answers = ask_all(model, [Request(said(str(n))) for n in range(60)], cache)
print(*[answer.text for answer in answers], sep=",")
"""


def kept(path: Path) -> int:
    if not path.exists():
        return 0
    connection = sqlite3.connect(path, timeout=10)
    try:
        return connection.execute("select count(*) from answers").fetchone()[0]
    except sqlite3.OperationalError:  # killed before the table was made
        return 0
    finally:
        connection.close()


def start(url: str, path: Path) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", RUN, url, str(path)], stdout=subprocess.PIPE, text=True)


def test_killed_at_random_moments(tmp_path: Path) -> None:
    draw = random.Random(7)
    path = tmp_path / "answers.sqlite"
    with serving(lambda prompt, *_: chat(f"<{prompt}>")._replace(delay=0.1)) as stub:
        kills = 0
        for _ in range(6):
            process = start(stub.url, path)
            end, goal = time.monotonic() + 30, kept(path) + draw.randint(0, 8)
            while process.poll() is None and kept(path) < goal and time.monotonic() < end:
                time.sleep(0.01)
            time.sleep(draw.uniform(0, 0.1))
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
                kills += 1
            process.wait()
        before, had = sum(stub.asked.values()), kept(path)
        done = start(stub.url, path)
        out, _ = done.communicate(timeout=60)
    assert kills >= 2
    assert had
    assert out.strip() == ",".join([f"<{n}>" for n in range(SIZE)])
    assert sum(stub.asked.values()) - before == SIZE - had  # what was kept was not asked again
    assert sum(stub.asked.values()) <= SIZE + kills * CONNECTIONS  # only what was under way was


def test_an_interrupt_keeps_what_was_under_way(tmp_path: Path) -> None:
    with serving(lambda prompt, *_: chat(f"<{prompt}>")._replace(delay=0.1)) as stub:
        settings = Settings(base_url=f"{stub.url}/v1", connections=CONNECTIONS, environment={})
        model, requests = open_model("openai/m", settings), [Request(said(str(n))) for n in range(20)]
        with Cache(str(tmp_path / "a.sqlite")) as cache:
            for number, _ in enumerate(ask_each(model, requests, cache)):
                if number == 4:
                    break
            asked = sum(stub.asked.values())
            assert len(cache) == asked < 20
            answers = ask_all(model, requests, cache)
    assert all([isinstance(a, Answer) and a.text == f"<{n}>" for n, a in enumerate(answers)])
    assert sum(stub.asked.values()) == 20


def test_control_c_ends_a_run_soon(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    with serving(lambda prompt, *_: chat(prompt)._replace(delay=0.05)) as stub:
        process = subprocess.Popen([sys.executable, "-c", RUN, stub.url, str(path)], stderr=subprocess.PIPE, text=True)
        while kept(path) < 3:
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=20)
        assert "KeyboardInterrupt" in errors
        assert kept(path) == sum(stub.asked.values()) < SIZE
