"""Worlds that are not explored yet, proposed by Z3's simplex."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from time import monotonic
from typing import Any

from plansafe.verifier.model.nodes import Number, normal_number
from plansafe.verifier.symbolic.durations.affine import LinearTerms
from plansafe.verifier.symbolic.durations.world_cells import Box, Cell


class SolverTimeout(Exception):
    """The time limit has passed, or Z3 gave up."""


class WorldSolver:
    """Worlds of the box outside some cells, and for some item outside all of its cells."""

    def __init__(self, box: Box, deadline: float | None) -> None:
        import z3  # noqa: PLC0415 - heavy, and in an extra

        self._z3 = z3
        self._box = box
        self._deadline = deadline
        self._sums: dict[LinearTerms, Any] = {}
        self._bounds: dict[tuple[LinearTerms, str, Number], Any] = {}
        self._variables = [z3.Real(f"d{number}") for number in range(len(box))]
        self._stops: list[Any] = []
        self._solver = self._fresh()

    def _fresh(self) -> Any:
        solver = self._z3.SimpleSolver()
        for variable, (low, high) in enumerate(self._box):
            solver.add(self._bound(((variable, 1),), ">=", low), self._bound(((variable, 1),), "<=", high))
        solver.add(*self._stops)
        return solver

    def _number(self, value: Number) -> Any:
        return self._z3.Q(value.numerator, value.denominator)

    def _bound(self, form: LinearTerms, relation: str, value: Number) -> Any:
        key = (form, relation, value)
        found = self._bounds.get(key)
        if found is None:
            total = self._sums.get(form)
            if total is None:
                total = self._z3.Sum([self._number(factor) * self._variables[v] for v, factor in form])
                self._sums[form] = total
            bound = self._number(value)
            match relation:
                case "<=":
                    found = total <= bound
                case ">=":
                    found = total >= bound
                case _:
                    found = self._z3.And(self._bound(form, "<=", value), self._bound(form, ">=", value))
            self._bounds[key] = found
        return found

    def _outside(self, cell: Cell) -> list[Any]:
        """Ways to be outside a cell. Strict bounds are negations, so that few atoms are made."""
        out = []
        for form, known in cell.items():
            if known.low is not None:
                below = self._bound(form, "<=", known.low) if known.low_open else None
                out.append(below if below is not None else self._z3.Not(self._bound(form, ">=", known.low)))
            if known.high is not None:
                above = self._bound(form, ">=", known.high) if known.high_open else None
                out.append(above if above is not None else self._z3.Not(self._bound(form, "<=", known.high)))
            out += [self._bound(form, "=", value) for value in sorted(known.without)]
        return out

    def stop(self, cell: Cell) -> None:
        """Propose nothing in this cell any more."""
        self._stops.append(self._z3.Or(self._outside(cell)))
        self._solver.add(self._stops[-1])

    def learn(self, item: int, cell: Cell) -> None:
        """Propose nothing in this cell for the sake of this item."""
        self._solver.add(self._z3.Or(self._z3.Not(self._unknown(item)), *self._outside(cell)))

    def _unknown(self, item: int) -> Any:
        return self._z3.Bool(f"u{item}")

    def next(self, items: list[int]) -> tuple[Number, ...] | None:
        """A world that is new for some of the items, or ``None`` if there is none; raises :class:`SolverTimeout`.

        Without items: any world outside the cells in which nothing is proposed.
        """
        if not items:
            return self._answer(self._solver)
        some = self._z3.Bool("some " + " ".join([str(item) for item in items]))
        self._solver.add(self._z3.Or(self._z3.Not(some), *[self._unknown(item) for item in items]))
        return self._answer(self._solver, some)

    def within(self, choices: Iterable[list[Cell]]) -> tuple[Number, ...] | None:
        """A world that is in one of the cells of each choice, outside the cells where nothing is proposed."""
        solver = self._fresh()
        for cells in choices:
            solver.add(self._z3.Or([self._z3.Not(self._z3.Or(self._outside(cell))) for cell in cells]))
        return self._answer(solver)

    def _answer(self, solver: Any, *assumed: Any) -> tuple[Number, ...] | None:
        z3 = self._z3
        if self._deadline is not None:
            left = self._deadline - monotonic()
            if left <= 0:
                raise SolverTimeout
            solver.set("timeout", max(1, int(left * 1000)))
        found = solver.check(*assumed)
        if found == z3.unsat:
            return None
        if found != z3.sat:
            raise SolverTimeout
        model = solver.model()
        values = [model.eval(variable, model_completion=True) for variable in self._variables]
        return tuple([normal_number(Fraction(v.numerator_as_long(), v.denominator_as_long())) for v in values])
