"""A time limit that several pieces of work share, whatever happens between them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

MIN_SECONDS = 0.05
"""The least duration that is granted, so that each piece of work can at least start."""


class Budget:
    """The remaining seconds (``None``: no limit).

    ``deadline`` is a ``time.monotonic`` value while a :meth:`running` block spends the time, and ``None`` before.
    """

    def __init__(self, seconds: float | None) -> None:
        self.remaining_seconds = seconds
        self.deadline: float | None = None
        self._running = False

    @contextmanager
    def running(self) -> Iterator[None]:
        """Spend time while the block runs. A nested block changes nothing."""
        if self._running or self.remaining_seconds is None:
            yield
            return
        started = monotonic()
        self.deadline, self._running = started + self.remaining_seconds, True
        try:
            yield
        finally:
            self.remaining_seconds = max(self.remaining_seconds - (monotonic() - started), 0.0)
            self._running = False

    @property
    def is_spent(self) -> bool:
        """Whether the deadline has passed."""
        return self.deadline is not None and monotonic() > self.deadline

    def limit_duration(self, seconds: float) -> float:
        """Limit a duration to the remaining time; returns at least :data:`MIN_SECONDS`."""
        if self.deadline is None:
            return seconds
        return max(MIN_SECONDS, min(seconds, self.deadline - monotonic()))
