"""Check the invariants of a compiled task that every pass relies on.

Variables are bound, predicates exist and have the declared number of arguments, and each domain is an ordered set of
existing objects. The types of arguments are not checked: an effect on a variable of a wider type is legal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import assert_never

from plansafe.verifier.model.nodes import (
    Action,
    And,
    Arithmetic,
    Atom,
    Compare,
    Constant,
    Duration,
    Effect,
    Equal,
    Expression,
    Fluent,
    Formula,
    IsViolated,
    Not,
    Or,
    Predicate,
    Quantified,
    Task,
    Temporal,
    TotalTime,
    Truth,
    Variable,
)
from plansafe.verifier.model.operations import find_bound_variables, subexpressions, subformulas
from plansafe.verifier.rules.model import Rule

OPERANDS = {
    **dict.fromkeys(("yesterday", "weak-yesterday", "once", "historically", "next", "weak-next", "always"), 1),
    **dict.fromkeys(("sometime", "at-end", "within", "at-most-once", "hold-during", "hold-after"), 1),
    **dict.fromkeys(("since", "until", "release", "sometime-after", "sometime-before", "always-within"), 2),
}
BOUNDS = {"within": 1, "always-within": 1, "hold-during": 2, "hold-after": 1}


def find_mistakes(task: Task, rules: Sequence[Rule] = ()) -> Iterator[str]:
    """The violated invariants of a task and its rules."""
    for number, members in enumerate(task.domains):
        if list(members) != sorted(set(members)) or not all([0 <= o < len(task.objects) for o in members]):
            yield f"domain {number} is not an ordered set of objects"
        if task.domain_sets[number] != frozenset(members):
            yield f"domain {number} has another set"
    if not len(task.domains) == len(task.domain_sets) == len(task.domain_types):
        yield "the numbers of domains, domain sets and domain types differ"
    for action in task.actions.values():
        yield from [f"action {action.name}: {text}" for text in _check_action(task, action)]
    for axiom in [axiom for group in task.axioms for axiom in group]:
        yield from _check_formula(task, axiom.body, axiom.parameters)
        if len(axiom.parameters) != len(task.predicates[axiom.predicate].types):
            yield f"a rule for {task.predicates[axiom.predicate].name} has other parameters"
    for formula in task.goal:
        yield from [f"goal: {text}" for text in _check_formula(task, formula, ())]
    for rule in rules:
        for part in rule.parts:
            formulas = [f for f in (part.body, part.step, part.guard) if f is not None]
            for text in [text for f in formulas for text in _check_formula(task, f, part.parameters)]:
                yield f"rule {rule.name}: {text}"


def _check_action(task: Task, action: Action) -> Iterator[str]:
    for snap in (action.start, action.end):
        if snap is not None:
            for formula in snap.condition:
                yield from _check_formula(task, formula, action.parameters)
            for effect in snap.effects:
                yield from _check_effect(task, effect, action.parameters)
    for formula in action.over_all:
        yield from _check_formula(task, formula, action.parameters)


def _check_effect(task: Task, effect: Effect, outer_variables: Sequence[Variable]) -> Iterator[str]:
    variables = (*outer_variables, *effect.variables)
    for formula in (effect.condition, effect.at_start, *effect.adds, *effect.deletes):
        yield from _check_formula(task, formula, variables)
    for assignment in effect.assignments:
        yield from _check_reference(
            task.functions, assignment.function, assignment.arguments, {v.slot for v in variables}
        )
        yield from _check_expression(task, assignment.value, {v.slot for v in variables})


def _check_formula(task: Task, formula: Formula, variables: Sequence[Variable]) -> Iterator[str]:
    inner = find_bound_variables(formula)
    slots = {v.slot for v in (*variables, *inner)}
    if len({v.slot for v in variables}) != len(variables) or {v.slot for v in variables} & {v.slot for v in inner}:
        yield "a slot is bound twice"
    for part in subformulas(formula):
        match part:
            case Atom():
                yield from _check_reference(task.predicates, part.predicate, part.arguments, slots)
            case Equal():
                yield from [f"slot {-1 - a} is not bound" for a in part if a < 0 and -1 - a not in slots]
            case Compare():
                for side in (part.left, part.right):
                    yield from _check_expression(task, side, slots)
            case Quantified():
                if not all([0 <= v.domain < len(task.domains) for v in part.variables]):
                    yield "a variable has an unknown domain"
            case Temporal():
                if len(part.operands) != OPERANDS.get(part.operator):
                    yield f"`{part.operator}` with {len(part.operands)} operands"
                if len(part.bounds) != BOUNDS.get(part.operator, 0):
                    yield f"`{part.operator}` with {len(part.bounds)} bounds"
            case Truth() | Not() | And() | Or():
                pass
            case _:
                assert_never(part)


def _check_expression(task: Task, expression: Expression, slots: set[int]) -> Iterator[str]:
    for part in subexpressions(expression):
        match part:
            case Fluent():
                yield from _check_reference(task.functions, part.function, part.arguments, slots)
            case Arithmetic():
                if not part.operands:
                    yield f"`{part.operator}` of nothing"
            case Constant() | Duration() | TotalTime() | IsViolated():
                pass
            case _:
                assert_never(part)


def _check_reference(
    declared: Sequence[Predicate], number: int, arguments: Sequence[int], slots: set[int]
) -> Iterator[str]:
    if not 0 <= number < len(declared):
        yield f"no object has the number {number}"
    elif len(declared[number].types) != len(arguments):
        yield f"`{declared[number].name}` with {len(arguments)} arguments"
    yield from [f"slot {-1 - a} is not bound" for a in arguments if a < 0 and -1 - a not in slots]
