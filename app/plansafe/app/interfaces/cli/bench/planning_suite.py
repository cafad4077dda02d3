"""The suite of drawn tasks from the command line: a run's file that is resumed, and tables over several runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from plansafe.app.interfaces.cli.bench.benchmark_run import Asked
from plansafe.app.session.option_values import BadOption
from plansafe.app.system.file_writing import Guard, NotWritten, problem, save
from plansafe.app.system.process import print_text
from plansafe.app.system.progress import Progress
from plansafe.app.system.terminal_text import escaped
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.llm.bench.beside_chance import credit
from plansafe.llm.bench.planning import Opened, Settings, Suite, header, items
from plansafe.llm.bench.planning_tables import Run, errors, only, outcomes, rounds, rules
from plansafe.llm.bench.run_file import BadRun, RunFile, read_run
from plansafe.llm.loop.policies import policies
from plansafe.llm.models.opening import opened
from plansafe.llm.models.port import Model
from plansafe.llm.models.providers import Settings as ModelSettings
from plansafe.llm.models.providers import open_model
from plansafe.verifier.api import Checker


def planned(settings: Settings, asked: Asked, limit: int | None, output: str) -> int:
    """Run or resume the suite, and print its tables. An exit code.

    Raises :class:`BadOption`, ``BadRun``, ``ModelError``: then the run's file holds what was answered before.
    """
    chosen = items(settings)[:limit]
    names = [item.name for item in chosen]
    with opened(asked.name, asked.settings(settings.seed), asked.cache, keep=asked.keep) as (model, cache):
        suite = Suite(settings, _for_tasks(asked, settings, model), cache)
        first = header(settings, asked.name, model)
        progress = Progress(len(chosen))
        try:
            with RunFile(output, first) as file:
                for _ in file.each(names, lambda number: suite.record(chosen[number])):
                    progress.step()
                found = Run(first, file.records[: len(chosen)])
        finally:
            progress.clear()
    _print(_tables([found], "all"))
    return 0


def _for_tasks(asked: Asked, settings: Settings, model: Model) -> Opened:
    """The model for each task: a mock is a policy of the task."""
    if not asked.name.startswith("mock/"):
        return lambda _checker, _reference: model

    def mock(checker: Checker, reference: str) -> Model:
        known = policies(checker.compiled, reference, settings.seed, settings.max_steps)
        return open_model(asked.name, ModelSettings(seed=settings.seed, policies=known))

    return mock


def tabled(paths: Sequence[str], split: str, output: str | None) -> int:
    """Print the tables of some runs side by side, and write them. An exit code. Raises ``BadRun``, ``NotWritten``."""
    if output is not None:
        wrong = problem(output, Guard(tuple(paths)))
        if wrong is not None:
            raise NotWritten(wrong)
    text = _tables([_read(path) for path in paths], split)
    _print(text)
    if output is not None:
        save(output, text, Guard(tuple(paths)))
    return 0


def _read(path: str) -> Run:
    run = Run(*read_run(path))
    if run.header.get("suite") != "planning":
        help_text = "`safecheck bench score` reads runs of the papers' tests"
        raise BadRun(Diagnostic(SC.BAD_RUN, f"{path} is no run of the drawn tasks", help=help_text))
    try:
        _tables([run], "all")
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:  # whoever wrote the file
        message = f"the run cannot be read or written: {path}: a record lacks what its table is made of"
        raise BadRun(Diagnostic(SC.BAD_RUN, message, help="docs/scenarios.md says what a run's file is")) from error
    return run


def _print(text: str) -> None:
    print_text(escaped(text))


def _tables(runs: Sequence[Run], split: str) -> str:
    return "\n".join([*_sections(only(runs, split)), ""])


def _sections(runs: Sequence[Run]) -> Iterator[str]:
    """Tables in Markdown: the last two where there are runs that they are about."""
    if not any([run.records for run in runs]):
        raise BadOption("there is nothing to show: no record is of this split", "leave --split out")
    yield from ("## How plans end", "", *outcomes(runs), "", "## What is wrong with them", "", *errors(runs), "")
    yield from ("## Rules that they break", "", *rules(runs))
    chance = {run.mode: run for run in runs if run.model == "mock/random"}
    beside = [run for run in runs if run.mode in chance and run.model != "mock/random" and _stepwise(run)]
    if beside:
        yield from ("", "## First choices, beside chance", "")
        for number, run in enumerate(beside):
            yield from list(credit([run], chance[run.mode]))[2 if number else 0 :]
    looped = [run for run in runs if run.header["settings"]["rounds"] > 1]
    if looped:
        yield from ("", "## Round by round", "", *rounds(looped))


def _stepwise(run: Run) -> bool:
    return any(["choices" in one for one in run.records])
