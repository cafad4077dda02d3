"""A time limit that interrupts long loops.

The engine checks the clock between steps, but a single condition over many objects can exceed any limit. A signal then
interrupts the check, if the system has interval timers and the check runs in the main thread.
"""

from __future__ import annotations

from contextlib import suppress
from time import monotonic
from types import TracebackType

GRACE = 0.5
"""Additional seconds for the engine to reach its own limit, which gives a better report."""


class OutOfTime(Exception):
    """The time limit has passed."""


class Alarm:
    """Raises :class:`OutOfTime` when ``seconds`` have passed since :meth:`arm`; 0 means no limit.

    A context manager that replaces the signal handler. The system's timer runs on from plan to plan, and the handler
    sets it again for the remaining time, because two system calls for each plan would cost more than many plans do.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds + GRACE if seconds > 0 else 0
        self._set = self._is_running = False
        self._deadline: float | None = None

    def __enter__(self) -> Alarm:
        import signal  # noqa: PLC0415 - not needed to answer --help

        if self._seconds > 0 and hasattr(signal, "setitimer"):
            with suppress(ValueError):  # not in the main thread
                self._before = signal.signal(signal.SIGALRM, self._ring)
                self._timer, self._real, self._set = signal.setitimer, signal.ITIMER_REAL, True
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._set:
            import signal  # noqa: PLC0415 - already loaded

            self.disarm()
            self._timer(self._real, 0)
            signal.signal(signal.SIGALRM, self._before)

    def arm(self) -> None:
        """Start the time of a plan."""
        if self._set:
            self._deadline = monotonic() + self._seconds
            if not self._is_running:
                self._is_running = True
                self._timer(self._real, self._seconds)

    def disarm(self) -> None:
        """End the time of a plan."""
        self._deadline = None

    def _ring(self, *_: object) -> None:
        self._is_running = False
        if self._deadline is None:
            return
        remaining = self._deadline - monotonic()
        if remaining <= 0:
            raise OutOfTime
        self._is_running = True
        self._timer(self._real, remaining)
