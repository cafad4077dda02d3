"""Worker processes as the server sees them: started, asked, ended at a limit, replaced; and the pool that judges."""

from __future__ import annotations

import asyncio
import multiprocessing
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING

from plansafe.app.interfaces.agents import worker_messages
from plansafe.app.interfaces.agents.limits import Limits
from plansafe.app.interfaces.agents.worker import judge
from plansafe.app.interfaces.agents.worker_messages import Reply, refusal
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

Target = Callable[[socket.socket, Limits], None]
GRACE = 2.0
"""Seconds that a worker has beyond the limit to say so itself, before it is ended."""
_PRELOAD = "plansafe.app.interfaces.agents.preload"


class Starter:
    """Starts processes one after the other, forked from one that has loaded the engine and runs no threads."""

    def __init__(self) -> None:
        try:
            context: multiprocessing.context.BaseContext = multiprocessing.get_context("forkserver")
            context.set_forkserver_preload([_PRELOAD])
        except ValueError:  # not on every system
            context = multiprocessing.get_context("spawn")
        self._context = context
        self._threads = ThreadPoolExecutor(1, "starting")

    async def start(self, target: Target, limits: Limits) -> Worker:
        """A worker that waits for requests. Raises ``OSError`` where no process can be started."""
        ours, theirs = socket.socketpair()
        process = self._context.Process(target=target, args=(theirs, limits), daemon=True)  # type: ignore[attr-defined] # of every context
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
        """Start nothing more."""
        self._threads.shutdown(wait=False, cancel_futures=True)


class Worker:
    """One process."""

    def __init__(self, process: BaseProcess, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._process = process
        self._reader = reader
        self._writer = writer
        self.ended = False

    async def ask(self, name: str, body: bytes, seconds: float) -> Reply:
        """Ask, and wait for the answer; at the limit, or where the asking is given up, the process is ended."""
        try:
            async with asyncio.timeout(seconds):
                reply = await worker_messages.ask(self._reader, self._writer, name, body)
        except TimeoutError:
            await self.end()
            message = f"the time limit of {seconds - GRACE:g} s has passed"
            return refusal([Diagnostic(SC.OUT_OF_TIME, message, help="ask for less")], status=504)
        except (EOFError, OSError):
            await self.end()
            died = Diagnostic(SC.SERVICE_LIMIT, "the process that worked on it ended", help="it may need less memory")
            return refusal([died], status=500)
        except BaseException:
            await asyncio.shield(self.end())
            raise
        if reply.last:
            await self.end()
        return reply

    async def end(self) -> None:
        """End the process, whatever it does."""
        if self.ended:
            return
        self.ended = True
        self._writer.close()
        with suppress(OSError, ValueError):
            self._process.kill()
        await asyncio.get_running_loop().run_in_executor(None, self._process.join, 5)


class Pool:
    """A bounded number of workers that judge, and of requests that wait for one."""

    def __init__(self, starter: Starter, limits: Limits, workers: int, waiting: int) -> None:
        self._starter = starter
        self._limits = limits
        self._idle: asyncio.LifoQueue[Worker | None] = asyncio.LifoQueue()
        for _ in range(workers):
            self._idle.put_nowait(None)
        self._most = waiting
        self._waiting = 0
        self._closed = False

    async def warm(self) -> None:
        """Start the workers before they are needed."""
        waiting = []
        while not self._idle.empty():
            waiting.append(self._idle.get_nowait())
        for worker in waiting:
            try:
                ready = worker or await self._starter.start(judge, self._limits)
            except OSError:  # whoever asks is told
                ready = None
            self._idle.put_nowait(ready)

    async def ask(self, name: str, body: bytes) -> Reply:
        """Have a request worked on. Every request has one answer."""
        if self._waiting >= self._most:
            message = f"{self._most} requests wait already"
            return refusal([Diagnostic(SC.SERVICE_LIMIT, message, help="ask again later")])
        self._waiting += 1
        try:
            worker = await self._idle.get()
        finally:
            self._waiting -= 1
        try:
            if worker is None or worker.ended:
                worker = None
                worker = await self._starter.start(judge, self._limits)
            return await worker.ask(name, body, self._limits.seconds + GRACE)
        except OSError as error:
            return refusal([Diagnostic(SC.SERVICE_LIMIT, f"no process can be started: {error.strerror}")])
        finally:
            if self._closed and worker is not None:
                await worker.end()
            self._idle.put_nowait(None if worker is None or worker.ended else worker)

    async def close(self) -> None:
        """End the workers that wait; those at work are ended when they are done."""
        self._closed = True
        while not self._idle.empty():
            worker = self._idle.get_nowait()
            if worker is not None:
                await worker.end()
