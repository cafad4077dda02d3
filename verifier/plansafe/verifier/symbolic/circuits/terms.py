"""Numbers that depend on the world: linear combinations with exact coefficients over a few kinds of atoms.

Sums are canonical: equal sums are equal values, and equivalent comparisons of two numbers are one input of the circuit.
An atom is a variable, an indicator (1 where a literal is true, else 0), a choice between two numbers, a product, or a
quotient.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import count
from typing import NamedTuple

from plansafe.verifier.execution.state import check_number
from plansafe.verifier.model.nodes import Number, normal_number
from plansafe.verifier.symbolic.circuits.circuit import FALSE, TRUE, Circuit, Literal

Atom = tuple[object, ...]
"""``("value", function, code)``, ``("indicator", literal)``, ``("choice", literal, then, otherwise)``,
``("product", a, b)`` or ``("quotient", a, b)``; ``then``, ``a`` .. are :class:`Sum`."""


class CompoundAtom(tuple[object, ...]):
    """An atom with sums inside it. Equal atoms are one object: comparing, hashing and printing do not look inside.

    A sum that changes in some worlds at every step nests as deep as the plan is long, and shares its parts: a traversal
    by value would visit every path.
    """

    serial: int
    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other

    def __repr__(self) -> str:
        return f"<{self[0]} {self.serial}>"


_interned_atoms: dict[tuple[object, ...], CompoundAtom] = {}
_serials = count()
MAX_INTERNED_ATOMS = 1_000_000
"""Maximum number of interned atoms. Clearing them costs sharing, not correctness: equal atoms are then two objects."""


def _intern_atom(*parts: object) -> Atom:
    """Return the only object that is a compound atom with these parts."""
    atom = _interned_atoms.get(parts)
    if atom is None:
        if len(_interned_atoms) > MAX_INTERNED_ATOMS:
            _interned_atoms.clear()
        atom = _interned_atoms[parts] = CompoundAtom(parts)
        atom.serial = next(_serials)
    return atom


class Sum(NamedTuple):
    """``constant + sum of coefficient * atom``, with atoms in order and coefficients that are not zero."""

    constant: Number
    weighted_atoms: tuple[tuple[Atom, Number], ...] = ()


class Comparison(NamedTuple):
    """An input of the circuit: ``sum operator 0`` with operator ``<=``, ``<`` or ``=``."""

    operator: str
    sum: Sum


def constant(value: Number) -> Sum:
    """Return a number that is the same in every world."""
    return Sum(value)


def variable(function: int, code: int) -> Sum:
    """Return the initial value of a fluent."""
    return Sum(0, ((("value", function, code), 1),))


def add(left: Sum, right: Sum, factor: Number = 1) -> Sum:
    """Return ``left + factor * right``."""
    total = check_number(normal_number(left.constant + factor * right.constant))
    if not right.weighted_atoms:
        return Sum(total, left.weighted_atoms)
    coefficients = dict(left.weighted_atoms)
    for atom, coefficient in right.weighted_atoms:
        coefficients[atom] = check_number(normal_number(coefficients.get(atom, 0) + factor * coefficient))
    return Sum(total, tuple(sorted([weighted for weighted in coefficients.items() if weighted[1]], key=_get_atom_text)))


def _get_atom_text(weighted_atom: tuple[Atom, Number]) -> str:
    return repr(weighted_atom[0])


def multiply(left: Sum, right: Sum) -> Sum:
    """Return ``left * right``."""
    if not right.weighted_atoms:
        left, right = right, left
    if left.weighted_atoms:
        first, second = sorted((left, right), key=repr)
        return Sum(0, ((_intern_atom("product", first, second), 1),))
    return add(Sum(0), right, left.constant)


def divide(left: Sum, right: Sum) -> Sum:
    """Return ``left / right``, undefined where ``right`` is zero; the caller encodes that separately."""
    if right.weighted_atoms:
        return Sum(0, ((_intern_atom("quotient", left, right), 1),))
    return _divide_by_constant(left, right.constant) if right.constant else Sum(0)


def choose(condition: Literal, then: Sum, otherwise: Sum) -> Sum:
    """Return a number that is ``then`` where the condition holds, else ``otherwise``."""
    if condition == TRUE or then == otherwise:
        return then
    if condition == FALSE:
        return otherwise
    difference = add(then, otherwise, -1)
    if not difference.weighted_atoms:  # a scaled indicator: sums of these are pseudo-Boolean
        if condition & 1:  # so that a literal and its negation have the same indicator
            return add(then, Sum(0, ((("indicator", condition ^ 1), 1),)), -difference.constant)
        return add(otherwise, Sum(0, ((("indicator", condition), 1),)), difference.constant)
    return Sum(0, ((_intern_atom("choice", condition, then, otherwise), 1),))


def is_satisfied(value: Number, operator: str) -> bool:
    """Whether ``value operator 0`` holds, with operator ``<=``, ``<`` or ``=``."""
    return value == 0 if operator == "=" else value < 0 or (value == 0 and operator == "<=")


def compare(circuit: Circuit, operator: str, left: Sum, right: Sum) -> Literal:
    """Return a literal that is true where ``left operator right``, with operator ``= < > <= >=``."""
    if operator in (">", ">="):
        left, right, operator = right, left, {">": "<", ">=": "<="}[operator]
    difference = add(left, right, -1)
    if not difference.weighted_atoms:
        return TRUE if is_satisfied(difference.constant, operator) else FALSE
    atom, coefficient = difference.weighted_atoms[0]
    if len(difference.weighted_atoms) == 1 and atom[0] == "indicator":
        literal = atom[1]
        assert isinstance(literal, int)
        value_if_true, value_if_false = [
            compare(circuit, operator, Sum(difference.constant + offset), Sum(0)) for offset in (coefficient, 0)
        ]
        return circuit.choose(literal, value_if_true, value_if_false)
    scaled = _divide_by_constant(difference, coefficient)
    if coefficient < 0 and operator in ("<", "<="):  # -s < 0 is not s <= 0
        return circuit.input(Comparison("<=" if operator == "<" else "<", scaled)) ^ 1
    return circuit.input(Comparison(operator, scaled))


def _divide_by_constant(total: Sum, divisor: Number) -> Sum:
    return add(Sum(0), total, normal_number(Fraction(1) / divisor))
