"""What `safecheck lint` says of one file that is being written: the work of a process of its own.

Run as a module: it reads one question in JSON from standard input and writes the findings in JSON. A process can be
ended at the next key, its memory is its own, and the server goes on answering meanwhile.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from typing import Any, NamedTuple

from plansafe.grammar.diagnostics import Diagnostic, Label, Severity, Span

SECONDS = 10.0
"""For the formulas, and again for each problem."""
MOST_PROBLEMS = 8
"""Of a project file with more problems, what holds for any problem is said, and nothing more."""
_MEMORY = 2048
NO_SOLVER = 3
"""The exit code where no solver is installed."""


class Asked(NamedTuple):
    """A file (path and kind), its workspace folder, the editor's settings, open texts."""

    path: str
    kind: str
    root: str
    said: Mapping[str, Any]
    unsaved: Mapping[str, str]


def written(asked: Asked) -> bytes:
    """A question as it goes to the process."""
    return json.dumps(asked._asdict()).encode("ascii")


def read(answer: bytes) -> tuple[Diagnostic, ...]:
    """An answer of the process. Raises ``ValueError`` if it is none."""
    return tuple([_diagnostic(said) for said in json.loads(answer)])


def found(asked: Asked) -> tuple[Diagnostic, ...]:
    """The findings that blame the file; of files that cannot be linted, none: what is wrong there is said elsewhere.

    Raises ``SolverMissing``.
    """
    from plansafe.app.session.lint_inputs import gather  # noqa: PLC0415 - of the process alone, not of the server
    from plansafe.grammar.codes import SC  # noqa: PLC0415
    from plansafe.specs.lint.api import lint  # noqa: PLC0415
    from plansafe.specs.lint.model import LintOptions  # noqa: PLC0415

    gathered = gather(_wanted(asked), asked.unsaved)
    if gathered.failed or gathered.domain is None:
        return ()
    options = LintOptions(time_limit_s=SECONDS, search=False)
    specs = [spec.source for spec in gathered.specs]
    result = lint(gathered.domain.source, gathered.problems, specs, options, gathered.resolve)
    real = os.path.realpath(asked.path)
    return tuple(
        [
            fault.diagnostic
            for fault in result.faults
            if fault.code != SC.UNDECIDED_QUESTION and fault.labels and os.path.realpath(fault.labels[0].source) == real
        ]
    )


def _wanted(asked: Asked) -> Any:
    """What the command would be asked for: the file, with what the project file or the editor names."""
    from plansafe.app.interfaces.editor.settings import configured  # noqa: PLC0415 - of the process alone
    from plansafe.app.session.lint_inputs import Wanted  # noqa: PLC0415

    if asked.kind == "domain":
        return Wanted(domain=asked.path)
    if asked.kind == "problem":
        return Wanted(domain=asked.said.get("domain") or None, problems=(asked.path,))
    settings = configured(asked.root, asked.said).settings
    project = settings.project
    if asked.said.get("domain") or asked.said.get("world"):  # either sets the project file aside, as the flags do
        project = None
    if project is not None and len(project.matching(project.problem)) > MOST_PROBLEMS:
        project = project._replace(problem=None)
    if project is not None and len(project.matching(project.scene)) > MOST_PROBLEMS:
        project = project._replace(scene=None)
    if project is not None:
        return Wanted(specs=(asked.path,), project=project)
    scene, problem, world = settings.scene, settings.problem, settings.world
    return Wanted(
        specs=(asked.path,),
        domain=settings.domain,
        problems=() if problem is None else (problem,),
        world=world,
        scenes=() if world is None or scene is None else (scene,),
    )


def _object(diagnostic: Diagnostic) -> dict[str, Any]:
    return {**diagnostic._asdict(), "severity": diagnostic.severity.value}


def _diagnostic(said: dict[str, Any]) -> Diagnostic:
    labels = tuple([Label(source, Span(*span), *rest) for source, span, *rest in said["labels"]])
    severity = Severity(said["severity"])
    return Diagnostic(said["code"], said["message"], labels, tuple(said["notes"]), said["help"], severity)


def main() -> int:
    """Answer one question."""
    from plansafe.app.system.process import limit_memory  # noqa: PLC0415 - of the process alone
    from plansafe.verifier.symbolic.refusals import missing_solver  # noqa: PLC0415

    os.nice(10)
    limit_memory(_MEMORY)
    asked = Asked(**json.load(sys.stdin))
    os.chdir(asked.root)
    output, sys.stdout = sys.stdout, sys.stderr  # nothing else gets into the answer
    try:
        faults = found(asked)
    except ModuleNotFoundError as error:
        if missing_solver(error) is None:
            raise
        return NO_SOLVER
    output.write(json.dumps([_object(fault) for fault in faults]))
    output.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
