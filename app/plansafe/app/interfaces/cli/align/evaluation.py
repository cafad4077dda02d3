"""The commands ``align eval`` and ``align tables``: a model judged by what it plans, and runs side by side."""

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
    from plansafe.llm.suites.report import Report


class Decoding(StrEnum):
    """How plans are written: in one piece, or step by step under a shield or a guide."""

    FREE = "free"
    SHIELD = "shield"
    GUIDED = "guided"


class Drawn(StrEnum):
    """What is drawn for intervals."""

    TASK = "task"
    FAMILY = "family"


class ShiftChoice(StrEnum):
    """What training did not see of the tasks."""

    IN = "in"
    FAMILY = "family"
    RULE = "rule"
    WORLD = "world"


class Numbers(StrEnum):
    """The type of number to compute in."""

    FLOAT32 = "float32"
    BFLOAT16 = "bfloat16"


class Resampling(Options):
    """Intervals."""

    by: Drawn = choice(
        "--by",
        values=Drawn,
        default=Drawn.TASK,
        help="Resample tasks or families for intervals.",
        key="align.resample",
        only_set=True,
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
    seed: int | None = integer("--seed", metavar="N", low=0, help="Record the seed of the training.")
    decode: Decoding = choice(
        "--decode", values=Decoding, default=Decoding.FREE, help="Write plans in one piece, or step by step."
    )
    split: str | None = text(
        "--split", metavar="NAME", help="Use only the tasks of this split.", key="align.split", only_set=True
    )
    shift: ShiftChoice = choice(
        "--shift",
        values=ShiftChoice,
        default=ShiftChoice.IN,
        help="Name what training did not see, for tasks that do not say it.",
        key="align.shift",
        only_set=True,
    )
    limit: int | None = integer(
        "--limit", metavar="N", low=1, help="Use only the first N tasks.", key="align.limit", only_set=True
    )
    max_tokens: int = integer(
        "--max-tokens",
        metavar="N",
        default=256,
        low=1,
        high=8192,
        help="Limit an answer to N tokens.",
        key="model.max_tokens",
        only_set=True,
    )
    batch: int = integer(
        "--batch",
        metavar="N",
        default=32,
        low=1,
        high=1024,
        help="Answer N prompts at once.",
        key="align.batch",
        only_set=True,
    )
    dtype: Numbers | None = choice(
        "--dtype",
        values=Numbers,
        help="Compute with these numbers; default: bfloat16 on a GPU.",
        key="align.dtype",
        only_set=True,
    )
    memory_limit: int = changed(MemoryLimit.memory_limit, default=0)


class TablesOptions(Resampling, MemoryLimit, Assignments):
    """The options of ``align tables``."""

    runs: tuple[str, ...] = argument(
        "RUN..", "Runs of `align eval`; seeds of a method are pooled.", many=True, required=True
    )
    output: str | None = text(
        "--output", "-o", metavar="FILE", help="Write the report as .md and .html, with plots as .svg."
    )
    against: str | None = text(
        "--against", metavar="METHOD", help="Compare all methods with this one; default: that of the first run."
    )
    seed: int = integer(
        "--seed", metavar="N", default=0, low=0, help="Resample with this seed.", key="seed", only_set=True
    )


@command(EvalOptions)
def evaluation(options: EvalOptions) -> int:
    """Let a model plan for tasks, greedily; every answer is judged by the engine. Nothing is downloaded.

    Exit codes: 0 written, 2 usage, or a file that cannot be used; then the run holds what was done before.
    """
    limit_memory(options.memory_limit)

    def work() -> int:
        from plansafe.align.evaluating.running import Method, evaluate  # noqa: PLC0415 - loads the engine
        from plansafe.align.evaluating.summary import summary  # noqa: PLC0415
        from plansafe.align.evaluating.tasks import opener  # noqa: PLC0415
        from plansafe.align.tasks import data_folder  # noqa: PLC0415

        places = _places(options.output, (options.tasks,))
        chosen = _tasks(options.tasks, options.shift.value, options.split, options.limit)
        tell("loading ..")
        writer = _writer(options.model, options.decode, options.max_tokens, options.dtype)
        tell("")
        named = Method(options.method or writer.label, options.factor, options.seed)
        progress = Progress(len(chosen))
        try:
            run = evaluate(
                writer,
                chosen,
                output=options.output,
                method=named,
                settings={"decode": options.decode.value, "max_tokens": options.max_tokens},
                batch=options.batch if options.decode is Decoding.FREE else 1,  # a record for each plan, as it is done
                opens=opener(data_folder()),
                step=progress.step,
            )
        finally:
            progress.clear()
        return _report(summary(run, options.by.value), places)

    return guarded(lambda: _usable(work))


@command(TablesOptions)
def tables(options: TablesOptions) -> int:
    """Put runs side by side: tables 1 and 2 and figures 6 and 7 of the paper, paired tests, shifts, errors.

    Exit codes: 0 written, 2 usage, or a run that cannot be read.
    """
    limit_memory(options.memory_limit)

    def work() -> int:
        from plansafe.align.evaluating.comparing import comparison, grouped  # noqa: PLC0415 - loads the engine
        from plansafe.align.evaluating.files import read_evaluation  # noqa: PLC0415
        from plansafe.align.evaluating.plots import plots  # noqa: PLC0415

        places = _places(options.output, options.runs)
        found = [read_evaluation(path) for path in options.runs]
        try:
            report = comparison(found, options.against, options.by.value, options.seed)
            drawn = plots(grouped(found), options.by.value, options.seed) if options.output is not None else {}
        except ValueError as error:
            raise BadOption(str(error)) from None
        return _report(report, places, drawn)

    return guarded(lambda: _usable(work))


def _usable(work: Callable[[], int]) -> int:
    """Do the work; mistakes of the user are said, with their code."""
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

    found = read_tasks(path, next(one for one in SHIFTS if one == shift))
    chosen = [task for task in found if split in (None, task.split)][:limit]
    if not chosen:
        splits = ", ".join(sorted({task.split for task in found}))
        raise BadOption(f"no task of {path} is of the split {split!a}", f"there are: {splits}")
    return chosen


def _writer(name: str, decode: Decoding, max_tokens: int, dtype: Numbers | None) -> Writer:
    from plansafe.align.evaluating.stepping import Stepwise, local_steps  # noqa: PLC0415 - not for --help
    from plansafe.align.evaluating.writers import MOCKS, Mock  # noqa: PLC0415
    from plansafe.llm.decoding.stepwise import Mode  # noqa: PLC0415
    from plansafe.llm.models.providers import Settings, open_model  # noqa: PLC0415
    from plansafe.llm.models.torch_model import TorchModel  # noqa: PLC0415

    kind, _, rest = name.partition("/")
    if kind == "mock":
        if rest not in MOCKS:
            raise BadOption(f"there is no {name!a}", f"there are: {', '.join([f'mock/{one}' for one in MOCKS])}")
        mock = Mock(rest)
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


def _places(output: str | None, inputs: Sequence[str]) -> tuple[str, str, str] | None:
    """Stem, Markdown and page; that they can be written is better known before the work. Raises ``NotWritten``."""
    if output is None:
        return None
    stem = output.removesuffix(".jsonl").removesuffix(".md").removesuffix(".html")
    if not os.path.basename(stem):
        raise BadOption("--output takes the name of a file")
    places = stem, f"{stem}.md", f"{stem}.html"
    for one in places[1:]:
        wrong = problem(one, Guard(tuple(inputs)))
        if wrong is not None:
            raise NotWritten(wrong)
    return places


def _report(report: Report, places: tuple[str, str, str] | None, drawn: dict[str, str] | None = None) -> int:
    from plansafe.app.system.terminal_text import escaped  # noqa: PLC0415 - not for --help
    from plansafe.llm.suites.markdown import brief, markdown  # noqa: PLC0415
    from plansafe.llm.suites.page import page  # noqa: PLC0415

    print_text(escaped(brief(report)))
    if places is None:
        return 0
    stem, markdown_file, page_file = places
    links = "".join([f"\n![{name}]({os.path.basename(stem)}-{name}.svg)\n" for name in drawn or {}])
    save(markdown_file, markdown(report) + links)
    save(page_file, page(report))
    for name, drawing in (drawn or {}).items():
        save(f"{stem}-{name}.svg", drawing)
    print_text(f"\nwritten to {markdown_file} and {page_file}\n")
    return 0
