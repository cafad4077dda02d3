"""A sample of the comparison of engine and kernel on random tasks; ``run.py`` does all of it."""

from __future__ import annotations

import pytest
from examine import Work, examine, problems_of, smallest
from generate import STREAMS, case

SEED = 2026
TASKS = 3  # for each stream: 8 * 3 tasks of 24 rules and 4 plans are 2,304 cases


@pytest.mark.parametrize("number", range(TASKS))
@pytest.mark.parametrize("stream", STREAMS)
def test_same_verdicts(stream: str, number: int) -> None:
    found = examine(Work(stream, SEED, number, command=False))
    if found.problems:
        pytest.fail(smallest(case(stream, SEED, number), found.problems[0]), pytrace=False)


@pytest.mark.parametrize("stream", STREAMS)
def test_same_verdicts_through_the_command(stream: str) -> None:
    assert problems_of(case(stream, SEED, TASKS, plans=2), command=True) == []


def test_tasks_are_functions_of_their_numbers() -> None:
    assert case("mixed", SEED, 0) == case("mixed", SEED, 0)
    assert case("mixed", SEED, 0) != case("mixed", SEED, 1)
