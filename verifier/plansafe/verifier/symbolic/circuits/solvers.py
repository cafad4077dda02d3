"""Solvers for circuits: CaDiCaL for what is Boolean, Z3 where numbers occur. Both are incremental and give cores."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import Any, NamedTuple, Protocol

from plansafe.verifier.extras import how_to_install
from plansafe.verifier.model.garbage_collection import paused_garbage_collection
from plansafe.verifier.model.limits import WorkBudget
from plansafe.verifier.model.nodes import Number, normal_number
from plansafe.verifier.symbolic.circuits.circuit import Circuit, Literal
from plansafe.verifier.symbolic.circuits.cnf import Clauses, to_pseudo_boolean
from plansafe.verifier.symbolic.circuits.linear_relaxation import find_infeasible_core
from plansafe.verifier.symbolic.circuits.smt_terms import Arithmetic
from plansafe.verifier.symbolic.circuits.terms import Comparison

FIRST_CONFLICTS = 2_000
"""Conflicts of the first search of a SAT call; if they do not suffice, counting is tried before the search goes on."""
FIRST_RESOURCES = 200_000
"""The same for Z3, in units of its ``rlimit``: about 0.3 s of a search without numbers, less of one with numbers."""
RATIONAL_RESOURCES = 3_000_000
"""The limit of Z3's search for a rational value near an irrational one."""
CONFLICT_WORK, RESOURCE_WORK = 50, 0.5
"""Units of a :class:`WorkBudget` for a conflict of CaDiCaL and for a unit of Z3's ``rlimit``; a unit is about 1 µs."""
_SLICE_LITERALS, _FEW_CONFLICTS, _MANY_CONFLICTS = 20_000_000, 100, 2_000
"""Bounds of CaDiCaL's work between two looks at clock and memory (it cannot be interrupted): conflicts times variables,
fewest and most conflicts. Slices that depended on the clock would lead to other models on a slower machine."""
_FULL = 0.6
"""The part of the memory limit that may be in use. A solver that gets no more memory ends the process, and its tables
may double at once."""
_FOREVER_MS = 2**31 - 1
_MOST_RESOURCES = 2**32 - 1


class SolverMissing(ModuleNotFoundError):
    """The package of a solver is not installed."""


class Unsupported(Exception):
    """The engine that was asked for cannot decide this: a SAT solver knows no numbers."""


class Model(NamedTuple):
    """An assignment: every input in the cones encoded so far, and the numbers that occur in their comparisons."""

    inputs: dict[int, bool]
    values: dict[tuple[int, int], Number]


class Solver(Protocol):
    """An incremental solver over the literals of one circuit, which may grow between calls."""

    @property
    def name(self) -> str:
        """The solver and its version."""

    def require(self, literal: Literal) -> None:
        """Let a literal be true from now on."""

    def solve(self, assumptions: Sequence[Literal] = ()) -> bool | None:
        """Whether what is required can be true together with the assumptions; ``None`` if that was not decided."""

    def model(self) -> Model:
        """How; after ``solve`` gave ``True``."""

    def core(self) -> list[Literal]:
        """Assumptions that are too many already; after ``solve`` gave ``False``. Not always the fewest."""

    def close(self) -> None:
        """Give back the solver's memory."""


def create_solver(
    circuit: Circuit,
    roots: Iterable[Literal],
    engine: str = "auto",
    deadline: float | None = None,
    work: WorkBudget | None = None,
) -> Solver:
    """A solver for queries about ``roots``: ``engine`` is ``sat``, ``smt``, or ``auto`` for whichever suffices.

    ``deadline`` is a ``time.monotonic`` value; after it, and where ``work`` is spent, ``solve`` answers ``None``.
    Raises :class:`SolverMissing`, and :class:`Unsupported` if ``sat`` is asked for and a root depends on a comparison
    of numbers.
    """
    if engine == "smt":
        return SmtSolver(circuit, deadline, work)
    if not _numeric(circuit, roots):
        return SatSolver(circuit, deadline, work)
    if engine == "sat":
        raise Unsupported("a SAT solver knows no numbers")
    return SmtSolver(circuit, deadline, work)


def _numeric(circuit: Circuit, roots: Iterable[Literal]) -> bool:
    """Whether the roots depend on a comparison of numbers that is not one of counts."""
    keys = circuit.keys
    seen: set[int] = set()
    left = list(roots) if any([isinstance(key, Comparison) for key in keys.values()]) else []
    while left:
        comparisons = {node for node in circuit.inputs(left) if isinstance(keys[node], Comparison)} - seen
        left = []
        for node in comparisons:
            key = keys[node]
            count = to_pseudo_boolean(key) if isinstance(key, Comparison) else None
            if count is None:
                return True
            left += [literal for _, literal in count.weights]
        seen |= comparisons
    return False


def search_within_limits(
    solver: Any, assumptions: list[int], deadline: float | None, conflicts: int | None = None
) -> bool | None:
    """The answer of a CaDiCaL of python-sat; ``None`` after so many conflicts, or at ``deadline``.

    Raises ``MemoryError`` where little memory is left.
    """
    budget = min(max(_SLICE_LITERALS // max(solver.nof_vars(), 1), _FEW_CONFLICTS), _MANY_CONFLICTS)
    while conflicts is None or conflicts > 0:
        if deadline is not None and time.monotonic() >= deadline:
            return None
        check_memory()
        solver.conf_budget(budget if conflicts is None else min(budget, conflicts))
        answer = solver.solve_limited(assumptions=assumptions)
        if answer is not None:
            return bool(answer)
        if conflicts is not None:
            conflicts -= budget
    return None


def check_memory() -> None:
    """Raise ``MemoryError`` if most of what this process may have is in use."""
    try:
        import resource  # noqa: PLC0415 - not on every system

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        if limit == resource.RLIM_INFINITY:
            return
        with open("/proc/self/statm", "rb") as file:
            used = int(file.read().split()[0]) * resource.getpagesize()
    except (ImportError, OSError):
        return
    if used > _FULL * limit:
        raise MemoryError


class SatSolver:
    """CaDiCaL.

    Comparisons of counts are gates to it. Raises :class:`SolverMissing`; ``require`` and ``solve`` raise
    :class:`Unsupported` where a cone has another comparison.
    """

    name = "cadical195"

    def __init__(self, circuit: Circuit, deadline: float | None = None, work: WorkBudget | None = None) -> None:
        try:
            from pysat.solvers import Cadical195  # noqa: PLC0415 - takes 0.1 s
        except ModuleNotFoundError as error:
            raise SolverMissing(f"python-sat is not installed: {how_to_install('solve')}", name="pysat") from error
        self.circuit = circuit
        self.deadline = deadline
        self.work = work
        self._conflicts = 0
        self._solver: Any = Cadical195()
        self._clauses = Clauses(circuit)
        self._required: list[Literal] = []
        self._late = False
        self._core: list[Literal] = []

    def require(self, literal: Literal) -> None:
        """Let a literal be true from now on."""
        self._encode([literal])
        self._solver.add_clause([self._clauses.literal(literal)])
        self._required.append(literal)

    def solve(self, assumptions: Sequence[Literal] = ()) -> bool | None:
        """Whether what is required can be true together with the assumptions; ``None`` when time is over."""
        self._encode(assumptions)
        if self._late:
            return None
        given = [self._clauses.literal(literal) for literal in assumptions]
        answer = self._searched(given, FIRST_CONFLICTS)
        if answer is None:
            core = find_infeasible_core(self.circuit, [*self._required, *assumptions], self.deadline)
            if core is not None:
                self._core = [literal for literal in assumptions if literal in core]
                return False
            answer = self._searched(given)
        if answer is False:
            self._core = [self._clauses.of(literal) for literal in self._solver.get_core() or ()]
        return answer

    def _searched(self, assumptions: list[int], conflicts: int | None = None) -> bool | None:
        """Search within what is left of the budget, and count the conflicts."""
        if self.work is not None:
            left = max(self.work.left, 0) // CONFLICT_WORK
            conflicts = left if conflicts is None else min(conflicts, left)
        answer = search_within_limits(self._solver, assumptions, self.deadline, conflicts)
        if self.work is not None:
            conflicts, self._conflicts = self._conflicts, self._solver.accum_stats()["conflicts"]
            self.work.left -= CONFLICT_WORK * (self._conflicts - conflicts)
        return answer

    def model(self) -> Model:
        """The values of the inputs; after ``solve`` gave ``True``."""
        values, variables = self._solver.get_model(), self._clauses.variables(self._clauses.inputs)
        known = len(values)  # variables are in ascending order; the last may occur in no clause
        return Model({node: v <= known and values[v - 1] > 0 for node, v in variables}, {})

    def core(self) -> list[Literal]:
        """Assumptions that are too many already; after ``solve`` gave ``False``."""
        return self._core

    def close(self) -> None:
        """Give back the solver's memory."""
        self._solver.delete()

    def _encode(self, literals: Iterable[Literal]) -> None:
        add = self._solver.add_clause
        with paused_garbage_collection():
            for batch in self._clauses.encode(literals):
                for clause in batch:
                    add(clause)
                check_memory()
                if self.deadline is not None and time.monotonic() >= self.deadline:
                    self._late = True  # what was handed out counts as known: this solver must not answer any more
                    return
        if self._clauses.numeric:
            raise Unsupported("a SAT solver knows no numbers")


class SmtSolver:
    """Z3: the gates as clauses, comparisons as linear or nonlinear arithmetic, counts as gates.

    Values are exact rationals. Where Z3's only models have irrational values, the answer is ``None``, as it is where
    Z3 does not decide nonlinear arithmetic. Raises :class:`SolverMissing`.
    """

    def __init__(self, circuit: Circuit, deadline: float | None = None, work: WorkBudget | None = None) -> None:
        try:
            import z3  # noqa: PLC0415 - takes 0.2 s
        except ModuleNotFoundError as error:
            raise SolverMissing(f"z3-solver is not installed: {how_to_install('solve')}", name="z3") from error
        self.name = f"z3 {z3.get_version_string()}"
        self.circuit = circuit
        self.deadline = deadline
        self.work = work
        self._z3: Any = z3
        self._context: Any = z3.Context()
        self._solver: Any = z3.SimpleSolver(ctx=self._context)  # tactics of z3.Solver took up to fifty times as long
        self._clauses = Clauses(circuit)
        self._arithmetic: Any = Arithmetic(circuit, z3, self._context, self._expression)
        self._required: list[Literal] = []
        self._bools: list[Any] = [None]
        """Z3's name of each variable; the same, negated, and as the bare pointers that are quick to hand over."""
        self._raw: list[Any] = [None]
        self._negated: list[Any] = [None]
        self._looked = 0
        self._late = False
        self._resources = 0
        self._core: list[Literal] = []
        self._model: Any = None
        self._values: dict[tuple[int, int], Number] = {}

    def require(self, literal: Literal) -> None:
        """Let a literal be true from now on."""
        with self._memory():
            self._encode([literal])
            if not self._late:
                self._solver.add(self._expression(literal))
        self._required.append(literal)

    def solve(self, assumptions: Sequence[Literal] = ()) -> bool | None:
        """Whether what is required can be true together with the assumptions; ``None`` if that was not decided."""
        with self._memory():
            self._encode(assumptions)
            return None if self._late else self._solve(assumptions)

    def _solve(self, assumptions: Sequence[Literal]) -> bool | None:
        expressions = [self._expression(literal) for literal in assumptions]
        given = {of.get_id(): literal for of, literal in zip(expressions, assumptions, strict=True)}
        answer = self._check(expressions, FIRST_RESOURCES)
        if answer is None:
            core = find_infeasible_core(self.circuit, [*self._required, *assumptions], self.deadline)
            if core is not None:
                self._core = [literal for literal in assumptions if literal in core]
                return False
            answer = self._check(expressions)
        if answer is False:
            self._core = [given[part.get_id()] for part in self._solver.unsat_core()]
        if answer:
            self._model = self._solver.model()
            return True if self._rational(expressions) else None
        return answer

    def model(self) -> Model:
        """The values of inputs and numbers; after ``solve`` gave ``True``."""
        bools, evaluate, true = self._bools, self._model.eval, self._z3.is_true
        variables = self._clauses.variables(self._clauses.inputs)
        return Model(
            {node: true(evaluate(bools[v], model_completion=True)) for node, v in variables}, dict(self._values)
        )

    def core(self) -> list[Literal]:
        """Assumptions that are too many already; after ``solve`` gave ``False``."""
        return self._core

    def close(self) -> None:
        """Give back the solver's memory, now: Z3's expressions hold its context, in cycles that are collected late."""
        self._bools, self._raw, self._negated = [None], [None], [None]
        self._model = self._solver = self._arithmetic = self._context = None

    def _check(self, expressions: list[Any], resources: int | None = None) -> bool | None:
        limit_ms = _FOREVER_MS if self.deadline is None else int(1000 * (self.deadline - time.monotonic()))
        if self.work is not None:
            left = int(self.work.left / RESOURCE_WORK)
            resources = left if resources is None else min(resources, left)
        if limit_ms <= 0 or (resources is not None and resources <= 0):
            return None
        check_memory()
        self._solver.set("timeout", min(limit_ms, _FOREVER_MS))
        self._solver.set("rlimit", min(resources or 0, _MOST_RESOURCES))
        answer = self._solver.check(*expressions)
        if self.work is not None:
            before, self._resources = self._resources, self._solver.statistics().get_key_value("rlimit count")
            self.work.left -= int(RESOURCE_WORK * (self._resources - before))
        return None if answer == self._z3.unknown else answer == self._z3.sat

    def _rational(self, expressions: list[Any]) -> bool:
        """Whether the model's numbers are rational, perhaps after the others moved a little."""
        z3 = self._z3
        pinned: list[Any] = []
        for _ in range(len(self._arithmetic.values) + 1):
            self._values.clear()
            for key, of in self._arithmetic.values.items():
                value = self._model.eval(of, model_completion=True)
                if z3.is_rational_value(value):
                    self._values[key] = normal_number(Fraction(value.numerator_as_long(), value.denominator_as_long()))
                    continue
                for digits in (2, 6, 20):
                    attempt = [*pinned, of == value.approx(digits)]
                    if self._check([*expressions, *attempt], RATIONAL_RESOURCES):
                        pinned, self._model = attempt, self._solver.model()
                        break
                else:
                    return False
                break
            else:
                return True
        return False

    @contextmanager
    def _memory(self) -> Iterator[None]:
        try:
            yield
        except self._z3.Z3Exception as error:
            if "memory" in str(error):
                raise MemoryError from error
            raise

    def _expression(self, literal: Literal) -> Any:
        signed = self._clauses.literal(literal)
        self._name()
        of = self._bools[abs(signed)]
        return of if signed > 0 else self._z3.Not(of)

    def _encode(self, literals: Iterable[Literal]) -> None:
        wanted, clauses = list(literals), self._clauses
        while True:
            for batch in clauses.encode(wanted):
                self._add(batch)
                check_memory()
                if self.deadline is not None and time.monotonic() >= self.deadline:
                    self._late = True
                    return
            fresh, self._looked = clauses.numeric[self._looked :], len(clauses.numeric)
            if not fresh:
                return
            said, wanted = self._arithmetic.define(fresh)
            self._solver.add(*said)

    def _add(self, clauses: list[list[int]]) -> None:
        """Hand over clauses, past the conversions of Z3's interface for Python, which take forty times as long."""
        z3, context, solver = self._z3, self._context.ref(), self._solver.solver
        self._name()
        raw, negated = self._raw, self._negated
        for clause in clauses:
            parts = [raw[part] if part > 0 else negated[-part] for part in clause]
            z3.Z3_solver_assert(context, solver, z3.Z3_mk_or(context, len(parts), (z3.Ast * len(parts))(*parts)))

    def _name(self) -> None:
        """Give names to the variables that have none in Z3 yet."""
        for variable in range(len(self._bools), len(self._clauses.nodes)):
            of = self._z3.Bool(variable, self._context)
            self._bools.append(of)
            self._raw.append(of.as_ast())
            opposite = self._z3.Z3_mk_not(self._context.ref(), of.as_ast())
            self._z3.Z3_inc_ref(self._context.ref(), opposite)
            self._negated.append(opposite)
