"""Search for unexplored worlds with Z3's simplex."""

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
    """Finds worlds of the box that are outside the excluded cells, and new for some check: outside its cells."""

    def __init__(self, box: Box, deadline: float | None) -> None:
        import z3  # noqa: PLC0415 - heavy, and in an extra

        self._z3 = z3
        self._box = box
        self._deadline = deadline
        self._sums: dict[LinearTerms, Any] = {}
        self._bounds: dict[tuple[LinearTerms, str, Number], Any] = {}
        self._variables = [z3.Real(f"d{number}") for number in range(len(box))]
        self._excluded: list[Any] = []
        self._solver = self._make_solver()

    def _make_solver(self) -> Any:
        solver = self._z3.SimpleSolver()
        for variable, (low, high) in enumerate(self._box):
            solver.add(
                self._encode_bound(((variable, 1),), ">=", low), self._encode_bound(((variable, 1),), "<=", high)
            )
        solver.add(*self._excluded)
        return solver

    def _encode_number(self, number: Number) -> Any:
        return self._z3.Q(number.numerator, number.denominator)

    def _encode_bound(self, form: LinearTerms, relation: str, number: Number) -> Any:
        key = (form, relation, number)
        if key not in self._bounds:
            if form not in self._sums:
                self._sums[form] = self._z3.Sum(
                    [self._encode_number(factor) * self._variables[v] for v, factor in form]
                )
            if relation == "=":
                both = self._encode_bound(form, "<=", number), self._encode_bound(form, ">=", number)
                self._bounds[key] = self._z3.And(*both)
            else:
                total, bound = self._sums[form], self._encode_number(number)
                self._bounds[key] = total <= bound if relation == "<=" else total >= bound
        return self._bounds[key]

    def _list_outside_conditions(self, cell: Cell) -> list[Any]:
        """Conditions that together exclude the cell if one must hold. Strict bounds are negations: fewer Z3 atoms."""
        conditions = []
        for form, form_range in cell.items():
            low, high = form_range.low, form_range.high
            if low is not None and form_range.low_open:
                conditions.append(self._encode_bound(form, "<=", low))
            elif low is not None:
                conditions.append(self._z3.Not(self._encode_bound(form, ">=", low)))
            if high is not None and form_range.high_open:
                conditions.append(self._encode_bound(form, ">=", high))
            elif high is not None:
                conditions.append(self._z3.Not(self._encode_bound(form, "<=", high)))
            conditions += [self._encode_bound(form, "=", number) for number in sorted(form_range.excluded)]
        return conditions

    def exclude(self, cell: Cell) -> None:
        """Exclude all worlds of this cell from later searches."""
        self._excluded.append(self._z3.Or(self._list_outside_conditions(cell)))
        self._solver.add(self._excluded[-1])

    def exclude_for_check(self, check: int, cell: Cell) -> None:
        """Exclude the worlds of this cell from later searches for worlds that are new for this check."""
        self._solver.add(
            self._z3.Or(self._z3.Not(self._make_novelty_variable(check)), *self._list_outside_conditions(cell))
        )

    def _make_novelty_variable(self, check: int) -> Any:
        """The Z3 variable that implies that a world is outside all cells of a check."""
        return self._z3.Bool(f"u{check}")

    def find_new_world(self, checks: list[int]) -> tuple[Number, ...] | None:
        """A world that is new for some of the checks; ``None`` if there is none. Raises :class:`SolverTimeout`.

        Without checks: any world outside the excluded cells.
        """
        if not checks:
            return self._solve(self._solver)
        novelty_of_some = self._z3.Bool("some " + " ".join([str(check) for check in checks]))
        novelties = [self._make_novelty_variable(check) for check in checks]
        self._solver.add(self._z3.Or(self._z3.Not(novelty_of_some), *novelties))
        return self._solve(self._solver, novelty_of_some)

    def find_world_in_cells(self, choices: Iterable[list[Cell]]) -> tuple[Number, ...] | None:
        """A world that is in one cell of each choice, and outside the excluded cells; ``None`` if there is none."""
        solver = self._make_solver()
        for cells in choices:
            solver.add(self._z3.Or([self._z3.Not(self._z3.Or(self._list_outside_conditions(cell))) for cell in cells]))
        return self._solve(solver)

    def _solve(self, solver: Any, *assumptions: Any) -> tuple[Number, ...] | None:
        z3 = self._z3
        if self._deadline is not None:
            seconds = self._deadline - monotonic()
            if seconds <= 0:
                raise SolverTimeout
            solver.set("timeout", max(1, int(seconds * 1000)))
        answer = solver.check(*assumptions)
        if answer == z3.unsat:
            return None
        if answer != z3.sat:
            raise SolverTimeout
        model = solver.model()
        values = [model.eval(variable, model_completion=True) for variable in self._variables]
        return tuple([normal_number(Fraction(v.numerator_as_long(), v.denominator_as_long())) for v in values])
