"""What a world is to safecheck: scenes and plans in its own files become PDDL, and steps find their way back.

An importer makes text, not models: what it made can be printed, saved, read by any other tool, and replayed by the
kernel like any task. Places go the other way, so that a report shows the lines that the user wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Severity, Span
from plansafe.grammar.source import Source

SCENE = "scene"
GOAL = "goal"


class FileRole(NamedTuple):
    """A file that a world needs beside the plan.

    ``role`` is ``scene`` (``--scene``) or ``goal`` (``--goal``); ``meaning`` says in a few words what is in it.
    """

    role: str
    meaning: str
    required: bool = False


class Scene(NamedTuple):
    """A task made from the files of a world.

    ``domain`` and ``problem`` are PDDL; ``domain`` is the shipped one unless the scene itself defines another.
    ``specs`` are specifications that the files themselves contain (constraints of a benchmark). ``notes`` say what was
    assumed or left out; an error among them means that there is no task, and then the texts are not used.
    ``data`` is what the world's own reader of plans needs; no other code reads it. ``unstated`` has, by one-place
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
        """Whether there is a task."""
        return all(note.severity is not Severity.ERROR for note in self.notes)


class ForeignPlan(NamedTuple):
    """A plan in PDDL, made from a plan in a world's own format.

    ``plan`` has one step on each line, and is ``None`` if ``diagnostics`` hold an error; ``places`` say for each step
    which part of the original text it stands for. A step with an unknown action or object is kept as it is, as a PDDL
    step: the checker says what is wrong with it, at its place. ``assumed`` are facts that the scene does not state and
    that the plan needs at the start.
    """

    plan: Source | None
    places: tuple[Span, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    assumed: tuple[str, ...] = ()


class Request(NamedTuple):
    """What a scene is made from: the files by role, and the one task that is meant where they hold several."""

    files: Mapping[str, Source]
    task: str | None = None


class Benchmark(NamedTuple):
    """A world: its files and formats, and the functions that read them.

    ``domain`` names the shipped domain, if there is one. ``read_plan`` takes the scene that ``read_scene`` made.
    ``write_step`` gives the tokens of a PDDL step in the world's own form. ``example`` is a command line for the
    documentation. No function raises for what is in a file: that is a diagnostic. ``purposes`` are the actions that
    plans of this world are written for: a repair of a plan without a goal keeps their steps.

    ``word_places`` says where the words of a PDDL step stand in the step as it is written (``None``: nowhere), and
    ``object_place`` where a scene's file says that an object is there; ``named_places`` has what both are without it.
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
    """The mistake (SC014) of naming a task where files hold but one; ``names`` are what that one is called."""
    if request.task is None or request.task.strip().lower() in [name.lower() for name in names]:
        return ()
    why = f"the only task is called `{names[0]}`" if names else "no file with several tasks was given"
    advice = "remove --task, or give the file that contains the task"
    return (Diagnostic(SC.AMBIGUOUS_TASK, f"there is no task `{request.task}`: {why}", help=advice),)


def no_scene(*diagnostics: Diagnostic) -> Scene:
    """Build the scene of files that cannot be used; ``diagnostics`` say why."""
    nothing = Source("", "")
    return Scene(nothing, nothing, notes=diagnostics)
