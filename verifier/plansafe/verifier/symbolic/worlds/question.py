"""The question: open facts and numbers whose values tell whether a plan is safe (docs/worlds.md).

A completion is *good* if the plan is SAFE or VALID in it for all outcomes; otherwise it is *bad*. The *near* variables
are the open facts and numbers that this depends on; the *far* variables are the others that are connected to them by
the constraints on completions (:class:`.completions.CompletionSearch`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import ceil
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
    evaluate_last_sum,
    find_dependencies,
    list_inner_sums,
)
from plansafe.verifier.symbolic.circuits.terms import Comparison
from plansafe.verifier.symbolic.worlds.completions import CompletionSearch, OpenValues, OpenVariable
from plansafe.verifier.symbolic.worlds.encoding import AuxiliaryInput

MAX_GATES = 10_000
"""Maximum size of a plan's circuit for a question with a maximum number of facts."""
MAX_FLIPS = 2_000
"""Maximum number of facts to flip before the search for a question."""
MAX_SUMS = 20_000
"""Maximum number of sums to compute for one call of :meth:`InputFlips.evaluate`."""
TOO_MANY_FACTS_NOTE = "it takes more than"
"""The start of the note that a question would have too many facts."""


class Question(NamedTuple):
    """Variables whose values decide whether a completion is good.

    ``variables`` is subset-minimal and not empty. It is ``None`` if the completions are all good or all bad, or if the
    search gave up; ``note`` says which.
    """

    variables: Sequence[OpenVariable] | None
    note: str = ""


def find_question(search: CompletionSearch, max_facts: int | None = None) -> Question:
    """Find a minimal set of variables such that any two completions that agree on it are both good or both bad.

    ``max_facts`` bounds the number of facts (``None``: no bound): the search ends when more facts are known to be in
    every question. With a bound, it does not start if there are more than :data:`MAX_GATES` gates. Its queries are
    in NP, like those of the search for a cause, but they are about two copies of the circuit.
    """
    try:
        good_model = search.find_some_good_model()
        if good_model is None:
            reason = "outcomes alone decide" if search.is_safe_in_some_bad_world() else "no world is safe"
            return Question(None, f"every completion is bad: {reason}")
        if max_facts is not None:
            if _has_more_necessary_facts(search, good_model, max_facts):
                return Question(None, f"{TOO_MANY_FACTS_NOTE} {max_facts} facts")
            if search.near_gate_count > MAX_GATES:
                return Question(None, "not found: the plan is too large")
        if search.find_bad_model() is None:
            return Question(None, "no completion is bad")
        pair = _CompletionPair(search)
        minimal_part = find_minimal_subset(search.near_variables, pair.check_agreement, max_necessary=max_facts)
        assert minimal_part is not None
        if minimal_part.reason == TOO_MANY_NECESSARY:
            return Question(None, f"{TOO_MANY_FACTS_NOTE} {max_facts} facts")
        if minimal_part.reason:
            return Question(None, f"not minimal: {minimal_part.reason}")
        return Question(minimal_part.elements)
    except GaveUp as reason:
        return Question(None, f"not found: {reason}")


def _has_more_necessary_facts(search: CompletionSearch, good_model: Model, max_facts: int) -> bool:
    """Whether more than ``max_facts`` facts are found that each make a good completion bad if only it is flipped.

    Every question contains each of these facts. Only :data:`MAX_FLIPS` facts are tested, evenly spread.
    """
    facts = [variable for variable in search.near_variables if isinstance(variable, int)]
    tested_facts = facts[:: ceil(len(facts) / MAX_FLIPS)] if facts else []
    flips = InputFlips(search.circuit, (search.allowed, search.good))
    bits = flips.evaluate(good_model.inputs, good_model.values, tested_facts)
    if bits is None:
        return False
    allowed_bits, good_bits = bits
    return (allowed_bits & ~good_bits).bit_count() > max_facts


class _CompletionPair:
    """A good completion, and a bad completion in a copy of the open facts and numbers. The outcomes are not copied.

    The outcomes make the bad completion bad, and the good completion must be good for the same outcomes. So the
    first query already finds variables that differ. Further queries are needed only if other outcomes make the first
    completion bad.
    """

    def __init__(self, search: CompletionSearch) -> None:
        self._search = search
        self._variables = search.near_variables
        circuit = search.circuit
        function_offset = 1 + max(
            [v[0] for v in (*search.near_variables, *search.far_variables) if isinstance(v, tuple)], default=0
        )
        self._input_copies: dict[int, Literal] = {}
        self._number_copies: dict[OpenNumber, OpenNumber] = {}
        for variable in [*search.near_variables, *search.far_variables]:
            if isinstance(variable, int):
                self._input_copies[variable] = circuit.input(AuxiliaryInput("other completion", variable))
            else:
                self._number_copies[variable] = variable[0] + function_offset, variable[1]
        roots = (search.allowed, search.good)
        template = CircuitTemplate(circuit, [*roots], self._input_copies, self._number_copies)
        number_terms = {number: terms.variable(*copy) for number, copy in self._number_copies.items()}
        nodes = template.instantiate_nodes(self._input_copies, number_terms)
        allowed, good = [nodes.get(root >> 1, root & ~1) ^ (root & 1) for root in roots]
        self._difference_assumptions = [allowed, search.good, good ^ 1]
        self._equality_literals = self._encode_equality(template, nodes)
        self._flips = InputFlips(circuit, roots)
        self._facts_to_test = [variable for variable in self._variables if isinstance(variable, int)]
        """The facts that are not known to be necessary (in every question)."""
        self._queries_to_skip = self._skip_length = 0
        """The number of queries without a test for necessary facts, and its value after the last test."""

    def _encode_equality(self, template: CircuitTemplate, nodes: Mapping[int, Literal]) -> dict[OpenVariable, Literal]:
        """Return for each variable a literal that makes it equal in both completions.

        If all children of a gate are equal, the gate is. These clauses are redundant, but solvers need them to be fast.
        """
        circuit = self._search.circuit
        clauses: list[Literal] = []
        equal: dict[OpenVariable, Literal] = {}
        for number, number_copy in self._number_copies.items():
            equal[number] = terms.compare(circuit, "=", terms.variable(*number), terms.variable(*number_copy))
        inputs: list[tuple[int, tuple[Literal, ...] | Comparison]] = [(node, ()) for node in self._input_copies]
        for node, definition in [*inputs, *template.changing_nodes]:
            copy = nodes[node]
            if copy == 2 * node:
                continue
            has_equal_values = equal[node] = circuit.input(AuxiliaryInput("same", node))
            numbers: set[OpenNumber] = set()
            if isinstance(definition, Comparison):
                definition, numbers = collect_references(definition.sum)
            clauses.append(circuit.disjunction([has_equal_values ^ 1, 2 * node, copy ^ 1]))
            clauses.append(circuit.disjunction([has_equal_values ^ 1, 2 * node + 1, copy]))
            if node not in self._input_copies:
                children = [*[child >> 1 for child in definition], *numbers]
                clauses.append(
                    circuit.disjunction([has_equal_values, *[equal[child] ^ 1 for child in children if child in equal]])
                )
        self._search.finder.require(circuit.conjunction(clauses))
        return {variable: equal[variable] for variable in self._variables}

    def check_agreement(
        self, variables: Sequence[OpenVariable]
    ) -> PropertyHolds[OpenVariable] | PropertyFails[OpenVariable]:
        """Check whether any two completions that agree on these variables are both good or both bad."""
        equal = self._equality_literals
        model = self._search.find_good_model(
            [*self._difference_assumptions, *[equal[variable] for variable in variables]]
        )
        if not isinstance(model, Model):
            return PropertyHolds([variable for variable in variables if equal[variable] in model])
        good = self._search.read_model_values(model, self._variables)
        bad = self._read_bad_values(model, self._variables)
        different_variables = [variable for variable in self._variables if good[variable] != bad[variable]]
        return PropertyFails(different_variables, self._find_necessary_facts(model))

    def _find_necessary_facts(self, model: Model) -> list[int]:
        """Facts whose flip alone makes the good completion bad, or the bad completion good.

        The outcomes stay those of the model. A flip that makes the plan unsafe for one outcome makes the completion
        bad. A flip that makes the plan safe for one outcome does not make the completion good if others exist: the bad
        completion is examined only if nothing depends on outcomes.
        """
        if self._queries_to_skip:  # the last tests found no fact
            self._queries_to_skip -= 1
            return []
        necessary_bits = 0
        bits_of_good = self._flips.evaluate(model.inputs, model.values, self._facts_to_test)
        if bits_of_good is not None:
            allowed_bits, good_bits = bits_of_good
            necessary_bits |= allowed_bits & ~good_bits
        if not self._search.depends_on_outcomes:
            bad = self._read_bad_values(model, self._input_copies.keys() | self._number_copies.keys())
            inputs = {variable: bool(value) for variable, value in bad.items() if isinstance(variable, int)}
            numbers = {number: value for number, value in bad.items() if isinstance(number, tuple)}
            bad_completion_bits = self._flips.evaluate(inputs, numbers, self._facts_to_test)
            if bad_completion_bits is not None:
                allowed_bits, good_bits = bad_completion_bits
                necessary_bits |= allowed_bits & good_bits
        facts_by_bit = list(enumerate(self._facts_to_test))
        necessary_facts = [fact for bit, fact in facts_by_bit if (necessary_bits >> bit) & 1]
        self._facts_to_test = [fact for bit, fact in facts_by_bit if not (necessary_bits >> bit) & 1]
        self._skip_length = 0 if necessary_facts else 2 * self._skip_length + 1
        self._queries_to_skip = self._skip_length
        return necessary_facts

    def _read_bad_values(self, model: Model, variables: Iterable[OpenVariable]) -> OpenValues:
        """The values of variables in the bad completion of a model; false or 0 for a variable that it lacks."""
        return {
            variable: model.inputs.get(self._input_copies[variable] >> 1, False)
            if isinstance(variable, int)
            else model.values.get(self._number_copies[variable], 0)
            for variable in variables
        }


class InputFlips:
    """Evaluates literals of one circuit for all flips of a single input at once, in the bits of integers."""

    def __init__(self, circuit: Circuit, roots: Sequence[Literal]) -> None:
        self._circuit = circuit
        self._roots = tuple(roots)
        self.nodes = find_dependencies(circuit, roots).nodes

    def evaluate(
        self, inputs: Mapping[int, bool], numbers: Mapping[OpenNumber, Number], flipped: Sequence[int]
    ) -> list[int] | None:
        """Return for each root an integer whose bit ``i`` is its value if only the input ``flipped[i]`` is flipped.

        Missing inputs are false, missing numbers 0. ``None`` if that takes more than :data:`MAX_SUMS` sums. The cost is
        linear in gates, times one machine word for 64 flips.
        """
        circuit, count = self._circuit, len(flipped)
        all_bits = (1 << count) - 1
        flip_bit_by_node = {node: 1 << position for position, node in enumerate(flipped)}
        bits_by_node: dict[int, int] = {0: 0}
        budget = MAX_SUMS
        for node in self.nodes:
            children = circuit.gates[node]
            if children is not None:
                bits = all_bits
                for child in children:
                    child_bits = bits_by_node[child >> 1]
                    bits &= all_bits ^ child_bits if child & 1 else child_bits
                bits_by_node[node] = bits
            elif isinstance(key := circuit.keys[node], Comparison):
                sums = list_inner_sums(key.sum)
                referenced_bits = {
                    literal >> 1: bits_by_node[literal >> 1] for literal in collect_references(key.sum)[0]
                }
                varies = any([bits not in (0, all_bits) for bits in referenced_bits.values()])
                evaluation_count = count if varies else 1
                budget -= len(sums) * evaluation_count
                if budget < 0:
                    return None
                truths = []
                for i in range(evaluation_count):
                    referenced_inputs = {child: bool((bits >> i) & 1) for child, bits in referenced_bits.items()}
                    truths.append(
                        terms.is_satisfied(evaluate_last_sum(sums, referenced_inputs, numbers, {}), key.operator)
                    )
                if varies:
                    bits_by_node[node] = sum([1 << i for i, is_true in enumerate(truths) if is_true])
                else:
                    bits_by_node[node] = all_bits if truths[0] else 0
            else:
                bits_by_node[node] = (all_bits if inputs.get(node, False) else 0) ^ flip_bit_by_node.get(node, 0)
        return [bits_by_node[root >> 1] ^ (all_bits if root & 1 else 0) for root in self._roots]
