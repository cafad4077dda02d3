"""No plan contradicts a finding about a random task (longer: `python tests/lint/run_lint.py`)."""

from __future__ import annotations

import pytest
from run_lint import linted

from quick import quick_every

BATCH = 6


@pytest.mark.parametrize("batch", quick_every(5, range(10)))
def test_no_false_claims(batch: int) -> None:
    findings = 0
    for number in range(batch * BATCH, (batch + 1) * BATCH):
        search = number % 3 == 0
        result, wrong = linted(11, number, 0.5, number % 4 > 0, 3, quick=True, search=search)
        assert not wrong, wrong
        findings += len([finding for finding in result.findings if finding.code not in ("SC758", "SC759")])
    assert findings
