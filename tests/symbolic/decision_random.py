"""Generate small decisions at random, and enumerate all their worlds.

Numbers come from small sets or from intervals. A comparison reads at most one number from an interval, and integers,
so nothing changes between integers: a grid of halves is exact.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from typing import NamedTuple

from plansafe.verifier.model.nodes import Number, normal_number
from plansafe.verifier.symbolic.circuits import terms
from plansafe.verifier.symbolic.circuits.circuit import TRUE, Circuit, Literal
from plansafe.verifier.symbolic.circuits.substitution import OpenNumber, collect_references, find_dependencies
from plansafe.verifier.symbolic.circuits.terms import Comparison, Sum
from plansafe.verifier.symbolic.worlds.encoding import FactInput, OrderInput, OutcomeInput

GRID = 2  # steps per unit


class Domain(NamedTuple):
    """The domain of a number: some values, or an interval, open below if ``strict``."""

    values: tuple[int, ...]
    interval: bool
    strict: bool

    def grid(self, extra: Sequence[Number] = ()) -> list[Number]:
        """Enough values to distinguish all comparisons, and the extra values that are in the domain."""
        if not self.interval:
            return list(self.values)
        low, high = self.values
        points = {normal_number(Fraction(i, GRID)) for i in range(low * GRID, high * GRID + 1)} | {*extra}
        return sorted([p for p in points if low <= p <= high and not (self.strict and p == low)])


class Decision(NamedTuple):
    """Open facts and numbers, and the literals of allowed completions and of worlds in which the plan is safe."""

    circuit: Circuit
    allowed: Literal
    good: Literal
    facts: tuple[int, ...]
    numbers: tuple[OpenNumber, ...] = ()


class DecisionCase(NamedTuple):
    """A decision with the domains of its numbers."""

    decision: Decision
    domains: dict[OpenNumber, Domain]


def random_case(seed: int, number: int) -> DecisionCase:
    """The case with this number; most cases have good and bad completions."""
    rng = random.Random(f"decision {seed} {number}")
    for _ in range(1 if number % 6 == 0 else 8):
        case = _generate_case(rng, number)
        if len({good for _, good in enumerate_completions(case)}) == 2:
            break
    return case


def _generate_case(rng: random.Random, number: int) -> DecisionCase:
    """A case; every third has no outcomes, every second no numbers."""
    circuit = Circuit()
    with_numbers, with_outcomes = number % 2 == 1, number % 3 != 1
    facts = [circuit.input(FactInput(0, i)) for i in range(rng.randint(1, 3 if with_numbers else 8))]
    choices: list[Literal] = []
    if with_outcomes:
        choices = [circuit.input(OutcomeInput(i, 0, (), 0)) for i in range(rng.randint(1, 3))]
        choices += [circuit.input(OrderInput(0, i)) for i in range(rng.randint(0, 1))]
    domains: dict[OpenNumber, Domain] = {}
    numbers: list[OpenNumber] = []
    if with_numbers:
        numbers = [(0, i) for i in range(rng.randint(1, 2))]
        domains = {open_number: _random_domain(rng) for open_number in numbers}
    domain_literals = {
        open_number: _encode_domain(circuit, open_number, domain) for open_number, domain in domains.items()
    }
    comparisons = [_random_comparison(rng, circuit, domains, [*facts, *choices]) for _ in range(3 * bool(domains))]
    literals = [*facts, *choices, *comparisons]
    good = (
        _random_gate(rng, circuit, literals, rng.randint(3, 14))
        if rng.random() < 0.5
        else _random_disjunction(rng, circuit, literals)
    )
    number_comparisons = [
        _random_comparison(rng, circuit, {n: domains[n] for n in numbers}, facts) for _ in range(bool(numbers))
    ]
    clauses = [_random_clause(rng, circuit, [*facts, *number_comparisons]) for _ in range(rng.choice((0, 0, 1, 2, 3)))]
    clauses += [circuit.exactly_one(facts[:3])] * (rng.random() < 0.2)
    outcome_clauses = [
        _random_clause(rng, circuit, [*choices, *facts]) for _ in range(with_outcomes and rng.random() < 0.4)
    ]
    bounded = circuit.conjunction([domain_literals[open_number] for open_number in numbers])
    allowed = circuit.conjunction([bounded, *clauses])
    good = circuit.either(circuit.conjunction(outcome_clauses) ^ 1, good)
    decision = Decision(circuit, allowed, good, tuple([f >> 1 for f in facts]), tuple(numbers))
    case = DecisionCase(decision, domains)
    return case if enumerate_completions(case) else DecisionCase(decision._replace(allowed=bounded), domains)


def _random_domain(rng: random.Random) -> Domain:
    if rng.random() < 0.5:
        return Domain(tuple(sorted(rng.sample(range(4), rng.randint(1, 3)))), False, False)
    low = rng.randint(0, 2)
    return Domain((low, rng.randint(low + 1, 3)), True, rng.random() < 0.3)


def _encode_domain(circuit: Circuit, open_number: OpenNumber, domain: Domain) -> Literal:
    number = terms.variable(*open_number)
    values = [terms.constant(value) for value in domain.values]
    if not domain.interval:
        return circuit.disjunction([terms.compare(circuit, "=", number, value) for value in values])
    above_low = terms.compare(circuit, ">" if domain.strict else ">=", number, values[0])
    return circuit.both(above_low, terms.compare(circuit, "<=", number, values[1]))


def _random_comparison(
    rng: random.Random, circuit: Circuit, domains: Mapping[OpenNumber, Domain], literals: Sequence[Literal]
) -> Literal:
    intervals = [open_number for open_number, domain in domains.items() if domain.interval]
    total = terms.constant(rng.randint(-3, 3))
    if intervals and rng.random() < 0.8:
        first, second = [terms.variable(*rng.choice(intervals)) for _ in range(2)]
        if rng.random() < 0.3:
            first = terms.choose(_random_literal(rng, literals), first, terms.add(second, terms.constant(1)))
        total = terms.add(total, first, rng.choice((-1, 1)))
    for open_number, domain in domains.items():
        if not domain.interval and rng.random() < 0.6:
            total = terms.add(total, terms.variable(*open_number), rng.choice((-2, -1, 1, 2)))
    for _ in range(rng.choice((0, 0, 1, 2))):
        summand = terms.choose(_random_literal(rng, literals), terms.constant(rng.randint(0, 2)), terms.constant(0))
        total = terms.add(total, summand, rng.choice((-1, 1)))
    operator = rng.choice(("=", "<", "<=", ">", ">="))
    return terms.compare(circuit, operator, total, terms.constant(0))


def _random_literal(rng: random.Random, literals: Sequence[Literal]) -> Literal:
    return rng.choice(literals) ^ rng.randint(0, 1)


def _random_clause(rng: random.Random, circuit: Circuit, literals: Sequence[Literal]) -> Literal:
    return circuit.disjunction([_random_literal(rng, literals) for _ in range(rng.randint(1, 3))])


def _random_gate(rng: random.Random, circuit: Circuit, literals: list[Literal], gates: int) -> Literal:
    pool = list(literals)
    for _ in range(gates):
        a, b, c = [_random_literal(rng, pool) for _ in range(3)]
        gate = rng.choice((circuit.both(a, b), circuit.either(a, b), circuit.choose(a, b, c), circuit.equal(a, b)))
        if gate > TRUE:
            pool.append(gate)
    return _random_literal(rng, pool[-3:])


def _random_disjunction(rng: random.Random, circuit: Circuit, literals: list[Literal]) -> Literal:
    """A disjunction of a few conjunctions of two to four literals, or its negation."""
    sizes = [min(len(literals), rng.randint(2, 4)) for _ in range(rng.randint(1, 4))]
    conjunctions = [circuit.conjunction([a ^ rng.randint(0, 1) for a in rng.sample(literals, size)]) for size in sizes]
    return circuit.disjunction(conjunctions) ^ rng.randint(0, 1)


# -- all worlds -------------------------------------------------------------------------------------------------------


class EnumeratedWorlds(NamedTuple):
    """The open values of every completion, and of every outcome whether it is SAFE."""

    values: list[dict[int | OpenNumber, bool | Number]]
    outcomes: list[list[bool]]


def enumerate_worlds(
    case: DecisionCase, extra: Mapping[OpenNumber, Sequence[Number]] | None = None
) -> EnumeratedWorlds:
    """All completions and outcomes, also for the ``extra`` values of numbers."""
    decision, circuit = case.decision, case.decision.circuit
    roots = [decision.allowed, decision.good]
    inputs = [n for n in find_dependencies(circuit, roots).nodes if circuit.gates[n] is None]
    choices = [n for n in inputs if n not in decision.facts and not isinstance(circuit.keys[n], Comparison)]
    grids = {
        open_number: domain.grid((extra or {}).get(open_number, ())) for open_number, domain in case.domains.items()
    }
    open_variables = [*decision.facts, *decision.numbers]
    ranges = [grids[i] if isinstance(i, tuple) else [False, True] for i in [*open_variables, *choices]]
    rows = list(product(*ranges))
    columns = dict(zip([*open_variables, *choices], zip(*rows, strict=True), strict=True)) if rows else {}
    allowed, good = evaluate_in_worlds(circuit, roots, columns, len(rows))
    enumeration = EnumeratedWorlds([], [])
    outcome_count = len(rows)
    for values in ranges[: len(open_variables)]:
        outcome_count //= len(values)
    for start in range(0, len(rows), outcome_count):
        if allowed[start]:
            enumeration.values.append(dict(zip(open_variables, rows[start], strict=False)))
            enumeration.outcomes.append(good[start : start + outcome_count])
    return enumeration


def enumerate_completions(case: DecisionCase, extra: Mapping[OpenNumber, Sequence[Number]] | None = None) -> list:
    """All completions, each with True if it is good."""
    enumeration = enumerate_worlds(case, extra)
    return [(values, all(outcomes)) for values, outcomes in zip(*enumeration, strict=True)]


def evaluate_in_worlds(
    circuit: Circuit,
    roots: Sequence[Literal],
    columns: Mapping[int | OpenNumber, Sequence[bool | Number]],
    count: int,
) -> list[list[bool]]:
    """The values of the roots in ``count`` worlds; a column has the values of an input or number in these worlds."""
    values: dict[int, list[bool]] = {0: [False] * count}
    comparison_values: dict = {}
    for node in find_dependencies(circuit, roots).nodes:
        children = circuit.gates[node]
        if children is not None:
            rows = zip(*[[v != (c & 1) for v in values[c >> 1]] for c in children], strict=True)
            values[node] = [all(row) for row in rows]
        elif isinstance(key := circuit.keys[node], Comparison):
            values[node] = [comparison_holds(key, values, columns, i, comparison_values) for i in range(count)]
        else:
            values[node] = [bool(v) for v in columns[node]]
    return [[v != (root & 1) for v in values[root >> 1]] for root in roots]


def comparison_holds(key: Comparison, values: Mapping, columns: Mapping, i: int, cache: dict) -> bool:
    """Whether a comparison holds in world ``i``; each combination of values that it reads is computed once."""
    if key not in cache:
        literals, numbers = collect_references(key.sum)
        cache[key] = [literal >> 1 for literal in literals], list(numbers)
    key_and_values = (
        key,
        *[values[node][i] for node in cache[key][0]],
        *[columns[open_number][i] for open_number in cache[key][1]],
    )
    if key_and_values not in cache:
        value = evaluate_sum(key.sum, values, columns, i)
        cache[key_and_values] = value == 0 if key.operator == "=" else value < 0 if key.operator == "<" else value <= 0
    return cache[key_and_values]


def evaluate_sum(total: Sum, values: Mapping, columns: Mapping, i: int) -> Fraction:
    """The value of a sum in world ``i``."""
    sum_value = Fraction(total.constant)
    for atom, coefficient in total.weighted_atoms:
        match atom:
            case ("value", function, code):
                value = columns[function, code][i]
            case ("indicator", literal):
                value = values[literal >> 1][i] != (literal & 1)
            case ("choice", literal, then, otherwise):
                chosen = then if values[literal >> 1][i] != (literal & 1) else otherwise
                value = evaluate_sum(chosen, values, columns, i)
            case ("product", left, right):
                value = evaluate_sum(left, values, columns, i) * evaluate_sum(right, values, columns, i)
            case ("quotient", left, right):
                divisor = evaluate_sum(right, values, columns, i)
                value = evaluate_sum(left, values, columns, i) / divisor if divisor else 0
        sum_value += coefficient * value
    return sum_value
