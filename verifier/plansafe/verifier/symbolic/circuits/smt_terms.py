"""Comparisons of numbers as expressions of Z3."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from plansafe.verifier.model.nodes import Number
from plansafe.verifier.symbolic.circuits.circuit import Circuit, Literal
from plansafe.verifier.symbolic.circuits.terms import Atom, Comparison, Sum


class Arithmetic:
    """Says what comparisons mean; ``expression`` gives Z3's expression of a literal.

    ``values`` are the numbers that occurred. Sums inside sums get names, so that depth and sharing do no harm.
    """

    def __init__(self, circuit: Circuit, z3: Any, context: Any, expression: Callable[[Literal], Any]) -> None:
        self.values: dict[tuple[int, int], Any] = {}
        self._circuit = circuit
        self._z3 = z3
        self._context = context
        self._expression = expression
        self._names: dict[int, Any] = {}
        self._said: list[Any] = []
        self._wanted: list[Literal] = []

    def define(self, nodes: list[int]) -> tuple[list[Any], list[Literal]]:
        """What the comparisons of these input nodes mean, and which literals have to be encoded for that."""
        self._said, self._wanted = [], []
        for node in nodes:
            comparison = self._circuit.keys[node]
            assert isinstance(comparison, Comparison)
            total = self._sum(comparison.sum)
            holds = {"<=": total <= 0, "<": total < 0, "=": total == 0}[comparison.operator]
            self._said.append(self._expression(2 * node) == holds)
        return self._said, self._wanted

    def _sum(self, total: Sum) -> Any:
        """A sum; those inside it have got their names before."""
        stack = list(_inside(total))
        while stack:
            part = stack[-1]
            waiting = [inner for inner in _inside(part) if id(inner) not in self._names]
            if id(part) in self._names:
                stack.pop()
            elif waiting:
                stack.extend(waiting)
            else:
                name = self._z3.Real(f"n{len(self._names)}", self._context)
                self._said.append(name == self._flat(part))
                self._names[id(part)] = name  # the circuit's keys keep the part alive
                stack.pop()
        return self._flat(total)

    def _flat(self, total: Sum) -> Any:
        parts = [self._number(total.constant)]
        parts += [self._number(coefficient) * self._atom(atom) for atom, coefficient in total.weighted_atoms]
        return self._z3.Sum(*parts)

    def _number(self, value: Number) -> Any:
        return self._z3.RealVal(f"{value.numerator}/{value.denominator}", self._context)

    def _atom(self, atom: Atom) -> Any:
        z3, names = self._z3, self._names
        match atom:
            case ("value", int(function), int(code)):
                if (function, code) not in self.values:
                    self.values[function, code] = z3.Real(f"v{function}_{code}", self._context)
                return self.values[function, code]
            case ("indicator", int(literal)):
                return z3.If(self._literal(literal), self._number(1), self._number(0))
            case ("choice", int(literal), then, otherwise):
                return z3.If(self._literal(literal), names[id(then)], names[id(otherwise)])
            case ("product", a, b):
                return names[id(a)] * names[id(b)]
            case ("quotient", a, b):
                return names[id(a)] / names[id(b)]
        raise TypeError(atom[0])

    def _literal(self, literal: Literal) -> Any:
        self._wanted += (literal, literal ^ 1)
        return self._expression(literal)


def _inside(total: Sum) -> list[Sum]:
    return [part for atom, _ in total.weighted_atoms for part in atom if isinstance(part, Sum)]
