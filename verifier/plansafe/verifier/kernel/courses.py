"""How numbers change with time: the courses of fluents, and the moments at which comparisons may change their value.

Between two happenings, events or switches of processes, the course of a fluent is an exponential polynomial in the time
of the plan. A comparison is constant between the zeros of the difference of its sides and of the denominators, so that
its values at these moments and at one moment between neighbours are all its values.
"""

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from functools import cmp_to_key, partial, reduce
from typing import NamedTuple

from .exponential_polynomials import (
    CONSTANT_ONE,
    Course,
    add,
    find_roots,
    is_constant,
    make_constant,
    multiply,
    normalize,
    scale,
)
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
from .open_range import depends_on_range
from .polynomials import Real
from .real_numbers import enclose, sign


class Courses(NamedTuple):
    """The course ``of`` each fluent that has a value, from the moment ``start`` on."""

    start: Real
    of: Mapping[Fact, Course]


class Quotient(NamedTuple):
    """A quotient of exponential polynomials in the time."""

    numerator: Course
    denominator: Course = CONSTANT_ONE


def combine(operator: str, left: Quotient, right: Quotient) -> Quotient:
    """Return a sum, difference, product or quotient."""
    if operator == "*":
        return Quotient(multiply(left.numerator, right.numerator), multiply(left.denominator, right.denominator))
    if operator == "/":
        return Quotient(multiply(left.numerator, right.denominator), multiply(left.denominator, right.numerator))
    factor = Fraction(-1 if operator == "-" else 1)
    numerator = add(
        multiply(left.numerator, right.denominator), scale(multiply(right.numerator, left.denominator), factor)
    )
    return Quotient(numerator, multiply(left.denominator, right.denominator))


def compute_course(expression: Node, binding: Binding, courses: Courses) -> Quotient | None:
    """Return the course of an expression; ``None`` if it reads a fluent without value."""
    match expression:
        case Number(value):
            return Quotient(make_constant(value))
        case Duration():
            return Quotient(make_constant(binding["?duration"]))
        case DurationTolerance():
            return Quotient(make_constant(binding[DURATION_TOLERANCE]))
        case Fluent(terms):
            course = courses.of.get(ground(terms, binding))
            return None if course is None else Quotient(course)
    assert isinstance(expression, Arithmetic)
    operands = [compute_course(part, binding, courses) for part in expression.members]
    defined = [operand for operand in operands if operand is not None]
    return reduce(partial(combine, expression.operator), defined) if len(defined) == len(operands) else None


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


def iterate_switch_functions(comparison: Compare, binding: Binding, courses: Courses) -> Iterator[Course]:
    """Yield the functions at whose roots the comparison may change."""
    left, right = (compute_course(side, binding, courses) for side in (comparison.left, comparison.right))
    if left is not None and right is not None:
        difference = combine("-", left, right)
        yield from (f for f in (difference.numerator, difference.denominator) if not is_constant(f))


def find_zeros(functions: Iterable[Course], now: Real, until: Real, start: Real) -> list[Real]:
    """Return the zeros after now and before ``until``, in order, without repetition."""
    roots, solved = list[Real](), list[Course]()
    for f in map(normalize, functions):
        if f not in solved:
            solved.append(f)
            roots += [root for root in find_roots(f, now, until, start) if now < root < until]
    return sort_moments(roots)


def sort_moments(moments: Iterable[Real]) -> list[Real]:
    """Return the moments in order, each once."""
    ordered: list[Real] = sorted(moments, key=cmp_to_key(_compare))
    return [moment for i, moment in enumerate(ordered) if i == 0 or moment != ordered[i - 1]]


def _compare(left: Real, right: Real) -> int:
    return sign(left - right)


def choose_number_between(low: Real, high: Real) -> Real:
    """Return a number between two others: with an open number the middle, else with a small denominator."""
    if depends_on_range(low) or depends_on_range(high):
        return (low + high) / 2
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
