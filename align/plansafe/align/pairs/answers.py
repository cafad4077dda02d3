"""The plans that models wrote, from runs of ``align eval`` and from plain lists of answers.

The regret of each step of a pair's plans, and the point of no return of its unsafe plan.

Audit pairs again: the task of a pair's origin and its two plans must give the same record.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

from plansafe.align.pairs.maker import NoPair, pair_again
from plansafe.align.prompts import plan_prompt
from plansafe.align.records import Both, Pair, bad_records, lines_of, plan_of
from plansafe.align.tasks import AlignTask, BadOrigin, task_of
from plansafe.align.weights import weights_of
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.grammar.source import Source
from plansafe.llm.bench.run_file import bad_run, read_run
from plansafe.llm.metrics.fields import BadField, read_line
from plansafe.verifier.diagnose.regrets import Grade, RegretCalculator
from plansafe.verifier.reporting.report import Headline

MAX_STEPS = 100
"""Length of a plan above which it is a loop and in no pair."""
_JUDGED_OTHERWISE = (Headline.INVALID.value, Headline.UNKNOWN.value)


class Answers(NamedTuple):
    """The plans by the origin of their task, in the order of the files; why the other answers are skipped."""

    plans: dict[str, list[str]]
    skipped: Counter[str]


def read_answers(paths: Sequence[str]) -> Answers:
    """Read the plans of files: runs of ``align eval``, or JSON lines with ``origin`` and ``plan``.

    An answer with a recorded verdict INVALID or UNKNOWN is skipped; an answer without a verdict is judged later. Raises
    :class:`~plansafe.llm.bench.run_file.BadRun` for another run, and :class:`~plansafe.align.records.BadRecords` for a
    file that cannot be read.
    """
    answers = Answers({}, Counter())
    for path in paths:
        for record in _records(path):
            origin, plan = record.get("origin"), record.get("plan")
            headline = record.get("headline")
            if not isinstance(origin, str):
                answers.skipped["an answer that names no task"] += 1
            elif not isinstance(plan, list) or not plan or not all([isinstance(step, str) for step in plan]):
                answers.skipped["an answer without a plan"] += 1
            elif len(plan) > MAX_STEPS:
                answers.skipped[f"a plan of more than {MAX_STEPS} steps"] += 1
            elif headline in _JUDGED_OTHERWISE:
                answers.skipped[f"{headline} by its recorded verdict"] += 1
            else:
                answers.plans.setdefault(origin, []).append(plan_of(plan))
    return answers


def _records(path: str) -> Iterator[Mapping[str, Any]]:
    for number, line in enumerate(lines_of(path), 1):
        try:
            record = read_line(line)
        except BadField as error:
            raise bad_records(path, number, str(error)) from None
        if number == 1 and record.get("kind") == "run":
            run = read_run(path)
            if run.suite != "align":
                raise bad_run(path, f"it is a run of the suite {run.suite!a}", "name a run of `align eval`")
            yield from run.records
            return
        yield record


SECONDS = 5.0
"""Time for a plan; the bounds of the search are reached before on most machines, so that the results agree."""


def with_regret(pair: Pair, calculator: RegretCalculator, grade: Grade) -> Pair:
    """The pair with ``regret``, ``grade``, ``no_return`` and the weights that follow from them."""
    plans = [Source("plan", plan) for plan in (pair.chosen, pair.rejected)]
    chosen, rejected = calculator.compute(plans, grade, SECONDS)
    low, high = rejected.point_of_no_return
    pair = replace(
        pair,
        regret=Both(chosen.regret, rejected.regret),
        grade=Both(tuple([step.value for step in chosen.grade]), tuple([step.value for step in rejected.grade])),
        no_return=(low, high) if low >= 0 else None,
    )
    return replace(pair, weights=weights_of(pair))


def regret_adder(grade: Grade, data: str | None) -> Callable[[Pair], Pair]:
    """A function that adds the regret to pairs of any tasks; a task is compiled once for consecutive pairs."""

    @lru_cache(maxsize=1)
    def calculator(origin: str) -> RegretCalculator:
        return RegretCalculator(task_of(origin, data).checker)

    return lambda pair: with_regret(pair, calculator(pair.origin), grade)


FIELDS = (
    *("task", "family", "world", "prompt", "rules", "first_violation", "safel", "categories", "moment", "witness"),
    *("goal", "edits"),
)
"""The fields that the task and the plans determine."""


class DoesNotReplay(Exception):
    """A pair differs from its record; ``diagnostic`` (SC651) names the pair and the difference."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


def replayed(pairs: Iterable[Pair], data: str | None = None) -> Iterator[Pair]:
    """Audit each pair. ``data``: the folder of public data sets. Raises :class:`DoesNotReplay` at the first one."""

    @lru_cache(maxsize=4)  # in the files of `align pairs` the pairs of a task are consecutive
    def compiled(origin: str) -> tuple[AlignTask, str]:
        task = task_of(origin, data)
        return task, plan_prompt(task)

    for pair in pairs:
        try:
            again = pair_again(*compiled(pair.origin), pair)
        except BadOrigin as error:
            raise _bad(pair, str(error), error.help) from None
        except NoPair as error:
            raise _bad(pair, str(error)) from None
        except OSError as error:
            raise _bad(pair, f"{error.filename}: {error.strerror}") from None
        for name in FIELDS:
            if getattr(pair, name) != getattr(again, name):
                raise _bad(pair, f"its `{name}` is {str(getattr(again, name))[:200]!a}")
        yield pair


def _bad(pair: Pair, wrong: str, help: str | None = None) -> DoesNotReplay:
    message = f"the pair {pair.id} does not match its record: {wrong}"
    advice = help or "create the file again with `safecheck align pairs`; docs/preference-pairs.md defines the lines"
    return DoesNotReplay(Diagnostic(SC.PAIR_DOES_NOT_REPLAY, message, help=advice))
