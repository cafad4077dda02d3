"""Numbers that depend on the world: linear combinations with exact coefficients over a few kinds of atoms.

Sums are canonical, so equal sums are equal values, and a comparison of two numbers is one input of the circuit whatever
way it was written. An atom is a variable, an indicator (1 where a literal is true, else 0), a choice between two
numbers, a product, or a quotient.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import count
from typing import NamedTuple

from plansafe.verifier.execution.state import checked_number
from plansafe.verifier.model.nodes import Number, normal_number
from plansafe.verifier.symbolic.circuits.circuit import FALSE, TRUE, Circuit, Literal

Atom = tuple[object, ...]
"""``("value", function, code)``, ``("indicator", literal)``, ``("choice", literal, then, otherwise)``,
``("product", a, b)`` or ``("quotient", a, b)``; ``then``, ``a`` .. are :class:`Sum`."""


class CompoundAtom(tuple[object, ...]):
    """An atom with sums inside it. Equal ones are one object, so comparing, hashing and printing do not look inside.

    A sum that is changed in some worlds at every step nests as deep as the plan is long, and shares its parts: whoever
    walked through it by value would walk through every path.
    """

    serial: int
    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other

    def __repr__(self) -> str:
        return f"<{self[0]} {self.serial}>"


_known: dict[tuple[object, ...], CompoundAtom] = {}
_serials = count()
MAX_KNOWN = 1_000_000
"""Atoms that are remembered. Forgetting them costs sharing, not correctness: equal ones are then two."""


def _compound(*parts: object) -> Atom:
    found = _known.get(parts)
    if found is None:
        if len(_known) > MAX_KNOWN:
            _known.clear()
        found = _known[parts] = CompoundAtom(parts)
        found.serial = next(_serials)
    return found


class Sum(NamedTuple):
    """``constant + sum of coefficient * atom``, atoms in order and coefficients not zero."""

    constant: Number
    weighted_atoms: tuple[tuple[Atom, Number], ...] = ()


class Comparison(NamedTuple):
    """An input of the circuit: ``sum operator 0`` with operator ``<=``, ``<`` or ``=``."""

    operator: str
    sum: Sum


def constant(value: Number) -> Sum:
    """A number that is the same in every world."""
    return Sum(value)


def variable(function: int, code: int) -> Sum:
    """The initial value of a fluent."""
    return Sum(0, ((("value", function, code), 1),))


def add(a: Sum, b: Sum, factor: Number = 1) -> Sum:
    """``a + factor * b``."""
    total = checked_number(normal_number(a.constant + factor * b.constant))
    if not b.weighted_atoms:
        return Sum(total, a.weighted_atoms)
    items = dict(a.weighted_atoms)
    for atom, coefficient in b.weighted_atoms:
        items[atom] = checked_number(normal_number(items.get(atom, 0) + factor * coefficient))
    return Sum(total, tuple(sorted([item for item in items.items() if item[1]], key=_order)))


def _order(item: tuple[Atom, Number]) -> str:
    return repr(item[0])


def multiply(a: Sum, b: Sum) -> Sum:
    """The product."""
    if not b.weighted_atoms:
        a, b = b, a
    if a.weighted_atoms:
        first, second = sorted((a, b), key=repr)
        return Sum(0, ((_compound("product", first, second), 1),))
    return add(Sum(0), b, a.constant)


def divide(a: Sum, b: Sum) -> Sum:
    """The quotient; where ``b`` is zero it has no meaning, and whoever divides says so."""
    if b.weighted_atoms:
        return Sum(0, ((_compound("quotient", a, b), 1),))
    return add(Sum(0), a, normal_number(Fraction(1) / b.constant)) if b.constant else Sum(0)


def select(condition: Literal, then: Sum, otherwise: Sum) -> Sum:
    """``then`` where the condition holds, else ``otherwise``."""
    if condition == TRUE or then == otherwise:
        return then
    if condition == FALSE:
        return otherwise
    difference = add(then, otherwise, -1)
    if not difference.weighted_atoms:  # an indicator, scaled: sums of these count
        if condition & 1:  # one form for a literal and its negation
            return add(then, Sum(0, ((("indicator", condition ^ 1), 1),)), -difference.constant)
        return add(otherwise, Sum(0, ((("indicator", condition), 1),)), difference.constant)
    return Sum(0, ((_compound("choice", condition, then, otherwise), 1),))


def compare(circuit: Circuit, operator: str, a: Sum, b: Sum) -> Literal:
    """Whether ``a operator b``, with operator ``= < > <= >=``."""
    if operator in (">", ">="):
        a, b, operator = b, a, {">": "<", ">=": "<="}[operator]
    difference = add(a, b, -1)
    if not difference.weighted_atoms:
        value = difference.constant
        return TRUE if (value < 0 or (value == 0 and operator != "<") if operator != "=" else value == 0) else FALSE
    if len(difference.weighted_atoms) == 1 and difference.weighted_atoms[0][0][0] == "indicator":
        return _of_indicator(circuit, operator, difference)
    scale = difference.weighted_atoms[0][1]
    if scale < 0:
        if operator == "<":  # -s < 0 is not s <= 0
            return circuit.input(Comparison("<=", _scaled(difference, scale))) ^ 1
        if operator == "<=":
            return circuit.input(Comparison("<", _scaled(difference, scale))) ^ 1
    return circuit.input(Comparison(operator, _scaled(difference, scale)))


def _scaled(total: Sum, scale: Number) -> Sum:
    inverse = normal_number(Fraction(1) / scale)
    return add(Sum(0), total, inverse)


def _of_indicator(circuit: Circuit, operator: str, total: Sum) -> Literal:
    (atom, coefficient) = total.weighted_atoms[0]
    literal = atom[1]
    assert isinstance(literal, int)
    on, off = [compare(circuit, operator, Sum(total.constant + c), Sum(0)) for c in (coefficient, 0)]
    return circuit.choose(literal, on, off)
