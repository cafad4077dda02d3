"""Real algebraic numbers: the values at irrational moments.

A number is a polynomial in one irrational root, which is given by a polynomial and an interval that contains no other
root of it. Arithmetic and comparisons within the field of one root are exact. Numbers of different roots are compared
by intervals, up to a fixed precision.
"""

from __future__ import annotations

import operator as operators
from collections.abc import Callable
from fractions import Fraction
from typing import cast

from plansafe.verifier.execution.continuous.enclosures import (
    TEXT_DIGITS,
    Enclosure,
    RealNumber,
    find_bounds,
    format_decimal,
)
from plansafe.verifier.execution.continuous.polynomials import (
    Polynomial,
    add,
    divide_with_remainder,
    evaluate,
    greatest_common_divisor,
    multiply,
    scale,
    subtract,
    trim,
)
from plansafe.verifier.execution.state import MAX_BITS, NumberTooLarge
from plansafe.verifier.model.limits import Undecided
from plansafe.verifier.model.nodes import Number, normal_number

MAX_REFINEMENTS = 512
"""Bisections after which numbers of different roots are not compared any more."""


class RealRoot:
    """The only root of ``polynomial`` between ``low`` and ``high``, all rational. The root is simple and irrational."""

    def __init__(self, polynomial: Polynomial, low: Fraction, high: Fraction) -> None:
        self.polynomial = polynomial
        self.low = low
        self.high = high
        self._is_rising = evaluate(polynomial, high) > 0

    def refine(self) -> None:
        """Halve the interval."""
        middle = (self.low + self.high) / 2
        if (evaluate(self.polynomial, middle) > 0) == self._is_rising:
            self.high = middle
        else:
            self.low = middle

    def is_root_of(self, polynomial: Polynomial) -> bool:
        """Whether another polynomial with rational coefficients has the same root."""
        divisor = greatest_common_divisor(self.polynomial, polynomial)
        return len(divisor) > 1 and (evaluate(divisor, self.low) > 0) != (evaluate(divisor, self.high) > 0)

    @property
    def value(self) -> Number:
        """The root as a number."""
        return make_algebraic(self, (0, 1))


class Algebraic(RealNumber):
    """A polynomial in a root; it behaves as a number. An element that is rational may be of this class."""

    __slots__ = ("coefficients", "root")

    def __init__(self, root: RealRoot, coefficients: Polynomial) -> None:
        self.root = root
        self.coefficients = coefficients

    # -- arithmetic ---------------------------------------------------------------------------------------------------

    def _express_in_root(self, other: object) -> Polynomial | None:
        """Return an operand as a polynomial in the root; ``None`` if it is not a number of this field."""
        if isinstance(other, Algebraic):
            return other.coefficients if other.root is self.root else None
        return trim((other,)) if isinstance(other, int | Fraction) else None

    def _combine(
        self,
        other: object,
        combine_polynomials: Callable[[Polynomial, Polynomial], Polynomial],
        combine_bounds: Callable[[object, object], Number],
    ) -> Number:
        """Combine with a number of this field exactly, with another irrational number by the bounds of both."""
        operand = self._express_in_root(other)
        if operand is not None:
            return make_algebraic(self.root, combine_polynomials(self.coefficients, operand))
        return combine_bounds(Enclosure(*find_bounds(self)), other) if isinstance(other, Algebraic) else NotImplemented

    def __add__(self, other: object) -> Number:
        return self._combine(other, add, operators.add)

    __radd__ = __add__

    def __sub__(self, other: object) -> Number:
        return self._combine(other, subtract, operators.sub)

    def __mul__(self, other: object) -> Number:
        return self._combine(other, multiply, operators.mul)

    __rmul__ = __mul__

    def __neg__(self) -> Number:
        return make_algebraic(self.root, scale(self.coefficients, -1))

    def __truediv__(self, other: object) -> Number:
        return self._combine(other, lambda left, right: multiply(left, _invert(self.root, right)), operators.truediv)

    def __rtruediv__(self, other: object) -> Number:
        inverse = make_algebraic(self.root, _invert(self.root, self.coefficients))
        return inverse * cast(Number, other)

    # -- comparison ---------------------------------------------------------------------------------------------------

    def enclose(self) -> tuple[Fraction, Fraction]:
        """Return bounds of the value, for the present interval of the root."""
        low, high = Fraction(0), Fraction(0)
        for coefficient in reversed(self.coefficients):
            products = [bound * end for bound in (low, high) for end in (self.root.low, self.root.high)]
            low, high = min(products) + coefficient, max(products) + coefficient
        return low, high

    def find_sign(self) -> int:
        """Return -1, 0 or 1."""
        if self.root.is_root_of(self.coefficients):
            return 0
        while True:
            low, high = self.enclose()
            if low > 0 or high < 0:
                return 1 if low > 0 else -1
            self.root.refine()

    def _compare(self, other: object) -> int:
        """Return the sign of the difference."""
        if isinstance(other, Algebraic) and other.root is not self.root:
            return _compare_roots(self, other)
        difference = self - other
        if isinstance(difference, Algebraic):
            return difference.find_sign()
        return (difference > 0) - (difference < 0)

    def _can_compare(self, operand: object) -> bool:
        return isinstance(operand, int | Fraction | Algebraic)

    def __hash__(self) -> int:
        return hash("algebraic")  # equal numbers may have different forms

    # -- texts --------------------------------------------------------------------------------------------------------

    def approximate(self) -> Fraction:
        """Return a rational number that agrees to more than nine digits after the point."""
        low, high = self.enclose()
        while high - low > Fraction(1, 10 ** (TEXT_DIGITS + 2)):
            self.root.refine()
            low, high = self.enclose()
        return (low + high) / 2

    def __float__(self) -> float:
        return float(self.approximate())

    def __str__(self) -> str:
        return format_decimal(self.approximate())

    __repr__ = __str__


def make_algebraic(root: RealRoot, coefficients: Polynomial) -> Number:
    """Return the number that a polynomial in a root is; a rational number in its own form."""
    if len(coefficients) >= len(root.polynomial):
        coefficients = divide_with_remainder(coefficients, root.polynomial)[1]
    if len(coefficients) <= 1:
        return normal_number(coefficients[0]) if coefficients else 0
    for coefficient in coefficients:
        if coefficient.numerator.bit_length() > MAX_BITS or coefficient.denominator.bit_length() > MAX_BITS:
            raise NumberTooLarge
    return cast(Number, Algebraic(root, coefficients))


def _invert(root: RealRoot, coefficients: Polynomial) -> Polynomial:
    """Return the inverse of an element. Raises ``ZeroDivisionError``."""
    if not coefficients or root.is_root_of(coefficients):
        raise ZeroDivisionError
    modulus = root.polynomial
    common = greatest_common_divisor(modulus, coefficients)
    if len(common) > 1:  # the element is not 0 at the root, so the other factor has the root
        modulus = divide_with_remainder(modulus, common)[0]
    before, last = modulus, divide_with_remainder(coefficients, modulus)[1]
    factor_before: Polynomial = ()
    factor: Polynomial = (1,)
    while len(last) > 1:
        quotient, remainder = divide_with_remainder(before, last)
        before, last = last, remainder
        factor_before, factor = factor, subtract(factor_before, multiply(quotient, factor))
    return scale(factor, 1 / Fraction(last[0]))


def _compare_roots(left: Algebraic, right: Algebraic) -> int:
    """Compare numbers of different roots: exactly if they are roots themselves, else to a fixed precision."""
    are_roots = left.coefficients == (0, 1) and right.coefficients == (0, 1)
    is_same = are_roots and left.root.is_root_of(right.root.polynomial)
    if is_same and right.root.low < left and left < right.root.high:
        return 0
    for _ in range(MAX_REFINEMENTS):
        left_low, left_high = left.enclose()
        right_low, right_high = right.enclose()
        if left_high < right_low:
            return -1
        if right_high < left_low:
            return 1
        left.root.refine()
        right.root.refine()
    raise Undecided("two irrational numbers of different kinds are too close to be compared")
