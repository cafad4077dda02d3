"""The command ``plan``: ask a language model for a plan, and audit it."""

from __future__ import annotations

import math

from plansafe.app.interfaces.cli.command_frame import usable
from plansafe.app.interfaces.cli.configuration import ProjectSelection, configure
from plansafe.app.interfaces.cli.plan_output import Format, OutputOptions, plan_and_report
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
from plansafe.app.system.process import guarded, limit_memory
from plansafe.llm.loop.model import Decode, PlanOptions, Style
from plansafe.llm.prompts.prompt_options import PromptOptions, PromptStyle
from plansafe.verifier.repair.model import BOUNDED_WORK, RepairOptions

_MAX_WORDS_LENGTH = 10_000
_STDOUT = "-"


class PlanCommandOptions(
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
    words: str = argument("[WORDS]", "The task in plain words; the goal comes from the problem.", default="")
    goal: str | None = changed(
        WorldOptions.goal, metavar="GOAL", help="Plan for this goal in PDDL; with --world also a file of goals."
    )
    decode: Decode = choice(
        "--decode",
        values=Decode,
        default=Decode.FREE,
        help="Constrain the plan to the task in this way (docs/language-models.md).",
    )
    max_steps: int = integer(
        "--max-steps",
        default=60,
        low=1,
        high=10_000,
        help="Limit the plan to N steps, where no reference plan is known, and under the grammar.",
        set_key="plan.max_steps",
    )
    goal_from_words: bool = switch(
        "--goal-from-words", help="Let the model name the goal (default if the task has no goal)."
    )
    goal_only: bool = switch("--goal-only", help="Print only the goal in PDDL, to correct it and use it with --goal.")
    style: PromptStyle | None = choice(
        "--style",
        values=PromptStyle,
        help="Show these examples; default: few-shot if the domain has examples, else zero-shot.",
        set_key="plan.style",
    )
    shots: int = integer("--shots", default=2, low=1, high=20, help="Show N examples.", set_key="plan.shots")
    example: tuple[str, ...] = text(
        "--example",
        metavar="PLAN",
        many=True,
        help="Show this plan in place of the shipped examples. May be repeated.",
        set_key="plan.example",
    )
    replan: bool | None = switch(
        "--replan",
        off="--no-replan",
        default=None,
        help="Continue from the step that fails (default with style nearest).",
        set_key="plan.replan",
    )
    post_process: bool = switch(
        "--post-process",
        help="Replace steps that cannot be executed by the nearest executable steps.",
        set_key="plan.post_process",
    )
    allow_refusal: bool = switch(
        "--allow-refusal",
        help="Tell the model that it may refuse, and for which reasons.",
        set_key="plan.allow_refusal",
    )
    prompt_tokens: int | None = integer(
        "--prompt-tokens",
        low=1,
        help="Describe the home in about N tokens; default: all of it, if that is up to 4000, else 1500.",
        key="plan.prompt_tokens",
    )
    safety_prompt: bool = switch(
        "--safety-prompt", help="Tell the model to think of hazards at home.", set_key="plan.safety_prompt"
    )
    max_tokens: int = integer(
        "--max-tokens",
        default=1024,
        low=1,
        help="Limit an answer, reasoning included, to N tokens.",
        set_key="model.max_tokens",
    )
    temperature: float | None = number(
        "--temperature",
        low=0,
        high=10,
        help="Draw each answer with this temperature; default: 0, and 0.7 for retries.",
        key="model.temperature",
    )
    seed: int | None = integer(
        "--seed", help="Draw answers with this seed, for mocks and providers that can.", set_key="seed"
    )
    reference: str | None = text(
        "--reference", metavar="FILE", help="Let `--model mock/reference` answer with this plan."
    )
    timeout: float | None = number(
        "--timeout",
        metavar="SECONDS",
        help="Give up each try of a request to a server after SECONDS (600).",
        key="model.timeout",
    )
    threads: int | None = integer(
        "--threads",
        low=1,
        high=256,
        help="Run a model in this process on N threads (1; llama.cpp 2).",
        key="model.threads",
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


@command(PlanCommandOptions)
def plan(options: PlanCommandOptions) -> int:
    """Ask a language model for a plan, audit it, return the findings, and ask again, until a plan is SAFE.

    The report shows the author of each step of the plan. Exit codes: 0 a plan that is SAFE or VALID, 1 PROVED that no
    safe plan exists, 2 usage, unreadable file or no answer, 3 NOT FOUND in the rounds, 4 a bug in safecheck.
    """
    settings = Settings(**options.settings())._replace(goal=None if _is_formula(options.goal) else options.goal)
    configured = configure(
        options,
        ProjectSelection((_STDOUT,), options.no_project, False),
        settings,
        options.form.value,
        options.memory_limit,
        tuple(Format),
    )
    seconds = configured.settings.time_limit
    settings = configured.settings._replace(hashes=configured.form == Format.JSON, time_limit=Settings().time_limit)
    limit_memory(configured.memory)

    def work() -> int:
        from plansafe.app.session.model_plan import (  # noqa: PLC0415 - loads the loop and the engine
            ModelOptions,
            PlanRequest,
            propose,
        )

        if len(options.words) > _MAX_WORDS_LENGTH:
            raise BadOption(f"a task has at most {_MAX_WORDS_LENGTH:,} characters")
        if not math.isfinite(seconds):
            raise BadOption("--time-limit takes a number of seconds")
        if options.timeout is not None and not 0 < options.timeout < math.inf:
            raise BadOption("--timeout takes a number of seconds above 0")
        goal_formula = read_goal(options.goal) if options.goal is not None and _is_formula(options.goal) else ""
        wishes = PlanOptions(
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
        prompt_wishes = PromptOptions(
            options.prompt_tokens,
            options.safety_prompt,
            options.allow_refusal,
            _style(options.style, options.example),
            options.shots,
            tuple(options.example or ()),
        )
        request = PlanRequest(options.words, wishes, prompt_wishes, options.goal_from_words, options.goal_only)
        model_options = ModelOptions(
            options.model,
            options.base_url,
            options.cache,
            not options.no_cache,
            options.reference,
            options.seed or 0,
            options.timeout,
            options.threads,
        )
        output_options = OutputOptions(
            options.output,
            options.transcript,
            Format(configured.form),
            options.color,
            options.goal_only,
            tuple(options.example or ()),
        )
        return plan_and_report(
            lambda used_settings: propose(used_settings, request, model_options),
            settings._replace(wanted=goal_formula),
            model_options,
            output_options,
        )

    return guarded(lambda: usable(settings, work))


def _is_formula(goal: str | None) -> bool:
    """Whether a goal is a condition and not the name of a file: conditions begin with a parenthesis or a comment."""
    return goal is not None and goal.lstrip()[:1] in ("(", ";")


def _style(style: PromptStyle | None, examples: tuple[str, ...]) -> PromptStyle | None:
    """The style of the prompt: few-shot if the user names examples."""
    return PromptStyle.FEW_SHOT if examples and style in (None, PromptStyle.ZERO_SHOT) else style


def _check_wishes(wishes: PlanOptions) -> None:
    """Raises :class:`BadOption` for an option of whole plans, if a plan is built step by step."""
    for flag, is_set in (
        ("--replan", wishes.replan),
        ("--post-process", wishes.mapping),
        ("--allow-refusal", wishes.refusal),
    ):
        if is_set and wishes.decode.stepwise:
            message = f"{flag} is for whole plans, not for --decode {wishes.decode.value}"
            raise BadOption(message, "leave one of them out")
