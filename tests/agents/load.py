"""Load on a service over loopback: `python tests/agents/load.py [--count 1000] [--clients 8] [--megabytes 20]`.

Audits, all in flight at once, or from ``--clients`` that each keep a connection and wait for each answer. Each request
names its plan, and each answer must be about this plan. Then plans of many megabytes, more at once than there are
workers. At the end, the measurements of the service must have counted every request.
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
    """Audits, all in flight at once, or each client after its last answer."""
    limits = httpx.Limits(max_connections=clients or count, max_keepalive_connections=clients or 0)
    async with httpx.AsyncClient(base_url=address, limits=limits, timeout=580) as client:

        async def one(number: int) -> str:
            plan = UNSAFE if number % 2 else SAFE
            answer = await client.post("/v1/audit", json={**TASK, "plan": plan, "name": f"plan {number}"})
            assert answer.status_code == 200, answer.text
            found = answer.json()
            assert (found["plan"], found["headline"]) == (f"plan {number}", "UNSAFE" if number % 2 else "SAFE"), number
            return str(found["headline"])

        async def one_client(numbers: range) -> list[str]:
            return [await one(number) for number in numbers]

        at_once = clients or count
        answers = await asyncio.gather(*[one_client(range(first, count, at_once)) for first in range(at_once)])
        return Counter(itertools.chain.from_iterable(answers))


async def large(address: str, megabytes: int, at_once: int) -> list[tuple[int, str]]:
    """Plans of so many megabytes: a status each, and what is said of it."""
    steps = "(go kitchen hall)\n(go hall kitchen)\n"
    plan = steps * (megabytes * 1_000_000 // len(steps)) + SAFE
    body = json.dumps({**TASK, "plan": plan}).encode()
    async with httpx.AsyncClient(base_url=address, timeout=580) as client:

        async def one() -> tuple[int, str]:
            answer = await client.post("/v1/audit", content=body)
            said = answer.json()
            return answer.status_code, str(said["headline"] if answer.status_code == 200 else said["error"]["code"])

        return list(await asyncio.gather(*[one() for _ in range(at_once)]))


def metrics(address: str) -> str:
    """The measurements of the service."""
    return httpx.get(f"{address}/metrics", timeout=120).text


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--clients", type=int, metavar="N")
    parser.add_argument("--megabytes", type=int, default=20)
    given = parser.parse_args()
    with serving("--time-limit", "60") as address:
        began = time.perf_counter()
        said = asyncio.run(flood(address, given.count, given.clients))
        seconds = time.perf_counter() - began
        clients = "at once" if given.clients is None else f"from {given.clients} clients"
        print(f"{given.count} {clients}: {dict(said)}, {seconds:.1f} s, {given.count / seconds:.0f} a second")
        began = time.perf_counter()
        found = asyncio.run(large(address, given.megabytes, 6))
        print(f"6 plans of {given.megabytes} MB at once: {Counter(found)}, {time.perf_counter() - began:.1f} s")
        assert all([status in (200, 503, 504, 507) for status, _ in found])
        assert httpx.post(f"{address}/v1/audit", json={**TASK, "plan": SAFE}, timeout=120).json()["headline"] == "SAFE"
        counted = re.findall(r'requests_total\{operation="audit",status="(\d+)"\} (\d+)', metrics(address))
        print(f"counted by the service: {dict(counted)}")
        assert sum([int(number) for _, number in counted]) == given.count + len(found) + 1
        assert "safecheck_workers_busy 0\n" in metrics(address)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
