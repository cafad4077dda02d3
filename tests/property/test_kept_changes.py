"""Explanations are the same if the changes of a reading are stored and if the plan is executed again."""

from __future__ import annotations

import pytest
from case import plan_text
from compare import Both
from generate import STREAMS, case

from plansafe.grammar.source import Source
from plansafe.verifier.execution import replay
from plansafe.verifier.reporting import fact_history
from plansafe.verifier.reporting.report import Finding
from quick import quick_every


def findings(stream: str, number: int) -> list[tuple[Finding, ...]]:
    candidate = case(stream, 31, number)
    both = Both(candidate)
    assert not both.problem
    return [both.checker.check(Source("p", plan_text(plan))).findings for plan in candidate.plans]


@pytest.mark.parametrize("number", range(3))
@pytest.mark.parametrize("stream", quick_every(6, STREAMS))
def test_same_findings(stream: str, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    with_stored_changes = findings(stream, number)
    monkeypatch.setattr(replay, "MAX_CHANGES", 0)
    monkeypatch.setattr(fact_history, "MAX_CHANGES", 0)
    assert findings(stream, number) == with_stored_changes
    assert any(with_stored_changes)
