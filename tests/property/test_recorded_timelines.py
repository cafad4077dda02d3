"""The timeline that an audit records equals the timeline of a separate run, and the report does not change."""

from __future__ import annotations

import pytest
from case import plan_text
from compare import Both
from generate import STREAMS, case

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.reporting.timeline import TimelineRecorder, record_timeline
from quick import quick_every

UNTIMED_STREAMS = tuple(stream for stream in STREAMS if stream not in ("timed", "clashes"))


def compare_recorded(stream: str, seed: int, number: int) -> int:
    """Compare the plans of a case; return how many timelines their audits recorded."""
    candidate = case(stream, seed, number)
    both = Both(candidate)
    assert not both.problem
    recorded_count = 0
    for plan in candidate.plans:
        source = Source("p", plan_text(plan))
        other_checker: Checker = Both(candidate).checker
        report = other_checker.check(source, confirm=False)
        recorder = TimelineRecorder(both.checker.engine)
        recorded_report = both.checker.check(source, confirm=False, recorder=recorder)
        assert recorded_report == report
        if recorder.run is not None:
            recorded_count += 1
            resolved = both.checker.read(source)
            assert recorder.make_timeline(resolved) == record_timeline(both.checker.compiled, resolved)
    return recorded_count


@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize("stream", quick_every(6, UNTIMED_STREAMS))
def test_a_recorded_timeline_equals_the_timeline_of_another_run(stream: str, number: int) -> None:
    assert compare_recorded(stream, 41, number)
