"""Log-probabilities of the model at the beginning of a run, for DPO and its kin: computed once, kept as safetensors.

Each process has a file of its own with the examples it computed, in the order in which the run first needs them. A run
that is stopped meanwhile goes on behind what is in the file.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from typing import Any

from plansafe.align.training.examples import Example
from plansafe.align.training.folder import PART, Folder, bad_run

_EVERY = 20
"""Forward passes between two writings of the file."""
_HELP = "delete the file to compute it again"

Score = Callable[[Sequence[Example]], list[Any]]
"""For each example a row of log-probabilities of its rows one behind the other, without padding, in 32 bits."""


def lengths(example: Example) -> list[int]:
    """How many log-probabilities each row of an example has."""
    return [len(row.tokens) - 1 for row in example.rows]


class Reference:
    """The file of one process. ``numbers`` are its examples."""

    def __init__(self, folder: Folder, examples: Sequence[Example], numbers: Sequence[int], part: int, parts: int):
        self._path = folder.at(f"reference-{part}-of-{parts}.safetensors")
        self._run = folder.sha256
        self._examples = examples
        self._numbers = numbers
        self._rows: list[Any] = []

    def compute(self, score: Score, size: int, goes_on: Callable[[int, int], bool]) -> bool:
        """Compute what is missing, ``size`` examples at once; whether all is there.

        ``goes_on`` is asked before each pass, with how many are done and how many there are.
        """
        self._read()
        passes = 0
        while len(self._rows) < len(self._numbers):
            if not goes_on(len(self._rows), len(self._numbers)):
                self._write()
                return False
            at = len(self._rows)
            self._rows += score([self._examples[number] for number in self._numbers[at : at + size]])
            passes += 1
            if passes % _EVERY == 0:
                self._write()
        if passes:
            self._write()
        return True

    def rows(self) -> dict[int, Any]:
        """By the number of its example, the row of each. Raises :class:`BadTraining` where the file has not all."""
        self._read()
        if len(self._rows) < len(self._numbers):
            raise bad_run(self._path, "it is incomplete", _HELP)
        return dict(zip(self._numbers, self._rows, strict=True))

    def _write(self) -> None:
        import torch  # noqa: PLC0415 - a second to load, and only where a model is trained
        from safetensors.torch import save_file  # noqa: PLC0415

        if not self._rows:
            return
        flat = torch.cat(self._rows)
        part = os.path.join(os.path.dirname(self._path), PART + os.path.basename(self._path))
        about = {"run": self._run, "count": str(len(self._rows)), "sha256": _sum(flat)}
        save_file({"logps": flat}, part, about)
        os.replace(part, self._path)

    def _read(self) -> None:
        from safetensors import SafetensorError, safe_open  # noqa: PLC0415 - comes with torch's extra

        if self._rows or not os.path.exists(self._path):
            return
        try:
            with safe_open(self._path, "pt") as file:
                about, flat = file.metadata() or {}, file.get_tensor("logps")
        except (SafetensorError, OSError, ValueError) as error:
            raise bad_run(self._path, " ".join(str(error).split())[:200], _HELP) from None
        if about.get("run") != self._run:
            raise bad_run(self._path, "it belongs to another run", _HELP)
        said = about.get("count", "")
        count = int(said) if said.isdecimal() and len(said) < 10 else -1
        sizes = [sum(lengths(self._examples[number])) for number in self._numbers[: max(count, 0)]]
        if count != len(sizes) or sum(sizes) != len(flat) or about.get("sha256") != _sum(flat):
            raise bad_run(self._path, "it was changed or is incomplete", _HELP)
        self._rows = list(flat.split(sizes))


def _sum(flat: Any) -> str:
    return hashlib.sha256(flat.numpy().tobytes()).hexdigest()
