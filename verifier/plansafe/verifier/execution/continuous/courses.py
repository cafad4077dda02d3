"""The courses of fluents between two moments: functions of the time since the first one.

A course is a polynomial, or the fluent of a linear system if the rate depends on the fluent itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import assert_never

from plansafe.grammar.named_tuple import NamedTuple
from plansafe.verifier.execution.continuous.enclosures import PRECISION
from plansafe.verifier.execution.continuous.linear_systems import (
    Course,
    Form,
    GroundFluent,
    LinearSystem,
    LinearSystems,
    NotLinear,
    Root,
    add,
    as_form,
    multiply,
    scale,
    subtract,
)
from plansafe.verifier.execution.continuous.polynomials import Polynomial, evaluate, integrate, trim
from plansafe.verifier.execution.continuous.roots import find_roots, sort_roots
from plansafe.verifier.execution.state import State, check_number
from plansafe.verifier.model import nodes as model
from plansafe.verifier.model.limits import Undecided
from plansafe.verifier.model.nodes import Binding, Expression, Number, RateEffect, divide
from plansafe.verifier.model.operations import expression_fluents

_FIRST_STEPS = 16
"""The switches of linear systems are first searched in this many steps of the systems."""


class GroundRate(NamedTuple):
    """A continuous effect of a running process or of an action under way; ``owner`` names it in messages."""

    effect: RateEffect
    binding: Binding
    duration: Number | None
    owner: str


class Comparison(NamedTuple):
    """A ground comparison whose value may change between two happenings."""

    left: Expression
    right: Expression
    binding: Binding
    duration: Number | None
    fluents: tuple[GroundFluent, ...]


class Quotient(NamedTuple):
    """A quotient of courses."""

    numerator: Course
    denominator: Course = (1,)


class UndefinedCourse(Exception):
    """An expression reads a fluent without value, or divides by zero at every time."""


class Courses:
    """The courses of all fluents from a state on, under some rates. Raises :class:`Undecided`.

    ``changing``: the courses of the fluents that are not constant.
    """

    def __init__(self, state: State, rates: list[GroundRate]) -> None:
        self.state = state
        self.changing: dict[GroundFluent, Course] = {}
        self._systems = LinearSystems([])
        self._cached_values: dict[object, Number] = {}
        """By course and irrational time: fluents with the same course have the same object as value."""
        self._pending_rates: dict[GroundFluent, list[GroundRate]] = {}
        """By fluent whose course is not known yet, its rates."""
        for rate in rates:
            code = state.task.code_of(rate.effect.arguments, rate.binding)
            self._pending_rates.setdefault((rate.effect.function, code), []).append(rate)
        while self._pending_rates:
            self._integrate_next()

    def _integrate_next(self) -> None:
        """Find the courses of the fluents whose rates only read known courses."""
        ready = [fluent for fluent, rates in self._pending_rates.items() if not self._read_pending(rates)]
        if not ready:
            self._solve_linear_systems()
            return
        courses = {fluent: self._integrate(fluent) for fluent in ready}
        for fluent, course in courses.items():
            del self._pending_rates[fluent]
            if len(course) > 1:
                self.changing[fluent] = course

    def _read_pending(self, rates: list[GroundRate]) -> bool:
        """Whether some rate reads a fluent whose course is not known yet."""
        code_of = self.state.task.code_of
        reads = [(read, rate.binding) for rate in rates for read in expression_fluents(rate.effect.rate)]
        return any(
            [(read.function, code_of(read.arguments, binding)) in self._pending_rates for read, binding in reads]
        )

    def _integrate(self, fluent: GroundFluent) -> Polynomial:
        """Return the course of a fluent whose rate is a polynomial."""
        rate = self._find_rate(fluent)
        assert not isinstance(rate, Form)
        return integrate(rate, self._find_value(fluent))

    def _solve_linear_systems(self) -> None:
        """Find the courses of all fluents with pending rates: each connected part of them is a linear system."""
        fluents = list(self._pending_rates)
        self.changing |= {fluent: Form(((fluent, 1),)) for fluent in fluents}
        start = {fluent: self._find_value(fluent) for fluent in fluents}
        rates = {fluent: as_form(self._find_rate(fluent)) for fluent in fluents}
        parts: list[set[GroundFluent]] = []
        for fluent in fluents:
            part = {fluent, *[read for read, _ in rates[fluent].weights]}
            joined = [earlier for earlier in parts if earlier & part]
            parts = [*[earlier for earlier in parts if earlier not in joined], part.union(*joined)]
        self._systems = LinearSystems(
            [LinearSystem({f: rates[f] for f in sorted(part)}, {f: start[f] for f in sorted(part)}) for part in parts]
        )
        self._pending_rates.clear()
        for fluent in fluents:
            polynomial = self._systems.find_polynomial(Form(((fluent, 1),)))
            if polynomial is None:
                continue
            del self.changing[fluent]
            if len(polynomial) > 1:
                self.changing[fluent] = polynomial

    def _find_value(self, fluent: GroundFluent) -> Number:
        """Return the value of a fluent at the beginning of the courses."""
        value = self.state.fluents[fluent[0]].get(fluent[1])
        if value is None:
            owner, text = self._pending_rates[fluent][0].owner, self.state.task.fluent_text(*fluent)
            raise Undecided(f"{owner} changes `{text}`, which has no value")
        return value

    def _find_rate(self, fluent: GroundFluent) -> Course:
        """Return the sum of the rates of a fluent."""
        text = self.state.task.fluent_text(*fluent)
        total: Course = ()
        for rate in self._pending_rates[fluent]:
            try:
                quotient = self._find_quotient(rate.effect.rate, rate.binding, rate.duration)
            except UndefinedCourse:
                raise Undecided(f"the rate of `{text}` in {rate.owner} is undefined") from None
            except NotLinear:
                raise Undecided(f"the rate of `{text}` in {rate.owner} is not linear in its own value") from None
            if isinstance(quotient.denominator, Form) or len(quotient.denominator) > 1:
                raise Undecided(f"the rate of `{text}` in {rate.owner} divides by a number that changes")
            total = add(total, scale(quotient.numerator, divide(1, quotient.denominator[0])))
        return total

    def _find_quotient(self, expression: Expression, binding: Binding, duration: Number | None) -> Quotient:
        """Return the course of an expression. Raises :class:`UndefinedCourse`."""
        match expression:
            case model.Constant():
                return Quotient(trim((expression.value,)))
            case model.Fluent():
                code = self.state.task.code_of(expression.arguments, binding)
                course = self.changing.get((expression.function, code))
                if course is not None:
                    return Quotient(course)
                value = self.state.fluents[expression.function].get(code)
                if value is None:
                    raise UndefinedCourse
                return Quotient(trim((value,)))
            case model.Duration():
                if duration is None:
                    raise UndefinedCourse
                return Quotient(trim((duration,)))
            case model.Arithmetic():
                operands = [self._find_quotient(operand, binding, duration) for operand in expression.operands]
                if len(operands) == 1 and expression.operator == "-":
                    return Quotient(scale(operands[0].numerator, -1), operands[0].denominator)
                total = operands[0]
                for operand in operands[1:]:
                    total = _combine(expression.operator, total, operand)
                return total
            case model.TotalTime() | model.IsViolated():
                raise AssertionError("only metrics read this")
            case _:
                assert_never(expression)

    def list_switches(self, comparisons: list[Comparison], length: Number) -> Iterator[Number]:
        """Yield the times before ``length`` at which a comparison may begin or cease to hold, in order.

        In linear systems they are searched in parts of the time, because few of them are needed.
        """
        step = self._systems.step
        low: Number = 0
        high = Fraction(_FIRST_STEPS * step, 1 << PRECISION) if step else length
        while low < length:
            high = high if high < length else length
            try:
                switches = [root for c in comparisons for root in self._find_switches(c, low, high)]
            except Undecided:
                if low != 0:
                    yield low  # what happens up to this time is decided
                raise
            yield from sort_roots([*switches, high] if high is length else switches)
            low, high = high, 2 * high

    def _find_switches(self, comparison: Comparison, low: Number, high: Number) -> list[Number]:
        """Return the times from ``low`` to ``high`` at which a comparison may begin or cease to hold."""
        if not any([fluent in self.changing for fluent in comparison.fluents]):
            return []
        try:
            left = self._find_quotient(comparison.left, comparison.binding, comparison.duration)
            right = self._find_quotient(comparison.right, comparison.binding, comparison.duration)
        except UndefinedCourse:
            return []
        roots = self._find_roots(_combine("-", left, right).numerator, low, high)
        for root in roots:
            if isinstance(root, Root):
                root.values |= self._solve_comparison(comparison, root)
        for denominator in (left.denominator, right.denominator):
            roots += self._find_roots(denominator, low, high)
        return roots

    def _find_roots(self, course: Course, low: Number, high: Number) -> list[Number]:
        """Return the roots between two times, of a polynomial exactly if that is possible."""
        if not isinstance(course, Form):
            try:
                return [root for root in find_roots(course, high) if root >= low]
            except Undecided:
                pass
        return self._systems.find_roots(as_form(course), low, high)

    def _solve_comparison(self, comparison: Comparison, root: Number) -> dict[GroundFluent, Number]:
        """Return the exact values that the fluents of a comparison have when both sides are equal.

        They are known if one fluent changes, or if two fluents are compared with each other.
        """
        changing = [fluent for fluent in comparison.fluents if fluent in self.changing]
        courses = self.changing
        self.changing = courses | {fluent: Form(((fluent, 1),)) for fluent in changing}
        try:
            left = self._find_quotient(comparison.left, comparison.binding, comparison.duration)
            right = self._find_quotient(comparison.right, comparison.binding, comparison.duration)
            form = as_form(_combine("-", left, right).numerator)
        except NotLinear:
            return {}
        finally:
            self.changing = courses
        if len(form.weights) == 1 and len(form.polynomial) <= 1:
            ((fluent, weight),) = form.weights
            constant = form.polynomial[0] if form.polynomial else 0
            return {fluent: divide(-constant, weight)}
        if len(form.weights) == 2 and not form.polynomial:
            (fluent, weight), (other_fluent, other_weight) = form.weights
            if weight == -other_weight:
                value = self.find_value_at(fluent, root)
                return {fluent: value, other_fluent: value}
        return {}

    def find_values_at(self, time: Number) -> list[tuple[int, int, Number]]:
        """Return the changing fluents with their values: function, code and value."""
        return [(*fluent, check_number(self.find_value_at(fluent, time))) for fluent in self.changing]

    def find_value_at(self, fluent: GroundFluent, time: Number) -> Number:
        """Return the value of a changing fluent. Fluents with the same course have the same object as value."""
        if isinstance(time, Root) and fluent in time.values:
            return time.values[fluent]
        course = self.changing[fluent]
        if isinstance(course, Form) and time == 0:
            return self._systems.system_of[fluent].start[fluent]
        if not isinstance(course, Form) and isinstance(time, int | Fraction):
            return evaluate(course, time)
        key = self._systems.identify(course), time
        if key not in self._cached_values:
            if isinstance(course, Form):
                self._cached_values[key] = self._systems.find_value_at(course, time)
            else:
                self._cached_values[key] = evaluate(course, time)
        return self._cached_values[key]

    def is_linear(self, fluent: GroundFluent) -> bool:
        """Whether the course of a changing fluent is a straight line."""
        course = self.changing[fluent]
        return not isinstance(course, Form) and len(course) <= 2


def _combine(operator: str, left: Quotient, right: Quotient) -> Quotient:
    """Return the result of an arithmetic operator. Raises :class:`UndefinedCourse` for a division by zero."""
    if operator == "*":
        return Quotient(multiply(left.numerator, right.numerator), multiply(left.denominator, right.denominator))
    if operator == "/":
        if not right.numerator:
            raise UndefinedCourse
        return Quotient(multiply(left.numerator, right.denominator), multiply(left.denominator, right.numerator))
    operation = subtract if operator == "-" else add
    if left.denominator == right.denominator:
        return Quotient(operation(left.numerator, right.numerator), left.denominator)
    left_numerator = multiply(left.numerator, right.denominator)
    right_numerator = multiply(right.numerator, left.denominator)
    return Quotient(operation(left_numerator, right_numerator), multiply(left.denominator, right.denominator))
