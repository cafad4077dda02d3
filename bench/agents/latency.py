"""Measure the latency of ``allowed`` and ``observe`` over HTTP: `python -m bench.agents.latency [--count 500]`.

One session in a household and one in a VirtualHome scene; the client runs on the same machine and keeps its connection.
Prints the wall-clock time of the client, and the CPU time of server and session, which other load on the machine does
not change. Exit code 1 if the median or the 95th percentile is five milliseconds or more.
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


def household_task() -> dict[str, Any]:
    """The task of the dinner example."""
    return {"problem": (ROOT / "examples" / "dinner" / "problem.pddl").read_text(encoding="utf-8")}


def virtualhome_task() -> dict[str, Any] | None:
    """The largest scene of the Embodied Agent Interface, or ``None`` without the data."""
    folder = Path(os.environ.get("PLANSAFE_DATA", ROOT.parent / "shared" / "data")) / "eai-virtualhome"
    graphs = sorted((folder / "init_and_final_graphs").glob("*.json.gz"))
    if not graphs:
        return None
    largest = max(graphs, key=lambda path: (path.stat().st_size, path.name))
    with gzip.open(largest, "rt", encoding="utf-8") as file:
        return {"world": "virtualhome", "scene": file.read()}


class Robot:
    """A client of one session that keeps its connection."""

    def __init__(self, address: str, task: dict[str, Any]) -> None:
        server_url = urlsplit(address)
        self._connection = http.client.HTTPConnection(server_url.hostname or "", server_url.port, timeout=600)
        self.path = "/v1/sessions"
        session = self.request("", **task)
        self.path += f"/{session['session']}"

    def request(self, endpoint: str, **fields: Any) -> Any:
        """The JSON response. Raises ``SystemExit`` if the server reports an error."""
        self._connection.request("POST", self.path + endpoint, json.dumps(fields), {"Content-Type": "application/json"})
        response = self._connection.getresponse()
        body = json.loads(response.read())
        if response.status != 200:
            raise SystemExit(str(body["error"]["message"]))
        return body


def cpu_seconds(group: int) -> float:
    """User and system time of all processes of a process group; 0 without ``/proc``."""
    ticks = 0
    for stat_file in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat_file.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[3]) == group:
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def measure_requests(label: str, send_request: Any, count: int, group: int) -> bool:
    """Print one row; returns True if the 95th percentile is below the target."""
    send_request(0)
    cpu_before, times = cpu_seconds(group), []
    for index in range(count):
        start = time.perf_counter()
        send_request(index)
        times.append(1000 * (time.perf_counter() - start))
    cpu = 1000 * (cpu_seconds(group) - cpu_before) / count
    times.sort()
    median, percentile_95 = times[count // 2], times[min(count - 1, count * 95 // 100)]
    print(f"{label:<24} p50 {median:6.2f} ms   p95 {percentile_95:6.2f} ms   CPU {cpu:5.2f} ms a request")
    return percentile_95 < TARGET_MS


def main() -> int:
    """Start a server and measure the chosen worlds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--world", choices=("household", "virtualhome"))
    options = parser.parse_args()
    tasks = {"household": household_task, "virtualhome": virtualhome_task}
    command = [sys.executable, "-c", "from plansafe.app.main import main; raise SystemExit(main())", "serve"]
    command += ["--port", "0", "--workers", "1", "--time-limit", "300"]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    assert server.stderr is not None
    address_match = re.search(r"http://\S+", server.stderr.readline())
    assert address_match is not None
    all_met = True
    try:
        for world, task in tasks.items():
            if options.world not in (None, world):
                continue
            texts = task()
            if texts is None:
                print(f"{world}: no data (set PLANSAFE_DATA)")
                continue
            start = time.perf_counter()
            robot = Robot(address_match[0], texts)
            open_seconds = time.perf_counter() - start
            state = robot.request("/state")
            steps = robot.request("/next", most=50)
            print(f"{world}: {len(state['facts'])} facts, {steps['legal']} legal steps, opened in {open_seconds:.1f} s")
            actions = [step["step"] for step in steps["steps"]]
            facts = state["facts"][:10]

            def send_allowed(number: int, robot: Robot = robot, actions: list[str] = actions) -> None:
                robot.request("/allowed", action=actions[number % len(actions)])

            def send_observe(number: int, robot: Robot = robot, facts: list[str] = facts) -> None:
                robot.request("/observe", facts=[f"(not {facts[0]})" if number % 2 else facts[0], *facts[1:]])

            all_met &= measure_requests("  allowed", send_allowed, options.count, server.pid)
            all_met &= measure_requests("  observe", send_observe, options.count, server.pid)
    finally:
        server.terminate()
        server.wait(20)
    return 0 if all_met else 1


if __name__ == "__main__":
    raise SystemExit(main())
