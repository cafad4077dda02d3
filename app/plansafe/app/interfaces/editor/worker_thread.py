"""One thread that does all work: the engine is not made for two, and the loop that reads messages stays free.

Work that is cancelled while it waits is never begun; work that runs is interrupted as the time limit of a command
would do it, so that the service gives up what it had compiled, and nothing half done is used again.
"""

from __future__ import annotations

import asyncio
import ctypes
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import TypeVar

from plansafe.app.system.time_limit import OutOfTime

Done = TypeVar("Done")


class Worker:
    """Runs functions one after the other, those that editors wait for in the order they came."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, "safecheck")
        self._lock = threading.Lock()
        self._running: object | None = None
        self._thread = 0

    async def run(self, work: Callable[[], Done]) -> Done:
        """The result of some work; a task that is cancelled while it waits for it stops the work."""
        token = object()
        future = self._pool.submit(self._do, token, work)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            self._stop(token, future)
            raise

    def close(self) -> None:
        """Stop: what waits is not begun, and what runs is interrupted, so that the process can end."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            if self._running is not None:
                self._interrupt()

    def _do(self, token: object, work: Callable[[], Done]) -> Done:
        with self._lock:
            self._thread, self._running = threading.get_ident(), token
        try:
            return work()
        finally:
            self._end()

    def _end(self) -> None:
        """From here on nothing is interrupted; an interruption that has not arrived is taken back."""
        while True:
            with suppress(OutOfTime):
                with self._lock:
                    self._running = None
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._thread), None)
                return

    def _stop(self, token: object, future: Future[Done]) -> None:
        if future.cancel():
            return
        with self._lock:
            if self._running is token:
                self._interrupt()

    def _interrupt(self) -> None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._thread), ctypes.py_object(OutOfTime))
