"""Files of predictions, of judged plans and of runs, told apart by their first line, as what the tables are made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.llm.bench.run_file import read_run
from plansafe.llm.metrics.fields import BadField, read_line
from plansafe.llm.metrics.judged import Judged
from plansafe.llm.metrics.lines import judged_of, prediction_of
from plansafe.llm.metrics.reading import MOST_LINE_BYTES, BadPredictions, read_judged, read_predictions
from plansafe.llm.metrics.records import Prediction
from plansafe.llm.suites.report import Cost

_OWN = ("id", "cost")


class Loaded(NamedTuple):
    """What a file holds: predictions, or plans that are judged already; of a run also its header and its cost."""

    name: str
    predictions: tuple[Prediction, ...] = ()
    judged: tuple[Judged, ...] = ()
    header: Mapping[str, Any] | None = None
    cost: Cost | None = None


def load_file(path: str) -> Loaded:
    """Read a file of any of the three kinds. Raises :class:`BadPredictions` and ``BadRun``."""
    match _kind(path):
        case "run":
            return of_run(path, *read_run(path))
        case "judged":
            return Loaded(path, judged=read_judged(path))
        case _:
            return Loaded(path, read_predictions(path))


def of_run(path: str, header: Mapping[str, Any], records: Sequence[Mapping[str, Any]]) -> Loaded:
    """The predictions of a run's records, or the judged plans of one that judges itself. Raises as above."""
    predictions: list[Prediction] = []
    judged: list[Judged] = []
    seen: dict[tuple[object, ...], int] = {}
    for number, record in enumerate(records, 2):
        try:
            own = record.get("judged")
            if isinstance(own, dict):
                judged.append(judged_of(own))
                key: tuple[object, ...] = ("judged", *judged[-1].key)
            else:
                predictions.append(prediction_of({name: record[name] for name in record if name not in _OWN}))
                key = predictions[-1].key
        except BadField as error:
            raise _bad(path, number, str(error)) from None
        if seen.setdefault(key, number) != number:
            raise _bad(path, number, f"the same scenario, question, prompt and sample as line {seen[key]}")
    if not records:
        raise _bad(path, 1, "the run has no records yet")
    return Loaded(path, tuple(predictions), tuple(judged), header, cost_of(records))


def cost_of(records: Iterable[Mapping[str, Any]]) -> Cost:
    """What a run's questions took; what a record does not say counts as nothing."""
    total = Cost()
    for record in records:
        found = record.get("cost")
        cost: Mapping[str, Any] = found if isinstance(found, dict) else {}
        read, written = _count(cost, "prompt_tokens"), _count(cost, "completion_tokens")
        total = Cost(
            total.questions + 1,
            total.calls + (_count(cost, "calls") or 0),
            total.prompt_tokens + (read or 0),
            total.completion_tokens + (written or 0),
            total.silent + (read is None or written is None),
            total.cut + (cost.get("finish") == "length"),
            total.failed + bool(cost.get("failed")),
        )
    return total


def _count(cost: Mapping[str, Any], name: str) -> int | None:
    value = cost.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else None


def _kind(path: str) -> str:
    """The kind of the first line that is not empty; empty for a file that has none, or cannot be read."""
    try:
        with open(path, "rb") as file:
            for _ in range(1000):
                line = file.readline(MOST_LINE_BYTES + 1)
                if line.strip():
                    return str(read_line(line.rstrip(b"\r\n")).get("kind", ""))
                if not line:
                    break
    except (OSError, BadField):
        pass  # whoever reads the whole file says what is wrong with it
    return ""


def _bad(path: str, line: int, reason: str) -> BadPredictions:
    message = f"predictions cannot be read: {path}, line {line}: {reason}"
    return BadPredictions(
        Diagnostic(SC.BAD_PREDICTIONS, message, help="docs/scenarios.md says what the file of a run holds")
    )
