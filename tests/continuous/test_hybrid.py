"""Hybrid traces of random tasks: the kernel against direct evaluation at many moments, and under rewritings."""

from __future__ import annotations

import pytest
from hybrid_compare import compare_case
from hybrid_random import generate_case
from hybrid_rewritings import REWRITINGS, rewrite_case
from kernel_trace import record_letters
from pointwise import Letter, SampledTrace, check_dynamics


@pytest.mark.parametrize("seed", range(4))
def test_random_traces(seed: int) -> None:
    for number in range(15):
        case = generate_case(seed, number)
        assert compare_case(case, 40, number).differences == (), case.texts()


@pytest.mark.parametrize("seed", range(3))
def test_random_traces_with_linear_rates(seed: int) -> None:
    for number in range(15):
        case = generate_case(seed, number, linear=1)
        assert compare_case(case, 40, number).differences == (), case.texts()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 110))
def test_more_random_traces(seed: int) -> None:
    for number in range(50):
        case = generate_case(seed, number)
        assert compare_case(case, 200, number).differences == (), case.texts()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(200, 205))
def test_more_random_traces_with_linear_rates(seed: int) -> None:
    for number in range(50):
        case = generate_case(seed, number, linear=1)
        assert compare_case(case, 200, number).differences == (), case.texts()


def test_each_rewriting_changes_a_case() -> None:
    case = generate_case(1, 2)
    assert len({rewrite_case(case, number)[1] for number in range(len(REWRITINGS))} - {case}) == len(REWRITINGS)


def test_direct_evaluation_finds_a_wrong_trace() -> None:
    """A trace with a wrong rate, a late event or a jump contradicts the texts."""
    case = generate_case(1, 2)
    letters = record_letters(case)[1]
    assert list(check_dynamics(case, SampledTrace(letters, 20))) == []
    place = next(i for i, letter in enumerate(letters) if letter.end is not None)

    def differs(letter: Letter) -> bool:
        return bool(list(check_dynamics(case, SampledTrace([*letters[:place], letter, *letters[place + 1 :]], 20))))

    interval = letters[place]
    faster = {fluent: {**course, 0: (*course.get(0, ()), 1)} for fluent, course in interval.courses.items()}
    assert differs(interval._replace(courses=faster))
    assert differs(interval._replace(active=frozenset()))
    assert differs(interval._replace(facts=frozenset({("b0",)})))
