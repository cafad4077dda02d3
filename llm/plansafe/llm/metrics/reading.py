"""Files of predictions and of judged plans: read within bounds, and refused as a whole for one broken line.

A line that is passed over would change every denominator, so none is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, TypeVar

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.llm.metrics.fields import BadField, read_line
from plansafe.llm.metrics.judged import Judged
from plansafe.llm.metrics.lines import judged_of, prediction_of
from plansafe.llm.metrics.records import Prediction

_Record = TypeVar("_Record", Prediction, Judged)

MOST_LINE_BYTES = 4 * 1024 * 1024
MOST_RECORDS = 1_000_000
MOST_BYTES = 1 << 30


class BadPredictions(Exception):
    """The file cannot be used; ``diagnostic`` (SC642) names the line and the field."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


def read_predictions(path: str) -> tuple[Prediction, ...]:
    """All predictions of a file. Raises :class:`BadPredictions`, also for a file that cannot be read or has none."""
    return _read_file(path, predictions)


def read_judged(path: str) -> tuple[Judged, ...]:
    """All judged plans of a file. Raises :class:`BadPredictions`, as for predictions."""
    return _read_file(path, judged_plans)


def predictions(file: BinaryIO, name: str) -> Iterator[Prediction]:
    """The predictions of an open file, one by one; empty lines are passed over. Raises :class:`BadPredictions`."""
    return _records(file, name, lambda record: _keyed(prediction_of(record)))


def judged_plans(file: BinaryIO, name: str) -> Iterator[Judged]:
    """The same for judged plans."""
    return _records(file, name, lambda record: _keyed(judged_of(record)))


def _keyed(one: _Record) -> tuple[tuple[object, ...], _Record]:
    return one.key, one


def _read_file(path: str, read: Callable[[BinaryIO, str], Iterator[_Record]]) -> tuple[_Record, ...]:
    try:
        with open(path, "rb") as file:
            found = tuple(read(file, path))
    except OSError as error:
        raise _bad(path, 0, error.strerror or "cannot be read") from None
    if not found:
        raise _bad(path, 0, "it has no records")
    return found


def _records(
    file: BinaryIO, name: str, of: Callable[[dict[str, Any]], tuple[tuple[object, ...], _Record]]
) -> Iterator[_Record]:
    seen: dict[tuple[object, ...], int] = {}
    total = 0
    for number, line in enumerate(_lines(file), 1):
        total += len(line)
        if len(line) > MOST_LINE_BYTES or total > MOST_BYTES or len(seen) >= MOST_RECORDS:
            raise _bad(name, number, "too large: at most 4 MiB per line, 1 GiB and a million records in total")
        if not line.strip():
            continue
        try:
            key, record = of(read_line(line.rstrip(b"\r\n")))
        except BadField as error:
            raise _bad(name, number, str(error)) from None
        first = seen.setdefault(key, number)
        if first != number:
            raise _bad(name, number, f"the same scenario, question, model, prompt and sample as line {first}")
        yield record


def _lines(file: BinaryIO) -> Iterator[bytes]:
    while line := file.readline(MOST_LINE_BYTES + 1):
        yield line


def _bad(name: str, line: int, reason: str) -> BadPredictions:
    where = f"{name}, line {line}" if line else name
    message = f"predictions cannot be read: {where}: {reason}"
    return BadPredictions(
        Diagnostic(SC.BAD_PREDICTIONS, message, help="write one JSON object per line; docs/metrics.md lists the fields")
    )
