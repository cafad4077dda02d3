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


def flatten_goals(
    task: Task, variables: Iterable[Variable], goals: Iterable[SignedFormula], binding: Binding
) -> tuple[list[Variable], list[SignedFormula], Binding] | None:
    """Flatten goals into one conjunction; ``None`` if they are impossible.

    Returns the variables, to which existential quantifiers add theirs; the conjuncts; and the binding, to which
    variables that range over one object are added. A quantifier whose slot is in use is not opened.
    """
    open_variables: list[Variable] = list(variables)
    used_slots = {v.slot for v in open_variables} | binding.keys()
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
                open_variables += formula.variables
                stack.append((formula.body, required_value))
            case And() | Or() | Quantified() | Atom() | Equal() | Compare() | Temporal():
                conjuncts.append((formula, required_value))
            case _:
                assert_never(formula)
    objects_of = {v.slot: task.domains[v.domain] for v in open_variables}
    if not all(objects_of.values()):
        return None
    single = {slot: objects[0] for slot, objects in objects_of.items() if len(objects) == 1}
    return [v for v in open_variables if v.slot not in single], conjuncts, {**binding, **single}


def find_bindings_with_value(
    evaluator: Evaluator, variables: tuple[Variable, ...], formula: Formula, value: bool, binding: Binding
) -> Iterator[Binding]:
    """The bindings of variables under which a formula has a value or is undefined."""
    for objects in evaluator.find_candidate_objects(Quantified(not value, variables, formula), binding):
        full_binding = {**binding, **bind(variables, objects)}
        if evaluator.holds(formula, full_binding) is not (not value):
            yield full_binding


def select_bindings(
    evaluator: Evaluator, variables: Iterable[Variable], conjunct: SignedFormula, binding: Binding, max_count: int
) -> SelectedBindings | None:
    """The bindings of a conjunct's variables under which it holds; ``None`` if they are more than ``max_count``.

    ``None`` also if the search would take too many trials.
    """
    formula, required_value = conjunct
    slots = free_slots(formula)
    own_variables = tuple([v for v in variables if v.slot in slots])
    own_slots = frozenset([v.slot for v in own_variables])
    bindings: dict[tuple[int, ...], Binding] = {}
    for disjunct in _iterate_disjuncts(formula, required_value):
        if not own_slots <= free_slots(disjunct) or not is_searchable(
            evaluator, own_variables, disjunct, required_value
        ):
            return None
        for full_binding in islice(
            find_bindings_with_value(evaluator, own_variables, disjunct, required_value, binding), max_count + 1
        ):
            bindings[tuple([full_binding[v.slot] for v in own_variables])] = full_binding
        if len(bindings) > max_count:
            return None
    return SelectedBindings(own_slots, list(bindings.values()))


def _iterate_disjuncts(formula: Formula, required_value: bool) -> Iterator[Formula]:
    """The parts of a formula; the formula has ``required_value`` if one of them has it."""
    if isinstance(formula, And | Or) and isinstance(formula, Or) is required_value:
        for part in formula.parts:
            yield from _iterate_disjuncts(part, required_value)
    else:
        yield formula


def is_searchable(
    evaluator: Evaluator, variables: tuple[Variable, ...], formula: Formula, required_value: bool
) -> bool:
    """Whether the bindings under which a condition has a value are found with few trials."""
    if prod([len(evaluator.task.domains[v.domain]) for v in variables]) <= MAX_TRIED:
        return True
    return evaluator.is_guided_by_atoms(Quantified(not required_value, variables, formula))
