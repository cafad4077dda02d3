"""The choice of a solver for queries about literals."""

from __future__ import annotations

from collections.abc import Iterable

from plansafe.verifier.model.limits import WorkBudget
from plansafe.verifier.symbolic.circuits.circuit import Circuit, Literal
from plansafe.verifier.symbolic.circuits.pseudo_boolean import convert_to_pseudo_boolean
from plansafe.verifier.symbolic.circuits.smt_solver import SmtSolver
from plansafe.verifier.symbolic.circuits.solvers import SatSolver, Solver, Unsupported
from plansafe.verifier.symbolic.circuits.terms import Comparison


def create_solver(
    circuit: Circuit,
    roots: Iterable[Literal],
    engine: str = "auto",
    deadline: float | None = None,
    work: WorkBudget | None = None,
) -> Solver:
    """Return a solver for queries about ``roots``.

    ``engine`` is ``sat``, ``smt``, or ``auto``: ``sat`` if that suffices.
    ``deadline`` is a ``time.monotonic`` value; after it, or when ``work`` is spent, ``solve`` returns ``None``.
    Raises :class:`SolverMissing`, and :class:`Unsupported` if ``engine`` is ``sat`` and a root depends on a comparison
    of numbers.
    """
    if engine != "smt":
        if not _has_numbers(circuit, roots):
            return SatSolver(circuit, deadline, work)
        if engine == "sat":
            raise Unsupported("a SAT solver knows no numbers")
    return SmtSolver(circuit, deadline, work)


def _has_numbers(circuit: Circuit, roots: Iterable[Literal]) -> bool:
    """Whether the roots depend on a comparison that is not a pseudo-Boolean constraint."""
    keys = circuit.keys
    visited: set[int] = set()
    pending = list(roots) if any([isinstance(key, Comparison) for key in keys.values()]) else []
    while pending:
        comparisons = {node for node in circuit.find_inputs(pending) if isinstance(keys[node], Comparison)} - visited
        pending = []
        for node in comparisons:
            key = keys[node]
            constraint = convert_to_pseudo_boolean(key) if isinstance(key, Comparison) else None
            if constraint is None:
                return True
            pending += [literal for _, literal in constraint.weights]
        visited |= comparisons
    return False
