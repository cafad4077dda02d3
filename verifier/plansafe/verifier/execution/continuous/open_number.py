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
    MAX_DEGREE,
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

    def __init__(self, variable: OpenNumber, over: Polynomial, under: Polynomial) -> None:
        if max(len(over), len(under)) > MAX_DEGREE:
            raise Undecided(f"a number depends on a power of the open number above {MAX_DEGREE - 1}")
        for coefficient in (*over, *under):
            if max(coefficient.numerator.bit_length(), coefficient.denominator.bit_length()) > MAX_BITS:
                raise NumberTooLarge
        self.variable = variable
        self.over = over
        self.under = under

    @cached_property
    def value(self) -> Number:
        """The value at the sample."""
        sample = self.variable.sample
        return divide(evaluate(self.over, sample), evaluate(self.under, sample))

    # -- arithmetic ---------------------------------------------------------------------------------------------------

    def _fractions_of(self, other: object) -> tuple[Polynomial, Polynomial]:
        """Numerator and denominator of an operand. Raises :class:`Undecided` for an irrational number."""
        if isinstance(other, RationalFunction):
            return other.over, other.under
        if isinstance(other, int | Fraction):
            return (other,) if other else (), (1,)
        return self.enclose()

    def __add__(self, other: object) -> Number:
        over, under = self._fractions_of(other)
        return _make(self.variable, add(multiply(self.over, under), multiply(over, self.under)), self.under, under)

    __radd__ = __add__

    def __neg__(self) -> Number:
        return cast(Number, RationalFunction(self.variable, scale(self.over, -1), self.under))

    def __sub__(self, other: object) -> Number:
        over, under = self._fractions_of(other)
        return _make(self.variable, subtract(multiply(self.over, under), multiply(over, self.under)), self.under, under)

    def __mul__(self, other: object) -> Number:
        over, under = self._fractions_of(other)
        return _make(self.variable, multiply(self.over, over), self.under, under)

    __rmul__ = __mul__

    def __truediv__(self, other: object) -> Number:
        if other == 0:
            raise ZeroDivisionError
        over, under = self._fractions_of(other)
        return _make(self.variable, multiply(self.over, under), self.under, over)

    def __rtruediv__(self, other: object) -> Number:
        if self == 0:
            raise ZeroDivisionError
        over, under = self._fractions_of(other)
        return _make(self.variable, multiply(over, self.under), self.over, under)

    # -- comparison ---------------------------------------------------------------------------------------------------

    def _compare(self, other: object) -> int:
        """Return the sign of the difference; from an irrational number, with a rational number between them."""
        if not isinstance(other, int | Fraction | RationalFunction):
            low, high = sorted([self.value, cast(Number, other)])
            bounds = sorted([Fraction(self.value), Fraction(find_rational_between(low, high))])
            other = find_simplest_between(*bounds)
        difference = self - other
        if isinstance(difference, RationalFunction):
            return self.variable.find_sign(difference.over) * self.variable.find_sign(difference.under)
        return (difference > 0) - (difference < 0)

    def __hash__(self) -> int:
        return hash((self.over, self.under))  # other functions differ at the sample

    # -- other forms --------------------------------------------------------------------------------------------------

    def enclose(self) -> tuple[Polynomial, Polynomial]:
        """Refuse bounds, which irrational numbers need: the bounds of this number depend on the open number."""
        raise Undecided("an irrational moment or an exponential course depends on the open number")

    def __float__(self) -> float:
        return float(self.value)

    def __str__(self) -> str:
        return str(self.value)

    __repr__ = __str__


def _make(variable: OpenNumber, over: Polynomial, *divisors: Polynomial) -> Number:
    """Return the quotient of a polynomial and a product of others, in lowest terms."""
    under = multiply(*divisors)
    if not over:
        return 0
    common = greatest_common_divisor(over, under)
    if len(common) > 1:
        over, under = divide_with_remainder(over, common)[0], divide_with_remainder(under, common)[0]
    over, under = scale(over, divide(1, under[-1])), scale(under, divide(1, under[-1]))
    if len(over) == len(under) == 1:
        return normal_number(over[0])
    over, under = tuple(map(normal_number, over)), tuple(map(normal_number, under))
    return cast(Number, RationalFunction(variable, over, under))
