"""Start, use and end worker processes in the server, and the pool of workers for requests."""

from __future__ import annotations

import asyncio
import multiprocessing
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING

from plansafe.app.interfaces.agents import worker_messages
from plansafe.app.interfaces.agents.worker_messages import Limits, Reply, refusal
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

Target = Callable[[socket.socket, Limits], None]
GRACE = 2.0
"""Seconds after the time limit in which a worker can report it, before the server kills the process."""
_PRELOAD = "plansafe.app.interfaces.agents.preload"


class Starter:
    """Start processes one after the other, forked from a process that has loaded the engine and has no threads."""

    def __init__(self) -> None:
        try:
            context: multiprocessing.context.BaseContext = multiprocessing.get_context("forkserver")
            context.set_forkserver_preload([_PRELOAD])
        except ValueError:  # not available on every system
            context = multiprocessing.get_context("spawn")
        self._context = context
        self._threads = ThreadPoolExecutor(1, "starting")

    async def start(self, target: Target, limits: Limits) -> Worker:
        """Start a worker that waits for requests. Raises ``OSError`` if the process cannot be started."""
        ours, theirs = socket.socketpair()
        process = self._context.Process(target=target, args=(theirs, limits), daemon=True)  # type: ignore[attr-defined] # every context has it
        try:
            await asyncio.get_running_loop().run_in_executor(self._threads, process.start)
            reader, writer = await asyncio.open_connection(sock=ours)
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        return Worker(process, reader, writer)

    def close(self) -> None:
        """Start no more processes."""
        self._threads.shutdown(wait=False, cancel_futures=True)


class Worker:
    """One worker process."""

    def __init__(self, process: BaseProcess, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._process = process
        self._reader = reader
        self._writer = writer
        self.ended = False

    async def ask(self, name: str, body: bytes, seconds: float) -> Reply:
        """Send a request and wait for the reply; a timeout or a cancellation ends the process."""
        try:
            async with asyncio.timeout(seconds):
                reply = await worker_messages.ask(self._reader, self._writer, name, body)
        except TimeoutError:
            await self.end()
            message = f"the time limit of {seconds - GRACE:g} s has passed"
            return refusal([Diagnostic(SC.OUT_OF_TIME, message, help="send a smaller request")], status=504)
        except (EOFError, OSError):
            await self.end()
            died = Diagnostic(
                SC.SERVICE_LIMIT,
                "the worker process of this request ended",
                help="use a request that needs less memory",
            )
            return refusal([died], status=500)
        except BaseException:
            await asyncio.shield(self.end())
            raise
        if reply.last:
            await self.end()
        return reply

    async def end(self) -> None:
        """Kill the process."""
        if self.ended:
            return
        self.ended = True
        self._writer.close()
        with suppress(OSError, ValueError):
            self._process.kill()
        await asyncio.get_running_loop().run_in_executor(None, self._process.join, 5)


class Pool:
    """A bounded number of workers that run ``target``, with a bounded queue of requests."""

    def __init__(self, starter: Starter, target: Target, limits: Limits, workers: int, max_waiting: int) -> None:
        self._starter = starter
        self._target = target
        self._limits = limits
        self._idle: asyncio.LifoQueue[Worker | None] = asyncio.LifoQueue()
        for _ in range(workers):
            self._idle.put_nowait(None)
        self._max_waiting = max_waiting
        self.workers = workers
        self.waiting = 0
        self._closed = False

    @property
    def busy(self) -> int:
        """The number of workers that run a request or start."""
        return self.workers - self._idle.qsize()

    async def warm(self) -> None:
        """Start the workers before the first request."""
        waiting = []
        while not self._idle.empty():
            waiting.append(self._idle.get_nowait())
        for worker in waiting:
            try:
                ready = worker or await self._starter.start(self._target, self._limits)
            except OSError:  # the next request reports the error
                ready = None
            self._idle.put_nowait(ready)

    async def ask(self, name: str, body: bytes) -> Reply:
        """Run a request on an idle worker. Every request gets one reply."""
        if self.waiting >= self._max_waiting:
            message = f"{self._max_waiting} requests are already waiting"
            return refusal([Diagnostic(SC.SERVICE_LIMIT, message, help="ask again later")])
        self.waiting += 1
        try:
            worker = await self._idle.get()
        finally:
            self.waiting -= 1
        try:
            if worker is None or worker.ended:
                worker = None
                worker = await self._starter.start(self._target, self._limits)
            return await worker.ask(name, body, self._limits.seconds + GRACE)
        except OSError as error:
            return refusal([Diagnostic(SC.SERVICE_LIMIT, f"the service cannot start a process: {error.strerror}")])
        finally:
            if self._closed and worker is not None:
                await worker.end()
            self._idle.put_nowait(None if worker is None or worker.ended else worker)

    async def close(self) -> None:
        """End the idle workers; busy workers end after their request."""
        self._closed = True
        while not self._idle.empty():
            worker = self._idle.get_nowait()
            if worker is not None:
                await worker.end()
