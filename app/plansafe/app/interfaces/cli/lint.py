"""The command ``lint``: what is wrong with a specification, before any plan is judged by it (docs/lint.md)."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from plansafe.app.interfaces.cli.configuration import Asked, configure
from plansafe.app.interfaces.cli.options import (
    Color,
    ColorChoice,
    DomainFile,
    GoalFile,
    LenientTypes,
    MemoryLimit,
    NoProject,
    TaskName,
)
from plansafe.app.session.audit import combined_exit_code
from plansafe.app.session.lint_inputs import Gathered, Wanted, by_domain, gather
from plansafe.app.session.model import Settings
from plansafe.app.system.process import MEMORY_MIB, complain, guarded, limit_memory, standard_output, terminal
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.grammar.source import Source

if TYPE_CHECKING:
    from plansafe.specs.lint.model import Lint, LintOptions

_CODE = re.compile(r"SC75\d\Z", re.IGNORECASE)


UNUSABLE = 2


class Format(StrEnum):
    """How findings are written."""

    FULL = "full"
    CONCISE = "concise"
    JSON = "json"


def lint(
    context: typer.Context,
    specs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SPEC..]",
            help="Specifications and mappings: files, or names of shipped ones. None: those of the domain.",
        ),
    ] = None,
    domain: DomainFile = None,
    problem: Annotated[
        list[str] | None,
        typer.Option(metavar="FILE", help="A problem; what is claimed of problems is about all that are given."),
    ] = None,
    world: Annotated[str | None, typer.Option(metavar="NAME", help="Use the domain of this world.")] = None,
    scene: Annotated[
        list[str] | None, typer.Option("--scene", "--graph", metavar="FILE", help="A scene of the world, as a problem.")
    ] = None,
    goal: GoalFile = None,
    task: TaskName = None,
    ignore: Annotated[
        list[str] | None, typer.Option(metavar="CODE", help="Leave out findings with this code. May be repeated.")
    ] = None,
    lenient_types: LenientTypes = False,
    no_search: Annotated[
        bool, typer.Option("--no-search", help="Do not search plans of the problems; only prove what can be proved.")
    ] = False,
    gaps: Annotated[
        bool,
        typer.Option("--gaps", help="Also look for missing rules: safe plans of the problems that exploit a hole."),
    ] = False,
    example: Annotated[
        list[str] | None,
        typer.Option(metavar="PLAN", help="A plan that is in order, for --gaps. May be repeated."),
    ] = None,
    time_limit: Annotated[
        float, typer.Option(min=0, metavar="SECONDS", help="For the formulas, and for each problem; 0: none.")
    ] = 20.0,
    form: Annotated[Format, typer.Option("--format", help="How to write the findings.")] = Format.FULL,
    color: ColorChoice = Color.AUTO,
    memory_limit: MemoryLimit = MEMORY_MIB,
    no_project: NoProject = False,
) -> None:
    """Find rules that can do nothing, cannot be kept, contradict each other or the domain, or say the same.

    Without a problem, what is said holds for every problem of the domain; with problems, also what holds for them.
    Specifications that name different domains are looked at domain by domain.
    Nothing is reported without a proof. Exit codes: 0 nothing found (notes do not count), 1 findings, 2 usage or
    unreadable file, 3 nothing found, but questions stayed undecided, 4 a bug in safecheck.
    """
    wanted = Wanted(
        specs=tuple(specs or ()),
        domain=domain,
        problems=tuple(problem or ()),
        world=world,
        scenes=tuple(scene or ()),
        goal=goal,
        task=task,
        lenient_types=lenient_types,
    )
    how, memory = form, memory_limit
    if domain is None and world is None:  # either sets the project file aside
        now = configure(
            context, Asked(("lint",), no_project, False), Settings(), form.value, memory_limit, tuple(Format)
        )
        how, memory = Format(now.form), now.memory
        wanted = wanted._replace(project=now.settings.project)
    limit_memory(memory)
    codes = frozenset([code.upper() for code in ignore or ()])

    def work() -> int:
        unknown = sorted([code for code in codes if _CODE.match(code) is None])
        if unknown:
            return complain(Diagnostic(SC.BAD_OPTION, f"--ignore takes codes from SC750 to SC759, not {unknown[0]!a}"))
        if not math.isfinite(time_limit):
            return complain(Diagnostic(SC.BAD_OPTION, "--time-limit takes a number of seconds"))
        if example and not gaps:
            return complain(Diagnostic(SC.BAD_OPTION, "--example is for --gaps", help="add --gaps"))
        from plansafe.specs.lint.model import LintOptions  # noqa: PLC0415 - needed by this command alone

        seconds = time_limit or None
        options = LintOptions(wanted.lenient_types, seconds, not no_search)

        def one(asked: Wanted) -> int:
            gathered = gather(asked)
            code = _lint(gathered, codes, options, how, color.value)
            if not gaps or code == UNUSABLE:
                return code
            of_world = asked.world or (asked.project is not None and asked.project.world)
            judge = Settings(world=of_world or None).question.judge
            return combined_exit_code((code, _gaps(gathered, tuple(example or ()), seconds, judge, how, color.value)))

        return combined_exit_code([one(asked) for asked in by_domain(wanted)])

    raise typer.Exit(guarded(work))


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
            advice = "name specifications; `safecheck domains list` says which domains have some"
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
