"""The inputs of the linter: a domain, problems and specifications, and what was wrong with them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from plansafe.app.project.discovery import Discovery
from plansafe.app.project.file_kinds import Heading, Kind, heading
from plansafe.app.project.inputs import Choice, Input
from plansafe.app.project.shipped_files import named_in, shipped_domain, shipped_or_file, shipped_spec
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Severity
from plansafe.grammar.source import Source

if TYPE_CHECKING:
    from plansafe.app.project.project_file import Project


class Wanted(NamedTuple):
    """What to lint, as it was asked for."""

    specs: tuple[str, ...] = ()
    domain: str | None = None
    problems: tuple[str, ...] = ()
    world: str | None = None
    scenes: tuple[str, ...] = ()
    goal: str | None = None
    task: str | None = None
    lenient_types: bool = False
    project: Project | None = None


class Gathered(NamedTuple):
    """The files, read. With an error among ``notes`` they are of no use."""

    domain: Input | None
    problems: tuple[Source, ...]
    specs: tuple[Input, ...]
    notes: tuple[Diagnostic, ...]
    discovery: Discovery
    texts: tuple[Source, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether something could not be read."""
        return self.domain is None or any([note.severity is Severity.ERROR for note in self.notes])

    def resolve(self, name: str, extending: Source) -> Source | None:
        """The specification that another one extends."""
        found = self.discovery.extended(name, extending)
        return None if found is None else found.source


def by_domain(wanted: Wanted) -> list[Wanted]:
    """What was asked for, domain by domain where specifications name several and nothing else chooses one.

    A specification that names none is about each of them.
    """
    project = wanted.project
    of_project = project is not None and (project.domain or project.world)
    if wanted.domain or wanted.world or wanted.problems or of_project or len(wanted.specs) < 2:
        return [wanted]
    discovery = Discovery(Choice())
    named: dict[str, str | None] = {}
    for path in wanted.specs:
        found = discovery.read(path if os.path.exists(path) else shipped_spec(path) or path, "specification", "given")
        domain = heading(found.source.text).domain if isinstance(found, Input) else None
        named[path] = None if domain is None else domain.lower()
    domains = list(dict.fromkeys([domain for domain in named.values() if domain is not None]))
    if len(domains) < 2:
        return [wanted]
    return [
        wanted._replace(specs=tuple([path for path in wanted.specs if named[path] in (None, domain)]))
        for domain in domains
    ]


def gather(wanted: Wanted, unsaved: Mapping[str, str] | None = None) -> Gathered:
    """Read what was asked for; what is wrong with it is among the notes. ``unsaved``: as of :class:`Discovery`."""
    project = wanted.project
    discovery = Discovery(Choice(specs=wanted.specs, project=project), unsaved=unsaved)
    named, failures = discovery.specifications("", None)
    notes: list[Diagnostic] = list(failures)
    problems: list[Source] = []
    texts: list[Source] = []
    if project is not None:
        wanted = wanted._replace(
            world=project.world,
            problems=wanted.problems or tuple(project.matching(project.problem)),
            scenes=wanted.scenes or tuple(project.matching(project.scene)),
        )
    for path in wanted.problems:
        found = discovery.read(path, "problem", "--problem")
        if isinstance(found, Diagnostic):
            notes.append(found)
        else:
            problems.append(found.source)
    if wanted.world is not None:
        domain, specs = _of_world(wanted, discovery, problems, notes, texts)
    else:
        if wanted.scenes or wanted.goal is not None or wanted.task is not None:
            notes.append(
                Diagnostic(SC.BAD_OPTION, "--scene, --goal and --task need a world", help="name it with --world")
            )
        wanted = wanted._replace(specs=wanted.specs or tuple([spec.path for spec in named]))
        domain, specs = _domain(wanted, discovery, notes), []
    decided = bool(wanted.specs) or (project is not None and project.specifications is not None)
    if not decided and domain is not None:
        folder = "" if specs else os.path.dirname(wanted.problems[0] if wanted.problems else domain.path)
        named, failures = discovery.specifications(folder, domain)
        notes += failures
    specs = [*named, *specs]
    return Gathered(domain, tuple(problems), tuple(specs), tuple(notes), discovery, tuple(texts))


def _of_world(
    wanted: Wanted, discovery: Discovery, problems: list[Source], notes: list[Diagnostic], texts: list[Source]
) -> tuple[Input | None, list[Input]]:
    """The domain of a world; its scenes join the problems, and what they say themselves the specifications."""
    from plansafe.app.session.home_world import find_world  # noqa: PLC0415 - loads an importer
    from plansafe.domains.world import Request  # noqa: PLC0415

    chosen = find_world(wanted.world or "")
    if isinstance(chosen, Diagnostic):
        notes.append(chosen)
        return None, []
    if not wanted.scenes and (wanted.goal is not None or wanted.task is not None):
        notes.append(Diagnostic(SC.BAD_OPTION, "--goal and --task are about a scene", help="give it with --scene"))
    specs: list[Input] = []
    files: dict[str, Source] = {}
    own = {"goal": wanted.goal, "domain": wanted.domain}
    if any([file.role == "problem" for file in chosen.files]) and problems:
        files["problem"] = problems.pop(0)
    for role, given in own.items():
        path = shipped_or_file(given) if given is not None and role == "domain" else given
        found = discovery.read(path, role, f"--{role}") if path is not None else None
        if isinstance(found, Diagnostic):
            notes.append(found)
            return None, []
        if found is not None:
            files[role] = found.source
            texts.append(found.source)
    domains = []
    for path in wanted.scenes:
        found = discovery.read(path, "scene", "--scene")
        if isinstance(found, Diagnostic):
            notes.append(found)
            continue
        texts.append(found.source)
        scene = chosen.read_scene(Request({**files, "scene": found.source}, wanted.task))
        notes += scene.notes
        if scene.ok:
            problems.append(Source(scene.problem.name, scene.problem.text))
            domains.append(scene.domain)
            specs += [Input("specification", spec.name, "of the task", spec) for spec in scene.specs]
    if wanted.domain is not None and not any([file.role == "domain" for file in chosen.files]):
        notes.append(Diagnostic(SC.BAD_OPTION, f"the world {chosen.name} does not use --domain", help="leave it out"))
        return None, []
    path_of = shipped_domain(wanted.world or "") or (None if chosen.domain is None else shipped_domain(chosen.domain))
    if len({text.text for text in domains}) > 1:
        notes.append(Diagnostic(SC.BAD_OPTION, "these scenes have different domains", help="lint them one at a time"))
    elif domains:
        return Input("domain", domains[0].name, f"of the world {chosen.name}", domains[0]), specs
    elif path_of is not None:
        found = discovery.read(path_of, "domain", f"of the world {chosen.name}")
        if isinstance(found, Input):
            return found, specs
        notes.append(found)
    elif not wanted.scenes:
        notes.append(
            Diagnostic(SC.NO_DOMAIN, f"the world {chosen.name} has no domain of its own", help="give a --scene")
        )
    return None, specs


def _domain(wanted: Wanted, discovery: Discovery, notes: list[Diagnostic]) -> Input | None:
    """The domain: as given, else that which the first problem or specification names, beside it or shipped."""
    from plansafe.domains import domain_names  # noqa: PLC0415 - not needed when flags decide

    project = wanted.project
    if wanted.domain is not None or (project is not None and project.domain is not None):
        if project is not None and project.domain is not None:
            found = discovery.read(named_in(project, project.domain, shipped_domain), "domain", project.path)
        else:
            found = discovery.read(shipped_or_file(wanted.domain or ""), "domain", "--domain")
        if isinstance(found, Input):
            return found
        notes.append(found)
        return None
    for path in (*wanted.problems, *wanted.specs):
        name = path if os.path.exists(path) else shipped_spec(path) or path
        found = discovery.read(name, "file", "given")
        said = heading(found.source.text) if isinstance(found, Input) else None
        if isinstance(found, Input) and said is not None and said.domain is not None:
            near = discovery.find(found, Heading(Kind.PLAN, None, said.domain)).domain
            if near is not None:
                return near._replace(how=f"named by {os.path.basename(path)}")
    if not any([note.severity is Severity.ERROR for note in notes]):
        if wanted.problems or wanted.specs:
            message = "no domain found for these files"
        else:
            message = "there is nothing to look at: no specification, domain, problem or world is named"
        advice = f"name the domain with --domain FILE, or a shipped one: {', '.join(domain_names())}"
        notes.append(Diagnostic(SC.NO_DOMAIN, message, help=advice))
    return None
