"""How numbers change with time: the courses of fluents, and the moments at which comparisons may change their value.

Between two happenings, events or switches of processes, the course of a fluent is a polynomial in the time of the plan.
A comparison is constant between the roots of the difference of its sides and of the denominators (Sturm's theorem
isolates them), so that its values at these moments and at one moment between neighbours are all its values.
"""

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from functools import cmp_to_key, partial, reduce
from typing import NamedTuple

from .formulas import (
    DURATION_TOLERANCE,
    Arithmetic,
    Binding,
    Compare,
    Duration,
    DurationTolerance,
    Fact,
    Fluent,
    Node,
    Number,
    Quantified,
    ground,
)
from .polynomials import Polynomial, Real, add, evaluate_at, integrate, multiply, scale
from .reader import KernelLimit
from .real_numbers import enclose, find_roots, sign

CONSTANT_ONE: Polynomial = (Fraction(1),)


class Quotient(NamedTuple):
    """A quotient of polynomials in the time."""

    over: Polynomial
    under: Polynomial = CONSTANT_ONE


Courses = Mapping[Fact, Polynomial]
"""The course of each fluent that has a value."""


def combine(operator: str, left: Quotient, right: Quotient) -> Quotient:
    """Return a sum, difference, product or quotient."""
    if operator == "*":
        return Quotient(multiply(left.over, right.over), multiply(left.under, right.under))
    if operator == "/":
        return Quotient(multiply(left.over, right.under), multiply(left.under, right.over))
    factor = Fraction(-1 if operator == "-" else 1)
    over = add(multiply(left.over, right.under), scale(multiply(right.over, left.under), factor))
    return Quotient(over, multiply(left.under, right.under))


def course_of(expression: Node, binding: Binding, courses: Courses) -> Quotient | None:
    """Return the course of an expression; ``None`` if it reads a fluent without value."""
    match expression:
        case Number(value):
            return Quotient(make_constant(value))
        case Duration():
            return Quotient(make_constant(binding["?duration"]))
        case DurationTolerance():
            return Quotient(make_constant(binding[DURATION_TOLERANCE]))
        case Fluent(terms):
            course = courses.get(ground(terms, binding))
            return None if course is None else Quotient(course)
    assert isinstance(expression, Arithmetic)
    operands = [course_of(part, binding, courses) for part in expression.members]
    defined = [operand for operand in operands if operand is not None]
    return reduce(partial(combine, expression.operator), defined) if len(defined) == len(operands) else None


def make_constant(value: Real) -> Polynomial:
    """Return the course of a number that does not change."""
    return (value,) if value != 0 else ()


def continue_course(value: Real, rate: Polynomial, now: Real) -> Polynomial:
    """Return the course with this rate that has the value now."""
    change = integrate(rate)
    return add(change, make_constant(value - evaluate_at(change, now)))


def rate_course(expression: Node, binding: Binding, courses: Courses) -> Polynomial:
    """Return a rate. Raises ``KernelLimit`` if it is undefined or not a polynomial."""
    quotient = course_of(expression, binding, courses)
    if quotient is None or not quotient.under:
        raise KernelLimit("an undefined rate")
    if len(quotient.under) > 1:
        raise KernelLimit("a rate that is divided by a changing number")
    return scale(quotient.over, 1 / quotient.under[0])


# The moments at which a comparison may change


def ground_comparisons(formula: Node, binding: Binding) -> Iterator[tuple[Compare, Binding]]:
    """Yield the comparisons of a formula, quantifiers expanded."""
    match formula:
        case Compare():
            yield formula, binding
        case Quantified():
            for o in formula.objects:
                yield from ground_comparisons(formula.part, {**binding, formula.variable: o})
        case _:
            for part in formula.parts():
                yield from ground_comparisons(part, binding)


def change_polynomials(comparison: Compare, binding: Binding, courses: Courses) -> Iterator[Polynomial]:
    """Yield the polynomials at whose roots the comparison may change."""
    left, right = (course_of(side, binding, courses) for side in (comparison.left, comparison.right))
    if left is not None and right is not None:
        difference = combine("-", left, right)
        yield from (p for p in (difference.over, difference.under) if len(p) > 1)


def find_moments(polynomials: Iterable[Polynomial], now: Real, until: Real) -> list[Real]:
    """Return the roots after now and before another moment, in order, without repetition."""
    roots = list[Real]()
    for p in polynomials:
        roots += [root for root in find_roots(p, now, until) if now < root < until]
    return sort_moments(roots)


def sort_moments(moments: Iterable[Real]) -> list[Real]:
    """Return the moments in order, each once."""
    ordered: list[Real] = sorted(moments, key=cmp_to_key(_compare))
    return [moment for i, moment in enumerate(ordered) if i == 0 or moment != ordered[i - 1]]


def _compare(left: Real, right: Real) -> int:
    return sign(left - right)


def choose_between(low: Real, high: Real) -> Fraction:
    """Return a fraction between two numbers, with a small power of 2 as denominator."""
    width = Fraction(1)
    while True:
        start, end = enclose(low, width)[1], enclose(high, width)[0]
        denominator = 1
        while start < end:
            candidate = Fraction(start * denominator // 1 + 1, denominator)
            if candidate < end:
                return candidate
            denominator *= 2
        width /= 16
