"""The commands beside ``audit``. They are built only when one of them is called."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated, Any, Protocol, TextIO

import typer

from plansafe.app.interfaces.cli.align.commands import app as align
from plansafe.app.interfaces.cli.bench.commands import app as bench
from plansafe.app.interfaces.cli.bench.commands import score
from plansafe.app.interfaces.cli.command_frame import usable
from plansafe.app.interfaces.cli.configuration import Asked, configure, with_flags
from plansafe.app.interfaces.cli.domains import app as domains
from plansafe.app.interfaces.cli.formalise import formalise
from plansafe.app.interfaces.cli.hazards import detector, hazards
from plansafe.app.interfaces.cli.init import init
from plansafe.app.interfaces.cli.language_server import server
from plansafe.app.interfaces.cli.lint import lint
from plansafe.app.interfaces.cli.models import BaseUrl, ask, models
from plansafe.app.interfaces.cli.options import (
    AcceptRemarks,
    AllowNoRules,
    ClassKindsOption,
    Color,
    ColorChoice,
    DomainFile,
    From,
    Gate,
    GoalFile,
    HarmlessClasses,
    HomeFile,
    IgnoreRules,
    JudgeChoice,
    JudgeOption,
    LenientTypes,
    LtlFormulas,
    MemoryLimit,
    NoDefaultSpec,
    NoProject,
    Plans,
    ProblemFile,
    Reading,
    SceneFile,
    SceneOnly,
    SelectRules,
    SeverityChoice,
    SeverityOption,
    ShowConfig,
    SpecFiles,
    TaskName,
    WorldName,
)
from plansafe.app.interfaces.cli.pairs import pairs
from plansafe.app.interfaces.cli.plan import plan
from plansafe.app.interfaces.cli.plan_output import Format as PlannedFormat
from plansafe.app.interfaces.cli.plan_output import Out, planned
from plansafe.app.interfaces.cli.run_tables import compare, export, stats
from plansafe.app.interfaces.cli.scenario.commands import app as scenarios
from plansafe.app.interfaces.cli.scenario.generation import new
from plansafe.app.interfaces.cli.scenario.review_sheets import agreement, sheet
from plansafe.app.interfaces.cli.serve import mcp, serve
from plansafe.app.interfaces.cli.verify_certificate import verify_certificate
from plansafe.app.interfaces.pages.run_page import view
from plansafe.app.session.audit import combined_exit_code, expand, guard, with_folders
from plansafe.app.session.model import Settings
from plansafe.app.session.option_values import BadOption, read_max_cost, read_steps, read_weights
from plansafe.app.session.repair import ExaminationOptions, Examined, examine
from plansafe.app.system.file_writing import STANDARD_OUTPUT, Guard, NotWritten, problem, save
from plansafe.app.system.process import (
    MEMORY_MIB,
    REPORT,
    guarded,
    limit_memory,
    print_text,
    remark,
    standard_output,
    terminal,
)
from plansafe.app.system.progress import SearchProgress, tell
from plansafe.app.system.terminal_text import Style
from plansafe.llm.loop.model import Style as FeedbackStyle
from plansafe.llm.loop.model import Wishes
from plansafe.verifier.repair.model import RepairOptions

STDOUT = "-"
_DOT = b"digraph"
_SEARCHING = "looking for the nearest safe plan .."

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
app.command("ask")(ask)
app.command("score")(score)
app.command("detector")(detector)
app.command("hazards")(hazards)
app.command("view")(view)
app.command("stats")(stats)
app.command("compare")(compare)
app.command("export")(export)
app.command("init")(init)
app.command("lint")(lint)
app.command("mcp")(mcp)
app.command("models")(models)
app.command("pairs")(pairs)
app.command("plan")(plan)
app.command("formalise")(formalise)
app.command("server")(server)
app.command("serve")(serve)
app.command("verify-certificate")(verify_certificate)
app.add_typer(align, name="align")
app.add_typer(bench, name="bench")
app.add_typer(domains, name="domains")
scenarios.command("new", short_help="Let a language model propose scenarios; keep what passes the checks.")(new)
scenarios.command("sheet", short_help="Write a sheet on which a person judges scenarios.")(sheet)
scenarios.command("agreement", short_help="Say how far two filled-in sheets agree.")(agreement)
app.add_typer(scenarios, name="scenario")


def command(name: str) -> Any:
    """The click command of that name."""
    group: Any = typer.main.get_command(app)
    return group.commands[name]


class Format(StrEnum):
    """How results are written."""

    FULL = "full"
    JSON = "json"


class Scheme(StrEnum):
    """Published schemes of one label for each plan."""

    SAFEL = "safel"
    EAI_VIRTUALHOME = "eai-virtualhome"
    EAI_BEHAVIOR = "eai-behavior"


FormatChoice = Annotated[Format, typer.Option("--format", help="How to write the result.")]
TimeLimit = Annotated[float, typer.Option(min=0, metavar="SECONDS", help="For each search; 0: none.")]
MaxCost = Annotated[
    str | None,
    typer.Option(metavar="COST", help="Look for no repair that costs more. Default: go on until the time limit."),
]


@app.command()
def repair(
    context: typer.Context,
    plans: Plans = None,
    domain: DomainFile = None,
    problem: ProblemFile = None,
    spec: SpecFiles = None,
    ltl: LtlFormulas = None,
    no_default_spec: NoDefaultSpec = False,
    gate: Gate = False,
    allow_no_rules: AllowNoRules = False,
    lenient_types: LenientTypes = False,
    home: HomeFile = None,
    ignore_rules: IgnoreRules = None,
    select_rules: SelectRules = None,
    kinds: ClassKindsOption = None,
    assume_harmless: HarmlessClasses = None,
    reading: Reading = From.PDDL,
    accept_remarks: AcceptRemarks = False,
    world: WorldName = None,
    scene: SceneFile = None,
    goal: GoalFile = None,
    task: TaskName = None,
    protect: Annotated[
        list[str] | None,
        typer.Option(metavar="STEPS", help="Keep these steps, such as `3,5-7`. May be repeated."),
    ] = None,
    weights: Annotated[
        str, typer.Option(metavar="KIND=COST,..", help="What an insert, delete, substitute or move costs; 1 each.")
    ] = "",
    max_cost: MaxCost = None,
    judge: JudgeOption = None,
    min_severity: SeverityOption = SeverityChoice.LOW,
    time_limit: TimeLimit = 30.0,
    every: Annotated[bool, typer.Option("--all", help="List all repairs of the least cost in full.")] = False,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write the repaired plan to a file (`-`: to standard output, and the report to standard error).",
        ),
    ] = None,
    form: FormatChoice = Format.FULL,
    color: ColorChoice = Color.AUTO,
    memory_limit: MemoryLimit = MEMORY_MIB,
    no_project: NoProject = False,
    show_config: ShowConfig = False,
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", metavar="PROVIDER/NAME", help="Let a language model mend it first."),
    ] = None,
    words: Annotated[str, typer.Option(metavar="WORDS", help="With --model: the task in words.")] = "",
    rounds: Annotated[int, typer.Option(min=1, max=50, metavar="N", help="With --model: ask at most so often.")] = 3,
    feedback: Annotated[
        FeedbackStyle, typer.Option(help="With --model: how much it is told about the plan.")
    ] = FeedbackStyle.FINDING,
    last_resort: Annotated[
        bool, typer.Option("--last-resort/--no-last-resort", help="With --model: the engine repairs where it did not.")
    ] = True,
    base_url: BaseUrl = None,
    cache: Annotated[str | None, typer.Option(metavar="FILE", help="With --model: where answers are kept.")] = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="With --model: keep no answer, use none kept.")] = False,
    transcript: Annotated[
        str | None, typer.Option(metavar="FILE", help="With --model: write every call as JSON lines.")
    ] = None,
) -> None:
    """Find the nearest safe plan: the fewest steps to insert, delete, replace or move until a plan is SAFE.

    What `--judge` leaves out of the verdict may stay as it is: in a world, hazards that were there before. Every new
    step must be needed; every repair is replayed before it is shown. With --model a language model mends the plan by
    what is wrong with it, and this search is the last resort. Exit codes: 0 a safe plan (also if it was safe before),
    1 PROVED that there is none, 2 usage or unreadable file, 3 NOT FOUND within the limits, 4 a bug in safecheck. A
    batch returns the first present of 4, 2, 1, 3, 0.
    """
    settings = _settings(domain, problem, spec, no_default_spec, gate, allow_no_rules, lenient_types, reading)._replace(
        accept_remarks=accept_remarks,
        world=world,
        scene=scene,
        goal=goal,
        task=task,
        time_limit=time_limit,
        ltl=tuple(ltl or ()),
        home=home,
    )
    settings = with_flags(settings, ignore_rules, select_rules, kinds, assume_harmless)
    asked = Asked(plans, no_project, show_config)
    form, seconds, settings = _begun(context, asked, settings, judge, min_severity, form, memory_limit)

    def work() -> int:
        options = RepairOptions(
            weights=read_weights(weights) if weights else RepairOptions().weights,
            protected=read_steps("--protect", protect or ()),
            max_cost=read_max_cost(max_cost),
            time_limit_s=_seconds(seconds),
        )
        place = STDOUT if output in STANDARD_OUTPUT else output
        paths, kept = _one_output("--output", place, plans or [], settings)
        if model is not None:
            wishes = Wishes(
                rounds=rounds,
                feedback=feedback,
                last_resort=last_resort,
                repair=options,
                accept_remarks=settings.accept_remarks,
            )
            out = Out(output, transcript, PlannedFormat(form.value), color.value, inputs=tuple(paths))
            return _mended(paths, settings, words, wishes, (model, base_url, cache, not no_cache), out)
        examined = examine(paths, settings, ExaminationOptions(options, progress=SearchProgress(_SEARCHING)))
        stream = sys.stderr if place == STDOUT else standard_output()
        view = _view(form, settings, terminal(color, stream), changes=True, every=every)
        return _shown(examined, view, stream, place, kept)

    raise typer.Exit(guarded(lambda: usable(settings, work)))


def _mended(
    paths: list[str],
    settings: Settings,
    words: str,
    wishes: Wishes,
    model: tuple[str, str | None, str | None, bool],
    out: Out,
) -> int:
    """Let a model mend one plan; the engine has the last word."""
    from plansafe.app.session.model_plan import Asked as Wanted  # noqa: PLC0415 - loads the loop and the engine
    from plansafe.app.session.model_plan import ModelOptions, mend  # noqa: PLC0415

    if len(paths) != 1:
        raise BadOption(f"--model takes one plan, not {len(paths)}", "name one plan")
    options, asked = ModelOptions(*model), Wanted(words, wishes)
    return planned(lambda using: mend(paths[0], using, asked, options), settings, options, out)


def _settings(
    domain: str | None,
    problem: str | None,
    spec: list[str] | None,
    no_default_spec: bool,
    gate: bool,
    allow_no_rules: bool,
    lenient_types: bool,
    reading: From,
) -> Settings:
    return Settings(
        domain=domain,
        problem=problem,
        specs=tuple(spec or ()),
        default_spec=not no_default_spec,
        gate=gate,
        allow_no_rules=allow_no_rules,
        lenient_types=lenient_types,
        loose=reading is From.TEXT,
    )


def _begun(
    context: typer.Context,
    asked: Asked,
    settings: Settings,
    judge: JudgeChoice | None,
    min_severity: SeverityChoice,
    form: Format,
    memory_limit: int,
) -> tuple[Format, float, Settings]:
    """What is in force with the project file: the format, the seconds of a search, the settings of an audit.

    From here on the memory is limited.
    """
    given = settings._replace(judge=None if judge is None else judge.value, min_severity=min_severity.value)
    now = configure(context, asked, given, form.value, memory_limit, tuple(Format))
    settings = now.settings._replace(hashes=now.form == Format.JSON, time_limit=Settings().time_limit)
    settings = with_folders(settings, list(asked.plans or ()))
    limit_memory(now.memory)
    return Format(now.form), now.settings.time_limit, settings


def _seconds(limit: float) -> float | None:
    if not math.isfinite(limit):
        raise BadOption("--time-limit takes a number of seconds")
    return limit or None


def _one_output(flag: str, output: str | None, plans: list[str], settings: Settings) -> tuple[list[str], Guard]:
    """The plans, of which there must be one where something is written for it; better known before a long search.

    With them, what may not be written over.
    """
    paths = expand(plans, settings)
    kept = guard(paths, settings)
    if output is not None and len(paths) > 1:
        raise BadOption(f"{flag} takes one plan, not {len(paths)}", "name one plan")
    wrong = problem(output, kept)
    if wrong is not None:
        raise NotWritten(wrong)
    return paths, kept


class _View(Protocol):
    def plan(self, examined: Examined, written: str | None = None) -> str:
        """Render one plan."""


def _view(form: Format, settings: Settings, style: Style, changes: bool, every: bool = False) -> _View:
    if form is Format.JSON:
        from plansafe.app.render import version  # noqa: PLC0415 - where something is shown
        from plansafe.app.render.repair_json import RepairJsonRenderer  # noqa: PLC0415

        return RepairJsonRenderer(settings, version())
    from plansafe.app.render.repair import RepairRenderer  # noqa: PLC0415 - where something is shown

    return RepairRenderer(style, changes, every)


def _shown(
    results: Iterator[Examined], view: _View, stream: TextIO, output: str | None, kept: Guard, graph: bool = False
) -> int:
    """Print what was found out; write the repaired plan, or else the graph, to ``output``, over nothing ``kept``."""
    codes = set()
    tell(_SEARCHING)
    for examined in results:
        tell("")
        code, saved = examined.exit_code, None
        text = examined.graph if graph else examined.text
        if output is not None and text is not None:
            _save(output, text, kept._replace(inputs={*kept.inputs, *[i.path for i in examined.result.inputs]}))
            saved = output
        codes.add(code)
        stream.write(view.plan(examined, saved))
        stream.flush()
        if examined.result.failure is not None:
            print(examined.result.failure + REPORT, file=sys.stderr)
        tell(_SEARCHING)
    tell("")
    return combined_exit_code(codes)


def _is_other(path: str) -> bool:
    """Whether a file is there that is no graph in DOT."""
    if not os.path.isfile(path):
        return False
    try:
        with open(path, "rb") as file:
            return file.read(len(_DOT)) not in (_DOT, b"")
    except OSError:
        return False


def _save(output: str, text: str, kept: Guard) -> None:
    """Raises :class:`NotWritten`."""
    if output == STDOUT:
        print_text(text)
    else:
        remark(save(output, text, kept))


@app.command()
def diagnose(
    context: typer.Context,
    plans: Plans = None,
    domain: DomainFile = None,
    problem: ProblemFile = None,
    spec: SpecFiles = None,
    ltl: LtlFormulas = None,
    no_default_spec: NoDefaultSpec = False,
    gate: Gate = False,
    allow_no_rules: AllowNoRules = False,
    lenient_types: LenientTypes = False,
    home: HomeFile = None,
    ignore_rules: IgnoreRules = None,
    select_rules: SelectRules = None,
    kinds: ClassKindsOption = None,
    assume_harmless: HarmlessClasses = None,
    reading: Reading = From.PDDL,
    accept_remarks: AcceptRemarks = False,
    world: WorldName = None,
    scene: SceneOnly = None,
    goal: GoalFile = None,
    task: TaskName = None,
    reference: Annotated[
        str | None, typer.Option(metavar="FILE", help="A right plan: say where this one leaves it.")
    ] = None,
    regret: Annotated[
        bool, typer.Option("--regret", help="Say for each step how much longer it made the shortest safe way.")
    ] = False,
    cause: Annotated[
        bool, typer.Option("--cause", help="Find the fewest steps and initial facts that suffice for each finding.")
    ] = False,
    labels: Annotated[
        Scheme | None,
        typer.Option(help="Print one published label for each plan, and nothing else (docs/labels.md)."),
    ] = None,
    graph: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write what each step gives to which as a graph, in DOT (`-`: only that)."),
    ] = None,
    max_cost: MaxCost = None,
    judge: JudgeOption = None,
    min_severity: SeverityOption = SeverityChoice.LOW,
    time_limit: TimeLimit = 30.0,
    form: FormatChoice = Format.FULL,
    color: ColorChoice = Color.AUTO,
    memory_limit: MemoryLimit = MEMORY_MIB,
    no_project: NoProject = False,
    show_config: ShowConfig = False,
) -> None:
    """Say what is wrong with a plan, where it went wrong, and why.

    Without flags: the classes of error, each with a witness; the first violated rule, the first step that cannot be
    taken, and the point of no return, past which no safe plan can be reached (planners are asked; where they give up,
    between which steps it lies). Exit codes: those of `safecheck repair`.
    """
    settings = _settings(domain, problem, spec, no_default_spec, gate, allow_no_rules, lenient_types, reading)._replace(
        accept_remarks=accept_remarks,
        world=world,
        scene=scene,
        goal=goal,
        task=task,
        time_limit=time_limit,
        ltl=tuple(ltl or ()),
        home=home,
    )
    settings = with_flags(settings, ignore_rules, select_rules, kinds, assume_harmless)
    asked = Asked(plans, no_project, show_config)
    form, seconds, settings = _begun(context, asked, settings, judge, min_severity, form, memory_limit)

    if labels:  # a published scheme knows no profile
        settings = settings._replace(home=None, ignore=(), select=(), classes=(), allow_in_plans=False)

    def work() -> int:
        if labels and (home is not None or ignore_rules or select_rules or kinds or assume_harmless):
            advice = "leave --home, --ignore, --select, --kind and --assume-harmless out"
            raise BadOption("--labels takes no profile of a home", advice)
        options = RepairOptions(max_cost=read_max_cost(max_cost), time_limit_s=_seconds(seconds))
        place = STDOUT if graph in STANDARD_OUTPUT else graph
        if place is not None and _is_other(place):
            # `audit --graph` reads a scene: here it would be lost.
            message = f"cannot write {place}: it is there already, and is no graph in DOT"
            raise BadOption(message, "--graph is where the graph is written; a scene is given with --scene")
        paths, kept = _one_output("--graph", place, plans or [], settings)
        stream = sys.stderr if place == STDOUT else standard_output()
        view = _view(form, settings, terminal(color, stream), changes=False)
        wishes = ExaminationOptions(
            options,
            where=True,
            reference=reference,
            regret=regret,
            causes=cause,
            graph=place is not None,
            labels=labels.value if labels else None,
            progress=SearchProgress(_SEARCHING),
        )
        return _shown(examine(paths, settings, wishes), view, stream, place, kept, graph=True)

    raise typer.Exit(guarded(lambda: usable(settings, work)))
