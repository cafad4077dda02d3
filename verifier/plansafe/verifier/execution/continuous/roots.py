"""The real roots of polynomials in an interval, exactly: Sturm's theorem and bisection."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import cmp_to_key
from itertools import pairwise
from math import floor
from typing import NamedTuple

from plansafe.verifier.execution.continuous.enclosures import Enclosure
from plansafe.verifier.execution.continuous.polynomials import (
    Polynomial,
    differentiate,
    divide_with_remainder,
    evaluate,
    make_square_free,
    normalize,
    scale,
)
from plansafe.verifier.execution.continuous.real_numbers import MAX_REFINEMENTS, Algebraic, RealRoot
from plansafe.verifier.model.limits import Undecided
from plansafe.verifier.model.nodes import Number, divide, normal_number

MAX_COEFFICIENTS = 64
"""Maximum number of coefficients of a polynomial."""


def find_roots(polynomial: Polynomial, high: Number) -> list[Number]:
    """Return the roots between 0 and ``high``, both excluded, each once and in any order.

    Raises :class:`Undecided` if the degree is too high, or a root is irrational and coefficients are not rational.
    """
    if len(polynomial) <= 1:
        return []
    if len(polynomial) == 2:
        root = divide(-polynomial[0], polynomial[1])
        return [root] if 0 < root < high else []
    if len(polynomial) > MAX_COEFFICIENTS:
        raise Undecided(f"a number changes with a power of the time above {MAX_COEFFICIENTS - 1}")
    if not polynomial[0]:
        return find_roots(polynomial[1:], high)
    if depends_on_open_number(polynomial[-1]):
        polynomial = scale(polynomial, divide(1, polynomial[-1]))
    simple = normalize(make_square_free(normalize(polynomial)))
    sequence = _make_sturm_sequence(simple)
    if any([depends_on_open_number(number) for number in simple]):
        _require_no_root(sequence, high)
        return []
    bound = Fraction(high) if isinstance(high, int | Fraction) else _bound_above(high, simple)
    roots = [_make_root(simple, *interval) for interval in _isolate_roots(sequence, Fraction(0), bound)]
    return [root for root in roots if root < high]


class _RootInterval(NamedTuple):
    """An interval, open below and closed above, with the variations of a Sturm sequence at both ends."""

    low: Fraction
    variations_at_low: int
    high: Fraction
    variations_at_high: int


def _make_sturm_sequence(polynomial: Polynomial) -> list[Polynomial]:
    """Return the Sturm sequence of a polynomial."""
    sequence = [polynomial, normalize(differentiate(polynomial))]
    while len(sequence[-1]) > 1:
        remainder = scale(divide_with_remainder(sequence[-2], sequence[-1])[1], -1)
        if not remainder:
            break
        sequence.append(normalize(remainder))
    return sequence


def _count_variations(sequence: list[Polynomial], at: Number) -> int:
    """Count the sign changes; the difference of two counts is the number of roots above the first, up to the second."""
    signs = [value > 0 for value in [evaluate(polynomial, at) for polynomial in sequence] if value != 0]
    return sum([before != after for before, after in pairwise(signs)])


def _isolate_roots(sequence: list[Polynomial], low: Fraction, high: Fraction) -> Iterable[tuple[Fraction, Fraction]]:
    """Yield intervals, open below and closed above, that contain one root each."""
    stack = [_RootInterval(low, _count_variations(sequence, low), high, _count_variations(sequence, high))]
    while stack:
        low, variations_at_low, high, variations_at_high = stack.pop()
        if variations_at_low - variations_at_high == 1:
            yield low, high
        elif variations_at_low > variations_at_high:
            middle = (low + high) / 2
            variations_at_middle = _count_variations(sequence, middle)
            stack.append(_RootInterval(low, variations_at_low, middle, variations_at_middle))
            stack.append(_RootInterval(middle, variations_at_middle, high, variations_at_high))


def _make_root(polynomial: Polynomial, low: Fraction, high: Fraction) -> Number:
    """Return the simple root in an interval that is open below and closed above."""
    if evaluate(polynomial, high) == 0:
        return normal_number(high)
    leading = polynomial[-1]
    if not all([isinstance(coefficient, int) for coefficient in polynomial]):
        raise Undecided("numbers change after an irrational moment with a power of the time")
    assert isinstance(leading, int)
    rises = evaluate(polynomial, high) > 0
    # A rational root is a multiple of 1 / leading; `low` may be another root.
    while (high - low) * abs(leading) >= 1 or evaluate(polynomial, low) == 0:
        middle = (low + high) / 2
        value = evaluate(polynomial, middle)
        if value == 0:
            return normal_number(middle)
        if (value > 0) == rises:
            high = middle
        else:
            low = middle
    candidate = Fraction(floor(high * abs(leading)), abs(leading))
    if low < candidate and evaluate(polynomial, candidate) == 0:
        return normal_number(candidate)
    return RealRoot(polynomial, low, high).value


def sort_roots(roots: Iterable[Number]) -> list[Number]:
    """Return numbers in order, each once."""
    rational = {root for root in roots if isinstance(root, int | Fraction)}
    irrational = [root for root in roots if not isinstance(root, int | Fraction)]
    if not irrational:
        return sorted(rational)
    sorted_roots = sorted([*rational, *irrational], key=cmp_to_key(_compare))
    return [root for number, root in enumerate(sorted_roots) if number == 0 or root != sorted_roots[number - 1]]


def _compare(left: Number, right: Number) -> int:
    """Return the sign of the difference."""
    return (left > right) - (left < right)


def depends_on_open_number(number: Number) -> bool:
    """Whether a number is a function of the open number of the task."""
    return not isinstance(number, int | Fraction | Algebraic | Enclosure)


def _require_no_root(sequence: list[Polynomial], high: Number) -> None:
    """Raise :class:`Undecided` if a polynomial with this Sturm sequence has a root between 0 and ``high``."""
    root_count = _count_variations(sequence, 0) - _count_variations(sequence, high)
    if evaluate(sequence[0], high) == 0:  # the count includes ``high``
        root_count -= 1
    if root_count > 0:
        raise Undecided("a moment is an irrational function of the open number")


def bound_roots(polynomial: Polynomial) -> Fraction:
    """Return a number greater than all roots (Cauchy)."""
    return 2 + max([abs(Fraction(coefficient) / polynomial[-1]) for coefficient in polynomial])


def _bound_above(value: Number, polynomial: Polynomial) -> Fraction:
    """Return a number that is greater than an irrational value, or than the roots of a polynomial."""
    if isinstance(value, Algebraic | Enclosure):
        return value.enclose()[1]
    if not all([isinstance(coefficient, int | Fraction) for coefficient in polynomial]):
        raise Undecided("numbers change after an irrational moment until one that depends on the open number")
    return bound_roots(polynomial)


def find_rational_between(low: Number, high: Number) -> Number:
    """Return a rational number between two numbers that differ, or a function of the open number."""
    if depends_on_open_number(low) or depends_on_open_number(high):
        return divide(low + high, 2)
    for _ in range(MAX_REFINEMENTS):
        above_low = low.enclose()[1] if isinstance(low, Algebraic | Enclosure) else low
        below_high = high.enclose()[0] if isinstance(high, Algebraic | Enclosure) else high
        if above_low < below_high:
            return normal_number(Fraction(above_low + below_high) / 2)
        if not isinstance(low, Algebraic) and not isinstance(high, Algebraic):
            break
        for bound in (low, high):
            if isinstance(bound, Algebraic):
                bound.root.refine()
    raise Undecided("two moments are equal or too close to be compared")


def find_simplest_between(low: Fraction, high: Fraction) -> Fraction:
    """Return the fraction with the least denominator between two fractions."""
    if low < 0 < high:
        return Fraction(0)
    if high <= 0:
        return -find_simplest_between(-high, -low)
    integer = floor(low)
    if integer + 1 < high:
        return Fraction(integer + 1)
    if low == integer:
        return integer + 1 / Fraction(floor(1 / (high - integer)) + 1)
    return integer + 1 / find_simplest_between(1 / (high - integer), 1 / (low - integer))
