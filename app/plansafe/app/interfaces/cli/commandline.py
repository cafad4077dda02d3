"""The whole command line, with every flag: flags to settings.

Start-up is most of a small run, so everything that ``--help`` or a misspelt flag does not need is imported inside the
command.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

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
    SelectRules,
    SeverityChoice,
    SeverityOption,
    ShowConfig,
    SpecFiles,
    TaskName,
    WorldName,
)
from plansafe.app.system.process import MEMORY_MIB
from plansafe.grammar.codes import SC

_LAZY = {
    "repair": "find the nearest safe plan",
    "plan": "ask a language model for a safe plan",
    "formalise": "ask a language model for the rule that a sentence means",
    "diagnose": "say where a plan went wrong, and why",
    "init": "write a project file for a folder of plans",
    "lint": "find what is wrong with a specification",
    "domains": "the worlds whose plans are read; a scene as PDDL",
    "server": "diagnostics, hovers and fixes in an editor (LSP)",
    "stats": "tables and plots of runs (audit --run)",
    "compare": "two runs over the same plans",
    "export": "runs as Parquet",
    "view": "a run on one page, without a server",
    "hazards": "which rules stand for which hazards",
    "detector": "make rules of a table",
    "scenario": "check scenarios of benchmarks, correct and review them",
    "verify-certificate": "check a proof that a plan is safe",
    "bench": "benchmarks of language models, and two runs compared",
    "pairs": "make pairs of a safe and an unsafe plan to train on",
    "score": "score outputs of models that were made elsewhere",
    "align": "train a language model on verdicts",
    "serve": "answer robots over HTTP, one session each",
    "mcp": "answer an agent by the Model Context Protocol",
    "models": "which language models can be asked",
    "ask": "one question to a language model",
}
"""Commands that are built only when they are called: every flag costs start-up time."""


_COMPLETION = (["--install-completion"], ["--show-completion"])


class Format(StrEnum):
    """How reports are written."""

    FULL = "full"
    CONCISE = "concise"
    JSON = "json"
    SARIF = "sarif"
    GITHUB = "github"
    GITLAB = "gitlab"
    JUNIT = "junit"
    HTML = "html"


class BlameChoice(StrEnum):
    """Which violations are listed."""

    INTRODUCED = "introduced"
    WORSENED = "worsened"
    PRE_EXISTING = "pre-existing"


class Engine(StrEnum):
    """What decides."""

    AUTO = "auto"
    EXPLICIT = "explicit"
    SAT = "sat"
    SMT = "smt"


class Executor(StrEnum):
    """Whose processes judge the plans of a run (`plansafe.app.runs.batch`)."""

    PROCESSES = "processes"
    RAY = "ray"


class Replay(StrEnum):
    """When the independent kernel replays a plan."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


@contextmanager
def _legible() -> Iterator[None]:
    """Mistakes on the command line may repeat the name of a file that somebody else has chosen."""
    try:
        yield
    except Exception as error:
        if isinstance(getattr(error, "message", None), str):
            from plansafe.app.system.terminal_text import visible  # noqa: PLC0415 - for a mistake alone

            error.message = visible(error.message)  # type: ignore[attr-defined] # typer's
        raise


class _Commands(TyperGroup):
    """``safecheck PLAN..`` is short for ``safecheck audit PLAN..``; the name of a command wins over a file's."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not ctx.resilient_parsing or args:  # a shell that asks for the first word wants the commands
            args = self._with_command(args)
        return super().parse_args(ctx, args)

    def _with_command(self, args: list[str]) -> list[str]:
        first = args[0] if args else ""
        if first in (*self.commands, *_LAZY) or first in {name for p in self.params for name in p.opts}:
            return args
        if (first[:1] != "-" and first.replace("-", "").isalpha()) or not args:
            from plansafe.app.interfaces.cli import usage as front  # noqa: PLC0415 - see there

            if not args:
                raise typer.Exit(front.print_usage(_LAZY))
            if first == "help":
                return front.help_for(args[1:], _LAZY)
            front.check_spelling(first, _LAZY)
        return ["audit", *args]

    def list_commands(self, ctx: Any) -> list[str]:
        return [*super().list_commands(ctx), *_LAZY]

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        if incomplete.startswith("-"):
            audit_command = self.get_command(ctx, "audit")
            with audit_command.make_context("audit", [], parent=ctx, resilient_parsing=True) as inner:
                return [*super().shell_complete(ctx, incomplete), *audit_command.shell_complete(inner, incomplete)]
        return super().shell_complete(ctx, incomplete)

    def make_context(self, *args: Any, **extra: Any) -> Any:
        with _legible():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: Any) -> Any:
        with _legible():
            return super().invoke(ctx)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name in _LAZY:
            from plansafe.app.interfaces.cli.commands import command  # noqa: PLC0415 - see _LAZY

            return command(cmd_name)
        return super().get_command(ctx, cmd_name)


app = typer.Typer(
    cls=_Commands,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    help="A verifier for plans.",
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def _root() -> None:
    """Keep ``audit`` a command among others."""


def _show_version(wanted: bool) -> None:
    if wanted:
        from plansafe.app.render import version  # noqa: PLC0415 - where something is shown

        print(f"safecheck {version()}")
        raise typer.Exit


def _show_page(code: str | None) -> None:
    if code is None:
        return
    from plansafe.app.explain import codes, page  # noqa: PLC0415 - for --explain alone

    text = page(code)
    if text is None:
        print(f"error[{SC.BAD_OPTION}]: no such code: {code!a}\nknown codes: {' '.join(codes())}", file=sys.stderr)
        raise typer.Exit(2)
    print(text, end="")
    raise typer.Exit


# click: lines after a \\b are left as they are
_EPILOG = "\b\nOther commands, each with --help:\n" + "\n".join([f"  {c:19} {about}" for c, about in _LAZY.items()])
_EPILOG += "\n\nFor completion in a shell: safecheck --install-completion"


@app.command(epilog=_EPILOG)
def audit(
    context: typer.Context,
    plans: Plans = None,
    domain: DomainFile = None,
    problem: ProblemFile = None,
    spec: SpecFiles = None,
    ltl: LtlFormulas = None,
    no_default_spec: NoDefaultSpec = False,
    home: HomeFile = None,
    ignore_rules: IgnoreRules = None,
    select_rules: SelectRules = None,
    kinds: ClassKindsOption = None,
    assume_harmless: HarmlessClasses = None,
    baseline: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Findings that this file knows fail no plan; it says what is gone."),
    ] = None,
    write_baseline: Annotated[
        str | None,
        typer.Option("--write-baseline", metavar="FILE", help="Write what is found now as a baseline."),
    ] = None,
    require_rules: Annotated[
        bool, typer.Option("--require-rules", help="Exit with 2 if no rule had anything to check.")
    ] = False,
    gate: Gate = False,
    allow_no_rules: AllowNoRules = False,
    reading: Reading = From.PDDL,
    accept_remarks: AcceptRemarks = False,
    world: WorldName = None,
    scene: SceneFile = None,
    goal: GoalFile = None,
    task: TaskName = None,
    fix: Annotated[
        bool,
        typer.Option(
            "--fix", help="Then write the nearest safe plan over the plan; of standard input, print it. See `repair`."
        ),
    ] = False,
    diff: Annotated[
        bool, typer.Option("--diff", help="Print what --fix would change, as a unified diff, and nothing else.")
    ] = False,
    form: Annotated[Format, typer.Option("--format", help="How to write the report.")] = Format.FULL,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write the report to a file, which is replaced only when it is complete.",
        ),
    ] = None,
    run: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER", help="Judge many plans into a new folder, print a summary (docs/batches.md). See `stats`."
        ),
    ] = None,
    resume: Annotated[str | None, typer.Option(metavar="FOLDER", help="Go on with a run that was broken off.")] = None,
    jobs: Annotated[int | None, typer.Option(min=1, max=4096, metavar="N", help="Processes of a run.")] = None,
    executor: Annotated[
        Executor | None, typer.Option(help="Whose processes: this machine's, or those of Ray (docs/batches.md).")
    ] = None,
    address: Annotated[
        str | None, typer.Option(metavar="HOST:PORT", help="Of a Ray cluster; without it Ray is started here.")
    ] = None,
    id_column: Annotated[
        str | None, typer.Option("--id", metavar="COLUMN", help="What names the plans of a table, in a run.")
    ] = None,
    plan_column: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Where a table has its plans, in a run.")
    ] = None,
    color: ColorChoice = Color.AUTO,
    every: Annotated[
        bool, typer.Option("--all", help="Show also what only follows from a failed step, which is counted otherwise.")
    ] = False,
    full_state: Annotated[
        bool, typer.Option("--full-state", help="Show the whole state that each finding was judged in.")
    ] = False,
    judge: JudgeOption = None,
    min_severity: SeverityOption = SeverityChoice.LOW,
    blame: Annotated[
        list[BlameChoice] | None, typer.Option(help="List only violations with this blame. May be repeated.")
    ] = None,
    lenient_types: LenientTypes = False,
    tolerance: Annotated[str, typer.Option(metavar="TIME", help="Tolerance of durations and separation.")] = "0.001",
    replay: Annotated[Replay, typer.Option(help="Check findings with the independent kernel.")] = Replay.AUTO,
    engine: Annotated[
        Engine, typer.Option(help="What decides; `explicit` replays one world (docs/worlds.md).")
    ] = Engine.AUTO,
    no_inferred_invariants: Annotated[
        bool, typer.Option("--no-inferred-invariants", help="Assume no invariant that is not written down.")
    ] = False,
    double_check: Annotated[
        bool, typer.Option("--double-check", help="Ask a second solver, where a solver decides.")
    ] = False,
    certificate: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Write the proof that a plan is SAFE, where a solver decided it."),
    ] = None,
    time_limit: Annotated[float, typer.Option(min=0, metavar="SECONDS", help="For each plan; 0: none.")] = 300.0,
    memory_limit: MemoryLimit = MEMORY_MIB,
    max_findings: Annotated[
        int, typer.Option(min=1, metavar="N", help="List at most so many findings for a plan.")
    ] = 100,
    max_instances: Annotated[
        int, typer.Option(min=1, metavar="N", help="Give up on a rule with more instances at work than this.")
    ] = 5_000_000,
    no_project: NoProject = False,
    show_config: ShowConfig = False,
    explain: Annotated[
        str | None,
        typer.Option(
            metavar="CODE", is_eager=True, callback=_show_page, help="Explain a code such as SC201, and exit."
        ),
    ] = None,
    version: Annotated[
        bool,
        typer.Option("--version", "-V", is_eager=True, callback=_show_version, help="Print the version, and exit."),
    ] = False,
) -> None:
    """Judge plans: can they be executed, do they reach the goal, are they safe?

    Without flags, the domain, the problem and the specification are found beside the plan or among the shipped ones;
    the report says what was used. Exit codes: 0 SAFE or VALID, 1 INVALID or UNSAFE, 2 usage, unreadable file or
    ill-formed step (1 with --from text), 3 UNKNOWN, 4 a bug in safecheck. A batch returns the first present of 4, 2,
    1, 3, 0. With --fix and --diff they are those of `safecheck repair`.
    """
    from plansafe.app.interfaces.cli.audit_command import audit_plans  # noqa: PLC0415 - not needed to answer --help
    from plansafe.app.interfaces.cli.configuration import Asked, configure, with_flags  # noqa: PLC0415
    from plansafe.app.session.model import Settings  # noqa: PLC0415
    from plansafe.app.system.process import guarded, limit_memory  # noqa: PLC0415

    settings = Settings(
        domain=domain,
        problem=problem,
        specs=tuple(spec or ()),
        default_spec=not no_default_spec,
        gate=gate,
        allow_no_rules=allow_no_rules,
        require_rules=require_rules,
        lenient_types=lenient_types,
        judge=None if judge is None else judge.value,
        min_severity=min_severity.value,
        blame=tuple(choice.value for choice in blame or ()),
        tolerance=tolerance,
        time_limit=time_limit,
        max_findings=max_findings,
        max_instances=max_instances,
        full_state=full_state,
        every=every,
        replay=replay.value,
        loose=reading is From.TEXT,
        accept_remarks=accept_remarks,
        engine=engine.value,
        infer_invariants=not no_inferred_invariants,
        certificate=certificate is not None,
        double_check=double_check,
        world=world,
        scene=scene,
        goal=goal,
        task=task,
        ltl=tuple(ltl or ()),
        home=home,
        baseline=baseline,
    )
    of_runs: list[object] = [jobs, id_column, plan_column, executor, address]
    of_a_run = run is not None or resume is not None
    if of_a_run or any([flag is not None for flag in of_runs]):
        from plansafe.app.runs.batch import Batch, refused, run_plans  # noqa: PLC0415 - for many plans alone

        others = {"--fix": fix, "--diff": diff, "--output": output, "--certificate": certificate}
        others |= {"--baseline": baseline, "--write-baseline": write_baseline}
        others |= {f"--format {form.value}": form is not Format.FULL}
        who = (executor or Executor.PROCESSES).value
        code = refused(bool(plans), run, resume, of_runs, [k for k in others if others[k]], who, address)
        if code is not None:
            raise typer.Exit(code)
        batch = Batch(run or resume or "", resume is not None, jobs or 1, id_column, plan_column, who, address)
    asked = Asked(plans, no_project, show_config)
    settings = with_flags(settings, ignore_rules, select_rules, kinds, assume_harmless)
    now = configure(context, asked, settings, form.value, memory_limit, tuple(Format))
    settings = now.settings
    if of_a_run:
        batch = batch._replace(memory=now.memory)
        if executor is not Executor.RAY:  # whose processes have the limit, not what they are started by
            limit_memory(now.memory)
        raise typer.Exit(guarded(lambda: run_plans(plans or [], settings, batch)))
    limit_memory(now.memory)
    raise typer.Exit(
        guarded(
            lambda: audit_plans(
                plans or [], settings, now.form, output, color.value, fix, diff, certificate, write_baseline
            )
        )
    )


def run() -> int:
    """Run the command line; an exit code, where Typer does not end the process with one."""
    if "_SAFECHECK_COMPLETE" in os.environ or sys.argv[1:2] in _COMPLETION:
        from plansafe.app.interfaces.cli.usage import complete  # noqa: PLC0415 - what it takes costs start-up time

        complete(app, _Commands)
    app(prog_name="safecheck")
    return 0
