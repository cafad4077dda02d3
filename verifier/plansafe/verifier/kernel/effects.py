"""The changes of effects, how they combine, and which actions interfere (docs/language.md, sections 2 and 3)."""

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from typing import NamedTuple

from .candidates import iterate_candidate_bindings
from .evaluation import evaluate, evaluate_number, find_first_value
from .formulas import (
    Add,
    Assign,
    Binding,
    Connective,
    Delete,
    Fact,
    Node,
    OneOf,
    Quantified,
    When,
    ground,
    symbol,
)
from .reader import check_length, require
from .trace import FALSE, TRUE, Change, PastState, State

NUMERIC_OPERATIONS: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "increase": operator.add,
    "decrease": operator.sub,
    "scale-up": operator.mul,
    "scale-down": operator.truediv,
    "assign": lambda _old, value: value,
}
SUMS, FACTORS = {"increase", "decrease"}, {"scale-up", "scale-down"}
"""Operators that commute with each other."""


class Undefined(ArithmeticError):
    """An effect reads an undefined number, divides by zero, or clashes with another."""


class EffectContext(NamedTuple):
    """The state that an effect reads; at the end of a durative action also the state before its start.

    ``choose(number, objects, alternatives)`` returns the outcome of a ``oneof`` effect.
    """

    state: State
    before_start: PastState | None = None
    choose: Callable[[int, tuple[str, ...], int], int] | None = None


def iterate_effect_changes(
    effect: Node, binding: Binding, context: EffectContext, is_defined: bool = True, objects: tuple[str, ...] = ()
) -> Iterator[Change]:
    """Yield the changes of an effect. Raises ``Undefined``, also where it is undefined whether the effect happens.

    ``is_defined``: the conditions around the effect are true; otherwise they are undefined. ``objects``: the objects of
    the quantifiers around it.
    """
    match effect:
        case Connective(_, members):
            for part in members:
                yield from iterate_effect_changes(part, binding, context, is_defined, objects)
        case Quantified(_, variable, domain, part):
            for extended_binding in iterate_candidate_bindings(
                effect.supports, ((variable, domain),), binding, context.state
            ):
                yield from iterate_effect_changes(
                    part, extended_binding, context, is_defined, (*objects, extended_binding[variable])
                )
        case OneOf(number, members):
            assert context.choose is not None
            chosen = context.choose(number, objects, len(members))
            require(chosen in range(len(members)), "no effect")
            yield from iterate_effect_changes(members[chosen], binding, context, is_defined, objects)
        case When(_, part):
            truth = _evaluate_conditions(effect, binding, context)
            if truth != FALSE:
                yield from iterate_effect_changes(part, binding, context, is_defined and truth == TRUE, objects)
        case _ if not is_defined:
            raise Undefined
        case _:
            yield _compute_change(effect, binding, context.state)


def _evaluate_conditions(effect: When, binding: Binding, context: EffectContext) -> int:
    """Return the truth value of both conditions together."""
    truth: int = find_first_value(evaluate(effect.condition, binding, context.state))
    if effect.earlier is not None and context.before_start is not None:
        truth = min(truth, find_first_value(evaluate(effect.earlier, binding, context.before_start)))
    return truth


def _compute_change(effect: Node, binding: Binding, state: State) -> Change:
    """Return the change of an effect without parts. Raises ``Undefined``."""
    match effect:
        case Add(terms) | Delete(terms):
            return effect.operator, ground(terms, binding), None
        case Assign(op, fluent, expression):
            value = find_first_value(evaluate_number(expression, binding, state))
            if value is None:
                raise Undefined
            return op, ground(fluent.terms, binding), value
    raise AssertionError(effect)


def combine_assignments(changes: Iterable[Change], before: Mapping[Fact, Fraction]) -> dict[Fact, Fraction]:
    """Return the values of fluents that are changed at once. Raises ``Undefined`` if they clash or have no value."""
    values, operators_by_fluent = dict[Fact, Fraction](), dict[Fact, set[str]]()
    for op, fluent, operand in changes:
        if op not in NUMERIC_OPERATIONS:
            continue
        operators = {op} | operators_by_fluent.get(fluent, set())
        can_combine = operators <= SUMS or operators <= FACTORS or fluent not in operators_by_fluent
        if not can_combine or (op != "assign" and fluent not in before) or (op, operand) == ("scale-down", 0):
            raise Undefined
        operators_by_fluent[fluent] = operators
        old = values.get(fluent, before.get(fluent, Fraction(0)))
        values[fluent] = check_length(NUMERIC_OPERATIONS[op](old, operand))
    return values


class Footprint(NamedTuple):
    """What an action changes and reads at a happening.

    For a derived fact, ``reads`` has ``("*", name)`` for each predicate and function on which the fact depends.
    """

    changes: list[Change]
    reads: frozenset[Fact]

    def find_touched_facts(self) -> frozenset[Fact]:
        """Return everything read or changed: two footprints without common facts do not interfere."""
        return self.reads.union(*[(fact, ("*", *symbol(fact))) for _, fact, _ in self.changes])

    def reads_change_of(self, changer: "Footprint") -> bool:
        """Whether the changer changes a fact that this footprint reads."""
        return any(fact in self.reads or ("*", *symbol(fact)) in self.reads for _, fact, _ in changer.changes)


def interfere(left: Footprint, right: Footprint) -> bool:
    """Whether two actions interfere: *mutex* (PDDL 2.1, definition 12)."""
    if left.reads_change_of(right) or right.reads_change_of(left):
        return True
    return any(
        left_fact == right_fact and not _are_compatible(left_operator, right_operator)
        for left_operator, left_fact, _ in left.changes
        for right_operator, right_fact, _ in right.changes
    )


def _are_compatible(left: str, right: str) -> bool:
    """Whether changes with both operators may be made to one fact or fluent at once."""
    return (left == right and left in ("add", "delete")) or {left, right} <= SUMS
