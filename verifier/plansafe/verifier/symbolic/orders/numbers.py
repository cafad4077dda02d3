"""Numbers at the moments of an order.

If steps assign amounts to a fluent, or add amounts to it, that depend on no number that changes, then its value at a
moment is the value that was assigned last, or the value in S0, plus all amounts added since. The value of any other
fluent at a moment is a variable of the solver. By definition, it equals the value after the last step before the moment
that changes the fluent.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from plansafe.verifier.symbolic.circuits import terms
from plansafe.verifier.symbolic.circuits.circuit import TRUE, Literal
from plansafe.verifier.symbolic.circuits.terms import Atom, Comparison, Sum
from plansafe.verifier.symbolic.orders.partial_order import bit_numbers
from plansafe.verifier.symbolic.orders.template import Fact, Timeline, TimePoint


class _NotSeparable(Exception):
    """A step changes a number by an amount that depends on numbers that change."""


class NumericEffect(NamedTuple):
    """Where ``condition`` holds, a step assigns ``amount`` to a fluent, or adds it."""

    condition: Literal
    is_assigned: bool
    amount: Sum


class Numbers:
    """Sums of the template at moments of an order. Methods raise ``TooHard`` and ``NumberTooLarge``."""

    def __init__(self, moments: Timeline) -> None:
        self.moments = moments
        self._is_changing: dict[Sum, bool] = {}
        self._effects: dict[Fact, dict[int, NumericEffect]] = {}
        self._values: dict[tuple[Fact, TimePoint], Sum] = {}
        self._variable_function = len(moments.template.task.functions)  # variables are fluents of a further function
        self._variables: list[tuple[Fact, TimePoint]] = []
        self._definitions: dict[int, Literal] = {}

    def depends_on_moment(self, total: Sum) -> bool:
        """Whether a sum of the template depends on the moment."""
        is_changing = self._is_changing.get(total)
        if is_changing is None:
            is_changing = _reads_changing_numbers(total) or any(
                [self.moments.depends_on_moment(literal) for literal in sum_literals(total)]
            )
            self._is_changing[total] = is_changing
        return is_changing

    def sum_at(self, total: Sum, moment: TimePoint, in_effect: bool = False) -> Sum:
        """A sum of the template at a moment.

        ``in_effect``: the sum is read by a step's effect, whose conditions are inputs with a definition.
        """
        result = Sum(total.constant)
        for atom, factor in total.weighted_atoms:
            result = terms.add(result, self._atom_at(atom, moment, in_effect), factor)
        return result

    def _atom_at(self, atom: Atom, moment: TimePoint, in_effect: bool) -> Sum:
        match atom:
            case ("here", int(function), int(code)):
                return self._value((function, code), moment)
            case ("value", *_):
                return Sum(0, ((atom, 1),))
            case ("indicator" | "choice", int(literal), *_):
                read = self.moments.fires_at if in_effect else self.moments.literal_at
                condition = read(literal, moment)
                if atom[0] == "indicator":
                    return terms.select(condition, Sum(1), Sum(0))
                then, otherwise = [self.sum_at(part, moment, in_effect) for part in _inner_sums(atom)]
                return terms.select(condition, then, otherwise)
        left, right = [self.sum_at(part, moment, in_effect) for part in _inner_sums(atom)]
        return terms.multiply(left, right) if atom[0] == "product" else terms.divide(left, right)

    def _value(self, fluent: Fact, moment: TimePoint) -> Sum:
        key = (fluent, moment)
        value = self._values.get(key)
        if value is None:
            value = self._values[key] = self._compute_value(fluent, moment)
        return value

    def _compute_value(self, fluent: Fact, moment: TimePoint) -> Sum:
        moments = self.moments
        template, order = moments.template, moments.order
        if moment == moments.start:
            return template.values[fluent]
        if moment > order.size:
            step = moment - order.size
            after = template.steps[step].numbers.get(fluent)
            return self._value(fluent, step) if after is None else self.sum_at(after, step)
        try:
            effects = self._numeric_effects(fluent)
        except _NotSeparable:
            self._variables.append((fluent, moment))
            return terms.variable(self._variable_function, len(self._variables) - 1)
        return self._accumulate(template.values[fluent], effects, moment)

    def _accumulate(self, value: Sum, effects: dict[int, NumericEffect], moment: TimePoint) -> Sum:
        """The initial value, or the last assigned value before a moment, plus all amounts added since."""
        moments, circuit = self.moments, self.moments.circuit
        effects = {step: effect for step, effect in effects.items() if moments.is_before(step, moment) != 0}
        assignments = [(step, moments.fires_at(e.condition, step)) for step, e in effects.items() if e.is_assigned]
        total = Sum(0)
        for step, effect in effects.items():
            not_overwritten = [
                circuit.both(moments.between(step, assigning, moment), fires) ^ 1
                for assigning, fires in assignments
                if assigning != step
            ]
            is_before = moments.is_before(step, moment)
            counts = circuit.conjunction([is_before, moments.fires_at(effect.condition, step), *not_overwritten])
            amount = self.sum_at(effect.amount, step, in_effect=True)
            if effect.is_assigned:
                value = terms.select(counts, amount, value)
            else:
                total = terms.add(total, terms.select(counts, amount, Sum(0)))
            moments.check_limits()
        return terms.add(value, total)

    # -- variables ----------------------------------------------------------------------------------------------------

    def definitions(self, comparison: Comparison) -> list[Literal]:
        """The definitions of the variables in a comparison, which have to be true."""
        definitions = []
        for atom in _atoms(comparison.sum):
            match atom:
                case ("value", self._variable_function, int(number)):
                    if number not in self._definitions:
                        self._definitions[number] = self._define(number)
                    definitions.append(self._definitions[number])
        return definitions

    def _define(self, number: int) -> Literal:
        moments = self.moments
        template, order, circuit = moments.template, moments.order, moments.circuit
        fluent, moment = self._variables[number]
        variable = terms.variable(self._variable_function, number)
        writers = self.writers(fluent)
        certain = writers & order.certainly_before(moment)
        # A step that is necessarily overwritten before the moment does not matter.
        live = [
            step for step in bit_numbers(writers & order.possibly_before(moment)) if not certain & order.after[step]
        ]
        is_before = {step: moments.is_before(step, moment) for step in live}
        cases = []
        if not certain:
            none = circuit.conjunction([literal ^ 1 for literal in is_before.values()])
            cases.append((none, template.values[fluent]))
        for step in live:
            is_last = [moments.between(step, later, moment) ^ 1 for later in live if later != step]
            value = self.sum_at(template.steps[step].numbers[fluent], step)
            cases.append((circuit.conjunction([is_before[step], *is_last]), value))
        moments.check_limits()
        return circuit.conjunction(
            [circuit.either(case ^ 1, terms.compare(circuit, "=", variable, value)) for case, value in cases]
        )

    # -- effects ------------------------------------------------------------------------------------------------------

    def writers(self, fluent: Fact) -> int:
        """The steps that may change a fluent, as a mask."""
        steps = enumerate(self.moments.template.steps)
        return sum([1 << number for number, step in steps if fluent in step.numbers])

    def _numeric_effects(self, fluent: Fact) -> dict[int, NumericEffect]:
        """The effect of each step on a fluent. Raises :class:`_NotSeparable`."""
        effects = self._effects.get(fluent)
        if effects is None:
            effects = {}
            for number, step in enumerate(self.moments.template.steps):
                effect = _to_effect(fluent, step.numbers[fluent]) if fluent in step.numbers else None
                if effect is not None:
                    effects[number] = effect
            self._effects[fluent] = effects
        return effects


def _to_effect(fluent: Fact, after: Sum) -> NumericEffect | None:
    """The effect of a step after which the fluent has the value ``after``; ``None`` if the step does not change it."""
    here = Sum(0, ((("here", *fluent), 1),))
    amount = terms.add(after, here, -1)
    if amount == Sum(0):
        return None
    if not _reads_changing_numbers(amount):
        return NumericEffect(TRUE, False, amount)
    if not _reads_changing_numbers(after):
        return NumericEffect(TRUE, True, after)
    match after:
        case Sum(0, ((("choice", int(literal), Sum() as then, Sum() as otherwise), 1),)):
            if otherwise == here and not _reads_changing_numbers(then):
                return NumericEffect(literal, True, then)
            if then == here and not _reads_changing_numbers(otherwise):
                return NumericEffect(literal ^ 1, True, otherwise)
    raise _NotSeparable


def sum_literals(total: Sum) -> Iterator[Literal]:
    """The literals that a sum depends on."""
    for atom in _atoms(total):
        if atom[0] in ("indicator", "choice") and isinstance(atom[1], int):
            yield atom[1]


def sum_fluents(total: Sum) -> set[Fact]:
    """The fluents that a sum of the template reads at its moment."""
    fluents = set()
    for atom in _atoms(total):
        match atom:
            case ("here", int(function), int(code)):
                fluents.add((function, code))
    return fluents


def _reads_changing_numbers(total: Sum) -> bool:
    return any([atom[0] == "here" for atom in _atoms(total)])


def _inner_sums(atom: Atom) -> list[Sum]:
    return [part for part in atom if isinstance(part, Sum)]


def _atoms(total: Sum) -> Iterator[Atom]:
    """All atoms of a sum, and of the sums inside it; shared atoms once."""
    visited: set[int] = set()
    stack = [total]
    while stack:
        for atom, _ in stack.pop().weighted_atoms:
            if id(atom) not in visited:
                visited.add(id(atom))
                yield atom
                stack.extend(_inner_sums(atom))
