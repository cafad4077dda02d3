"""The command ``lint``: what is wrong with a specification, before any plan is judged by it (docs/safety-rules.md)."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from plansafe.app.options.option import argument, changed, choice, command, number, switch, text
from plansafe.app.options.shared import (
    Assignments,
    ColorOption,
    DomainFile,
    GoalFile,
    MemoryLimit,
    NoProject,
    ProblemFile,
    SceneFile,
    TypeOptions,
    WorldName,
)
from plansafe.app.project.discovery import Choice, Discovery, Input
from plansafe.app.project.file_kinds import Heading, Kind, heading
from plansafe.app.project.shipped_files import named_in, shipped_domain, shipped_or_file, shipped_spec
from plansafe.app.session.audit import combined_exit_code
from plansafe.app.session.configuration import Asked, configure
from plansafe.app.session.lint_inputs import Gathered
from plansafe.app.session.model import Settings
from plansafe.app.system.process import complain, guarded, limit_memory, standard_output, terminal
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Severity
from plansafe.grammar.source import Source

if TYPE_CHECKING:
    from plansafe.app.project.project_file import Project
    from plansafe.specs.lint.model import Lint, LintOptions

_CODE = re.compile(r"SC75\d\Z", re.IGNORECASE)


class Format(StrEnum):
    """How findings are written."""

    FULL = "full"
    CONCISE = "concise"
    JSON = "json"


class SpecificationOptions(
    DomainFile, WorldName, GoalFile, TypeOptions, ColorOption, MemoryLimit, NoProject, Assignments
):
    """The options of ``lint``."""

    specs: tuple[str, ...] = argument(
        "[SPEC..]",
        "Specifications and mappings: files, or names of shipped ones. Default: those of the domain.",
        many=True,
    )
    problem: tuple[str, ...] = changed(
        ProblemFile.problem,
        many=True,
        default=(),
        help="Check claims about problems on this one. May be repeated.",
    )
    world: str | None = changed(WorldName.world, help="Use the domain of this world.")
    scene: tuple[str, ...] = changed(
        SceneFile.scene, many=True, default=(), help="Use this scene of the world as a problem. May be repeated."
    )
    ignore: tuple[str, ...] = text(
        "--ignore",
        metavar="CODE",
        many=True,
        help="Leave out findings with this code. May be repeated.",
    )
    no_search: bool = switch("--no-search", help="Prove what can be proved, and search no plans of the problems.")
    gaps: bool = switch("--gaps", help="Look also for missing rules: safe plans of the problems that exploit a hole.")
    example: tuple[str, ...] = text(
        "--example", metavar="PLAN", many=True, help="Accept this plan as harmless, for --gaps. May be repeated."
    )
    time_limit: float = number(
        "--time-limit",
        metavar="SECONDS",
        default=20.0,
        low=0,
        help="Stop the search for the formulas, and for each problem, after SECONDS; 0: no limit.",
    )
    form: Format = choice(
        "--format",
        values=Format,
        default=Format.FULL,
        help="Write the findings in this format.",
        key="format",
        in_project=True,
    )


@command(SpecificationOptions)
def lint(options: SpecificationOptions) -> int:
    """Find rules that can do nothing, cannot be kept, contradict each other or the domain, or say the same.

    Without a problem, findings hold for every problem of the domain; with problems, also for these.
    Specifications that name different domains are checked domain by domain.
    Nothing is reported without a proof. Exit codes: 0 nothing found (notes do not count), 1 findings, 2 usage or
    unreadable file, 3 nothing found, but questions stayed undecided, 4 a bug in safecheck.
    """
    wanted = Wanted(
        specs=tuple(options.specs or ()),
        domain=options.domain,
        problems=tuple(options.problem or ()),
        world=options.world,
        scenes=tuple(options.scene or ()),
        goal=options.goal,
        task=options.task,
        lenient_types=options.lenient_types,
    )
    how, memory = options.form, options.memory_limit
    if options.domain is None and options.world is None:  # either sets the project file aside
        now = configure(
            options,
            Asked(("lint",), options.no_project, False),
            Settings(),
            options.form.value,
            options.memory_limit,
            tuple(Format),
        )
        how, memory = Format(now.form), now.memory
        wanted = wanted._replace(project=now.settings.project)
    limit_memory(memory)
    codes = frozenset([code.upper() for code in options.ignore or ()])

    def work() -> int:
        unknown = sorted([code for code in codes if _CODE.match(code) is None])
        if unknown:
            return complain(Diagnostic(SC.BAD_OPTION, f"--ignore takes codes from SC750 to SC759, not {unknown[0]!a}"))
        if not math.isfinite(options.time_limit):
            return complain(Diagnostic(SC.BAD_OPTION, "--time-limit takes a number of seconds"))
        if options.example and not options.gaps:
            return complain(Diagnostic(SC.BAD_OPTION, "--example is for --gaps", help="add --gaps"))
        from plansafe.specs.lint.model import LintOptions  # noqa: PLC0415 - needed by this command alone

        seconds = options.time_limit or None
        searching = LintOptions(wanted.lenient_types, seconds, not options.no_search)

        def one(asked: Wanted) -> int:
            gathered = gather(asked)
            code = _lint(gathered, codes, searching, how, options.color)
            if not options.gaps or code == UNUSABLE:
                return code
            of_world = asked.world or (asked.project is not None and asked.project.world)
            judge = Settings(world=of_world or None).question.judge
            return combined_exit_code(
                (code, _gaps(gathered, tuple(options.example or ()), seconds, judge, how, options.color))
            )

        return combined_exit_code([one(asked) for asked in by_domain(wanted)])

    return guarded(work)


UNUSABLE = 2


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


def _lint(gathered: Gathered, ignore: frozenset[str], options: LintOptions, form: Format, color: str) -> int:
    from plansafe.app.render.lint import renderer  # noqa: PLC0415 - needed by this command alone
    from plansafe.specs.lint.api import lint as look  # noqa: PLC0415
    from plansafe.specs.lint.model import Lint  # noqa: PLC0415
    from plansafe.verifier.symbolic.refusals import missing_solver  # noqa: PLC0415

    read = {text.name: text for text in (*gathered.texts, *[i.source for i in gathered.specs])}
    sources: Mapping[str, Source] = read
    if gathered.failed:
        result = Lint((), (), gathered.notes, sources, False)
    else:
        assert gathered.domain is not None
        specs = [spec.source for spec in gathered.specs]
        try:
            result = look(gathered.domain.source, gathered.problems, specs, options, gathered.resolve)
        except ModuleNotFoundError as error:
            missing = missing_solver(error)
            if missing is None:
                raise
            return complain(missing)
        notes = gathered.notes
        if result.usable and not (result.rules or result.idle):
            advice = "name specifications; `safecheck worlds list` says which domains have some"
            notes = (
                *notes,
                Diagnostic(SC.BAD_OPTION, "there is nothing to look at: no rule, no constraint", help=advice),
            )
            result = result._replace(usable=False)
        result = result._replace(diagnostics=(*notes, *result.diagnostics), sources={**read, **result.sources})
    stream = standard_output()
    stream.write(renderer(form.value, terminal(color, stream)).result(shown(result, ignore), gathered, ignore))
    stream.flush()
    return result.exit_code(ignore)


def _gaps(
    gathered: Gathered, examples: tuple[str, ...], seconds: float | None, judge: str, form: Format, color: str
) -> int:
    from plansafe.app.interfaces.cli import rule_gaps as gaps  # noqa: PLC0415 - loads the search

    found = gaps.look(gathered, examples, seconds, judge)
    if isinstance(found, Diagnostic):
        return complain(found)
    stream = standard_output()
    stream.write(gaps.shown(found, form.value, terminal(color, stream)))
    stream.flush()
    if gaps.failed(found):
        return UNUSABLE
    if found.gaps:
        return 1
    return 3 if found.diagnostics else 0  # nothing was looked for


def shown(result: Lint, ignore: frozenset[str]) -> Lint:
    """A result without the findings that are to be left out."""
    return result._replace(faults=tuple([fault for fault in result.faults if fault.code not in ignore]))
