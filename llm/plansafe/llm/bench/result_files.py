"""Read the results of models: run files, files of predictions, and files of judged plans (docs/metrics.md).

The first record of a file determines its kind. One broken line refuses the whole file, because a skipped line would
change every denominator.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, BinaryIO, NamedTuple

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.llm.bench.report import Cost
from plansafe.llm.bench.run_file import Run, read_run
from plansafe.llm.metrics.fields import BadField, read_line
from plansafe.llm.metrics.judged import Judged
from plansafe.llm.metrics.lines import judged_of, prediction_of
from plansafe.llm.metrics.records import Prediction

MOST_LINE_BYTES = 4 * 1024 * 1024
MOST_RECORDS = 1_000_000
MOST_BYTES = 1 << 30
_RUN_FIELDS = ("id", "cost", "skeleton")
"""Fields that a run adds to a prediction."""


class BadPredictions(Exception):
    """The file cannot be used; ``diagnostic`` (SC642) names the line and the field."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


class Results(NamedTuple):
    """The content of a file: predictions, or plans with verdicts. Only a run has a header and a cost."""

    name: str
    predictions: tuple[Prediction, ...] = ()
    judged_plans: tuple[Judged, ...] = ()
    header: Mapping[str, Any] | None = None
    cost: Cost | None = None


def read_results(path: str) -> Results:
    """Read a file of any of the three kinds. Raises :class:`BadPredictions` and ``BadRun``."""
    try:
        with open(path, "rb") as file:
            if _first_kind(file) == "run":
                return run_results(path, read_run(path))
            file.seek(0)
            results = parse_results(file, path)
    except OSError as error:
        raise _bad_file(path, 0, error.strerror or "cannot be read") from None
    if not results.predictions and not results.judged_plans:
        raise _bad_file(path, 0, "it has no records")
    return results


def parse_results(file: BinaryIO, name: str) -> Results:
    """Read predictions or judged plans from an open file; empty lines are ignored. Raises :class:`BadPredictions`."""
    return _collect(name, _numbered_records(file, name))


def run_results(path: str, run: Run) -> Results:
    """Extract the predictions or judged plans of a run. Raises :class:`BadPredictions`."""
    if not run.records:
        raise _bad_file(path, 1, "the run has no records yet")
    results = _collect(path, enumerate([_without_run_fields(record) for record in run.records], 2))
    return results._replace(header=run.header, cost=total_cost(run.records))


def _without_run_fields(record: Mapping[str, Any]) -> dict[str, Any]:
    """The judged plan of a record, or the prediction that the record is."""
    judged_plan = record.get("judged")
    if isinstance(judged_plan, dict):
        return judged_plan
    return {name: record[name] for name in record if name not in _RUN_FIELDS}


def _collect(name: str, numbered_records: Iterable[tuple[int, dict[str, Any]]]) -> Results:
    predictions: list[Prediction] = []
    judged_plans: list[Judged] = []
    line_of: dict[tuple[object, ...], int] = {}
    has_verdicts: bool | None = None
    for number, record in numbered_records:
        if has_verdicts is None:
            has_verdicts = record.get("kind") == "judged"
        try:
            if has_verdicts:
                judged_plans.append(judged_of(record))
                key = judged_plans[-1].key
            else:
                predictions.append(prediction_of(record))
                key = predictions[-1].key
        except BadField as error:
            raise _bad_file(name, number, str(error)) from None
        first = line_of.setdefault(key, number)
        if first != number:
            raise _bad_file(name, number, f"the same scenario, question, model, prompt and sample as line {first}")
    return Results(name, tuple(predictions), tuple(judged_plans))


def _numbered_records(file: BinaryIO, name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    total_bytes = count = number = 0
    while line := file.readline(MOST_LINE_BYTES + 1):
        number += 1
        total_bytes += len(line)
        if len(line) > MOST_LINE_BYTES or total_bytes > MOST_BYTES or count >= MOST_RECORDS:
            raise _bad_file(name, number, "too large: at most 4 MiB per line, 1 GiB and a million records in total")
        if not line.strip():
            continue
        count += 1
        try:
            yield number, read_line(line.rstrip(b"\r\n"))
        except BadField as error:
            raise _bad_file(name, number, str(error)) from None


def _first_kind(file: BinaryIO) -> str:
    """The kind of the first line that is not empty; empty for a file without such a line, or with an invalid one."""
    for _ in range(1000):
        line = file.readline(MOST_LINE_BYTES + 1)
        if line.strip():
            try:
                return str(read_line(line.rstrip(b"\r\n")).get("kind", ""))
            except BadField:
                return ""  # the reader of the whole file reports the error
        if not line:
            break
    return ""


def total_cost(records: Iterable[Mapping[str, Any]]) -> Cost:
    """The total cost of the questions of a run. A missing number counts as 0."""
    total = Cost()
    for record in records:
        value = record.get("cost")
        cost: Mapping[str, Any] = value if isinstance(value, dict) else {}
        prompt_tokens, completion_tokens = _count(cost, "prompt_tokens"), _count(cost, "completion_tokens")
        total = Cost(
            total.questions + 1,
            total.calls + (_count(cost, "calls") or 0),
            total.prompt_tokens + (prompt_tokens or 0),
            total.completion_tokens + (completion_tokens or 0),
            total.silent + (prompt_tokens is None or completion_tokens is None),
            total.cut + (cost.get("finish") == "length"),
            total.failed + bool(cost.get("failed")),
        )
    return total


def _count(cost: Mapping[str, Any], name: str) -> int | None:
    value = cost.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else None


def _bad_file(name: str, line: int, reason: str) -> BadPredictions:
    place = f"{name}, line {line}" if line else name
    message = f"predictions cannot be read: {place}: {reason}"
    return BadPredictions(
        Diagnostic(SC.BAD_PREDICTIONS, message, help="write one JSON object per line; docs/metrics.md lists the fields")
    )
