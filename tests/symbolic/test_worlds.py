"""The symbolic engine agrees with the replay of every world by the kernel; ``run_worlds.py`` compares more cases."""

from __future__ import annotations

import pytest
from compare import EXEMPT
from witness_corruption import check_corrupted_witnesses
from worlds_brute import enumerate_verdict
from worlds_case import WorldsCase
from worlds_compare import find_encoding_differences, find_report_differences
from worlds_generate import generate_worlds_case

from plansafe.verifier.kernel import KernelLimit, KernelRejects
from plansafe.verifier.rules.verdict_criteria import VerdictCriteria


def check_case(case: WorldsCase, full: bool) -> list[str]:
    """The differences of a case; none if the kernel rejects it."""
    try:
        return find_report_differences(case) if full else find_encoding_differences(case)
    except (KernelRejects, KernelLimit):
        return []


@pytest.mark.slow
@pytest.mark.parametrize("block", range(4))
def test_verdicts_over_facts_and_outcomes_agree_with_enumeration(block: int) -> None:
    for number in range(block * 15, block * 15 + 15):
        case = generate_worlds_case("facts", 1, number)
        assert check_case(case, number % 5 == 0) == [], case.show()


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["facts", "intervals", "orders", "timed"])
def test_verdicts_with_exemptions_agree_with_enumeration(mode: str) -> None:
    for number in range(12):
        case = generate_worlds_case(mode, 3, number)._replace(criteria=VerdictCriteria(exemptions=EXEMPT))
        assert check_case(case, number % 4 == 0) == [], case.show()


@pytest.mark.slow
def test_verdicts_over_intervals_agree_with_samples() -> None:
    for number in range(12):
        case = generate_worlds_case("intervals", 1, number)
        assert check_case(case, number % 4 == 0) == [], case.show()


@pytest.mark.slow
def test_random_cases_cover_all_values() -> None:
    property_values = set()
    for number in range(60):
        try:
            verdict = enumerate_verdict(generate_worlds_case("facts", 1, number))
        except (KernelRejects, KernelLimit):
            continue
        property_values |= {("executable", verdict.executable), ("goal", verdict.goal), ("safe", verdict.safe)}
    assert len(property_values) >= 8


@pytest.mark.slow
def test_witnesses_are_accepted_iff_the_kernel_confirms_them() -> None:
    witness_count = rejected_count = 0
    for number in range(40):
        for is_accepted, is_confirmed in check_corrupted_witnesses(generate_worlds_case("facts", 2, number), number, 6):
            assert is_accepted == is_confirmed
            witness_count += 1
            rejected_count += not is_confirmed
    assert witness_count > 60
    assert rejected_count > 20
