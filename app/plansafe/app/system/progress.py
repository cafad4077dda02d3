"""Show progress on standard error if it is a terminal: a line, or a bar for long batches."""

from __future__ import annotations

import sys
import time
from typing import TextIO

from plansafe.verifier.model.nodes import Number

_WORTH_A_BAR = 20
_INTERVAL_S = 0.1  # seconds between two updates
_COLUMNS = 30


def tell(text: str) -> None:
    """Show a line on a terminal until the next output; an empty text clears it. Silent if not a terminal."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()


class SearchProgress:
    """Shows the bound of a search on a terminal, after a text. Silent if standard error is not a terminal."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._next = 0.0
        self._enabled = sys.stderr.isatty()

    def __call__(self, bound: Number, expanded: int) -> None:
        """Show the lower bound of the cost and the number of expanded states."""
        if not self._enabled or time.monotonic() < self._next:
            return
        self._next = time.monotonic() + _INTERVAL_S
        tell(f"{self._text} {expanded:,} states, none costs less than {float(bound):g}")


class Progress:
    """Draws ``[####....] 120/1000``. Silent for a short batch, or if standard error is not a terminal."""

    def __init__(self, total: int, stream: TextIO | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._total = total
        self._done = 0
        self._visible = False
        self._next = 0.0
        self._enabled = total >= _WORTH_A_BAR and self._stream.isatty()

    def step(self) -> None:
        """Count a completed item."""
        self.at(self._done + 1)

    def at(self, done: int, note: str = "") -> None:
        """Show the number of completed items, and ``note`` after the bar."""
        self._done = done
        if not self._enabled:
            return
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + _INTERVAL_S
        filled = _COLUMNS * self._done // self._total
        bar = "#" * filled + "." * (_COLUMNS - filled)
        self._stream.write(f"\r[{bar}] {self._done}/{self._total}")
        if note:
            self._stream.write(f" {note}\x1b[K")
        self._stream.flush()
        self._visible = True

    def clear(self) -> None:
        """Clear the bar before other output."""
        if self._visible:
            self._stream.write("\r\x1b[K")
            self._stream.flush()
            self._visible = False
