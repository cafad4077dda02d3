"""Polynomials in one variable over an ordered field: rational numbers, or real algebraic numbers of one field.

A polynomial is the tuple of its coefficients, the constant first, without zeros at the end. Every operation is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import gcd as integer_gcd
from math import lcm

from plansafe.verifier.model.nodes import Number, divide, normal_number

Polynomial = tuple[Number, ...]


def trim(coefficients: Sequence[Number]) -> Polynomial:
    """Return the polynomial with these coefficients."""
    length = len(coefficients)
    while length and coefficients[length - 1] == 0:
        length -= 1
    return tuple(coefficients[:length])


def add(left: Polynomial, right: Polynomial) -> Polynomial:
    """Return the sum."""
    shared = min(len(left), len(right))
    head = [a + b for a, b in zip(left[:shared], right[:shared], strict=True)]
    return trim([*head, *left[shared:], *right[shared:]])


def scale(polynomial: Polynomial, factor: Number) -> Polynomial:
    """Return the product with a number."""
    return trim([factor * coefficient for coefficient in polynomial])


def subtract(left: Polynomial, right: Polynomial) -> Polynomial:
    """Return the difference."""
    return add(left, scale(right, -1))


def multiply(left: Polynomial, right: Polynomial) -> Polynomial:
    """Return the product."""
    if not left or not right:
        return ()
    product: list[Number] = [0] * (len(left) + len(right) - 1)
    for i, a in enumerate(left):
        for j, b in enumerate(right):
            product[i + j] = product[i + j] + a * b
    return trim(product)


def differentiate(polynomial: Polynomial) -> Polynomial:
    """Return the derivative."""
    return tuple([power * coefficient for power, coefficient in enumerate(polynomial)][1:])


def integrate(polynomial: Polynomial, start: Number) -> Polynomial:
    """Return the integral with the value ``start`` at 0."""
    return trim([start, *[divide(coefficient, power) for power, coefficient in enumerate(polynomial, 1)]])


def evaluate(polynomial: Polynomial, at: Number) -> Number:
    """Return the value at a number."""
    total: Number = 0
    for coefficient in reversed(polynomial):
        total = total * at + coefficient
    return normal_number(total)


def divide_with_remainder(left: Polynomial, right: Polynomial) -> tuple[Polynomial, Polynomial]:
    """Return quotient and remainder; the divisor is not zero."""
    remainder = list(left)
    quotient: list[Number] = [0] * max(len(left) - len(right) + 1, 0)
    while len(remainder) >= len(right):
        factor = divide(remainder[-1], right[-1])
        offset = len(remainder) - len(right)
        quotient[offset] = factor
        for position, coefficient in enumerate(right[:-1]):
            remainder[offset + position] = remainder[offset + position] - factor * coefficient
        remainder = list(trim(remainder[:-1]))
    return trim(quotient), tuple(remainder)


def normalize(polynomial: Polynomial) -> Polynomial:
    """Return a positive multiple: primitive, with integral coefficients, if all coefficients are rational."""
    if not all([isinstance(coefficient, int | Fraction) for coefficient in polynomial]):
        return polynomial
    denominator = lcm(*[coefficient.denominator for coefficient in polynomial])
    integers = [int(coefficient * denominator) for coefficient in polynomial]
    content = integer_gcd(*integers) or 1
    return tuple([coefficient // content for coefficient in integers])


def greatest_common_divisor(left: Polynomial, right: Polynomial) -> Polynomial:
    """Return a greatest common divisor; its sign is arbitrary."""
    while right:
        left, right = right, normalize(divide_with_remainder(left, right)[1])
    return left


def make_square_free(polynomial: Polynomial) -> Polynomial:
    """Return a polynomial with the same roots, all simple."""
    divisor = greatest_common_divisor(polynomial, differentiate(polynomial))
    return polynomial if len(divisor) <= 1 else divide_with_remainder(polynomial, divisor)[0]
