"""Prepare temporal formulas for automata: expand quantifiers over them, and make keys that identify equal formulas."""

from __future__ import annotations

from typing import assert_never

from plansafe.verifier.compile.triggers import binds_all_parameters
from plansafe.verifier.model.limits import LimitKind, LimitReached
from plansafe.verifier.model.nodes import (
    And,
    Atom,
    Compare,
    Equal,
    Fluent,
    Formula,
    Not,
    Or,
    Quantified,
    Task,
    Temporal,
    Truth,
    Variable,
)
from plansafe.verifier.model.operations import free_slots, has_comparison, is_temporal, map_children, negate, substitute

MAX_EXPANSION = 20_000
"""The most nodes of a formula whose quantifiers over temporal formulas are expanded."""


def make_structural_key(formula: Formula) -> tuple[object, ...]:
    """Return a flat key that is equal for equal formulas."""
    key: list[object] = []
    stack: list[object] = [formula]
    while stack:
        part = stack.pop()
        if isinstance(part, tuple):
            key.append((type(part).__name__, len(part)))
            stack.extend(part)
        else:
            key.append(part)
    return tuple(key)


def make_renamed_key(formula: Formula) -> tuple[tuple[object, ...], list[int]]:
    """Return a flat key that is equal for formulas that differ only in their variables, and the variables' slots.

    The slots are in the order of their first place in the key.
    """
    key: list[object] = []
    number_of_slot: dict[int, int] = {}

    def rename(slot: int) -> int:
        return number_of_slot.setdefault(slot, len(number_of_slot))

    stack: list[object] = [formula]
    while stack:
        part = stack.pop()
        if isinstance(part, tuple):
            key.append((type(part).__name__, len(part)))
        match part:
            case Variable():
                key += [rename(part.slot), part.domain]
            case Atom() | Fluent():
                key.append(part[0])
                key += [a if a >= 0 else -1 - rename(-1 - a) for a in part.arguments]
            case Equal():
                key += [a if a >= 0 else -1 - rename(-1 - a) for a in part]
            case tuple():
                stack.extend(part)
            case _:
                key.append(part)
    return tuple(key), list(number_of_slot)


def ground_temporal(task: Task, formula: Formula, parameters: tuple[Variable, ...] = ()) -> Formula:
    """Replace quantifiers over temporal formulas by conjunctions and disjunctions over their objects.

    Without numbers, nested conjunctions and disjunctions are flattened, so that more parts about single states are
    merged. With numbers, a merged part may be defined although one of its parts is not.
    """
    budget = MAX_EXPANSION
    flattens = not has_comparison(formula)

    def combine(kind: type[And | Or], parts: list[Formula]) -> Formula:
        operands: list[Formula] = []
        for part in parts:
            operands += part.parts if flattens and isinstance(part, kind) and is_temporal(part) else [part]
        return kind(merge_state_parts(kind, operands, parameters))

    def ground(part: Formula, values: dict[int, int]) -> Formula:
        """Expand the quantifiers of a subformula, with objects for the variables bound around it."""
        nonlocal budget
        budget -= 1
        if budget < 0:
            raise LimitReached(LimitKind.INSTANCES)
        if not is_temporal(part):
            return substitute(part, values) if values else part
        match part:
            case And() | Or():
                return combine(type(part), [ground(p, values) for p in part.parts])
            case Not(And() | Or() as body) if flattens:
                return combine(Or if isinstance(body, And) else And, [ground(negate(p), values) for p in body.parts])
            case Not() | Temporal():
                return map_children(part, lambda subformula: ground(subformula, values))
            case Quantified():
                parts = tuple([ground(part.body, inner) for inner in task.bindings(part.variables, values)])
                return And(parts) if part.universal else Or(parts)
            case Truth() | Atom() | Equal() | Compare():
                return part
            case _:
                assert_never(part)

    return ground(formula, {})


def merge_state_parts(
    kind: type[And | Or], parts: list[Formula], parameters: tuple[Variable, ...]
) -> tuple[Formula, ...]:
    """Merge the parts about single states and the parameters into one, if triggers can search for it.

    Fewer bindings differ from the default in the merged part than in each part. Parts that are equal for all bindings
    stay separate, because a change of them would make all bindings differ.
    """
    slots = {v.slot for v in parameters}
    state_parts = [part for part in parts if not is_temporal(part) and free_slots(part) & slots]
    merged_part = kind(tuple(state_parts))
    if len(state_parts) < 2 or not any(
        [binds_all_parameters(merged_part, value, parameters) for value in (True, False)]
    ):
        return tuple(parts)
    merged_ids = {id(part) for part in state_parts}
    return (merged_part, *[part for part in parts if id(part) not in merged_ids])


def split_by_parameters(formula: Formula, parameters: tuple[Variable, ...]) -> tuple[Formula, ...]:
    """Split a conjunction or disjunction of state formulas: the part equal for all bindings, and the other part.

    A change of the first part then makes no binding differ from the other bindings. A formula with numbers is not
    split, because a part may be undefined although the formula is not.
    """
    if not isinstance(formula, And | Or) or has_comparison(formula):
        return (formula,)
    slots = {v.slot for v in parameters}
    global_parts = tuple([part for part in formula.parts if not free_slots(part) & slots])
    local_parts = tuple([part for part in formula.parts if free_slots(part) & slots])
    if not global_parts or not local_parts:
        return (formula,)
    return type(formula)(global_parts), type(formula)(local_parts)
