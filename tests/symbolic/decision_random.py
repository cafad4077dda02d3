"""Random small decisions, and all their worlds.

Numbers come from small sets or from intervals. A comparison reads one number from an interval at most, beside whole
numbers, so between whole numbers nothing changes: a grid of halves is exact.
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
    """Where a number comes from: one of some values, or an interval, open below if ``strict``."""

    values: tuple[int, ...]
    interval: bool
    strict: bool

    def grid(self, extra: Sequence[Number] = ()) -> list[Number]:
        """Values enough to tell all comparisons apart, and the extra ones that lie in the domain."""
        if not self.interval:
            return list(self.values)
        low, high = self.values
        points = {normal_number(Fraction(i, GRID)) for i in range(low * GRID, high * GRID + 1)} | {*extra}
        return sorted([p for p in points if low <= p <= high and not (self.strict and p == low)])


class Decision(NamedTuple):
    """Open facts and numbers, the literal of allowed completions, and that of worlds in which the plan is safe."""

    circuit: Circuit
    allowed: Literal
    good: Literal
    facts: tuple[int, ...]
    numbers: tuple[OpenNumber, ...] = ()


class Case(NamedTuple):
    """A decision with the domains of its numbers."""

    decision: Decision
    domains: dict[OpenNumber, Domain]


def random_case(seed: int, number: int) -> Case:
    """Case ``number`` of a run; most have good and bad completions."""
    rng = random.Random(f"decision {seed} {number}")
    for _ in range(1 if number % 6 == 0 else 8):
        case = _case(rng, number)
        if len({good for _, good in completions(case)}) == 2:
            break
    return case


def _case(rng: random.Random, number: int) -> Case:
    """Every third is without outcomes, every other one without numbers."""
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
        domains = {item: _domain(rng) for item in numbers}
    bounds = {item: _bounds(circuit, item, domain) for item, domain in domains.items()}
    comparisons = [_comparison(rng, circuit, domains, [*facts, *choices]) for _ in range(3 * bool(domains))]
    literals = [*facts, *choices, *comparisons]
    good = (
        _random_gate(rng, circuit, literals, rng.randint(3, 14))
        if rng.random() < 0.5
        else _terms(rng, circuit, literals)
    )
    own = [_comparison(rng, circuit, {n: domains[n] for n in numbers}, facts) for _ in range(bool(numbers))]
    clauses = [_clause(rng, circuit, [*facts, *own]) for _ in range(rng.choice((0, 0, 1, 2, 3)))]
    clauses += [circuit.exactly_one(facts[:3])] * (rng.random() < 0.2)
    possible = [_clause(rng, circuit, [*choices, *facts]) for _ in range(with_outcomes and rng.random() < 0.4)]
    known = circuit.conjunction([bounds[item] for item in numbers])
    allowed = circuit.conjunction([known, *clauses])
    good = circuit.either(circuit.conjunction(possible) ^ 1, good)
    decision = Decision(circuit, allowed, good, tuple([f >> 1 for f in facts]), tuple(numbers))
    case = Case(decision, domains)
    return case if completions(case) else Case(decision._replace(allowed=known), domains)


def _domain(rng: random.Random) -> Domain:
    if rng.random() < 0.5:
        return Domain(tuple(sorted(rng.sample(range(4), rng.randint(1, 3)))), False, False)
    low = rng.randint(0, 2)
    return Domain((low, rng.randint(low + 1, 3)), True, rng.random() < 0.3)


def _bounds(circuit: Circuit, item: OpenNumber, domain: Domain) -> Literal:
    x = terms.variable(*item)
    values = [terms.constant(value) for value in domain.values]
    if not domain.interval:
        return circuit.disjunction([terms.compare(circuit, "=", x, value) for value in values])
    above = terms.compare(circuit, ">" if domain.strict else ">=", x, values[0])
    return circuit.both(above, terms.compare(circuit, "<=", x, values[1]))


def _comparison(
    rng: random.Random, circuit: Circuit, domains: Mapping[OpenNumber, Domain], literals: Sequence[Literal]
) -> Literal:
    intervals = [item for item, domain in domains.items() if domain.interval]
    total = terms.constant(rng.randint(-3, 3))
    if intervals and rng.random() < 0.8:
        one, other = [terms.variable(*rng.choice(intervals)) for _ in range(2)]
        if rng.random() < 0.3:
            one = terms.select(_literal(rng, literals), one, terms.add(other, terms.constant(1)))
        total = terms.add(total, one, rng.choice((-1, 1)))
    for item, domain in domains.items():
        if not domain.interval and rng.random() < 0.6:
            total = terms.add(total, terms.variable(*item), rng.choice((-2, -1, 1, 2)))
    for _ in range(rng.choice((0, 0, 1, 2))):
        inner = terms.select(_literal(rng, literals), terms.constant(rng.randint(0, 2)), terms.constant(0))
        total = terms.add(total, inner, rng.choice((-1, 1)))
    operator = rng.choice(("=", "<", "<=", ">", ">="))
    return terms.compare(circuit, operator, total, terms.constant(0))


def _literal(rng: random.Random, literals: Sequence[Literal]) -> Literal:
    return rng.choice(literals) ^ rng.randint(0, 1)


def _clause(rng: random.Random, circuit: Circuit, literals: Sequence[Literal]) -> Literal:
    return circuit.disjunction([_literal(rng, literals) for _ in range(rng.randint(1, 3))])


def _random_gate(rng: random.Random, circuit: Circuit, literals: list[Literal], gates: int) -> Literal:
    pool = list(literals)
    for _ in range(gates):
        a, b, c = [_literal(rng, pool) for _ in range(3)]
        made = rng.choice((circuit.both(a, b), circuit.either(a, b), circuit.choose(a, b, c), circuit.equal(a, b)))
        if made > TRUE:
            pool.append(made)
    return _literal(rng, pool[-3:])


def _terms(rng: random.Random, circuit: Circuit, literals: list[Literal]) -> Literal:
    """A few conjunctions of two to four literals, of which some holds, or none."""
    sizes = [min(len(literals), rng.randint(2, 4)) for _ in range(rng.randint(1, 4))]
    some = [circuit.conjunction([a ^ rng.randint(0, 1) for a in rng.sample(literals, size)]) for size in sizes]
    return circuit.disjunction(some) ^ rng.randint(0, 1)


# -- all worlds -------------------------------------------------------------------------------------------------------


class Worlds(NamedTuple):
    """The open values of every completion, and of every outcome whether it is SAFE."""

    values: list[dict[int | OpenNumber, bool | Number]]
    outcomes: list[list[bool]]


def worlds(case: Case, extra: Mapping[OpenNumber, Sequence[Number]] | None = None) -> Worlds:
    """All completions and outcomes; ``extra`` values of numbers are looked at too."""
    decision, circuit = case.decision, case.decision.circuit
    roots = [decision.allowed, decision.good]
    inputs = [n for n in find_dependencies(circuit, roots).nodes if circuit.gates[n] is None]
    choices = [n for n in inputs if n not in decision.facts and not isinstance(circuit.keys[n], Comparison)]
    grids = {item: domain.grid((extra or {}).get(item, ())) for item, domain in case.domains.items()}
    open_items = [*decision.facts, *decision.numbers]
    ranges = [grids[i] if isinstance(i, tuple) else [False, True] for i in [*open_items, *choices]]
    rows = list(product(*ranges))
    columns = dict(zip([*open_items, *choices], zip(*rows, strict=True), strict=True)) if rows else {}
    allowed, good = evaluated(circuit, roots, columns, len(rows))
    found = Worlds([], [])
    each = len(rows)
    for values in ranges[: len(open_items)]:
        each //= len(values)
    for start in range(0, len(rows), each):
        if allowed[start]:
            found.values.append(dict(zip(open_items, rows[start], strict=False)))
            found.outcomes.append(good[start : start + each])
    return found


def completions(case: Case, extra: Mapping[OpenNumber, Sequence[Number]] | None = None) -> list:
    """Every completion, and whether it is good."""
    found = worlds(case, extra)
    return [(values, all(outcomes)) for values, outcomes in zip(*found, strict=True)]


def evaluated(
    circuit: Circuit,
    roots: Sequence[Literal],
    columns: Mapping[int | OpenNumber, Sequence[bool | Number]],
    count: int,
) -> list[list[bool]]:
    """The values of literals in ``count`` worlds; columns give the values of inputs and numbers."""
    values: dict[int, list[bool]] = {0: [False] * count}
    known: dict = {}
    for node in find_dependencies(circuit, roots).nodes:
        children = circuit.gates[node]
        if children is not None:
            rows = zip(*[[v != (c & 1) for v in values[c >> 1]] for c in children], strict=True)
            values[node] = [all(row) for row in rows]
        elif isinstance(key := circuit.keys[node], Comparison):
            values[node] = [holds(key, values, columns, i, known) for i in range(count)]
        else:
            values[node] = [bool(v) for v in columns[node]]
    return [[v != (root & 1) for v in values[root >> 1]] for root in roots]


def holds(key: Comparison, values: Mapping, columns: Mapping, i: int, known: dict) -> bool:
    """Whether a comparison holds in world ``i``; each combination of what it reads is computed once."""
    if key not in known:
        literals, numbers = collect_references(key.sum)
        known[key] = [literal >> 1 for literal in literals], list(numbers)
    read = (key, *[values[node][i] for node in known[key][0]], *[columns[item][i] for item in known[key][1]])
    if read not in known:
        value = number(key.sum, values, columns, i)
        known[read] = value == 0 if key.operator == "=" else value < 0 if key.operator == "<" else value <= 0
    return known[read]


def number(total: Sum, values: Mapping, columns: Mapping, i: int) -> Fraction:
    """The value of a sum in world ``i``."""
    result = Fraction(total.constant)
    for atom, coefficient in total.weighted_atoms:
        match atom:
            case ("value", function, code):
                value = columns[function, code][i]
            case ("indicator", literal):
                value = values[literal >> 1][i] != (literal & 1)
            case ("choice", literal, then, otherwise):
                chosen = then if values[literal >> 1][i] != (literal & 1) else otherwise
                value = number(chosen, values, columns, i)
            case ("product", a, b):
                value = number(a, values, columns, i) * number(b, values, columns, i)
            case ("quotient", a, b):
                divisor = number(b, values, columns, i)
                value = number(a, values, columns, i) / divisor if divisor else 0
        result += coefficient * value
    return result
