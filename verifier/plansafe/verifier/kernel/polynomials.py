"""Polynomials in one variable over an ordered field, and the numbers of their real roots (Sturm).

A polynomial is the tuple of its coefficients, the constant first, without a leading zero; ``()`` is the polynomial 0.
Coefficients are fractions or the real numbers of ``real_numbers.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise, zip_longest
from typing import Any

Real = Any
"""A ``Fraction``, or a ``SymbolicReal`` of ``real_numbers.py``."""
Polynomial = tuple[Real, ...]
ZERO = Fraction(0)


def trim(coefficients: Sequence[Real]) -> Polynomial:
    """Return the polynomial with these coefficients."""
    end = len(coefficients)
    while end and coefficients[end - 1] == 0:
        end -= 1
    return tuple(coefficients[:end])


def add(p: Polynomial, q: Polynomial) -> Polynomial:
    """Return the sum."""
    return trim([a + b for a, b in zip_longest(p, q, fillvalue=ZERO)])


def scale(p: Polynomial, factor: Real) -> Polynomial:
    """Return a multiple."""
    return trim([a * factor for a in p])


def multiply(p: Polynomial, q: Polynomial) -> Polynomial:
    """Return the product."""
    product: list[Real] = [ZERO] * (len(p) + len(q))
    for i, a in enumerate(p):
        for j, b in enumerate(q):
            product[i + j] += a * b
    return trim(product)


def divide(p: Polynomial, q: Polynomial) -> tuple[Polynomial, Polynomial]:
    """Return the quotient and the remainder; the divisor is not 0."""
    quotient: list[Real] = [ZERO] * max(len(p) - len(q) + 1, 0)
    remainder = list(p)
    inverse = 1 / q[-1]
    for i in reversed(range(len(quotient))):
        quotient[i] = remainder[i + len(q) - 1] * inverse
        for j, b in enumerate(q):
            remainder[i + j] -= quotient[i] * b
    return trim(quotient), trim(remainder[: len(q) - 1])


def make_monic(p: Polynomial) -> Polynomial:
    """Return the multiple with leading coefficient 1 (0 for 0)."""
    return scale(p, 1 / p[-1]) if p else p


def greatest_common_divisor(p: Polynomial, q: Polynomial) -> Polynomial:
    """Return the monic greatest common divisor."""
    while q:
        p, q = q, make_monic(divide(p, q)[1])
    return make_monic(p)


def invert_modulo(p: Polynomial, modulus: Polynomial) -> Polynomial:
    """Return q with p q = 1 modulo a polynomial without common divisor."""
    # Extended Euclidean algorithm: in both pairs, r = p q modulo the modulus.
    previous_r, previous_q = modulus, trim(())
    r, q = p, trim((Fraction(1),))
    while len(r) > 1:
        quotient, remainder = divide(previous_r, r)
        next_q = add(previous_q, scale(multiply(quotient, q), Fraction(-1)))
        previous_r, previous_q, r, q = r, q, remainder, next_q
    return divide(scale(q, 1 / r[0]), modulus)[1]


def derive(p: Polynomial) -> Polynomial:
    """Return the derivative."""
    return trim([i * a for i, a in enumerate(p)][1:])


def integrate(p: Polynomial) -> Polynomial:
    """Return the antiderivative that is 0 at 0."""
    return (ZERO, *(a / i for i, a in enumerate(p, 1))) if p else ()


def evaluate_at(p: Polynomial, x: Real) -> Real:
    """Return the value at a number."""
    value: Real = ZERO
    for a in reversed(p):
        value = value * x + a
    return value


def remove_repeated_factors(p: Polynomial) -> Polynomial:
    """Return the monic polynomial with the same roots, each simple."""
    return make_monic(divide(p, greatest_common_divisor(p, derive(p)))[0])


def make_sturm_sequence(p: Polynomial) -> list[Polynomial]:
    """Return the Sturm sequence of a polynomial without multiple roots."""
    sequence = [p, derive(p)]
    while len(sequence[-1]) > 1:
        remainder = divide(sequence[-2], sequence[-1])[1]
        sequence.append(scale(remainder, -1 / abs(remainder[-1])))
    return [q for q in sequence if q]


def count_roots(sequence: list[Polynomial], low: Real, high: Real) -> int:
    """Return the number of roots x with low < x <= high, from the Sturm sequence."""
    return _count_sign_changes(sequence, low) - _count_sign_changes(sequence, high)


def _count_sign_changes(sequence: list[Polynomial], x: Real) -> int:
    values = [value for value in (evaluate_at(p, x) for p in sequence) if value != 0]
    return sum((a < 0) != (b < 0) for a, b in pairwise(values))
