"""The courses of fluents whose rates depend linearly on each other: enclosures by Taylor series.

The system x' = A x + B(t) with polynomials B is extended by the powers of the time, so that it has no inhomogeneous
part: z' = M z. A step of length h multiplies z by the exponential of M h. In a norm with weights, M h is at most 1;
so the terms of the Taylor series fall fast, and the remainder is at most as great as the last term.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import pairwise
from math import factorial
from typing import cast

from plansafe.grammar.named_tuple import NamedTuple
from plansafe.verifier.execution.continuous import polynomials
from plansafe.verifier.execution.continuous.enclosures import (
    MAX_WIDTH,
    PRECISION,
    Enclosure,
    find_bounds,
    multiply_bounds,
)
from plansafe.verifier.execution.continuous.polynomials import Polynomial, differentiate, trim
from plansafe.verifier.model.limits import Undecided
from plansafe.verifier.model.nodes import Number, divide

MAX_FLUENTS = 100
"""The most fluents of a linear system."""
MAX_STEPS = 20_000
"""The most steps of a linear system between two moments."""
MAX_POLYNOMIAL = 4
"""The most coefficients of a polynomial that the form of a linear system is replaced by."""

GroundFluent = tuple[int, int]
"""A function and the code of its arguments."""
Bounds = tuple[int, int]
"""Bounds of a number, in units of ``2 ** -PRECISION``."""
_UNIT = 1 << PRECISION
"""The number 1 in units of ``2 ** -PRECISION``."""
_RATIO_BITS = PRECISION + 128
"""The binary digits after the point of a part of a step, and of a remainder."""
_TOLERANCE_BITS = 8
"""A remainder may be ``2 ** -_TOLERANCE_BITS`` of the squared width of the time, in parts of a step."""


class NotLinear(Undecided):
    """A product is not linear in the fluents of linear systems."""


class Form(NamedTuple):
    """A sum of fluents of linear systems, each times its weight, and a polynomial of the time."""

    weights: tuple[tuple[GroundFluent, Number], ...]
    polynomial: Polynomial = ()


Course = Polynomial | Form


def add(left: Course, right: Course) -> Course:
    """Return the sum."""
    if not isinstance(left, Form) and not isinstance(right, Form):
        return polynomials.add(left, right)
    first, second = as_form(left), as_form(right)
    weights = dict(first.weights)
    for fluent, weight in second.weights:
        weights[fluent] = weights.get(fluent, 0) + weight
    nonzero_weights = tuple([(fluent, weight) for fluent, weight in sorted(weights.items()) if weight != 0])
    total = polynomials.add(first.polynomial, second.polynomial)
    return Form(nonzero_weights, total) if nonzero_weights else total


def scale(course: Course, factor: Number) -> Course:
    """Return the product with a number."""
    if not isinstance(course, Form):
        return polynomials.scale(course, factor)
    if factor == 0:
        return ()
    weights = tuple([(fluent, factor * weight) for fluent, weight in course.weights])
    return Form(weights, polynomials.scale(course.polynomial, factor))


def subtract(left: Course, right: Course) -> Course:
    """Return the difference."""
    return add(left, scale(right, -1))


def multiply(left: Course, right: Course) -> Course:
    """Return the product; only one factor may contain fluents of linear systems, the other is a number then."""
    for factor, other in ((left, right), (right, left)):
        if isinstance(factor, Form):
            if isinstance(other, Form) or len(other) > 1:
                raise NotLinear("numbers that depend on their own value are multiplied with each other or the time")
            return scale(factor, other[0] if other else 0)
    assert not isinstance(left, Form) and not isinstance(right, Form)
    return polynomials.multiply(left, right)


def as_form(course: Course) -> Form:
    """Return a course as a form."""
    return course if isinstance(course, Form) else Form((), course)


class LinearSystem:
    """Fluents whose rates are linear forms of each other; ``rates`` and ``start`` give rate and first value of each."""

    def __init__(self, rates: dict[GroundFluent, Form], start: dict[GroundFluent, Number]) -> None:
        if len(rates) > MAX_FLUENTS:
            raise Undecided(f"more than {MAX_FLUENTS} numbers depend on each other")
        self.rates = rates
        self.start = start
        self._place_of_fluent = {fluent: place for place, fluent in enumerate(rates)}
        self._rows: list[list[tuple[int, Bounds]]] = []
        power_count = max([1, *[len(rate.polynomial) for rate in rates.values()]])
        self._make_rows(power_count)
        self._choose_step(power_count)
        first = [find_bounds(value) for value in start.values()]
        self._grid = [[*first, (_UNIT, _UNIT), *[(0, 0)] * (power_count - 1)]]
        """The vectors z at the ends of the steps."""
        self._step_columns: list[list[Bounds]] = []
        """The columns of the exponential of M h, which advances z by a step h."""

    def _make_rows(self, power_count: int) -> None:
        """Make the rows of M, without zeros; the fluents come first, then the powers t^k / k! of the time."""
        for rate in self.rates.values():
            row = [(self._place_of_fluent[fluent], find_bounds(weight)) for fluent, weight in rate.weights]
            for k, coefficient in enumerate(rate.polynomial):
                if coefficient != 0:
                    row.append((len(self.rates) + k, find_bounds(coefficient * factorial(k))))
            self._rows.append(row)
        self._rows.append([])
        self._rows += [[(len(self.rates) + k - 1, (_UNIT, _UNIT))] for k in range(1, power_count)]

    def _choose_step(self, power_count: int) -> None:
        """Choose the weights of the norm, as exponents of two, and the step."""
        count = len(self.rates)
        sizes = [[(place, _find_size(entry)) for place, entry in row] for row in self._rows[:count]]
        norm = max([sum([size for place, size in row if place < count]) for row in sizes])
        exponent = _round_log2_up(norm) if norm else 0
        polynomial_sizes = [
            sum([size / _compute_power_of_two((place - count) * exponent) for place, size in row if place >= count])
            for row in sizes
        ]
        self._fluent_weight = 0
        if any(polynomial_sizes):
            self._fluent_weight = max(0, _round_log2_up(max(polynomial_sizes) / _compute_power_of_two(exponent)))
        self._weights = [self._fluent_weight] * count + [-k * exponent for k in range(power_count)]
        shift = PRECISION - exponent - 1
        if shift < PRECISION // 2:
            raise Undecided("a number changes too fast in proportion to itself")
        self.step = 1 << shift

    # -- values -------------------------------------------------------------------------------------------------------

    def find_values_at(self, low: int, high: int) -> dict[GroundFluent, Bounds]:
        """Return bounds of the fluents over an interval of times, which is at most as long as a step."""
        number = low // self.step
        self._extend_grid(number)
        before = number * self.step
        z = self._advance(self._grid[number], (low - before, high - before))
        return dict(zip(self.rates, z, strict=False))

    def _extend_grid(self, number: int) -> None:
        """Compute the vectors z up to the end of step ``number``."""
        if number > MAX_STEPS:
            raise Undecided("a number changes too fast in proportion to itself for this length of time")
        if len(self._grid) <= number and not self._step_columns:
            size = len(self._rows)
            units = [[(_UNIT, _UNIT) if i == j else (0, 0) for i in range(size)] for j in range(size)]
            self._step_columns = [self._advance(unit, (self.step, self.step)) for unit in units]
        while len(self._grid) <= number:
            z = self._grid[-1]
            next_z = [(0, 0)] * len(z)
            for column, value in zip(self._step_columns, z, strict=True):
                next_z = [_add_bounds(a, multiply_bounds(b, value)) for a, b in zip(next_z, column, strict=True)]
            if max([high - low for low, high in next_z]) > MAX_WIDTH:
                raise Undecided("the bounds of a number become too far apart")
            self._grid.append(next_z)

    def _advance(self, z: list[Bounds], time: Bounds) -> list[Bounds]:
        """Return bounds of z after a time of at most one step: a Taylor series with the bound of its remainder.

        The remainder is much smaller than the change of the values within the bounds of the time.
        """
        time_low, time_high = time
        time_ratio = _divide_up(time_high << _RATIO_BITS, self.step)
        width_ratio = ((time_high - time_low) << _RATIO_BITS) // self.step
        tolerance = max(width_ratio**2 >> (_RATIO_BITS + _TOLERANCE_BITS + self._fluent_weight), 1)
        term_count, remainder = 1, time_ratio
        while remainder > tolerance:
            term_count += 1
            remainder = _shift_up(_divide_up(remainder * time_ratio, term_count), _RATIO_BITS)
        total, term = z, z
        for number in range(1, term_count + 1):
            factor = time_low // number, _divide_up(time_high, number)
            term = [multiply_bounds(_multiply_row(row, term), factor) for row in self._rows]
            total = [_add_bounds(a, b) for a, b in zip(total, term, strict=True)]
        sizes = zip([_find_magnitude(value) for value in z], self._weights, strict=True)
        norm = max([_shift_up(size, weight) for size, weight in sizes])
        weighted_remainder = _shift_up(norm * remainder, _RATIO_BITS)
        remainders = [_shift_up(weighted_remainder, -weight) for weight in self._weights]
        return [(low - r, high + r) for (low, high), r in zip(total, remainders, strict=True)]


class LinearSystems:
    """All linear systems from a moment on, and the roots of their forms."""

    def __init__(self, systems: Iterable[LinearSystem]) -> None:
        self.system_of = {fluent: system for system in systems for fluent in system.rates}
        self.step = min([system.step for system in self.system_of.values()], default=0)
        self._roots: dict[object, list[Number]] = {}

    def differentiate(self, form: Form) -> Form:
        """Return the derivative."""
        total: Course = differentiate(form.polynomial)
        for fluent, weight in form.weights:
            total = add(total, scale(self.system_of[fluent].rates[fluent], weight))
        return as_form(total)

    def enclose(self, form: Form, low: int, high: int) -> Bounds:
        """Return bounds of a form over an interval of times, which is at most as long as a step."""
        total = _enclose_polynomial(form.polynomial, low, high)
        for system in dict.fromkeys([self.system_of[fluent] for fluent, _ in form.weights]):
            values = system.find_values_at(low, high)
            for fluent, weight in form.weights:
                if fluent in values:
                    total = _add_bounds(total, multiply_bounds(find_bounds(weight), values[fluent]))
        return total

    def find_polynomial(self, form: Form) -> Polynomial | None:
        """Return the polynomial of low degree that equals a form; ``None`` if no such polynomial is known."""
        derivatives = self.list_derivatives(form)
        low_orders, high_orders = derivatives[:MAX_POLYNOMIAL], derivatives[MAX_POLYNOMIAL:]
        if not _are_rational(derivatives) or any(high_orders):
            return None
        return trim([divide(derivative, factorial(order)) for order, derivative in enumerate(low_orders)])

    def _count_derivatives(self, form: Form) -> int:
        """Return how many derivatives of a form must be 0 for the form to be 0."""
        systems = dict.fromkeys([self.system_of[fluent] for fluent, _ in form.weights])
        degrees = [len(form.polynomial), *[len(r.polynomial) for system in systems for r in system.rates.values()]]
        return sum([len(system.rates) for system in systems]) + max(degrees) + 1

    def list_derivatives(self, form: Form) -> list[Number]:
        """Return the derivatives at time 0, beginning with order 0.

        They are enough to determine the difference of two forms, and whether a form is a polynomial of low degree.
        """
        count = self._count_derivatives(form)
        derivatives: list[Number] = []
        for _ in range(count + max(count, MAX_POLYNOMIAL)):
            value = form.polynomial[0] if form.polynomial else 0
            for fluent, weight in form.weights:
                value = value + weight * self.system_of[fluent].start[fluent]
            derivatives.append(value)
            form = self.differentiate(form)
        return derivatives

    def identify(self, form: Course) -> object:
        """Return a key that is the same for forms with the same course, as far as that is known."""
        if not isinstance(form, Form):
            return form
        return _make_key(form, self.list_derivatives(form))

    def find_value_at(self, form: Form, time: Number) -> Number:
        """Return the value of a form."""
        low, high = find_bounds(time)
        return cast(Number, Enclosure(*self.enclose(form, low, high)))

    def find_roots(self, form: Form, low: Number, high: Number) -> list[Number]:
        """Return the roots between two times, both excluded, as :class:`Root`; equal roots are one object."""
        derivatives = self.list_derivatives(form)
        order = next((order for order, value in enumerate(derivatives) if value != 0), None)
        if order is None:
            return []
        factors = [*derivatives[order:]] if _are_rational(derivatives) else [weight for _, weight in form.weights]
        factors += reversed(form.polynomial)
        rational_factor = next((f for f in factors if isinstance(f, int | Fraction) and f), 1)
        factor = divide(1, rational_factor)  # multiples of a form have the same roots
        key = _make_key(scale(form, factor), [factor * derivative for derivative in derivatives]), low
        if key not in self._roots:
            roots = self._isolate_roots(form, order, find_bounds(low)[0], find_bounds(high)[1])
            self._roots[key] = [cast(Number, root) for root in roots if root < high]
        return self._roots[key]

    def _isolate_roots(self, form: Form, order: int, start: int, high: int) -> Iterator[Root]:
        """Yield the roots after a time in order; ``order``: the lowest derivative that is not 0 at time 0."""
        slope = leading = self.differentiate(form)
        for _ in range(order - 1):
            leading = self.differentiate(leading)
        step = min([high, *[self.system_of[fluent].step for fluent, _ in form.weights]])
        edge = start - start % step + step
        if order and not start:
            start = step
            while _contains_zero(self.enclose(leading, 0, start)):
                start >>= 1
        for low, end in pairwise([start, *range(edge, high, step), high]):
            yield from self._isolate_in_cell(form, slope, low, end)

    def _isolate_in_cell(self, form: Form, slope: Form, low: int, high: int) -> Iterator[Root]:
        """Yield the roots in an interval, in order; ``slope``: the derivative of the form."""
        cells = [(low, high)] if low < high else []
        while cells:
            low, high = cells.pop()
            if not _contains_zero(self.enclose(form, low, high)):
                continue
            if not _contains_zero(self.enclose(slope, low, high)):
                before, after = self.enclose(form, low, low), self.enclose(form, high, high)
                if _contains_zero(before) or _contains_zero(after):
                    raise Undecided("two numbers are equal, or too close, at the moment of a step")
                if (before[0] > 0) != (after[0] > 0):
                    yield self._refine(form, slope, low, high)
                continue
            if high - low < MAX_WIDTH:
                raise Undecided("two numbers touch, or nearly")
            middle = (low + high) // 2
            cells += [(middle, high), (low, middle)]

    def _refine(self, form: Form, slope: Form, low: int, high: int) -> Root:
        """Return the only root in an interval in which the slope has one sign: Newton's method with bounds."""
        while True:
            middle = (low + high) // 2
            value = self.enclose(form, middle, middle)
            steepness = self.enclose(slope, low, high)
            quotients = [Fraction(v << PRECISION, s) for v in value for s in steepness]
            new_low = max(low, middle - int(max(quotients)) - 1)
            new_high = min(high, middle - int(min(quotients)) + 1)
            if 2 * (new_high - new_low) > high - low:  # nothing is gained
                return Root(new_low, new_high)
            low, high = new_low, new_high


class Root(Enclosure):
    """A root of forms. ``values``: the fluents whose values at this time are known exactly."""

    __slots__ = ("values",)

    def __init__(self, low: int, high: int) -> None:
        super().__init__(low, high)
        self.values: dict[GroundFluent, Number] = {}


def _make_key(form: Course, derivatives: list[Number]) -> object:
    """Return a key of a form: its derivatives if they can be compared exactly, else the form itself."""
    is_exact = all([isinstance(derivative, int | Fraction | Enclosure) for derivative in derivatives])
    return ("derivatives", *derivatives) if is_exact else form


def _are_rational(numbers: Iterable[Number]) -> bool:
    return all([isinstance(number, int | Fraction) for number in numbers])


def _enclose_polynomial(polynomial: Polynomial, low: int, high: int) -> Bounds:
    """Return bounds over an interval: the Taylor series at its beginning."""
    if not polynomial:
        return 0, 0
    coefficients = [find_bounds(coefficient) for coefficient in polynomial]
    for lowest in range(len(coefficients) - 1):  # Horner's scheme moves the origin
        for place in range(len(coefficients) - 2, lowest - 1, -1):
            moved = multiply_bounds(coefficients[place + 1], (low, low))
            coefficients[place] = _add_bounds(coefficients[place], moved)
    total = coefficients[-1]
    for coefficient in reversed(coefficients[:-1]):
        total = _add_bounds(multiply_bounds(total, (0, high - low)), coefficient)
    return total


def _divide_up(number: int, divisor: int) -> int:
    """Divide by a positive number and round up."""
    return -(-number // divisor)


def _shift_up(number: int, bits: int) -> int:
    """Divide by a power of two, or multiply if ``bits`` is negative, and round up."""
    return -(-number >> bits) if bits >= 0 else number << -bits


def _add_bounds(left: Bounds, right: Bounds) -> Bounds:
    return left[0] + right[0], left[1] + right[1]


def _multiply_row(row: list[tuple[int, Bounds]], vector: list[Bounds]) -> Bounds:
    """Return bounds of the product of a row, without zeros, and a vector."""
    total = (0, 0)
    for place, entry in row:
        total = _add_bounds(total, multiply_bounds(entry, vector[place]))
    return total


def _contains_zero(interval: Bounds) -> bool:
    return interval[0] <= 0 <= interval[1]


def _find_magnitude(interval: Bounds) -> int:
    return max(abs(interval[0]), abs(interval[1]))


def _find_size(interval: Bounds) -> Fraction:
    return Fraction(_find_magnitude(interval), _UNIT)


def _compute_power_of_two(exponent: int) -> Fraction:
    return Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)


def _round_log2_up(number: Fraction) -> int:
    """Return an exponent whose power of two is at least a positive number."""
    return number.numerator.bit_length() - number.denominator.bit_length() + 1
