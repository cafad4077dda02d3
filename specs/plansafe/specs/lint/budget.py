"""A time limit that several pieces of work share, whatever happens between them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic


class Budget:
    """The remaining seconds (``None``: no limit).

    ``deadline`` is a ``time.monotonic`` value while a :meth:`running` block spends the time, and ``None`` before.
    """

    def __init__(self, seconds: float | None) -> None:
        self.remaining = seconds
        self.deadline: float | None = None
        self._running = False

    @contextmanager
    def running(self) -> Iterator[None]:
        """Spend time while the block runs. A nested block changes nothing."""
        if self._running or self.remaining is None:
            yield
            return
        started = monotonic()
        self.deadline, self._running = started + self.remaining, True
        try:
            yield
        finally:
            self.remaining = max(self.remaining - (monotonic() - started), 0.0)
            self._running = False

    @property
    def is_spent(self) -> bool:
        """Whether the deadline has passed."""
        return self.deadline is not None and monotonic() > self.deadline

    def limit_seconds(self, seconds: float) -> float:
        """Limit a duration to the remaining time; returns at least 0.05 seconds."""
        if self.deadline is None:
            return seconds
        return max(0.05, min(seconds, self.deadline - monotonic()))
