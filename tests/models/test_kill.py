"""A run that is killed at random times and restarted loses no answer and repeats no stored question."""

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
from stub_server import Reply, chat, serving, wrong

from plansafe.llm.models.answer import Answer
from plansafe.llm.models.batch import ask_all, ask_each
from plansafe.llm.models.cache import Cache
from plansafe.llm.models.providers import Settings, open_model
from plansafe.llm.models.request import Request, user_messages

pytest.importorskip("httpx", reason="models over HTTP need httpx (extra `llm`)")

SIZE, CONNECTIONS = 60, 3
RUN = """
import sys
from plansafe.llm.models.batch import ask_all
from plansafe.llm.models.cache import Cache
from plansafe.llm.models.providers import Settings, open_model
from plansafe.llm.models.request import Request, user_messages
from plansafe.llm.models.transport import Tries
tries = Tries(most=4, first_wait=0.01, longest_wait=0.02, patience=2.0, timeout=float(sys.argv[5]))
settings = Settings(base_url=sys.argv[1] + "/v1", connections=int(sys.argv[4]), tries=tries, environment={})
model = open_model("openai/m", settings)
with Cache(sys.argv[2]) as cache:
    answers = ask_all(model, [Request(user_messages(str(n))) for n in range(int(sys.argv[3]))], cache)
print(*[getattr(answer, "text", "failed")[:40] for answer in answers], sep=",")
"""


def count_stored_answers(path: Path) -> int:
    if not path.exists():
        return 0
    connection = sqlite3.connect(path, timeout=10)
    try:
        return connection.execute("select count(*) from answers").fetchone()[0]
    except sqlite3.OperationalError:  # killed before the table was created
        return 0
    finally:
        connection.close()


def start(
    url: str, path: Path, size: int = SIZE, connections: int = CONNECTIONS, timeout: float = 60
) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", RUN, url, str(path), str(size), str(connections), str(timeout)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def kill_soon(process: subprocess.Popen[str], path: Path, goal: int, draw: random.Random) -> bool:
    """Kill a run at a random time after it has stored ``goal`` answers; return whether it was still running."""
    end = time.monotonic() + 30
    while process.poll() is None and count_stored_answers(path) < goal and time.monotonic() < end:
        time.sleep(0.01)
    time.sleep(draw.uniform(0, 0.1))
    running = process.poll() is None
    if running:
        process.send_signal(signal.SIGKILL)
    process.communicate()
    return running


@pytest.mark.slow
def test_a_run_killed_at_random_times_is_completed(tmp_path: Path) -> None:
    draw = random.Random(7)
    path = tmp_path / "answers.sqlite"
    with serving(lambda prompt, *_: chat(f"<{prompt}>")._replace(delay=0.1)) as stub:
        kills = 0
        for _ in range(6):
            kills += kill_soon(start(stub.url, path), path, count_stored_answers(path) + draw.randint(0, 8), draw)
        while stub.at_once:  # requests of the killed runs
            time.sleep(0.01)
        before, stored = sum(stub.request_counts.values()), count_stored_answers(path)
        process = start(stub.url, path)
        out, _ = process.communicate(timeout=60)
    assert kills >= 2
    assert stored
    assert out.strip() == ",".join([f"<{n}>" for n in range(SIZE)])
    assert sum(stub.request_counts.values()) - before == SIZE - stored  # stored answers are not requested again
    assert sum(stub.request_counts.values()) <= SIZE + kills * CONNECTIONS  # only open requests are repeated


FAULTS: dict[int, Reply] = {
    1: wrong(429, headers={"Retry-After": "0.01"}),
    2: wrong(500),
    3: wrong(503, headers={"Retry-After": "soon"}),
    4: chat("cut")._replace(cut=True),
    5: Reply(bytes(range(256)) * 8),
    6: Reply(b'{"choices": [{"message": {"content": '),
    7: Reply(b'[{"choices": 1}]'),
    8: Reply(b'{"a":' * 50_000),
    9: Reply(b"\x1f\x8b" + bytes(40), headers={"content-encoding": "gzip"}),
    10: Reply(b""),
    11: chat("late")._replace(delay=2.0),
    12: chat("slow")._replace(drip=0.03),
}
FLOOD, ODD = chat("y" * 10_000_000), chat("odd", tool_calls=[{"id": 7}])._replace(headers={"x-odd": "\xe9" * 500})


@pytest.mark.slow
def test_requests_are_answered_despite_all_faults_and_kills(tmp_path: Path) -> None:
    """Each request fails twice before it is answered; a killed run resumes where it stopped."""

    def script(prompt: str, number: int, _: object) -> Reply:
        kind = int(prompt) % 17
        if kind in FAULTS and number % 3 and (kind < 11 or int(prompt) < 20):  # few slow requests
            return FAULTS[kind]
        if kind == 13 and int(prompt) < 40:
            return FLOOD
        return ODD if kind == 14 else chat(f"<{prompt}>")

    def expected_text(n: int) -> str:
        return "y" * 40 if n % 17 == 13 and n < 40 else "odd" if n % 17 == 14 else f"<{n}>"

    draw, path, size = random.Random(11), tmp_path / "answers.sqlite", 200
    with serving(script) as stub:
        assert kill_soon(start(stub.url, path, size, 4, timeout=1.5), path, 40, draw)
        assert kill_soon(start(stub.url, path, size, 4, timeout=1.5), path, 90, draw)
        stored = count_stored_answers(path)
        prompts, before = set(stub.request_counts), sum(stub.request_counts.values())
        out, errors = start(stub.url, path, size, 4, timeout=1.5).communicate(timeout=60)
        repeated, _ = start(stub.url, path, size, 4, timeout=1.5).communicate(timeout=60)
    assert out.strip().split(",") == [expected_text(n) for n in range(size)], errors
    assert repeated == out
    assert 90 <= stored < size
    assert len(prompts) < size
    answered = [
        count
        for n, count in stub.request_counts.items()
        if int(n) % 17 not in FAULTS or (int(n) % 17 > 10 and int(n) > 20)
    ]
    assert sum(answered) <= len(answered) + 2 * 4  # only requests that were open at a kill are answered twice
    assert sum(stub.request_counts.values()) - before <= 3 * (size - stored)
    assert stub.most_at_once <= 4 + 2 * 4  # the server may still process requests of the killed runs


def test_an_interrupt_stores_the_open_requests(tmp_path: Path) -> None:
    with serving(lambda prompt, *_: chat(f"<{prompt}>")._replace(delay=0.1)) as stub:
        settings = Settings(base_url=f"{stub.url}/v1", connections=CONNECTIONS, environment={})
        model, requests = open_model("openai/m", settings), [Request(user_messages(str(n))) for n in range(20)]
        with Cache(str(tmp_path / "a.sqlite")) as cache:
            for number, _ in enumerate(ask_each(model, requests, cache)):
                if number == 4:
                    break
            request_count = sum(stub.request_counts.values())
            assert len(cache) == request_count < 20
            answers = ask_all(model, requests, cache)
    assert all([isinstance(a, Answer) and a.text == f"<{n}>" for n, a in enumerate(answers)])
    assert sum(stub.request_counts.values()) == 20


def test_control_c_ends_a_run_soon(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    with serving(lambda prompt, *_: chat(prompt)._replace(delay=0.05)) as stub:
        process = start(stub.url, path)
        while count_stored_answers(path) < 3:
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=20)
        assert "KeyboardInterrupt" in errors
        assert count_stored_answers(path) == sum(stub.request_counts.values()) < SIZE
