"""What to find out: open facts and numbers whose values tell whether a plan is safe (docs/worlds.md)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from plansafe.verifier.model.nodes import Number
from plansafe.verifier.symbolic.circuits import terms
from plansafe.verifier.symbolic.circuits.circuit import Circuit, Literal
from plansafe.verifier.symbolic.circuits.minimal_subset import (
    TOO_MANY_NECESSARY,
    GaveUp,
    PropertyFails,
    PropertyHolds,
    find_minimal_subset,
)
from plansafe.verifier.symbolic.circuits.solvers import Model
from plansafe.verifier.symbolic.circuits.substitution import (
    CircuitTemplate,
    OpenNumber,
    collect_references,
    find_dependencies,
    list_inner_sums,
)
from plansafe.verifier.symbolic.circuits.terms import Comparison, Sum
from plansafe.verifier.symbolic.worlds.completions import (
    CompletionSearch,
    DecisionProblem,
    OpenValues,
    OpenVariable,
    OpenVariables,
)
from plansafe.verifier.symbolic.worlds.encoding import AuxiliaryInput, FactInput

MAX_GATES = 10_000
TOO_MANY_FACTS_NOTE = "it takes more than"
"""How the note begins where a question would be longer than was asked for."""


class Question(NamedTuple):
    """``asked`` is subset-minimal, and not empty.

    ``None`` if the completions are all good or all bad, or if time ran out; ``note`` says which. ``sufficient`` is then
    what was known to suffice, perhaps not minimal. ``safe_in_bad``: some world of some bad completion is SAFE, so
    that outcomes, durations and order decide there; ``None`` if no completion is bad or time ran out.
    """

    asked: OpenVariables | None
    note: str = ""
    sufficient: OpenVariables | None = None
    safe_in_bad: bool | None = None


def find_question(
    decision: DecisionProblem,
    engine: str = "auto",
    deadline: float | None = None,
    prefer: Sequence[OpenVariable] = (),
    completions: CompletionSearch | None = None,
    most: int | None = None,
) -> Question:
    """A question: any two completions that agree on it are both good or both bad, and no proper subset is such.

    ``prefer`` names what people can answer: nothing else is asked if that suffices. ``completions`` shares the solvers
    with a cause. ``most``: the search ends when more facts than so many are seen to be in every question, and does not
    begin over more than :data:`MAX_GATES` gates. NP checks as for a cause, of twice the size.

    :raises Unsupported: from the solver, where ``engine`` cannot take the comparisons
    """
    search = completions or CompletionSearch(decision, engine, deadline)
    try:
        if search.bad() is None:
            return Question(None, "no completion is bad")
        if not search.some_good():
            by_outcomes = search.safe_in_bad()
            decides = "outcomes alone decide" if by_outcomes else "no world is safe"
            return Question(None, f"every completion is bad: {decides}", safe_in_bad=by_outcomes)
        items, preferred = search.candidates(prefer)
        if most is not None and len(find_dependencies(search.circuit, [search.good]).nodes) > MAX_GATES:
            return Question(None, "not found: the plan is too large")
        pair = _Pair(search, items)
        found = find_minimal_subset(items, pair.both_alike, preferred, most)
        assert found is not None
        if found.reason == TOO_MANY_NECESSARY:
            return Question(None, f"{TOO_MANY_FACTS_NOTE} {most} facts")
        asked = _opens(search, found.elements)
        if found.reason:
            return Question(None, f"not minimal: {found.reason}", asked)
        try:
            return Question(asked, safe_in_bad=search.safe_in_bad())
        except GaveUp:
            return Question(asked)
    except GaveUp as why:
        return Question(None, f"not found: {why}")
    finally:
        if completions is None:
            search.close()


class _Pair:
    """Two completions: the first good, the second, in a copy of the inputs, bad; the outcomes are those of the second.

    The outcome that makes the second bad is one for which the first must be good. So the first check already tells
    apart what differs, and only outcomes that need different completions have to be met one by one.
    """

    def __init__(self, search: CompletionSearch, items: Sequence[OpenVariable]) -> None:
        self._search = search
        self._items = items
        circuit = search.circuit
        beyond = 1 + max([function for function, _ in search.all_numbers], default=0)
        inputs: dict[int, Literal] = {}
        others: dict[OpenNumber, OpenNumber] = {}
        for item in [*search.near, *search.far]:
            if isinstance(item, int):
                inputs[item] = circuit.input(AuxiliaryInput("other completion", item))
            else:
                others[item] = item[0] + beyond, item[1]
        self._inputs, self._numbers = inputs, others
        template = CircuitTemplate(circuit, [search.allowed, search.good], inputs, others)
        nodes = template.instantiate_nodes(inputs, {item: terms.variable(*other) for item, other in others.items()})
        allowed, good = [nodes.get(root >> 1, root & ~1) ^ (root & 1) for root in (search.allowed, search.good)]
        self._differ = [allowed, search.good, good ^ 1]
        self._same = self._congruence(template, nodes)
        self._flips = InputFlips(circuit, [search.allowed, search.good])
        self._unsure = [item for item in items if isinstance(item, int)]
        self._pause = self._pauses = 0

    def _congruence(self, template: CircuitTemplate, nodes: Mapping[int, Literal]) -> dict[OpenVariable, Literal]:
        """For each item a literal that makes it equal in both completions.

        Where all children of a gate are equal, the gate is. This says nothing new, but no solver finds it quickly.
        """
        circuit = self._search.circuit
        rules: list[Literal] = []
        equal: dict[OpenVariable, Literal] = {}
        for item, other in self._numbers.items():
            equal[item] = terms.compare(circuit, "=", terms.variable(*item), terms.variable(*other))
        steps: list[tuple[int, tuple[Literal, ...] | Comparison]] = [(node, ()) for node in self._inputs]
        for node, old in [*steps, *template.changing_nodes]:
            if nodes[node] == 2 * node:
                continue
            same = equal[node] = circuit.input(AuxiliaryInput("same", node))
            numbers: set[OpenNumber] = set()
            if isinstance(old, Comparison):
                old, numbers = collect_references(old.sum)
            rules.append(circuit.disjunction([same ^ 1, 2 * node, nodes[node] ^ 1]))
            rules.append(circuit.disjunction([same ^ 1, 2 * node + 1, nodes[node]]))
            if node not in self._inputs:
                parts = [*[child >> 1 for child in old], *numbers]
                rules.append(circuit.disjunction([same, *[equal[part] ^ 1 for part in parts if part in equal]]))
        self._search.finder.require(circuit.conjunction(rules))
        return {item: equal[item] for item in self._items}

    def both_alike(self, items: Sequence[OpenVariable]) -> PropertyHolds[OpenVariable] | PropertyFails[OpenVariable]:
        """Whether completions that agree on the items are both good or both bad."""
        same = self._same
        found = self._search.good_model([*self._differ, *[same[item] for item in items]])
        if not isinstance(found, Model):
            return PropertyHolds([item for item in items if same[item] in found])
        first, second = self._search.completion(found, self._items), self._other(found, self._items)
        return PropertyFails([item for item in self._items if first[item] != second[item]], self._necessary(found))

    def _necessary(self, model: Model) -> list[int]:
        """Facts that by themselves make the good completion bad, or the bad one good.

        Outcomes stay as they are: so what becomes bad is bad, and what becomes good only if there are none.
        """
        if self._pause:  # after vain attempts
            self._pause -= 1
            return []
        worlds = [(model.inputs, model.values, 1)]
        if not self._search.decided_by_outcomes:
            second = self._other(model, self._inputs.keys() | self._numbers.keys())
            inputs = {item: bool(value) for item, value in second.items() if isinstance(item, int)}
            worlds.append((inputs, {item: value for item, value in second.items() if isinstance(item, tuple)}, 0))
        found = 0
        for inputs, values, sign in worlds:
            bits = self._flips.around(inputs, values, self._unsure)
            if bits is not None:
                found |= bits[0] & (~bits[1] if sign else bits[1])
        necessary = [item for i, item in enumerate(self._unsure) if found >> i & 1]
        self._unsure = [item for i, item in enumerate(self._unsure) if not found >> i & 1]
        self._pauses = 0 if necessary else 2 * self._pauses + 1
        self._pause = self._pauses
        return necessary

    def _other(self, model: Model, items: Iterable[OpenVariable]) -> OpenValues:
        return {
            item: model.inputs.get(self._inputs[item] >> 1, False)
            if isinstance(item, int)
            else model.values.get(self._numbers[item], 0)
            for item in items
        }


def _opens(search: CompletionSearch, items: Sequence[OpenVariable]) -> OpenVariables:
    facts, numbers = [], []
    for item in items:
        if isinstance(item, int):
            key = search.circuit.keys[item]
            assert isinstance(key, FactInput)
            facts.append(key)
        else:
            numbers.append(item)
    return OpenVariables(tuple(facts), tuple(numbers))


MAX_SUMS = 20_000
"""Sums of comparisons that are computed for one call."""


class InputFlips:
    """Evaluates literals of one circuit around given worlds."""

    def __init__(self, circuit: Circuit, roots: Sequence[Literal]) -> None:
        self._circuit = circuit
        self._roots = tuple(roots)
        self.nodes = find_dependencies(circuit, roots).nodes

    def around(
        self, inputs: Mapping[int, bool], values: Mapping[OpenNumber, Number], flipped: Sequence[int]
    ) -> list[int] | None:
        """For each root a number whose bit ``i`` is its value if input ``flipped[i]`` is flipped and nothing else.

        Missing inputs are false, missing numbers 0. ``None`` where too many sums would have to be computed. Linear in
        gates, times one machine word for 64 flips.
        """
        circuit, count = self._circuit, len(flipped)
        everywhere = (1 << count) - 1
        place = {node: 1 << i for i, node in enumerate(flipped)}
        found: dict[int, int] = {0: 0}
        budget = MAX_SUMS
        for node in self.nodes:
            children = circuit.gates[node]
            if children is not None:
                value = everywhere
                for child in children:
                    below = found[child >> 1]
                    value &= everywhere ^ below if child & 1 else below
                found[node] = value
            elif isinstance(key := circuit.keys[node], Comparison):
                parts = list_inner_sums(key.sum)
                bits = {literal >> 1: found[literal >> 1] for literal in collect_references(key.sum)[0]}
                varies = any([value not in (0, everywhere) for value in bits.values()])
                budget -= len(parts) * (count if varies else 1)
                if budget < 0:
                    return None
                worlds = [
                    {below: bool(value >> i & 1) for below, value in bits.items()}
                    for i in range(count if varies else 1)
                ]
                truths = [_holds(key.operator, _value(parts, world, values)) for world in worlds]
                found[node] = sum([1 << i for i, t in enumerate(truths) if t]) if varies else everywhere * truths[0]
            else:
                found[node] = (everywhere if inputs.get(node, False) else 0) ^ place.get(node, 0)
        return [found[root >> 1] ^ (everywhere if root & 1 else 0) for root in self._roots]


def _holds(operator: str, value: Number) -> bool:
    return value == 0 if operator == "=" else value < 0 if operator == "<" else value <= 0


def _value(parts: Sequence[Sum], inputs: Mapping[int, bool], values: Mapping[OpenNumber, Number]) -> Number:
    """The value of the last of the sums, each of which is given after those inside it."""
    known: dict[int, Number] = {}
    for part in parts:
        total: Number = part.constant
        for atom, coefficient in part.weighted_atoms:
            value: Number
            match atom:
                case ("value", int(function), int(code)):
                    value = values.get((function, code), 0)
                case ("indicator", int(literal)):
                    value = inputs[literal >> 1] != literal & 1
                case ("choice", int(literal), Sum() as then, Sum() as otherwise):
                    value = known[id(then if inputs[literal >> 1] != literal & 1 else otherwise)]
                case ("product", Sum() as a, Sum() as b):
                    value = known[id(a)] * known[id(b)]
                case ("quotient", Sum() as a, Sum() as b):
                    value = Fraction(known[id(a)]) / known[id(b)] if known[id(b)] else 0
                case _:
                    raise AssertionError(f"not an atom: {atom[0]}")
            total += coefficient * value
        known[id(part)] = total
    return total
