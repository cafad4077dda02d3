"""Test the worker thread: cancelled work does not start, or is interrupted; later work is not affected."""

from __future__ import annotations

import asyncio
import time

import pytest

from plansafe.app.interfaces.editor.language_server import Worker
from plansafe.app.system.time_limit import OutOfTime


async def wait_for_start(started: list[int]) -> None:
    async with asyncio.timeout(300):
        while not started:
            await asyncio.sleep(0.001)


def test_running_work_is_interrupted_and_waiting_work_does_not_start() -> None:
    async def session() -> list[str]:
        worker, events, started = Worker(), [], []

        def run_20_seconds() -> None:
            started.append(1)
            end = time.monotonic() + 20
            try:
                while time.monotonic() < end:
                    pass
                events.append("ran to its end")
            except OutOfTime:
                events.append("interrupted")
                raise

        running = asyncio.ensure_future(worker.run(run_20_seconds))
        waiting = asyncio.ensure_future(worker.run(lambda: events.append("begun")))
        await wait_for_start(started)
        waiting.cancel()
        running.cancel()
        for task in (running, waiting):
            with pytest.raises(asyncio.CancelledError):
                await task
        events.append(await worker.run(lambda: "next"))
        worker.close()
        return events

    assert asyncio.run(session()) == ["interrupted", "next"]


def test_interruption_does_not_affect_the_next_work() -> None:
    async def session() -> int:
        worker, completed = Worker(), 0
        for pause in range(120):
            task = asyncio.ensure_future(worker.run(lambda: sum(range(20_000))))
            await asyncio.sleep(pause / 200_000)
            task.cancel()
            completed += await worker.run(lambda: sum(range(2_000)) == 1_999_000)
        worker.close()
        return completed

    assert asyncio.run(session()) == 120


def test_close_does_not_wait_for_running_work() -> None:
    async def session() -> float:
        worker, started = Worker(), []

        def run_20_seconds() -> None:
            started.append(1)
            end = time.monotonic() + 20
            while time.monotonic() < end:
                pass

        task = asyncio.ensure_future(worker.run(run_20_seconds))
        await wait_for_start(started)
        close_time = time.monotonic()
        worker.close()
        with pytest.raises(OutOfTime):
            await task
        return time.monotonic() - close_time

    assert asyncio.run(session()) < 10


def test_exception_of_the_work_is_raised() -> None:
    async def session() -> None:
        await Worker().run(lambda: 1 // 0)

    with pytest.raises(ZeroDivisionError):
        asyncio.run(session())
