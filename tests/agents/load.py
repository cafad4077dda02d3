"""A thousand requests at once over loopback: `python tests/agents/load.py [--count 1000] [--megabytes 20]`.

Each names its plan, and each answer must be that of its plan. Then plans of many megabytes, more at once than there are
workers; and the memory of the server itself before and after.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections import Counter
from pathlib import Path

import httpx

sys.path.insert(0, str(Path(__file__).resolve().parent))

from agents_server import SAFE, TASK, UNSAFE, serving


async def flood(address: str, count: int) -> Counter[str]:
    """Audits, all in flight at once."""
    limits = httpx.Limits(max_connections=count, max_keepalive_connections=0)
    async with httpx.AsyncClient(base_url=address, limits=limits, timeout=580) as client:

        async def one(number: int) -> str:
            plan = UNSAFE if number % 2 else SAFE
            answer = await client.post("/v1/audit", json={**TASK, "plan": plan, "name": f"plan {number}"})
            assert answer.status_code == 200, answer.text
            found = answer.json()
            assert (found["plan"], found["headline"]) == (f"plan {number}", "UNSAFE" if number % 2 else "SAFE"), number
            return str(found["headline"])

        return Counter(await asyncio.gather(*[one(number) for number in range(count)]))


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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--megabytes", type=int, default=20)
    given = parser.parse_args()
    with serving("--time-limit", "60") as address:
        began = time.perf_counter()
        said = asyncio.run(flood(address, given.count))
        seconds = time.perf_counter() - began
        print(f"{given.count} at once: {dict(said)}, {seconds:.1f} s, {given.count / seconds:.0f} a second")
        began = time.perf_counter()
        found = asyncio.run(large(address, given.megabytes, 6))
        print(f"6 plans of {given.megabytes} MB at once: {Counter(found)}, {time.perf_counter() - began:.1f} s")
        assert all([status in (200, 503, 504, 507) for status, _ in found])
        assert httpx.post(f"{address}/v1/audit", json={**TASK, "plan": SAFE}, timeout=120).json()["headline"] == "SAFE"
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
