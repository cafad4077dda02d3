"""The kernel's numbers with exponentials and logarithms, and the zeros of exponential polynomials."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import e, exp, log, sqrt
from random import Random

import pytest

from plansafe.verifier.kernel.exponential_polynomials import Course, evaluate_at, find_roots, multiply
from plansafe.verifier.kernel.polynomials import Real
from plansafe.verifier.kernel.reader import KernelLimit
from plansafe.verifier.kernel.real_numbers import enclose, sign
from plansafe.verifier.kernel.real_numbers import find_roots as roots_of_polynomial
from plansafe.verifier.kernel.transcendental import (
    enclose_exponential,
    is_multiple_of_relations,
    make_exponential,
    make_logarithm,
)

ZERO = Fraction(0)


def power(x: Real) -> Real:
    return make_exponential(Fraction(1), x, ZERO)


def course(**parts: list[int | Fraction]) -> Course:
    """Return a sum of polynomials times exponentials: ``e2=[1, 3]`` is (1 + 3 t) e^(2 t), ``m2`` has e^(-2 t)."""
    exponents = {name: Fraction(int(name[1:]) * (-1 if name[0] == "m" else 1)) for name in parts}
    return {exponents[name]: tuple(map(Fraction, p)) for name, p in parts.items()}


def zeros(f: Course, low: float, high: float, start: int = 0) -> list[float]:
    return [float(root) for root in find_roots(f, Fraction(low), Fraction(high), Fraction(start))]


@pytest.mark.parametrize("bits", [32, 300])
def test_bounds_of_exponentials(bits: int) -> None:
    random = Random(1)
    for _ in range(100):
        x = Fraction(random.randint(-900, 900), random.randint(1, 50))
        low, high = enclose_exponential(x, bits)
        assert 1 < high / low < 1 + Fraction(1, 2**bits)
        finer = enclose_exponential(x, 2 * bits)
        assert low <= finer[0] < finer[1] <= high and float(low) == pytest.approx(exp(x))


def test_equal_exponentials() -> None:
    a, b = power(Fraction(1, 2)), power(Fraction(1, 3))
    assert a * a == power(Fraction(1)) and a * b == power(Fraction(5, 6)) and a / b == power(Fraction(1, 6))
    assert a + b - a == b and (a + b) * (a - b) == a * a - b * b and a - a == 0
    assert 1 / a == power(Fraction(-1, 2)) and power(ZERO) == 1


def test_order() -> None:
    third = power(Fraction(1, 3))
    assert Fraction("1.3956") < third < Fraction("1.3957") and third != Fraction("1.3956124250860895")
    assert sign(power(Fraction(1)) - Fraction(e)) != 0 and abs(-third) == third
    assert power(Fraction(-1000)) > 0 and 1 - power(Fraction(-1000)) < 1
    assert float(power(Fraction(2))) == pytest.approx(e**2)


def test_logarithms() -> None:
    two, three, six = (make_logarithm(Fraction(n)) for n in (2, 3, 6))
    assert two + three == six and make_logarithm(Fraction(8)) == 3 * two and make_logarithm(Fraction(1)) == 0
    assert power(six) == 6 and power(-two) == Fraction(1, 2) and power(two / 2) ** 2 == 2
    assert make_logarithm(power(Fraction(3)) * 2) == 3 + two and float(six) == pytest.approx(log(6))
    assert two < three < six and two * three != six


def test_logarithms_of_algebraic_numbers() -> None:
    (root,) = roots_of_polynomial((Fraction(-2), ZERO, Fraction(1)), ZERO, Fraction(2))
    half = make_logarithm(root)
    assert power(half) == root and power(2 * half) == 2 and float(half) == pytest.approx(log(2) / 2)
    assert half < make_logarithm(Fraction(2)) and root + power(Fraction(1)) > 4


def test_exponentials_of_algebraic_numbers() -> None:
    (root,) = roots_of_polynomial((Fraction(-2), ZERO, Fraction(1)), ZERO, Fraction(2))
    value = power(root)
    assert value * power(-root) == 1 and float(value) == pytest.approx(exp(sqrt(2))) and value > root


def test_numbers_that_cannot_be_told_apart() -> None:
    (root,) = roots_of_polynomial((Fraction(-2), ZERO, Fraction(1)), ZERO, Fraction(2))
    with pytest.raises(KernelLimit, match="too close"):
        sign(make_logarithm(Fraction(2)) - 2 * make_logarithm(root))


def test_relations_of_a_zero() -> None:
    (root,) = find_roots(course(e1=[1], e0=[-2, 1]), ZERO, Fraction(2), ZERO)  # e^t + t = 2
    assert root != make_logarithm(Fraction(2)) and power(root) + root == 2
    assert make_exponential(Fraction(2), root, ZERO) == (2 - root) ** 2
    assert make_exponential(Fraction(2), root, ZERO) + root * root * 2 > (2 - root) ** 2


def test_one_zero_found_twice() -> None:
    f = course(e1=[1], e0=[-2, 1])
    (first,), (second,) = (find_roots(f, ZERO, Fraction(2), ZERO) for _ in "ab")
    (third,) = find_roots({exponent: tuple(3 * a for a in p) for exponent, p in f.items()}, ZERO, Fraction(1), ZERO)
    assert first == second == third and power(first) == power(second)


def test_a_number_that_cancels_a_relation() -> None:
    (root,) = find_roots(course(e1=[1], e0=[-2, 1]), ZERO, Fraction(2), ZERO)
    assert 2 - root - make_exponential(Fraction(1), root, ZERO) == 0
    assert is_multiple_of_relations(2 - root - make_exponential(Fraction(1), root, ZERO))


def test_zeros_of_one_exponential() -> None:
    assert zeros(course(m1=[4], e0=[-1]), 0, 9) == pytest.approx([log(4)])
    assert zeros(course(m1=[4], e0=[1]), 0, 9) == [] and zeros(course(m1=[4], e0=[-1]), 2, 9) == []
    assert find_roots(course(m1=[4], e0=[-4]), ZERO, Fraction(9), ZERO) == [0]
    assert zeros(course(m1=[4], e0=[-1]), 0, 9, start=3) == pytest.approx([3 + log(4)])


def test_a_double_zero() -> None:
    (root,) = find_roots(course(m2=[4], m1=[-4], e0=[1]), ZERO, Fraction(3), ZERO)
    assert root == make_logarithm(Fraction(2))
    assert (
        find_roots(
            {a: (*p[:-1], p[-1] + Fraction(1, 10**9)) for a, p in course(m2=[4], m1=[-4], e0=[1]).items()},
            ZERO,
            Fraction(3),
            ZERO,
        )
        == []
    )
    (root,) = find_roots(multiply(course(m1=[1, 1]), course(e0=[4, -4, 1])), ZERO, Fraction(9), ZERO)
    assert root == 2


def test_rational_zeros_are_fractions() -> None:
    f = multiply(course(e0=[-3, 2]), course(m1=[1], e0=[-1, 1, 1]))
    roots = find_roots(f, Fraction(-1), Fraction(5), ZERO)
    assert 0 in roots and Fraction(3, 2) in [root for root in roots if isinstance(root, Fraction)]


def test_random_functions() -> None:
    """The signs between the zeros, and at 400 other moments, show the zeros."""
    random = Random(3)
    for _ in range(60):
        exponents = random.sample([-3, -2, -1, 0, 1, 2], random.choice((2, 2, 3, 4)))
        f: Course = {
            Fraction(exponent, 2): tuple(
                Fraction(random.randint(-6, 6) or 1) for _ in range(random.choice((1, 1, 2, 3)))
            )
            for exponent in exponents
        }
        start = Fraction(random.randint(0, 2))
        roots = find_roots(f, ZERO, Fraction(4), start)
        assert all(a < b for a, b in pairwise(roots))
        ends = [ZERO, *roots, Fraction(4)]
        values = [
            (t, sum(sum(float(c) * t**i for i, c in enumerate(p)) * exp(float(a) * (t - start)) for a, p in f.items()))
            for t in [i / 100 for i in range(401)]
        ]
        for low, high in pairwise([float(x) for x in ends]):
            signs = {value > 0 for t, value in values if low + 1e-6 < t < high - 1e-6 and abs(value) > 1e-9}
            assert len(signs) <= 1
        assert all(evaluate_at(f, root, start) == 0 for root in roots)


def test_enclosures() -> None:
    low, high = enclose(make_logarithm(Fraction(2)), Fraction(1, 10**30))
    assert low < Fraction("0.6931471805599453094172321214581765681") and high - low <= Fraction(1, 10**30)
    assert high > Fraction("0.6931471805599453094172321214581765680")
