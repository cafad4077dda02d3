"""The facts and formulas at the time points of an order, as circuits over the order.

At a time point, a fact has the value that its last writer before the time point gave it. So it is true if and only if
some step (or S0) makes it true and no step between that step and the time point makes it false.

For each pair of steps that the plan does not order and that some value depends on, an input says which step comes
first. Whether a conditional effect happens depends on values before its step. These may depend on other effects, which
differ between orders. So such a condition is an input with a definition, and the caller requires the definition of the
solver. In a linear order, the definitions have exactly one solution.

All values are about the trace in which every step is taken. Up to the first step that cannot be taken, this is the
plan's trace. Values after that step are never used.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from plansafe.verifier.model.memoized import memoized
from plansafe.verifier.symbolic.circuits import terms
from plansafe.verifier.symbolic.circuits.circuit import FALSE, TRUE, Literal
from plansafe.verifier.symbolic.orders.numbers import NumberEncoding, find_current_fluents, iterate_literals
from plansafe.verifier.symbolic.orders.partial_order import (
    PartialOrder,
    Writers,
    holds_in_every_order,
    iterate_bits,
    make_step_mask,
)
from plansafe.verifier.symbolic.orders.template import CurrentFactInput, Fact, PlanTemplate, Timeline, TimePoint
from plansafe.verifier.symbolic.worlds.encoding import AuxiliaryInput


class Write(NamedTuple):
    """The worlds in which a step makes a fact true (``makes``), and those in which it makes it false (``breaks``)."""

    makes: Literal
    breaks: Literal


class FactTimeline(Timeline):
    """Literals of facts and formulas at time points. ``are_all_taken``: all orders are known to take every step."""

    def __init__(self, template: PlanTemplate, order: PartialOrder, deadline: float | None = None) -> None:
        super().__init__(template, order, deadline)
        self.are_all_taken = False
        self._firing_conditions: dict[int, tuple[Literal, TimePoint]] = {}
        """Node of an auxiliary input -> the template literal that defines it, and the time point."""
        self._definitions: dict[int, Literal] = {}
        self._literals_at: dict[TimePoint, dict[int, Literal]] = {}
        self._firing_inputs: dict[tuple[Literal, int], Literal] = {}
        self._reached_literals: dict[int, Literal] = {}
        self._facts_by_input = {input_literal >> 1: fact for fact, input_literal in template.current_inputs.items()}
        self._steps_of_action: dict[Fact, list[int]] = {}
        for step, fact in template.action_facts.items():
            self._steps_of_action.setdefault(fact, []).append(step)
        self._numbers = NumberEncoding(self)
        self._values_after: dict[Fact, dict[int, Literal]] = {}
        for step, step_template in enumerate(template.steps):
            for fact, after in step_template.facts.items():
                self._values_after.setdefault(fact, {})[step] = after

    # -- facts --------------------------------------------------------------------------------------------------------

    @memoized
    def find_writes(self, fact: Fact) -> dict[int, Write]:
        """The steps that may write a fact, and when they do."""
        before = self.template.current_inputs[fact]
        all_writes = {step: self._make_write(before, after) for step, after in self._values_after.get(fact, {}).items()}
        return {step: write for step, write in all_writes.items() if write != (FALSE, FALSE)}

    def _make_write(self, before: Literal, after: Literal) -> Write:
        """The write of a step that changes the value of a fact from ``before``, an input, to ``after``."""
        circuit = self.circuit
        if after <= TRUE:
            return Write(after, after ^ 1)
        after_if_true = circuit.substitute(after, {before >> 1: TRUE})
        after_if_false = circuit.substitute(after, {before >> 1: FALSE})
        # The fact is added on condition ``after_if_false``, and not deleted on condition ``after_if_true``. Where
        # conditions read the fact itself, a write of its value may be left out, and a write of the opposite value
        # depends on it.
        conjuncts = circuit.gates[after_if_true >> 1] if after_if_true & 1 else None
        are_exclusive = conjuncts is not None and (after_if_false ^ 1) in conjuncts  # never added and deleted
        if after_if_false == FALSE or after_if_true == TRUE or are_exclusive:
            return Write(after_if_false, after_if_true ^ 1)
        return Write(
            circuit.both(after_if_false, circuit.either(after_if_true, before ^ 1)),
            circuit.both(after_if_true ^ 1, circuit.either(after_if_false ^ 1, before)),
        )

    @memoized
    def find_writers(self, fact: Fact) -> Writers:
        """The steps that write a fact, as masks for the truth criterion."""
        writes = self.find_writes(fact).items()
        initial = self.template.initial_facts[fact]
        return Writers(
            initial=initial == TRUE if initial <= TRUE else None,
            making_steps=make_step_mask(step for step, write in writes if write.makes == TRUE),
            breaking_steps=make_step_mask(step for step, write in writes if write.breaks == TRUE),
            possibly_making_steps=make_step_mask(step for step, write in writes if write.makes != FALSE),
            possibly_breaking_steps=make_step_mask(step for step, write in writes if write.breaks != FALSE),
        )

    @memoized
    def encode_fact(self, fact: Fact, time_point: TimePoint) -> Literal:
        """Return the worlds in which a fact holds at a time point."""
        if time_point == self.start:
            return self.template.initial_facts[fact]
        if time_point > self.order.size:
            step = time_point - self.order.size
            after = self._values_after[fact].get(step)
            return self.encode_fact(fact, step) if after is None else self.encode_literal(after, step)
        for value in (True, False):
            if holds_in_every_order(self.order, self.find_writers(fact), time_point, value):
                return TRUE if value else FALSE
        return self._encode_last_write(fact, time_point)

    def _encode_last_write(self, fact: Fact, time_point: TimePoint) -> Literal:
        """Return the worlds in which the last write before the time point, or S0, makes a fact true."""
        circuit, order = self.circuit, self.order
        writers, writes = self.find_writers(fact), self.find_writes(fact)
        certain_writers = (writers.making_steps | writers.breaking_steps) & order.get_certain_predecessors(time_point)
        possible_writers = (
            writers.possibly_making_steps | writers.possibly_breaking_steps
        ) & order.get_possible_predecessors(time_point)
        # A step that is necessarily overwritten before the time point does not matter.
        live_writers = [step for step in iterate_bits(possible_writers) if not certain_writers & order.after[step]]
        deletions = [
            (step, self.encode_firing(writes[step].breaks, step))
            for step in live_writers
            if writes[step].breaks != FALSE
        ]
        cases = []
        initial = self.template.initial_facts[fact]
        if initial != FALSE and not certain_writers:
            no_later_deletion = [
                circuit.both(self.encode_is_before(step, time_point), fires) ^ 1 for step, fires in deletions
            ]
            cases.append(circuit.conjunction([initial, *no_later_deletion]))
        for step in live_writers:
            makes = writes[step].makes
            if makes == FALSE:
                continue
            no_later_deletion = [
                circuit.both(self.encode_is_between(step, deleting_step, time_point), fires) ^ 1
                for deleting_step, fires in deletions
                if deleting_step != step
            ]
            cases.append(
                circuit.conjunction(
                    [self.encode_firing(makes, step), self.encode_is_before(step, time_point), *no_later_deletion]
                )
            )
        self.check_limits()
        return circuit.disjunction(cases)

    def encode_firing(self, condition: Literal, step: int) -> Literal:
        """The literal that an effect of a step happens, if ``condition`` is its condition in the template.

        It is an input with a definition if the condition varies over time.
        """
        if not self.varies_over_time(condition):
            return condition
        key = (condition & ~1, step)
        fires = self._firing_inputs.get(key)
        if fires is None:
            fires = self._firing_inputs[key] = self.circuit.input(AuxiliaryInput("fires", len(self._firing_inputs) + 1))
            self._firing_conditions[fires >> 1] = key
        return fires ^ (condition & 1)

    # -- template literals --------------------------------------------------------------------------------------------

    @memoized
    def varies_over_time(self, literal: Literal) -> bool:
        """Whether a template literal depends on the time point."""
        return any([self._input_varies_over_time(node) for node in self.circuit.find_inputs([literal])])

    def _input_varies_over_time(self, node: int) -> bool:
        key = self.circuit.keys[node]
        if isinstance(key, terms.Comparison):
            return self._numbers.varies_over_time(key.sum)
        return isinstance(key, CurrentFactInput)

    def find_fact(self, literal: Literal) -> Fact | None:
        """The fact whose input a template literal is, perhaps negated; ``None`` for another literal."""
        return self._facts_by_input.get(literal >> 1)

    def find_changing_steps(self, literals: Iterable[Literal]) -> int | None:
        """The steps that may change the inputs of template literals, as a mask; ``None`` if actions are among these."""
        mask = 0
        for node in self.circuit.find_inputs(literals):
            fact = self._facts_by_input.get(node)
            key = self.circuit.keys[node]
            if fact is not None:
                writers = self.find_writers(fact)
                mask |= writers.possibly_making_steps | writers.possibly_breaking_steps
            elif isinstance(key, CurrentFactInput):
                return None
            elif isinstance(key, terms.Comparison):
                for fluent in find_current_fluents(key.sum):
                    mask |= self._numbers.find_writers(fluent)
                inner_mask = self.find_changing_steps(iterate_literals(key.sum))
                if inner_mask is None:
                    return None
                mask |= inner_mask
        return mask

    def find_falsifying_steps(self, literal: Literal) -> int:
        """The steps that may change an input of a template literal such that it becomes false, as a mask."""
        mask = 0
        visited: set[Literal] = set()
        stack = [literal]
        while stack:
            part = stack.pop()
            if part in visited:
                continue
            visited.add(part)
            children = self.circuit.gates[part >> 1]
            fact = self._facts_by_input.get(part >> 1)
            if children is not None:
                stack.extend([child ^ (part & 1) for child in children])
            elif fact is not None:
                writers = self.find_writers(fact)
                mask |= writers.possibly_making_steps if part & 1 else writers.possibly_breaking_steps
            else:
                mask |= self.find_changing_steps([part]) or 0
        return mask

    def encode_literal(self, literal: Literal, time_point: TimePoint) -> Literal:
        """Return the value of a template literal at a time point."""
        if literal <= TRUE:
            return literal
        nodes = self._literals_at.setdefault(time_point, {0: FALSE})
        circuit = self.circuit
        stack = [literal >> 1]
        while stack:
            node = stack[-1]
            if node in nodes:
                stack.pop()
                continue
            children = circuit.gates[node]
            if children is None:
                nodes[node] = self._encode_input(node, time_point)
                continue
            missing_nodes = [child >> 1 for child in children if child >> 1 not in nodes]
            if missing_nodes:
                stack += missing_nodes
                continue
            nodes[node] = circuit.conjunction([nodes[child >> 1] ^ (child & 1) for child in children])
        return nodes[literal >> 1] ^ (literal & 1)

    def _encode_input(self, node: int, time_point: TimePoint) -> Literal:
        """Return the value of an input of the template at a time point; other inputs are the same at all of them."""
        fact = self._facts_by_input.get(node)
        if fact is not None:
            return self.encode_fact(fact, time_point)
        key = self.circuit.keys[node]
        if isinstance(key, CurrentFactInput):
            return self._encode_action((key.predicate, key.code), time_point)
        if isinstance(key, terms.Comparison) and self._numbers.varies_over_time(key.sum):
            value = self._numbers.encode_sum(key.sum, time_point)
            return terms.compare(self.circuit, key.operator, value, terms.constant(0))
        return 2 * node

    def _encode_action(self, action_fact: Fact, time_point: TimePoint) -> Literal:
        """Return the worlds in which the next step is an action and can be taken."""
        if time_point > self.order.size:
            raise AssertionError("letters that mention actions are moments before steps, and the end")
        return self.encode_is_applicable(time_point) if time_point in self._steps_of_action[action_fact] else FALSE

    # -- which steps are taken ----------------------------------------------------------------------------------------

    def assume_all_taken(self) -> None:
        """Treat every step as taken in every order from now on: this is known."""
        self.are_all_taken = True
        self._literals_at.clear()
        self._reached_literals.clear()

    def encode_is_applicable(self, step: int) -> Literal:
        """Return the worlds in which a step can be taken, if all steps before it are."""
        return TRUE if self.are_all_taken else self.encode_literal(self.template.steps[step].precondition, step)

    def encode_is_reached(self, step: int) -> Literal:
        """Return the worlds in which all steps before a step are taken."""
        if self.are_all_taken:
            return TRUE
        reached = self._reached_literals.get(step)
        if reached is None:
            circuit = self.circuit
            other_steps = [number for number in range(1, self.order.size + 1) if number != step]
            failing = [
                circuit.both(self.encode_precedence(first, step), self.encode_is_applicable(first) ^ 1)
                for first in other_steps
            ]
            reached = self._reached_literals[step] = circuit.disjunction(failing) ^ 1
        return reached

    def encode_is_taken(self, step: int) -> Literal:
        """Return the worlds in which a step is taken."""
        return self.circuit.both(self.encode_is_reached(step), self.encode_is_applicable(step))

    def encode_is_executable(self) -> Literal:
        """Return the worlds in which all steps are taken."""
        return self.circuit.conjunction([self.encode_is_applicable(step) for step in range(1, self.order.size + 1)])

    # -- definitions --------------------------------------------------------------------------------------------------

    def collect_definitions(self, roots: Iterable[Literal]) -> tuple[list[Literal], list[int]]:
        """The definitions of the auxiliary inputs that the roots depend on, and all input nodes that they depend on.

        The caller requires the definitions of the solver.
        """
        definitions: dict[int, Literal] = {}
        inputs: list[int] = []

        def expand_input(node: int) -> list[Literal]:
            inputs.append(node)
            if node in self._firing_conditions:
                definition = self._definitions.get(node)
                if definition is None:
                    condition, step = self._firing_conditions[node]
                    definition = self.circuit.equal(2 * node, self.encode_literal(condition, step))
                    self._definitions[node] = definition
                definitions[node] = definition
                return [definition]
            key = self.circuit.keys[node]
            if not isinstance(key, terms.Comparison):
                return []
            number_definitions = list(self._numbers.collect_definitions(key))
            definitions.update([(definition >> 1, definition) for definition in number_definitions])
            return [*iterate_literals(key.sum), *number_definitions]

        visited, stack = {FALSE >> 1}, [root >> 1 for root in roots]
        while stack:
            node = stack.pop()
            if node not in visited:
                visited.add(node)
                children = self.circuit.gates[node]
                stack += [child >> 1 for child in (expand_input(node) if children is None else children)]
        return list(definitions.values()), inputs
