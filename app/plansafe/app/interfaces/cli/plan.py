"""The command ``plan``: a task in words and a problem to a language model, and its plan with the verdict."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from plansafe.app.interfaces.cli.command_frame import usable
from plansafe.app.interfaces.cli.configuration import Asked, configure
from plansafe.app.interfaces.cli.plan_output import Format, Out, planned
from plansafe.app.options.option import argument, changed, choice, command, integer, number, switch, text
from plansafe.app.options.shared import (
    Assignments,
    ColorOption,
    GateOption,
    HomeOption,
    LtlOption,
    MemoryLimit,
    ModelName,
    ModelRetries,
    ModelServer,
    NoProject,
    NoRulesOption,
    ReadingOptions,
    SlackOption,
    SpecFiles,
    TaskFiles,
    TimeLimit,
    Transcript,
    TypeOptions,
    VerdictOptions,
    WorldOptions,
)
from plansafe.app.session.goal_text import read_goal
from plansafe.app.session.model import Settings
from plansafe.app.session.option_values import BadOption, read_slack
from plansafe.app.system.process import (
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


class PlanOptions(
    ModelName,
    ModelServer,
    Transcript,
    ModelRetries,
    TaskFiles,
    WorldOptions,
    TypeOptions,
    SpecFiles,
    LtlOption,
    HomeOption,
    GateOption,
    NoRulesOption,
    VerdictOptions,
    SlackOption,
    TimeLimit,
    ColorOption,
    MemoryLimit,
    NoProject,
    Assignments,
    group="Model",
):
    """The options of ``plan``."""

    accept_remarks: bool = changed(ReadingOptions.accept_remarks, setting="")
    words: str = argument("[WORDS]", "The task as a person would put it; the goal is the problem's.", default="")
    goal: str | None = changed(
        WorldOptions.goal,
        metavar="GOAL",
        help="Plan for this goal in PDDL; with --world also a file of goals.",
    )
    decode: Decode = choice(
        "--decode",
        values=Decode,
        default=Decode.FREE,
        help="Hold the plan to the task this way (docs/language-models.md).",
    )
    max_steps: int = integer(
        "--max-steps",
        metavar="N",
        default=60,
        low=1,
        high=10_000,
        help="Limit the plan to N steps, where no reference plan is known, and under the grammar.",
        key="plan.max_steps",
        only_set=True,
    )
    goal_from_words: bool = switch(
        "--goal-from-words", help="Let the model name the goal (always, where the task has none)."
    )
    goal_only: bool = switch("--goal-only", help="Print the goal in PDDL, to be corrected and given with --goal.")
    style: PromptStyle | None = choice(
        "--style",
        values=PromptStyle,
        help="Show these examples; default: few-shot where the domain has examples, else zero-shot.",
        key="plan.style",
        only_set=True,
    )
    shots: int = integer(
        "--shots",
        metavar="N",
        default=2,
        low=1,
        high=20,
        help="Show N examples.",
        key="plan.shots",
        only_set=True,
    )
    example: tuple[str, ...] = text(
        "--example",
        metavar="PLAN",
        many=True,
        help="Show this plan in place of the shipped examples. May be repeated.",
        key="plan.example",
        only_set=True,
    )
    replan: bool | None = switch(
        "--replan",
        off="--no-replan",
        default=None,
        help="Continue from the step that fails (default with style nearest).",
        key="plan.replan",
        only_set=True,
    )
    post_process: bool = switch(
        "--post-process",
        help="Map steps that cannot be executed to the nearest that can.",
        key="plan.post_process",
        only_set=True,
    )
    allow_refusal: bool = switch(
        "--allow-refusal",
        help="Tell the model that it may refuse, and why it may.",
        key="plan.allow_refusal",
        only_set=True,
    )
    prompt_tokens: int | None = integer(
        "--prompt-tokens",
        metavar="N",
        low=1,
        help="Describe the home in about N tokens; default: all of it, if that is up to 4000, else 1500.",
        key="plan.prompt_tokens",
    )
    safety_prompt: bool = switch(
        "--safety-prompt",
        help="Tell the model to think of hazards at home.",
        key="plan.safety_prompt",
        only_set=True,
    )
    max_tokens: int = integer(
        "--max-tokens",
        metavar="N",
        default=1024,
        low=1,
        help="Limit an answer, reasoning included, to N tokens.",
        key="model.max_tokens",
        only_set=True,
    )
    temperature: float | None = number(
        "--temperature",
        low=0,
        high=10,
        help="Draw each answer with this temperature; default: 0, and 0.7 for retries.",
        key="model.temperature",
        only_set=True,
    )
    seed: int | None = integer(
        "--seed",
        metavar="N",
        help="Draw answers with this seed, for mocks and providers that can.",
        key="seed",
        only_set=True,
    )
    reference: str | None = text(
        "--reference", metavar="FILE", help="Let `--model mock/reference` answer with this plan."
    )
    timeout: float | None = number(
        "--timeout",
        metavar="SECONDS",
        help="Give up each try of a request to a server after SECONDS (600).",
        key="model.timeout",
        only_set=True,
    )
    threads: int | None = integer(
        "--threads",
        metavar="N",
        low=1,
        high=256,
        help="Run a model in this process on N threads (1; llama.cpp 2).",
        key="model.threads",
        only_set=True,
    )
    output: str | None = text(
        "--output",
        "-o",
        metavar="FILE",
        help="Write a safe plan to a file (`-`: to standard output, and the report to standard error).",
        group="Output",
    )
    form: Format = choice(
        "--format",
        values=Format,
        default=Format.FULL,
        help="Write the result in this format.",
        key="format",
        in_project=True,
        group="Output",
    )


@command(PlanOptions)
def plan(options: PlanOptions) -> int:
    """Ask a language model for a plan, audit it, return the findings, and ask again, until a plan is SAFE.

    The report lists the plan with who contributed each step. Exit codes: 0 a plan that is SAFE or VALID, 1 PROVED that
    there is none, 2 usage, unreadable file or no answer, 3 NOT FOUND in the rounds, 4 a bug in safecheck.
    """
    settings = Settings(**options.settings())._replace(goal=None if _is_formula(options.goal) else options.goal)
    now = configure(
        options,
        Asked((_STDOUT,), options.no_project, False),
        settings,
        options.form.value,
        options.memory_limit,
        tuple(Format),
    )
    seconds = now.settings.time_limit
    settings = now.settings._replace(hashes=now.form == Format.JSON, time_limit=Settings().time_limit)
    limit_memory(now.memory)

    def work() -> int:
        from plansafe.app.session.model_plan import (  # noqa: PLC0415 - loads the loop and the engine
            ModelOptions,
            PlanRequest,
            propose,
        )

        if len(options.words) > _MOST_WORDS:
            raise BadOption(f"a task has at most {_MOST_WORDS:,} characters")
        if not math.isfinite(seconds):
            raise BadOption("--time-limit takes a number of seconds")
        if options.timeout is not None and not 0 < options.timeout < math.inf:
            raise BadOption("--timeout takes a number of seconds above 0")
        wanted = read_goal(options.goal) if options.goal is not None and _is_formula(options.goal) else ""
        wishes = Wishes(
            options.decode,
            options.rounds,
            Style(options.feedback),
            read_slack(options.slack),
            options.max_steps,
            options.max_tokens,
            options.seed,
            options.last_resort,
            RepairOptions(time_limit_s=seconds or None, max_work=BOUNDED_WORK),
            options.style is PromptStyle.NEAREST and not options.decode.stepwise
            if options.replan is None
            else options.replan,
            options.post_process,
            options.allow_refusal,
            options.temperature,
            options.accept_remarks,
        )
        _check_wishes(wishes)
        asking = PromptWishes(
            options.prompt_tokens,
            options.safety_prompt,
            options.allow_refusal,
            _style(options.style, options.example),
            options.shots,
            tuple(options.example or ()),
        )
        asked = PlanRequest(options.words, wishes, asking, options.goal_from_words, options.goal_only)
        named = ModelOptions(
            options.model,
            options.base_url,
            options.cache,
            not options.no_cache,
            options.reference,
            options.seed or 0,
            options.timeout,
            options.threads,
        )
        out = Out(
            options.output,
            options.transcript,
            Format(now.form),
            options.color,
            options.goal_only,
            tuple(options.example or ()),
        )
        return planned(lambda using: propose(using, asked, named), settings._replace(wanted=wanted), named, out)

    return guarded(lambda: usable(settings, work))


def _is_formula(goal: str | None) -> bool:
    """Whether a goal is a condition, and not the name of a file: conditions begin with a parenthesis."""
    return goal is not None and goal.lstrip()[:1] in ("(", ";")


def _style(style: PromptStyle | None, examples: tuple[str, ...]) -> PromptStyle | None:
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
