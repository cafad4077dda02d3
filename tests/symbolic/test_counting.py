"""Too many things for too few places, and counts as gates."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import product

import pytest
from random_circuits import evaluate_literals, is_satisfiable, random_boolean_circuit, random_numeric_circuit

from plansafe.verifier.model.limits import WorkBudget
from plansafe.verifier.symbolic.circuits import cnf, terms
from plansafe.verifier.symbolic.circuits.circuit import Circuit, Literal
from plansafe.verifier.symbolic.circuits.cnf import PseudoBoolean, encode_pseudo_boolean
from plansafe.verifier.symbolic.circuits.linear_relaxation import find_infeasible_core
from plansafe.verifier.symbolic.circuits.smt_solver import SmtSolver
from plansafe.verifier.symbolic.circuits.solver_choice import create_solver
from plansafe.verifier.symbolic.circuits.solvers import SatSolver, Solver
from plansafe.verifier.symbolic.circuits.terms import Comparison, Sum
from quick import quick_every


def places(items: int, places: int, by: str, capacity: int = 1) -> tuple[Circuit, Literal, Literal, list[Literal]]:
    """Each item in one place; and some step is taken after which a place holds too many. (.., allowed, violated, ..)"""
    circuit = Circuit()
    at = [[circuit.input((item, place)) for place in range(places)] for item in range(items)]
    step_taken = circuit.input("taken")
    violated = []
    for column in zip(*at, strict=True):
        if by == "pairs":
            pairs = [(a, b) for index, a in enumerate(column) for b in column[:index]]
            violated += [circuit.conjunction([step_taken, a, b]) for a, b in pairs]
        else:
            violated.append(
                circuit.both(step_taken, terms.compare(circuit, ">", total(column), terms.constant(capacity)))
            )
    allowed = circuit.conjunction([step_taken, *[circuit.exactly_one(row) for row in at]])
    return circuit, allowed, circuit.disjunction(violated), [literal for row in at for literal in row]


def total(literals: tuple[Literal, ...] | list[Literal]) -> Sum:
    result_sum = terms.constant(0)
    for literal in literals:
        result_sum = terms.add(result_sum, terms.select(literal, terms.constant(1), terms.constant(0)))
    return result_sum


@pytest.mark.parametrize("solver", [SatSolver, SmtSolver])
@pytest.mark.parametrize(("by", "capacity"), [("pairs", 1), ("counts", 1), ("counts", 2)])
def test_one_item_more_than_the_places_hold_is_impossible(
    solver: Callable[[Circuit], Solver], by: str, capacity: int
) -> None:
    fits = 14 * capacity
    for items in (fits, fits + 1):
        circuit, allowed, violated, inputs = places(items, 14, by, capacity)
        query_solver = solver(circuit)
        query_solver.require(allowed)
        assert query_solver.solve([inputs[0], violated ^ 1]) is (items == fits)
        if items == fits:
            assert evaluate_literals(circuit, [circuit.both(allowed, inputs[0])], query_solver.model().inputs) == [True]
        else:
            assert violated ^ 1 in query_solver.core()


@pytest.mark.parametrize("by", quick_every(2, ["pairs", "counts"]))
def test_forty_places_are_decided_within_the_work_budget(by: str) -> None:
    """Within a work budget of about a second; a search without counting needs exponentially more."""
    for items in (40, 41):
        circuit, allowed, violated, _ = places(items, 40, by)
        root = circuit.both(allowed, violated ^ 1)
        query_solver = create_solver(circuit, [root], work=WorkBudget(1_000_000))
        query_solver.require(root)
        assert query_solver.solve() is (items == 40)


def test_at_most_one_is_recognised_in_every_encoding() -> None:
    """At most one, as a chain, a tree, or pairs; places that exclude each other step by step."""
    circuit, allowed, violated, _ = places(7, 6, "pairs")
    for extra in ([], [circuit.disjunction([circuit.input(k) for k in range(3)])]):
        root = circuit.conjunction([allowed, violated ^ 1, *extra])
        assert find_infeasible_core(circuit, [root]) == {root}
    circuit, allowed, violated, inputs = places(7, 6, "counts")
    assert find_infeasible_core(circuit, [circuit.input("else"), allowed, violated ^ 1]) == {allowed, violated ^ 1}
    columns = [circuit.at_most_one(inputs[place::6]) for place in range(6)]
    assert find_infeasible_core(circuit, [allowed, *columns]) == {allowed, *columns}
    assert find_infeasible_core(circuit, [allowed, *columns[1:]]) is None


def test_circuits_without_groups_have_no_counting_refutation() -> None:
    circuit = Circuit()
    a, b = circuit.input("a"), circuit.input("b")
    assert find_infeasible_core(circuit, [a, circuit.both(a, b) ^ 1]) is None
    assert find_infeasible_core(circuit, [a, circuit.both(a, b) ^ 1, b]) is not None
    assert find_infeasible_core(circuit, []) is None


@pytest.mark.parametrize("seed", range(120))
def test_an_infeasible_core_is_unsatisfiable(seed: int) -> None:
    random_generator = random.Random(seed)
    kind = seed % 3
    if kind == 0:
        circuit, literals = random_boolean_circuit(seed, gates=15)
        literal_set = [random_generator.choice(literals) ^ random_generator.getrandbits(1) for _ in range(6)]
    elif kind == 1:
        circuit, literals = random_numeric_circuit(seed)
        literal_set = [random_generator.choice(literals) ^ random_generator.getrandbits(1) for _ in range(4)]
    else:
        circuit, literal_set = crowd(random_generator)
    core = find_infeasible_core(circuit, literal_set)
    assert core is None or core <= set(literal_set)
    assert core is None or not is_satisfiable(circuit, sorted(core))


def crowd(random_generator: random.Random) -> tuple[Circuit, list[Literal]]:
    """Groups, conflicts, counts and clauses over ten facts."""
    circuit = Circuit()
    facts = [circuit.input(k) ^ random_generator.getrandbits(1) for k in range(10)]
    constraints = []
    for _ in range(random_generator.randrange(3, 9)):
        chosen_facts = random_generator.sample(facts, random_generator.randrange(2, 6))
        constraints.append(
            random_generator.choice(
                [
                    circuit.at_most_one(chosen_facts),
                    circuit.disjunction(chosen_facts),
                    circuit.exactly_one(chosen_facts),
                    terms.compare(
                        circuit, random_generator.choice(("<=", "<", "=", ">")), total(chosen_facts), terms.constant(2)
                    ),
                ]
            )
        )
    return circuit, constraints


def test_many_random_groups_are_refuted_by_counting() -> None:
    refuted = [find_infeasible_core(*crowd(random.Random(seed))) is not None for seed in range(50)]
    assert sum(refuted) > 5


@pytest.mark.parametrize("states", [0, 30_000])
@pytest.mark.parametrize("seed", range(20))
def test_an_encoded_count_is_true_iff_the_weighted_sum_meets_its_bound(
    seed: int, states: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cnf, "MAX_TABLE_STATES", states)
    choose = random.Random(seed)
    circuit = Circuit()
    facts = [circuit.input(k) for k in range(6)]
    weights = tuple((choose.randrange(1, 9), fact ^ choose.getrandbits(1)) for fact in facts)
    for bound in (-1, 0, choose.randrange(12), choose.randrange(30), 48):
        for exact in (False, True):
            literal = encode_pseudo_boolean(circuit, PseudoBoolean(exact, weights, bound))
            for values in product((False, True), repeat=6):
                chosen = {fact >> 1: value for fact, value in zip(facts, values, strict=True)}
                truth_values = evaluate_literals(circuit, [part for _, part in weights], chosen)
                number = sum(weight for (weight, _), is_true in zip(weights, truth_values, strict=True) if is_true)
                assert evaluate_literals(circuit, [literal], chosen) == [number == bound if exact else number <= bound]


def test_many_heavy_weights_are_added_in_binary() -> None:
    circuit = Circuit()
    literals = [circuit.input(k) for k in range(300)]
    weights = [10**7 + 17 * k * k for k in range(300)]
    chosen = [literal ^ (k % 3 != 0) for k, literal in enumerate(literals)]
    for wrong in (0, 1):
        bound = sum(weights[::3]) + wrong
        items = tuple((("indicator", literal), weight) for literal, weight in zip(literals, weights, strict=True))
        query = circuit.input(Comparison("=", Sum(-bound, items)))
        solver = SatSolver(circuit)
        assert solver.solve([query, *chosen[8:]]) is (not wrong)
        if not wrong:
            assert all(evaluate_literals(circuit, chosen, solver.model().inputs))
