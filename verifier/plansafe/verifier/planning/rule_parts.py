"""The parts of rules in a task draft: preconditions of actions, effects that read letters, and final conditions."""

from __future__ import annotations

from math import prod
from typing import assert_never

from plansafe.verifier.model.nodes import (
    TRUE,
    And,
    Atom,
    Compare,
    Effect,
    Equal,
    Formula,
    Not,
    Or,
    Quantified,
    Temporal,
    Truth,
    Variable,
    variable,
)
from plansafe.verifier.model.operations import (
    expression_fluents,
    find_bound_variables,
    free_slots,
    has_division,
    map_children,
    subformulas,
    substitute,
    substitute_in_atom,
)
from plansafe.verifier.planning.simplification import (
    fold_constants,
    is_conjunction,
    is_simple_precondition,
)
from plansafe.verifier.planning.task_draft import ActionEffect, FormulaReading, TaskDraft, make_formula_reading
from plansafe.verifier.planning.temporal_facts import (
    compile_value_after_letter,
    compile_value_at_letter,
    make_acceptance_condition,
)
from plansafe.verifier.planning.trace_automata import CannotCompile
from plansafe.verifier.planning.unused_functions import is_total
from plansafe.verifier.rules.model import RulePart, find_action_atom

MAX_EXPANSION = 20_000
"""Instances and formula nodes up to which a final condition is expanded into literals."""


def compile_rule_part(draft: TaskDraft, part: RulePart) -> None:
    """Add the check of a part of a rule. Raises :class:`CannotCompile`."""
    if any([not draft.source_task.domains[v.domain] for v in part.parameters]):
        return
    variables = [*part.parameters]
    for formula in (part.body, part.step, part.guard):
        if formula is not None:
            _require_defined_numbers(draft, formula)
            variables += find_bound_variables(formula)
    fresh_variables = {v.slot: v._replace(slot=next(draft.slots)) for v in variables}
    renaming = {old: variable(new.slot) for old, new in fresh_variables.items()}
    fresh_by_slot = {new.slot: new for new in fresh_variables.values()}
    parameters = tuple([fresh_variables[v.slot] for v in part.parameters])
    body = substitute(part.body, renaming)
    if part.mode == "each":
        assert part.step is not None
        step = substitute(part.step, renaming)
        guard = TRUE if part.guard is None else substitute(part.guard, renaming)
        if not draft.reads_actions(body) and not draft.reads_actions(guard):
            reading = make_formula_reading(fresh_by_slot, False)
            _compile_step_rule(draft, parameters, step, guard, body, part.after, reading)
            return
        premise: Formula = And((step, guard))
        if part.after:
            premise = Temporal("yesterday", (premise,))
        body = Or((Not(premise), body))
    reads_actions = draft.reads_actions(body)
    observed = make_formula_reading(fresh_by_slot, False) if reads_actions else None
    reading = make_formula_reading(fresh_by_slot, reads_actions, observed)
    if part.mode == "whole":
        add_final_condition(draft, parameters, make_acceptance_condition(draft, body, True, True, reading))
    elif part.mode == "end" and not reads_actions:
        add_final_condition(draft, parameters, compile_value_after_letter(draft, body, reading))
    else:
        effects = draft.make_violation_effects(parameters, Not(compile_value_at_letter(draft, body, reading)))
        if part.mode == "end":
            for effect in effects:
                draft.action_effects.append(ActionEffect(effect, happens_at_actions=False, happens_at_end=True))
        else:
            draft.add_effects(reading, effects)


def _require_defined_numbers(draft: TaskDraft, formula: Formula) -> None:
    """Refuse a formula with numbers that may be undefined: then it has no value, and facts have only two values."""
    for part in subformulas(formula):
        if isinstance(part, Compare):
            for expression in (part.left, part.right):
                if has_division(expression):
                    raise CannotCompile("it divides numbers")
                if not all([is_total(draft.source_task, fluent.function) for fluent in expression_fluents(expression)]):
                    raise CannotCompile("it reads numbers that may be undefined")


def _compile_step_rule(
    draft: TaskDraft,
    parameters: tuple[Variable, ...],
    step: Formula,
    guard: Formula,
    body: Formula,
    after: bool,
    reading: FormulaReading,
) -> None:
    """Add the check of a rule about one action: a precondition, or effects of the action or after it."""
    atom = find_action_atom(step)
    action = draft.action_by_predicate[atom.predicate]
    sets = draft.source_task.domain_sets
    terms: dict[int, int] = {}
    conditions: list[Formula] = [compile_value_after_letter(draft, guard, reading)]
    for argument, parameter in zip(atom.arguments, action.parameters, strict=True):
        slot = -1 - argument
        if argument < 0 and slot not in terms and sets[parameter.domain] <= sets[reading.variables[slot].domain]:
            terms[slot] = variable(parameter.slot)
        else:
            conditions.append(Equal(variable(parameter.slot), terms.get(slot, argument)))
    quantified_variables = step.variables if isinstance(step, Quantified) else ()
    free_variables = [v for v in (*parameters, *quantified_variables) if v.slot not in terms]
    matching_condition = substitute(And(tuple(conditions)), terms)
    if after:
        due_atom = _add_check_after_step(draft, body, reading)
        adds = (substitute_in_atom(due_atom, terms),)
        draft.added_effects[action.name] += draft.make_effects(free_variables, matching_condition, adds, ())
        draft.observed_actions.add(action.name)
        return
    required_condition = substitute(compile_value_after_letter(draft, body, reading), terms)
    precondition = fold_constants(draft.source_task, Or((Not(matching_condition), required_condition)))
    open_slots = free_slots(precondition)
    if not any([v.slot in open_slots for v in free_variables]) and is_simple_precondition(precondition):
        draft.added_conditions[action.name].append(precondition)
    else:
        draft.added_effects[action.name] += draft.make_violation_effects(free_variables, Not(precondition))


def _add_check_after_step(draft: TaskDraft, body: Formula, reading: FormulaReading) -> Atom:
    """Let ``observe`` check a formula once after its fact ``due`` was added; returns the atom of this fact."""
    variables, due_atom = draft.add_fact_of("due", body, reading)
    violation_condition = And((due_atom, Not(compile_value_at_letter(draft, body, reading))))
    draft.observe_effects += draft.make_violation_effects(variables, violation_condition)
    draft.observe_effects.append(Effect(tuple(variables), due_atom, (), (due_atom,), ()))
    return due_atom


class _TooLarge(Exception):
    """A condition has too many ground nodes."""


def add_final_condition(draft: TaskDraft, parameters: tuple[Variable, ...], formula: Formula) -> None:
    """Make a formula, for every binding of the parameters, part of the goal: as literals if it is a conjunction."""
    formula = draft.with_fresh_variables(formula)
    try:
        draft.added_goal += _collect_final_literals(draft, parameters, formula)
    except _TooLarge:
        quantified = Quantified(True, parameters, formula) if parameters else formula
        draft.added_goal.append(fold_constants(draft.source_task, quantified))


def _collect_final_literals(draft: TaskDraft, parameters: tuple[Variable, ...], formula: Formula) -> list[Formula]:
    """Return the literals of a condition for every binding. Raises :class:`_TooLarge`, also without a conjunction."""
    if prod([len(draft.source_task.domains[v.domain]) for v in parameters]) > MAX_EXPANSION:
        raise _TooLarge
    node_count = 0

    def ground(part: Formula) -> Formula:
        """Return a closed formula without quantifiers, with static facts folded."""
        nonlocal node_count
        node_count += 1
        if node_count > MAX_EXPANSION:
            raise _TooLarge
        match part:
            case Atom() if draft.is_static(part):
                return Truth(draft.source_task.encode(part.arguments) in draft.initial.facts[part.predicate])
            case Quantified():
                copies = [
                    ground(substitute(part.body, values)) for values in draft.source_task.bindings(part.variables, {})
                ]
                return fold_constants(draft.source_task, And(tuple(copies)) if part.universal else Or(tuple(copies)))
            case Temporal():
                return fold_constants(draft.source_task, part)
            case Truth() | Atom() | Equal() | Compare() | Not() | And() | Or():
                return fold_constants(draft.source_task, map_children(part, ground))
            case _:
                assert_never(part)

    literals: list[Formula] = []
    for values in draft.source_task.bindings(parameters, {}):
        conjunction = ground(substitute(formula, values))
        if not is_conjunction(conjunction):
            raise _TooLarge
        literals += conjunction.parts if isinstance(conjunction, And) else (conjunction,)
    return list(dict.fromkeys([literal for literal in literals if literal != TRUE]))
