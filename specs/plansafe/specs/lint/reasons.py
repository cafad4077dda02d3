"""Why no trace of the given problems breaks a rule, in words."""

from __future__ import annotations

from plansafe.specs.lint.part_statements import step_pattern
from plansafe.verifier.model.limits import LimitReached
from plansafe.verifier.model.nodes import And, Atom, Formula, Not, Or, Quantified, Task, Truth, Variable
from plansafe.verifier.model.printing import formula_text
from plansafe.verifier.rules.model import RulePart, shown_names
from plansafe.verifier.symbolic.worlds.relaxation import Relaxation


def explain_never_violated(relaxed: Relaxation, task: Task, parts: tuple[RulePart, ...]) -> str:
    """What is never so, for the first part that shows it; empty if only all of it together is never so."""
    for part in parts:
        try:
            found = _of_part(relaxed, task, part)
        except LimitReached:
            continue
        if found:
            return found
    return ""


def _of_part(relaxed: Relaxation, task: Task, part: RulePart) -> str:
    if part.mode == "whole":
        return ""
    variables = part.parameters
    if part.step is not None:
        step, wild = step_pattern(part)
        if not relaxed.find_bindings(part.step, variables):
            name = task.predicates[step.predicate].name.rpartition(" ")[2]
            return f"`{name}` can never be taken with these objects"
        variables = (*variables, *wild)
    wanted = [(part.guard, True)] if part.guard is not None else []
    for formula, positive in (*wanted, (part.body, False)):
        for literal, value in _conjuncts(formula, positive):
            if isinstance(literal, Truth) or relaxed.find_bindings(literal, variables, value):
                continue
            text = open_formula_text(task, literal, variables)
            if isinstance(literal, Atom) and value:
                return f"{text} is never true: no initial state has it, and no executable action adds it"
            if isinstance(literal, Atom):
                return f"{text} is never false: the initial state has it, and no executable action deletes it"
            return f"{text} is never {'true' if value else 'false'}"
    return ""


def _conjuncts(formula: Formula, positive: bool) -> list[tuple[Formula, bool]]:
    """What must all be so where a formula has a value."""
    out: list[tuple[Formula, bool]] = []
    stack = [(formula, positive)]
    while stack:
        part, value = stack.pop()
        if isinstance(part, Not):
            stack.append((part.body, not value))
        elif isinstance(part, And | Or) and isinstance(part, And) == value:
            stack += [(inner, value) for inner in reversed(part.parts)]
        else:
            out.append((part, value))
    return out


def open_formula_text(task: Task, formula: Formula, variables: tuple[Variable, ...]) -> str:
    """A formula with free variables as PDDL, between backquotes."""
    if not variables:
        return f"`{formula_text(task, formula, {})}`"
    names = shown_names([v.name for v in variables])
    named = tuple([v._replace(name=name) for v, name in zip(variables, names, strict=True)])
    text = formula_text(task, Quantified(False, named, formula), {})
    return f"`{text[len('(exists (') + len(' '.join(names)) + len(') ') : -1]}`"
