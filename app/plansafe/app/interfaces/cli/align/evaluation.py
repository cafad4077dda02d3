"""The commands ``align eval`` and ``align tables``: evaluate the plans of a model, and compare runs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from plansafe.app.interfaces.cli.options import MemoryLimit
from plansafe.app.session.option_values import BadOption
from plansafe.app.system.file_writing import Guard, NotWritten, problem, save
from plansafe.app.system.process import MEMORY_MIB, complain, guarded, limit_memory, print_text
from plansafe.app.system.progress import Progress, tell

if TYPE_CHECKING:
    from collections.abc import Callable

    from plansafe.align.evaluating.tasks import EvalTask
    from plansafe.align.evaluating.writers import Writer
    from plansafe.llm.suites.report import Report


class Decoding(StrEnum):
    """How plans are written: in one piece, or step by step under a shield or a guide."""

    FREE = "free"
    SHIELD = "shield"
    GUIDED = "guided"


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


By = Annotated[ResamplingUnit, typer.Option(help="What is drawn with replacement for intervals.")]


def evaluation(
    tasks: Annotated[str, typer.Argument(metavar="TASKS", help="Tasks as JSON lines (docs/align-evaluation.md).")],
    model: Annotated[
        str,
        typer.Option("--model", "-m", metavar="MODEL", help="hf/FOLDER (weights or an adapter), gguf/FILE, mock/NAME."),
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="The run, resumed if it is there; reports beside it.")
    ],
    method: Annotated[str | None, typer.Option(metavar="NAME", help="What tables call it; else the model.")] = None,
    factor: Annotated[float | None, typer.Option("--lambda", metavar="X", help="Its lambda, for figure 7.")] = None,
    seed: Annotated[int | None, typer.Option(min=0, metavar="N", help="The seed of its training.")] = None,
    decode: Annotated[Decoding, typer.Option(help="In one piece, or step by step.")] = Decoding.FREE,
    split: Annotated[str | None, typer.Option(metavar="NAME", help="Only the tasks of this split.")] = None,
    shift: Annotated[
        ShiftChoice, typer.Option(help="What training did not see, of tasks that do not say.")
    ] = ShiftChoice.IN,
    limit: Annotated[int | None, typer.Option(min=1, metavar="N", help="Only the first N tasks.")] = None,
    max_tokens: Annotated[int, typer.Option(min=1, max=8192, metavar="N", help="Of an answer.")] = 256,
    batch: Annotated[int, typer.Option(min=1, max=1024, metavar="N", help="Prompts at once.")] = 32,
    dtype: Annotated[DataType | None, typer.Option(help="What is computed in; else bfloat16 on a GPU.")] = None,
    by: By = ResamplingUnit.TASK,
    memory_limit: MemoryLimit = 0,
) -> None:
    """Let a model plan for tasks, greedily; every answer is judged by the engine. Nothing is downloaded.

    Exit codes: 0 written, 2 usage, or a file that cannot be used; then the run holds what was done before.
    """
    limit_memory(memory_limit)

    def work() -> int:
        from plansafe.align.evaluating.running import Method, evaluate  # noqa: PLC0415 - loads the engine
        from plansafe.align.evaluating.summary import summary  # noqa: PLC0415
        from plansafe.align.evaluating.tasks import opener  # noqa: PLC0415
        from plansafe.align.tasks import data_folder  # noqa: PLC0415

        report_paths = _report_paths(output, (tasks,))
        selected_tasks = _tasks(tasks, shift.value, split, limit)
        tell("loading ..")
        writer = _writer(model, decode, max_tokens, dtype)
        tell("")
        method_run = Method(method or writer.label, factor, seed)
        progress = Progress(len(selected_tasks))
        try:
            run = evaluate(
                writer,
                selected_tasks,
                output=output,
                method=method_run,
                settings={"decode": decode.value, "max_tokens": max_tokens},
                batch=batch if decode is Decoding.FREE else 1,  # write each record when its plan is done
                opens=opener(data_folder()),
                step=progress.step,
            )
        finally:
            progress.clear()
        return _report(summary(run, by.value), report_paths)

    raise typer.Exit(guarded(lambda: _run_reporting_errors(work)))


def tables(
    runs: Annotated[
        list[str], typer.Argument(metavar="RUN..", help="Runs of `align eval`; seeds of a method are pooled.")
    ],
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="FILE", help="The report as .md and .html, plots as .svg.")
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(metavar="METHOD", help="Beside this one the others are put; else that of the first run."),
    ] = None,
    by: By = ResamplingUnit.TASK,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="For draws of intervals.")] = 0,
    memory_limit: MemoryLimit = MEMORY_MIB,
) -> None:
    """Put runs side by side: tables 1 and 2 and figures 6 and 7 of the paper, paired tests, shifts, errors.

    Exit codes: 0 written, 2 usage, or a run that cannot be read.
    """
    limit_memory(memory_limit)

    def work() -> int:
        from plansafe.align.evaluating.comparing import comparison, grouped  # noqa: PLC0415 - loads the engine
        from plansafe.align.evaluating.files import read_evaluation  # noqa: PLC0415
        from plansafe.align.evaluating.plots import plots  # noqa: PLC0415

        report_paths = _report_paths(output, runs)
        evaluations = [read_evaluation(path) for path in runs]
        try:
            report = comparison(evaluations, against, by.value, seed)
            plot_texts = plots(grouped(evaluations), by.value, seed) if output is not None else {}
        except ValueError as error:
            raise BadOption(str(error)) from None
        return _report(report, report_paths, plot_texts)

    raise typer.Exit(guarded(lambda: _run_reporting_errors(work)))


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


def _writer(name: str, decode: Decoding, max_tokens: int, dtype: DataType | None) -> Writer:
    from plansafe.align.evaluating.stepping import Stepwise, local_steps  # noqa: PLC0415 - not for --help
    from plansafe.align.evaluating.writers import MOCKS, Mock  # noqa: PLC0415
    from plansafe.llm.decoding.stepwise import Mode  # noqa: PLC0415
    from plansafe.llm.models.providers import Settings, open_model  # noqa: PLC0415
    from plansafe.llm.models.torch_model import TorchModel  # noqa: PLC0415

    kind, _, model_name = name.partition("/")
    if kind == "mock":
        if model_name not in MOCKS:
            raise BadOption(
                f"{name!a} is not a mock model", f"there are: {', '.join([f'mock/{mock_name}' for mock_name in MOCKS])}"
            )
        mock = Mock(model_name)
        if decode is Decoding.FREE:
            return mock
        return Stepwise(mock.model, Mode(decode.value), mock.label, mock.identity)
    if kind not in ("hf", "gguf"):
        raise BadOption(f"--model {name!a} does not run in this process", "name hf/FOLDER, gguf/FILE or mock/NAME")
    model = open_model(name, Settings(threads=1, dtype=None if dtype is None else dtype.value))
    if not isinstance(model, TorchModel):
        raise BadOption(f"--model {name!a} does not run in this process")
    if decode is Decoding.FREE:
        return _local(model, max_tokens)
    return local_steps(*model.loaded, Mode(decode.value), model.label, model.identity)


def _local(model: Any, max_tokens: int) -> Writer:
    from plansafe.align.evaluating.local import Local  # noqa: PLC0415 - not for --help

    inner, tokenizer = model.loaded
    return Local(inner, tokenizer, model.label, model.identity, max_tokens)


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
    from plansafe.llm.suites.markdown import brief, markdown  # noqa: PLC0415
    from plansafe.llm.suites.page import page  # noqa: PLC0415

    print_text(escaped(brief(report)))
    if report_paths is None:
        return 0
    stem, markdown_file, page_file = report_paths
    links = "".join([f"\n![{name}]({os.path.basename(stem)}-{name}.svg)\n" for name in plot_texts or {}])
    save(markdown_file, markdown(report) + links)
    save(page_file, page(report))
    for name, text in (plot_texts or {}).items():
        save(f"{stem}-{name}.svg", text)
    print_text(f"\nwritten to {markdown_file} and {page_file}\n")
    return 0
