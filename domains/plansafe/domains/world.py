"""The interface of a home world: its scenes and plans become PDDL, and PDDL steps are written in its format.

An importer returns text, not models: its output can be printed, saved, read by any other tool, and replayed by the
kernel like any task. It also returns the places of the steps, so that a report shows the lines that the user wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Severity, Span
from plansafe.grammar.named_tuple import NamedTuple
from plansafe.grammar.source import Source

SCENE = "scene"
GOAL = "goal"


class FileRole(NamedTuple):
    """A file that a world reads in addition to the plan.

    ``role`` is ``scene`` (``--scene``) or ``goal`` (``--goal``); ``meaning`` describes the contents in a few words.
    """

    role: str
    meaning: str
    required: bool = False


class Scene(NamedTuple):
    """A task made from the files of a world.

    ``domain`` and ``problem`` are PDDL; ``domain`` is the shipped domain unless the scene itself defines another.
    ``specs`` are specifications that the files themselves contain (constraints of a benchmark). ``notes`` report
    assumptions and omissions; if one is an error, the texts are empty and not used.
    ``data`` is for the world's own plan reader; no other code reads it. ``unstated`` has, by one-place
    predicate, the objects whose value the files do not state: false in ``problem``, and assumed to be true for a plan
    that undoes it (:mod:`plansafe.domains.assumed_states`).
    """

    domain: Source
    problem: Source
    specs: tuple[Source, ...] = ()
    notes: tuple[Diagnostic, ...] = ()
    data: Any = None
    unstated: Mapping[str, frozenset[str]] = MappingProxyType({})

    @property
    def ok(self) -> bool:
        """Whether the files could be read as a task."""
        return all(note.severity is not Severity.ERROR for note in self.notes)


class ForeignPlan(NamedTuple):
    """A plan in PDDL, made from a plan in a world's own format.

    ``plan`` has one step on each line, and is ``None`` if ``diagnostics`` contain an error. ``places`` are the parts of
    the original text that the steps were read from. A step with an unknown action or object stays in the plan, and the
    checker reports it at its place. ``title`` and ``description`` are the author's words about the plan, if the format
    has them. ``assumed`` are unstated facts that the plan needs at the start.
    """

    plan: Source | None
    places: tuple[Span, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    title: str = ""
    description: str = ""
    assumed: tuple[str, ...] = ()


class Request(NamedTuple):
    """The input of ``read_scene``: the files by role, and the name of one task if a file has several."""

    files: Mapping[str, Source]
    task: str | None = None


class Benchmark(NamedTuple):
    """A world: its files and formats, and the functions that read them.

    ``domain`` names the shipped domain, if there is one. ``read_plan`` takes the scene that ``read_scene`` returned.
    ``write_step`` writes the tokens of a PDDL step in the world's format. ``example`` is a command line for the
    documentation. Errors in files are diagnostics; no function raises for them. ``purposes`` are the actions that
    plans of this world are written for: a repair of a plan without a goal keeps their steps.

    ``word_places`` locates the words of a PDDL step in the step as written (``None``: not written), and
    ``object_place`` the entry of an object in the scene file. The defaults are in :mod:`plansafe.domains.text_places`.
    """

    name: str
    title: str
    domain: str | None
    files: tuple[FileRole, ...]
    plans: tuple[str, ...]
    example: str
    read_scene: Callable[[Request], Scene]
    read_plan: Callable[[Source, Scene], ForeignPlan]
    write_step: Callable[[tuple[str, ...], Scene], str]
    purposes: frozenset[str] = frozenset()
    word_places: Callable[[Source, Span, tuple[str, ...]], tuple[Span | None, ...]] | None = None
    object_place: Callable[[Source, Scene, str], Span | None] | None = None


def wrong_task(request: Request, *names: str) -> tuple[Diagnostic, ...]:
    """Report a ``--task`` that is not one of ``names``, the names of the only task of the files (SC014)."""
    if request.task is None or request.task.strip().lower() in [name.lower() for name in names]:
        return ()
    reason = f"the only task is called `{names[0]}`" if names else "no file with several tasks was given"
    advice = "remove --task, or give the file that contains the task"
    return (Diagnostic(SC.AMBIGUOUS_TASK, f"there is no task `{request.task}`: {reason}", help=advice),)


def no_scene(*diagnostics: Diagnostic) -> Scene:
    """Build the scene of files that cannot be used; ``diagnostics`` give the reasons."""
    nothing = Source("", "")
    return Scene(nothing, nothing, notes=diagnostics)
