"""A number that is open in a range, and the rational functions of it that a trace has (docs/language.md, section 7).

A comparison is decided if its result is the same for all values of the range; then the trace is the trace of all of
them, apart from the numbers in it.
"""

from fractions import Fraction
from typing import Any

from .polynomials import (
    Polynomial,
    Real,
    add,
    divide,
    evaluate_at,
    greatest_common_divisor,
    multiply,
    remove_repeated_factors,
    scale,
)
from .reader import KernelLimit, require
from .real_numbers import MAX_DEGREE, Interval, SymbolicReal, find_roots

Bounds = tuple[Fraction | None, Fraction | None]
"""The bounds of a range of values, both excluded unless they are equal; ``None``: no bound."""
CONSTANT_ONE: Polynomial = (Fraction(1),)


class AmbiguousComparison(KernelLimit):
    """The result of a comparison is not the same for all values of a range: it changes at ``value``."""

    def __init__(self, value: Real) -> None:
        super().__init__("a comparison that depends on an open number")
        self.value = value


class OpenRange:
    """The values between two bounds, both excluded; ``None``: no bound."""

    def __init__(self, low: Fraction | None, high: Fraction | None) -> None:
        self.low, self.high = low, high
        if low is not None and high is not None:
            self.sample = (low + high) / 2
        elif high is not None:
            self.sample = high - 1
        else:
            self.sample = Fraction(0) if low is None else low + 1

    def number(self) -> "RangeFunction":
        """Return the number that is open."""
        return RangeFunction(self, (Fraction(0), Fraction(1)), CONSTANT_ONE)

    def find_sign(self, p: Polynomial) -> int:
        """Return the sign of a polynomial for all values. Raises ``AmbiguousComparison`` if it has several."""
        simple = remove_repeated_factors(p)
        bound = 1 + sum(map(abs, simple), Fraction(0))  # greater than every root: the polynomial is monic
        low = -bound if self.low is None else self.low
        high = bound if self.high is None else self.high
        for root in find_roots(simple, low, high) if low < high and len(simple) > 1 else ():
            if low < root < high:
                raise AmbiguousComparison(root)
        return 1 if evaluate_at(p, self.sample) > 0 else -1


class RangeFunction(SymbolicReal):
    """A quotient of polynomials in the open number of a range, in lowest terms."""

    def __init__(self, open_range: OpenRange, numerator: Polynomial, denominator: Polynomial) -> None:
        require(max(len(numerator), len(denominator)) <= MAX_DEGREE, "an open number with a high power", KernelLimit)
        self.open_range, self.numerator, self.denominator = open_range, numerator, denominator

    def __hash__(self) -> int:  # type: ignore[override] # equal numbers have equal forms
        return 0  # times are keys; another number is equal nowhere in the range

    def _split_operand(self, other: Any) -> tuple[Polynomial, Polynomial]:
        """Return numerator and denominator of an operand. Raises ``KernelLimit`` for an irrational number."""
        if isinstance(other, RangeFunction):
            return other.numerator, other.denominator
        require(isinstance(other, Fraction | int), "an irrational number and an open one", KernelLimit)
        return ((Fraction(other),) if other else ()), CONSTANT_ONE

    def _make_quotient(self, numerator: Polynomial, denominator: Polynomial) -> Real:
        """Return the quotient in lowest terms: a fraction if it does not depend on the open number."""
        if not numerator:
            return Fraction(0)
        divisor = scale(greatest_common_divisor(numerator, denominator), denominator[-1])
        (numerator, _), (denominator, _) = divide(numerator, divisor), divide(denominator, divisor)
        if len(numerator) == len(denominator) == 1:
            return numerator[0] / denominator[0]
        return RangeFunction(self.open_range, numerator, denominator)

    def __add__(self, other: Any) -> Real:
        numerator, denominator = self._split_operand(other)
        return self._make_quotient(
            add(multiply(self.numerator, denominator), multiply(numerator, self.denominator)),
            multiply(self.denominator, denominator),
        )

    def __mul__(self, other: Any) -> Real:
        numerator, denominator = self._split_operand(other)
        return self._make_quotient(multiply(self.numerator, numerator), multiply(self.denominator, denominator))

    def invert(self) -> Real:
        """Return 1 divided by the number, which is not 0."""
        return self._make_quotient(self.denominator, self.numerator)

    def find_sign(self) -> int:
        """Return the sign for all values of the range. Raises ``AmbiguousComparison`` if it has several."""
        return self.open_range.find_sign(self.numerator) * self.open_range.find_sign(self.denominator)

    def find_enclosure(self) -> Interval:
        """Refuse: an interval would have to contain the number for all values."""
        raise KernelLimit("an irrational number that depends on an open one")


def depends_on_range(number: Real) -> bool:
    """Whether a number depends on an open number."""
    return isinstance(number, RangeFunction)
