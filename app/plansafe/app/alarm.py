"""A time limit that no loop can outlast.

The engine looks at the clock between steps; one condition over many objects can take longer than any limit. Where the
system has interval timers, and in the main thread alone, a signal ends what the engine's own limit did not.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

GRACE = 0.5
"""Seconds that the engine has beyond its limit to end by itself, with a better report."""


class OutOfTime(Exception):
    """The time limit has passed."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise :class:`OutOfTime` in the block when ``seconds`` have passed; 0 is no limit."""
    import signal  # noqa: PLC0415 - already loaded by the interpreter's start on most systems
    import threading  # noqa: PLC0415

    armed = seconds > 0 and hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    if not armed:
        yield
        return

    def ring(*_: object) -> None:
        raise OutOfTime

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds + GRACE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
