"""A sample of the comparison of ``options`` with executed steps; ``walks.py`` compares more."""

from __future__ import annotations

from random import Random

import pytest
from walks import UNTIMED, checker, differences

SEED = 2026


@pytest.mark.parametrize("stream", UNTIMED)
def test_options_predict_the_violations_of_a_step(stream: str) -> None:
    visited = list(differences(checker(stream, SEED, 0), Random(stream), 6))
    assert [text for state in visited for text in state.differences] == []
    assert any(state.legal for state in visited)


def test_some_steps_of_the_sample_break_a_rule() -> None:
    visited = [state for stream in UNTIMED for state in differences(checker(stream, SEED, 1), Random(stream), 4)]
    assert sum(state.breaking for state in visited) > 10


def test_options_report_an_undecidable_guard() -> None:
    visited = list(differences(checker("steps", 77, 136), Random("77 136"), 2))
    assert [text for state in visited for text in state.differences] == []
