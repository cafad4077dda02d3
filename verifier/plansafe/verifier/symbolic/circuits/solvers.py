"""Solvers for circuits: CaDiCaL for Boolean circuits, Z3 where numbers occur. Both are incremental and give cores."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from plansafe.verifier.extras import how_to_install
from plansafe.verifier.model.garbage_collection import paused_garbage_collection
from plansafe.verifier.model.limits import WorkBudget
from plansafe.verifier.model.nodes import Number
from plansafe.verifier.symbolic.circuits.circuit import Circuit, Literal
from plansafe.verifier.symbolic.circuits.cnf import Clauses
from plansafe.verifier.symbolic.circuits.linear_relaxation import find_infeasible_core

FIRST_CONFLICTS = 2_000
"""Maximum number of conflicts of the first search of a SAT call. If it is undecided, the linear relaxation is tried
before the search continues."""
CONFLICT_WORK = 50
"""Units of a :class:`WorkBudget` for a conflict of CaDiCaL; a unit is about 1 µs."""
_SLICE_LITERALS, _MIN_CONFLICTS, _MAX_CONFLICTS = 20_000_000, 100, 2_000
"""Bounds of CaDiCaL's work between two checks of time and memory, because it cannot be interrupted: the product of
conflicts and variables, and the minimum and maximum number of conflicts. They do not depend on the clock: otherwise a
slower machine would find other models."""
_MAX_MEMORY_SHARE = 0.6
"""The part of the memory limit that may be in use. A solver that gets no more memory ends the process, and its tables
may double at once."""


class SolverMissing(ModuleNotFoundError):
    """The package of a solver is not installed."""


class Unsupported(Exception):
    """The requested engine cannot decide this: a SAT solver has no numbers."""


class Model(NamedTuple):
    """An assignment: every input in the encoded cones, and the numbers that occur in their comparisons."""

    inputs: dict[int, bool]
    values: dict[tuple[int, int], Number]


class Solver(ABC):
    """An incremental solver over the literals of one circuit, which may grow between calls.

    ``name`` is the solver and its version.
    """

    name: str
    _first_search_limit: int

    def __init__(self, circuit: Circuit, deadline: float | None = None, work: WorkBudget | None = None) -> None:
        self.circuit = circuit
        self.deadline = deadline
        self.work = work
        self._clauses = Clauses(circuit)
        self._required: list[Literal] = []
        self._is_late = False
        self._core: list[Literal] = []

    def require(self, literal: Literal) -> None:
        """Make a literal true from now on."""
        with self._translate_memory_errors():
            self._encode([literal])
            if not self._is_late:
                self._assert_literal(literal)
        self._required.append(literal)

    def solve(self, assumptions: Sequence[Literal] = ()) -> bool | None:
        """Whether the required literals and the assumptions can be true together; ``None`` if undecided."""
        with self._translate_memory_errors():
            self._encode(assumptions)
            if self._is_late:
                return None
            satisfiable = self._search(assumptions, self._first_search_limit)
            if satisfiable is None:
                core = find_infeasible_core(self.circuit, [*self._required, *assumptions], self.deadline)
                if core is not None:
                    self._core = [literal for literal in assumptions if literal in core]
                    return False
                satisfiable = self._search(assumptions, None)
            if satisfiable is False:
                self._core = self._find_failed_assumptions()
            return self._accept_model() if satisfiable else satisfiable

    @abstractmethod
    def model(self) -> Model:
        """Return a satisfying assignment; call it after ``solve`` returned ``True``."""

    def core(self) -> list[Literal]:
        """Return assumptions that cannot be true together, not always the fewest, after an unsatisfiable query."""
        return self._core

    @abstractmethod
    def close(self) -> None:
        """Release the solver's memory."""

    def _encode(self, literals: Iterable[Literal]) -> None:
        """Add the clauses that define literals, up to the deadline."""
        pending = list(literals)
        while True:
            for batch in self._clauses.encode(pending):
                if any([0 in clause for clause in batch]):
                    raise AssertionError("a clause has the variable 0, which CaDiCaL answers with a crash")
                self._add_clauses(batch)
                check_memory()
                if self.deadline is not None and time.monotonic() >= self.deadline:
                    # Some clauses were not added and are not yielded again: the solver must not answer any more.
                    self._is_late = True
                    return
            pending = self._define_numeric_inputs()
            if not pending:
                return

    @abstractmethod
    def _add_clauses(self, clauses: list[list[int]]) -> None:
        """Add clauses over signed variables."""

    @abstractmethod
    def _define_numeric_inputs(self) -> list[Literal]:
        """Define the comparisons of numbers that were encoded; return the literals to encode for that."""

    @abstractmethod
    def _assert_literal(self, literal: Literal) -> None:
        """Make an encoded literal true from now on."""

    @abstractmethod
    def _search(self, assumptions: Sequence[Literal], limit: int | None) -> bool | None:
        """Search within a limit, the rest of the work budget, and the deadline."""

    @abstractmethod
    def _find_failed_assumptions(self) -> list[Literal]:
        """Return assumptions that the last search showed to be contradictory."""

    def _accept_model(self) -> bool | None:
        """Return ``True`` if the model that was found can be used; otherwise ``None``: undecided."""
        return True

    @contextmanager
    def _translate_memory_errors(self) -> Iterator[None]:
        """Raise ``MemoryError`` for a solver's own exception; the default does nothing."""
        yield


def search_within_limits(
    solver: Any, assumptions: list[int], deadline: float | None, conflicts: int | None = None
) -> bool | None:
    """Return the answer of a CaDiCaL of python-sat; ``None`` after this many conflicts, or at ``deadline``.

    Raises ``MemoryError`` where little memory is left.
    """
    slice_conflicts = min(max(_SLICE_LITERALS // max(solver.nof_vars(), 1), _MIN_CONFLICTS), _MAX_CONFLICTS)
    while conflicts is None or conflicts > 0:
        if deadline is not None and time.monotonic() >= deadline:
            return None
        check_memory()
        solver.conf_budget(slice_conflicts if conflicts is None else min(slice_conflicts, conflicts))
        satisfiable = solver.solve_limited(assumptions=assumptions)
        if satisfiable is not None:
            return bool(satisfiable)
        if conflicts is not None:
            conflicts -= slice_conflicts
    return None


def check_memory() -> None:
    """Raise ``MemoryError`` if most of this process's memory limit is in use."""
    try:
        import resource  # noqa: PLC0415 - not on every system

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        if limit == resource.RLIM_INFINITY:
            return
        with open("/proc/self/statm", "rb") as file:
            page_count, *_ = file.read().split()
    except (ImportError, OSError):
        return
    if int(page_count) * resource.getpagesize() > _MAX_MEMORY_SHARE * limit:
        raise MemoryError


class SatSolver(Solver):
    """CaDiCaL, for circuits without numbers; pseudo-Boolean constraints are gates.

    Raises :class:`SolverMissing`; ``require`` and ``solve`` raise :class:`Unsupported` if a cone has other comparisons.
    """

    name = "cadical195"
    _first_search_limit = FIRST_CONFLICTS

    def __init__(self, circuit: Circuit, deadline: float | None = None, work: WorkBudget | None = None) -> None:
        try:
            from pysat.solvers import Cadical195  # noqa: PLC0415 - takes 0.1 s
        except ModuleNotFoundError as error:
            raise SolverMissing(f"python-sat is not installed: {how_to_install('solve')}", name="pysat") from error
        super().__init__(circuit, deadline, work)
        self._conflicts = 0
        self._solver: Any = Cadical195()

    def model(self) -> Model:  # noqa: D102 - see Solver
        values, variables = self._solver.get_model(), self._clauses.pair_with_variables(self._clauses.inputs)
        count = len(values)  # variables are in ascending order; the last may occur in no clause
        return Model({node: v <= count and values[v - 1] > 0 for node, v in variables}, {})

    def close(self) -> None:  # noqa: D102 - see Solver
        self._solver.delete()

    def _encode(self, literals: Iterable[Literal]) -> None:
        with paused_garbage_collection():
            super()._encode(literals)

    def _add_clauses(self, clauses: list[list[int]]) -> None:
        add = self._solver.add_clause
        for clause in clauses:
            add(clause)

    def _define_numeric_inputs(self) -> list[Literal]:
        if self._clauses.numeric_inputs:
            raise Unsupported("a SAT solver knows no numbers")
        return []

    def _assert_literal(self, literal: Literal) -> None:
        self._solver.add_clause([self._clauses.get_signed_variable(literal)])

    def _search(self, assumptions: Sequence[Literal], limit: int | None) -> bool | None:
        if self.work is not None:
            affordable = max(self.work.left, 0) // CONFLICT_WORK
            limit = affordable if limit is None else min(limit, affordable)
        variables = [self._clauses.get_signed_variable(literal) for literal in assumptions]
        satisfiable = search_within_limits(self._solver, variables, self.deadline, limit)
        if self.work is not None:
            before, self._conflicts = self._conflicts, self._solver.accum_stats()["conflicts"]
            self.work.left -= CONFLICT_WORK * (self._conflicts - before)
        return satisfiable

    def _find_failed_assumptions(self) -> list[Literal]:
        return [self._clauses.find_circuit_literal(variable) for variable in self._solver.get_core() or ()]
