"""The courses of fluents between two moments: polynomials in the time since the first one."""

from __future__ import annotations

from typing import assert_never

from plansafe.grammar.named_tuple import NamedTuple
from plansafe.verifier.execution.continuous.polynomials import (
    Polynomial,
    Undecided,
    add,
    evaluate,
    integrate,
    multiply,
    scale,
    subtract,
    trim,
)
from plansafe.verifier.execution.continuous.roots import find_roots
from plansafe.verifier.execution.state import State, check_number
from plansafe.verifier.model import nodes as model
from plansafe.verifier.model.nodes import Binding, Expression, Number, RateEffect, divide
from plansafe.verifier.model.operations import expression_fluents

GroundFluent = tuple[int, int]
"""A function and the code of its arguments."""


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
    """A quotient of polynomials."""

    over: Polynomial
    under: Polynomial = (1,)


class UndefinedCourse(Exception):
    """An expression reads a fluent without value, or divides by zero at every time."""


class Courses:
    """The courses of all fluents from a state on, under some rates. Raises :class:`Undecided`.

    ``changing``: the courses of the fluents that are not constant.
    """

    def __init__(self, state: State, rates: list[GroundRate]) -> None:
        self.state = state
        self.changing: dict[GroundFluent, Polynomial] = {}
        self._waiting: dict[GroundFluent, list[GroundRate]] = {}
        for rate in rates:
            code = state.task.code_of(rate.effect.arguments, rate.binding)
            self._waiting.setdefault((rate.effect.function, code), []).append(rate)
        while self._waiting:
            self._integrate_next()

    def _integrate_next(self) -> None:
        """Find the courses of the fluents whose rates read no fluent that is still waiting."""
        task = self.state.task
        ready = [
            fluent
            for fluent, rates in self._waiting.items()
            if not any(
                [
                    (read.function, task.code_of(read.arguments, rate.binding)) in self._waiting
                    for rate in rates
                    for read in expression_fluents(rate.effect.rate)
                ]
            )
        ]
        if not ready:
            names = " and ".join([f"`{task.fluent_text(*fluent)}`" for fluent in list(self._waiting)[:3]])
            raise Undecided(f"the rate of {names} depends on its own value")
        courses = {fluent: self._find_course(fluent, self._waiting[fluent]) for fluent in ready}
        for fluent, course in courses.items():
            del self._waiting[fluent]
            if len(course) > 1:
                self.changing[fluent] = course

    def _find_course(self, fluent: GroundFluent, rates: list[GroundRate]) -> Polynomial:
        value = self.state.fluents[fluent[0]].get(fluent[1])
        text = self.state.task.fluent_text(*fluent)
        if value is None:
            raise Undecided(f"{rates[0].owner} changes `{text}`, which has no value")
        total: Polynomial = ()
        for rate in rates:
            try:
                quotient = self._find_quotient(rate.effect.rate, rate.binding, rate.duration)
            except UndefinedCourse:
                raise Undecided(f"the rate of `{text}` in {rate.owner} is undefined") from None
            if len(quotient.under) > 1:
                raise Undecided(f"the rate of `{text}` in {rate.owner} divides by a number that changes")
            total = add(total, scale(quotient.over, divide(1, quotient.under[0])))
        return integrate(total, value)

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
                    return Quotient(scale(operands[0].over, -1), operands[0].under)
                total = operands[0]
                for operand in operands[1:]:
                    total = _combine(expression.operator, total, operand)
                return total
            case model.TotalTime() | model.IsViolated():
                raise AssertionError("only metrics read this")
            case _:
                assert_never(expression)

    def find_switches(self, comparison: Comparison, high: Number) -> list[Number]:
        """Return the times between 0 and ``high`` at which a comparison may begin or cease to hold."""
        if not any([fluent in self.changing for fluent in comparison.fluents]):
            return []
        try:
            left = self._find_quotient(comparison.left, comparison.binding, comparison.duration)
            right = self._find_quotient(comparison.right, comparison.binding, comparison.duration)
        except UndefinedCourse:
            return []
        difference = _combine("-", left, right)
        return find_roots(difference.over, high) + find_roots(left.under, high) + find_roots(right.under, high)

    def values_at(self, time: Number) -> list[tuple[int, int, Number]]:
        """Return the changing fluents with their values: function, code and value."""
        return [
            (function, code, check_number(evaluate(course, time))) for (function, code), course in self.changing.items()
        ]


def _combine(operator: str, left: Quotient, right: Quotient) -> Quotient:
    if operator == "*":
        return Quotient(multiply(left.over, right.over), multiply(left.under, right.under))
    if operator == "/":
        if not right.over:
            raise UndefinedCourse
        return Quotient(multiply(left.over, right.under), multiply(left.under, right.over))
    if left.under == right.under:
        over = (subtract if operator == "-" else add)(left.over, right.over)
        return Quotient(over, left.under)
    left_over, right_over = multiply(left.over, right.under), multiply(right.over, left.under)
    over = (subtract if operator == "-" else add)(left_over, right_over)
    return Quotient(over, multiply(left.under, right.under))
