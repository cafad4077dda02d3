"""The parts of rules in a draft: conditions of actions, effects that read letters, and goals."""

from __future__ import annotations

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
    Variable,
    variable,
)
from plansafe.verifier.model.operations import (
    bound_variables,
    expression_fluents,
    free_slots,
    subformulas,
    substitute,
    substitute_in_atom,
)
from plansafe.verifier.planning.draft import ActionEffect, Draft, Reading
from plansafe.verifier.planning.end_goal import require_at_end
from plansafe.verifier.planning.past_bits import now, settled
from plansafe.verifier.planning.rewriting import divides, folded, is_plain
from plansafe.verifier.planning.slicing import is_total
from plansafe.verifier.planning.trace_automata import CannotCompile
from plansafe.verifier.planning.trace_facts import holds_at_end
from plansafe.verifier.rules.model import Part


def add_part(draft: Draft, part: Part) -> None:
    """Add what checks a part of a rule. Raises :class:`CannotCompile`."""
    if any([not draft.source.domains[v.domain] for v in part.parameters]):
        return
    variables = [*part.parameters]
    for formula in (part.body, part.step, part.guard):
        if formula is not None:
            _defined_throughout(draft, formula)
            variables += bound_variables(formula)
    fresh = {v.slot: v._replace(slot=next(draft.slots)) for v in variables}
    values = {old: variable(new.slot) for old, new in fresh.items()}
    domains = {new.slot: new for new in fresh.values()}
    parameters = tuple([fresh[v.slot] for v in part.parameters])
    body = substitute(part.body, values)
    if part.mode == "each":
        assert part.step is not None
        step = substitute(part.step, values)
        guard = TRUE if part.guard is None else substitute(part.guard, values)
        if not draft.acts(body) and not draft.acts(guard):
            _step_rule(draft, parameters, step, guard, body, part.after, domains)
            return
        premise: Formula = And((step, guard))
        if part.after:
            premise = Temporal("yesterday", (premise,))
        body = Or((Not(premise), body))
    acting = draft.acts(body)
    reading = Reading(domains, acting, {}, {}, Reading(domains, False, {}, {}) if acting else None)
    if part.mode == "whole":
        require_at_end(draft, parameters, holds_at_end(draft, body, True, True, reading))
    elif part.mode == "end" and not reading.acting:
        require_at_end(draft, parameters, settled(draft, body, reading))
    elif part.mode == "end":
        at_end = draft.violation(parameters, Not(now(draft, body, reading)))
        draft.acting += [ActionEffect(effect, False, True) for effect in at_end]
    else:
        draft.emit(reading, draft.violation(parameters, Not(now(draft, body, reading))))


def _defined_throughout(draft: Draft, formula: Formula) -> None:
    """Refuse a formula whose numbers may be undefined, and with them its value: facts know two values only."""
    for part in subformulas(formula):
        if isinstance(part, Compare):
            for expression in (part.left, part.right):
                if divides(expression):
                    raise CannotCompile("it divides numbers")
                if not all([is_total(draft.source, fluent.function) for fluent in expression_fluents(expression)]):
                    raise CannotCompile("it reads numbers that may be undefined")


def _step_rule(
    draft: Draft,
    parameters: tuple[Variable, ...],
    step: Formula,
    guard: Formula,
    body: Formula,
    after: bool,
    domains: dict[int, Variable],
) -> None:
    reading = Reading(domains, False, {}, {})
    atom = step.body if isinstance(step, Quantified) else step
    assert isinstance(atom, Atom)
    action = draft.action_of[atom.predicate]
    sets = draft.source.domain_sets
    values: dict[int, int] = {}
    matched: list[Formula] = [settled(draft, guard, reading)]
    for argument, own in zip(atom.arguments, action.parameters, strict=True):
        new = argument < 0 and -1 - argument not in values
        if new and sets[own.domain] <= sets[domains[-1 - argument].domain]:
            values[-1 - argument] = variable(own.slot)
            continue
        matched.append(Equal(variable(own.slot), values.get(-1 - argument, argument)))
    wild = step.variables if isinstance(step, Quantified) else ()
    rest = [v for v in (*parameters, *wild) if v.slot not in values]
    match = substitute(And(tuple(matched)), values)
    if after:
        about = [domains[s] for s in sorted(free_slots(body))]
        due = draft.predicate("due", about)
        owed = Atom(due, tuple([variable(v.slot) for v in about]))
        draft.effects[action.name] += draft.when(rest, match, (substitute_in_atom(owed, values),), ())
        draft.touching.add(action.name)
        draft.observed += draft.violation(about, And((owed, Not(now(draft, body, reading)))))
        draft.observed.append(Effect(tuple(about), owed, (), (owed,), ()))
        return
    wanted = folded(draft.source, Or((Not(match), substitute(settled(draft, body, reading), values))))
    open_slots = free_slots(wanted)
    if not any([v.slot in open_slots for v in rest]) and is_plain(wanted):
        draft.conditions[action.name].append(wanted)
    else:
        draft.effects[action.name] += draft.violation(rest, Not(wanted))
