"""The command ``plan``: a task in words and a problem to a language model, and its plan with the verdict."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Annotated

import typer

from plansafe.app.interfaces.cli.command_frame import usable
from plansafe.app.interfaces.cli.configuration import Asked, configure
from plansafe.app.interfaces.cli.models import BaseUrl, CacheFile, ModelName, NoCache
from plansafe.app.interfaces.cli.options import (
    AcceptRemarks,
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
from plansafe.app.interfaces.cli.plan_output import Format, Out, planned
from plansafe.app.session.goal_text import read_goal
from plansafe.app.session.model import Settings
from plansafe.app.session.option_values import BadOption, read_slack
from plansafe.app.system.process import (
    MEMORY_MIB,
    guarded,
    limit_memory,
)
from plansafe.llm.loop.model import Decode, Style, Wishes
from plansafe.llm.prompts.wishes import PromptStyle, PromptWishes
from plansafe.verifier.repair.model import BOUNDED_WORK, RepairOptions

if TYPE_CHECKING:
    pass

_MOST_WORDS = 10_000
_STDOUT = "-"


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
    accept_remarks: AcceptRemarks = False,
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
    goal_from_words: Annotated[
        bool,
        typer.Option("--goal-from-words", help="Let the model say what the goal is (always, where the task has none)."),
    ] = False,
    goal_only: Annotated[
        bool,
        typer.Option("--goal-only", help="Print the goal in PDDL, to be corrected and given with --goal, and end."),
    ] = False,
    style: Annotated[
        PromptStyle | None,
        typer.Option(
            help="Show these examples. Default: few-shot where examples are there for the domain, else zero-shot.",
            show_default=False,
        ),
    ] = None,
    shots: Annotated[int, typer.Option(min=1, max=20, metavar="N", help="How many examples are shown.")] = 2,
    example: Annotated[
        list[str] | None,
        typer.Option(metavar="PLAN", help="A plan to show, in place of those that are shipped. May be repeated."),
    ] = None,
    replan: Annotated[
        bool | None,
        typer.Option("--replan/--no-replan", help="Go on from the step that fails (default with `--style nearest`)."),
    ] = None,
    post_process: Annotated[
        bool, typer.Option("--post-process", help="Map steps that cannot be taken to the nearest that can.")
    ] = False,
    allow_refusal: Annotated[
        bool, typer.Option("--allow-refusal", help="Tell the model that it may refuse, and why it may.")
    ] = False,
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
    temperature: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=10,
            help="Draw each answer with this temperature. Default: 0, and 0.7 for retries.",
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option(metavar="N", help="For mocks, and providers that draw by it.")] = None,
    reference: Annotated[
        str | None, typer.Option(metavar="FILE", help="The plan that `--model mock/reference` writes.")
    ] = None,
    time_limit: Annotated[float, typer.Option(min=0, metavar="SECONDS", help="For each repair; 0: none.")] = 30.0,
    base_url: BaseUrl = None,
    timeout: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="Give up each try of a request to a server after SECONDS. Default: 600."),
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(
            min=1, max=256, metavar="N", help="Run a model in this process on N threads. Default: 1, llama.cpp 2."
        ),
    ] = None,
    cache: CacheFile = None,
    no_cache: NoCache = False,
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
        from plansafe.app.session.model_plan import (  # noqa: PLC0415 - loads the loop and the engine
            Asked,
            ModelOptions,
            propose,
        )

        if len(words) > _MOST_WORDS:
            raise BadOption(f"a task has at most {_MOST_WORDS:,} characters")
        if not math.isfinite(seconds):
            raise BadOption("--time-limit takes a number of seconds")
        if timeout is not None and not 0 < timeout < math.inf:
            raise BadOption("--timeout takes a number of seconds above 0")
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
            RepairOptions(time_limit_s=seconds or None, max_work=BOUNDED_WORK),
            style is PromptStyle.NEAREST and not decode.stepwise if replan is None else replan,
            post_process,
            allow_refusal,
            temperature,
            accept_remarks,
        )
        _check_wishes(wishes)
        asking = PromptWishes(
            prompt_tokens, safety_prompt, allow_refusal, _style(style, example), shots, tuple(example or ())
        )
        asked = Asked(words, wishes, asking, goal_from_words, goal_only)
        options = ModelOptions(model, base_url, cache, not no_cache, reference, seed or 0, timeout, threads)
        out = Out(output, transcript, Format(now.form), color.value, goal_only, tuple(example or ()))
        return planned(lambda using: propose(using, asked, options), settings._replace(wanted=wanted), options, out)

    raise typer.Exit(guarded(lambda: usable(settings, work)))


def _is_formula(goal: str | None) -> bool:
    """Whether a goal is a condition, and not the name of a file: conditions begin with a parenthesis."""
    return goal is not None and goal.lstrip()[:1] in ("(", ";")


def _style(style: PromptStyle | None, examples: list[str] | None) -> PromptStyle | None:
    """Who names examples wants them shown."""
    return PromptStyle.FEW_SHOT if examples and style in (None, PromptStyle.ZERO_SHOT) else style


def _check_wishes(wishes: Wishes) -> None:
    """Raises :class:`BadOption` for what makes no sense where a plan is built step by step."""
    for flag, wished in (
        ("--replan", wishes.replan),
        ("--post-process", wishes.mapping),
        ("--allow-refusal", wishes.refusal),
    ):
        if wished and wishes.decode.stepwise:
            message = f"{flag} is for whole plans, not for --decode {wishes.decode.value}"
            raise BadOption(message, "leave one of them out")
