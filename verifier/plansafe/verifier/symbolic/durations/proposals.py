"""Worlds outside all cells so far, proposed by Z3's simplex."""

from __future__ import annotations

from fractions import Fraction
from time import monotonic
from typing import Any

from plansafe.verifier.model import Number, normal_number
from plansafe.verifier.symbolic.durations.cells import Box, Cell


class Undecided(Exception):
    """The time limit has passed, or Z3 gave up."""


class Proposals:
    """Durations that no cell has."""

    def __init__(self, box: Box) -> None:
        import z3  # noqa: PLC0415 - heavy, and in an extra

        self._z3 = z3
        self._solver = z3.SolverFor("QF_LRA")
        self._variables = [z3.Real(f"d{number}") for number in range(len(box))]
        for variable, (low, high) in zip(self._variables, box, strict=True):
            self._solver.add(variable >= self._number(low), variable <= self._number(high))

    def _number(self, value: Number) -> Any:
        return self._z3.Q(value.numerator, value.denominator)

    def block(self, cell: Cell) -> None:
        """Propose nothing in this cell any more."""
        outside = []
        for form, known in cell.items():
            total = self._z3.Sum([self._number(factor) * self._variables[v] for v, factor in form])
            if known.low is not None:
                low = self._number(known.low)
                outside.append(total <= low if known.low_open else total < low)
            if known.high is not None:
                high = self._number(known.high)
                outside.append(total >= high if known.high_open else total > high)
            outside += [total == self._number(value) for value in sorted(known.without)]
        self._solver.add(self._z3.Or(outside))

    def next(self, deadline: float | None) -> tuple[Number, ...] | None:
        """A world, or ``None`` if there is none; raises :class:`Undecided`."""
        z3 = self._z3
        if deadline is not None:
            left = deadline - monotonic()
            if left <= 0:
                raise Undecided
            self._solver.set("timeout", max(1, int(left * 1000)))
        found = self._solver.check()
        if found == z3.unsat:
            return None
        if found != z3.sat:
            raise Undecided
        model = self._solver.model()
        values = [model.eval(variable, model_completion=True) for variable in self._variables]
        return tuple([normal_number(Fraction(v.numerator_as_long(), v.denominator_as_long())) for v in values])
