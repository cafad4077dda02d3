"""Comparisons of numbers as text for an SMT solver. The text has numbers of ours in it, and no name of the input."""

from __future__ import annotations

from plansafe.verifier.model import Number
from plansafe.verifier.symbolic.circuit import Literal
from plansafe.verifier.symbolic.cnf import Clauses
from plansafe.verifier.symbolic.terms import Atom, Comparison, Sum


class ArithmeticText:
    """Writes comparisons over the variables of ``clauses`` in SMT-LIB 2.

    ``values`` are the numbers that occurred: (function, code). Sums inside sums get names, so that neither depth nor
    sharing is a problem.
    """

    def __init__(self, clauses: Clauses) -> None:
        self.values: dict[tuple[int, int], None] = {}
        self._clauses = clauses
        self._names: dict[int, str] = {}
        self._lines: list[str] = []
        self._wanted: list[Literal] = []

    @staticmethod
    def word(key: tuple[int, int]) -> str:
        """The variable of a number."""
        return f"v{key[0]}_{key[1]}"

    def define(self, nodes: list[int]) -> tuple[str, list[Literal]]:
        """Say what the comparisons of these input nodes mean; and which literals have to be encoded for that."""
        self._lines, self._wanted = [], []
        for node in nodes:
            comparison = self._clauses.circuit.keys[node]
            assert isinstance(comparison, Comparison)
            meaning = f"({comparison.operator} {self._sum(comparison.sum)} 0.0)"
            self._lines.append(f"(assert (= b{self._clauses.literal(2 * node)} {meaning}))")
        return "\n".join(self._lines), self._wanted

    def _sum(self, total: Sum) -> str:
        """The text of a sum; those inside it have got their names before."""
        stack = list(_inside(total))
        while stack:
            part = stack[-1]
            waiting = [inner for inner in _inside(part) if id(inner) not in self._names]
            if id(part) in self._names:
                stack.pop()
            elif waiting:
                stack.extend(waiting)
            else:
                name = f"n{len(self._names)}"
                self._lines.append(f"(declare-const {name} Real)(assert (= {name} {self._flat(part)}))")
                self._names[id(part)] = name  # the circuit's keys keep the part alive
                stack.pop()
        return self._flat(total)

    def _flat(self, total: Sum) -> str:
        parts = [] if total.constant == 0 and total.items else [number_text(total.constant)]
        for atom, coefficient in total.items:
            word = self._atom(atom)
            parts.append(word if coefficient == 1 else f"(* {number_text(coefficient)} {word})")
        return parts[0] if len(parts) == 1 else f"(+ {' '.join(parts)})"

    def _atom(self, atom: Atom) -> str:
        match atom:
            case ("value", int(function), int(code)):
                if (function, code) not in self.values:
                    self.values[function, code] = None
                    self._lines.append(f"(declare-const {self.word((function, code))} Real)")
                return self.word((function, code))
            case ("indicator", int(literal)):
                return f"(ite {self._literal(literal)} 1.0 0.0)"
            case ("choice", int(literal), then, otherwise):
                return f"(ite {self._literal(literal)} {self._names[id(then)]} {self._names[id(otherwise)]})"
            case ("product", a, b):
                return f"(* {self._names[id(a)]} {self._names[id(b)]})"
            case ("quotient", a, b):
                return f"(/ {self._names[id(a)]} {self._names[id(b)]})"
        raise TypeError(atom[0])

    def _literal(self, literal: Literal) -> str:
        self._wanted += (literal, literal ^ 1)
        signed = self._clauses.literal(literal)
        return f"b{signed}" if signed > 0 else f"(not b{-signed})"


def _inside(total: Sum) -> list[Sum]:
    return [part for atom, _ in total.items for part in atom if isinstance(part, Sum)]


def number_text(value: Number) -> str:
    """An exact number in SMT-LIB 2."""
    if isinstance(value, int):
        return f"{value}.0" if value >= 0 else f"(- {-value}.0)"
    return f"(/ {number_text(value.numerator)} {value.denominator}.0)"
