"""The folder of a run: what it is a run of, its metrics, and who works in it.

``run.json`` says all that decides the loss curve; ``metrics.jsonl`` has a line for each step. A folder of another run
is left as it is. What is written is written beside its place first, and renamed.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.llm.metrics.fields import BadField, read_line
from plansafe.llm.models.request import canonical
from plansafe.llm.models.weights import opened

RUN, METRICS, LOCK, CHECKPOINTS = "run.json", "metrics.jsonl", "lock", "checkpoints"
PART = ".part-"
VERSION = 1
_MOST_BYTES = 1 << 26
_MOST_LINE = 1 << 20


class BadTraining(Exception):
    """A run that cannot be begun or resumed; ``diagnostic`` (SC661) says why."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


def bad_run(path: str, reason: str, help: str | None = None) -> BadTraining:
    """SC661 about a file or folder of a run."""
    return BadTraining(
        Diagnostic(SC.BAD_TRAINING_RUN, f"the training run cannot continue: {path}: {reason}", help=help)
    )


class Folder:
    """The folder of one run, as a context manager; one command at a time.

    ``identity`` are JSON values that decide the loss curve. ``first``: whether this process is the first of the run's,
    which alone writes. Raises :class:`BadTraining`.
    """

    def __init__(self, path: str, identity: Mapping[str, Any], first: bool = True) -> None:
        self.path = path
        self.first = first
        self._said = {"kind": "training", "version": VERSION, **identity}
        self.sha256 = hashlib.sha256(canonical(self._said).encode("ascii")).hexdigest()
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
            with suppress(OSError):  # a folder that was made for what then could not be begun
                os.rmdir(self.at(CHECKPOINTS))
                shutil.rmtree(self.path)
        os.close(self._lock)

    def at(self, name: str) -> str:
        """The path of something in the folder."""
        return os.path.join(self.path, name)

    def _begin(self) -> None:
        if not _locked(self._lock):
            raise bad_run(self.path, "another process is using it")
        for folder in (self.path, self.at(CHECKPOINTS)):
            for name in os.listdir(folder):
                if name.startswith(PART):  # of a process that was killed
                    shutil.rmtree(os.path.join(folder, name), ignore_errors=True)
                    with suppress(OSError):
                        os.unlink(os.path.join(folder, name))
        path = self.at(RUN)
        if os.path.exists(path):
            known = _object(path)
            if known != json.loads(canonical(self._said)):
                odd = sorted([key for key in {*known, *self._said} if known.get(key) != self._said.get(key)])
                raise bad_run(path, f"it contains another run: `{odd[0]}` differs", "name another folder as `output`")
        elif set(os.listdir(self.path)) - {LOCK, CHECKPOINTS} or os.listdir(self.at(CHECKPOINTS)):
            raise bad_run(self.path, f"it is not empty and has no {RUN}", "name another folder as `output`")
        else:
            replace(path, json.dumps(self._said, indent=2, allow_nan=False) + "\n")

    def kept_metrics(self, step: int) -> list[dict[str, Any]]:
        """Cut the metrics back to a step, and give them. Raises :class:`BadTraining` where some are missing."""
        path, found = self.at(METRICS), list[dict[str, Any]]()
        if os.path.exists(path):
            number = 0
            try:
                with opened(path) as file:
                    for number in range(1, step + 1):
                        line = file.readline(_MOST_LINE)
                        if not line:
                            break
                        record = read_line(line.rstrip(b"\n"))
                        if record.get("step") != number:
                            raise bad_run(f"{path}:{number}", f"it is not about step {number}")
                        found.append(record)
            except BadField as error:
                raise bad_run(f"{path}:{number}", str(error)) from None
            except OSError as error:
                raise bad_run(path, error.strerror or "cannot be read") from None
        if len(found) < step:
            raise bad_run(path, f"it ends before step {step}, the step of the checkpoint")
        if self.first:
            replace(path, "".join([_line(record) for record in found]))
        return found

    def add_metrics(self, record: Mapping[str, Any]) -> None:
        """Add the line of a step."""
        with open(self.at(METRICS), "a", encoding="ascii", newline="\n") as file:
            file.write(_line(record))


def replace(path: str, text: str) -> None:
    """Write a text file that is there as a whole or as it was."""
    part = os.path.join(os.path.dirname(path), PART + os.path.basename(path))
    with open(part, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(part, path)


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


def _locked(file: int) -> bool:
    """Whether nobody else works in the folder; systems without such locks do not say."""
    try:
        import fcntl  # noqa: PLC0415 - Windows has none
    except ImportError:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
