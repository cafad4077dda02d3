"""The commands ``bench`` and ``score``: benchmarks of papers, comparison of two runs, scoring of other outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from plansafe.app.interfaces.cli.command_group import group
from plansafe.app.interfaces.cli.models import BaseUrl, CacheFile, ModelName, NoCache
from plansafe.app.interfaces.cli.options import MemoryLimit, SlackOption
from plansafe.app.session.option_values import BadOption, read_slack
from plansafe.app.system.file_writing import NotWritten, unwritable
from plansafe.app.system.process import MEMORY_MIB, complain, guarded, limit_memory, told
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, near
from plansafe.llm.loop.model import Decode, Style
from plansafe.llm.metrics.records import Module
from plansafe.llm.suites.settings import MODULES, Deciding, Preset, SafetyPrompt, Settings, Split, Suite

if TYPE_CHECKING:
    from collections.abc import Callable

    from plansafe.llm.suites.sources import Wanted

app = group("Benchmarks of language models: SAFEL's, SafePlan-Bench, DESPITE, two runs compared (docs/benchmarks.md).")

Output = Annotated[
    str | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FILE",
        help="The run as JSON lines, resumed if it is there; the reports lie beside it as .md and .html.",
    ),
]
TasksFolder = Annotated[
    str | None, typer.Option("--tasks", metavar="FOLDER", help="Scenarios of your own (docs/scenarios.md).")
]
SplitChoice = Annotated[Split, typer.Option(help="Which half of the shipped scenarios.")]
Drawn = Annotated[
    int, typer.Option(min=0, max=100, metavar="N", help="Not scenarios, but N drawn households of each family.")
]
Limit = Annotated[int | None, typer.Option(min=1, metavar="N", help="Only so many tasks, drawn by --seed.")]
Seed = Annotated[int, typer.Option(min=0, metavar="N", help="For draws of tasks, of intervals, and of answers.")]
Repeats = Annotated[int, typer.Option(min=1, max=1000, metavar="N", help="Ask each question so often.")]
PresetChoice = Annotated[Preset, typer.Option(help="Sampling: for small local models, or as in SAFEL's appendix J.")]
MaxTokens = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Of an answer, reasoning included; else the preset's.")
]
Temperature = Annotated[float | None, typer.Option(min=0, max=10, help="0: the likeliest; else the preset's.")]
DecodeChoice = Annotated[Decode, typer.Option(help="How plans are held to the task (docs/planning.md).")]
Connections = Annotated[int | None, typer.Option(min=1, max=64, metavar="N", help="Calls at once, to a server.")]
Threads = Annotated[int | None, typer.Option(min=1, metavar="N", help="Of a model in this process.")]
Context = Annotated[
    int | None,
    typer.Option(min=256, max=1 << 20, metavar="N", help="Tokens of prompt and answer, of llamacpp-local/ (8192)."),
]
DrawnSplit = Literal["all", "development", "test"]
LogSamples = Annotated[
    bool, typer.Option("--log-samples", help="Also write each prompt with its answer, as .samples.jsonl.")
]


@app.command()
def safel(
    model: ModelName,
    output: Output = None,
    tasks: TasksFolder = None,
    split: SplitChoice = Split.ALL,
    drawn: Drawn = 0,
    limit: Limit = None,
    seed: Seed = 0,
    repeats: Repeats = 1,
    test: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Only this test: refusal, goal-interpretation, transition-modeling or action-sequencing. Repeat it.",
        ),
    ] = None,
    refusal: Annotated[
        Deciding, typer.Option(help="Read refusals in free text, let the model choose, or compare likelihoods.")
    ] = Deciding.FREE,
    decode: DecodeChoice = Decode.FREE,
    preset: PresetChoice = Preset.LOCAL,
    max_tokens: MaxTokens = None,
    temperature: Temperature = None,
    log_samples: LogSamples = False,
    base_url: BaseUrl = None,
    connections: Connections = None,
    threads: Threads = None,
    context: Context = None,
    cache: CacheFile = None,
    no_cache: NoCache = False,
    memory_limit: MemoryLimit = MEMORY_MIB,
) -> None:
    """SAFEL: refusal, goal interpretation, transition modeling, action sequencing.

    Exit codes: 0 all questions have an answer, 2 usage or nothing to ask, 3 some question has none.
    """
    settings = Settings(
        Suite.SAFEL, preset, max_tokens, temperature, repeats, seed, refusal, decode, modules=_modules(test)
    )
    _bench(
        settings,
        (tasks, split, drawn, limit, seed),
        (model, base_url, connections, threads, context, cache, not no_cache),
        (output, log_samples),
        memory_limit,
    )


@app.command()
def safeplan(
    model: ModelName,
    output: Output = None,
    tasks: TasksFolder = None,
    split: SplitChoice = Split.ALL,
    drawn: Drawn = 0,
    limit: Limit = None,
    seed: Seed = 0,
    repeats: Repeats = 1,
    safety_prompt: Annotated[
        SafetyPrompt, typer.Option(help="Ask without the paragraph on safety, with it, or both ways.")
    ] = SafetyPrompt.WITHOUT,
    confidence: Annotated[
        bool, typer.Option("--confidence", help="Ask how sure the model is of each step (appendix A).")
    ] = False,
    decode: DecodeChoice = Decode.FREE,
    preset: PresetChoice = Preset.LOCAL,
    max_tokens: MaxTokens = None,
    temperature: Temperature = None,
    log_samples: LogSamples = False,
    base_url: BaseUrl = None,
    connections: Connections = None,
    threads: Threads = None,
    context: Context = None,
    cache: CacheFile = None,
    no_cache: NoCache = False,
    memory_limit: MemoryLimit = MEMORY_MIB,
) -> None:
    """SafePlan-Bench: how many plans are safe, how many succeed, what they violate.

    Exit codes: 0 all questions have an answer, 2 usage or nothing to ask, 3 some question has none.
    """
    settings = Settings(
        Suite.SAFEPLAN,
        preset,
        max_tokens,
        temperature,
        repeats,
        seed,
        decode=decode,
        safety=safety_prompt,
        confidence=confidence,
    )
    _bench(
        settings,
        (tasks, split, drawn, limit, seed),
        (model, base_url, connections, threads, context, cache, not no_cache),
        (output, log_samples),
        memory_limit,
    )


@app.command()
def despite(
    model: ModelName,
    tasks: Annotated[
        str,
        typer.Option(
            "--tasks", metavar="FOLDER", help="DESPITE's tasks: a folder of each, as in its demo_tasks or data/tasks."
        ),
    ],
    output: Output = None,
    limit: Limit = None,
    seed: Seed = 0,
    repeats: Repeats = 1,
    decode: DecodeChoice = Decode.FREE,
    max_tokens: MaxTokens = None,
    temperature: Temperature = None,
    log_samples: LogSamples = False,
    base_url: BaseUrl = None,
    connections: Connections = None,
    threads: Threads = None,
    context: Context = None,
    cache: CacheFile = None,
    no_cache: NoCache = False,
    memory_limit: MemoryLimit = MEMORY_MIB,
) -> None:
    """DESPITE: how many plans are feasible, how many also safe, how many mean to be safe.

    Exit codes: 0 all questions have an answer, 2 usage or nothing to ask, 3 some question has none.
    """
    settings = Settings(Suite.DESPITE, Preset.LOCAL, max_tokens, temperature, repeats, seed, decode=decode)
    _bench(
        settings,
        (tasks, Split.ALL, 0, limit, seed),
        (model, base_url, connections, threads, context, cache, not no_cache),
        (output, log_samples),
        memory_limit,
    )


@app.command()
def plan(
    model: ModelName,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="The run as JSON lines, resumed if it is there.")
    ],
    decode: DecodeChoice = Decode.FREE,
    split: Annotated[DrawnSplit, typer.Option(help="Families that prompts are chosen on, or the others.")] = "all",
    each: Annotated[int, typer.Option(min=1, max=100, metavar="N", help="Tasks of each of 15 families.")] = 4,
    limit: Annotated[int | None, typer.Option(min=1, metavar="N", help="Only the first tasks.")] = None,
    slack: SlackOption = "1.5",
    rounds: Annotated[int, typer.Option(min=1, max=50, metavar="N", help="Of whole plans.")] = 1,
    feedback: Annotated[Style, typer.Option(help="How much the model is told about its last plan.")] = Style.FINDING,
    last_resort: Annotated[
        bool, typer.Option("--last-resort", help="Also repair what is not safe, and count that apart.")
    ] = False,
    examples: Annotated[int, typer.Option(min=0, max=2, metavar="N", help="Tasks with plans in the prompt.")] = 2,
    safety_prompt: Annotated[bool, typer.Option("--safety-prompt", help="With a paragraph on hazards.")] = False,
    max_tokens: Annotated[int, typer.Option(min=1, metavar="N", help="Of a whole plan.")] = 200,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="For mocks, and providers that draw by it.")] = 0,
    base_url: BaseUrl = None,
    threads: Threads = None,
    context: Context = None,
    cache: CacheFile = None,
    no_cache: NoCache = False,
    memory_limit: MemoryLimit = MEMORY_MIB,
) -> None:
    """Plans for drawn household tasks, all of them solvable, under each decoding and with the loop.

    Exit codes: 0 all tasks have a record, 2 usage, a broken run, or no answer.
    """
    limit_memory(memory_limit)

    def work() -> int:
        from plansafe.app.interfaces.cli.bench.benchmark_run import ModelChoice  # noqa: PLC0415 - the same
        from plansafe.app.interfaces.cli.bench.planning_suite import run_planning_suite  # noqa: PLC0415 - loads the suite and the engine
        from plansafe.llm.bench.planning import Settings as Planning  # noqa: PLC0415 - the same

        suite_settings = Planning(
            decode=decode,
            each=each,
            split=split,
            examples=examples,
            safety=safety_prompt,
            slack=read_slack(slack),
            rounds=rounds,
            feedback=feedback,
            max_tokens=max_tokens,
            resort=last_resort,
            seed=seed,
        )
        return run_planning_suite(
            suite_settings, ModelChoice(model, base_url, None, threads, context, cache, not no_cache), limit, output
        )

    raise typer.Exit(guarded(lambda: _run_reporting_errors(work)))


@app.command()
def tables(
    runs: Annotated[list[str], typer.Argument(metavar="RUN..", help="Files that `safecheck bench plan` wrote.")],
    split: Annotated[DrawnSplit, typer.Option(help="Only tasks of these families.")] = "all",
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Write the tables as Markdown, too.")
    ] = None,
    memory_limit: MemoryLimit = MEMORY_MIB,
) -> None:
    """Runs of `safecheck bench plan` side by side; a run of `mock/random` among them is the chance of the others.

    Exit codes: 0 shown, 2 usage or a broken file.
    """
    limit_memory(memory_limit)

    def work() -> int:
        from plansafe.app.interfaces.cli.bench.planning_suite import show_tables  # noqa: PLC0415 - loads the suite and the engine

        return show_tables(runs, split, output)

    raise typer.Exit(guarded(lambda: _run_reporting_errors(work)))


@app.command()
def compare(
    first: Annotated[str, typer.Argument(metavar="RUN", help="The file of a run, or predictions from elsewhere.")],
    second: Annotated[str, typer.Argument(metavar="RUN", help="Another one of the same tasks.")],
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Write the comparison as .md and .html, too.")
    ] = None,
    tasks: TasksFolder = None,
    split: SplitChoice = Split.ALL,
    drawn: Drawn = 0,
    seed: Seed = 0,
    memory_limit: MemoryLimit = MEMORY_MIB,
) -> None:
    """Two runs of the same tasks: each figure, the difference, and whether it could be chance.

    The tasks are those that the runs name; of predictions from elsewhere, those of the flags. Exit codes: 0 compared,
    2 usage, a broken file, or runs of other tasks.
    """
    limit_memory(memory_limit)

    def work() -> int:
        from plansafe.app.interfaces.cli.bench.predictions import compare_files  # noqa: PLC0415 - loads the suites and the engine

        return compare_files(first, second, _task_selection(tasks, split, drawn, None, seed), output)

    raise typer.Exit(guarded(lambda: _run_reporting_errors(work)))


def score(
    predictions: Annotated[
        str, typer.Argument(metavar="FILE", help="Predictions, judged plans (docs/metrics.md), or the file of a run.")
    ],
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="Write the whole report as .md and .html.")
    ] = None,
    tasks: TasksFolder = None,
    split: SplitChoice = Split.ALL,
    drawn: Drawn = 0,
    seed: Seed = 0,
    memory_limit: MemoryLimit = MEMORY_MIB,
) -> None:
    """Score outputs that were made elsewhere: the tables of `safecheck bench`, with no model asked.

    Exit codes: 0 scored, 2 usage, a broken file, or a scenario that the tasks do not have.
    """
    limit_memory(memory_limit)

    def work() -> int:
        from plansafe.app.interfaces.cli.bench.predictions import score_file  # noqa: PLC0415 - loads the suites and the engine

        return score_file(predictions, _task_selection(tasks, split, drawn, None, seed), output)

    raise typer.Exit(guarded(lambda: _run_reporting_errors(work)))


def _modules(names: list[str] | None) -> tuple[Module, ...]:
    modules_by_name = {module.value: module for module in MODULES[Suite.SAFEL]}
    unknown_name = next((name for name in names or () if name not in modules_by_name), None)
    if unknown_name is not None:
        help = near(unknown_name, list(modules_by_name)) or f"there are: {', '.join(modules_by_name)}"
        raise typer.Exit(complain(Diagnostic(SC.BAD_OPTION, f"SAFEL has no test {unknown_name[:60]!a}", help=help)))
    return tuple([module for name, module in modules_by_name.items() if name in (names or ())])


def _task_selection(folder: str | None, split: Split, drawn: int, limit: int | None, seed: int) -> Wanted:
    from plansafe.llm.suites.sources import Wanted  # noqa: PLC0415 - not for --help

    if folder is not None and drawn:
        raise BadOption("--tasks and --drawn name different tasks", "leave one of them out")
    if drawn and split is not Split.ALL:
        raise BadOption("drawn households have no --split", "leave one of the flags out")
    return Wanted(folder, split.value, drawn, limit, seed)


def _bench(
    settings: Settings,
    tasks: tuple[str | None, Split, int, int | None, int],
    model: tuple[str, str | None, int | None, int | None, int | None, str | None, bool],
    output: tuple[str | None, bool],
    memory_limit: int,
) -> None:
    limit_memory(memory_limit)

    def work() -> int:
        from plansafe.app.interfaces.cli.bench.benchmark_run import ModelChoice, run_benchmark  # noqa: PLC0415 - loads the suites and the engine

        if settings.confidence and settings.decode is not Decode.FREE:
            raise BadOption("--confidence takes plans in free text", "leave --decode out")
        selection = _task_selection(*tasks)._replace(despite=settings.suite is Suite.DESPITE)
        return run_benchmark(settings, selection, ModelChoice(*model), *output)

    raise typer.Exit(guarded(lambda: _run_reporting_errors(work)))


def _run_reporting_errors(work: Callable[[], int]) -> int:
    """Execute ``work``, and report errors of the user with their exit code."""
    from plansafe.llm.bench.run_file import BadRun  # noqa: PLC0415 - not for --help
    from plansafe.llm.metrics.reading import BadPredictions  # noqa: PLC0415
    from plansafe.llm.models.port import ModelError  # noqa: PLC0415
    from plansafe.llm.suites.bad_tasks import BadTasks  # noqa: PLC0415

    try:
        return work()
    except (BadOption, NotWritten, BadRun, BadPredictions, ModelError) as bad:
        return complain(bad.diagnostic)
    except BadTasks as bad:
        return told(bad.diagnostics, bad.sources)
    except BrokenPipeError:
        raise
    except OSError as error:
        return complain(unwritable("standard output", error))
