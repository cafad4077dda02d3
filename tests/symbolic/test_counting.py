"""Counting refutes too many items in too few places, and counts are encoded correctly."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import product

import pytest
from random_circuits import evaluate_literals, is_satisfiable, random_boolean_circuit, random_numeric_circuit

from plansafe.verifier.model.limits import WorkBudget
from plansafe.verifier.symbolic.circuits import pseudo_boolean, terms
from plansafe.verifier.symbolic.circuits.circuit import Circuit, Literal
from plansafe.verifier.symbolic.circuits.linear_relaxation import find_infeasible_core
from plansafe.verifier.symbolic.circuits.pseudo_boolean import PseudoBoolean, encode_pseudo_boolean
from plansafe.verifier.symbolic.circuits.smt_solver import SmtSolver
from plansafe.verifier.symbolic.circuits.solver_choice import create_solver
from plansafe.verifier.symbolic.circuits.solvers import SatSolver, Solver
from plansafe.verifier.symbolic.circuits.terms import Comparison, Sum
from quick import quick_every


def create_placement(
    item_count: int, place_count: int, encoding: str, capacity: int = 1
) -> tuple[Circuit, Literal, Literal, list[Literal]]:
    """The circuit, allowed, violated and inputs: each item is in one place, and a place may hold too many items."""
    circuit = Circuit()
    placement_rows = [[circuit.input((item, place)) for place in range(place_count)] for item in range(item_count)]
    step_taken = circuit.input("taken")
    violated = []
    for column in zip(*placement_rows, strict=True):
        if encoding == "pairs":
            pairs = [(a, b) for index, a in enumerate(column) for b in column[:index]]
            violated += [circuit.conjunction([step_taken, a, b]) for a, b in pairs]
        else:
            violated.append(
                circuit.both(step_taken, terms.compare(circuit, ">", count_true(column), terms.constant(capacity)))
            )
    allowed = circuit.conjunction([step_taken, *[circuit.exactly_one(row) for row in placement_rows]])
    return circuit, allowed, circuit.disjunction(violated), [literal for row in placement_rows for literal in row]


def count_true(literals: tuple[Literal, ...] | list[Literal]) -> Sum:
    result_sum = terms.constant(0)
    for literal in literals:
        result_sum = terms.add(result_sum, terms.choose(literal, terms.constant(1), terms.constant(0)))
    return result_sum


@pytest.mark.parametrize("solver", [SatSolver, SmtSolver])
@pytest.mark.parametrize(("encoding", "capacity"), [("pairs", 1), ("counts", 1), ("counts", 2)])
def test_one_item_more_than_the_places_hold_is_impossible(
    solver: Callable[[Circuit], Solver], encoding: str, capacity: int
) -> None:
    capacity_of_places = 14 * capacity
    for items in (capacity_of_places, capacity_of_places + 1):
        circuit, allowed, violated, inputs = create_placement(items, 14, encoding, capacity)
        query_solver = solver(circuit)
        query_solver.require(allowed)
        assert query_solver.solve([inputs[0], violated ^ 1]) is (items == capacity_of_places)
        if items == capacity_of_places:
            assert evaluate_literals(circuit, [circuit.both(allowed, inputs[0])], query_solver.model().inputs) == [True]
        else:
            assert violated ^ 1 in query_solver.core()


@pytest.mark.parametrize("encoding", quick_every(2, ["pairs", "counts"]))
def test_forty_places_are_decided_within_the_work_budget(encoding: str) -> None:
    """Within a work budget of about a second; a search without counting needs exponentially more."""
    for items in (40, 41):
        circuit, allowed, violated, _ = create_placement(items, 40, encoding)
        root = circuit.both(allowed, violated ^ 1)
        query_solver = create_solver(circuit, [root], work=WorkBudget(1_000_000))
        query_solver.require(root)
        assert query_solver.solve() is (items == 40)


def test_at_most_one_is_recognised_in_every_encoding() -> None:
    """At most one, as a chain, a tree, or pairs; places that exclude each other step by step."""
    circuit, allowed, violated, _ = create_placement(7, 6, "pairs")
    for extra in ([], [circuit.disjunction([circuit.input(k) for k in range(3)])]):
        root = circuit.conjunction([allowed, violated ^ 1, *extra])
        assert find_infeasible_core(circuit, [root]) == {root}
    circuit, allowed, violated, inputs = create_placement(7, 6, "counts")
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
    rng = random.Random(seed)
    kind = seed % 3
    if kind == 0:
        circuit, literals = random_boolean_circuit(seed, gates=15)
        literal_set = [rng.choice(literals) ^ rng.getrandbits(1) for _ in range(6)]
    elif kind == 1:
        circuit, literals = random_numeric_circuit(seed)
        literal_set = [rng.choice(literals) ^ rng.getrandbits(1) for _ in range(4)]
    else:
        circuit, literal_set = random_group_constraints(rng)
    core = find_infeasible_core(circuit, literal_set)
    assert core is None or core <= set(literal_set)
    assert core is None or not is_satisfiable(circuit, sorted(core))


def random_group_constraints(rng: random.Random) -> tuple[Circuit, list[Literal]]:
    """Groups, conflicts, counts and clauses over ten facts."""
    circuit = Circuit()
    facts = [circuit.input(k) ^ rng.getrandbits(1) for k in range(10)]
    constraints = []
    for _ in range(rng.randrange(3, 9)):
        chosen_facts = rng.sample(facts, rng.randrange(2, 6))
        constraints.append(
            rng.choice(
                [
                    circuit.at_most_one(chosen_facts),
                    circuit.disjunction(chosen_facts),
                    circuit.exactly_one(chosen_facts),
                    terms.compare(
                        circuit, rng.choice(("<=", "<", "=", ">")), count_true(chosen_facts), terms.constant(2)
                    ),
                ]
            )
        )
    return circuit, constraints


def test_many_random_groups_are_refuted_by_counting() -> None:
    refuted = [find_infeasible_core(*random_group_constraints(random.Random(seed))) is not None for seed in range(50)]
    assert sum(refuted) > 5


@pytest.mark.parametrize("states", [0, 30_000])
@pytest.mark.parametrize("seed", range(20))
def test_an_encoded_count_is_true_iff_the_weighted_sum_meets_its_bound(
    seed: int, states: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pseudo_boolean, "MAX_DIAGRAM_STATES", states)
    rng = random.Random(seed)
    circuit = Circuit()
    facts = [circuit.input(k) for k in range(6)]
    weights = tuple((rng.randrange(1, 9), fact ^ rng.getrandbits(1)) for fact in facts)
    for bound in (-1, 0, rng.randrange(12), rng.randrange(30), 48):
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
    for offset in (0, 1):
        bound = sum(weights[::3]) + offset
        items = tuple((("indicator", literal), weight) for literal, weight in zip(literals, weights, strict=True))
        query = circuit.input(Comparison("=", Sum(-bound, items)))
        solver = SatSolver(circuit)
        assert solver.solve([query, *chosen[8:]]) is (not offset)
        if not offset:
            assert all(evaluate_literals(circuit, chosen, solver.model().inputs))
