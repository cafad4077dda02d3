"""The kernel's exact real numbers: roots, sums, products and comparisons."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from random import Random

import pytest

from plansafe.verifier.kernel.polynomials import evaluate_at, multiply, remove_repeated_factors
from plansafe.verifier.kernel.reader import KernelLimit
from plansafe.verifier.kernel.real_numbers import Algebraic, enclose, find_roots, sign


def poly(*coefficients: int | Fraction) -> tuple[Fraction, ...]:
    return tuple(map(Fraction, coefficients))


def root(n: int) -> Algebraic:
    (value,) = find_roots(poly(-n, 0, 1), Fraction(0), Fraction(n))
    assert isinstance(value, Algebraic)
    return value


def test_square_roots() -> None:
    two, three, six = root(2), root(3), root(6)
    assert two * two == 2 and two * three == six and (two + three) ** 2 == 5 + 2 * six
    assert (two + three) * (three - two) == 1
    assert 1 / two == two / 2 and 1 / (two + three) == three - two
    assert two < Fraction(1415, 1000) and two > Fraction(1414, 1000) and three + two > six
    assert abs(two - three) == three - two and -two < 0 and sign(two * three - six) == 0


def test_one_number_found_twice() -> None:
    assert root(2) == root(2) and root(2) - root(2) == 0
    assert root(8) == 2 * root(2) and root(8) != root(2)


def test_roots_of_polynomials_with_irrational_coefficients() -> None:
    two = root(2)
    (fourth,) = find_roots((-two, Fraction(0), Fraction(1)), Fraction(0), Fraction(2))
    assert fourth**4 == 2 and fourth > 1 and fourth * fourth == two
    assert find_roots((-two * two, Fraction(0), Fraction(1)), Fraction(0), Fraction(2)) == [two]
    assert find_roots((-two, two), Fraction(0), Fraction(2)) == [1]
    assert [r == two for r in find_roots((two * two, -2 * two, Fraction(1)), Fraction(0), Fraction(2))] == [True]


def test_rational_roots_are_fractions() -> None:
    p = multiply(multiply(poly(-1, 3), poly(-7, 0, 1)), multiply(poly(5, 2), poly(-1, 3)))
    roots = find_roots(p, Fraction(-10), Fraction(10))
    assert len(roots) == 4 and [r for r in roots if isinstance(r, Fraction)] == [Fraction(-5, 2), Fraction(1, 3)]


@pytest.mark.parametrize(("low", "high", "expected"), [(0, 2, [0, 1, 2]), (1, 1, [1]), (-5, -1, []), (2, 9, [2])])
def test_roots_at_the_ends_of_an_interval(low: int, high: int, expected: list[int]) -> None:
    assert find_roots(poly(0, 2, -3, 1), Fraction(low), Fraction(high)) == expected


def test_roots_between_irrational_ends() -> None:
    two = root(2)
    assert find_roots(poly(-2, 0, 1), two, two + 1) == [two]
    assert find_roots(poly(-2, 0, 1), -two, two) == [-two, two]
    assert find_roots(poly(0, 1), -two, two) == [0]


def test_a_touched_bound() -> None:
    assert find_roots(multiply(poly(-3, 1), poly(-3, 1)), Fraction(0), Fraction(5)) == [3]


def test_numbers_of_high_degree_are_refused() -> None:
    value = root(2)
    with pytest.raises(KernelLimit):
        for _ in range(10):
            (value,) = find_roots((-value - 1, Fraction(0), Fraction(1)), Fraction(0), Fraction(3))


def test_random_polynomials() -> None:
    """Products of known factors have exactly the known roots."""
    random = Random(1)
    for _ in range(200):
        rational = sorted(
            {Fraction(random.randint(-20, 20), random.randint(1, 4)) for _ in range(random.randint(0, 3))}
        )
        squares = sorted({random.choice((2, 3, 5, 6, 7, 8)) for _ in range(random.randint(0, 2))})
        p = poly(random.choice((1, -2, Fraction(3, 7))))
        for r in rational:
            for _ in range(random.choice((1, 1, 2, 3))):
                p = multiply(p, poly(-r, 1))
        for n in squares:
            p = multiply(p, poly(-n, 0, 1))
        roots = find_roots(p, Fraction(-100), Fraction(100))
        expected = sorted([*map(float, rational), *(s * n**0.5 for n in squares for s in (1, -1))])
        assert [float(r) for r in roots] == pytest.approx(expected)
        assert all(x < y for x, y in pairwise(roots)) and all(evaluate_at(p, r) == 0 for r in roots)


def test_random_sums_and_products() -> None:
    """Identities of rings and fields, and floating point."""
    random = Random(2)
    numbers = [root(2), root(3), root(5), find_roots(poly(-3, 1, 0, 1), Fraction(0), Fraction(3))[0]]
    for _ in range(60):
        a, b, c = (random.choice(numbers) * random.randint(-4, 4) + Fraction(random.randint(-9, 9), 3) for _ in "abc")
        assert (a + b) * c == a * c + b * c and a - b == -(b - a)
        assert float(a * b) == pytest.approx(float(a) * float(b), abs=1e-9)
        assert (a < b) == (float(a) < float(b)) or a == b
        if b != 0:
            assert a / b * b == a


def test_enclosures() -> None:
    low, high = enclose(root(2), Fraction(1, 10**12))
    assert high - low <= Fraction(1, 10**12) and low**2 < 2 < high**2


def test_repeated_factors() -> None:
    assert remove_repeated_factors(poly(1, -2, 1)) == poly(-1, 1)
