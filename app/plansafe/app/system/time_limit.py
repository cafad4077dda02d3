"""A time limit that interrupts long loops.

The engine checks the clock between steps, but a single condition over many objects can exceed any limit. A signal then
interrupts the check, if the system has interval timers and the check runs in the main thread.
"""

from __future__ import annotations

from contextlib import suppress
from types import TracebackType

GRACE = 0.5
"""Additional seconds for the engine to reach its own limit, which gives a better report."""


class OutOfTime(Exception):
    """The time limit has passed."""


class Alarm:
    """Raises :class:`OutOfTime` when ``seconds`` have passed since :meth:`arm`; 0 means no limit.

    A context manager that replaces the signal handler.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._set = False

    def __enter__(self) -> Alarm:
        import signal  # noqa: PLC0415 - not needed to answer --help

        if self._seconds > 0 and hasattr(signal, "setitimer"):
            with suppress(ValueError):  # not in the main thread
                self._before = signal.signal(signal.SIGALRM, _ring)
                self._timer, self._real, self._set = signal.setitimer, signal.ITIMER_REAL, True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._set:
            import signal  # noqa: PLC0415 - already loaded

            self.disarm()
            signal.signal(signal.SIGALRM, self._before)

    def arm(self) -> None:
        """Start the timer."""
        if self._set:
            self._timer(self._real, self._seconds + GRACE)

    def disarm(self) -> None:
        """Stop the timer."""
        if self._set:
            self._timer(self._real, 0)


def _ring(*_: object) -> None:
    raise OutOfTime
