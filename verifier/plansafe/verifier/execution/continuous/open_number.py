"""Numbers that depend on the one open number of a task: rational functions of it.

In a run, a :class:`RationalFunction` behaves as its value at the sample of its :class:`OpenNumber`. Each comparison
restricts the open number to the values around the sample for which it has the same result. So a run with one value
also finds the other values for which it would take the same decisions.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property
from typing import cast

from plansafe.verifier.execution.continuous.enclosures import RealNumber
from plansafe.verifier.execution.continuous.polynomials import (
    Polynomial,
    add,
    divide_with_remainder,
    evaluate,
    greatest_common_divisor,
    multiply,
    normalize,
    scale,
    subtract,
)
from plansafe.verifier.execution.continuous.roots import (
    MAX_COEFFICIENTS,
    bound_roots,
    find_rational_between,
    find_roots,
    find_simplest_between,
)
from plansafe.verifier.execution.state import MAX_BITS, NumberTooLarge
from plansafe.verifier.model.limits import Undecided
from plansafe.verifier.model.nodes import Number, divide, normal_number


class SampleIsBoundary(Exception):
    """At the sample a comparison has another result than around it."""


class OpenNumber:
    """A positive number that is open between ``low`` and ``high`` (``None``: unbounded), both excluded.

    ``low`` and ``high`` approach the sample during a run: between them, each comparison of the run has the same result.
    """

    def __init__(self, sample: Fraction, low: Number, high: Number | None) -> None:
        self.sample = sample
        self.low = low
        self.high = high
        self._signs: dict[Polynomial, int] = {}

    @property
    def number(self) -> Number:
        """The open number itself, as a number of a run."""
        return cast(Number, RationalFunction(self, (0, 1), (1,)))

    def find_sign(self, polynomial: Polynomial) -> int:
        """Return the sign of a polynomial, and restrict the number to values with this sign.

        Raises :class:`SampleIsBoundary`.
        """
        polynomial = normalize(polynomial)
        sign = self._signs.get(polynomial)
        if sign is None:
            value = evaluate(polynomial, self.sample)
            if value == 0:
                raise SampleIsBoundary
            sign = self._signs[polynomial] = 1 if value > 0 else -1
            self._restrict(polynomial)
        return sign

    def _restrict(self, polynomial: Polynomial) -> None:
        """Exclude the roots of a polynomial, and the values beyond them."""
        high = bound_roots(polynomial) if self.high is None else self.high
        for root in find_roots(polynomial, high):
            if root < self.sample:
                self.low = max(self.low, root)
            else:
                self.high = root if self.high is None else min(self.high, root)


class RationalFunction(RealNumber):
    """A quotient of two polynomials in an open number, not constant and in lowest terms; it behaves as a number."""

    def __init__(self, open_number: OpenNumber, numerator: Polynomial, denominator: Polynomial) -> None:
        if max(len(numerator), len(denominator)) > MAX_COEFFICIENTS:
            raise Undecided(f"a number depends on a power of the open number above {MAX_COEFFICIENTS - 1}")
        for coefficient in (*numerator, *denominator):
            if max(coefficient.numerator.bit_length(), coefficient.denominator.bit_length()) > MAX_BITS:
                raise NumberTooLarge
        self.open_number = open_number
        self.numerator = numerator
        self.denominator = denominator

    @cached_property
    def value(self) -> Number:
        """The value at the sample."""
        sample = self.open_number.sample
        return divide(evaluate(self.numerator, sample), evaluate(self.denominator, sample))

    # -- arithmetic ---------------------------------------------------------------------------------------------------

    def _split_operand(self, other: object) -> tuple[Polynomial, Polynomial]:
        """Return numerator and denominator of an operand. Raises :class:`Undecided` for an irrational number."""
        if isinstance(other, RationalFunction):
            return other.numerator, other.denominator
        if isinstance(other, int | Fraction):
            return (other,) if other else (), (1,)
        return self.enclose()

    def __add__(self, other: object) -> Number:
        numerator, denominator = self._split_operand(other)
        return _make_quotient(
            self.open_number,
            add(multiply(self.numerator, denominator), multiply(numerator, self.denominator)),
            self.denominator,
            denominator,
        )

    __radd__ = __add__

    def __neg__(self) -> Number:
        return cast(Number, RationalFunction(self.open_number, scale(self.numerator, -1), self.denominator))

    def __sub__(self, other: object) -> Number:
        numerator, denominator = self._split_operand(other)
        return _make_quotient(
            self.open_number,
            subtract(multiply(self.numerator, denominator), multiply(numerator, self.denominator)),
            self.denominator,
            denominator,
        )

    def __mul__(self, other: object) -> Number:
        numerator, denominator = self._split_operand(other)
        return _make_quotient(self.open_number, multiply(self.numerator, numerator), self.denominator, denominator)

    __rmul__ = __mul__

    def __truediv__(self, other: object) -> Number:
        if other == 0:
            raise ZeroDivisionError
        numerator, denominator = self._split_operand(other)
        return _make_quotient(self.open_number, multiply(self.numerator, denominator), self.denominator, numerator)

    def __rtruediv__(self, other: object) -> Number:
        if self == 0:
            raise ZeroDivisionError
        numerator, denominator = self._split_operand(other)
        return _make_quotient(self.open_number, multiply(numerator, self.denominator), self.numerator, denominator)

    # -- comparison ---------------------------------------------------------------------------------------------------

    def _compare(self, other: object) -> int:
        """Return the sign of the difference. Instead of an irrational number, compare with a rational one between."""
        if not isinstance(other, int | Fraction | RationalFunction):
            low, high = sorted([self.value, cast(Number, other)])
            bounds = sorted([Fraction(self.value), Fraction(find_rational_between(low, high))])
            other = find_simplest_between(*bounds)
        difference = self - other
        if isinstance(difference, RationalFunction):
            return self.open_number.find_sign(difference.numerator) * self.open_number.find_sign(difference.denominator)
        return (difference > 0) - (difference < 0)

    def __hash__(self) -> int:
        return hash((self.numerator, self.denominator))  # other functions differ at the sample

    # -- other forms --------------------------------------------------------------------------------------------------

    def enclose(self) -> tuple[Polynomial, Polynomial]:
        """Raise :class:`Undecided`: the bounds of this number would depend on the open number."""
        raise Undecided("an irrational moment or an exponential course depends on the open number")

    def __float__(self) -> float:
        return float(self.value)

    def __str__(self) -> str:
        return str(self.value)

    __repr__ = __str__


def _make_quotient(open_number: OpenNumber, numerator: Polynomial, *divisors: Polynomial) -> Number:
    """Return the quotient of a polynomial and a product of others, in lowest terms."""
    denominator = multiply(*divisors)
    if not numerator:
        return 0
    common = greatest_common_divisor(numerator, denominator)
    if len(common) > 1:
        numerator, denominator = [divide_with_remainder(part, common)[0] for part in (numerator, denominator)]
    factor = divide(1, denominator[-1])
    numerator, denominator = scale(numerator, factor), scale(denominator, factor)
    if len(numerator) == len(denominator) == 1:
        return normal_number(numerator[0])
    numerator, denominator = tuple(map(normal_number, numerator)), tuple(map(normal_number, denominator))
    return cast(Number, RationalFunction(open_number, numerator, denominator))
