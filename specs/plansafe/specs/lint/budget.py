"""Time that is spent in pieces: on formulas, and on each problem, whatever is done in between."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic


class Budget:
    """Seconds that are left (``None``: no limit). ``deadline`` is when they end, while they are being spent."""

    def __init__(self, seconds: float | None) -> None:
        self.left = seconds
        self.deadline: float | None = None
        self._running = False

    @contextmanager
    def running(self) -> Iterator[None]:
        """Spend time on what is done inside; one of these inside another changes nothing."""
        if self._running or self.left is None:
            yield
            return
        started = monotonic()
        self.deadline, self._running = started + self.left, True
        try:
            yield
        finally:
            self.left = max(self.left - (monotonic() - started), 0.0)
            self._running = False

    @property
    def is_spent(self) -> bool:
        """Whether nothing is left."""
        return self.deadline is not None and monotonic() > self.deadline

    def limited(self, seconds: float) -> float:
        """So many seconds, or what is left of them; never quite nothing."""
        if self.deadline is None:
            return seconds
        return max(0.05, min(seconds, self.deadline - monotonic()))
