"""The folder of a run: its identity, its metrics, and a lock.

``run.json`` has everything that decides the loss curve; ``metrics.jsonl`` has a line for each step,
``evaluations.jsonl`` for each evaluation. The folder of another run is refused and not changed.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from plansafe.align.files import PART, write_file
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.llm.bench.run_file import lock_file
from plansafe.llm.metrics.fields import BadField, read_line
from plansafe.llm.models.request import canonical
from plansafe.llm.models.weights import opened

RUN, METRICS, EVALUATIONS = "run.json", "metrics.jsonl", "evaluations.jsonl"
LOCK, CHECKPOINTS = "lock", "checkpoints"
VERSION = 1
_MOST_BYTES = 1 << 26
_MOST_LINE = 1 << 20


class BadTraining(Exception):
    """A run that cannot start or continue; ``diagnostic`` (SC661) gives the reason."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


def bad_run(path: str, reason: str, help: str | None = None) -> BadTraining:
    """SC661 about a file or folder of a run."""
    return BadTraining(
        Diagnostic(SC.BAD_TRAINING_RUN, f"the training run cannot continue: {path}: {reason}", help=help)
    )


class Folder:
    """The folder of one run, as a context manager that locks it.

    ``identity``: the JSON values that decide the loss curve. ``first``: whether this is the first process of the run,
    the only one that writes. Raises :class:`BadTraining`.
    """

    def __init__(self, path: str, identity: Mapping[str, Any], first: bool = True) -> None:
        self.path = path
        self.first = first
        self._identity = {"kind": "training", "version": VERSION, **identity}
        self.sha256 = hashlib.sha256(canonical(self._identity).encode("ascii")).hexdigest()
        self._lock = -1
        self._new = False

    def __enter__(self) -> Self:
        if not self.first:
            return self
        try:
            self._new = not os.path.exists(self.path)
            os.makedirs(os.path.join(self.path, CHECKPOINTS), exist_ok=True)
            self._lock = os.open(os.path.join(self.path, LOCK), os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise bad_run(self.path, error.strerror or "cannot be written") from None
        try:
            self._begin()
        except BaseException:
            os.close(self._lock)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        if self._lock < 0:
            return
        if kind is not None and self._new and set(os.listdir(self.path)) <= {RUN, LOCK, CHECKPOINTS}:
            with suppress(OSError):  # the folder was made for a run that could not start
                os.rmdir(self.at(CHECKPOINTS))
                shutil.rmtree(self.path)
        os.close(self._lock)

    def at(self, name: str) -> str:
        """The path of a file or folder of the run."""
        return os.path.join(self.path, name)

    def _begin(self) -> None:
        if not lock_file(self._lock):
            raise bad_run(self.path, "another process is using it")
        for folder in (self.path, self.at(CHECKPOINTS)):
            for name in os.listdir(folder):
                if name.startswith(PART):  # from a process that was killed
                    shutil.rmtree(os.path.join(folder, name), ignore_errors=True)
                    with suppress(OSError):
                        os.unlink(os.path.join(folder, name))
        path = self.at(RUN)
        if os.path.exists(path):
            stored = _object(path)
            if stored != json.loads(canonical(self._identity)):
                odd = sorted([key for key in {*stored, *self._identity} if stored.get(key) != self._identity.get(key)])
                raise bad_run(path, f"it contains another run: `{odd[0]}` differs", "name another folder as `output`")
        elif set(os.listdir(self.path)) - {LOCK, CHECKPOINTS} or os.listdir(self.at(CHECKPOINTS)):
            raise bad_run(self.path, f"it is not empty and has no {RUN}", "name another folder as `output`")
        else:
            write_file(path, [json.dumps(self._identity, indent=2, allow_nan=False) + "\n"])

    def keep_metrics(self, step: int) -> list[dict[str, Any]]:
        """Cut metrics and evaluations back to a step; the metrics. Raises :class:`BadTraining` if lines are missing."""
        path, records = self.at(METRICS), list[dict[str, Any]]()
        for number, record in enumerate(_lines(path, step), 1):
            if record.get("step") != number:
                raise bad_run(f"{path}:{number}", f"it is not about step {number}")
            records.append(record)
        if len(records) < step:
            raise bad_run(path, f"it ends before step {step}, the step of the checkpoint")
        if self.first:
            _write_lines(path, records)
            evaluations = _lines(self.at(EVALUATIONS), step)
            kept = [record for record in evaluations if record.get("step", step + 1) <= step]
            _write_lines(self.at(EVALUATIONS), kept)
        return records

    def add_metrics(self, record: Mapping[str, Any]) -> None:
        """Append the line of a step."""
        _append(self.at(METRICS), record)

    def add_evaluation(self, record: Mapping[str, Any]) -> None:
        """Append the line of an evaluation."""
        _append(self.at(EVALUATIONS), record)


def _lines(path: str, most: int) -> Iterator[dict[str, Any]]:
    """The first records of a file of JSON lines, up to ``most``. Raises :class:`BadTraining`."""
    if not os.path.exists(path):
        return
    number = 1
    try:
        with opened(path) as file:
            while number <= most and (line := file.readline(_MOST_LINE)):
                yield read_line(line.rstrip(b"\n"))
                number += 1
    except BadField as error:
        raise bad_run(f"{path}:{number}", str(error)) from None
    except OSError as error:
        raise bad_run(path, error.strerror or "cannot be read") from None


def _write_lines(path: str, records: Iterable[Mapping[str, Any]]) -> None:
    if os.path.exists(path):
        write_file(path, [_line(record) for record in records])


def _append(path: str, record: Mapping[str, Any]) -> None:
    with open(path, "a", encoding="ascii", newline="\n") as file:
        file.write(_line(record))


def _line(record: Mapping[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=True, allow_nan=False, separators=(",", ":")) + "\n"


def _object(path: str) -> dict[str, Any]:
    try:
        with opened(path) as file:
            return read_line(file.read(_MOST_BYTES))
    except OSError as error:
        raise bad_run(path, error.strerror or "cannot be read") from None
    except BadField as error:
        raise bad_run(path, str(error)) from None
