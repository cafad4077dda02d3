"""Run or resume the planning suite (generated tasks) from the command line, and print tables of several runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from plansafe.app.interfaces.cli.bench.benchmark_run import ModelChoice
from plansafe.app.session.option_values import BadOption
from plansafe.app.system.file_writing import Guard, NotWritten, problem, save
from plansafe.app.system.process import print_text
from plansafe.app.system.progress import Progress
from plansafe.app.system.terminal_text import escaped
from plansafe.llm.bench.first_choices import chance_table
from plansafe.llm.bench.planning import Opened, PlanningSettings, PlanningSuite, header, items
from plansafe.llm.bench.planning_tables import (
    decoding_name,
    error_table,
    outcome_table,
    round_table,
    rule_table,
    select_split,
)
from plansafe.llm.bench.run_file import Run, RunFile, bad_run, read_run
from plansafe.llm.loop.policies import policies
from plansafe.llm.models.port import Model
from plansafe.llm.models.providers import Settings as ModelSettings
from plansafe.llm.models.providers import open_model, opened
from plansafe.verifier.api import Checker


def run_planning_suite(settings: PlanningSettings, choice: ModelChoice, limit: int | None, output: str) -> int:
    """Run or resume the suite and print its tables. Returns an exit code.

    Raises :class:`BadOption`, ``BadRun``, ``ModelError``: then the run file contains the earlier answers.
    """
    suite_items = items(settings)[:limit]
    names = [item.name for item in suite_items]
    with opened(choice.name, choice.settings(settings.seed), choice.cache, keep=choice.keep) as (model, cache):
        suite = PlanningSuite(settings, _model_for_task(choice, settings, model), cache)
        run_header = header(settings, choice.name, model)
        progress = Progress(len(suite_items))
        try:
            with RunFile(output, run_header) as file:
                for _ in file.complete(names, lambda number: suite.record(suite_items[number])):
                    progress.step()
                run = Run(run_header, file.records[: len(suite_items)])
        finally:
            progress.clear()
    _print(_tables([run], "all"))
    return 0


def _model_for_task(choice: ModelChoice, settings: PlanningSettings, model: Model) -> Opened:
    """A function from a task to its model. A mock model is a policy of the task."""
    if not choice.name.startswith("mock/"):
        return lambda _checker, _reference: model

    def mock(checker: Checker, reference: str) -> Model:
        task_policies = policies(checker.compiled, reference, settings.seed, settings.max_steps)
        return open_model(choice.name, ModelSettings(seed=settings.seed, policies=task_policies))

    return mock


def show_tables(paths: Sequence[str], split: str, output: str | None) -> int:
    """Print and write the tables of several runs. Returns an exit code. Raises ``BadRun``, ``NotWritten``."""
    if output is not None:
        message = problem(output, Guard(tuple(paths)))
        if message is not None:
            raise NotWritten(message)
    text = _tables([_read(path) for path in paths], split)
    _print(text)
    if output is not None:
        save(output, text, Guard(tuple(paths)))
    return 0


def _read(path: str) -> Run:
    run = read_run(path)
    if run.suite != "planning":
        help_text = "`safecheck bench score` reads runs of the papers' tests"
        raise bad_run(path, "it is not a run of the planning suite", help_text)
    try:
        _tables([run], "all")
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:  # the file may have any content
        raise bad_run(path, "a record lacks a field that its table needs") from error
    return run


def _print(text: str) -> None:
    print_text(escaped(text))


def _tables(runs: Sequence[Run], split: str) -> str:
    return "\n".join([*_sections(select_split(runs, split)), ""])


def _sections(runs: Sequence[Run]) -> Iterator[str]:
    """Yield tables in Markdown. The last two appear only if a run has data for them."""
    if not any([run.records for run in runs]):
        raise BadOption("no record belongs to this split", "leave out --split")
    yield from ("## How plans end", "", *outcome_table(runs), "", "## Errors in the plans", "", *error_table(runs), "")
    yield from ("## Rules that they break", "", *rule_table(runs))
    chance = {decoding_name(run): run for run in runs if run.model == "mock/random"}
    compared_runs = [
        run for run in runs if decoding_name(run) in chance and run.model != "mock/random" and _has_step_choices(run)
    ]
    if compared_runs:
        yield from ("", "## First choices, beside chance", "")
        for number, run in enumerate(compared_runs):
            yield from list(chance_table([run], chance[decoding_name(run)]))[2 if number else 0 :]
    looped = [run for run in runs if run.header["settings"]["rounds"] > 1]
    if looped:
        yield from ("", "## Round by round", "", *round_table(looped))


def _has_step_choices(run: Run) -> bool:
    return any(["choices" in record for record in run.records])
