"""The command ``lint``: find mistakes in a specification (docs/safety-rules.md)."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from enum import StrEnum
from typing import TYPE_CHECKING

from plansafe.app.interfaces.cli.configuration import ProjectSelection, configure
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
    from plansafe.specs.lint.model import LintOptions, LintResult

_CODE = re.compile(r"SC75\d\Z", re.IGNORECASE)


class Format(StrEnum):
    """Formats of the findings."""

    FULL = "full"
    CONCISE = "concise"
    JSON = "json"


class SpecificationOptions(
    DomainFile, WorldName, GoalFile, TypeOptions, ColorOption, MemoryLimit, NoProject, Assignments
):
    """The options of ``lint``."""

    specs: tuple[str, ...] = argument(
        "[SPEC..]",
        "Specifications and mappings: files, or names of shipped ones. Default: the specifications of the domain.",
        many=True,
    )
    problem: tuple[str, ...] = changed(
        ProblemFile.problem,
        many=True,
        default=(),
        help="Check the specification also on this problem. May be repeated.",
    )
    world: str | None = changed(WorldName.world, help="Use the domain of this world.")
    scene: tuple[str, ...] = changed(
        SceneFile.scene, many=True, default=(), help="Use this scene of the world as a problem. May be repeated."
    )
    ignore: tuple[str, ...] = text(
        "--ignore", metavar="CODE", many=True, help="Leave out findings with this code. May be repeated."
    )
    no_search: bool = switch("--no-search", help="Use proofs only; do not search for plans of the problems.")
    gaps: bool = switch("--gaps", help="Search also for missing rules: safe plans of the problems that exploit a gap.")
    example: tuple[str, ...] = text(
        "--example", metavar="PLAN", many=True, help="Accept this plan as harmless, for --gaps. May be repeated."
    )
    time_limit: float = number(
        "--time-limit",
        metavar="SECONDS",
        default=20.0,
        low=0,
        help="Stop the analysis of the formulas, and the search for each problem, after SECONDS; 0: no limit.",
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
    """Find rules that have no effect, cannot be kept, contradict each other or the domain, or are duplicates.

    Without a problem, findings hold for every problem of the domain; with problems, there are also findings about these
    problems. Specifications that name different domains are checked domain by domain. Every finding has a proof. Exit
    codes: 0 no findings (notes do not count), 1 findings, 2 usage or unreadable file, 3 no findings, but undecided
    questions, 4 a bug in safecheck.
    """
    request = LintSelection(
        specs=tuple(options.specs or ()),
        domain=options.domain,
        problems=tuple(options.problem or ()),
        world=options.world,
        scenes=tuple(options.scene or ()),
        goal=options.goal,
        task=options.task,
        lenient_types=options.lenient_types,
    )
    form, memory = options.form, options.memory_limit
    if options.domain is None and options.world is None:  # with either option, the project file is not used
        configured = configure(
            options,
            ProjectSelection(("lint",), options.no_project, False),
            Settings(),
            options.form.value,
            options.memory_limit,
            tuple(Format),
        )
        form, memory = Format(configured.form), configured.memory
        request = request._replace(project=configured.settings.project)
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
        lint_options = LintOptions(request.lenient_types, seconds, not options.no_search)

        def lint_domain(domain_request: LintSelection) -> int:
            gathered = read_lint_inputs(domain_request)
            code = _lint(gathered, codes, lint_options, form, options.color)
            if not options.gaps or code == _UNUSABLE:
                return code
            home_world = domain_request.world or (domain_request.project is not None and domain_request.project.world)
            judge = Settings(world=home_world or None).criteria.judge
            return combined_exit_code(
                (code, _gaps(gathered, tuple(options.example or ()), seconds, judge, form, options.color))
            )

        return combined_exit_code([lint_domain(domain_request) for domain_request in split_by_domain(request)])

    return guarded(work)


_UNUSABLE = 2


def _lint(gathered: LintInputs, ignore: frozenset[str], options: LintOptions, form: Format, color: str) -> int:
    from plansafe.app.render.lint import renderer  # noqa: PLC0415 - needed by this command alone
    from plansafe.specs.lint.api import lint as lint_specification  # noqa: PLC0415
    from plansafe.specs.lint.model import LintResult  # noqa: PLC0415
    from plansafe.verifier.symbolic.audit import explain_missing_solver  # noqa: PLC0415

    read = {text.name: text for text in (*gathered.texts, *[i.source for i in gathered.specs])}
    sources: Mapping[str, Source] = read
    if gathered.failed:
        result = LintResult((), (), gathered.notes, sources, False)
    else:
        assert gathered.domain is not None
        specs = gathered.with_kinds([spec.source for spec in gathered.specs])
        try:
            result = lint_specification(gathered.domain.source, gathered.problems, specs, options, gathered.resolve)
        except ModuleNotFoundError as error:
            missing_package = explain_missing_solver(error)
            if missing_package is None:
                raise
            return complain(missing_package)
        notes = gathered.notes
        if result.usable and not (result.rules or result.not_applicable):
            advice = "name specifications; `safecheck worlds list` lists the specifications of each domain"
            notes = (
                *notes,
                Diagnostic(
                    SC.BAD_OPTION, "nothing to check: the specifications have no rule and no constraint", help=advice
                ),
            )
            result = result._replace(usable=False)
        result = result._replace(diagnostics=(*notes, *result.diagnostics), sources={**read, **result.sources})
    stream = standard_output()
    stream.write(
        renderer(form.value, terminal(color, stream)).result(without_ignored(result, ignore), gathered, ignore)
    )
    stream.flush()
    return result.exit_code(ignore)


def _gaps(
    gathered: LintInputs, examples: tuple[str, ...], seconds: float | None, judge: str, form: Format, color: str
) -> int:
    from plansafe.app.interfaces.cli import rule_gaps as gaps  # noqa: PLC0415 - loads the search

    result = gaps.search_gaps(gathered, examples, seconds, judge)
    if isinstance(result, Diagnostic):
        return complain(result)
    stream = standard_output()
    stream.write(gaps.format_gaps(result, form.value, terminal(color, stream)))
    stream.flush()
    if gaps.failed(result):
        return _UNUSABLE
    if result.gaps:
        return 1
    return 3 if result.diagnostics else 0  # 3: the search did not run


def without_ignored(result: LintResult, ignore: frozenset[str]) -> LintResult:
    """The result without the findings of ignored codes."""
    return result._replace(findings=tuple([fault for fault in result.findings if fault.code not in ignore]))
