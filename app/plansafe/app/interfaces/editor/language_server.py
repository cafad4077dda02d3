"""The server itself: open files, one thread that works on them, and what is said of a file once it rests."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from plansafe.app.interfaces.editor.document_text import Text
from plansafe.app.interfaces.editor.lint_process import Linter, lintable
from plansafe.app.interfaces.editor.lsp_diagnostics import shown, summary
from plansafe.app.interfaces.editor.rule_lint import Asked
from plansafe.app.interfaces.editor.symbols import Symbols
from plansafe.app.interfaces.editor.worker_thread import Worker
from plansafe.app.interfaces.editor.workspace import Judged, Workspace
from plansafe.app.system.time_limit import OutOfTime
from plansafe.verifier.extras import how_to_install

Done = TypeVar("Done")
VERDICT = "$/safecheck/verdict"
"""A notification with the verdict on a plan, for a status bar; editors may leave it unread."""
_PAUSE = 0.02
"""Seconds that typing rests before a file is judged: of several keys in a row, the last counts."""
_STILL = 1.0
"""Seconds more until rules are linted."""
_REST = 0.6
"""Seconds more until the kernel is asked about what was found: a second opinion, which costs more than the first."""


class Server(LanguageServer):
    """A language server over one workspace."""

    def __init__(self, version: str) -> None:
        super().__init__("safecheck", version, types.TextDocumentSyncKind.Incremental)
        self.files = Workspace()
        self.worker = Worker()
        self.symbols = Symbols(self.files)
        self.linter = Linter()
        self._told = False
        self._waiting: dict[str, asyncio.Task[None]] = {}

    async def ask(self, uri: str, work: Callable[[Judged], Done | None]) -> Done | None:
        """Ask something about an open file, as it is when the question's turn comes."""

        def turn() -> Done | None:
            text = self.files.texts.get(uri)
            try:
                return None if text is None else work(self.files.judged(text))
            except OutOfTime:  # cancelled half way: nothing that it was at work on is used again
                self.files.forget()
                raise

        return await self.worker.run(turn)

    def later(self, uri: str) -> None:
        """Judge a file soon; what was to be judged of it before no longer is."""
        before = self._waiting.pop(uri, None)
        if before is not None:
            before.cancel()
        self._waiting[uri] = asyncio.ensure_future(self._publish(uri))

    def everything_later(self, but: str = "") -> None:
        """Judge all open files again, since something that they depend on changed."""
        for uri in list(self.files.texts):
            if uri != but:
                self.later(uri)

    async def _publish(self, uri: str) -> None:
        await asyncio.sleep(_PAUSE)
        text = self.files.texts.get(uri)
        if text is None:
            return
        judged = await asyncio.shield(self._judged(text))
        if judged is None or self.files.texts.get(uri) is not text:
            return  # a newer version waits for its turn
        said = shown(judged.with_more(self.linter.known(text), self.files))
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, said, text.version))
        if judged.result is not None:
            self.protocol.notify(VERDICT, summary(judged))
        if self.lints and lintable(judged):
            await self._lint(judged, said)
        if not judged.confirmed:
            await asyncio.sleep(_REST)
            judged = await asyncio.shield(self._judged(text, confirm=True))
            if judged is not None and self.files.texts.get(uri) is text and shown(judged) != said:
                self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, shown(judged), text.version))

    async def _lint(self, judged: Judged, said: list[types.Diagnostic]) -> None:
        """Say what the linter finds, once a file rests."""
        text = judged.text
        await asyncio.sleep(_STILL)
        root, unsaved = self.files.root(text.path), self.files.unsaved()
        found = await self.linter.look(text, Asked(text.path, judged.kind.value, root, self.files.said, unsaved))
        if self.linter.no_solver:
            self._without_solver()
        now = shown(judged.with_more(found, self.files))
        if self.files.texts.get(text.uri) is text and now != said:
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(text.uri, now, text.version))

    def _without_solver(self) -> None:
        """Say once that rules are not linted."""
        if not self._told:
            self._told = True
            message = f"safecheck: rules are not linted, since no solver is installed: {how_to_install('solve')}"
            self.window_log_message(types.LogMessageParams(types.MessageType.Info, message))

    @property
    def lints(self) -> bool:
        """Whether the editor wants to be told what the linter finds."""
        return self.files.said.get("lint", True) is not False

    def stop(self) -> None:
        """Nothing more is asked: what waits is not begun, and what runs is ended."""
        for task in self._waiting.values():
            task.cancel()
        self.worker.close()

    async def _judged(self, text: Text, confirm: bool = False) -> Judged | None:
        def turn() -> Judged | None:
            if self.files.texts.get(text.uri) is not text:
                return None
            judged = self.files.judged(text)
            return self.files.confirmed(judged) if confirm else judged

        return await self.worker.run(turn)

    def clear(self, uri: str) -> None:
        """A file is closed: nothing is said of it."""
        self.linter.forget(uri)
        before = self._waiting.pop(uri, None)
        if before is not None:
            before.cancel()
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))
