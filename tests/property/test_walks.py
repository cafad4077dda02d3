"""A sample of the comparison of ``options`` with steps that are taken; ``walks.py`` does more of it."""

from __future__ import annotations

from random import Random

import pytest
from walks import UNTIMED, checker, differences

SEED = 2026


@pytest.mark.parametrize("stream", UNTIMED)
def test_options_say_what_taking_a_step_does(stream: str) -> None:
    looked = list(differences(checker(stream, SEED, 0), Random(stream), 6))
    assert [text for state in looked for text in state.differ] == []
    assert any(state.legal for state in looked)


def test_some_steps_of_the_sample_break_a_rule() -> None:
    looked = [state for stream in UNTIMED for state in differences(checker(stream, SEED, 1), Random(stream), 4)]
    assert sum(state.breaking for state in looked) > 10


def test_a_guard_that_cannot_be_decided_is_told_before_the_step_is_taken() -> None:
    looked = list(differences(checker("steps", 77, 136), Random("77 136"), 2))
    assert [text for state in looked for text in state.differ] == []
