"""Formulas over the trace as facts for the states of automata, and what must hold of these at the end."""

from __future__ import annotations

from functools import partial
from typing import assert_never

from plansafe.verifier.execution.monitors.temporal_grounding import structural_key
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


def acceptance_condition(
    draft: TaskDraft, formula: Formula, positive: bool, fatal: bool, reading: FormulaReading
) -> Formula:
    """What must hold at the end for a formula (or its negation) to hold of the trace.

    With ``fatal``, the trace must satisfy it: whatever makes that impossible is a violation at once.
    """
    if is_past_only(formula):
        return _automaton(draft, LtlAutomaton(draft.source, formula, positive), fatal, reading)
    match formula:
        case Not():
            return acceptance_condition(draft, formula.body, not positive, fatal, reading)
        case And() | Or():
            joined = isinstance(formula, And) == positive
            parts = tuple([acceptance_condition(draft, p, positive, fatal and joined, reading) for p in formula.parts])
            return And(parts) if joined else Or(parts)
        case Quantified():
            universal = formula.universal == positive
            if any([not draft.source.domains[v.domain] for v in formula.variables]):
                return Truth(universal)
            inner = acceptance_condition(draft, formula.body, positive, fatal and universal, reading)
            return Quantified(universal, formula.variables, inner)
        case Temporal():
            if formula.operator in TRACE_OPERATORS:
                return _automaton(
                    draft,
                    OperatorAutomaton(formula, positive, partial(draft.before, acting=reading.acting)),
                    fatal,
                    reading,
                )
            if formula.operator == "always" and positive and fatal and is_past_only(formula.operands[0]):
                body = value_at_letter(draft, formula.operands[0], reading)
                draft.emit(reading, draft.violation(reading.domains.values(), Not(body)))
                return TRUE
            return _automaton(draft, LtlAutomaton(draft.source, formula, positive), fatal, reading)
        case Truth() | Atom() | Equal() | Compare():
            raise AssertionError("state formulas are past formulas")
        case _:
            assert_never(formula)


def _automaton(draft: TaskDraft, automaton: TraceAutomaton, fatal: bool, reading: FormulaReading) -> Formula:
    """Facts for the states of an automaton, effects for its transitions; returns when it accepts at the end."""
    draft.stepwise |= automaton.stepwise and not reading.acting
    leaves = [value_at_letter(draft, leaf, reading) for leaf in automaton.leaves]
    slots = sorted(frozenset().union(*[free_slots(leaf) for leaf in automaton.leaves]))
    about = [reading.domains[slot] for slot in slots]
    arguments = tuple([variable(slot) for slot in slots])
    start = automaton.start
    transitions: list[tuple[ComponentState, ComponentState, Formula]] = []
    for state, phase, cube, target in automaton.transitions():
        literals = [leaves[leaf] if wanted else Not(leaves[leaf]) for leaf, wanted in cube]
        transitions.append((state, target, And((phase, *literals))))
    dead = {s for s in automaton.states if fatal and automaton.verdict(s) == PERMANENTLY_VIOLATED}
    states = [s for s in automaton.states if s != start and s not in dead]
    facts = {s: Atom(draft.predicate(automaton.name, about), arguments) for s in states}
    accepting = {s for s in automaton.states if automaton.verdict(s) >= PRESENTLY_SATISFIED}
    away: Atom | None = None
    if len(states) > 3:
        away = Atom(draft.predicate("left-" + automaton.name, about), arguments)
    several = start not in accepting and len(accepting) > 1
    accepts = Atom(draft.predicate("accepts", about), arguments) if several else None
    at_start: Formula = Not(away) if away is not None else And(tuple([Not(fact) for fact in facts.values()]))
    for state, target, condition in transitions:
        if target == state or state in dead:
            continue
        here = And((at_start if state == start else facts[state], condition))
        if target in dead:
            draft.emit(reading, draft.violation(about, here))
            continue
        adds = [facts[target]] if target != start else []
        deletes = [facts[state]] if state != start else []
        if away is not None and start in (state, target):
            (adds if state == start else deletes).append(away)
        if accepts is not None and (state in accepting) != (target in accepting):
            (adds if target in accepting else deletes).append(accepts)
        draft.emit(reading, draft.when(about, here, tuple(adds), tuple(deletes)))
    if accepts is not None:
        return accepts
    if start in accepting:
        return And(tuple([Not(facts[s]) for s in states if s not in accepting]))
    return Or(tuple([facts[s] for s in states if s in accepting]))


def value_at_letter(draft: TaskDraft, formula: Formula, reading: FormulaReading) -> Formula:
    """The value of a past formula at the letter being read, as a condition of what reads it."""
    if reading.acting and not draft.acts(formula):
        assert reading.early is not None
        return value_after_letter(draft, formula, reading.early)
    if isinstance(formula, Temporal):
        return _bit(draft, formula, reading)
    return map_children(formula, lambda part: value_at_letter(draft, part, reading))


def value_after_letter(draft: TaskDraft, formula: Formula, reading: FormulaReading) -> Formula:
    """The value of a past formula without actions at the present letter, once ``observe`` has read it."""
    if isinstance(formula, Temporal):
        _bit(draft, formula, reading)
        return reading.settled[structural_key(formula)]
    return map_children(formula, lambda part: value_after_letter(draft, part, reading))


def _bit(draft: TaskDraft, formula: Temporal, reading: FormulaReading) -> Formula:
    key = structural_key(formula)
    if key in reading.bits:
        return reading.bits[key]
    operator = past_operator(formula)
    draft.stepwise |= is_stutter_sensitive(operator) and not reading.acting
    operands = [value_at_letter(draft, operand, reading) for operand in formula.operands]
    about, bit = draft.remembered(operator, formula, reading)
    first = operands[0]
    value: Formula
    value_after_letter: Formula
    match operator:
        case "once":
            changes = draft.when(about, first, (bit,), ())
            value, value_after_letter = Or((bit, first)), bit
        case "historically":  # the bit: it has been false
            changes = draft.when(about, Not(first), (bit,), ())
            value, value_after_letter = And((Not(bit), first)), Not(bit)
        case "since":
            changes = draft.when(about, operands[1], (bit,), ())
            changes += draft.when(about, And((Not(first), Not(operands[1]))), (), (bit,))
            value, value_after_letter = Or((operands[1], And((first, bit)))), bit
        case "yesterday" | "weak-yesterday":  # the bit: the operand at the last letter, for the weak one its negation
            weak = operator == "weak-yesterday"
            changes = draft.when(about, first, () if weak else (bit,), (bit,) if weak else ())
            changes += draft.when(about, Not(first), (bit,) if weak else (), () if weak else (bit,))
            value = Not(bit) if weak else bit
            settled_at = Atom(draft.predicate("had-" + operator, about), bit.arguments)
            changes += draft.when(about, value, (settled_at,), ())
            changes += draft.when(about, Not(value), (), (settled_at,))
            value_after_letter = settled_at
        case _:
            assert_never(operator)
    draft.emit(reading, changes, final=False)
    reading.bits[key] = value
    reading.settled[key] = value_after_letter
    return value
