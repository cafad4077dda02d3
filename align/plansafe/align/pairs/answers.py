"""The plans that models wrote, from runs of ``align eval`` and from plain lists of answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from plansafe.align.records import bad_records, lines_of, plan_of
from plansafe.llm.bench.run_file import bad_run, read_run
from plansafe.llm.metrics.fields import BadField, read_line
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
