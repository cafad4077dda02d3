"""Formulas over the trace as facts for the states of automata, and what must hold of these at the end."""

from __future__ import annotations

from functools import partial
from typing import assert_never

from plansafe.verifier.execution.monitors.program import (
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
from plansafe.verifier.model.operations import TRACE_OPERATORS, free_slots
from plansafe.verifier.planning.draft import Draft, Reading
from plansafe.verifier.planning.past_bits import now
from plansafe.verifier.planning.trace_automata import Automaton, Ltl, WholeTrace
from plansafe.verifier.rules.split import past_only


def holds_at_end(draft: Draft, formula: Formula, positive: bool, fatal: bool, reading: Reading) -> Formula:
    """What must hold at the end for a formula (or its negation) to hold of the trace.

    With ``fatal``, the trace must satisfy it: whatever makes that impossible is a violation at once.
    """
    if past_only(formula):
        return _automaton(draft, Ltl(draft.source, formula, positive), fatal, reading)
    match formula:
        case Not():
            return holds_at_end(draft, formula.body, not positive, fatal, reading)
        case And() | Or():
            joined = isinstance(formula, And) == positive
            parts = tuple([holds_at_end(draft, p, positive, fatal and joined, reading) for p in formula.parts])
            return And(parts) if joined else Or(parts)
        case Quantified():
            universal = formula.universal == positive
            if any([not draft.source.domains[v.domain] for v in formula.variables]):
                return Truth(universal)
            inner = holds_at_end(draft, formula.body, positive, fatal and universal, reading)
            return Quantified(universal, formula.variables, inner)
        case Temporal():
            if formula.operator in TRACE_OPERATORS:
                return _automaton(
                    draft, WholeTrace(formula, positive, partial(draft.before, acting=reading.acting)), fatal, reading
                )
            if formula.operator == "always" and positive and fatal and past_only(formula.operands[0]):
                body = now(draft, formula.operands[0], reading)
                draft.emit(reading, draft.violation(reading.domains.values(), Not(body)))
                return TRUE
            return _automaton(draft, Ltl(draft.source, formula, positive), fatal, reading)
        case Truth() | Atom() | Equal() | Compare():
            raise AssertionError("state formulas are past formulas")
        case _:
            assert_never(formula)


def _automaton(draft: Draft, automaton: Automaton, fatal: bool, reading: Reading) -> Formula:
    """Facts for the states of an automaton, effects for its transitions; returns when it accepts at the end."""
    draft.stepwise |= automaton.stepwise and not reading.acting
    leaves = [now(draft, leaf, reading) for leaf in automaton.leaves]
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
