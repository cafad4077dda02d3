"""The home worlds by name; each module is imported when it is first needed."""

from __future__ import annotations

from collections import Counter
from importlib import import_module
from typing import TYPE_CHECKING

from plansafe.domains.assumed_states import assume_undone_states
from plansafe.domains.world import ForeignPlan, Request, Scene, no_scene
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity, Span

if TYPE_CHECKING:
    from plansafe.domains.world import Benchmark, FileRole
    from plansafe.grammar.source import Source

_MAX_DIAGNOSTICS_OF_A_KIND = 20
_ALIASES = {"bddl": "behavior", "igibson": "behavior", "omnigibson": "behavior", "spoc": "safeagentbench"}
"""Further names of worlds: domains and benchmarks that an importer reads under another name."""
_MODULES = {
    "alfred": "plansafe.domains.alfred",
    "behavior": "plansafe.domains.behavior",
    "despite": "plansafe.domains.despite",
    "earbench": "plansafe.domains.earbench",
    "roboguard": "plansafe.domains.roboguard",
    "safeagentbench": "plansafe.domains.safeagentbench",
    "safety-chip": "plansafe.domains.safety_chip",
    "virtualhome": "plansafe.domains.virtualhome",
}


def world_names() -> tuple[str, ...]:
    """The names of the home worlds, sorted."""
    return tuple(sorted(_MODULES))


def aliases() -> tuple[str, ...]:
    """Further names that :func:`world` accepts, sorted."""
    return tuple(sorted(_ALIASES))


def world(name: str) -> Benchmark:
    """Import the world with a name or alias (in any case). Raises ``KeyError`` for other names.

    Its ``read_scene`` reports missing files, and files that the world does not use. Its ``read_plan`` assumes unstated
    states that the plan undoes, and reports at most 20 diagnostics of a kind: a wrong file is wrong in every line.
    """
    lower_name = name.strip().lower()
    importer: Benchmark = import_module(_MODULES[_ALIASES.get(lower_name, lower_name)]).WORLD
    roles = {file.role for file in importer.files}

    def read_scene(request: Request) -> Scene:
        missing_files = [file for file in importer.files if file.required and file.role not in request.files]
        if missing_files:
            return no_scene(*[missing(importer, file) for file in missing_files])
        unused = sorted(set(request.files) - roles)
        if not unused:
            return importer.read_scene(request)
        flags = ", ".join([f"--{role}" for role in unused])
        message = f"the home world {importer.name} does not use {flags}"
        advice = f"remove it; `safecheck worlds show {importer.name}` lists the files that are read"
        return no_scene(Diagnostic(SC.BAD_OPTION, message, help=advice))

    def read_plan(text: Source, scene: Scene) -> ForeignPlan:
        plan = assume_undone_states(scene, importer.read_plan(text, scene), text)
        notes = _limit_diagnostics(plan.diagnostics)
        if plan.plan is not None and not plan.places:
            label = Label(text.name, Span(0, min(1, len(text.text))))
            notes = (*notes, Diagnostic(SC.FOREIGN_LINE, "the plan has no steps", (label,), severity=Severity.WARNING))
        return plan._replace(diagnostics=notes)

    return importer._replace(read_scene=read_scene, read_plan=read_plan)


def missing(importer: Benchmark, file: FileRole) -> Diagnostic:
    """Report that a world needs a file that was not given (SC603)."""
    message = f"the home world {importer.name} needs a {file.role}: {file.meaning}"
    return Diagnostic(SC.NO_PROBLEM, message, help=f"give --{file.role} FILE; for example: {importer.example}")


def _limit_diagnostics(diagnostics: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
    """The first 20 diagnostics of each code and severity, and the number of the rest."""
    limit = _MAX_DIAGNOSTICS_OF_A_KIND
    if len(diagnostics) <= limit:
        return diagnostics
    counts: Counter[tuple[str, Severity]] = Counter()
    listed = []
    for diagnostic in diagnostics:
        kind = (diagnostic.code, diagnostic.severity)
        counts[kind] += 1
        if counts[kind] <= limit:
            listed.append(diagnostic)
    omitted = [
        Diagnostic(code, f"{count - limit} more messages like the last one are not shown", severity=severity)
        for (code, severity), count in counts.items()
        if count > limit
    ]
    return (*listed, *omitted)
