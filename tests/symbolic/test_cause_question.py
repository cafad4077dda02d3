"""Causes and questions meet their definitions; minimal subsets, circuit templates and flips are correct."""

from __future__ import annotations

import random
import time
from itertools import combinations

import pytest
from decision_compare import ask_question, compare_decision, find_cause
from decision_random import Decision, evaluate_in_worlds
from decision_tasks import compare_cause_and_question
from worlds_generate import generate_worlds_case

from plansafe.verifier.kernel import KernelLimit, KernelRejects
from plansafe.verifier.model.limits import WorkBudget
from plansafe.verifier.reporting.worlds import Completion
from plansafe.verifier.symbolic.circuits import terms
from plansafe.verifier.symbolic.circuits.circuit import FALSE, TRUE, Circuit, Literal
from plansafe.verifier.symbolic.circuits.minimal_subset import (
    GaveUp,
    MinimalSubset,
    PropertyFails,
    PropertyHolds,
    find_minimal_subset,
)
from plansafe.verifier.symbolic.circuits.solvers import SatSolver, Unsupported
from plansafe.verifier.symbolic.circuits.substitution import CircuitTemplate, collect_references, find_dependencies
from plansafe.verifier.symbolic.worlds.completions import (
    CompletionSearch,
)
from plansafe.verifier.symbolic.worlds.encoding import FactInput, OrderInput, OutcomeInput
from plansafe.verifier.symbolic.worlds.explanation import Cause
from plansafe.verifier.symbolic.worlds.question import MAX_GATES, InputFlips, Question

# -- against the definitions ------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_causes_and_questions_of_random_decisions_meet_their_definitions(seed: int) -> None:
    problems = [f"{number}: {p}" for number in range(50) for p in compare_decision(100 + seed, number).problems]
    assert problems == []


def test_z3_alone_finds_causes_and_questions_that_meet_their_definitions() -> None:
    problems = [f"{number}: {p}" for number in range(20) for p in compare_decision(200, number, "smt").problems]
    assert problems == []


@pytest.mark.slow
def test_causes_and_questions_of_random_tasks_agree_with_the_kernel() -> None:
    kinds = set()
    for number in range(30):
        case = generate_worlds_case("facts", 300, number)
        try:
            comparison = compare_cause_and_question(case)
        except (KernelRejects, KernelLimit):
            continue
        assert comparison.problems == [], case.show()
        kinds.add(comparison.kind)
    assert {"all good", "all bad", "some bad"} <= kinds


# -- by hand ----------------------------------------------------------------------------------------------------------


def add_facts(circuit: Circuit, count: int) -> list[Literal]:
    return [circuit.input(FactInput(7, i)) for i in range(count)]


def create_decision(circuit: Circuit, allowed: Literal, good: Literal, **more: object) -> Decision:
    fact_nodes = tuple([node for node, key in circuit.keys.items() if isinstance(key, FactInput)])
    return Decision(circuit, allowed, good, fact_nodes)._replace(**more)


def test_no_question_is_found_if_outcomes_alone_decide() -> None:
    circuit = Circuit()
    a, b = add_facts(circuit, 2)
    first, second = [circuit.input(OutcomeInput(step, 0, (), 0)) for step in (1, 2)]
    good = circuit.both(circuit.either(first, second), circuit.either(a, b))
    problem = create_decision(circuit, TRUE, good)
    assert find_cause(problem) == Cause({})
    assert ask_question(problem) == Question(None, "every completion is bad: outcomes alone decide")
    possible = create_decision(circuit, TRUE, circuit.either(circuit.either(first, second) ^ 1, good))
    assert find_cause(possible) == Cause({a >> 1: False, b >> 1: False})
    assert ask_question(possible) == Question([a >> 1, b >> 1])


def test_a_cause_agrees_with_the_given_world_if_that_world_is_bad() -> None:
    circuit = Circuit()
    a, b, c = add_facts(circuit, 3)
    good = circuit.conjunction([circuit.either(a, b), c])
    problem = create_decision(circuit, circuit.equal(a, b), good)
    assert ask_question(problem).variables == [a >> 1, c >> 1]
    world = Completion(frozenset({(7, 2)}), {}, {})
    assert find_cause(problem, world=world).values == {a >> 1: False}
    good_world = Completion(frozenset({(7, 0), (7, 1), (7, 2)}), {}, {})
    values = find_cause(problem, world=good_world).values
    assert values is not None and len(values) == 1  # the given world is not bad, so the cause is of another world


def test_the_search_ignores_facts_that_do_not_influence_the_verdict() -> None:
    circuit = Circuit()
    literals = add_facts(circuit, 10_000)
    pairs = [circuit.either(literals[i], literals[i + 1]) for i in range(0, 10_000, 2)]
    good = circuit.conjunction(
        [circuit.either(literals[10], literals[500]), circuit.either(literals[9_000] ^ 1, literals[9_003])]
    )
    problem = create_decision(circuit, circuit.conjunction(pairs), good)
    search = CompletionSearch(*problem[:3])
    assert (len(search.near_variables), len(search.far_variables)) == (4, 4)  # the other facts are dropped
    values = find_cause(problem, search=search).values
    assert values is not None and {*values} in [
        {literals[i] >> 1, literals[j] >> 1} for i, j in ((10, 500), (9_000, 9_003))
    ]
    variables = ask_question(problem, search=search).variables
    assert variables == [literals[i] >> 1 for i in (10, 500, 9_000, 9_003)]


def test_a_plan_that_is_too_large_to_ask_about_may_need_too_many_facts() -> None:
    circuit = Circuit()
    good = TRUE
    for fact in add_facts(circuit, MAX_GATES // 3):
        good = circuit.equal(good, fact)
    assert len(find_dependencies(circuit, [good]).nodes) > MAX_GATES
    problem = create_decision(circuit, TRUE, good)
    assert ask_question(problem, max_facts=20) == Question(None, "it takes more than 20 facts")
    assert ask_question(problem, max_facts=20_000) == Question(None, "not found: the plan is too large")


def test_the_work_budget_ends_the_search() -> None:
    circuit = Circuit()
    a, b, c = add_facts(circuit, 3)
    problem = create_decision(circuit, TRUE, circuit.conjunction([circuit.either(a, b), c]))
    for units in range(0, 3_000, 100):
        notes = []
        for _ in range(2):
            search = CompletionSearch(*problem[:3], work=WorkBudget(units))
            notes.append((find_cause(problem, search=search), ask_question(problem, search=search)))
        assert notes[0] == notes[1]
        if units == 0:
            assert {note.note for note in notes[0]} == {"not found: the search grew too large"}
    assert find_cause(problem, search=CompletionSearch(*problem[:3], work=WorkBudget(100_000))) == find_cause(problem)


def test_causes_and_questions_may_contain_numbers() -> None:
    circuit = Circuit()
    (hot,) = add_facts(circuit, 1)
    x, y = terms.variable(0, 3), terms.variable(0, 4)
    limit = terms.choose(hot, terms.constant(5), terms.add(y, terms.constant(1)))
    good = terms.compare(circuit, "<", x, limit)
    bounds = [terms.compare(circuit, "<=", n, terms.constant(9)) for n in (x, y)]
    bounds += [terms.compare(circuit, "<=", terms.constant(0), n) for n in (x, y)]
    problem = create_decision(circuit, circuit.conjunction(bounds), good, numbers=((0, 3), (0, 4)))
    assert ask_question(problem).variables == [hot >> 1, (0, 3), (0, 4)]
    world = Completion(frozenset(), {(0, 3): 4, (0, 4): 2}, {})
    assert find_cause(problem, world=world).values == {hot >> 1: False, (0, 3): 4, (0, 4): 2}
    with pytest.raises(Unsupported):
        find_cause(problem, "sat")
    # a world without a value of y: the cause comes from another bad completion
    values = find_cause(problem, world=Completion(frozenset(), {(0, 3): 1}, {})).values
    assert values is not None and {*values} & {(0, 3), (0, 4)}


def test_a_passed_deadline_is_reported_instead_of_a_cause_or_question() -> None:
    circuit = Circuit()
    a, b = add_facts(circuit, 2)
    problem = create_decision(circuit, TRUE, circuit.both(a, b))
    assert find_cause(problem, deadline=time.monotonic() - 1) == Cause(None, "not found: time ran out")
    assert ask_question(problem, deadline=time.monotonic() - 1) == Question(None, "not found: time ran out")


@pytest.mark.parametrize("checks", range(1, 6))
def test_a_set_that_is_not_proved_minimal_is_not_reported(monkeypatch: pytest.MonkeyPatch, checks: int) -> None:
    circuit = Circuit()
    good = circuit.disjunction(add_facts(circuit, 4))
    problem = create_decision(circuit, TRUE, good)
    checks_left = checks
    solve = SatSolver.solve

    def solve_within_limit(solver: SatSolver, assumptions: list[Literal]) -> bool | None:
        nonlocal checks_left
        checks_left -= 1
        return solve(solver, assumptions) if checks_left >= 0 else None

    monkeypatch.setattr(SatSolver, "solve", solve_within_limit)
    cause = find_cause(problem)
    assert cause.values is None
    assert cause.note.startswith("not minimal: ") == (checks > 2)
    checks_left = checks
    question = ask_question(problem)
    assert (question.variables is not None) == (question.note == "") == (checks > 3)  # flips save the rest
    assert question.note.startswith("not minimal: ") == (checks == 3)


# -- parts ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(60))
def test_find_minimal_subset_returns_a_minimal_subset(seed: int) -> None:
    rng = random.Random(seed)
    size = rng.randint(1, 7)
    generators = [frozenset(rng.sample(range(size), rng.randint(0, size))) for _ in range(rng.randint(1, 4))]

    def has_property(chosen: object) -> bool:
        return any([generator <= set(chosen) for generator in generators])

    def check(chosen: object) -> PropertyHolds[int] | PropertyFails[int]:
        if not has_property(chosen):
            largest = max(
                [set(range(size)) - c for c in map(set, subsets) if set(chosen) <= c and not has_property(c)], key=len
            )
            necessary = [i for i in range(size) if not has_property(set(range(size)) - {i})]
            return PropertyFails(largest, rng.choice((necessary, ())))
        core = rng.choice([s for s in subsets if set(s) <= set(chosen) and has_property(s)])
        return PropertyHolds(core)

    subsets = [s for n in range(size + 1) for s in combinations(range(size), n)]
    minimal = find_minimal_subset(range(size), check)
    assert minimal is not None and minimal.reason == ""
    assert has_property(minimal.elements)
    assert not any([has_property(set(minimal.elements) - {element}) for element in minimal.elements])
    assert find_minimal_subset(range(size), lambda _: PropertyFails(range(size))) is None


def test_a_check_that_gives_up_leaves_the_last_subset_with_its_reason() -> None:
    answers = iter([PropertyHolds([0, 1, 2])])

    def check(_: object) -> PropertyHolds[int]:
        for answer in answers:
            return answer
        raise GaveUp("enough")

    assert find_minimal_subset(range(9), check) == MinimalSubset([0, 1, 2], "enough")
    with pytest.raises(GaveUp):
        find_minimal_subset(range(9), check)


def random_numeric_circuit(seed: int) -> tuple[Circuit, list[Literal], list[Literal]]:
    """A circuit with all kinds of atoms, nested and shared; its inputs and its literals."""
    rng = random.Random(f"numeric {seed}")
    circuit = Circuit()
    inputs = add_facts(circuit, 4)
    literals = list(inputs)
    sums = [*[terms.variable(0, i) for i in range(3)], terms.constant(1), terms.constant(-2)]
    for _ in range(14):
        a, b = rng.choice(sums), rng.choice(sums)
        condition = rng.choice(literals) ^ rng.randint(0, 1)
        match rng.randrange(7):
            case 0:
                sums.append(terms.add(a, b, rng.choice((-1, 1, 2))))
            case 1 | 2:
                sums.append(terms.choose(condition, a, b))
            case 3:
                sums.append(terms.multiply(a, b))
            case 4:
                sums.append(terms.divide(a, b))
            case _:
                literals.append(terms.compare(circuit, rng.choice(("=", "<", "<=", ">", ">=")), a, b))
                literals.append(circuit.choose(condition, rng.choice(literals), literals[-1] ^ 1))
    return circuit, inputs, literals


@pytest.mark.parametrize("seed", range(150))
def test_an_instantiated_circuit_has_the_values_of_the_substituted_original(seed: int) -> None:
    circuit, inputs, literals = random_numeric_circuit(seed)
    rng = random.Random(seed)
    roots = literals[-3:]
    other_inputs = [circuit.input(OrderInput(7, i)) for i in range(4)]
    replacements = {
        literal >> 1: rng.choice([*other_inputs, *inputs, FALSE, TRUE]) ^ rng.randint(0, 1) for literal in inputs[:3]
    }
    new_sums = [terms.variable(1, 0), terms.constant(2), terms.add(terms.variable(0, 0), terms.constant(1))]
    new_sums += [terms.choose(other_inputs[0], terms.constant(0), terms.variable(0, 2))]
    numbers = {(0, i): rng.choice(new_sums) for i in range(2)}
    copies = CircuitTemplate(circuit, roots, replacements, numbers).instantiate(replacements, numbers)
    for _ in range(8):
        values = {literal >> 1: [rng.random() < 0.5] for literal in [*inputs, *other_inputs]}
        values |= {open_number: [rng.randint(-2, 2)] for open_number in [(0, 0), (0, 1), (0, 2), (1, 0)]}
        substituted_values = dict(values)
        for node, literal in replacements.items():
            substituted_values[node] = evaluate_in_worlds(circuit, [literal], values, 1)[0]
        for open_number, total in numbers.items():
            is_value = [terms.compare(circuit, "=", total, terms.constant(n)) for n in range(-4, 5)]
            (substituted_values[open_number],) = [
                [n - 4] for n, v in enumerate(evaluate_in_worlds(circuit, is_value, values, 1)) if v[0]
            ]
        assert evaluate_in_worlds(circuit, copies, values, 1) == evaluate_in_worlds(
            circuit, roots, substituted_values, 1
        )


def test_instantiation_substitutes_inside_comparisons() -> None:
    circuit = Circuit()
    a, b, c = add_facts(circuit, 3)
    inner = circuit.both(a, b)
    total = terms.add(terms.variable(0, 0), terms.choose(inner, terms.constant(2), terms.constant(0)))
    root = circuit.either(terms.compare(circuit, "<=", total, terms.constant(3)), c)
    assert find_dependencies(circuit, [root]).nodes[:4] == [a >> 1, b >> 1, c >> 1, inner >> 1]
    assert find_dependencies(circuit, [root]).numbers == {(0, 0)}
    assert collect_references(total) == ((inner,), {(0, 0)})
    template = CircuitTemplate(circuit, [root, c], [a >> 1], [(0, 0)])
    assert template.instantiate({a >> 1: TRUE}, {(0, 0): terms.constant(2)}) == [circuit.either(b ^ 1, c), c]
    assert template.instantiate({}, {}) == [root, c]


@pytest.mark.parametrize("seed", range(60))
def test_flipped_inputs_are_evaluated_bit_by_bit(seed: int) -> None:
    circuit, inputs, literals = random_numeric_circuit(seed)
    rng = random.Random(seed)
    base = {literal >> 1: rng.random() < 0.5 for literal in inputs}
    values = {(0, i): rng.randint(-2, 2) for i in range(3)}
    flipped = [literal >> 1 for literal in rng.sample(inputs, 3)]
    bits = InputFlips(circuit, literals[-3:]).evaluate(base, values, flipped)
    assert bits is not None
    for i, node in enumerate(flipped):
        world = {variable: [value] for variable, value in [*base.items(), *values.items()]}
        world[node] = [not base[node]]
        assert [bool(b >> i & 1) for b in bits] == [v[0] for v in evaluate_in_worlds(circuit, literals[-3:], world, 1)]
