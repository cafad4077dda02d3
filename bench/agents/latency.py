"""Measure the latency of requests over HTTP: `python -m bench.agents.latency [--count 500]`.

``allowed`` and ``observe`` of one session in a household and one in a VirtualHome scene, and ``audit`` of a plan of 25
steps. The client runs on the same machine. Each request is measured on a kept connection and on a new one. Prints the
wall-clock time of the client (50th, 95th and 99th percentile), and the CPU time of server and session, which other load
on the machine does not change. Exit code 1 if the 95th percentile of a session's request on a kept connection is five
milliseconds or more.
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
from collections.abc import Callable
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


class Service:
    """A client that keeps its connection, or, if ``keeps`` is false, opens one for each request."""

    def __init__(self, address: str) -> None:
        server_url = urlsplit(address)
        self._connection = http.client.HTTPConnection(server_url.hostname or "", server_url.port, timeout=600)
        self.keeps = True

    def request(self, path: str, **fields: Any) -> Any:
        """The JSON response. Raises ``SystemExit`` if the server reports an error."""
        if not self.keeps:
            self._connection.close()
        self._connection.request("POST", path, json.dumps(fields), {"Content-Type": "application/json"})
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


def measure_requests(label: str, send_request: Callable[[int], Any], service: Service, count: int, group: int) -> bool:
    """Print a row for kept and one for new connections; returns True if the kept ones reach the target."""
    percentiles = []
    for service.keeps in (True, False):
        connection = "kept" if service.keeps else "new"
        percentiles.append(measure_connection(f"{label} {connection}", send_request, count, group))
    service.keeps = True
    return percentiles[0] < TARGET_MS


def measure_connection(label: str, send_request: Callable[[int], Any], count: int, group: int) -> float:
    """Print one row; returns the 95th percentile in milliseconds."""
    send_request(0)
    cpu_before, times = cpu_seconds(group), []
    for index in range(count):
        start = time.perf_counter()
        send_request(index)
        times.append(1000 * (time.perf_counter() - start))
    cpu = 1000 * (cpu_seconds(group) - cpu_before) / count
    times.sort()
    p50, p95, p99 = [times[min(count - 1, count * percent // 100)] for percent in (50, 95, 99)]
    print(f"{label:<16} p50 {p50:7.2f} ms   p95 {p95:7.2f} ms   p99 {p99:7.2f} ms   CPU {cpu:6.2f} ms", flush=True)
    return p95


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
    service = Service(address_match[0])
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
            session = f"/v1/sessions/{service.request('/v1/sessions', **texts)['session']}"
            open_seconds = time.perf_counter() - start
            state = service.request(f"{session}/state")
            steps = service.request(f"{session}/next", most=50)
            print(f"{world}: {len(state['facts'])} facts, {steps['legal']} legal steps, opened in {open_seconds:.1f} s")
            actions = [step["step"] for step in steps["steps"]]
            facts = state["facts"][:10]

            def send_allowed(number: int, session: str = session, actions: list[str] = actions) -> None:
                service.request(f"{session}/allowed", action=actions[number % len(actions)])

            def send_observe(number: int, session: str = session, facts: list[str] = facts) -> None:
                observed = [f"(not {facts[0]})" if number % 2 else facts[0], *facts[1:]]
                service.request(f"{session}/observe", facts=observed)

            all_met &= measure_requests("  allowed", send_allowed, service, options.count, server.pid)
            all_met &= measure_requests("  observe", send_observe, service, options.count, server.pid)
        plan = (ROOT / "examples" / "dinner" / "stove-left-alone.plan").read_text(encoding="utf-8")
        household = household_task()
        print("audit of 25 steps in the household")
        audits = max(1, options.count // 5)
        measure_requests(
            "  audit", lambda _: service.request("/v1/audit", **household, plan=plan), service, audits, server.pid
        )
    finally:
        server.terminate()
        server.wait(20)
    return 0 if all_met else 1


if __name__ == "__main__":
    raise SystemExit(main())
