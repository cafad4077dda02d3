"""The parts of rules in a draft: conditions of actions, effects that read letters, and goals."""

from __future__ import annotations

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
    bound_variables,
    expression_fluents,
    free_slots,
    subformulas,
    substitute,
    substitute_in_atom,
)
from plansafe.verifier.planning.simplification import (
    fold_constants,
    has_division,
    is_conjunction,
    is_simple_precondition,
    is_total,
)
from plansafe.verifier.planning.task_draft import ActionEffect, FormulaReading, TaskDraft
from plansafe.verifier.planning.temporal_facts import acceptance_condition, value_after_letter, value_at_letter
from plansafe.verifier.planning.trace_automata import CannotCompile
from plansafe.verifier.rules.model import RulePart


def compile_rule_part(draft: TaskDraft, part: RulePart) -> None:
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
    reading = FormulaReading(domains, acting, {}, {}, FormulaReading(domains, False, {}, {}) if acting else None)
    if part.mode == "whole":
        add_final_condition(draft, parameters, acceptance_condition(draft, body, True, True, reading))
    elif part.mode == "end" and not reading.acting:
        add_final_condition(draft, parameters, value_after_letter(draft, body, reading))
    elif part.mode == "end":
        at_end = draft.violation(parameters, Not(value_at_letter(draft, body, reading)))
        draft.acting += [ActionEffect(effect, False, True) for effect in at_end]
    else:
        draft.emit(reading, draft.violation(parameters, Not(value_at_letter(draft, body, reading))))


def _defined_throughout(draft: TaskDraft, formula: Formula) -> None:
    """Refuse a formula whose numbers may be undefined, and with them its value: facts know two values only."""
    for part in subformulas(formula):
        if isinstance(part, Compare):
            for expression in (part.left, part.right):
                if has_division(expression):
                    raise CannotCompile("it divides numbers")
                if not all([is_total(draft.source, fluent.function) for fluent in expression_fluents(expression)]):
                    raise CannotCompile("it reads numbers that may be undefined")


def _step_rule(
    draft: TaskDraft,
    parameters: tuple[Variable, ...],
    step: Formula,
    guard: Formula,
    body: Formula,
    after: bool,
    domains: dict[int, Variable],
) -> None:
    reading = FormulaReading(domains, False, {}, {})
    atom = step.body if isinstance(step, Quantified) else step
    assert isinstance(atom, Atom)
    action = draft.action_of[atom.predicate]
    sets = draft.source.domain_sets
    values: dict[int, int] = {}
    matched: list[Formula] = [value_after_letter(draft, guard, reading)]
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
        draft.observed += draft.violation(about, And((owed, Not(value_at_letter(draft, body, reading)))))
        draft.observed.append(Effect(tuple(about), owed, (), (owed,), ()))
        return
    wanted = fold_constants(
        draft.source, Or((Not(match), substitute(value_after_letter(draft, body, reading), values)))
    )
    open_slots = free_slots(wanted)
    if not any([v.slot in open_slots for v in rest]) and is_simple_precondition(wanted):
        draft.conditions[action.name].append(wanted)
    else:
        draft.effects[action.name] += draft.violation(rest, Not(wanted))


MAX_EXPANSION = 20_000


def add_final_condition(draft: TaskDraft, parameters: tuple[Variable, ...], formula: Formula) -> None:
    """Make a formula part of the goal for every binding: as literals where it comes to that."""
    formula = draft.apart(formula)
    sizes = 1
    for v in parameters:
        sizes *= len(draft.source.domains[v.domain])
    compound = sizes > MAX_EXPANSION
    if not compound:
        budget = [MAX_EXPANSION]
        literals: list[Formula] = []
        for values in draft.source.bindings(parameters, {}):
            ground = _grounded(draft, substitute(formula, values), budget)
            if ground is None or not is_conjunction(ground):
                compound = True
                break
            literals += ground.parts if isinstance(ground, And) else (ground,)
        else:
            draft.goal += dict.fromkeys([part for part in literals if part != TRUE])
    if compound:
        whole = Quantified(True, parameters, formula) if parameters else formula
        draft.goal.append(fold_constants(draft.source, whole))


def _grounded(draft: TaskDraft, formula: Formula, budget: list[int]) -> Formula | None:
    """A closed formula without quantifiers, static facts folded; ``None`` if that takes too many nodes."""
    budget[0] -= 1
    if budget[0] < 0:
        return None
    match formula:
        case Atom() if draft.static(formula):
            code = draft.source.encode(formula.arguments)
            return Truth(code in draft.initial.facts[formula.predicate])
        case Not():
            inner = _grounded(draft, formula.body, budget)
            return None if inner is None else fold_constants(draft.source, Not(inner))
        case And() | Or():
            parts: list[Formula] = []
            for part in formula.parts:
                ground = _grounded(draft, part, budget)
                if ground is None:
                    return None
                parts.append(ground)
            return fold_constants(draft.source, And(tuple(parts)) if isinstance(formula, And) else Or(tuple(parts)))
        case Quantified():
            copies: list[Formula] = []
            for values in draft.source.bindings(formula.variables, {}):
                ground = _grounded(draft, substitute(formula.body, values), budget)
                if ground is None:
                    return None
                copies.append(ground)
            return fold_constants(draft.source, And(tuple(copies)) if formula.universal else Or(tuple(copies)))
        case Truth() | Atom() | Equal() | Compare() | Temporal():
            return fold_constants(draft.source, formula)
        case _:
            assert_never(formula)
