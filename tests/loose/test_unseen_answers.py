"""Answers by writers who had not seen the reader: no retraction is SAFE, no structured answer is misread."""

from __future__ import annotations

import pytest
from unseen_answers import SETS, Outcome, answers, reading, verdict


@pytest.mark.slow
@pytest.mark.parametrize("number", SETS)
def test_no_unseen_retraction_is_safe(number: int) -> None:
    retractions = answers("retractions", number)
    assert len(retractions) == 200
    assert [answer["id"] for answer in retractions if verdict(answer) is Outcome.SAFE] == []


@pytest.mark.parametrize("number", SETS)
def test_no_unseen_structured_answer_is_read_wrongly(number: int) -> None:
    outcomes = [(answer, *reading(answer)) for answer in answers("formats", number)]
    assert len(outcomes) == 60
    assert [
        answer["id"]
        for answer, outcome, read in outcomes
        if outcome is Outcome.OTHER_STEPS and not (answer["steps"] is None and read.remarks)
    ] == []
