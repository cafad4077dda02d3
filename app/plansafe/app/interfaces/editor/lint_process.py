"""Run the linter in a separate process, one at a time; cancelling a lint ends its process."""

from __future__ import annotations

import asyncio
import sys

from plansafe.app.interfaces.editor.document_text import Text
from plansafe.app.interfaces.editor.rule_lint import NO_SOLVER, LintRequest, decode_findings, encode_request
from plansafe.app.interfaces.editor.workspace import PLANS, Analysis
from plansafe.app.project.file_kinds import Kind
from plansafe.grammar.diagnostics import Diagnostic, Severity
from plansafe.grammar.source import Source

_MAX_SECONDS = 60.0
"""Seconds after which a process is killed."""
_MODULE = "plansafe.app.interfaces.editor.rule_lint"


def lintable(analysis: Analysis) -> bool:
    """Whether a file can be linted: a specification without errors, or a domain or problem with constraints."""
    checker = analysis.checker
    if analysis.kind in PLANS or checker is None or not checker.ok:
        return False
    if any([d.severity is Severity.ERROR for d in analysis.diagnostics]):
        return False
    if analysis.kind in (Kind.SAFETY, Kind.MAPPING):
        return True
    return any([rule.source == analysis.text.path for rule in checker.rules])


class Linter:
    """Run lint processes and cache their findings. ``no_solver`` disables linting after a process finds no solver."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._findings: dict[str, tuple[Source, tuple[Diagnostic, ...]]] = {}
        self.no_solver = False

    def last_findings(self, text: Text) -> tuple[Diagnostic, ...]:
        """Return the last findings for this version of a file."""
        source, findings = self._findings.get(text.uri, (None, ()))
        return findings if source is text.source else ()

    def forget(self, uri: str) -> None:
        """Remove the findings of a closed file."""
        self._findings.pop(uri, None)

    async def lint(self, text: Text, request: LintRequest) -> tuple[Diagnostic, ...]:
        """Return the findings in a file; none if the process fails or takes too long."""
        if self.no_solver:
            return ()
        async with self._lock:
            output, code = await _run_linter(encode_request(request))
        self.no_solver = code == NO_SOLVER
        findings: tuple[Diagnostic, ...] = ()
        if code == 0:
            findings = decode_findings(output)
        self._findings[text.uri] = text.source, findings
        return findings


async def _run_linter(request: bytes) -> tuple[bytes, int | None]:
    """Return the output of a lint process and its exit code, which is ``None`` if it was killed.

    ``-P`` prevents imports from the workspace folder.
    """
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-P", "-m", _MODULE, stdin=pipe, stdout=pipe, stderr=asyncio.subprocess.DEVNULL
    )
    try:
        async with asyncio.timeout(_MAX_SECONDS):
            output, _ = await process.communicate(request)
        return output, process.returncode
    except TimeoutError:
        return b"", None
    finally:
        if process.returncode is None:
            process.kill()
            await asyncio.shield(process.wait())
