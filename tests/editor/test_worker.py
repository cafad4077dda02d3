"""One thread that works: what is cancelled is not done, or not done to its end, and what comes next is not hurt."""

from __future__ import annotations

import asyncio
import time

import pytest

from plansafe.app.interfaces.editor.language_server import Worker
from plansafe.app.system.time_limit import OutOfTime


async def begun(started: list[int]) -> None:
    async with asyncio.timeout(300):
        while not started:
            await asyncio.sleep(0.001)


def test_work_that_runs_is_interrupted_and_work_that_waits_is_not_begun() -> None:
    async def session() -> list[str]:
        worker, said, started = Worker(), [], []

        def endless() -> None:
            started.append(1)
            end = time.monotonic() + 20
            try:
                while time.monotonic() < end:
                    pass
                said.append("ran to its end")
            except OutOfTime:
                said.append("interrupted")
                raise

        running = asyncio.ensure_future(worker.run(endless))
        waiting = asyncio.ensure_future(worker.run(lambda: said.append("begun")))
        await begun(started)
        waiting.cancel()
        running.cancel()
        for task in (running, waiting):
            with pytest.raises(asyncio.CancelledError):
                await task
        said.append(await worker.run(lambda: "next"))
        worker.close()
        return said

    assert asyncio.run(session()) == ["interrupted", "next"]


def test_an_interruption_never_hits_the_work_that_comes_next() -> None:
    async def session() -> int:
        worker, done = Worker(), 0
        for pause in range(120):
            task = asyncio.ensure_future(worker.run(lambda: sum(range(20_000))))
            await asyncio.sleep(pause / 200_000)
            task.cancel()
            done += await worker.run(lambda: sum(range(2_000)) == 1_999_000)
        worker.close()
        return done

    assert asyncio.run(session()) == 120


def test_who_closes_does_not_wait_for_what_runs() -> None:
    async def session() -> float:
        worker, started = Worker(), []

        def endless() -> None:
            started.append(1)
            end = time.monotonic() + 20
            while time.monotonic() < end:
                pass

        task = asyncio.ensure_future(worker.run(endless))
        await begun(started)
        begin = time.monotonic()
        worker.close()
        with pytest.raises(OutOfTime):
            await task
        return time.monotonic() - begin

    assert asyncio.run(session()) < 10


def test_what_work_raises_is_raised() -> None:
    async def session() -> None:
        await Worker().run(lambda: 1 // 0)

    with pytest.raises(ZeroDivisionError):
        asyncio.run(session())
