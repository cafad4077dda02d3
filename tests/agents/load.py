"""Load on a service over loopback: `python tests/agents/load.py [--count 1000] [--clients 8] [--megabytes 20]`.

First audits: all concurrently, or from ``--clients`` that each keep a connection and wait for each answer. Each request
names its plan, and each answer must be about this plan. Then more plans of many megabytes concurrently than there are
workers. At the end, the metrics of the service must have counted all requests.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import re
import sys
import time
from collections import Counter
from pathlib import Path

import httpx

sys.path.insert(0, str(Path(__file__).resolve().parent))

from agents_server import SAFE, TASK, UNSAFE, serving


async def flood(address: str, count: int, clients: int | None) -> Counter[str]:
    """Audit ``count`` plans, all concurrently or from ``clients``; count the headlines, each checked for its plan."""
    limits = httpx.Limits(max_connections=clients or count, max_keepalive_connections=clients or 0)
    async with httpx.AsyncClient(base_url=address, limits=limits, timeout=580) as client:

        async def audit(number: int) -> str:
            plan = UNSAFE if number % 2 else SAFE
            answer = await client.post("/v1/audit", json={**TASK, "plan": plan, "name": f"plan {number}"})
            assert answer.status_code == 200, answer.text
            report = answer.json()
            assert (report["plan"], report["headline"]) == (f"plan {number}", "UNSAFE" if number % 2 else "SAFE"), (
                number
            )
            return str(report["headline"])

        async def audit_in_turn(numbers: range) -> list[str]:
            return [await audit(number) for number in numbers]

        n_clients = clients or count
        answers = await asyncio.gather(*[audit_in_turn(range(first, count, n_clients)) for first in range(n_clients)])
        return Counter(itertools.chain.from_iterable(answers))


async def audit_large_plans(address: str, megabytes: int, count: int) -> list[tuple[int, str]]:
    """Audit plans of ``megabytes`` concurrently; return each status with the headline or error code."""
    steps = "(go kitchen hall)\n(go hall kitchen)\n"
    plan = steps * (megabytes * 1_000_000 // len(steps)) + SAFE
    body = json.dumps({**TASK, "plan": plan}).encode()
    async with httpx.AsyncClient(base_url=address, timeout=580) as client:

        async def audit() -> tuple[int, str]:
            answer = await client.post("/v1/audit", content=body)
            fields = answer.json()
            return answer.status_code, str(fields["headline"] if answer.status_code == 200 else fields["error"]["code"])

        return list(await asyncio.gather(*[audit() for _ in range(count)]))


def metrics(address: str) -> str:
    """The metrics of the service as text."""
    return httpx.get(f"{address}/metrics", timeout=120).text


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--clients", type=int, metavar="N")
    parser.add_argument("--megabytes", type=int, default=20)
    options = parser.parse_args()
    with serving("--time-limit", "60") as address:
        start = time.perf_counter()
        headlines = asyncio.run(flood(address, options.count, options.clients))
        seconds = time.perf_counter() - start
        clients = "at once" if options.clients is None else f"from {options.clients} clients"
        print(f"{options.count} {clients}: {dict(headlines)}, {seconds:.1f} s, {options.count / seconds:.0f} a second")
        start = time.perf_counter()
        outcomes = asyncio.run(audit_large_plans(address, options.megabytes, 6))
        print(f"6 plans of {options.megabytes} MB at once: {Counter(outcomes)}, {time.perf_counter() - start:.1f} s")
        assert all([status in (200, 503, 504, 507) for status, _ in outcomes])
        assert httpx.post(f"{address}/v1/audit", json={**TASK, "plan": SAFE}, timeout=120).json()["headline"] == "SAFE"
        counters = re.findall(r'requests_total\{operation="audit",status="(\d+)"\} (\d+)', metrics(address))
        print(f"counted by the service: {dict(counters)}")
        assert sum([int(number) for _, number in counters]) == options.count + len(outcomes) + 1
        assert "safecheck_workers_busy 0\n" in metrics(address)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
