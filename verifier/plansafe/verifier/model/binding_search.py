"""Search for the bindings of variables under which a condition has a value, guided by the facts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from math import prod
from typing import NamedTuple, assert_never

from plansafe.verifier.model.evaluation import Evaluator
from plansafe.verifier.model.nodes import (
    And,
    Atom,
    Binding,
    Compare,
    Equal,
    Formula,
    Not,
    Or,
    Quantified,
    Task,
    Temporal,
    Truth,
    Variable,
    bind,
)
from plansafe.verifier.model.operations import free_slots

MAX_TRIED = 3_000
"""The largest number of bindings that are tried one by one."""

SignedFormula = tuple[Formula, bool]
"""A condition, and the value it should have."""


class SelectedBindings(NamedTuple):
    """Bindings, and the slots that they bind."""

    slots: frozenset[int]
    bindings: list[Binding]


class FlatGoals(NamedTuple):
    """A conjunction over variables, under a binding of other variables."""

    variables: list[Variable]
    conjuncts: list[SignedFormula]
    binding: Binding


def flatten_goals(
    task: Task, variables: Iterable[Variable], goals: Iterable[SignedFormula], binding: Binding
) -> FlatGoals | None:
    """Flatten goals into one conjunction; ``None`` if they are impossible.

    Existential quantifiers add their variables, unless a slot is in use. Variables that range over one object are
    bound.
    """
    all_variables: list[Variable] = list(variables)
    used_slots = {v.slot for v in all_variables} | binding.keys()
    stack, conjuncts = list(goals), list[SignedFormula]()
    while stack:
        formula, required_value = stack.pop()
        match formula:
            case Truth():
                if formula.value is not required_value:
                    return None
            case Not():
                stack.append((formula.body, not required_value))
            case And() | Or() if isinstance(formula, And) is required_value:
                stack += [(part, required_value) for part in formula.parts]
            case Quantified() if formula.universal is not required_value and used_slots.isdisjoint(
                [v.slot for v in formula.variables]
            ):
                used_slots |= {v.slot for v in formula.variables}
                all_variables += formula.variables
                stack.append((formula.body, required_value))
            case And() | Or() | Quantified() | Atom() | Equal() | Compare() | Temporal():
                conjuncts.append((formula, required_value))
            case _:
                assert_never(formula)
    objects_by_slot = {v.slot: task.domains[v.domain] for v in all_variables}
    if not all(objects_by_slot.values()):
        return None
    only_object_by_slot = {slot: objects[0] for slot, objects in objects_by_slot.items() if len(objects) == 1}
    unbound_variables = [v for v in all_variables if v.slot not in only_object_by_slot]
    return FlatGoals(unbound_variables, conjuncts, {**binding, **only_object_by_slot})


def find_bindings_with_value(
    evaluator: Evaluator, variables: tuple[Variable, ...], formula: Formula, value: bool, binding: Binding
) -> Iterator[Binding]:
    """Yield the bindings of variables under which a formula has a value or is undefined."""
    for objects in evaluator.find_candidate_objects(Quantified(not value, variables, formula), binding):
        full_binding = {**binding, **bind(variables, objects)}
        if evaluator.holds(formula, full_binding) in (value, None):
            yield full_binding


def select_bindings(
    evaluator: Evaluator, variables: Iterable[Variable], conjunct: SignedFormula, binding: Binding, max_count: int
) -> SelectedBindings | None:
    """Return the bindings of a conjunct's variables under which it holds; ``None`` if they are more than ``max_count``.

    ``None`` also if the search would take too many trials.
    """
    formula, required_value = conjunct
    slots = free_slots(formula)
    conjunct_variables = tuple([v for v in variables if v.slot in slots])
    conjunct_slots = frozenset([v.slot for v in conjunct_variables])
    bindings: dict[tuple[int, ...], Binding] = {}
    for disjunct in _find_disjuncts(formula, required_value):
        if not conjunct_slots <= free_slots(disjunct) or not is_searchable(
            evaluator, conjunct_variables, disjunct, required_value
        ):
            return None
        for full_binding in islice(
            find_bindings_with_value(evaluator, conjunct_variables, disjunct, required_value, binding), max_count + 1
        ):
            bindings[tuple([full_binding[v.slot] for v in conjunct_variables])] = full_binding
        if len(bindings) > max_count:
            return None
    return SelectedBindings(conjunct_slots, list(bindings.values()))


def _find_disjuncts(formula: Formula, required_value: bool) -> Iterator[Formula]:
    """Yield the parts of a formula that has ``required_value`` if one of its parts has this value."""
    if isinstance(formula, And | Or) and isinstance(formula, Or) is required_value:
        for part in formula.parts:
            yield from _find_disjuncts(part, required_value)
    else:
        yield formula


def is_searchable(
    evaluator: Evaluator, variables: tuple[Variable, ...], formula: Formula, required_value: bool
) -> bool:
    """Whether the bindings under which a condition has a value are found with few trials."""
    if prod([len(evaluator.task.domains[v.domain]) for v in variables]) <= MAX_TRIED:
        return True
    return evaluator.is_guided_by_atoms(Quantified(not required_value, variables, formula))
