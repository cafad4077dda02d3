"""Files of an evaluation: sets of tasks as JSON lines, and runs that are read again.

A set of tasks is a file for SFT (its plans are the references), or lines of ``origin``, ``family``, ``world`` and,
optionally, ``id``, ``prompt``, ``reference``, ``split`` and ``shift``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from math import isfinite
from typing import Any

from plansafe.align.evaluating.comparing import Group
from plansafe.align.evaluating.figures import FIGURES
from plansafe.align.evaluating.judging import FIELDS
from plansafe.align.evaluating.running import SUITE, VERSION, Evaluation
from plansafe.align.evaluating.tasks import SHIFTS, EvalTask, Shift, of_sft
from plansafe.align.records import MOST_LINE_BYTES, MOST_PROMPT, bad_records, lines_of, read_sft
from plansafe.llm.bench.run_file import bad_run, read_run
from plansafe.llm.metrics.fields import BadField, only, read_line, text

_OF_TASKS = ("version", "id", "origin", "family", "world", "prompt", "reference", "split", "shift")
MAX_TASKS = 100_000
_HELP = "docs/alignment.md describes the format of a run file"


def read_tasks(path: str, shift: Shift = "in") -> tuple[EvalTask, ...]:
    """The tasks of a file, each once; ``shift`` is the default of lines without one.

    Raises :class:`~plansafe.align.records.BadRecords`.
    """
    first = next(lines_of(path), b"")
    try:
        for_sft = "completion" in read_line(first)
    except BadField as error:
        raise bad_records(path, 1, str(error)) from None
    tasks = tuple(of_sft(read_sft(path), shift) if for_sft else _tasks(path, shift))
    if not tasks or len(tasks) > MAX_TASKS:
        raise bad_records(path, None, f"it has {len(tasks):,} tasks, not 1 to {MAX_TASKS:,}")
    repeated = [name for name, times in Counter([task.id for task in tasks]).items() if times > 1]
    if repeated:
        raise bad_records(path, None, f"two tasks are called {repeated[0][:80]!a}")
    return tasks


def _tasks(path: str, shift: Shift) -> Iterator[EvalTask]:
    for number, line in enumerate(lines_of(path), 1):
        try:
            yield _task(read_line(line), shift)
        except BadField as error:
            raise bad_records(path, number, str(error)) from None


def _task(record: Mapping[str, Any], shift: Shift) -> EvalTask:
    only(record, _OF_TASKS)
    origin = text(record, "origin")
    name = text(record, "shift", shift)
    known_shift = next((known for known in SHIFTS if known == name), None)
    if known_shift is None:
        raise BadField("shift", f"is not one of {', '.join(SHIFTS)}")
    return EvalTask(
        text(record, "id", "") or origin,
        origin,
        text(record, "family"),
        text(record, "world"),
        text(record, "split", "test"),
        known_shift,
        text(record, "prompt", "", MOST_PROMPT),
        text(record, "reference", "", MOST_LINE_BYTES),
    )


def read_evaluation(path: str) -> Evaluation:
    """A run of an evaluation, complete or not. Raises :class:`~plansafe.llm.bench.run_file.BadRun`."""
    stored = read_run(path)
    if stored.suite != SUITE or stored.header.get("suite_version") != VERSION:
        raise bad_run(path, "it is not a run of `safecheck align eval`, or has another version", _HELP)
    run = Evaluation(stored.header, stored.records)
    if not stored.records:
        raise bad_run(path, "it has no records yet", _HELP)
    try:
        _check(run)
    except (BadField, KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        raise bad_run(path, f"a record lacks the data for its tables ({type(error).__name__})", _HELP) from error
    return run


def _check(run: Evaluation) -> None:
    """Refuse, before tables are made, records that tables cannot use."""
    method = run.method
    numbers = (method.factor, method.seed)
    if not all([value is None or (isinstance(value, int | float) and isfinite(value)) for value in numbers]):
        raise ValueError("lambda and seed must be numbers")
    if not isinstance(run.header["tasks"]["sha256"], str) or not isinstance(run.header["tasks"]["count"], int):
        raise TypeError("the tasks must have a number and a hash")
    if type(run.header["settings"]["samples"]) is not int or run.header["settings"]["samples"] < 1:
        raise ValueError("the number of samples must be positive")
    if any([type(record["sample"]) is not int or record["sample"] < 0 for record in run.records]):
        raise ValueError("a sample must be a number from 0")
    if len({(record["id"], record["sample"]) for record in run.records}) != len(run.records):
        raise ValueError("two records have the same task and sample")
    answers = run.evaluated
    for answer in answers:
        record = answer.record
        if not set(FIELDS) <= set(record):
            raise ValueError("a record lacks a field")
        texts = [record[name] for name in ("origin", "family", "world", "split", "shift", "finish", "reading")]
        if not all([isinstance(text, str) for text in (*texts, *record["plan"], *record["reference"], answer.error)]):
            raise TypeError("names must be texts")
        if not isinstance(record["cpu_s"] + record["cost"]["completion_tokens"], int | float):
            raise TypeError("costs must be numbers")
    for figure in FIGURES:
        sum([point.part + point.whole for point in figure.points(answers)])
    Group([run]).violations  # noqa: B018 - raises for malformed violations
