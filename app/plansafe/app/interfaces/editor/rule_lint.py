"""Lint one open file in a separate process.

Run as a module, it reads one request as JSON from standard input and writes the findings as JSON. The server can end
the process at the next key press, limits its memory, and keeps answering other requests.

Run the linter in a separate process, one at a time; cancelling a lint ends its process.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from typing import Any, NamedTuple

from plansafe.app.interfaces.editor.document_text import Text
from plansafe.app.interfaces.editor.workspace import PLANS, Analysis
from plansafe.app.project.file_kinds import Kind
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity, Span
from plansafe.grammar.source import Source

SECONDS = 10.0
"""Time limit for the formulas, and again for each problem."""
MOST_PROBLEMS = 8
"""With more problems in the project file, only findings that hold for every problem are reported."""
_MEMORY = 2048
NO_SOLVER = 3
"""The exit code where no solver is installed."""


class LintRequest(NamedTuple):
    """A file (path and kind), its workspace folder, the editor settings and the unsaved texts."""

    path: str
    kind: str
    root: str
    editor_settings: Mapping[str, Any]
    unsaved: Mapping[str, str]


def encode_request(request: LintRequest) -> bytes:
    """Encode a request for the process."""
    return json.dumps(request._asdict()).encode("ascii")


def decode_findings(answer: bytes) -> tuple[Diagnostic, ...]:
    """Decode the output of the process. Raises ``ValueError`` if it is malformed."""
    return tuple([_diagnostic(fields) for fields in json.loads(answer)])


def lint_file(request: LintRequest) -> tuple[Diagnostic, ...]:
    """Return the lint findings in a file; none for a file with errors, which the analysis reports.

    Raises ``SolverMissing``.
    """
    from plansafe.app.session.lint_inputs import read_lint_inputs  # noqa: PLC0415 - only loaded in the lint process
    from plansafe.grammar.codes import SC  # noqa: PLC0415
    from plansafe.specs.lint.api import lint  # noqa: PLC0415
    from plansafe.specs.lint.model import LintOptions  # noqa: PLC0415

    gathered = read_lint_inputs(_lint_inputs(request), request.unsaved)
    if gathered.failed or gathered.domain is None:
        return ()
    options = LintOptions(time_limit_s=SECONDS, search=False)
    specs = gathered.with_kinds([spec.source for spec in gathered.specs])
    result = lint(gathered.domain.source, gathered.problems, specs, options, gathered.resolve)
    real = os.path.realpath(request.path)
    return tuple(
        [
            fault.diagnostic
            for fault in result.findings
            if fault.code != SC.UNDECIDED_QUESTION and fault.labels and os.path.realpath(fault.labels[0].source) == real
        ]
    )


def _lint_inputs(request: LintRequest) -> Any:
    """Return the inputs of the lint command: the file, and the inputs from the project file or the editor."""
    from plansafe.app.interfaces.editor.workspace import effective_settings  # noqa: PLC0415 - only in the lint process
    from plansafe.app.session.lint_inputs import LintSelection  # noqa: PLC0415

    if request.kind == "domain":
        return LintSelection(domain=request.path)
    if request.kind == "problem":
        return LintSelection(domain=request.editor_settings.get("domain") or None, problems=(request.path,))
    settings = effective_settings(request.root, request.editor_settings).settings
    project = settings.project
    if request.editor_settings.get("domain") or request.editor_settings.get(
        "world"
    ):  # either replaces the project file, as the options do
        project = None
    if project is not None and len(project.matching(project.problem)) > MOST_PROBLEMS:
        project = project._replace(problem=None)
    if project is not None and len(project.matching(project.scene)) > MOST_PROBLEMS:
        project = project._replace(scene=None)
    if project is not None:
        return LintSelection(specs=(request.path,), project=project)
    scene, problem, world = settings.scene, settings.problem, settings.world
    return LintSelection(
        specs=(request.path,),
        domain=settings.domain,
        problems=() if problem is None else (problem,),
        world=world,
        scenes=() if world is None or scene is None else (scene,),
    )


def _object(diagnostic: Diagnostic) -> dict[str, Any]:
    return {**diagnostic._asdict(), "severity": diagnostic.severity.value}


def _diagnostic(fields: dict[str, Any]) -> Diagnostic:
    labels = tuple([Label(source, Span(*span), *flags) for source, span, *flags in fields["labels"]])
    severity = Severity(fields["severity"])
    return Diagnostic(fields["code"], fields["message"], labels, tuple(fields["notes"]), fields["help"], severity)


def main() -> int:
    """Answer one request."""
    from plansafe.app.system.process import limit_memory  # noqa: PLC0415 - only loaded in the lint process
    from plansafe.verifier.symbolic.audit import explain_missing_solver  # noqa: PLC0415

    os.nice(10)
    limit_memory(_MEMORY)
    request = LintRequest(**json.load(sys.stdin))
    os.chdir(request.root)
    output, sys.stdout = sys.stdout, sys.stderr  # only the findings go to standard output
    try:
        faults = lint_file(request)
    except ModuleNotFoundError as error:
        if explain_missing_solver(error) is None:
            raise
        return NO_SOLVER
    output.write(json.dumps([_object(fault) for fault in faults]))
    output.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())


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
