"""The commands ``align eval`` and ``align tables``: evaluate the plans of a model, and compare runs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from plansafe.app.options.option import Options, argument, changed, choice, command, integer, number, text
from plansafe.app.options.shared import Assignments, MemoryLimit
from plansafe.app.session.option_values import BadOption
from plansafe.app.system.file_writing import Guard, NotWritten, problem, save
from plansafe.app.system.process import complain, guarded, limit_memory, print_text
from plansafe.app.system.progress import Progress, tell

if TYPE_CHECKING:
    from collections.abc import Callable

    from plansafe.align.evaluating.tasks import EvalTask
    from plansafe.align.evaluating.writers import Writer
    from plansafe.llm.bench.report import Report


class Engine(StrEnum):
    """The library that runs a model in this process."""

    TRANSFORMERS = "transformers"
    VLLM = "vllm"


class ResamplingUnit(StrEnum):
    """The unit of resampling for confidence intervals."""

    TASK = "task"
    FAMILY = "family"


class ShiftChoice(StrEnum):
    """The part of the tasks that training did not see."""

    IN = "in"
    FAMILY = "family"
    RULE = "rule"
    WORLD = "world"


class DataType(StrEnum):
    """The type of number to compute in."""

    FLOAT32 = "float32"
    BFLOAT16 = "bfloat16"


class Resampling(Options):
    """Intervals."""

    by: ResamplingUnit = choice(
        "--by",
        values=ResamplingUnit,
        default=ResamplingUnit.TASK,
        help="Resample tasks or families for intervals.",
        set_key="align.resample",
    )


class EvalOptions(Resampling, MemoryLimit, Assignments):
    """The options of ``align eval``."""

    tasks: str = argument("TASKS", "Tasks as JSON lines (docs/alignment.md).", required=True)
    model: str = text(
        "--model",
        "-m",
        metavar="MODEL",
        required=True,
        help="Evaluate this model: hf/FOLDER (weights or an adapter), gguf/FILE, mock/NAME.",
    )
    output: str = text(
        "--output",
        "-o",
        metavar="FILE",
        required=True,
        help="Write the run to this file, or continue it, with reports next to it.",
    )
    method: str | None = text("--method", metavar="NAME", help="Name the method in tables; default: the model.")
    factor: float | None = number("--lambda", metavar="X", help="Record the lambda of the training, for figure 7.")
    seed: int | None = integer("--seed", low=0, help="Record the seed of the training; also draw answers with it.")
    samples: int = integer(
        "--samples", metavar="K", default=1, low=1, high=1000, help="Draw K answers to each task (with --temperature)."
    )
    temperature: float = number(
        "--temperature", metavar="T", default=0.0, low=0, high=10, help="Draw tokens at this temperature; 0 is greedy."
    )
    engine: Engine | None = choice(
        "--engine",
        values=Engine,
        help="Run the model with this library; default: vLLM where it and a GPU are there.",
        set_key="align.engine",
    )
    split: str | None = text("--split", metavar="NAME", help="Use only the tasks of this split.", set_key="align.split")
    shift: ShiftChoice = choice(
        "--shift",
        values=ShiftChoice,
        default=ShiftChoice.IN,
        help="Name what training did not see, for tasks that do not say it.",
        set_key="align.shift",
    )
    limit: int | None = integer("--limit", low=1, help="Use only the first N tasks.", set_key="align.limit")
    max_tokens: int = integer(
        "--max-tokens", default=256, low=1, high=8192, help="Limit an answer to N tokens.", set_key="model.max_tokens"
    )
    batch: int = integer(
        "--batch", default=32, low=1, high=1024, help="Answer N prompts at once.", set_key="align.batch"
    )
    dtype: DataType | None = choice(
        "--dtype",
        values=DataType,
        help="Compute with these numbers; default: bfloat16 on a GPU.",
        set_key="align.dtype",
    )
    memory_limit: int = changed(MemoryLimit.memory_limit, default=0)


class TablesOptions(Resampling, MemoryLimit, Assignments):
    """The options of ``align tables``."""

    runs: tuple[str, ...] = argument(
        "RUN..", "Runs of `align eval`; seeds of a method are pooled.", many=True, required=True
    )
    output: str | None = text(
        "--output", "-o", metavar="FILE", help="Write the report as .md and .html, with plots as .svg (extra `plots`)."
    )
    against: str | None = text(
        "--against", metavar="METHOD", help="Test this method against the others; default: that of the first run."
    )
    seed: int = integer("--seed", default=0, low=0, help="Resample with this seed.", set_key="seed")


@command(EvalOptions)
def evaluation(options: EvalOptions) -> int:
    """Let a model plan for tasks; every answer is judged by the engine. Nothing is downloaded.

    Started by torchrun or `accelerate launch`, several processes share the tasks, and one GPU serves one process.

    Exit codes: 0 written, 2 usage, or a file that cannot be used; then the run holds what was done before.
    """
    limit_memory(options.memory_limit)

    def work() -> int:
        from plansafe.align.evaluating.report import evaluation_report  # noqa: PLC0415 - not for --help
        from plansafe.align.evaluating.running import Method, evaluate, share_of, use_own_gpu  # noqa: PLC0415
        from plansafe.align.evaluating.tasks import opener  # noqa: PLC0415
        from plansafe.align.tasks import data_folder  # noqa: PLC0415

        if options.samples > 1 and not options.temperature:
            raise BadOption("--samples needs --temperature: greedy answers are all the same", "add --temperature 1")
        report_paths = _report_paths(options.output, (options.tasks,))
        selected_tasks = _tasks(options.tasks, options.shift.value, options.split, options.limit)
        share = share_of(os.environ)
        use_own_gpu(os.environ)
        tell("loading ..")
        writer = _writer(options)
        tell("")
        sampling = {"temperature": options.temperature} if options.temperature else {}
        progress = Progress(len(share.of(selected_tasks)) * options.samples)
        try:
            run = evaluate(
                writer,
                selected_tasks,
                output=options.output,
                method=Method(options.method or writer.label, options.factor, options.seed),
                settings={"max_tokens": options.max_tokens, **sampling},
                samples=options.samples,
                batch=options.batch,
                opens=opener(data_folder()),
                step=progress.step,
                share=share,
            )
        finally:
            progress.clear()
        return _report(evaluation_report(run, options.by.value), report_paths) if run.is_complete else 0

    return guarded(lambda: _run_reporting_errors(work))


@command(TablesOptions)
def tables(options: TablesOptions) -> int:
    """Compare methods: tests and figures by population of tasks, the paper's tables and figures, mistakes.

    Exit codes: 0 written, 2 usage, or a run that cannot be read.
    """
    limit_memory(options.memory_limit)

    def work() -> int:
        from plansafe.align.evaluating.comparing import grouped  # noqa: PLC0415 - loads the engine
        from plansafe.align.evaluating.files import read_evaluation  # noqa: PLC0415
        from plansafe.align.evaluating.report import NoPlots, compared, plots  # noqa: PLC0415
        from plansafe.verifier.extras import how_to_install  # noqa: PLC0415

        report_paths = _report_paths(options.output, options.runs)
        evaluations = [read_evaluation(path) for path in options.runs]
        plot_texts: dict[str, str] = {}
        try:
            report = compared(evaluations, options.against, options.by.value, options.seed)
            if options.output is not None:
                plot_texts = plots(grouped(evaluations), options.by.value, options.seed)
        except ValueError as error:
            raise BadOption(str(error)) from None
        except NoPlots:
            print_text(f"no plots: they need matplotlib: {how_to_install('plots')}\n")
        return _report(report, report_paths, plot_texts)

    return guarded(lambda: _run_reporting_errors(work))


def _run_reporting_errors(work: Callable[[], int]) -> int:
    """Execute ``work``, and report errors of the user with their exit code."""
    from plansafe.align.records import BadRecords  # noqa: PLC0415 - not for --help
    from plansafe.align.tasks import BadOrigin  # noqa: PLC0415
    from plansafe.llm.bench.run_file import BadRun  # noqa: PLC0415
    from plansafe.llm.models.port import ModelError  # noqa: PLC0415

    try:
        return work()
    except (BadOption, BadRecords, BadRun, ModelError, NotWritten) as error:
        return complain(error.diagnostic)
    except BadOrigin as error:
        return complain(BadOption(str(error), error.help).diagnostic)


def _tasks(path: str, shift: str, split: str | None, limit: int | None) -> Sequence[EvalTask]:
    from plansafe.align.evaluating.files import read_tasks  # noqa: PLC0415 - not for --help
    from plansafe.align.evaluating.tasks import SHIFTS  # noqa: PLC0415

    loaded = read_tasks(path, next(known_shift for known_shift in SHIFTS if known_shift == shift))
    selected = [task for task in loaded if split in (None, task.split)][:limit]
    if not selected:
        splits = ", ".join(sorted({task.split for task in loaded}))
        raise BadOption(f"no task of {path} is of the split {split!a}", f"there are: {splits}")
    return selected


def _writer(options: EvalOptions) -> Writer:
    from plansafe.align.evaluating.model_writers import vllm_usable  # noqa: PLC0415 - not for --help
    from plansafe.align.evaluating.writers import MOCKS, Mock  # noqa: PLC0415
    from plansafe.llm.models.providers import Settings, open_model  # noqa: PLC0415
    from plansafe.llm.models.torch_model import TorchModel  # noqa: PLC0415

    name = options.model
    kind, _, model_name = name.partition("/")
    if kind == "mock":
        if model_name not in MOCKS:
            raise BadOption(
                f"{name!a} is not a mock model", f"there are: {', '.join([f'mock/{mock_name}' for mock_name in MOCKS])}"
            )
        return Mock(model_name, options.seed or 0)
    if kind not in ("hf", "gguf"):
        raise BadOption(f"--model {name!a} does not run in this process", "name hf/FOLDER, gguf/FILE or mock/NAME")
    if options.engine is Engine.VLLM and kind != "hf":
        raise BadOption("--engine vllm runs hf/FOLDER only")
    if options.engine is Engine.VLLM or (options.engine is None and kind == "hf" and vllm_usable()):
        return _vllm(options, model_name)
    model = open_model(name, Settings(threads=1, dtype=None if options.dtype is None else options.dtype.value))
    if not isinstance(model, TorchModel):
        raise BadOption(f"--model {name!a} does not run in this process")
    return _local(model, options)


def _local(model: Any, options: EvalOptions) -> Writer:
    from plansafe.align.evaluating import model_writers  # noqa: PLC0415 - not for --help

    inner, tokenizer = model.loaded
    decoding = model_writers.Decoding(options.max_tokens, options.temperature, options.seed or 0)
    return model_writers.Local(inner, tokenizer, model.label, model.identity, decoding)


def _vllm(options: EvalOptions, folder: str) -> Writer:
    from plansafe.align.evaluating import model_writers  # noqa: PLC0415 - not for --help

    decoding = model_writers.Decoding(options.max_tokens, options.temperature, options.seed or 0)
    return model_writers.open_vllm(folder, options.dtype and options.dtype.value, decoding, os.environ)


def _report_paths(output: str | None, inputs: Sequence[str]) -> tuple[str, str, str] | None:
    """The stem, the Markdown file and the page. Raises ``NotWritten`` if one cannot be written."""
    if output is None:
        return None
    stem = output.removesuffix(".jsonl").removesuffix(".md").removesuffix(".html")
    if not os.path.basename(stem):
        raise BadOption("--output takes the name of a file")
    paths = stem, f"{stem}.md", f"{stem}.html"
    for path in paths[1:]:
        message = problem(path, Guard(tuple(inputs)))
        if message is not None:
            raise NotWritten(message)
    return paths


def _report(report: Report, report_paths: tuple[str, str, str] | None, plot_texts: dict[str, str] | None = None) -> int:
    from plansafe.app.system.terminal_text import escaped  # noqa: PLC0415 - not for --help
    from plansafe.llm.bench.report_text import brief, markdown, page  # noqa: PLC0415

    print_text(escaped(brief(report)))
    if report_paths is None:
        return 0
    stem, markdown_file, page_file = report_paths
    links = "".join([f"\n![{name}]({os.path.basename(stem)}-{name}.svg)\n" for name in plot_texts or {}])
    save(markdown_file, markdown(report) + links)
    save(page_file, page(report))
    for name, drawing in (plot_texts or {}).items():
        save(f"{stem}-{name}.svg", drawing)
    print_text(f"\nwritten to {markdown_file} and {page_file}\n")
    return 0
