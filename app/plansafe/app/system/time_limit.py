"""A time limit that no loop can outlast.

The engine looks at the clock between steps; one condition over many objects can take longer than any limit. Where the
system has interval timers, and in the main thread alone, a signal ends what the engine's own limit did not.
"""

from __future__ import annotations

from types import TracebackType

GRACE = 0.5
"""Seconds that the engine has beyond its limit to end by itself, with a better report."""


class OutOfTime(Exception):
    """The time limit has passed."""


class Alarm:
    """Raises :class:`OutOfTime` when ``seconds`` have passed since :meth:`arm`; 0 is no limit.

    A context manager: the signal's handler is its own between entry and exit.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._set = False

    def __enter__(self) -> Alarm:
        import signal  # noqa: PLC0415 - not needed to answer --help
        import threading  # noqa: PLC0415

        main = threading.current_thread() is threading.main_thread()
        self._set = self._seconds > 0 and hasattr(signal, "setitimer") and main
        if self._set:
            self._timer, self._real = signal.setitimer, signal.ITIMER_REAL
            self._before = signal.signal(signal.SIGALRM, _ring)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._set:
            import signal  # noqa: PLC0415 - loaded already, on entry

            self.disarm()
            signal.signal(signal.SIGALRM, self._before)

    def arm(self) -> None:
        """Begin to count."""
        if self._set:
            self._timer(self._real, self._seconds + GRACE)

    def disarm(self) -> None:
        """Stop counting."""
        if self._set:
            self._timer(self._real, 0)


def _ring(*_: object) -> None:
    raise OutOfTime
