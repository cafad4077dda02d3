"""Random circuits with and without numbers, and their satisfiability by enumeration."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import product

from plansafe.verifier.model.nodes import Number
from plansafe.verifier.symbolic.circuits import terms
from plansafe.verifier.symbolic.circuits.circuit import FALSE, TRUE, Circuit, Literal
from plansafe.verifier.symbolic.circuits.solvers import Model
from plansafe.verifier.symbolic.circuits.terms import Comparison, Sum

Row = tuple[tuple[Fraction, ...], Fraction, str]
"""Coefficients, constant, operator: ``coefficients * values + constant operator 0``."""


def random_boolean_circuit(seed: int, inputs: int = 6, gates: int = 25) -> tuple[Circuit, list[Literal]]:
    """A circuit over a few inputs, and its literals including the constants."""
    generator = random.Random(seed)
    circuit = Circuit()
    literals = [FALSE, TRUE, *[circuit.input(k) for k in range(inputs)]]
    for _ in range(gates):
        operands = [
            generator.choice(literals[-12:]) ^ generator.getrandbits(1) for _ in range(generator.choice((2, 2, 3, 4)))
        ]
        operation = generator.randrange(4)
        if operation == 0:
            literals.append(circuit.choose(*(operands + operands)[:3]))
        elif operation == 1:
            literals.append(circuit.disjunction(operands))
        elif operation == 2:
            literals.append(circuit.equal(*operands[:2]))
        else:
            literals.append(circuit.conjunction(operands))
    return circuit, literals


def random_numeric_circuit(seed: int, values: int = 2) -> tuple[Circuit, list[Literal]]:
    """A circuit over four Boolean inputs and comparisons of linear sums of two numbers, indicators and choices."""
    generator = random.Random(seed)
    circuit = Circuit()
    literals = [circuit.input(k) for k in range(4)]
    small_fractions = [Fraction(n, d) for n in range(-4, 5) for d in (1, 1, 2, 3)]
    sums = [terms.variable(0, k) for k in range(values)] + [
        terms.constant(terms.normal_number(generator.choice(small_fractions)))
    ]
    for _ in range(generator.randrange(3, 8)):
        condition = generator.choice(literals) ^ generator.getrandbits(1)
        a, b = generator.choice(sums), generator.choice(sums)
        number = terms.constant(terms.normal_number(generator.choice(small_fractions)))
        operation = generator.randrange(5)
        if operation == 0:
            sums.append(terms.choose(condition, a, b))
        elif operation == 1:
            sums.append(terms.choose(condition, terms.constant(generator.randrange(-2, 3)), number))
        elif operation == 2:
            sums.append(terms.add(a, b, terms.normal_number(generator.choice(small_fractions))))
        elif operation == 3:
            sums.append(terms.multiply(a, number))
        else:
            literals.append(terms.compare(circuit, generator.choice(("<", "<=", "=", ">", ">=")), a, b))
    for _ in range(8):
        parts = [generator.choice(literals) ^ generator.getrandbits(1) for _ in range(generator.choice((2, 3)))]
        literals.append(circuit.conjunction(parts) if generator.getrandbits(1) else circuit.equal(*parts[:2]))
    return circuit, literals


def enumerate_assignments(circuit: Circuit) -> Iterator[dict[int, bool]]:
    """All assignments to the inputs; a comparison without open numbers has its computed value."""
    nodes = [node for node, key in circuit.keys.items() if not isinstance(key, Comparison)]
    comparisons = {node: key for node, key in circuit.keys.items() if isinstance(key, Comparison)}
    for values in product((False, True), repeat=len(nodes)):
        partial_assignments = [dict(zip(nodes, values, strict=True))]
        for node, key in comparisons.items():
            extended = [
                extension
                for inputs in partial_assignments
                for extension in extend_assignment(circuit, key, inputs, node)
            ]
            partial_assignments = extended
        yield from partial_assignments


def extend_assignment(circuit: Circuit, key: Comparison, inputs: dict[int, bool], node: int) -> list[dict[int, bool]]:
    coefficients, constant = resolve_sum(circuit, key.sum, inputs)
    if any(coefficients):
        return [{**inputs, node: value} for value in (False, True)]
    return [{**inputs, node: {"<": constant < 0, "<=": constant <= 0, "=": constant == 0}[key.operator]}]


def is_satisfiable(circuit: Circuit, literals: list[Literal]) -> bool:
    """Whether some values of inputs and numbers make all literals true, by enumeration."""
    for inputs in enumerate_assignments(circuit):
        if all(evaluate_literals(circuit, literals, inputs)):
            rows = [to_row(circuit, key, inputs) for node, key in circuit.keys.items() if isinstance(key, Comparison)]
            truth_values = [inputs[node] for node, key in circuit.keys.items() if isinstance(key, Comparison)]
            if any(is_feasible(list(system)) for system in enumerate_systems(rows, truth_values)):
                return True
    return False


def to_row(circuit: Circuit, comparison: Comparison, inputs: Mapping[int, bool]) -> Row:
    coefficients, constant = resolve_sum(circuit, comparison.sum, inputs)
    return coefficients, constant, comparison.operator


def resolve_sum(circuit: Circuit, total: Sum, inputs: Mapping[int, bool]) -> tuple[tuple[Fraction, ...], Fraction]:
    """The coefficients of the numbers (0, 0) and (0, 1) and the constant of a sum, given the inputs."""
    coefficients, constant = [Fraction(0), Fraction(0)], Fraction(total.constant)
    for atom, factor in total.weighted_atoms:
        match atom:
            case ("value", _, int(code)):
                coefficients[code] += factor
            case ("indicator", int(literal)):
                constant += factor * evaluate_literals(circuit, [literal], inputs)[0]
            case ("choice", int(literal), then, otherwise):
                branch = then if evaluate_literals(circuit, [literal], inputs)[0] else otherwise
                branch_coefficients, branch_constant = resolve_sum(circuit, branch, inputs)
                constant += factor * branch_constant
                coefficients = [a + factor * b for a, b in zip(coefficients, branch_coefficients, strict=True)]
    return tuple(coefficients), constant


def enumerate_systems(rows: list[Row], truth_values: list[bool]) -> Iterator[tuple[Row, ...]]:
    """The conjunctions of rows under which each row has its truth value."""
    alternatives = []
    for (coefficients, constant, operator), value in zip(rows, truth_values, strict=True):
        row = (coefficients, constant)
        negated_row = (tuple(-c for c in coefficients), -constant)
        if value:
            alternatives.append([(*row, operator)])
        elif operator == "=":
            alternatives.append([(*row, "<"), (*negated_row, "<")])
        else:
            alternatives.append([(*negated_row, "<" if operator == "<=" else "<=")])
    yield from product(*alternatives)


def is_feasible(rows: list[Row]) -> bool:
    """Whether the rows have a solution, by Fourier-Motzkin elimination."""
    rows = [
        r for c, k, o in rows for r in ([(c, k, "<="), (tuple(-x for x in c), -k, "<=")] if o == "=" else [(c, k, o)])
    ]
    for column in range(2):
        positive_rows = [r for r in rows if r[0][column] > 0]
        negative_rows = [r for r in rows if r[0][column] < 0]
        rows = [r for r in rows if r[0][column] == 0]
        for (ac, ak, ao), (bc, bk, bo) in product(positive_rows, negative_rows):
            factor_a, factor_b = -bc[column], ac[column]
            combined = tuple(factor_a * x + factor_b * y for x, y in zip(ac, bc, strict=True))
            rows.append((combined, factor_a * ak + factor_b * bk, "<" if "<" in (ao, bo) else "<="))
    return all(k < 0 or (k == 0 and o == "<=") for _, k, o in rows)


def model_is_exact(circuit: Circuit, model: Model) -> bool:
    """Whether the comparisons of a model have the values that its numbers give them, exactly."""
    return all(
        comparison_holds(circuit, key, model) == model.inputs[node]
        for node, key in circuit.keys.items()
        if isinstance(key, Comparison) and node in model.inputs
    )


def comparison_holds(circuit: Circuit, comparison: Comparison, model: Model) -> bool:
    value = evaluate_sum(circuit, comparison.sum, model)
    return {"<": value < 0, "<=": value <= 0, "=": value == 0}[comparison.operator]


def evaluate_sum(circuit: Circuit, total: Sum, model: Model) -> Number:
    """The value of a sum in a model."""
    value = Fraction(total.constant)
    for atom, factor in total.weighted_atoms:
        match atom:
            case ("value", int(function), int(code)):
                value += factor * model.values[function, code]
            case ("indicator", int(literal)):
                value += factor * evaluate_literals(circuit, [literal], model.inputs)[0]
            case ("choice", int(literal), then, otherwise):
                chosen = then if evaluate_literals(circuit, [literal], model.inputs)[0] else otherwise
                value += factor * evaluate_sum(circuit, chosen, model)
            case ("product", a, b):
                value += factor * evaluate_sum(circuit, a, model) * evaluate_sum(circuit, b, model)
            case ("quotient", a, b):
                value += factor * Fraction(evaluate_sum(circuit, a, model)) / evaluate_sum(circuit, b, model)
    return value


def evaluate_literals(circuit: Circuit, roots: list[Literal], inputs: Mapping[int, bool]) -> list[bool]:
    """The values of literals, given the value of each input node (missing ones are false)."""
    values: dict[int, bool] = {0: False}
    for node in circuit.find_cone(roots):
        children = circuit.gates[node]
        if children is None:
            values[node] = inputs.get(node, False)
        else:
            values[node] = all([values[child >> 1] != (child & 1) for child in children])
    return [values[root >> 1] != (root & 1) for root in roots]
