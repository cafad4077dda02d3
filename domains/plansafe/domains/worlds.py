"""The worlds that safecheck knows, by name; each is loaded when it is asked for."""

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

_TOLD = 20
_ALIASES = {"bddl": "behavior", "igibson": "behavior", "omnigibson": "behavior", "spoc": "safeagentbench"}
"""What users may call a world: the domains and benchmarks that one importer reads together."""
_MODULES = {
    "behavior": "plansafe.domains.behavior",
    "despite": "plansafe.domains.despite",
    "earbench": "plansafe.domains.earbench",
    "roboguard": "plansafe.domains.roboguard",
    "safeagentbench": "plansafe.domains.safeagentbench",
    "safety-chip": "plansafe.domains.safety_chip",
    "virtualhome": "plansafe.domains.virtualhome",
}


def world_names() -> tuple[str, ...]:
    """The names of the worlds that have an importer, sorted."""
    return tuple(sorted(_MODULES))


def aliases() -> tuple[str, ...]:
    """Further names that :func:`world` takes, sorted."""
    return tuple(sorted(_ALIASES))


def world(name: str) -> Benchmark:
    """The world of that name (letters of any case), or that reads what is called so. ``KeyError`` if there is none.

    Its ``read_scene`` asks for the files that the world needs, and refuses those that it does not use. Its
    ``read_plan`` says of many mistakes of one kind only how many they are: a wrong file is wrong in every line.
    """
    plain = name.strip().lower()
    found: Benchmark = import_module(_MODULES[_ALIASES.get(plain, plain)]).WORLD
    used = {file.role for file in found.files}

    def read_scene(request: Request) -> Scene:
        lacks = [file for file in found.files if file.required and file.role not in request.files]
        if lacks:
            return no_scene(*[missing(found, file) for file in lacks])
        idle = sorted(set(request.files) - used)
        if not idle:
            return found.read_scene(request)
        flags = ", ".join([f"--{role}" for role in idle])
        message = f"the home world {found.name} does not use {flags}"
        advice = f"remove it; `safecheck worlds show {found.name}` lists the files that are read"
        return no_scene(Diagnostic(SC.BAD_OPTION, message, help=advice))

    def read_plan(text: Source, scene: Scene) -> ForeignPlan:
        read = assume_undone_states(scene, found.read_plan(text, scene), text)
        notes = _few(read.diagnostics)
        if read.plan is not None and not read.places:
            label = Label(text.name, Span(0, min(1, len(text.text))))
            notes = (*notes, Diagnostic(SC.FOREIGN_LINE, "the plan has no steps", (label,), severity=Severity.WARNING))
        return read._replace(diagnostics=notes)

    return found._replace(read_scene=read_scene, read_plan=read_plan)


def missing(needs: Benchmark, file: FileRole) -> Diagnostic:
    """Say that a world needs a file that was not given (SC603)."""
    message = f"the home world {needs.name} needs a {file.role}: {file.meaning}"
    return Diagnostic(SC.NO_PROBLEM, message, help=f"give --{file.role} FILE; for example: {needs.example}")


def _few(diagnostics: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
    """The first diagnostics of each kind, and how many more there are."""
    if len(diagnostics) <= _TOLD:
        return diagnostics
    counts: Counter[tuple[str, Severity]] = Counter()
    kept = []
    for diagnostic in diagnostics:
        kind = (diagnostic.code, diagnostic.severity)
        counts[kind] += 1
        if counts[kind] <= _TOLD:
            kept.append(diagnostic)
    more = [
        Diagnostic(code, f"{count - _TOLD} more messages like the last one are not shown", severity=severity)
        for (code, severity), count in counts.items()
        if count > _TOLD
    ]
    return (*kept, *more)
