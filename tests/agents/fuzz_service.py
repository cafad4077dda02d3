"""Hostile bodies against a running service: `python tests/agents/fuzz_service.py --count 10000 [--seed 1]`.

The service answers each body in time, with a verdict or a refusal with a diagnostic. It never answers with status 500
or a path of the server's files. A session that was opened before keeps its state.
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
_CONCURRENT_CLIENTS = 6


async def attack(address: str, count: int, seed: int) -> Counter[int]:
    """Send ``count`` hostile bodies and count the statuses. Raise ``AssertionError`` for a forbidden answer."""
    statuses: Counter[int] = Counter()
    numbers = iter(range(count))
    async with httpx.AsyncClient(base_url=address, timeout=90) as client:
        untouched_session = await _open_session(client)
        before = (await client.post(f"{untouched_session}/state", json={})).json()

        async def attacker() -> None:
            session = await _open_session(client)
            for number in numbers:
                draw = random.Random(f"{seed} {number}")
                path = draw.choice(PATHS)
                hostile_body = body(path, draw)
                answer = await client.post(
                    path.replace("SESSION", session), content=hostile_body, headers={"content-type": "application/json"}
                )
                where = f"number {number} of seed {seed}, {path}: {hostile_body[:2000]!r} -> {answer.status_code}"
                assert answer.status_code in EXPECTED, f"{where} {answer.text[:2000]}"
                fields = answer.json()
                assert answer.status_code == 200 or fields["error"]["code"].startswith("SC"), where
                assert _ROOT not in answer.content, where
                assert b"root:" not in answer.content, where
                statuses[answer.status_code] += 1
                if path == "/v1/sessions" and answer.status_code == 200:
                    await client.delete(f"/v1/sessions/{fields['session']}")
                if answer.status_code in (410, 504, 507) and path.startswith("SESSION"):
                    session = await _open_session(client)

        await asyncio.gather(*[attacker() for _ in range(_CONCURRENT_CLIENTS)])
        assert (await client.post(f"{untouched_session}/state", json={})).json() == before
        report = (await client.post("/v1/audit", json={**TASK, "plan": SAFE})).json()
        assert report["headline"] == "SAFE"
    return statuses


async def _open_session(client: httpx.AsyncClient) -> str:
    return f"/v1/sessions/{(await client.post('/v1/sessions', json=TASK)).json()['session']}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with serving("--time-limit", "20") as address:
        statuses = asyncio.run(attack(address, options.count, options.seed))
    print(json.dumps({str(status): statuses[status] for status in sorted(statuses)}))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
