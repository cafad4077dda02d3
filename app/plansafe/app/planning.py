"""The command ``plan``: a task in words and a problem to a language model, and its plan with the verdict."""

from __future__ import annotations

import math
import sys
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from plansafe.app.checking import Settings
from plansafe.app.configuration import Asked, configure
from plansafe.app.goals import read_goal
from plansafe.app.models import BaseUrl, ModelName
from plansafe.app.options import (
    AllowNoRules,
    Color,
    ColorChoice,
    DomainFile,
    Gate,
    HomeFile,
    JudgeOption,
    LenientTypes,
    LtlFormulas,
    MemoryLimit,
    NoDefaultSpec,
    NoProject,
    ProblemFile,
    SceneFile,
    SeverityChoice,
    SeverityOption,
    SlackOption,
    SpecFiles,
    TaskName,
    WorldName,
)
from plansafe.app.progress import tell
from plansafe.app.render.planned import PlannedJsonRenderer, PlannedRenderer
from plansafe.app.running import (
    MEMORY_MIB,
    REPORT,
    complain,
    guarded,
    limit_memory,
    print_text,
    remark,
    standard_output,
    terminal,
)
from plansafe.app.service import guard
from plansafe.app.usable import usable
from plansafe.app.values import BadOption, read_slack
from plansafe.app.writing import STANDARD_OUTPUT, NotWritten, save
from plansafe.app.writing import problem as unwritten
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.llm.loop.model import Decode, Style, Wishes
from plansafe.llm.prompts.wishes import PromptWishes
from plansafe.verifier.repair.model import RepairOptions

if TYPE_CHECKING:
    from plansafe.app.proposing import ModelOptions

_MOST_WORDS = 10_000
_STDOUT = "-"


class Format(StrEnum):
    """How the result is written."""

    FULL = "full"
    JSON = "json"


def plan(
    context: typer.Context,
    model: ModelName,
    words: Annotated[
        str, typer.Argument(metavar="WORDS", help="The task as a person would put it; the goal is the problem's.")
    ] = "",
    domain: DomainFile = None,
    problem: ProblemFile = None,
    spec: SpecFiles = None,
    ltl: LtlFormulas = None,
    no_default_spec: NoDefaultSpec = False,
    home: HomeFile = None,
    gate: Gate = False,
    allow_no_rules: AllowNoRules = False,
    world: WorldName = None,
    scene: SceneFile = None,
    goal: Annotated[
        str | None,
        typer.Option(metavar="GOAL", help="What the plan is to reach, in PDDL; with --world also a file of goals."),
    ] = None,
    task: TaskName = None,
    lenient_types: LenientTypes = False,
    judge: JudgeOption = None,
    min_severity: SeverityOption = SeverityChoice.LOW,
    decode: Annotated[Decode, typer.Option(help="How the plan is held to the task (docs/planning.md).")] = Decode.FREE,
    rounds: Annotated[
        int, typer.Option(min=1, max=50, metavar="N", help="Ask at most so often for a whole plan (free, grammar).")
    ] = 3,
    feedback: Annotated[Style, typer.Option(help="How much the model is told about its last plan.")] = Style.FINDING,
    last_resort: Annotated[
        bool,
        typer.Option(
            "--last-resort/--no-last-resort", help="Where no plan of the model is safe: repair the best, else plan."
        ),
    ] = True,
    slack: SlackOption = "1.5",
    max_steps: Annotated[
        int, typer.Option(min=1, max=10_000, metavar="N", help="Where no way is known, and under the grammar.")
    ] = 60,
    prompt_tokens: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Tell of the home what matters, in about N tokens. Default: all, if that is up to 4000, else 1500.",
        ),
    ] = None,
    safety_prompt: Annotated[
        bool, typer.Option("--safety-prompt", help="Tell the model to think of hazards at home.")
    ] = False,
    max_tokens: Annotated[int, typer.Option(min=1, metavar="N", help="Of one answer, reasoning included.")] = 1024,
    seed: Annotated[int | None, typer.Option(metavar="N", help="For mocks, and providers that draw by it.")] = None,
    reference: Annotated[
        str | None, typer.Option(metavar="FILE", help="The plan that `--model mock/reference` writes.")
    ] = None,
    time_limit: Annotated[float, typer.Option(min=0, metavar="SECONDS", help="For each repair; 0: none.")] = 30.0,
    base_url: BaseUrl = None,
    cache: Annotated[str | None, typer.Option(metavar="FILE", help="Where answers are kept.")] = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Keep no answer, and use none that is kept.")] = False,
    transcript: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write every call as JSON lines, which `replay/FILE` reads.")
    ] = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write a safe plan to a file (`-`: to standard output, and the report to standard error).",
        ),
    ] = None,
    form: Annotated[Format, typer.Option("--format", help="How to write the result.")] = Format.FULL,
    color: ColorChoice = Color.AUTO,
    memory_limit: MemoryLimit = MEMORY_MIB,
    no_project: NoProject = False,
) -> None:
    """Ask a language model for a plan, judge it, say what is wrong, and ask again, until a plan is SAFE.

    The report lists the plan with who contributed each step. Exit codes: 0 a plan that is SAFE or VALID, 1 PROVED that
    there is none, 2 usage, unreadable file or no answer, 3 NOT FOUND in the rounds, 4 a bug in safecheck.
    """
    settings = Settings(
        domain=domain,
        problem=problem,
        specs=tuple(spec or ()),
        default_spec=not no_default_spec,
        gate=gate,
        allow_no_rules=allow_no_rules,
        home=home,
        world=world,
        scene=scene,
        goal=None if _is_formula(goal) else goal,
        task=task,
        lenient_types=lenient_types,
        judge=None if judge is None else judge.value,
        min_severity=min_severity.value,
        ltl=tuple(ltl or ()),
        time_limit=time_limit,
    )
    now = configure(context, Asked((_STDOUT,), no_project, False), settings, form.value, memory_limit, tuple(Format))
    seconds = now.settings.time_limit
    settings = now.settings._replace(hashes=now.form == Format.JSON, time_limit=Settings().time_limit)
    limit_memory(now.memory)

    def work() -> int:
        if len(words) > _MOST_WORDS:
            raise BadOption(f"a task has at most {_MOST_WORDS:,} characters")
        if not math.isfinite(seconds):
            raise BadOption("--time-limit takes a number of seconds")
        wanted = read_goal(goal) if goal is not None and _is_formula(goal) else ""
        wishes = Wishes(
            decode,
            rounds,
            feedback,
            read_slack(slack),
            max_steps,
            max_tokens,
            seed,
            last_resort,
            RepairOptions(time_limit_s=seconds or None),
        )
        from plansafe.app.proposing import ModelOptions  # noqa: PLC0415 - loads the loop and the engine

        options = ModelOptions(model, base_url, cache, not no_cache, reference, seed or 0)
        out = _Out(output, transcript, Format(now.form), color.value)
        asking = PromptWishes(prompt_tokens, safety_prompt)
        return _planned(words, settings._replace(wanted=wanted), wishes, asking, options, out)

    raise typer.Exit(guarded(lambda: usable(settings, work)))


def _is_formula(goal: str | None) -> bool:
    """Whether a goal is a condition, and not the name of a file: conditions begin with a parenthesis."""
    return goal is not None and goal.lstrip()[:1] in ("(", ";")


class _Out(NamedTuple):
    """Where things are written, and how."""

    plan: str | None
    transcript: str | None
    form: Format
    color: str


def _planned(
    words: str, settings: Settings, wishes: Wishes, asking: PromptWishes, options: ModelOptions, out: _Out
) -> int:
    """Plan, print, write: the plan only if it is safe, and everything only when it is whole."""
    from plansafe.app.proposing import propose  # noqa: PLC0415 - loads the loop and the engine
    from plansafe.llm.loop.transcript import lines  # noqa: PLC0415 - for this command alone

    if out.transcript in STANDARD_OUTPUT or (out.transcript is not None and out.transcript == out.plan):
        raise BadOption("--transcript takes a file of its own")
    recorded = options.name.removeprefix("replay/") if options.name.startswith("replay/") else None
    kept = guard([path for path in (options.reference, recorded, options.cache) if path is not None], settings)
    place = _STDOUT if out.plan in STANDARD_OUTPUT else out.plan
    for name in (place, out.transcript):
        wrong = unwritten(name, kept)
        if wrong is not None:
            raise NotWritten(wrong)
    tell("waiting for the model ..")
    try:
        made = propose(words, settings, wishes, options, asking)
    finally:
        tell("")
    if isinstance(made, Diagnostic):
        return complain(made)
    kept = kept._replace(inputs={*kept.inputs, *[used.path for used in made.result.inputs]})
    if out.transcript is not None and made.planned is not None:
        remark(save(out.transcript, "".join(lines(made.planned)), kept))
    saved = None
    if place is not None and made.exit_code == 0 and made.text is not None:
        saved = place
        if place == _STDOUT:
            print_text(made.text)
        else:
            remark(save(place, made.text, kept))
    stream = sys.stderr if place == _STDOUT else standard_output()
    if out.form is Format.JSON:
        stream.write(PlannedJsonRenderer(settings).plan(made, saved))
    else:
        stream.write(PlannedRenderer(terminal(out.color, stream)).plan(made, saved))
    stream.flush()
    if made.result.failure is not None:
        print(made.result.failure + REPORT, file=sys.stderr)
    return made.exit_code
