"""Asking the linter about files that rest: one process at a time, ended when its answer is no longer wanted."""

from __future__ import annotations

import asyncio
import sys

from plansafe.app.interfaces.editor.document_text import Text
from plansafe.app.interfaces.editor.rule_lint import NO_SOLVER, Asked, read, written
from plansafe.app.interfaces.editor.workspace import PLANS, Judged
from plansafe.app.project.file_kinds import Kind
from plansafe.grammar.diagnostics import Diagnostic, Severity
from plansafe.grammar.source import Source

_MOST = 60.0
"""Seconds after which a process is ended, whatever it does."""
_MODULE = "plansafe.app.interfaces.editor.rule_lint"


def lintable(judged: Judged) -> bool:
    """Whether there is something to lint: a specification in order, or constraints in a domain or problem."""
    checker = judged.checker
    if judged.kind in PLANS or checker is None or not checker.ok:
        return False
    if any([d.severity is Severity.ERROR for d in judged.diagnostics]):
        return False
    if judged.kind in (Kind.SAFETY, Kind.MAPPING):
        return True
    return any([rule.source == judged.text.path for rule in checker.rules])


class Linter:
    """The linter as the server sees it. ``no_solver`` is set once a process finds none: then none is started again."""

    def __init__(self) -> None:
        self._turn = asyncio.Lock()
        self._kept: dict[str, tuple[Source, tuple[Diagnostic, ...]]] = {}
        self.no_solver = False

    def known(self, text: Text) -> tuple[Diagnostic, ...]:
        """What was last said of this very text."""
        source, said = self._kept.get(text.uri, (None, ()))
        return said if source is text.source else ()

    def forget(self, uri: str) -> None:
        """A file is closed."""
        self._kept.pop(uri, None)

    async def look(self, text: Text, asked: Asked) -> tuple[Diagnostic, ...]:
        """The findings in a file; none where the process fails, or takes too long."""
        if self.no_solver:
            return ()
        async with self._turn:
            answer, code = await _answered(written(asked))
        self.no_solver = code == NO_SOLVER
        said: tuple[Diagnostic, ...] = ()
        if code == 0:
            said = read(answer)
        self._kept[text.uri] = text.source, said
        return said


async def _answered(question: bytes) -> tuple[bytes, int | None]:
    """The output of a process and its exit code, ``None`` if it was ended.

    The folder of the workspace is no place to import from: ``-P``.
    """
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-P", "-m", _MODULE, stdin=pipe, stdout=pipe, stderr=asyncio.subprocess.DEVNULL
    )
    try:
        async with asyncio.timeout(_MOST):
            output, _ = await process.communicate(question)
        return output, process.returncode
    except TimeoutError:
        return b"", None
    finally:
        if process.returncode is None:
            process.kill()
            await asyncio.shield(process.wait())
