"""How long a robot waits for ``allowed`` and ``observe`` over HTTP: `python bench/agents/latency.py [--count 500]`.

One session in a household, one in a scene of VirtualHome; a client on the same machine that keeps its connection. The
wall-clock time that the client sees, and the CPU time of server and session together, which another load of the machine
does not change. Exit code 1 where the median or the 95th percentile is not below five milliseconds.
"""

from __future__ import annotations

import argparse
import gzip
import http.client
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parents[2]
TARGET_MS = 5.0


def household() -> dict[str, Any]:
    """The shipped dinner."""
    return {"problem": (ROOT / "examples" / "dinner" / "problem.pddl").read_text(encoding="utf-8")}


def virtualhome() -> dict[str, Any] | None:
    """A scene of the Embodied Agent Interface, the largest file of all, if the data is there."""
    folder = Path(os.environ.get("PLANSAFE_DATA", ROOT.parent / "shared" / "data")) / "eai-virtualhome"
    graphs = sorted((folder / "init_and_final_graphs").glob("*.json.gz"))
    if not graphs:
        return None
    largest = max(graphs, key=lambda path: (path.stat().st_size, path.name))
    with gzip.open(largest, "rt", encoding="utf-8") as file:
        return {"world": "virtualhome", "scene": file.read()}


class Robot:
    """A client that keeps its connection."""

    def __init__(self, address: str, task: dict[str, Any]) -> None:
        place = urlsplit(address)
        self._connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=600)
        self.path = "/v1/sessions"
        said = self.ask("", **task)
        self.path += f"/{said['session']}"

    def ask(self, what: str, **given: Any) -> Any:
        """The answer. Raises ``SystemExit`` at a refusal."""
        self._connection.request("POST", self.path + what, json.dumps(given), {"Content-Type": "application/json"})
        answer = self._connection.getresponse()
        said = json.loads(answer.read())
        if answer.status != 200:
            raise SystemExit(str(said["error"]["message"]))
        return said


def cpu_seconds(group: int) -> float:
    """User and system time of all processes of a session of the system, workers included; 0 where it is not said."""
    total = 0
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[3]) == group:
            total += int(fields[11]) + int(fields[12])
    return total / os.sysconf("SC_CLK_TCK")


def measured(name: str, work: Any, count: int, group: int) -> bool:
    """Print one row; whether it is below the target."""
    work(0)
    before, times = cpu_seconds(group), []
    for number in range(count):
        began = time.perf_counter()
        work(number)
        times.append(1000 * (time.perf_counter() - began))
    cpu = 1000 * (cpu_seconds(group) - before) / count
    times.sort()
    middle, late = times[count // 2], times[min(count - 1, count * 95 // 100)]
    print(f"{name:<24} p50 {middle:6.2f} ms   p95 {late:6.2f} ms   CPU {cpu:5.2f} ms a request")
    return late < TARGET_MS


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--world", choices=("household", "virtualhome"))
    given = parser.parse_args()
    tasks = {"household": household, "virtualhome": virtualhome}
    command = [sys.executable, "-c", "from plansafe.app.main import main; raise SystemExit(main())", "serve"]
    command += ["--port", "0", "--workers", "1", "--time-limit", "300"]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    assert server.stderr is not None
    found = re.search(r"http://\S+", server.stderr.readline())
    assert found is not None
    good = True
    try:
        for world, task in tasks.items():
            if given.world not in (None, world):
                continue
            texts = task()
            if texts is None:
                print(f"{world}: no data (set PLANSAFE_DATA)")
                continue
            began = time.perf_counter()
            robot = Robot(found[0], texts)
            took = time.perf_counter() - began
            state = robot.ask("/state")
            steps = robot.ask("/next", most=50)
            print(f"{world}: {len(state['facts'])} facts, {steps['legal']} legal steps, opened in {took:.1f} s")
            actions = [step["step"] for step in steps["steps"]]
            facts = state["facts"][:10]

            def ask(number: int, robot: Robot = robot, actions: list[str] = actions) -> None:
                robot.ask("/allowed", action=actions[number % len(actions)])

            def see(number: int, robot: Robot = robot, facts: list[str] = facts) -> None:
                robot.ask("/observe", facts=[f"(not {facts[0]})" if number % 2 else facts[0], *facts[1:]])

            good &= measured("  allowed", ask, given.count, server.pid)
            good &= measured("  observe", see, given.count, server.pid)
    finally:
        server.terminate()
        server.wait(20)
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
