"""Test the alarm that ends a check: one timer for many plans, each with its full time."""

from __future__ import annotations

import signal

import pytest

from plansafe.app.system import time_limit
from plansafe.app.system.time_limit import Alarm, OutOfTime


def test_each_plan_has_its_full_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(time_limit, "monotonic", lambda: now)
    with Alarm(100) as alarm:
        alarm.arm()
        alarm.disarm()
        now = 90.0
        alarm.arm()
        now = 100.6  # the time of the first plan has passed
        signal.raise_signal(signal.SIGALRM)
        now = 190.6
        with pytest.raises(OutOfTime):
            signal.raise_signal(signal.SIGALRM)
        alarm.disarm()
        signal.raise_signal(signal.SIGALRM)
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
