"""Real numbers that are known between two bounds: values after an exponential course, or of different irrational roots.

The bounds are multiples of ``2 ** -PRECISION`` and differ by far less than any comparison needs, unless the compared
numbers are equal. A number equals itself; other comparisons raise :class:`Undecided` if the bounds overlap.
"""

from __future__ import annotations

from fractions import Fraction
from typing import cast

from plansafe.verifier.execution.state import MAX_BITS, NumberTooLarge
from plansafe.verifier.model.limits import Undecided
from plansafe.verifier.model.nodes import Number

PRECISION = 256
MAX_WIDTH = 1 << (PRECISION - 64)
TEXT_DIGITS = 9


class Enclosure:
    """A real number between ``low`` and ``high``, in units of ``2 ** -PRECISION``; it behaves as a number."""

    __slots__ = ("high", "low")

    def __init__(self, low: int, high: int) -> None:
        if high - low > MAX_WIDTH:
            raise Undecided("the bounds of a number are too far apart")
        if max(-low, high).bit_length() > MAX_BITS + PRECISION:
            raise NumberTooLarge
        self.low = low
        self.high = high

    def enclose(self) -> tuple[Fraction, Fraction]:
        """Return the bounds."""
        return Fraction(self.low, 1 << PRECISION), Fraction(self.high, 1 << PRECISION)

    # -- arithmetic ---------------------------------------------------------------------------------------------------

    def __add__(self, other: object) -> Number:
        if isinstance(other, int | Fraction) and other == 0:
            return cast(Number, self)
        low, high = bounds(other)
        return cast(Number, Enclosure(self.low + low, self.high + high))

    __radd__ = __add__

    def __neg__(self) -> Number:
        return cast(Number, Enclosure(-self.high, -self.low))

    def __pos__(self) -> Number:
        return cast(Number, self)

    def __abs__(self) -> Number:
        return -self if self < 0 else cast(Number, self)

    def __sub__(self, other: object) -> Number:
        return 0 if other is self else self + -cast(Number, other)

    def __rsub__(self, other: object) -> Number:
        return -self + cast(Number, other)

    def __mul__(self, other: object) -> Number:
        if isinstance(other, int | Fraction) and other in (0, 1):
            return cast(Number, self) if other else 0
        return cast(Number, Enclosure(*multiply_bounds((self.low, self.high), bounds(other))))

    __rmul__ = __mul__

    def __truediv__(self, other: object) -> Number:
        return 1 if other is self else self * _invert(other)

    def __rtruediv__(self, other: object) -> Number:
        return _invert(self) * cast(Number, other)

    # -- comparison ---------------------------------------------------------------------------------------------------

    def _compare(self, other: object) -> int:
        """Return the sign of the difference."""
        if other is self:
            return 0
        low, high = bounds(other)
        if self.low > high or self.high < low:
            return 1 if self.low > high else -1
        raise Undecided("two numbers are equal or too close to be compared")

    def __eq__(self, other: object) -> bool:
        return other is self or (_is_number(other) and self._compare(other) == 0)

    def __hash__(self) -> int:
        return id(self)  # no other number is known to be equal

    def __lt__(self, other: object) -> bool:
        return self._compare(other) < 0 if _is_number(other) else NotImplemented

    def __le__(self, other: object) -> bool:
        return self._compare(other) <= 0 if _is_number(other) else NotImplemented

    def __gt__(self, other: object) -> bool:
        return self._compare(other) > 0 if _is_number(other) else NotImplemented

    def __ge__(self, other: object) -> bool:
        return self._compare(other) >= 0 if _is_number(other) else NotImplemented

    # -- texts --------------------------------------------------------------------------------------------------------

    def __float__(self) -> float:
        return float(Fraction(self.low + self.high, 2 << PRECISION))

    def __str__(self) -> str:
        return f"{float(self):.{TEXT_DIGITS}f}"

    __repr__ = __str__


def _is_number(value: object) -> bool:
    return isinstance(value, int | Fraction) or hasattr(value, "enclose")


def bounds(value: object) -> tuple[int, int]:
    """Return bounds of a number, in units of ``2 ** -PRECISION``."""
    if isinstance(value, Enclosure):
        return value.low, value.high
    if isinstance(value, int | Fraction):
        over, under = value.numerator << PRECISION, value.denominator
        return over // under, -(-over // under)
    return _bounds_of_algebraic(value)


def _bounds_of_algebraic(value: object) -> tuple[int, int]:
    """Refine an algebraic number until its bounds are near enough."""
    root = value.root  # type: ignore[attr-defined]
    while True:
        low, high = value.enclose()  # type: ignore[attr-defined]
        if (high - low) * (1 << PRECISION) < 1:
            return bounds(low)[0], bounds(high)[1]
        root.refine()


def multiply_bounds(left: tuple[int, int], right: tuple[int, int]) -> tuple[int, int]:
    """Return bounds of the product."""
    products = [a * b for a in left for b in right]
    return min(products) >> PRECISION, -(-max(products) >> PRECISION)


def _invert(value: object) -> Number:
    if isinstance(value, int | Fraction):
        return 1 / Fraction(value)
    low, high = bounds(value)
    if low <= 0 <= high:
        raise Undecided("a number is divided by one that is zero or too close to zero")
    one = 1 << 2 * PRECISION
    return cast(Number, Enclosure(one // high, -(-one // low)))
