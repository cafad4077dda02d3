"""The rules of a plan over all orders: for each instance, the worlds in which it is violated."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import NamedTuple

from plansafe.verifier.compile.normal_forms import convert_to_dnf, find_bound_slots
from plansafe.verifier.execution.monitors.temporal_grounding import ground_temporal
from plansafe.verifier.model.limits import LimitReached
from plansafe.verifier.model.nodes import TRUE as TRUE_FORMULA
from plansafe.verifier.model.nodes import And, Formula, Variable, bind
from plansafe.verifier.model.operations import find_leaves, is_temporal
from plansafe.verifier.rules.model import RulePart
from plansafe.verifier.symbolic.circuits.circuit import FALSE, TRUE, Literal
from plansafe.verifier.symbolic.orders.fact_timeline import FactTimeline
from plansafe.verifier.symbolic.orders.letters import Letters, ignores_repetition
from plansafe.verifier.symbolic.orders.partial_order import END, iterate_bits
from plansafe.verifier.symbolic.orders.template import TooHard
from plansafe.verifier.symbolic.worlds.truth_vectors import expand_operators

MAX_INSTANCES = 200_000
"""Maximum number of bindings of one part of a rule that is encoded."""
EXPANDED_OPERATORS = frozenset(("sometime-after",))
"""Operators that :class:`Letters` does not encode."""


class InstanceViolation(NamedTuple):
    """The worlds in which an instance of a part is violated (``literal``); ``part`` is the part's number."""

    part: int
    binding: tuple[int, ...]
    literal: Literal


class _PreparedPart(NamedTuple):
    """A part of a rule whose formulas have no quantifiers over temporal formulas.

    ``leaves`` are the maximal subformulas of ``body`` and ``guard`` without temporal operators.
    """

    part: RulePart
    body: Formula
    guard: Formula
    leaves: tuple[Formula, ...]
    ignores_repetition: bool


class RuleEncoding:
    """Encodes the rules. Preferences are encoded only if the task has numbers, because these may be undefined.

    Raises :class:`TooHard`, ``LimitReached``.
    """

    def __init__(self, timeline: FactTimeline) -> None:
        self.timeline = timeline
        self.template = timeline.template
        self.circuit = timeline.circuit
        self.engine = timeline.template.engine

    def encode_violations(self) -> list[InstanceViolation]:
        """Return every instance that is violated in some world, as far as the circuit shows."""
        violations: list[InstanceViolation] = []
        rule_set = self.engine.rule_set
        runtime = self.engine.prototype
        if self.engine.limit is not None or (runtime is not None and runtime.too_large):
            raise TooHard("a rule has more instances than the limit allows")
        for number, part in enumerate(rule_set.parts):
            is_preference = rule_set.rules[part.rule].preference
            if is_preference and not self.engine.task.functions:
                continue
            if not all([self.engine.task.domains[v.domain] for v in part.parameters]):
                continue
            prepared_part = self._prepare(part)
            literals: dict[tuple[Literal, ...], Literal] = {}  # instances with the same leaves are violated together
            for binding in self._iterate_bindings(part, include_all_bindings=is_preference):
                object_of_slot = bind(part.parameters, binding)
                leaves = {id(leaf): self._encode_leaf(leaf, object_of_slot) for leaf in prepared_part.leaves}
                step = FALSE if part.step is None else self._encode_leaf(part.step, object_of_slot)
                if is_preference:
                    continue  # preferences matter only if they cannot be decided
                key = (*leaves.values(), step)
                literal = literals.get(key)
                if literal is None:
                    literal = literals[key] = self._encode_instance(prepared_part, leaves, step)
                    self.timeline.check_limits()
                if literal != FALSE:
                    violations.append(InstanceViolation(number, binding, literal))
        return violations

    def _prepare(self, part: RulePart) -> _PreparedPart:
        """Ground the quantifiers over temporal formulas, and expand operators. Raises :class:`TooHard`."""
        task = self.engine.task
        guard = TRUE_FORMULA if part.guard is None else part.guard
        try:
            body, guard = [expand_operators(ground_temporal(task, f), EXPANDED_OPERATORS) for f in (part.body, guard)]
        except LimitReached:
            raise TooHard("a quantifier over temporal formulas has too many instances") from None
        return _PreparedPart(
            part, body, guard, find_leaves(body, guard), ignores_repetition(body) and ignores_repetition(guard)
        )

    def _encode_leaf(self, formula: Formula, object_of_slot: dict[int, int]) -> Literal:
        """Return the template literal of a formula without temporal operators. Raises :class:`TooHard`."""
        compiler, state = self.template.compiler, self.template.state
        literal = compiler.compile_truth(formula)(state, dict(object_of_slot))
        if (
            compiler.reads_numbers(formula)
            and compiler.compile_falsity(formula)(state, dict(object_of_slot)) != literal ^ 1
        ):
            raise TooHard("a rule reads a number that may be undefined")
        return literal

    def _iterate_bindings(self, part: RulePart, include_all_bindings: bool) -> Iterator[tuple[int, ...]]:
        """Yield the bindings for which a part may be violated; with ``include_all_bindings``, all that are checked."""
        if not part.parameters:
            yield ()
            return
        possible_certain = self.template.compiler.possible_certain
        ignores_body = include_all_bindings or part.mode == "whole"
        body = TRUE_FORMULA if ignores_body else possible_certain.make_possible_condition(part.body, False)
        premises = [possible_certain.make_possible_condition(f) for f in (part.step, part.guard) if f is not None]
        condition = And((*premises, body))
        self._check_instance_count(condition, part.parameters)
        bindings: list[tuple[int, ...]] = []
        possible_certain.compile_search(condition, part.parameters, ())(self.template.state.facts, (), bindings)
        yield from dict.fromkeys(bindings)

    def _check_instance_count(self, condition: Formula, parameters: tuple[Variable, ...]) -> None:
        """Raise :class:`TooHard` if facts of the condition leave too many bindings of the parameters."""
        domains = self.engine.task.domains
        disjuncts = convert_to_dnf(condition)
        bound_slots_by_disjunct = [frozenset[int]()] if disjuncts is None else map(find_bound_slots, disjuncts)
        for bound in bound_slots_by_disjunct:
            unbound_parameters = [parameter for parameter in parameters if parameter.slot not in bound]
            if prod([len(domains[parameter.domain]) for parameter in unbound_parameters]) > MAX_INSTANCES:
                raise TooHard("a rule has too many instances")

    # -- instances ----------------------------------------------------------------------------------------------------

    def _encode_instance(self, prepared_part: _PreparedPart, leaves: dict[int, Literal], step: Literal) -> Literal:
        """Return the worlds in which an instance is violated.

        ``leaves``: the literal of each leaf, by its ``id``. ``step``: the literal of the step pattern.
        """
        timeline, circuit, part = self.timeline, self.circuit, prepared_part.part
        mask = timeline.find_changing_steps(leaves.values()) if prepared_part.ignores_repetition else None
        if mask is not None and part.mode == "always" and not is_temporal(prepared_part.body):
            # A block of letters that violate it begins in S0, or after a step that makes it false.
            mask = timeline.find_falsifying_steps(leaves[id(prepared_part.body)])
        letters = Letters(
            timeline,
            lambda formula, time_point: timeline.encode_literal(leaves[id(formula)], time_point),
            None if mask is None else list(iterate_bits(mask)),
        )
        match part.mode:
            case "whole":
                return letters.encode_value_at_start(prepared_part.body) ^ 1
            case "end":
                return letters.encode_value_at_end(prepared_part.body) ^ 1
            case "always":
                violating_cases = [
                    circuit.both(
                        letters.encode_existence(letter), letters.encode_value_at(prepared_part.body, letter) ^ 1
                    )
                    for letter in letters.letters
                ]
                return circuit.disjunction(violating_cases)
            case _:  # at steps
                facts = {self.circuit.keys[node] for node in self.circuit.find_inputs([step])}
                steps = [number for number, fact in self.template.action_facts.items() if fact in facts]
                return circuit.disjunction(
                    [self._encode_violation_at_step(prepared_part, letters, step, k) for k in steps]
                )

    def _encode_violation_at_step(
        self, prepared_part: _PreparedPart, letters: Letters, pattern: Literal, step: int
    ) -> Literal:
        """Return the worlds in which a step is taken, matches the step pattern, and violates the part."""
        timeline, circuit = self.timeline, self.circuit
        if timeline.encode_literal(pattern, step) == FALSE:
            return FALSE
        is_checked = circuit.both(timeline.encode_is_taken(step), letters.encode_value_at(prepared_part.guard, step))
        if is_checked == FALSE:
            return FALSE
        if not prepared_part.part.after:
            return circuit.both(is_checked, letters.encode_value_at(prepared_part.body, step) ^ 1)
        if letters.has_merged_letters:
            return circuit.both(
                is_checked, letters.encode_value_at(prepared_part.body, timeline.find_time_point_after(step)) ^ 1
            )
        violating_cases = [
            circuit.both(is_next, letters.encode_value_at(prepared_part.body, letter) ^ 1)
            for letter in letters.letters
            if letter != step and (is_next := letters.encode_is_next(step, letter)) != FALSE
        ]
        return circuit.both(is_checked, circuit.disjunction(violating_cases))


def encode_goal(timeline: FactTimeline) -> Literal:
    """Return the worlds in which the goal holds where the plan stops."""
    template, circuit = timeline.template, timeline.circuit
    goal = template.compiler.compile_truth(And(template.task.goal))(template.state, {})
    if not timeline.varies_over_time(goal):
        return goal
    cases = [circuit.both(timeline.encode_is_executable(), timeline.encode_literal(goal, END))]
    for step in range(1, timeline.order.size + 1):
        can_be_taken = timeline.encode_is_applicable(step)
        if can_be_taken != TRUE:
            cases.append(
                circuit.conjunction(
                    [timeline.encode_is_reached(step), can_be_taken ^ 1, timeline.encode_literal(goal, step)]
                )
            )
            timeline.check_limits()
    return circuit.disjunction(cases)
