"""The language server: schedules analyses on one worker thread and publishes diagnostics.

One worker thread: the engine is not thread-safe, and the message loop must not block.

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

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from plansafe.app.interfaces.editor.document_text import Text
from plansafe.app.interfaces.editor.lsp_diagnostics import file_diagnostics, summary
from plansafe.app.interfaces.editor.rule_lint import Linter, LintRequest, lintable
from plansafe.app.interfaces.editor.symbols import Symbols
from plansafe.app.interfaces.editor.workspace import Analysis, Workspace
from plansafe.app.system.time_limit import OutOfTime
from plansafe.verifier.extras import how_to_install

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


VERDICT = "$/safecheck/verdict"
"""A notification with the verdict on a plan, for a status bar; editors may ignore it."""
_ANALYSIS_DELAY_S = 0.02
"""Seconds without a change before a file is analysed."""
_LINT_DELAY_S = 1.0
"""Additional seconds before rules are linted."""
_CONFIRM_DELAY_S = 0.6
"""Additional seconds before the replay kernel checks the findings, which takes longer than the analysis."""


class Server(LanguageServer):
    """A language server over one workspace."""

    def __init__(self, version: str) -> None:
        super().__init__("safecheck", version, types.TextDocumentSyncKind.Incremental)
        self.files = Workspace()
        self.worker = Worker()
        self.symbols = Symbols(self.files)
        self.linter = Linter()
        self._reported_missing_solver = False
        self._waiting: dict[str, asyncio.Task[None]] = {}

    async def ask(self, uri: str, work: Callable[[Analysis], ResultT | None]) -> ResultT | None:
        """Analyse the current version of an open file on the worker thread, and run a function on the analysis."""

        def run_on_analysis() -> ResultT | None:
            text = self.files.texts.get(uri)
            try:
                return None if text is None else work(self.files.analyse(text))
            except OutOfTime:  # cancelled: cached objects may be incomplete
                self.files.invalidate()
                raise

        return await self.worker.run(run_on_analysis)

    def schedule_check(self, uri: str) -> None:
        """Schedule the analysis of a file, replacing a scheduled one."""
        scheduled = self._waiting.pop(uri, None)
        if scheduled is not None:
            scheduled.cancel()
        self._waiting[uri] = asyncio.ensure_future(self._publish(uri))

    def schedule_all_checks(self, but: str = "") -> None:
        """Schedule the analysis of all open files, except ``but``, because a file that they depend on changed."""
        for uri in list(self.files.texts):
            if uri != but:
                self.schedule_check(uri)

    async def _publish(self, uri: str) -> None:
        await asyncio.sleep(_ANALYSIS_DELAY_S)
        text = self.files.texts.get(uri)
        if text is None:
            return
        analysis = await asyncio.shield(self._analyse(text))
        if analysis is None or self.files.texts.get(uri) is not text:
            return  # a newer version is scheduled
        published = file_diagnostics(analysis.with_diagnostics(self.linter.last_findings(text), self.files))
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, published, text.version))
        if analysis.result is not None:
            self.protocol.notify(VERDICT, summary(analysis))
        if self.lint_enabled and lintable(analysis):
            await self._lint(analysis, published)
        if not analysis.confirmed:
            await asyncio.sleep(_CONFIRM_DELAY_S)
            analysis = await asyncio.shield(self._analyse(text, confirm=True))
            if analysis is not None and self.files.texts.get(uri) is text and file_diagnostics(analysis) != published:
                self.text_document_publish_diagnostics(
                    types.PublishDiagnosticsParams(uri, file_diagnostics(analysis), text.version)
                )

    async def _lint(self, analysis: Analysis, published: list[types.Diagnostic]) -> None:
        """Lint a file that has not changed for a while, and publish the findings."""
        text = analysis.text
        await asyncio.sleep(_LINT_DELAY_S)
        root, unsaved = self.files.root(text.path), self.files.unsaved()
        lint_findings = await self.linter.lint(
            text, LintRequest(text.path, analysis.kind.value, root, self.files.editor_settings, unsaved)
        )
        if self.linter.no_solver:
            self._report_missing_solver()
        diagnostics = file_diagnostics(analysis.with_diagnostics(lint_findings, self.files))
        if self.files.texts.get(text.uri) is text and diagnostics != published:
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(text.uri, diagnostics, text.version))

    def _report_missing_solver(self) -> None:
        """Log once that rules are not linted."""
        if not self._reported_missing_solver:
            self._reported_missing_solver = True
            message = f"safecheck: rules are not linted because no solver is installed: {how_to_install('solve')}"
            self.window_log_message(types.LogMessageParams(types.MessageType.Info, message))

    @property
    def lint_enabled(self) -> bool:
        """Whether the editor settings enable linting."""
        return self.files.editor_settings.get("lint", True) is not False

    def stop(self) -> None:
        """Cancel the scheduled analyses and stop the worker thread."""
        for task in self._waiting.values():
            task.cancel()
        self.worker.close()

    async def _analyse(self, text: Text, confirm: bool = False) -> Analysis | None:
        def analyse_current() -> Analysis | None:
            if self.files.texts.get(text.uri) is not text:
                return None
            analysis = self.files.analyse(text)
            return self.files.confirm(analysis) if confirm else analysis

        return await self.worker.run(analyse_current)

    def clear(self, uri: str) -> None:
        """Remove the diagnostics of a closed file."""
        self.linter.forget(uri)
        scheduled = self._waiting.pop(uri, None)
        if scheduled is not None:
            scheduled.cancel()
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))
