"""Values of literals in one world, and which inputs they depend on there.

A literal is false where the value of its node equals its sign.
"""

from __future__ import annotations

from collections.abc import Sequence

from plansafe.verifier.model.nodes import Number
from plansafe.verifier.reporting.worlds import Completion
from plansafe.verifier.symbolic.circuits.circuit import Circuit, Literal
from plansafe.verifier.symbolic.circuits.substitution import (
    OpenNumber,
    collect_references,
    evaluate_last_sum,
    find_dependencies,
    list_inner_sums,
)
from plansafe.verifier.symbolic.circuits.terms import Comparison, is_satisfied
from plansafe.verifier.symbolic.worlds.encoding import FactInput, OutcomeInput


def evaluate_in_world(circuit: Circuit, roots: Sequence[Literal], world: Completion) -> list[bool]:
    """Return the values of literals in a world. Linear in the nodes that they depend on.

    Inputs that no part of the world corresponds to are false.
    """
    values = _evaluate_nodes(circuit, find_dependencies(circuit, roots).nodes, world)
    return [values[root >> 1] != bool(root & 1) for root in roots]


def _evaluate_nodes(circuit: Circuit, nodes: Sequence[int], world: Completion) -> dict[int, bool]:
    """Return the values of nodes in a world; ``nodes`` has every node after the nodes that it depends on."""
    values: dict[int, bool] = {0: False}
    sums: dict[int, Number] = {}  # the circuit's keys keep the sums alive
    for node in nodes:  # a comparison comes after the literals in it
        children = circuit.gates[node]
        if children is not None:
            for child in children:
                if values[child >> 1] == (child & 1):
                    values[node] = False
                    break
            else:
                values[node] = True
            continue
        match circuit.keys[node]:
            case FactInput(predicate, code):
                values[node] = (predicate, code) in world.facts
            case OutcomeInput(step, number, objects, alternative):
                values[node] = world.get_alternative(step, number, objects) == alternative
            case Comparison(operator, total):
                value = evaluate_last_sum(list_inner_sums(total, sums), values, world.values, sums)
                values[node] = is_satisfied(value, operator)
            case _:
                values[node] = False
    return values


def find_implying_literal(circuit: Circuit, literal: Literal, world: Completion) -> Literal:
    """Return a literal that is true in the world and implies ``literal``, which must be true there.

    It has only one true part of each outer disjunction, so that it depends only on inputs that matter in this world.
    """
    values = _evaluate_nodes(circuit, find_dependencies(circuit, [literal]).nodes, world)
    while literal & 1 and (children := circuit.gates[literal >> 1]) is not None:
        literal = next(child ^ 1 for child in children if values[child >> 1] == (child & 1))
    return literal


def find_sufficient_inputs(circuit: Circuit, literal: Literal, world: Completion) -> set[int | OpenNumber] | None:
    """Return inputs and numbers whose values in a world make a literal true, whatever all other values are.

    ``None`` if the literal is false there. A false conjunction needs one false child, with few such inputs; a true
    conjunction needs all its children.
    """
    nodes = find_dependencies(circuit, [literal]).nodes
    values = _evaluate_nodes(circuit, nodes, world)
    if values[literal >> 1] == (literal & 1):
        return None
    costs = {0: 0}
    for node in nodes:
        children = circuit.gates[node]
        if children is None:
            costs[node] = 1
        elif values[node]:
            costs[node] = sum([costs[child >> 1] for child in children])
        else:
            costs[node] = min([costs[child >> 1] for child in children if values[child >> 1] == (child & 1)])
    sufficient, visited, stack = set[int | OpenNumber](), set[int](), [literal >> 1]
    while stack:
        node = stack.pop()
        if node in visited:
            continue
        visited.add(node)
        children = circuit.gates[node]
        if children is not None and not values[node]:
            false_children = [child for child in children if values[child >> 1] == (child & 1)]
            children = (min(false_children, key=lambda child: costs[child >> 1]),)
        elif children is None:
            sufficient.add(node)
            if isinstance(key := circuit.keys.get(node), Comparison):
                children, numbers = collect_references(key.sum)
                sufficient |= numbers
        stack += [child >> 1 for child in children or ()]
    return sufficient
