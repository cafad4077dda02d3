"""Temporal formulas as facts: one for each past operator and for each state of the automaton of a trace operator."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple, assert_never

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
    TRACE_OPERATORS,
    free_slots,
    is_stutter_sensitive,
    map_children,
    past_operator,
)
from plansafe.verifier.planning.task_draft import FormulaReading, TaskDraft
from plansafe.verifier.planning.trace_automata import LtlAutomaton, OperatorAutomaton, TraceAutomaton
from plansafe.verifier.rules.rule_conjuncts import is_past_only

_MAX_NEGATED_STATES = 3
"""The number of other states up to which a condition recognizes the start state by their negated facts."""


def make_acceptance_condition(
    draft: TaskDraft, formula: Formula, positive: bool, is_required: bool, reading: FormulaReading
) -> Formula:
    """Make the condition at the end under which a formula (or its negation) holds of the trace.

    With ``is_required``, the trace must satisfy it: a step that makes that impossible is a violation at once.
    """
    if is_past_only(formula):
        return _add_automaton(draft, LtlAutomaton(draft.source_task, formula, positive), is_required, reading)
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
            if any([not draft.source_task.domains[v.domain] for v in formula.variables]):
                return Truth(universal)
            body = make_acceptance_condition(draft, formula.body, positive, is_required and universal, reading)
            return Quantified(universal, formula.variables, body)
        case Temporal():
            if formula.operator in TRACE_OPERATORS:
                add_letter_fact = partial(draft.add_letter_fact, is_read_by_actions=reading.is_read_by_actions)
                automaton = OperatorAutomaton(formula, positive, add_letter_fact)
                return _add_automaton(draft, automaton, is_required, reading)
            if formula.operator == "always" and positive and is_required and is_past_only(formula.operands[0]):
                violation_condition = Not(compile_value_at_letter(draft, formula.operands[0], reading))
                effects = draft.make_violation_effects(reading.variables.values(), violation_condition)
                draft.add_effects(reading, effects)
                return TRUE
            return _add_automaton(draft, LtlAutomaton(draft.source_task, formula, positive), is_required, reading)
        case Truth() | Atom() | Equal() | Compare():
            raise AssertionError("state formulas are past formulas")
        case _:
            assert_never(formula)


class _AutomatonFacts(NamedTuple):
    """The atoms that represent the state of an automaton.

    ``state_atoms``: an atom for each state except the start state and dead states. ``left_start_atom``: true in all
    these states; ``None``: conditions name these states instead. ``accept_atom``: true in the accepting states;
    ``None``: conditions name these states instead.
    """

    state_atoms: dict[ComponentState, Atom]
    left_start_atom: Atom | None
    accept_atom: Atom | None


def _add_automaton(draft: TaskDraft, automaton: TraceAutomaton, is_required: bool, reading: FormulaReading) -> Formula:
    """Add facts for the states of an automaton and effects for its transitions; returns its acceptance condition."""
    draft.counts_steps |= automaton.counts_steps and not reading.is_read_by_actions
    leaves = [compile_value_at_letter(draft, leaf, reading) for leaf in automaton.leaves]
    slots = sorted(frozenset().union(*[free_slots(leaf) for leaf in automaton.leaves]))
    variables = [reading.variables[slot] for slot in slots]
    transitions: list[tuple[ComponentState, ComponentState, Formula]] = []
    for state, phase, cube, target in automaton.compute_transitions():
        literals = [leaves[leaf] if value else Not(leaves[leaf]) for leaf, value in cube]
        transitions.append((state, target, And((phase, *literals))))
    dead_states = {s for s in automaton.states if is_required and automaton.find_verdict(s) == PERMANENTLY_VIOLATED}
    accepting_states = {s for s in automaton.states if automaton.find_verdict(s) >= PRESENTLY_SATISFIED}
    start = automaton.start
    facts = _add_automaton_facts(draft, automaton, variables, dead_states, accepting_states)
    state_atoms = facts.state_atoms
    start_condition: Formula
    if facts.left_start_atom is None:
        start_condition = And(tuple([Not(atom) for atom in state_atoms.values()]))
    else:
        start_condition = Not(facts.left_start_atom)
    for state, target, condition in transitions:
        if target == state or state in dead_states:
            continue
        guard = And((start_condition if state == start else state_atoms[state], condition))
        if target in dead_states:
            draft.add_effects(reading, draft.make_violation_effects(variables, guard))
            continue
        adds = [state_atoms[target]] if target != start else []
        deletes = [state_atoms[state]] if state != start else []
        if facts.left_start_atom is not None and state == start:
            adds.append(facts.left_start_atom)
        elif facts.left_start_atom is not None and target == start:
            deletes.append(facts.left_start_atom)
        if facts.accept_atom is not None and target in accepting_states and state not in accepting_states:
            adds.append(facts.accept_atom)
        elif facts.accept_atom is not None and state in accepting_states and target not in accepting_states:
            deletes.append(facts.accept_atom)
        draft.add_effects(reading, draft.make_effects(variables, guard, tuple(adds), tuple(deletes)))
    if facts.accept_atom is not None:
        return facts.accept_atom
    if start in accepting_states:
        return And(tuple([Not(atom) for state, atom in state_atoms.items() if state not in accepting_states]))
    return Or(tuple([atom for state, atom in state_atoms.items() if state in accepting_states]))


def _add_automaton_facts(
    draft: TaskDraft,
    automaton: TraceAutomaton,
    variables: list[Variable],
    dead_states: set[ComponentState],
    accepting_states: set[ComponentState],
) -> _AutomatonFacts:
    """Add the predicates that represent the state of an automaton."""
    arguments = tuple([variable(v.slot) for v in variables])
    state_atoms = {
        state: Atom(draft.add_predicate(automaton.name, variables), arguments)
        for state in automaton.states
        if state != automaton.start and state not in dead_states
    }
    left_start_atom: Atom | None = None
    if len(state_atoms) > _MAX_NEGATED_STATES:
        left_start_atom = Atom(draft.add_predicate("left-" + automaton.name, variables), arguments)
    accept_atom: Atom | None = None
    if automaton.start not in accepting_states and len(accepting_states) > 1:
        accept_atom = Atom(draft.add_predicate("accepts", variables), arguments)
    return _AutomatonFacts(state_atoms, left_start_atom, accept_atom)


def compile_value_at_letter(draft: TaskDraft, formula: Formula, reading: FormulaReading) -> Formula:
    """Compile the value of a past formula at the letter being read, as a condition of the reading effects."""
    if reading.is_read_by_actions and not draft.reads_actions(formula):
        assert reading.observed is not None
        return compile_value_after_letter(draft, formula, reading.observed)
    if isinstance(formula, Temporal):
        return _compile_past_operator(draft, formula, reading)
    return map_children(formula, lambda part: compile_value_at_letter(draft, part, reading))


def compile_value_after_letter(draft: TaskDraft, formula: Formula, reading: FormulaReading) -> Formula:
    """Compile the value of a past formula without actions at the present letter, after ``observe`` has read it."""
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
    draft.counts_steps |= is_stutter_sensitive(operator) and not reading.is_read_by_actions
    operands = [compile_value_at_letter(draft, operand, reading) for operand in formula.operands]
    variables, fact = draft.add_fact_of(operator, formula, reading)
    first, last = operands[0], operands[-1]
    value: Formula
    later_value: Formula
    match operator:
        case "once":
            effects = draft.make_effects(variables, first, (fact,), ())
            value, later_value = Or((fact, first)), fact
        case "historically":  # the fact: the operand has been false
            effects = draft.make_effects(variables, Not(first), (fact,), ())
            value, later_value = And((Not(fact), first)), Not(fact)
        case "since":
            effects = draft.make_effects(variables, last, (fact,), ())
            effects += draft.make_effects(variables, And((Not(first), Not(last))), (), (fact,))
            value, later_value = Or((last, And((first, fact)))), fact
        case "yesterday":  # the fact: the operand at the last letter
            effects = draft.make_effects(variables, first, (fact,), ())
            effects += draft.make_effects(variables, Not(first), (), (fact,))
            value = fact
            later_value = _add_past_value(draft, operator, variables, value, effects)
        case "weak-yesterday":  # the fact: the negated operand at the last letter
            effects = draft.make_effects(variables, first, (), (fact,))
            effects += draft.make_effects(variables, Not(first), (fact,), ())
            value = Not(fact)
            later_value = _add_past_value(draft, operator, variables, value, effects)
        case _:
            assert_never(operator)
    draft.add_effects(reading, effects, happens_at_end=False)
    reading.values[key] = value
    reading.later_values[key] = later_value
    return value


def _add_past_value(
    draft: TaskDraft, operator: str, variables: list[Variable], value: Formula, effects: list[Effect]
) -> Atom:
    """Add a fact for a value that the next letter overwrites, and its effects to ``effects``; returns the atom."""
    atom = Atom(draft.add_predicate("had-" + operator, variables), tuple([variable(v.slot) for v in variables]))
    effects += draft.make_effects(variables, value, (atom,), ())
    effects += draft.make_effects(variables, Not(value), (), (atom,))
    return atom
