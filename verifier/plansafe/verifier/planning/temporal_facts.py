"""Temporal formulas as facts: one for each past operator and for each state of the automaton of a trace operator."""

from __future__ import annotations

from functools import partial
from typing import assert_never

from plansafe.verifier.execution.monitors.temporal_grounding import make_structural_key
from plansafe.verifier.execution.monitors.trace_operators import (
    PERMANENTLY_VIOLATED,
    PRESENTLY_SATISFIED,
    ComponentState,
)
from plansafe.verifier.model.nodes import (
    TRUE,
    And,
    Atom,
    Compare,
    Equal,
    Formula,
    Not,
    Or,
    Quantified,
    Temporal,
    Truth,
    variable,
)
from plansafe.verifier.model.operations import (
    TRACE_OPERATORS,
    free_slots,
    is_stutter_sensitive,
    map_children,
    past_operator,
)
from plansafe.verifier.planning.task_draft import FormulaReading, TaskDraft
from plansafe.verifier.planning.trace_automata import LtlAutomaton, OperatorAutomaton, TraceAutomaton
from plansafe.verifier.rules.rule_conjuncts import is_past_only


def make_acceptance_condition(
    draft: TaskDraft, formula: Formula, positive: bool, is_required: bool, reading: FormulaReading
) -> Formula:
    """The condition at the end under which a formula (or its negation) holds of the trace.

    With ``is_required``, the trace must satisfy it: whatever makes that impossible is a violation at once.
    """
    if is_past_only(formula):
        return _add_automaton(draft, LtlAutomaton(draft.source, formula, positive), is_required, reading)
    match formula:
        case Not():
            return make_acceptance_condition(draft, formula.body, not positive, is_required, reading)
        case And() | Or():
            is_and = isinstance(formula, And) == positive
            parts = [
                make_acceptance_condition(draft, p, positive, is_required and is_and, reading) for p in formula.parts
            ]
            return And(tuple(parts)) if is_and else Or(tuple(parts))
        case Quantified():
            universal = formula.universal == positive
            if any([not draft.source.domains[v.domain] for v in formula.variables]):
                return Truth(universal)
            body = make_acceptance_condition(draft, formula.body, positive, is_required and universal, reading)
            return Quantified(universal, formula.variables, body)
        case Temporal():
            if formula.operator in TRACE_OPERATORS:
                up_to_letter = partial(draft.add_letter_fact, by_actions=reading.by_actions)
                return _add_automaton(draft, OperatorAutomaton(formula, positive, up_to_letter), is_required, reading)
            if formula.operator == "always" and positive and is_required and is_past_only(formula.operands[0]):
                violated = Not(compile_value_at_letter(draft, formula.operands[0], reading))
                draft.add_effects(reading, draft.make_violation_effects(reading.variables.values(), violated))
                return TRUE
            return _add_automaton(draft, LtlAutomaton(draft.source, formula, positive), is_required, reading)
        case Truth() | Atom() | Equal() | Compare():
            raise AssertionError("state formulas are past formulas")
        case _:
            assert_never(formula)


def _add_automaton(draft: TaskDraft, automaton: TraceAutomaton, is_required: bool, reading: FormulaReading) -> Formula:
    """Add facts for the states of an automaton and effects for its transitions; returns its acceptance condition."""
    draft.counts_steps |= automaton.counts_steps and not reading.by_actions
    leaves = [compile_value_at_letter(draft, leaf, reading) for leaf in automaton.leaves]
    slots = sorted(frozenset().union(*[free_slots(leaf) for leaf in automaton.leaves]))
    variables = [reading.variables[slot] for slot in slots]
    arguments = tuple([variable(slot) for slot in slots])
    start = automaton.start
    transitions: list[tuple[ComponentState, ComponentState, Formula]] = []
    for state, phase, cube, target in automaton.compute_transitions():
        literals = [leaves[leaf] if value else Not(leaves[leaf]) for leaf, value in cube]
        transitions.append((state, target, And((phase, *literals))))
    dead_states = {s for s in automaton.states if is_required and automaton.find_verdict(s) == PERMANENTLY_VIOLATED}
    states = [state for state in automaton.states if state != start and state not in dead_states]
    facts = {state: Atom(draft.add_predicate(automaton.name, variables), arguments) for state in states}
    accepting = {state for state in automaton.states if automaton.find_verdict(state) >= PRESENTLY_SATISFIED}
    left_start: Atom | None = None
    if len(states) > 3:
        left_start = Atom(draft.add_predicate("left-" + automaton.name, variables), arguments)
    has_accept_fact = start not in accepting and len(accepting) > 1
    accept_fact = Atom(draft.add_predicate("accepts", variables), arguments) if has_accept_fact else None
    in_start: Formula = And(tuple([Not(fact) for fact in facts.values()])) if left_start is None else Not(left_start)
    for state, target, condition in transitions:
        if target == state or state in dead_states:
            continue
        guard = And((in_start if state == start else facts[state], condition))
        if target in dead_states:
            draft.add_effects(reading, draft.make_violation_effects(variables, guard))
            continue
        adds = [facts[target]] if target != start else []
        deletes = [facts[state]] if state != start else []
        if left_start is not None and start in (state, target):
            (adds if state == start else deletes).append(left_start)
        if accept_fact is not None and (state in accepting) != (target in accepting):
            (adds if target in accepting else deletes).append(accept_fact)
        draft.add_effects(reading, draft.make_effects(variables, guard, tuple(adds), tuple(deletes)))
    if accept_fact is not None:
        return accept_fact
    if start in accepting:
        return And(tuple([Not(facts[state]) for state in states if state not in accepting]))
    return Or(tuple([facts[state] for state in states if state in accepting]))


def compile_value_at_letter(draft: TaskDraft, formula: Formula, reading: FormulaReading) -> Formula:
    """The value of a past formula at the letter being read, as a condition of the reading effects."""
    if reading.by_actions and not draft.reads_actions(formula):
        assert reading.observed is not None
        return compile_value_after_letter(draft, formula, reading.observed)
    if isinstance(formula, Temporal):
        return _compile_past_operator(draft, formula, reading)
    return map_children(formula, lambda part: compile_value_at_letter(draft, part, reading))


def compile_value_after_letter(draft: TaskDraft, formula: Formula, reading: FormulaReading) -> Formula:
    """The value of a past formula without actions at the present letter, after ``observe`` has read it."""
    if isinstance(formula, Temporal):
        _compile_past_operator(draft, formula, reading)
        return reading.later_values[make_structural_key(formula)]
    return map_children(formula, lambda part: compile_value_after_letter(draft, part, reading))


def _compile_past_operator(draft: TaskDraft, formula: Temporal, reading: FormulaReading) -> Formula:
    """Add a fact for a past operator with the effects that update it; returns its value at the letter being read."""
    key = make_structural_key(formula)
    if key in reading.values:
        return reading.values[key]
    operator = past_operator(formula)
    draft.counts_steps |= is_stutter_sensitive(operator) and not reading.by_actions
    operands = [compile_value_at_letter(draft, operand, reading) for operand in formula.operands]
    variables, fact = draft.add_memory(operator, formula, reading)
    first = operands[0]
    value: Formula
    later: Formula
    match operator:
        case "once":
            effects = draft.make_effects(variables, first, (fact,), ())
            value, later = Or((fact, first)), fact
        case "historically":  # the fact: the operand has been false
            effects = draft.make_effects(variables, Not(first), (fact,), ())
            value, later = And((Not(fact), first)), Not(fact)
        case "since":
            effects = draft.make_effects(variables, operands[1], (fact,), ())
            effects += draft.make_effects(variables, And((Not(first), Not(operands[1]))), (), (fact,))
            value, later = Or((operands[1], And((first, fact)))), fact
        case "yesterday" | "weak-yesterday":  # the fact: the operand at the last letter, negated for the weak operator
            is_weak = operator == "weak-yesterday"
            effects = draft.make_effects(variables, first, () if is_weak else (fact,), (fact,) if is_weak else ())
            effects += draft.make_effects(variables, Not(first), (fact,) if is_weak else (), () if is_weak else (fact,))
            value = Not(fact) if is_weak else fact
            later_fact = Atom(draft.add_predicate("had-" + operator, variables), fact.arguments)
            effects += draft.make_effects(variables, value, (later_fact,), ())
            effects += draft.make_effects(variables, Not(value), (), (later_fact,))
            later = later_fact
        case _:
            assert_never(operator)
    draft.add_effects(reading, effects, at_end=False)
    reading.values[key] = value
    reading.later_values[key] = later
    return value
