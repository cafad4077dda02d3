"""Exact real numbers: fractions, and roots of polynomials whose coefficients are such numbers.

A root is a generator: a polynomial, and an interval with rational ends in which it has no other root. Every other
number is a polynomial in a generator, whose coefficients have earlier generators. A number is 0 if a common divisor of
the two polynomials has the generator as a root; the sign of any other number follows from a small enough interval.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import count
from math import lcm
from operator import index
from typing import Any

from .polynomials import (
    Polynomial,
    Real,
    add,
    count_roots,
    divide,
    evaluate_at,
    greatest_common_divisor,
    invert_modulo,
    make_sturm_sequence,
    multiply,
    remove_repeated_factors,
)
from .reader import KernelLimit, require

SIMPLE_DENOMINATOR = 10**6
"""Maximum denominator at which a root of a polynomial with irrational coefficients is recognized as a fraction."""
MAX_DEGREE = 64
"""Maximum degree of a number: the product of the degrees of the polynomials of all its generators."""
_order = count(1)
Interval = tuple[Fraction, Fraction]


class Generator:
    """The only root of a polynomial (without multiple roots) between two fractions, which are not roots.

    ``polynomial`` may be replaced by a divisor that has the same root.
    """

    def __init__(self, polynomial: Polynomial, low: Fraction, high: Fraction) -> None:
        self.order = next(_order)
        self.atoms = dict[int, Any]()  # its powers in the exponents of transcendental.py
        self.polynomial = polynomial
        self.low, self.high = low, high
        self._is_positive_at_low = evaluate_at(polynomial, low) > 0

    def refine(self) -> None:
        """Halve the interval."""
        middle = (self.low + self.high) / 2
        value = evaluate_at(self.polynomial, middle)
        if value == 0:
            self.polynomial, self.low, self.high = (-middle, Fraction(1)), middle, middle
        elif (value > 0) == self._is_positive_at_low:
            self.low = middle
        else:
            self.high = middle

    def replace_by_factor(self, divisor: Polynomial) -> bool:
        """Replace the polynomial by the factor that has the root: the divisor, or the quotient.

        Return whether it is the divisor.
        """
        if len(divisor) == len(self.polynomial):
            return True
        has_root: bool = (evaluate_at(divisor, self.low) > 0) != (evaluate_at(divisor, self.high) > 0)
        self.polynomial = divisor if has_root else divide(self.polynomial, divisor)[0]
        self._is_positive_at_low = evaluate_at(self.polynomial, self.low) > 0
        return has_root


def require_low_degree(p: Polynomial) -> None:
    """Raise ``KernelLimit`` if a polynomial and the generators in its coefficients have too high a degree together."""
    degree = len(p) - 1
    for generator in {g for a in p for g in collect_generators(a)}:
        degree *= len(generator.polynomial) - 1
    require(degree <= MAX_DEGREE, "a number of too high degree", KernelLimit)


def collect_generators(number: Real) -> set[Generator]:
    """Return the generators of a number and of its coefficients, and those of the generators' polynomials."""
    if not isinstance(number, Algebraic):
        return set()
    coefficients = (*number.coefficients, *number.generator.polynomial)
    return {number.generator}.union(*map(collect_generators, coefficients))


class SymbolicReal:
    """A real number that is not a ``Fraction``: intervals contain it, and it is known whether it is 0."""

    __hash__ = None  # type: ignore[assignment] # two representations may be equal
    zero_test_delay = 10
    """The number of refinements after which ``find_sign`` tests whether the number is 0."""
    atom: Any = None
    """The number in the exponents of ``transcendental.py``."""

    def find_enclosure(self) -> Interval:
        """Return an interval that contains the number."""
        raise NotImplementedError

    def refine(self) -> None:
        """Make the next enclosure smaller. Raises ``KernelLimit`` if the number can be refined no further."""
        raise NotImplementedError

    def is_zero(self) -> bool:
        """Whether the number is 0."""
        raise NotImplementedError

    def find_sign(self) -> int:
        """Return -1, 0 or 1."""
        for refinement_count in count():
            low, high = self.find_enclosure()
            if low > 0 or high < 0:
                return 1 if low > 0 else -1
            if refinement_count == self.zero_test_delay and self.is_zero():
                return 0
            self.refine()
        raise AssertionError

    def invert(self) -> Real:
        """Return 1 divided by the number, which is not 0."""
        raise NotImplementedError

    def __add__(self, other: Any) -> Real:
        raise NotImplementedError

    def __mul__(self, other: Any) -> Real:
        raise NotImplementedError

    def __neg__(self) -> Real:
        return self * -1

    def __sub__(self, other: Any) -> Real:
        return self + -other

    def __rsub__(self, other: Any) -> Real:
        return -self + other

    def __radd__(self, other: Any) -> Real:
        return self + other

    def __rmul__(self, other: Any) -> Real:
        return self * other

    def _invert_nonzero(self) -> Real:
        """Return 1 divided by the number. Raises ``ZeroDivisionError`` if it is 0."""
        if sign(self) == 0:
            raise ZeroDivisionError
        return self.invert()

    def __truediv__(self, other: Any) -> Real:
        return self * (other._invert_nonzero() if isinstance(other, SymbolicReal) else 1 / Fraction(other))

    def __rtruediv__(self, other: Any) -> Real:
        return self._invert_nonzero() * other

    def __pow__(self, exponent: int) -> Real:
        if exponent < 0:
            return 1 / self**-exponent
        power: Real = Fraction(1)
        for _ in range(index(exponent)):
            power = power * self
        return power

    def __abs__(self) -> Real:
        return -self if self < 0 else self

    # Order

    def __eq__(self, other: object) -> bool:
        return sign(self - other) == 0 if isinstance(other, SymbolicReal | Fraction | int) else NotImplemented

    def __lt__(self, other: Any) -> bool:
        return sign(self - other) < 0

    def __le__(self, other: Any) -> bool:
        return sign(self - other) <= 0

    def __gt__(self, other: Any) -> bool:
        return sign(self - other) > 0

    def __ge__(self, other: Any) -> bool:
        return sign(self - other) >= 0

    def __repr__(self) -> str:
        return f"{type(self).__name__}({float(self)!r})"

    def __float__(self) -> float:
        return float(sum(enclose(self, Fraction(1, 10**20))) / 2)


class Algebraic(SymbolicReal):
    """A polynomial in a generator, of a lower degree than the generator's."""

    def __init__(self, generator: Generator, coefficients: Polynomial) -> None:
        self.generator = generator
        self.coefficients = coefficients

    def _express_in_later_generator(self, other: Any) -> tuple[Generator, Polynomial, Polynomial]:
        """Return the later generator of two numbers, and both as polynomials in it."""
        if not isinstance(other, Algebraic) or other.generator.order < self.generator.order:
            return self.generator, self.coefficients, (other,)
        if other.generator is self.generator:
            return self.generator, self.coefficients, other.coefficients
        return other.generator, (self,), other.coefficients

    def __add__(self, other: Any) -> Real:
        if not isinstance(other, Algebraic | Fraction | int):
            return NotImplemented
        generator, p, q = self._express_in_later_generator(other)
        return _evaluate_at_generator(generator, add(p, q))

    def __mul__(self, other: Any) -> Real:
        if not isinstance(other, Algebraic | Fraction | int):
            return NotImplemented
        generator, p, q = self._express_in_later_generator(other)
        return _evaluate_at_generator(generator, multiply(p, q))

    def invert(self) -> Real:
        """Return 1 divided by the number; ``sign`` has removed common divisors."""
        polynomial = self.generator.polynomial
        return _evaluate_at_generator(
            self.generator, invert_modulo(divide(self.coefficients, polynomial)[1], polynomial)
        )

    def is_zero(self) -> bool:
        """Whether the polynomial and the generator's have a common divisor with the generator as a root."""
        coefficients = divide(self.coefficients, self.generator.polynomial)[1]
        if not coefficients:
            return True
        divisor = greatest_common_divisor(self.generator.polynomial, coefficients)
        return len(divisor) > 1 and self.generator.replace_by_factor(divisor)

    def find_enclosure(self) -> Interval:
        """Return an interval that contains the number, from the intervals of its generators."""
        low = high = Fraction(0)
        for coefficient in reversed(self.coefficients):
            products = [x * y for x in (low, high) for y in (self.generator.low, self.generator.high)]
            least, greatest = find_enclosure(coefficient)
            low, high = min(products) + least, max(products) + greatest
        return low, high

    def refine(self) -> None:
        """Halve the intervals of the generators four times."""
        for generator in collect_generators(self):
            for _ in range(4):
                generator.refine()


def _evaluate_at_generator(generator: Generator, coefficients: Polynomial) -> Real:
    """Return the value of a polynomial at a generator."""
    if len(coefficients) >= len(generator.polynomial):
        coefficients = divide(coefficients, generator.polynomial)[1]
    if len(generator.polynomial) == 2:  # linear: the generator is a number with earlier generators
        root = -generator.polynomial[0] / generator.polynomial[1]
        return evaluate_at(coefficients, root)
    if len(coefficients) < 2:
        return coefficients[0] if coefficients else Fraction(0)
    return Algebraic(generator, coefficients)


def sign(number: Real) -> int:
    """Return -1, 0 or 1."""
    return number.find_sign() if isinstance(number, SymbolicReal) else int(number > 0) - int(number < 0)


def find_enclosure(number: Real) -> Interval:
    """Return an interval that contains the number."""
    return number.find_enclosure() if isinstance(number, SymbolicReal) else (Fraction(number), Fraction(number))


def enclose(number: Real, width: Fraction) -> Interval:
    """Return an interval of at most this width that contains the number."""
    while True:
        low, high = find_enclosure(number)
        if high - low <= width:
            return low, high
        number.refine()


def find_roots(p: Polynomial, low: Real, high: Real) -> list[Real]:
    """Return the roots x of a polynomial other than 0 with low <= x <= high, in order."""
    if len(p) == 2:
        root = -p[0] / p[1]
        return [root] if low <= root <= high else []
    require_low_degree(p)
    p = remove_repeated_factors(p)
    if not all(isinstance(a, Fraction | int | Algebraic) for a in (*p, low, high)):  # they depend on an open number
        has_root = evaluate_at(p, low) == 0 or count_roots(make_sturm_sequence(p), low, high) > 0
        require(not has_root, "a root that depends on an open number", KernelLimit)
        return []
    start, end = enclose(low, Fraction(1))[0] - 1, enclose(high, Fraction(1))[1] + 1
    roots = [_find_root_between(p, *interval) for interval in _isolate_roots(make_sturm_sequence(p), start, end)]
    return [root for root in roots if low <= root <= high]


def _isolate_roots(sequence: list[Polynomial], start: Fraction, end: Fraction) -> list[Interval]:
    """Return intervals, in order, each with one of the roots x with start < x <= end."""
    intervals, waiting = list[Interval](), [(start, end)]
    while waiting:
        low, high = waiting.pop()
        root_count = count_roots(sequence, low, high)
        if root_count == 1:
            intervals.append((low, high))
        elif root_count:
            middle = (low + high) / 2
            waiting += [(middle, high), (low, middle)]
    return intervals


def _find_root_between(p: Polynomial, low: Fraction, high: Fraction) -> Real:
    """Return the only root x with low < x <= high of a polynomial without multiple roots."""
    if len(p) == 2:
        return -p[0] / p[1]
    if evaluate_at(p, high) == 0:
        return high
    if evaluate_at(p, low) == 0:  # another root
        p = divide(p, (-low, Fraction(1)))[0]
    generator = Generator(p, low, high)
    root = _find_rational_value(generator)
    return _evaluate_at_generator(generator, (Fraction(0), Fraction(1))) if root is None else root


def _find_rational_value(generator: Generator) -> Fraction | None:
    """Return the value of a generator if it is a simple fraction; every rational root of rational coefficients is."""
    polynomial, denominator = generator.polynomial, SIMPLE_DENOMINATOR
    if all(isinstance(a, Fraction) for a in polynomial):
        # polynomial is monic: with integers its leading coefficient is a multiple of each rational root's denominator
        denominator = lcm(*(a.denominator for a in polynomial))
    while (generator.high - generator.low) * 2 * denominator**2 >= 1:
        generator.refine()
    candidate = ((generator.low + generator.high) / 2).limit_denominator(denominator)
    inside = generator.low <= candidate <= generator.high
    return candidate if inside and evaluate_at(generator.polynomial, candidate) == 0 else None
