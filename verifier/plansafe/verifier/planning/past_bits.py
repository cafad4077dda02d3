"""Past formulas as facts: a bit for each operator, updated when a letter is read."""

from __future__ import annotations

from typing import assert_never

from plansafe.verifier.execution.monitors.program import (
    structure,
)
from plansafe.verifier.model.nodes import (
    And,
    Atom,
    Formula,
    Not,
    Or,
    Temporal,
)
from plansafe.verifier.model.operations import is_stutter_sensitive, map_children, past_operator
from plansafe.verifier.planning.draft import Draft, Reading


def now(draft: Draft, formula: Formula, reading: Reading) -> Formula:
    """The value of a past formula at the letter being read, as a condition of what reads it."""
    if reading.acting and not draft.acts(formula):
        assert reading.early is not None
        return settled(draft, formula, reading.early)
    if isinstance(formula, Temporal):
        return _bit(draft, formula, reading)
    return map_children(formula, lambda part: now(draft, part, reading))


def settled(draft: Draft, formula: Formula, reading: Reading) -> Formula:
    """The value of a past formula without actions at the present letter, once ``observe`` has read it."""
    if isinstance(formula, Temporal):
        _bit(draft, formula, reading)
        return reading.settled[structure(formula)]
    return map_children(formula, lambda part: settled(draft, part, reading))


def _bit(draft: Draft, formula: Temporal, reading: Reading) -> Formula:
    key = structure(formula)
    if key in reading.bits:
        return reading.bits[key]
    operator = past_operator(formula)
    draft.stepwise |= is_stutter_sensitive(operator) and not reading.acting
    operands = [now(draft, operand, reading) for operand in formula.operands]
    about, bit = draft.remembered(operator, formula, reading)
    first = operands[0]
    value: Formula
    settled: Formula
    match operator:
        case "once":
            changes = draft.when(about, first, (bit,), ())
            value, settled = Or((bit, first)), bit
        case "historically":  # the bit: it has been false
            changes = draft.when(about, Not(first), (bit,), ())
            value, settled = And((Not(bit), first)), Not(bit)
        case "since":
            changes = draft.when(about, operands[1], (bit,), ())
            changes += draft.when(about, And((Not(first), Not(operands[1]))), (), (bit,))
            value, settled = Or((operands[1], And((first, bit)))), bit
        case "yesterday" | "weak-yesterday":  # the bit: the operand at the last letter, for the weak one its negation
            weak = operator == "weak-yesterday"
            changes = draft.when(about, first, () if weak else (bit,), (bit,) if weak else ())
            changes += draft.when(about, Not(first), (bit,) if weak else (), () if weak else (bit,))
            value = Not(bit) if weak else bit
            settled_at = Atom(draft.predicate("had-" + operator, about), bit.arguments)
            changes += draft.when(about, value, (settled_at,), ())
            changes += draft.when(about, Not(value), (), (settled_at,))
            settled = settled_at
        case _:
            assert_never(operator)
    draft.emit(reading, changes, final=False)
    reading.bits[key] = value
    reading.settled[key] = settled
    return value
