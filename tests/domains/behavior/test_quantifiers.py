"""The translation of BDDL's quantifiers agrees with their definition."""

from __future__ import annotations

import random

import pytest
from quantifier_cases import random_case
from quantifier_compare import defined, translated

from plansafe.domains.behavior.goals import at_least, exactly, written_size


@pytest.mark.parametrize("block", range(8))
def test_translation_equals_definition(block: int) -> None:
    rng = random.Random(2000 + block)
    values = []
    for _ in range(50):
        case = random_case(rng)
        values.append(defined(case))
        assert translated(case) == values[-1], case.text()
    assert {True, False} <= set(values)


def truth(formula: list | str, facts: int) -> bool:
    if isinstance(formula, str):
        return bool(facts >> int(formula) & 1)
    values = [truth(child, facts) for child in formula[1:]]
    return {"and": all(values), "or": any(values), "not": not any(values)}[formula[0]]


@pytest.mark.parametrize("size", range(6))
def test_counting_equals_definition(size: int) -> None:
    formulas = [str(number) for number in range(size)]
    for count in range(-1, size + 2):
        for facts in range(2**size):
            assert truth(at_least(count, formulas), facts) == (facts.bit_count() >= count)
            assert truth(exactly(count, formulas), facts) == (facts.bit_count() == count)


def test_size_is_told_without_writing() -> None:
    formula = at_least(60, [["p", str(number)] for number in range(120)])
    assert written_size(formula, 10**6) == 10**6 + 1
    small = at_least(2, ["p", "q", "r"])
    assert written_size(small, 10**6) == len(
        str(small).replace("[", " ( ").replace("]", " ) ").replace(",", "").split()
    )
