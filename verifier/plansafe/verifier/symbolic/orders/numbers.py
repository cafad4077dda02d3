"""Numbers at the time points of an order.

There are two kinds of fluents. If steps assign or add only amounts that depend on no changing number, the value at a
time point is a sum: the value that was assigned last (or the value in S0), plus all amounts added since. The value of
any other fluent at a time point is a variable of the solver. By definition, it equals the value after the last step
before the time point that changes the fluent.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from plansafe.verifier.model.memoized import memoized
from plansafe.verifier.symbolic.circuits import terms
from plansafe.verifier.symbolic.circuits.circuit import FALSE, TRUE, Literal
from plansafe.verifier.symbolic.circuits.terms import Atom, Comparison, Sum
from plansafe.verifier.symbolic.orders.partial_order import iterate_bits, make_step_mask
from plansafe.verifier.symbolic.orders.template import Fact, Timeline, TimePoint, make_current_value


class _NotSeparable(Exception):
    """A step changes a number by an amount that depends on other changing numbers."""


class NumericEffect(NamedTuple):
    """A step assigns ``amount`` to a fluent (``is_assigned``), or adds it, in the worlds of ``condition``."""

    condition: Literal
    is_assigned: bool
    amount: Sum


class NumberEncoding:
    """Encodes sums of the template at time points of an order. Methods raise ``TooHard`` and ``NumberTooLarge``."""

    def __init__(self, timeline: Timeline) -> None:
        self.timeline = timeline
        self._variable_function = len(timeline.template.task.functions)  # variables are fluents of a further function
        self._variables: list[tuple[Fact, TimePoint]] = []
        self._definitions: dict[int, Literal] = {}

    @memoized
    def varies_over_time(self, total: Sum) -> bool:
        """Whether a sum of the template depends on the time point."""
        return _reads_changing_numbers(total) or any(
            [self.timeline.varies_over_time(literal) for literal in iterate_literals(total)]
        )

    def encode_sum(self, total: Sum, time_point: TimePoint, is_in_effect: bool = False) -> Sum:
        """Return a sum of the template at a time point.

        ``is_in_effect``: an effect of a step reads the sum. The conditions of effects are inputs with a definition.
        """
        total_at_point = Sum(total.constant)
        for atom, factor in total.weighted_atoms:
            total_at_point = terms.add(total_at_point, self._encode_atom(atom, time_point, is_in_effect), factor)
        return total_at_point

    def _encode_atom(self, atom: Atom, time_point: TimePoint, is_in_effect: bool) -> Sum:
        """Return the value of an atom of a template's sum at a time point."""
        match atom:
            case ("current", int(function), int(code)):
                return self._encode_value((function, code), time_point)
            case ("value", *_):
                return Sum(0, ((atom, 1),))
            case ("indicator" | "choice", int(literal), *_):
                encode_condition = self.timeline.encode_firing if is_in_effect else self.timeline.encode_literal
                condition = encode_condition(literal, time_point)
                if atom[0] == "indicator":
                    return terms.choose(condition, Sum(1), Sum(0))
                then, otherwise = [self.encode_sum(part, time_point, is_in_effect) for part in _list_inner_sums(atom)]
                return terms.choose(condition, then, otherwise)
        left, right = [self.encode_sum(part, time_point, is_in_effect) for part in _list_inner_sums(atom)]
        return terms.multiply(left, right) if atom[0] == "product" else terms.divide(left, right)

    @memoized
    def _encode_value(self, fluent: Fact, time_point: TimePoint) -> Sum:
        """The value of a fluent at a time point: a sum if its effects are separable, else a new variable."""
        timeline = self.timeline
        template, order = timeline.template, timeline.order
        if time_point == timeline.start:
            return template.initial_values[fluent]
        if time_point > order.size:
            step = time_point - order.size
            after = template.steps[step].numbers.get(fluent)
            return self._encode_value(fluent, step) if after is None else self.encode_sum(after, step)
        try:
            effects = self._find_numeric_effects(fluent)
        except _NotSeparable:
            self._variables.append((fluent, time_point))
            return terms.variable(self._variable_function, len(self._variables) - 1)
        return self._encode_accumulated_value(template.initial_values[fluent], effects, time_point)

    def _encode_accumulated_value(self, value: Sum, effects: dict[int, NumericEffect], time_point: TimePoint) -> Sum:
        """The initial value, or the last assigned value before a time point, plus all amounts added since."""
        timeline, circuit = self.timeline, self.timeline.circuit
        effects = {
            step: effect for step, effect in effects.items() if timeline.encode_is_before(step, time_point) != FALSE
        }
        assignments = [
            (step, timeline.encode_firing(e.condition, step)) for step, e in effects.items() if e.is_assigned
        ]
        total = Sum(0)
        for step, effect in effects.items():
            no_later_assignment = [
                circuit.both(timeline.encode_is_between(step, assigning, time_point), fires) ^ 1
                for assigning, fires in assignments
                if assigning != step
            ]
            is_before = timeline.encode_is_before(step, time_point)
            takes_effect = circuit.conjunction(
                [is_before, timeline.encode_firing(effect.condition, step), *no_later_assignment]
            )
            amount = self.encode_sum(effect.amount, step, is_in_effect=True)
            if effect.is_assigned:
                value = terms.choose(takes_effect, amount, value)
            else:
                total = terms.add(total, terms.choose(takes_effect, amount, Sum(0)))
            timeline.check_limits()
        return terms.add(value, total)

    # -- variables ----------------------------------------------------------------------------------------------------

    def collect_definitions(self, comparison: Comparison) -> list[Literal]:
        """The definitions of the variables in a comparison. The caller requires them of the solver."""
        definitions = []
        for atom in _iterate_atoms(comparison.sum):
            match atom:
                case ("value", self._variable_function, int(number)):
                    if number not in self._definitions:
                        self._definitions[number] = self._encode_definition(number)
                    definitions.append(self._definitions[number])
        return definitions

    def _encode_definition(self, number: int) -> Literal:
        """Return the literal that a variable equals the value after the last step before its time point."""
        timeline = self.timeline
        template, order, circuit = timeline.template, timeline.order, timeline.circuit
        fluent, time_point = self._variables[number]
        variable = terms.variable(self._variable_function, number)
        writers = self.find_writers(fluent)
        certain_writers = writers & order.get_certain_predecessors(time_point)
        # A step that is necessarily overwritten before the time point does not matter.
        live_writers = [
            step
            for step in iterate_bits(writers & order.get_possible_predecessors(time_point))
            if not certain_writers & order.after[step]
        ]
        is_before = {step: timeline.encode_is_before(step, time_point) for step in live_writers}
        cases = []
        if not certain_writers:
            no_writer_before = circuit.conjunction([literal ^ 1 for literal in is_before.values()])
            cases.append((no_writer_before, template.initial_values[fluent]))
        for step in live_writers:
            no_later_writer = [
                timeline.encode_is_between(step, later, time_point) ^ 1 for later in live_writers if later != step
            ]
            value = self.encode_sum(template.steps[step].numbers[fluent], step)
            cases.append((circuit.conjunction([is_before[step], *no_later_writer]), value))
        timeline.check_limits()
        return circuit.conjunction(
            [circuit.either(case ^ 1, terms.compare(circuit, "=", variable, value)) for case, value in cases]
        )

    # -- effects ------------------------------------------------------------------------------------------------------

    def find_writers(self, fluent: Fact) -> int:
        """The steps that may change a fluent, as a mask."""
        steps = enumerate(self.timeline.template.steps)
        return make_step_mask([number for number, step in steps if fluent in step.numbers])

    @memoized
    def _find_numeric_effects(self, fluent: Fact) -> dict[int, NumericEffect]:
        """The effect of each step on a fluent. Raises :class:`_NotSeparable`."""
        effects = {}
        for number, step in enumerate(self.timeline.template.steps):
            effect = _read_numeric_effect(fluent, step.numbers[fluent]) if fluent in step.numbers else None
            if effect is not None:
                effects[number] = effect
        return effects


def _read_numeric_effect(fluent: Fact, after: Sum) -> NumericEffect | None:
    """The effect of a step after which the fluent has the value ``after``; ``None`` if the step does not change it."""
    current_value = make_current_value(fluent)
    amount = terms.add(after, current_value, -1)
    if amount == Sum(0):
        return None
    if not _reads_changing_numbers(amount):
        return NumericEffect(TRUE, False, amount)
    if not _reads_changing_numbers(after):
        return NumericEffect(TRUE, True, after)
    match after:
        case Sum(0, ((("choice", int(literal), Sum() as then, Sum() as otherwise), 1),)):
            if otherwise == current_value and not _reads_changing_numbers(then):
                return NumericEffect(literal, True, then)
            if then == current_value and not _reads_changing_numbers(otherwise):
                return NumericEffect(literal ^ 1, True, otherwise)
    raise _NotSeparable


def iterate_literals(total: Sum) -> Iterator[Literal]:
    """The literals that a sum depends on."""
    for atom in _iterate_atoms(total):
        if atom[0] in ("indicator", "choice") and isinstance(atom[1], int):
            yield atom[1]


def find_current_fluents(total: Sum) -> set[Fact]:
    """The fluents that a sum of the template reads at its time point."""
    fluents = set()
    for atom in _iterate_atoms(total):
        match atom:
            case ("current", int(function), int(code)):
                fluents.add((function, code))
    return fluents


def _reads_changing_numbers(total: Sum) -> bool:
    return any([atom[0] == "current" for atom in _iterate_atoms(total)])


def _list_inner_sums(atom: Atom) -> list[Sum]:
    return [part for part in atom if isinstance(part, Sum)]


def _iterate_atoms(total: Sum) -> Iterator[Atom]:
    """All atoms of a sum, and of the sums inside it; shared atoms once."""
    visited: set[int] = set()
    stack = [total]
    while stack:
        for atom, _ in stack.pop().weighted_atoms:
            if id(atom) not in visited:
                visited.add(id(atom))
                yield atom
                stack.extend(_list_inner_sums(atom))
