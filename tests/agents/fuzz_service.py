"""Hostile bodies against a running service: `python tests/agents/fuzz_service.py --count 10000 [--seed 1]`.

Every body has an answer of the service in time: a verdict, or a refusal with a diagnostic. None is a bug (500), none
says where the server's files are, and a session that was there before is as it was.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
from collections import Counter
from pathlib import Path

import httpx

sys.path.insert(0, str(Path(__file__).resolve().parent))

from agents_server import SAFE, TASK, serving
from hostile import PATHS, body

EXPECTED = (200, 400, 409, 410, 413, 422, 503, 504, 507)
_ROOT = str(Path(__file__).resolve().parents[2]).encode()
_AT_ONCE = 6


async def attacked(address: str, count: int, seed: int) -> Counter[int]:
    """Send so many bodies; how often each status was said. Raises ``AssertionError`` at what must not be."""
    statuses: Counter[int] = Counter()
    numbers = iter(range(count))
    async with httpx.AsyncClient(base_url=address, timeout=90) as client:
        witness = await _opened(client)
        before = (await client.post(f"{witness}/state", json={})).json()

        async def attacker() -> None:
            session = await _opened(client)
            for number in numbers:
                draw = random.Random(f"{seed} {number}")
                path = draw.choice(PATHS)
                sent = body(path, draw)
                answer = await client.post(
                    path.replace("SESSION", session), content=sent, headers={"content-type": "application/json"}
                )
                where = f"number {number} of seed {seed}, {path}: {sent[:2000]!r} -> {answer.status_code}"
                assert answer.status_code in EXPECTED, f"{where} {answer.text[:2000]}"
                said = answer.json()
                assert answer.status_code == 200 or said["error"]["code"].startswith("SC"), where
                assert _ROOT not in answer.content, where
                assert b"root:" not in answer.content, where
                statuses[answer.status_code] += 1
                if path == "/v1/sessions" and answer.status_code == 200:
                    await client.delete(f"/v1/sessions/{said['session']}")
                if answer.status_code in (410, 504, 507) and path.startswith("SESSION"):
                    session = await _opened(client)

        await asyncio.gather(*[attacker() for _ in range(_AT_ONCE)])
        assert (await client.post(f"{witness}/state", json={})).json() == before
        said = (await client.post("/v1/audit", json={**TASK, "plan": SAFE})).json()
        assert said["headline"] == "SAFE"
    return statuses


async def _opened(client: httpx.AsyncClient) -> str:
    return f"/v1/sessions/{(await client.post('/v1/sessions', json=TASK)).json()['session']}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    with serving("--time-limit", "20") as address:
        statuses = asyncio.run(attacked(address, given.count, given.seed))
    print(json.dumps({str(status): statuses[status] for status in sorted(statuses)}))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
