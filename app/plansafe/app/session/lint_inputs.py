"""Read the inputs of the linter: a domain, problems and specifications, with the errors in them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from plansafe.app.project.discovery import Discovery
from plansafe.app.project.file_kinds import Heading, Kind, heading
from plansafe.app.project.inputs import Choice, Input
from plansafe.app.project.shipped_files import named_in, shipped_domain, shipped_or_file, shipped_spec
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Severity
from plansafe.grammar.source import Source

if TYPE_CHECKING:
    from plansafe.app.project.project import Project


class LintSelection(NamedTuple):
    """The files and options that the user gave to the linter."""

    specs: tuple[str, ...] = ()
    domain: str | None = None
    problems: tuple[str, ...] = ()
    world: str | None = None
    scenes: tuple[str, ...] = ()
    goal: str | None = None
    task: str | None = None
    lenient_types: bool = False
    project: Project | None = None


class LintInputs(NamedTuple):
    """The inputs after reading. If ``notes`` contain an error, they cannot be used."""

    domain: Input | None
    problems: tuple[Source, ...]
    specs: tuple[Input, ...]
    notes: tuple[Diagnostic, ...]
    discovery: Discovery
    texts: tuple[Source, ...] = ()

    @property
    def failed(self) -> bool:
        """True if the domain is missing or an input could not be read."""
        return self.domain is None or any([note.severity is Severity.ERROR for note in self.notes])

    def with_kinds(self, specs: Sequence[Source]) -> tuple[Source, ...]:
        """Return specifications with the kinds of the objects of all problems."""
        from plansafe.domains.objects import add_kinds  # noqa: PLC0415 - not needed if an input has errors

        assert self.domain is not None
        problems = Source("problems", "\n".join([problem.text for problem in self.problems]))
        return add_kinds(self.domain.source, problems, specs)

    def resolve(self, name: str, extending: Source) -> Source | None:
        """Find a specification that ``extending`` extends."""
        spec = self.discovery.extended(name, extending)
        return None if spec is None else spec.source


def split_by_domain(selection: LintSelection) -> list[LintSelection]:
    """Split the selection if its specifications name several domains and no option chooses one.

    A specification without a domain is part of every selection.
    """
    project = selection.project
    project_has_domain = project is not None and (project.domain or project.world)
    if selection.domain or selection.world or selection.problems or project_has_domain or len(selection.specs) < 2:
        return [selection]
    discovery = Discovery(Choice())
    domain_by_spec: dict[str, str | None] = {}
    for path in selection.specs:
        spec = discovery.read(path if os.path.exists(path) else shipped_spec(path) or path, "specification", "given")
        domain = heading(spec.source.text).domain if isinstance(spec, Input) else None
        domain_by_spec[path] = None if domain is None else domain.lower()
    domains = list(dict.fromkeys([domain for domain in domain_by_spec.values() if domain is not None]))
    if len(domains) < 2:
        return [selection]
    return [
        selection._replace(specs=tuple([path for path in selection.specs if domain_by_spec[path] in (None, domain)]))
        for domain in domains
    ]


def read_lint_inputs(selection: LintSelection, unsaved: Mapping[str, str] | None = None) -> LintInputs:
    """Read the selected inputs; errors become notes. ``unsaved`` is as in :class:`Discovery`."""
    project = selection.project
    discovery = Discovery(Choice(specs=selection.specs, project=project), unsaved=unsaved)
    named_specs, failures = discovery.specifications("", None)
    notes: list[Diagnostic] = list(failures)
    problems: list[Source] = []
    texts: list[Source] = []
    if project is not None:
        selection = selection._replace(
            world=project.world,
            problems=selection.problems or tuple(project.matching(project.problem)),
            scenes=selection.scenes or tuple(project.matching(project.scene)),
        )
    for path in selection.problems:
        problem_input = discovery.read(path, "problem", "--problem")
        if isinstance(problem_input, Diagnostic):
            notes.append(problem_input)
        else:
            problems.append(problem_input.source)
    if selection.world is not None:
        domain, specs = _of_world(selection, discovery, problems, notes, texts)
    else:
        if selection.scenes or selection.goal is not None or selection.task is not None:
            notes.append(
                Diagnostic(SC.BAD_OPTION, "--scene, --goal and --task need a world", help="name it with --world")
            )
        selection = selection._replace(specs=selection.specs or tuple([spec.path for spec in named_specs]))
        domain, specs = _domain(selection, discovery, notes), []
    if domain is not None and domain.parts and not problems:
        parts = discovery.read(os.path.dirname(domain.path) or ".", "problem", domain.how)
        if isinstance(parts, Input):
            problems.append(parts.source)
        else:
            notes.append(parts)
    decided = bool(selection.specs) or (project is not None and project.specifications is not None)
    if not decided and domain is not None:
        folder = "" if specs else os.path.dirname(selection.problems[0] if selection.problems else domain.path)
        named_specs, failures = discovery.specifications(folder, domain)
        notes += failures
    specs = [*named_specs, *specs]
    return LintInputs(domain, tuple(problems), tuple(specs), tuple(notes), discovery, tuple(texts))


def _of_world(
    selection: LintSelection, discovery: Discovery, problems: list[Source], notes: list[Diagnostic], texts: list[Source]
) -> tuple[Input | None, list[Input]]:
    """Read the domain of a home world; adds its scenes to the problems and returns their specifications."""
    from plansafe.app.session.home_world import find_world  # noqa: PLC0415 - loads an importer
    from plansafe.domains.world import Request  # noqa: PLC0415

    importer = find_world(selection.world or "")
    if isinstance(importer, Diagnostic):
        notes.append(importer)
        return None, []
    if not selection.scenes and (selection.goal is not None or selection.task is not None):
        notes.append(Diagnostic(SC.BAD_OPTION, "--goal and --task need a scene", help="name it with --scene"))
    specs: list[Input] = []
    files: dict[str, Source] = {}
    paths_by_role = {"goal": selection.goal, "domain": selection.domain}
    if any([file.role == "problem" for file in importer.files]) and problems:
        files["problem"] = problems.pop(0)
    for role, given_path in paths_by_role.items():
        path = shipped_or_file(given_path) if given_path is not None and role == "domain" else given_path
        input_file = discovery.read(path, role, f"--{role}") if path is not None else None
        if isinstance(input_file, Diagnostic):
            notes.append(input_file)
            return None, []
        if input_file is not None:
            files[role] = input_file.source
            texts.append(input_file.source)
    domains = []
    for path in selection.scenes:
        input_file = discovery.read(path, "scene", "--scene")
        if isinstance(input_file, Diagnostic):
            notes.append(input_file)
            continue
        texts.append(input_file.source)
        scene = importer.read_scene(Request({**files, "scene": input_file.source}, selection.task))
        notes += scene.notes
        if scene.ok:
            problems.append(Source(scene.problem.name, scene.problem.text))
            domains.append(scene.domain)
            specs += [Input("specification", spec.name, "of the task", spec) for spec in scene.specs]
    if selection.domain is not None and not any([file.role == "domain" for file in importer.files]):
        notes.append(Diagnostic(SC.BAD_OPTION, f"the world {importer.name} does not use --domain", help="leave it out"))
        return None, []
    path_of = shipped_domain(selection.world or "") or (
        None if importer.domain is None else shipped_domain(importer.domain)
    )
    if len({text.text for text in domains}) > 1:
        notes.append(Diagnostic(SC.BAD_OPTION, "these scenes have different domains", help="lint them one at a time"))
    elif domains:
        return Input("domain", domains[0].name, f"of the world {importer.name}", domains[0]), specs
    elif path_of is not None:
        input_file = discovery.read(path_of, "domain", f"of the world {importer.name}")
        if isinstance(input_file, Input):
            return input_file, specs
        notes.append(input_file)
    elif not selection.scenes:
        notes.append(
            Diagnostic(SC.NO_DOMAIN, f"the world {importer.name} has no domain of its own", help="give a --scene")
        )
    return None, specs


def _domain(selection: LintSelection, discovery: Discovery, notes: list[Diagnostic]) -> Input | None:
    """The given domain; otherwise the one that the first problem or specification names."""
    from plansafe.domains import domain_names  # noqa: PLC0415 - not needed if options name the domain

    project = selection.project
    if selection.domain is not None or (project is not None and project.domain is not None):
        if project is not None and project.domain is not None:
            input_file = discovery.read(named_in(project, project.domain, shipped_domain), "domain", project.path)
        else:
            input_file = discovery.read(shipped_or_file(selection.domain or ""), "domain", "--domain")
        if isinstance(input_file, Input):
            return input_file
        notes.append(input_file)
        return None
    for path in (*selection.problems, *selection.specs):
        name = path if os.path.exists(path) else shipped_spec(path) or path
        input_file = discovery.read(name, "file", "given")
        file_heading = heading(input_file.source.text) if isinstance(input_file, Input) else None
        if isinstance(input_file, Input) and file_heading is not None and file_heading.domain is not None:
            neighbour = discovery.find(input_file, Heading(Kind.PLAN, None, file_heading.domain)).domain
            if neighbour is not None:
                return neighbour._replace(how=f"named by {os.path.basename(path)}")
    if not any([note.severity is Severity.ERROR for note in notes]):
        if selection.problems or selection.specs:
            message = "no domain found for these files"
        else:
            message = "no input: name a specification, domain, problem or world"
        advice = f"name the domain with --domain FILE, or a shipped one: {', '.join(domain_names())}"
        notes.append(Diagnostic(SC.NO_DOMAIN, message, help=advice))
    return None
