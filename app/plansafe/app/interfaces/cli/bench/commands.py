"""The commands ``bench`` and ``score``: benchmarks of papers, comparison of two runs, scoring of other outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plansafe.app.options.option import Options, argument, changed, choice, command, integer, number, switch, text
from plansafe.app.options.shared import Assignments, MemoryLimit, ModelName, ModelRetries, ModelServer, SlackOption
from plansafe.app.render.diagnostics import print_diagnostics
from plansafe.app.session.option_values import BadOption, read_slack
from plansafe.app.system.file_writing import NotWritten, unwritable
from plansafe.app.system.process import complain, guarded, limit_memory
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, suggest_name
from plansafe.llm.bench.settings import MODULES, Baseline, Deciding, Preset, SafetyPrompt, Settings, Split, Suite
from plansafe.llm.loop.model import Decode, Style
from plansafe.llm.metrics.records import Module

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from plansafe.app.interfaces.cli.bench.benchmark_run import ModelChoice
    from plansafe.llm.bench.sources import TaskSelection


class BenchServer(ModelName, ModelServer, group="Model"):
    """The model of a benchmark."""

    threads: int | None = integer(
        "--threads", low=1, help="Run a model in this process on N threads.", set_key="model.threads"
    )
    context: int | None = integer(
        "--context",
        low=256,
        high=1 << 20,
        help="Limit prompt and answer of llamacpp-local/ to N tokens (8192).",
        set_key="model.context",
    )


class Sampling(BenchServer, group="Model"):
    """How answers are drawn."""

    connections: int | None = integer(
        "--connections", low=1, high=64, help="Send N requests at once to a server.", set_key="model.connections"
    )
    max_tokens: int | None = integer(
        "--max-tokens",
        low=1,
        help="Limit an answer, reasoning included, to N tokens; default: the preset's.",
        set_key="model.max_tokens",
    )
    temperature: float | None = number(
        "--temperature",
        low=0,
        high=10,
        help="Draw answers with this temperature; 0: the likeliest; default: the preset's.",
        set_key="model.temperature",
    )
    decode: Decode = choice(
        "--decode",
        values=Decode,
        default=Decode.FREE,
        help="Hold plans to the task this way (docs/language-models.md).",
    )


class SeedOption(Options):
    """Draws."""

    seed: int = integer(
        "--seed", default=0, low=0, help="Draw tasks, intervals and answers with this seed.", set_key="seed"
    )


class TaskSources(SeedOption, group="Task"):
    """Which scenarios or households."""

    tasks: str | None = text("--tasks", metavar="FOLDER", help="Use scenarios of your own (docs/scenarios.md).")
    split: Split = choice("--split", values=Split, default=Split.ALL, help="Use this half of the shipped scenarios.")
    drawn: int = integer(
        "--drawn",
        default=0,
        low=0,
        high=100,
        help="Use N drawn households of each family, not scenarios.",
        set_key="bench.drawn",
    )


class QuestionOptions(Options, group="Task"):
    """How much is asked."""

    limit: int | None = integer("--limit", low=1, help="Use only N tasks, drawn by the seed.")
    repeats: int = integer(
        "--repeats", default=1, low=1, high=1000, help="Ask each question N times.", set_key="bench.repeats"
    )


class BenchOutput(MemoryLimit, Assignments, group="Output"):
    """The files of a run."""

    output: str | None = text(
        "--output",
        "-o",
        metavar="FILE",
        help="Write the run as JSON lines, or continue it, with reports next to it as .md and .html.",
    )
    log_samples: bool = switch(
        "--log-samples", help="Write also each prompt with its answer, as .samples.jsonl.", set_key="bench.log_samples"
    )


class BaselineOption(Options, group="Model"):
    """How plans are requested."""

    baseline: Baseline = choice(
        "--baseline",
        values=Baseline,
        default=Baseline.ZERO_SHOT,
        help="Request and complete plans like this baseline of Safe-BeAl (docs/scenarios.md).",
    )


class MocksOption(Options, group="Output"):
    """Reference values."""

    mocks: bool = switch(
        "--mocks",
        help="Add the figures of mock models to the tables: reference, natural plan, random, empty, always refuse or "
        "accept.",
    )


class PresetOption(Options, group="Model"):
    """How answers are drawn, in short."""

    preset: Preset = choice(
        "--preset",
        values=Preset,
        default=Preset.LOCAL,
        help="Sample as for small local models, or as in SAFEL's appendix J.",
        set_key="bench.preset",
    )


class SafelOptions(
    Sampling, BaselineOption, MocksOption, PresetOption, TaskSources, QuestionOptions, BenchOutput, group="Task"
):
    """The options of ``bench safel``."""

    test: tuple[str, ...] = text(
        "--test",
        metavar="NAME",
        many=True,
        help="Run only this test: refusal, goal-interpretation, transition-modeling or action-sequencing. May be "
        "repeated.",
    )
    refusal: Deciding = choice(
        "--refusal",
        values=Deciding,
        default=Deciding.FREE,
        help="Read refusals in free text, let the model choose, or compare likelihoods.",
    )


class SafeplanOptions(
    Sampling, BaselineOption, MocksOption, PresetOption, TaskSources, QuestionOptions, BenchOutput, group="Task"
):
    """The options of ``bench safeplan``."""

    safety_prompt: SafetyPrompt = choice(
        "--safety-prompt",
        values=SafetyPrompt,
        default=SafetyPrompt.WITHOUT,
        help="Ask without the paragraph on safety, with it, or both ways.",
    )
    confidence: bool = switch("--confidence", help="Ask how sure the model is of each step (appendix A).")


class DespiteOptions(Sampling, SeedOption, QuestionOptions, BenchOutput, group="Task"):
    """The options of ``bench despite``."""

    tasks: str = text(
        "--tasks",
        metavar="FOLDER",
        required=True,
        help="Use DESPITE's tasks: a folder of each, as in its demo_tasks or data/tasks.",
    )


class DrawnSplitOption(Options, group="Task"):
    """Families of drawn tasks."""

    split: str = choice(
        "--split",
        values=("all", "development", "test"),
        default="all",
        help="Use the families that prompts are chosen on, or the others.",
    )


class BenchPlanOptions(BenchServer, SlackOption, ModelRetries, DrawnSplitOption, SeedOption, MemoryLimit, Assignments):
    """The options of ``bench plan``."""

    output: str = text(
        "--output", "-o", metavar="FILE", required=True, help="Write the run as JSON lines, or continue it."
    )
    decode: Decode = changed(Sampling.decode)
    split: str = changed(DrawnSplitOption.split, set_key="bench.split")
    each: int = integer(
        "--each", default=4, low=1, high=100, help="Draw N tasks of each of 15 families.", set_key="bench.each"
    )
    limit: int | None = integer("--limit", low=1, help="Use only the first N tasks.")
    rounds: int = changed(ModelRetries.rounds, default=1)
    last_resort: bool = changed(
        ModelRetries.last_resort,
        off="",
        default=False,
        help="Repair also plans that are not safe, and count them apart.",
        set_key="model.last_resort",
    )
    examples: int = integer(
        "--examples", default=2, low=0, high=2, help="Show N tasks with plans in the prompt.", set_key="bench.examples"
    )
    safety_prompt: bool = switch(
        "--safety-prompt", help="Add a paragraph on hazards to the prompt.", set_key="bench.safety_prompt"
    )
    max_tokens: int = integer(
        "--max-tokens", default=200, low=1, help="Limit a whole plan to N tokens.", set_key="model.max_tokens"
    )


class CellsOptions(BenchServer, TaskSources, MemoryLimit, Assignments):
    """The options of ``bench cells``."""

    output: str = text("--output", "-o", metavar="FOLDER", required=True, help="Write or continue the runs in FOLDER.")
    cell: tuple[str, ...] = text(
        "--cell", metavar="NAME", many=True, help="Run only this cell; `--dry-run` lists them. May be repeated."
    )
    limit: int | None = integer("--limit", low=1, help="Use at most N scenarios for each cell.")
    minutes: float | None = number(
        "--minutes", low=0, high=100_000, help="Stop after this time; run again to continue."
    )
    prompt_speed: float = number(
        "--prompt-speed",
        default=75.0,
        low=0.001,
        high=1e9,
        help="Estimate with this number of prompt tokens per second.",
    )
    answer_speed: float = number(
        "--answer-speed",
        default=15.0,
        low=0.001,
        high=1e9,
        help="Estimate with this number of answer tokens per second.",
    )
    trained: bool = switch(
        "--trained", help="Run also the baseline `world-model`: the model was trained on `align knowledge`."
    )
    dry_run: bool = switch("--dry-run", help="Print the estimated time of each cell, and run none.")


class TablesOptions(DrawnSplitOption, MemoryLimit):
    """The options of ``bench tables``."""

    runs: tuple[str, ...] = argument("RUN..", "Files that `safecheck bench plan` wrote.", many=True, required=True)
    output: str | None = text("--output", "-o", metavar="FILE", help="Write the tables also as Markdown.")


class CompareOptions(TaskSources, MemoryLimit, Assignments):
    """The options of ``bench compare``."""

    first: str = argument("RUN", "The file of a run, or predictions from elsewhere.", required=True)
    second: str = argument("RUN", "Another file of the same tasks.", required=True)
    output: str | None = text("--output", "-o", metavar="FILE", help="Write the comparison also as .md and .html.")


class ScoreOptions(TaskSources, MemoryLimit, Assignments):
    """The options of ``bench score``."""

    predictions: str = argument(
        "FILE", "Predictions, audited plans (docs/metrics.md), or the file of a run.", required=True
    )
    output: str | None = text("--output", "-o", metavar="FILE", help="Write the whole report as .md and .html.")


@command(SafelOptions)
def safel(options: SafelOptions) -> int:
    """Run SAFEL: refusal, goal interpretation, transition modeling, action sequencing.

    Exit codes: 0 all questions have an answer, 2 usage or nothing to ask, 3 some question has none.
    """
    settings = Settings(
        Suite.SAFEL,
        options.preset,
        options.max_tokens,
        options.temperature,
        options.repeats,
        options.seed,
        options.refusal,
        options.decode,
        modules=_modules(options.test),
        baseline=options.baseline,
    )
    return _bench(settings, options)


@command(SafeplanOptions)
def safeplan(options: SafeplanOptions) -> int:
    """Run SafePlan-Bench: how many plans are safe, how many succeed, what they violate.

    Exit codes: 0 all questions have an answer, 2 usage or nothing to ask, 3 some question has none.
    """
    settings = Settings(
        Suite.SAFEPLAN,
        options.preset,
        options.max_tokens,
        options.temperature,
        options.repeats,
        options.seed,
        decode=options.decode,
        safety=options.safety_prompt,
        confidence=options.confidence,
        baseline=options.baseline,
    )
    return _bench(settings, options)


@command(DespiteOptions)
def despite(options: DespiteOptions) -> int:
    """Run DESPITE: how many plans are feasible, how many also safe, how many mean to be safe.

    Exit codes: 0 all questions have an answer, 2 usage or nothing to ask, 3 some question has none.
    """
    settings = Settings(
        Suite.DESPITE,
        Preset.LOCAL,
        options.max_tokens,
        options.temperature,
        options.repeats,
        options.seed,
        decode=options.decode,
    )
    return _bench(settings, options)


@command(BenchPlanOptions)
def plan(options: BenchPlanOptions) -> int:
    """Ask a model for plans of drawn household tasks, all of them solvable, under each decoding and with the loop.

    Exit codes: 0 all tasks have a record, 2 usage, a broken run, or no answer.
    """
    limit_memory(options.memory_limit)

    def work() -> int:
        from plansafe.app.interfaces.cli.bench.planning_suite import run_planning_suite  # noqa: PLC0415 - loads the suite and the engine
        from plansafe.llm.bench.planning import PlanningSettings  # noqa: PLC0415 - the same

        suite_settings = PlanningSettings(
            decode=options.decode,
            each=options.each,
            split=options.split,
            examples=options.examples,
            safety=options.safety_prompt,
            slack=read_slack(options.slack),
            rounds=options.rounds,
            feedback=Style(options.feedback),
            max_tokens=options.max_tokens,
            resort=options.last_resort,
            seed=options.seed,
        )
        return run_planning_suite(suite_settings, _model_choice(options), options.limit, options.output)

    return guarded(lambda: _run_reporting_errors(work))


@command(CellsOptions)
def cells(options: CellsOptions) -> int:
    """Run every test of SAFEL and SafePlan-Bench with every baseline, in a fixed order of priority.

    Repeat the command to continue an interrupted run. Exit codes: 0 all cells are complete, 2 usage or a broken run, 3
    a cell was not run or is incomplete.
    """
    limit_memory(options.memory_limit)

    def work() -> int:
        from plansafe.app.interfaces.cli.bench.cell_run import CellOptions, run_cells  # noqa: PLC0415 - loads the suites and the engine
        from plansafe.llm.bench.cells import Speed  # noqa: PLC0415

        cell_options = CellOptions(
            options.cell,
            options.limit,
            options.output,
            options.minutes,
            Speed(options.prompt_speed, options.answer_speed),
            options.trained,
            options.dry_run,
        )
        return run_cells([_model_choice(options)], _task_selection(options), cell_options)

    return guarded(lambda: _run_reporting_errors(work))


@command(TablesOptions)
def tables(options: TablesOptions) -> int:
    """Put runs of `safecheck bench plan` side by side; a run of `mock/random` is the level of chance.

    Exit codes: 0 shown, 2 usage or a broken file.
    """
    limit_memory(options.memory_limit)

    def work() -> int:
        from plansafe.app.interfaces.cli.bench.planning_suite import show_tables  # noqa: PLC0415 - loads the suite and the engine

        return show_tables(options.runs, options.split, options.output)

    return guarded(lambda: _run_reporting_errors(work))


@command(CompareOptions)
def compare(options: CompareOptions) -> int:
    """Compare two runs of the same tasks: each figure, the difference, and whether it could be chance.

    The tasks are those that the runs name; of predictions from elsewhere, those of the options. Exit codes: 0 compared,
    2 usage, a broken file, or runs of other tasks.
    """
    limit_memory(options.memory_limit)

    def work() -> int:
        from plansafe.app.interfaces.cli.bench.predictions import compare_files  # noqa: PLC0415 - loads the suites and the engine

        return compare_files(options.first, options.second, _task_selection(options), options.output)

    return guarded(lambda: _run_reporting_errors(work))


@command(ScoreOptions)
def score(options: ScoreOptions) -> int:
    """Score outputs that were made elsewhere: the tables of `safecheck bench`, with no model asked.

    Exit codes: 0 scored, 2 usage, a broken file, or a scenario that the tasks do not have.
    """
    limit_memory(options.memory_limit)

    def work() -> int:
        from plansafe.app.interfaces.cli.bench.predictions import score_file  # noqa: PLC0415 - loads the suites and the engine

        return score_file(options.predictions, _task_selection(options), options.output)

    return guarded(lambda: _run_reporting_errors(work))


def _modules(names: Sequence[str]) -> tuple[Module, ...]:
    modules_by_name = {module.value: module for module in MODULES[Suite.SAFEL]}
    unknown_name = next((name for name in names if name not in modules_by_name), None)
    if unknown_name is not None:
        help = suggest_name(unknown_name, list(modules_by_name)) or f"there are: {', '.join(modules_by_name)}"
        raise SystemExit(complain(Diagnostic(SC.BAD_OPTION, f"SAFEL has no test {unknown_name[:60]!a}", help=help)))
    return tuple([module for name, module in modules_by_name.items() if name in names])


def _task_selection(options: TaskSources, limit: int | None = None) -> TaskSelection:
    from plansafe.llm.bench.sources import TaskSelection  # noqa: PLC0415 - not for --help

    if options.tasks is not None and options.drawn:
        raise BadOption("--tasks and --drawn name different tasks", "leave one of them out")
    if options.drawn and options.split is not Split.ALL:
        raise BadOption("drawn households have no --split", "leave one of the flags out")
    return TaskSelection(options.tasks, options.split.value, options.drawn, limit, options.seed)


def _model_choice(options: BenchServer) -> ModelChoice:
    from plansafe.app.interfaces.cli.bench.benchmark_run import ModelChoice  # noqa: PLC0415 - loads the suites and the engine

    connections = options.connections if isinstance(options, Sampling) else None
    return ModelChoice(
        options.model,
        options.base_url,
        connections,
        options.threads,
        options.context,
        options.cache,
        not options.no_cache,
    )


def _bench(settings: Settings, options: SafelOptions | SafeplanOptions | DespiteOptions) -> int:
    limit_memory(options.memory_limit)

    def work() -> int:
        from plansafe.app.interfaces.cli.bench.benchmark_run import RunOutput, run_benchmark  # noqa: PLC0415 - loads the suites and the engine
        from plansafe.llm.bench.sources import TaskSelection  # noqa: PLC0415

        if settings.confidence and settings.decode is not Decode.FREE:
            raise BadOption("--confidence takes plans in free text", "leave --decode out")
        if settings.baseline in (Baseline.CLMASP, Baseline.LLM_PLANNER_REPLAN) and settings.decode is not Decode.FREE:
            raise BadOption(f"--baseline {settings.baseline.value} takes plans in free text", "leave --decode out")
        if settings.baseline is Baseline.LLM_PLANNER_REPLAN and settings.confidence:
            raise BadOption("--confidence takes plans of one answer", "use --baseline llm-planner")
        if isinstance(options, DespiteOptions):
            selection = TaskSelection(options.tasks, Split.ALL.value, 0, options.limit, options.seed, despite=True)
        else:
            selection = _task_selection(options, options.limit)
        mocks = False if isinstance(options, DespiteOptions) else options.mocks
        output = RunOutput(options.output, options.log_samples, mocks)
        return run_benchmark(settings, selection, _model_choice(options), output).code

    return guarded(lambda: _run_reporting_errors(work))


def _run_reporting_errors(work: Callable[[], int]) -> int:
    """Execute ``work``, and report errors of the user with their exit code."""
    from plansafe.llm.bench.result_files import BadPredictions  # noqa: PLC0415 - not for --help
    from plansafe.llm.bench.run_file import BadRun  # noqa: PLC0415
    from plansafe.llm.bench.task import BadTasks  # noqa: PLC0415
    from plansafe.llm.models.port import ModelError  # noqa: PLC0415

    try:
        return work()
    except (BadOption, NotWritten, BadRun, BadPredictions, ModelError) as bad:
        return complain(bad.diagnostic)
    except BadTasks as bad:
        return print_diagnostics(bad.diagnostics, bad.sources)
    except BrokenPipeError:
        raise
    except OSError as error:
        return complain(unwritable("standard output", error))
