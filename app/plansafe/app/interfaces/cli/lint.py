"""The command ``lint``: what is wrong with a specification, before any plan is judged by it (docs/safety-rules.md)."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING

from plansafe.app.interfaces.cli.configuration import Asked, configure
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
from plansafe.app.session.audit import combined_exit_code
from plansafe.app.session.lint_inputs import LintInputs, LintSelection, read_lint_inputs, split_by_domain
from plansafe.app.session.model import Settings
from plansafe.app.system.process import complain, guarded, limit_memory, standard_output, terminal
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.grammar.source import Source

if TYPE_CHECKING:
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
    wanted = LintSelection(
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

        def one(asked: LintSelection) -> int:
            gathered = read_lint_inputs(asked)
            code = _lint(gathered, codes, searching, how, options.color)
            if not options.gaps or code == UNUSABLE:
                return code
            of_world = asked.world or (asked.project is not None and asked.project.world)
            judge = Settings(world=of_world or None).question.judge
            return combined_exit_code(
                (code, _gaps(gathered, tuple(options.example or ()), seconds, judge, how, options.color))
            )

        return combined_exit_code([one(asked) for asked in split_by_domain(wanted)])

    return guarded(work)


UNUSABLE = 2


def _lint(gathered: LintInputs, ignore: frozenset[str], options: LintOptions, form: Format, color: str) -> int:
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
    gathered: LintInputs, examples: tuple[str, ...], seconds: float | None, judge: str, form: Format, color: str
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
