"""``--world``: plans and scenes in the formats of simulators and benchmarks, made into what every other plan is.

The importers (``plansafe.domains``) turn texts into PDDL and keep the places; here are the files that they are given,
the specifications that apply, and the way back: a repaired plan is written as its author would have written it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from plansafe.app.project.inputs import Finder, Input
from plansafe.app.project.project_file import STEM, plan_stem
from plansafe.app.project.shipped_files import shipped_domain
from plansafe.app.session.model import Prepared, Result, Settings, compiled
from plansafe.domains import named_places
from plansafe.domains.world import Benchmark, Request, Scene
from plansafe.domains.worlds import aliases, missing, world, world_names
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Span, near
from plansafe.grammar.plan_text import read_plan
from plansafe.grammar.source import Source
from plansafe.verifier.repair.model import Repair
from plansafe.verifier.reporting.report import unjudged

if TYPE_CHECKING:
    from plansafe.verifier.api import Checker

_KEPT = 4
"""Scenes whose compiled tasks are kept."""
_PLAN_SUFFIXES = (".txt", ".json", ".jsonl", ".plan", ".script", ".pddl")


class _Compiled(NamedTuple):
    scene: Scene
    checker: Checker
    inputs: tuple[Input, ...]
    sources: Mapping[str, Source]


class Foreign:
    """The world that the settings name, with the scene of each plan; what plans share is compiled once."""

    def __init__(self, settings: Settings, discovery: Finder) -> None:
        self._settings = settings
        self._discovery = discovery
        self._compiled: dict[tuple[str, ...], _Compiled | tuple[Diagnostic, ...]] = {}
        self._told = False

    def prepare(self, plan: Input, written: bool = True) -> Prepared | Result:
        """Read a plan for the scene, if it is ``written``; a :class:`Result` says why there is none."""
        name = plan.source.name
        chosen = find_world(self._settings.world or "")
        if isinstance(chosen, Diagnostic):
            return Result(name, unjudged(name, chosen), (plan,), {name: plan.source})
        folder = os.path.dirname(plan.path)
        files = list(self._files(plan.path))
        key = (folder, *[file.path if isinstance(file, Input) else file.message for file in files])
        if key not in self._compiled:
            while len(self._compiled) >= _KEPT:
                del self._compiled[next(iter(self._compiled))]
            self._compiled[key] = self._compile(chosen, folder, files)
        ready = self._compiled[key]
        if not isinstance(ready, _Compiled):
            sources = {name: plan.source, **{i.source.name: i.source for i in files if isinstance(i, Input)}}
            return Result(name, unjudged(name, *ready), (plan,), sources)
        used = (plan, *ready.inputs)
        sources = {**ready.sources, name: plan.source}
        if not ready.checker.ok:
            return Result(name, unjudged(name, *ready.scene.notes, *ready.checker.diagnostics), used, sources)
        if not written:
            return Prepared(
                plan.source, ready.checker, used, sources, ready.scene.notes, (), _Writer(chosen, ready.scene)
            )
        read = chosen.read_plan(plan.source, ready.scene)
        if read.plan is None:
            return Result(name, unjudged(name, *read.diagnostics), used, sources)
        notes = (
            read.diagnostics if self._told and not self._settings.retell else (*ready.scene.notes, *read.diagnostics)
        )
        self._told = True
        return Prepared(read.plan, ready.checker, used, sources, notes, read.places, _Writer(chosen, ready.scene))

    def _files(self, plan: str) -> Iterator[Input | Diagnostic]:
        """The files that flags name, or else the project file."""
        given, project = self._settings, self._settings.project
        for role, path, pattern in (
            ("scene", given.scene, project and project.scene),
            ("goal", given.goal, project and project.goal),
            ("domain", given.domain, project and project.domain),
            ("problem", given.problem, project and project.problem),
        ):
            if path is not None:
                yield self._discovery.read(path.replace(STEM, plan_stem(plan)), role, f"--{role}")
            elif project is not None and pattern is not None:
                yield self._discovery.of_project(project, role, pattern, plan)

    def _compile(
        self, chosen: Benchmark, folder: str, files: list[Input | Diagnostic]
    ) -> _Compiled | tuple[Diagnostic, ...]:
        unreadable = tuple([file for file in files if isinstance(file, Diagnostic)])
        if unreadable:
            return unreadable
        given = {file.role: file for file in files if isinstance(file, Input)}
        lacks = [file for file in chosen.files if file.required and file.role not in given]
        if lacks:
            return tuple([missing(chosen, file) for file in lacks])
        scene = chosen.read_scene(Request({role: file.source for role, file in given.items()}, self._settings.task))
        if not scene.ok:
            return scene.notes
        if self._settings.wanted is not None:
            from plansafe.app.session.goal_text import with_goal  # noqa: PLC0415 - where a plan is to be written

            scene = scene._replace(problem=with_goal(scene.problem, self._settings.wanted))
        path = shipped_domain(chosen.domain) if chosen.domain is not None else None
        if path is not None and os.path.abspath(path) == os.path.abspath(scene.domain.name):
            scene = scene._replace(domain=Source(path, scene.domain.text))
        domain = Input("domain", scene.domain.name, f"of the world {chosen.name}", scene.domain)
        specs, failures = self._discovery.specifications(folder, domain)
        if failures:
            return tuple(failures)
        own = [Input("specification", spec.name, "of the task", spec) for spec in scene.specs]
        every = [*[spec.source for spec in specs], *scene.specs]
        checker, extended = compiled(self._discovery, scene.domain, scene.problem, every, self._settings)
        shown = [file for role, file in given.items() if role not in ("domain", "problem")]
        inputs = (*shown, domain, *specs, *own, *extended)
        sources = {source.name: source for source in (scene.domain, scene.problem)}
        sources.update({i.source.name: i.source for i in inputs})
        return _Compiled(scene, checker, inputs, sources)


class _Writer:
    """Writes a repaired plan in the form of its world; kept steps keep the words of the original."""

    def __init__(self, chosen: Benchmark, scene: Scene) -> None:
        self._world = chosen
        self._scene = scene

    def step(self, words: tuple[str, ...]) -> str:
        """One step, from its words in PDDL."""
        return self._world.write_step(words, self._scene)

    def word_places(self, source: Source, place: Span, words: tuple[str, ...]) -> tuple[Span | None, ...]:
        """Where the words of a step stand in the script."""
        return named_places.word_places(self._world, source, place, words)

    def object_place(self, source: Source, name: str) -> Span | None:
        """Where the file of the scene says that an object is there."""
        return named_places.object_place(self._world, source, self._scene, name)

    def __call__(self, prepared: Prepared, repair: Repair) -> str:
        """The text of the repaired plan; its steps, read again, are those of the repair.

        Raises ``RuntimeError`` where they are not: that is a bug of the world's importer.
        """
        original = prepared.inputs[0].source.text
        wanted = [tuple(step.strip("()").split()) for step in repair.steps]
        written = [self._world.write_step(step, self._scene) for step in wanted]
        kept = [
            original[slice(*prepared.places[number - 1])] if number and words == _step(prepared, number) else text
            for number, words, text in zip(repair.origin, wanted, written, strict=True)
        ]
        head = _head(original, prepared)
        for lines in ([*head, *kept], [*head, *written], written):
            text = "\n".join(lines) + "\n"
            again = self._world.read_plan(Source("repaired", text), self._scene)
            if again.plan is not None and [step.tokens for step in read_plan(again.plan).steps] == wanted:
                return text
        raise RuntimeError(f"the world {self._world.name} does not read what it writes: {written}")


def _step(prepared: Prepared, number: int) -> tuple[str, ...]:
    return read_plan(prepared.plan).steps[number - 1].tokens


def _head(original: str, prepared: Prepared) -> list[str]:
    """The lines above the first step, such as a title."""
    if not prepared.places:
        return []
    return original[: original.rfind("\n", 0, prepared.places[0].start) + 1].splitlines()


def find_world(name: str) -> Benchmark | Diagnostic:
    """The world of that name, or the diagnostic that there is none (SC610)."""
    try:
        return world(name)
    except KeyError:
        if shipped_domain(name) is not None:
            advice: str | None = "it is a domain, and its plans are PDDL: they are read without --world"
        else:
            advice = near(name.lower(), (*world_names(), *aliases()))
        advice = advice or f"known worlds: {', '.join(world_names())}"
        return Diagnostic(SC.UNKNOWN_WORLD, f"no world is named {name!a}", help=advice)


def _others(settings: Settings) -> Callable[[str], bool]:
    """Whether a file is a scene or a goal file."""
    flags = [path for path in (settings.scene, settings.goal) if path is not None]
    named = {os.path.realpath(path) for path in flags if STEM not in path}
    patterns = [_any_stem(path) for path in flags if STEM in path]
    project = settings.project
    if project is not None:
        for given, pattern in ((settings.scene, project.scene), (settings.goal, project.goal)):
            if given is None and pattern is not None:
                patterns.append(_any_stem(project.beside(pattern)))

    def is_other(path: str) -> bool:
        real = os.path.realpath(path)
        return real in named or any([pattern.match(real) for pattern in patterns])

    return is_other


def _any_stem(pattern: str) -> re.Pattern[str]:
    """The paths that a pattern can name."""
    parts = os.path.realpath(pattern).split(STEM)
    return re.compile("[^/]*".join([re.escape(part) for part in parts]) + r"\Z")


def foreign_plans(folder: str, settings: Settings) -> Iterator[str]:
    """Yield the files below a folder that may be plans of a world: by suffix, without the scene and the goal file."""
    is_other = _others(settings)
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    below = []
    for entry in entries:
        if entry.name.startswith("."):
            continue
        if entry.is_dir(follow_symlinks=False):
            below.append(entry.path)
        elif entry.name.lower().endswith(_PLAN_SUFFIXES) and not is_other(entry.path):
            yield entry.path
    for place in below:
        yield from foreign_plans(place, settings)
