"""Answers, models and cores of solvers agree with the enumeration of circuits."""

from __future__ import annotations

import builtins
import random
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from random_circuits import (
    evaluate_literals,
    is_satisfiable,
    model_is_exact,
    random_boolean_circuit,
    random_numeric_circuit,
)

from plansafe.verifier.model.limits import WorkBudget
from plansafe.verifier.model.nodes import Number
from plansafe.verifier.symbolic.circuits import terms
from plansafe.verifier.symbolic.circuits.circuit import FALSE, TRUE, Circuit, Literal
from plansafe.verifier.symbolic.circuits.smt_solver import SmtSolver
from plansafe.verifier.symbolic.circuits.solver_choice import create_solver
from plansafe.verifier.symbolic.circuits.solvers import SatSolver, Solver, SolverMissing, Unsupported


def check(solver: Solver, circuit: Circuit, required: list[Literal], assumed: list[Literal], expected: bool) -> None:
    """Check the answer, the model and the core of one query."""
    assert solver.solve(assumed) is expected
    if expected:
        model = solver.model()
        assert set(circuit.find_inputs([*required, *assumed])) <= set(model.inputs)
        assert all(evaluate_literals(circuit, [*required, *assumed], model.inputs))
        assert model_is_exact(circuit, model)
    else:
        core = solver.core()
        assert set(core) <= set(assumed)
        assert not is_satisfiable(circuit, [*required, *core])


@pytest.mark.parametrize("seed", range(60))
def test_cadical_and_z3_agree_with_enumeration(seed: int) -> None:
    rng = random.Random(seed)
    circuit, literals = random_boolean_circuit(seed)
    solvers: list[Solver] = [SatSolver(circuit), SmtSolver(circuit)]
    required: list[Literal] = []
    for _ in range(4):
        assumed = [rng.choice(literals) ^ rng.getrandbits(1) for _ in range(rng.randrange(4))]
        expected = is_satisfiable(circuit, [*required, *assumed])
        for solver in solvers:
            check(solver, circuit, required, assumed, expected)
        literals.append(circuit.conjunction([rng.choice(literals) ^ rng.getrandbits(1) for _ in range(3)]))
        if rng.random() < 0.4:  # require one of the literals of the grown circuit
            required.append(literals[-1] ^ rng.getrandbits(1))
            for solver in solvers:
                solver.require(required[-1])
    for solver in solvers:
        solver.close()


@pytest.mark.parametrize("seed", range(60))
def test_z3_computes_with_exact_numbers(seed: int) -> None:
    rng = random.Random(seed)
    circuit, literals = random_numeric_circuit(seed)
    solver = SmtSolver(circuit)
    required: list[Literal] = []
    for _ in range(3):
        assumed = [rng.choice(literals) ^ rng.getrandbits(1) for _ in range(rng.randrange(1, 4))]
        check(solver, circuit, required, assumed, is_satisfiable(circuit, [*required, *assumed]))
        required.append(rng.choice(literals))
        solver.require(required[-1])


@pytest.mark.parametrize("solver", [SatSolver, SmtSolver])
def test_constants_may_be_assumed_and_required(solver: Callable[[Circuit], Solver]) -> None:
    circuit = Circuit()
    query_solver = solver(circuit)
    assert query_solver.solve() is True
    assert query_solver.solve([TRUE]) is True
    assert query_solver.solve([TRUE, FALSE]) is False
    assert query_solver.core() == [FALSE]
    query_solver.require(TRUE)
    assert query_solver.solve() is True
    query_solver.require(FALSE)
    assert query_solver.solve() is False
    assert query_solver.core() == []


def test_circuits_with_numbers_need_z3() -> None:
    circuit = Circuit()
    fact = circuit.input("fact")
    high = terms.compare(circuit, ">", terms.variable(0, 0), terms.constant(3))
    assert create_solver(circuit, [fact]).name == "cadical195"
    assert create_solver(circuit, [circuit.both(fact, high)]).name.startswith("z3 ")
    assert create_solver(circuit, [fact], "smt").name.startswith("z3 ")
    with pytest.raises(Unsupported):
        create_solver(circuit, [high], "sat")
    sat = SatSolver(circuit)
    assert sat.solve([fact]) is True
    with pytest.raises(Unsupported):
        sat.solve([fact, high])


@pytest.mark.parametrize("operator", ["<", "<=", "=", ">", ">="])
@pytest.mark.parametrize("bound", [-4, -3, 0, 3, 4, Fraction(1, 2)])
def test_weighted_counts_agree_with_enumeration(operator: str, bound: Number) -> None:
    circuit = Circuit()
    facts = [circuit.input(k) for k in range(5)]
    total = terms.constant(0)
    for weight, fact in enumerate(facts):
        total = terms.add(total, terms.choose(fact, terms.constant(weight - 2), terms.constant(0)))
    query = terms.compare(circuit, operator, total, terms.constant(bound))
    for literal in (query, query ^ 1):
        check(SmtSolver(circuit), circuit, [], [literal], is_satisfiable(circuit, [literal]))


def test_products_and_quotients_are_exact() -> None:
    circuit = Circuit()
    x, y = terms.variable(0, 0), terms.variable(0, 1)
    constant_1, constant_2, constant_6 = [terms.constant(n) for n in (1, 2, 6)]
    area = terms.compare(circuit, "=", terms.multiply(x, y), constant_6)
    ratio = terms.compare(circuit, "=", terms.divide(x, y), terms.constant(Fraction(3, 2)))
    solver = SmtSolver(circuit)
    solver.require(area)
    assert solver.solve([ratio]) is True
    assert abs(solver.model().values[0, 0]) == 3
    assert model_is_exact(circuit, solver.model())
    assert solver.solve([ratio, terms.compare(circuit, "=", y, constant_1)]) is False
    square = terms.compare(circuit, "=", terms.multiply(x, x), constant_2)
    assert SmtSolver(circuit).solve([square]) is None, "no rational number"
    near = terms.compare(circuit, "<", terms.multiply(x, x), constant_2)
    below = terms.compare(circuit, ">", terms.multiply(x, x), terms.constant(Fraction(199, 100)))
    solver = SmtSolver(circuit)
    assert solver.solve([near, below]) is True
    assert model_is_exact(circuit, solver.model())


@pytest.mark.slow
def test_deep_circuits_with_shared_gates_are_solved() -> None:
    circuit = Circuit()
    literal = circuit.input(0)
    for k in range(1, 8_000):
        literal = (
            circuit.equal(literal, circuit.input(k % 7)) if k % 5 == 0 else circuit.both(literal, circuit.input(k))
        )
    sat = SatSolver(circuit)
    assert sat.solve([literal]) is True
    assert evaluate_literals(circuit, [literal], sat.model().inputs) == [True]
    for solver in (sat, SmtSolver(circuit)):
        solver.require(literal ^ 1)
        assert solver.solve() is True
        assert solver.solve([literal]) is False


def test_numbers_may_be_nested_3000_deep() -> None:
    circuit = Circuit()
    level = terms.variable(0, 0)
    for k in range(3_000):  # doubled or not, then one more: parts are shared at every step
        doubled = terms.multiply(level, terms.constant(2)) if k % 100 == 0 else level
        level = terms.choose(circuit.input(k), terms.add(doubled, terms.constant(1)), level)
    solver = SmtSolver(circuit)
    assert solver.solve([terms.compare(circuit, ">", level, terms.constant(10**6))]) is True


@pytest.mark.parametrize("solver", [SatSolver, SmtSolver])
def test_the_answer_is_none_after_the_deadline(solver: Callable[..., Solver]) -> None:
    circuit = Circuit()
    literal = commutativity(circuit)
    assert solver(circuit, time.monotonic() + 0.5).solve([literal]) is None  # without a deadline, it never ends
    assert solver(circuit, time.monotonic()).solve([literal]) is None


@pytest.mark.slow
@pytest.mark.parametrize("solver", [SatSolver, SmtSolver])
def test_the_answer_is_none_after_the_work_budget(solver: Callable[..., Solver]) -> None:
    circuit = Circuit()
    literal = commutativity(circuit)
    work = WorkBudget(200_000)
    assert solver(circuit, work=work).solve([literal]) is None
    assert work.left < 20_000
    assert solver(circuit, work=WorkBudget(0)).solve([literal]) is None


def commutativity(circuit: Circuit, size: int = 26) -> Literal:
    """The multiplication of two binary numbers is not commutative: unsatisfiable, and hard to refute."""
    a, b = [[circuit.input((name, bit)) for bit in range(size)] for name in "ab"]
    differ = [circuit.equal(x, y) ^ 1 for x, y in zip(multiply(circuit, a, b), multiply(circuit, b, a), strict=True)]
    return circuit.disjunction(differ)


def multiply(circuit: Circuit, a: list[Literal], b: list[Literal]) -> list[Literal]:
    total = [FALSE] * (2 * len(a))
    for shift, bit in enumerate(b):
        carry = FALSE
        for k, digit in enumerate([*a, *[0 for _ in range(len(b) - shift)]]):
            x, y = circuit.both(bit, digit), total[k + shift]
            half = circuit.equal(x, y) ^ 1
            total[k + shift] = circuit.equal(half, carry) ^ 1
            carry = circuit.either(circuit.both(x, y), circuit.both(half, carry))
    return total


@pytest.mark.parametrize("solver", [SatSolver, SmtSolver])
def test_too_little_memory_raises_a_memory_error(
    solver: Callable[..., Solver], monkeypatch: pytest.MonkeyPatch
) -> None:
    resource = pytest.importorskip("resource")
    circuit = Circuit()
    literal = commutativity(circuit)
    query_solver = solver(circuit)
    query_solver.require(literal)
    monkeypatch.setattr(resource, "getrlimit", lambda _: (2**20, 2**20))
    with pytest.raises(MemoryError):
        query_solver.solve()


def test_a_solver_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real_import = builtins.__import__

    def import_without_solvers(name: str, *arguments: Any) -> Any:
        if name.partition(".")[0] in ("pysat", "z3"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return real_import(name, *arguments)

    monkeypatch.setattr(builtins, "__import__", import_without_solvers)
    for solver, package in ((SatSolver, "pysat"), (SmtSolver, "z3")):
        with pytest.raises(SolverMissing, match=r"-m pip install .*z3-solver") as caught:
            solver(Circuit())
        assert caught.value.name == package
