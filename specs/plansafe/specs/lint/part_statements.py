"""Encode the parts of rules as statements about a letter and the letter after it."""

from __future__ import annotations

from typing import assert_never

from plansafe.specs.lint.grounder import Binding, Grounder
from plansafe.specs.lint.letter_question import LetterQuestion, Statement
from plansafe.verifier.model.nodes import (
    FALSE,
    Atom,
    Formula,
    Not,
    Or,
    Quantified,
    Temporal,
    Truth,
    Variable,
    variable,
)
from plansafe.verifier.model.operations import find_signed_symbols, map_children
from plansafe.verifier.rules.model import Rule, RulePart
from plansafe.verifier.symbolic.circuits.circuit import TRUE, Literal


def forbids_step(part: RulePart) -> bool:
    """Whether a part forbids its step without any condition."""
    is_false = part.body in (FALSE, Or(())) and isinstance(part.body, Truth | Or)
    return part.mode == "each" and not part.after and is_false and part.guard is None


def split_step_pattern(part: RulePart) -> tuple[Atom, tuple[Variable, ...]]:
    """The step pattern of a part, and its variables that match any object (``_``)."""
    step = part.step
    if isinstance(step, Quantified):
        assert isinstance(step.body, Atom)
        return step.body, step.variables
    assert isinstance(step, Atom)
    return step, ()


def make_value_statement(formula: Formula, binding: Binding, letter: int, positive: bool) -> Statement:
    """A formula is true (``positive``), or false."""
    return lambda grounder: grounder.encode_truth(formula, binding, letter, positive)


def require_violation(question: LetterQuestion, part: RulePart) -> bool:
    """Require that a part is violated for some objects, at letter 0 or after the step taken there.

    ``False`` if the violation is not about one letter and the next.
    """
    binding = question.add_elements(part.parameters)
    if part.mode == "each":
        step, wildcards = split_step_pattern(part)
        binding |= question.add_elements(wildcards)
        kind, name = question.index.action_predicates[step.predicate]
        question.take_action(kind, name, question.grounder.find_elements(step.arguments, binding))
        if part.guard is not None:
            question.require(make_value_statement(part.guard, binding, 0, True))
    elif part.mode == "end":
        question.grounder.is_last = True
    elif part.mode == "whole":
        at_end = find_body_at_last_letter(part.body)
        if at_end is None:
            return False
        question.grounder.is_last = True
        question.require(make_value_statement(at_end, binding, 0, False))
        return True
    question.require(make_value_statement(part.body, binding, int(part.after), False))
    return True


def make_satisfaction_statements(part: RulePart, letters: tuple[int, ...]) -> list[Statement]:
    """The statements about these letters that follow if a part is satisfied, for all objects.

    There is none about the end of the trace at a letter with an action.
    """
    if part.mode == "always":
        return [_make_letter_statement(part.parameters, part.body, letter) for letter in letters]
    if part.mode == "each":
        return [] if forbids_step(part) else [_make_step_statement(part)]
    at_end = part.body if part.mode == "end" else find_body_at_last_letter(part.body)
    return [] if at_end is None else [_make_letter_statement(part.parameters, at_end, 0, only_last=True)]


def _make_letter_statement(
    parameters: tuple[Variable, ...], body: Formula, letter: int, only_last: bool = False
) -> Statement:
    def statement(grounder: Grounder) -> Literal:
        if only_last and not grounder.is_last:
            return TRUE
        return grounder.encode_for_all(parameters, lambda binding: grounder.encode_truth(body, binding, letter, True))

    return statement


def _make_step_statement(part: RulePart) -> Statement:
    step, wildcards = split_step_pattern(part)

    def statement(grounder: Grounder) -> Literal:
        action = grounder.action
        if action is None or grounder.index.action_predicates[step.predicate] != (action.kind, action.action.name):
            return TRUE
        fixed_binding: Binding = {}
        matches: list[Literal] = []
        for argument, element in zip(step.arguments, action.arguments, strict=True):
            if argument >= 0:
                matches.append(grounder.universe.encode_equality(grounder.universe.find_element(argument), element))
            elif variable(argument) in fixed_binding:
                matches.append(grounder.universe.encode_equality(fixed_binding[variable(argument)], element))
            else:
                fixed_binding[variable(argument)] = element
        bound = [v for v in (*part.parameters, *wildcards) if v.slot in fixed_binding]
        matches += [grounder.universe.encode_membership(fixed_binding[v.slot], v.domain) for v in bound]
        free_parameters = tuple([v for v in part.parameters if v.slot not in fixed_binding])
        mismatches = [literal ^ 1 for literal in matches]

        def satisfies(free_binding: Binding) -> Literal:
            binding = {**fixed_binding, **free_binding}
            guard = [] if part.guard is None else [grounder.encode_truth(part.guard, binding, 0, False)]
            body = grounder.encode_truth(part.body, binding, int(part.after), True)
            return grounder.circuit.disjunction([*mismatches, *guard, body])

        return grounder.encode_for_all(free_parameters, satisfies)

    return statement


def find_body_at_last_letter(formula: Formula) -> Formula | None:
    """The condition on the last letter that follows from a formula over the trace; ``None`` if there is none.

    A trace of one letter violates both or neither.
    """
    try:
        match formula:
            case Temporal("always" | "at-end", (body,)):
                return rewrite_for_last_letter(body)
            case Temporal("sometime-after" | "always-within", (trigger, answer)):
                return Or((Not(rewrite_for_last_letter(trigger)), rewrite_for_last_letter(answer)))
            case _:
                return None
    except _NotInLtlf:
        return None


class _NotInLtlf(Exception):
    """A formula has an operator that is not in LTLf."""


def rewrite_for_last_letter(formula: Formula) -> Formula:
    """A formula with the same value at the last letter, without future operators. Raises :class:`_NotInLtlf`."""
    if not isinstance(formula, Temporal):
        return map_children(formula, rewrite_for_last_letter)
    match formula.operator:
        case "next" | "weak-next":
            return Truth(formula.operator == "weak-next")
        case "always" | "sometime" | "until" | "release":
            return rewrite_for_last_letter(formula.operands[-1])
        case "sometime-after":
            trigger, answer = formula.operands
            return Or((Not(rewrite_for_last_letter(trigger)), rewrite_for_last_letter(answer)))
        case "yesterday" | "weak-yesterday" | "once" | "historically" | "since":
            return formula
        case "at-end" | "within" | "at-most-once" | "sometime-before" | "always-within" | "hold-during" | "hold-after":
            raise _NotInLtlf
        case _:
            assert_never(formula.operator)


def read_symbols(rule: Rule) -> set[int]:
    """The predicates that the parts of a rule read, including actions; functions as negative numbers."""
    formulas = [formula for part in rule.parts for formula in (part.body, part.guard, part.step) if formula is not None]
    return find_signed_symbols(*formulas)
