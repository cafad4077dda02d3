"""One worker thread: the engine is not thread-safe, and the message loop must not block.

Work that is cancelled while it waits never starts. Running work is interrupted with the exception of a time limit, so
that the session discards its compiled objects and incomplete results are not used again.
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

ResultT = TypeVar("ResultT")


class Worker:
    """Run functions one after the other, in the order of submission."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(1, "safecheck")
        self._lock = threading.Lock()
        self._running: object | None = None
        self._thread = 0

    async def run(self, work: Callable[[], ResultT]) -> ResultT:
        """Run a function and return its result; cancelling the awaiting task interrupts the function."""
        token = object()
        future = self._pool.submit(self._execute, token, work)
        try:
            return await asyncio.wrap_future(future)
        except asyncio.CancelledError:
            self._stop(token, future)
            raise

    def close(self) -> None:
        """Cancel waiting work and interrupt running work, so that the process can end."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        with self._lock:
            if self._running is not None:
                self._interrupt()

    def _execute(self, token: object, work: Callable[[], ResultT]) -> ResultT:
        with self._lock:
            self._thread, self._running = threading.get_ident(), token
        try:
            return work()
        finally:
            self._end()

    def _end(self) -> None:
        """Mark the work as ended, and cancel an interruption that has not arrived."""
        while True:
            with suppress(OutOfTime):
                with self._lock:
                    self._running = None
                    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._thread), None)
                return

    def _stop(self, token: object, future: Future[ResultT]) -> None:
        if future.cancel():
            return
        with self._lock:
            if self._running is token:
                self._interrupt()

    def _interrupt(self) -> None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._thread), ctypes.py_object(OutOfTime))
