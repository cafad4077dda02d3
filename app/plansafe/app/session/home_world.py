"""``--world``: read plans and scenes in the formats of simulators and benchmarks.

The importers (``plansafe.domains``) convert texts to PDDL and keep the places. This module finds their input files and
the specifications, and writes repaired plans in the original format.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from plansafe.app.project.inputs import Finder, Input
from plansafe.app.project.project import STEM, plan_stem
from plansafe.app.project.shipped_files import shipped_domain
from plansafe.app.session.model import Prepared, Result, Settings, compiled
from plansafe.domains import text_places
from plansafe.domains.assumed_states import scene_with_facts
from plansafe.domains.world import Benchmark, Request, Scene
from plansafe.domains.worlds import aliases, missing, world, world_names
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Span, suggest_name
from plansafe.grammar.named_tuple import NamedTuple
from plansafe.grammar.plan_text import read_plan
from plansafe.grammar.source import Source
from plansafe.verifier.repair.model import Repair
from plansafe.verifier.reporting.report import make_unchecked_report

if TYPE_CHECKING:
    from plansafe.verifier.api import Checker

_MAX_COMPILED = 4
"""Number of compiled scenes in the cache."""
_PLAN_SUFFIXES = (".txt", ".json", ".jsonl", ".plan", ".script", ".pddl")


class _Compiled(NamedTuple):
    scene: Scene
    checker: Checker
    specs: list[Source]
    inputs: tuple[Input, ...]
    sources: Mapping[str, Source]


class WorldTasks:
    """Prepares plans of the home world in the settings; plans with the same scene share one compiled task."""

    def __init__(self, settings: Settings, discovery: Finder) -> None:
        self._settings = settings
        self._discovery = discovery
        self._compiled: dict[tuple[str, ...], _Compiled | tuple[Diagnostic, ...]] = {}
        self._notes_reported = False

    def prepare(self, plan: Input, is_written: bool = True) -> Prepared | Result:
        """Prepare the task of a plan, and read the plan if it ``is_written`` already; a :class:`Result` on failure."""
        name = plan.source.name
        importer = find_world(self._settings.world or "")
        if isinstance(importer, Diagnostic):
            return Result(name, make_unchecked_report(name, importer), (plan,), {name: plan.source})
        folder = os.path.dirname(plan.path)
        files = list(self._files(plan.path))
        key = (folder, *[file.path if isinstance(file, Input) else file.message for file in files])
        if key not in self._compiled:
            self._store(key, self._compile(importer, folder, files))
        compiled_scene = self._compiled[key]
        if not isinstance(compiled_scene, _Compiled):
            sources = {name: plan.source, **{i.source.name: i.source for i in files if isinstance(i, Input)}}
            return Result(name, make_unchecked_report(name, *compiled_scene), (plan,), sources)
        used = (plan, *compiled_scene.inputs)
        sources = {**compiled_scene.sources, name: plan.source}
        if not compiled_scene.checker.ok:
            return Result(
                name,
                make_unchecked_report(name, *compiled_scene.scene.notes, *compiled_scene.checker.diagnostics),
                used,
                sources,
            )
        if not is_written:
            return Prepared(
                plan.source,
                compiled_scene.checker,
                used,
                sources,
                compiled_scene.scene.notes,
                (),
                _Writer(importer, compiled_scene.scene),
            )
        read = importer.read_plan(plan.source, compiled_scene.scene)
        if read.plan is None:
            return Result(name, make_unchecked_report(name, *read.diagnostics), used, sources)
        if read.assumed:
            compiled_scene = self._with_assumed_facts(key, compiled_scene, read.assumed)
            sources = {**compiled_scene.sources, name: plan.source}
        notes = (
            read.diagnostics
            if self._notes_reported and not self._settings.retell
            else (*compiled_scene.scene.notes, *read.diagnostics)
        )
        self._notes_reported = True
        return Prepared(
            read.plan,
            compiled_scene.checker,
            used,
            sources,
            notes,
            read.places,
            _Writer(importer, compiled_scene.scene),
            title=read.title,
            description=read.description,
        )

    def _store(self, key: tuple[str, ...], compiled_scene: _Compiled | tuple[Diagnostic, ...]) -> None:
        while len(self._compiled) >= _MAX_COMPILED:
            del self._compiled[next(iter(self._compiled))]
        self._compiled[key] = compiled_scene

    def _with_assumed_facts(self, key: tuple[str, ...], base: _Compiled, facts: tuple[str, ...]) -> _Compiled:
        """Compile a scene again with facts that a plan assumes at the start."""
        extended_key = (*key, *facts)
        stored = self._compiled.get(extended_key)
        if isinstance(stored, _Compiled):
            return stored
        scene = scene_with_facts(base.scene, facts)
        checker, _ = compiled(self._discovery, scene.domain, scene.problem, base.specs, self._settings)
        extended = base._replace(
            scene=scene, checker=checker, sources={**base.sources, scene.problem.name: scene.problem}
        )
        self._store(extended_key, extended)
        return extended

    def _files(self, plan: str) -> Iterator[Input | Diagnostic]:
        """Read the files that options or the project file name."""
        settings, project = self._settings, self._settings.project
        for role, path, pattern in (
            ("scene", settings.scene, project and project.scene),
            ("goal", settings.goal, project and project.goal),
            ("domain", settings.domain, project and project.domain),
            ("problem", settings.problem, project and project.problem),
        ):
            if path is not None:
                yield self._discovery.read(path.replace(STEM, plan_stem(plan)), role, f"--{role}")
            elif project is not None and pattern is not None:
                yield self._discovery.of_project(project, role, pattern, plan)

    def _compile(
        self, importer: Benchmark, folder: str, files: list[Input | Diagnostic]
    ) -> _Compiled | tuple[Diagnostic, ...]:
        unreadable = tuple([file for file in files if isinstance(file, Diagnostic)])
        if unreadable:
            return unreadable
        files_by_role = {file.role: file for file in files if isinstance(file, Input)}
        missing_files = [file for file in importer.files if file.required and file.role not in files_by_role]
        if missing_files:
            return tuple([missing(importer, file) for file in missing_files])
        scene = importer.read_scene(
            Request({role: file.source for role, file in files_by_role.items()}, self._settings.task)
        )
        if not scene.ok:
            return scene.notes
        if self._settings.wanted is not None:
            from plansafe.app.session.goal_text import with_goal  # noqa: PLC0415 - only needed for new plans

            scene = scene._replace(problem=with_goal(scene.problem, self._settings.wanted))
        path = shipped_domain(importer.domain) if importer.domain is not None else None
        if path is not None and os.path.abspath(path) == os.path.abspath(scene.domain.name):
            scene = scene._replace(domain=Source(path, scene.domain.text))
        domain = Input("domain", scene.domain.name, f"of the world {importer.name}", scene.domain)
        specs, failures = self._discovery.specifications(folder, domain)
        if failures:
            return tuple(failures)
        task_specs = [Input("specification", spec.name, "of the task", spec) for spec in scene.specs]
        all_specs = [*[spec.source for spec in specs], *scene.specs]
        checker, extended = compiled(self._discovery, scene.domain, scene.problem, all_specs, self._settings)
        scene_files = [file for role, file in files_by_role.items() if role not in ("domain", "problem")]
        inputs = (*scene_files, domain, *specs, *task_specs, *extended)
        sources = {source.name: source for source in (scene.domain, scene.problem)}
        sources.update({i.source.name: i.source for i in inputs})
        return _Compiled(scene, checker, all_specs, inputs, sources)


class _Writer:
    """Writes a repaired plan in the format of its home world; unchanged steps keep their text."""

    def __init__(self, chosen: Benchmark, scene: Scene) -> None:
        self._world = chosen
        self._scene = scene

    def step(self, words: tuple[str, ...]) -> str:
        """Write a step that is given in PDDL words."""
        return self._world.write_step(words, self._scene)

    def word_places(self, source: Source, place: Span, words: tuple[str, ...]) -> tuple[Span | None, ...]:
        """Locate the PDDL words of a step in the script."""
        return text_places.word_places(self._world, source, place, words)

    def object_place(self, source: Source, name: str) -> Span | None:
        """Locate the entry of an object in the scene file."""
        return text_places.object_place(self._world, source, self._scene, name)

    def __call__(self, prepared: Prepared, repair: Repair) -> str:
        """Write the repaired plan, and check that its text contains the steps of the repair.

        Raises ``RuntimeError`` otherwise, which is a bug in the importer of the home world.
        """
        original = prepared.inputs[0].source.text
        steps = [tuple(step.strip("()").split()) for step in repair.steps]
        new_texts = [self._world.write_step(step, self._scene) for step in steps]
        step_texts = [
            original[slice(*prepared.places[number - 1])] if number and words == _step(prepared, number) else text
            for number, words, text in zip(repair.origin, steps, new_texts, strict=True)
        ]
        head = _head(original, prepared)
        for lines in ([*head, *step_texts], [*head, *new_texts], new_texts):
            text = "\n".join(lines) + "\n"
            parsed = self._world.read_plan(Source("repaired", text), self._scene)
            if parsed.plan is not None and [step.tokens for step in read_plan(parsed.plan).steps] == steps:
                return text
        raise RuntimeError(f"the world {self._world.name} cannot read its own output: {new_texts}")


def _step(prepared: Prepared, number: int) -> tuple[str, ...]:
    return read_plan(prepared.plan).steps[number - 1].tokens


def _head(original: str, prepared: Prepared) -> list[str]:
    """The lines above the first step, such as a title."""
    if not prepared.places:
        return []
    return original[: original.rfind("\n", 0, prepared.places[0].start) + 1].splitlines()


def find_world(name: str) -> Benchmark | Diagnostic:
    """The importer of the named home world, or a diagnostic (SC610)."""
    try:
        return world(name)
    except KeyError:
        if shipped_domain(name) is not None:
            advice: str | None = "it is a domain with plans in PDDL: leave out --world"
        else:
            advice = suggest_name(name.lower(), (*world_names(), *aliases()))
        advice = advice or f"known worlds: {', '.join(world_names())}"
        return Diagnostic(SC.UNKNOWN_WORLD, f"no world is named {name!a}", help=advice)


def _scene_or_goal_test(settings: Settings) -> Callable[[str], bool]:
    """A predicate for paths of scene and goal files."""
    flags = [path for path in (settings.scene, settings.goal) if path is not None]
    named_paths = {os.path.realpath(path) for path in flags if STEM not in path}
    patterns = [_any_stem(path) for path in flags if STEM in path]
    project = settings.project
    if project is not None:
        for option_path, pattern in ((settings.scene, project.scene), (settings.goal, project.goal)):
            if option_path is None and pattern is not None:
                patterns.append(_any_stem(project.resolve(pattern)))

    def is_scene_or_goal(path: str) -> bool:
        real = os.path.realpath(path)
        return real in named_paths or any([pattern.match(real) for pattern in patterns])

    return is_scene_or_goal


def _any_stem(pattern: str) -> re.Pattern[str]:
    """A regular expression for the paths that a pattern can name."""
    parts = os.path.realpath(pattern).split(STEM)
    return re.compile("[^/]*".join([re.escape(part) for part in parts]) + r"\Z")


def world_plans(folder: str, settings: Settings) -> Iterator[str]:
    """Yield possible plan files of a home world below a folder: by suffix, without scene and goal files."""
    is_scene_or_goal = _scene_or_goal_test(settings)
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
        elif entry.name.lower().endswith(_PLAN_SUFFIXES) and not is_scene_or_goal(entry.path):
            yield entry.path
    for place in below:
        yield from world_plans(place, settings)
