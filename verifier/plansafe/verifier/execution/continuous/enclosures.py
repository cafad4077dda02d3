"""Real numbers that are known between two bounds: values after an exponential course, or of different irrational roots.

The bounds are multiples of ``2 ** -PRECISION``, near enough for every comparison of numbers that differ in practice.
A number equals itself; a comparison raises :class:`Undecided` if the bounds overlap otherwise.
"""

from __future__ import annotations

from abc import abstractmethod
from fractions import Fraction
from typing import Any, cast

from plansafe.verifier.execution.state import MAX_BITS, NumberTooLarge
from plansafe.verifier.model.limits import Undecided
from plansafe.verifier.model.nodes import Number, normal_number

PRECISION = 256
"""The binary digits of bounds after the point."""
MAX_WIDTH = 1 << (PRECISION - 64)
"""Maximum distance of the bounds of a number; with wider bounds it is undecided."""
MAX_TERMS = 8
"""The most irrational numbers in a linear form."""
TEXT_DIGITS = 9
"""The decimal digits after the point in texts."""


class RealNumber:
    """The operations of a number that follow from its sum, its negative and the sign of a difference."""

    __slots__ = ()

    @abstractmethod
    def _compare(self, operand: object) -> int:
        """Return the sign of the difference."""

    @abstractmethod
    def __hash__(self) -> int: ...

    def _can_compare(self, operand: object) -> bool:
        """Whether the operand is a number that can be compared with this one."""
        return isinstance(operand, int | Fraction) or hasattr(operand, "enclose")

    def __pos__(self) -> Number:
        return cast(Number, self)

    def __abs__(self) -> Number:
        number = cast(Number, self)
        return -number if number < 0 else number

    def __sub__(self, other: object) -> Number:
        return cast(Number, self) + -cast(Number, other)

    def __rsub__(self, other: object) -> Number:
        return -cast(Number, self) + cast(Number, other)

    def __eq__(self, other: object) -> bool:
        return self._compare(other) == 0 if self._can_compare(other) else NotImplemented

    def __lt__(self, other: object) -> bool:
        return self._compare(other) < 0 if self._can_compare(other) else NotImplemented

    def __le__(self, other: object) -> bool:
        return self._compare(other) <= 0 if self._can_compare(other) else NotImplemented

    def __gt__(self, other: object) -> bool:
        return self._compare(other) > 0 if self._can_compare(other) else NotImplemented

    def __ge__(self, other: object) -> bool:
        return self._compare(other) >= 0 if self._can_compare(other) else NotImplemented


class Enclosure(RealNumber):
    """A real number between ``low`` and ``high``, in units of ``2 ** -PRECISION``; it behaves as a number.

    ``terms`` and ``constant``: the number as a linear form of other irrational numbers, for which only their identity
    is known. So sums and differences of numbers that come from the same moment stay exact.
    """

    __slots__ = ("constant", "high", "low", "terms")

    def __init__(self, low: int, high: int, terms: dict[object, Number] | None = None, constant: Number = 0) -> None:
        if high - low > MAX_WIDTH:
            raise Undecided("the bounds of a number are too far apart")
        if max(-low, high).bit_length() > MAX_BITS + PRECISION:
            raise NumberTooLarge
        self.low = low
        self.high = high
        self.terms: dict[object, Number] = {object(): 1} if terms is None or len(terms) > MAX_TERMS else terms
        self.constant = 0 if terms is None or len(terms) > MAX_TERMS else constant

    def enclose(self) -> tuple[Fraction, Fraction]:
        """Return the bounds."""
        return Fraction(self.low, 1 << PRECISION), Fraction(self.high, 1 << PRECISION)

    # -- arithmetic ---------------------------------------------------------------------------------------------------

    def __add__(self, other: object) -> Number:
        low, high = find_bounds(other)
        low, high = self.low + low, self.high + high
        if isinstance(other, int | Fraction):
            return cast(Number, Enclosure(low, high, self.terms, self.constant + other) if other else self)
        if not isinstance(other, Enclosure):
            return cast(Number, Enclosure(low, high))
        terms = self.terms | {t: factor + self.terms.get(t, 0) for t, factor in other.terms.items()}
        terms = {term: factor for term, factor in terms.items() if factor}
        constant = self.constant + other.constant
        return cast(Number, Enclosure(low, high, terms, constant)) if terms else normal_number(constant)

    __radd__ = __add__

    def __neg__(self) -> Number:
        return self * -1

    def __mul__(self, other: object) -> Number:
        product = multiply_bounds((self.low, self.high), find_bounds(other))
        if not isinstance(other, int | Fraction):
            return cast(Number, Enclosure(*product))
        if other in (0, 1):
            return cast(Number, self) if other else 0
        terms = {term: factor * other for term, factor in self.terms.items()}
        return cast(Number, Enclosure(*product, terms, self.constant * other))

    __rmul__ = __mul__

    def __truediv__(self, other: object) -> Number:
        return self * _invert(other)

    def __rtruediv__(self, other: object) -> Number:
        return _invert(self) * cast(Number, other)

    # -- comparison ---------------------------------------------------------------------------------------------------

    def _compare(self, other: object) -> int:
        """Return the sign of the difference."""
        low, high = find_bounds(other)
        if self.low > high or self.high < low:
            return 1 if self.low > high else -1
        if isinstance(other, Enclosure):
            difference = self - other
            if not isinstance(difference, Enclosure):
                return (difference > 0) - (difference < 0)
        raise Undecided("two numbers are equal or too close to be compared")

    def __hash__(self) -> int:
        return hash((self.constant, frozenset(self.terms.items())))  # equal numbers have equal terms

    # -- texts --------------------------------------------------------------------------------------------------------

    def __float__(self) -> float:
        return float(Fraction(self.low + self.high, 2 << PRECISION))

    def __str__(self) -> str:
        return format_decimal(Fraction(self.low + self.high, 2 << PRECISION))

    __repr__ = __str__


def format_decimal(number: Fraction) -> str:
    """Return a number with ``TEXT_DIGITS`` digits after the point."""
    units = round(abs(number) * 10**TEXT_DIGITS)
    integer, decimals = divmod(units, 10**TEXT_DIGITS)
    return f"{'-' if number < 0 and units else ''}{integer}.{decimals:0{TEXT_DIGITS}d}"


def find_bounds(value: object) -> tuple[int, int]:
    """Return bounds of a number, in units of ``2 ** -PRECISION``."""
    if isinstance(value, Enclosure):
        return value.low, value.high
    if isinstance(value, int | Fraction):
        numerator, denominator = value.numerator << PRECISION, value.denominator
        return numerator // denominator, -(-numerator // denominator)
    return _find_bounds_of_algebraic(value)


def _find_bounds_of_algebraic(value: Any) -> tuple[int, int]:
    """Refine an algebraic number until its bounds are near enough."""
    while True:
        low, high = value.enclose()
        if (high - low) * (1 << PRECISION) < 1:
            return find_bounds(low)[0], find_bounds(high)[1]
        value.root.refine()


def multiply_bounds(left: tuple[int, int], right: tuple[int, int]) -> tuple[int, int]:
    """Return bounds of the product of two numbers with the given bounds."""
    products = [a * b for a in left for b in right]
    return min(products) >> PRECISION, -(-max(products) >> PRECISION)


def _invert(value: object) -> Number:
    """Return the inverse of a number. Raises :class:`Undecided` if the number may be zero."""
    if isinstance(value, int | Fraction):
        return 1 / Fraction(value)
    low, high = find_bounds(value)
    if low <= 0 <= high:
        raise Undecided("a number is divided by one that is zero or too close to zero")
    square = 1 << 2 * PRECISION
    return cast(Number, Enclosure(square // high, -(-square // low)))
