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
    # Named tuples of different classes may be equal: hence also a test of the class.
    is_false = isinstance(part.body, Truth | Or) and part.body in (FALSE, Or(()))
    return part.mode == "each" and not part.after and is_false and part.guard is None


def split_step_pattern(part: RulePart) -> tuple[Atom, tuple[Variable, ...]]:
    """Return the step pattern of a part, and its variables that match any object (``_``)."""
    step = part.step
    if isinstance(step, Quantified):
        assert isinstance(step.body, Atom)
        return step.body, step.variables
    assert isinstance(step, Atom)
    return step, ()


def make_value_statement(formula: Formula, binding: Binding, letter: int, positive: bool) -> Statement:
    """State that a formula is true (``positive``), or false, at a letter."""
    return lambda grounder: grounder.encode_truth(formula, binding, letter, positive)


def require_violation(question: LetterQuestion, part: RulePart) -> bool:
    """Require that a part is violated for some objects, at letter 0 or after the step taken there.

    Return ``False`` if the violation is not about one letter and the next: then nothing is required.
    """
    binding = question.add_elements(part.parameters)
    if part.mode == "each":
        step, wildcards = split_step_pattern(part)
        binding |= question.add_elements(wildcards)
        kind, name = question.index.action_predicates[step.predicate]
        question.require_action(kind, name, question.grounder.get_elements(step.arguments, binding))
        if part.guard is not None:
            question.require(make_value_statement(part.guard, binding, 0, positive=True))
    elif part.mode == "end":
        question.grounder.is_last = True
    elif part.mode == "whole":
        last_letter_body = find_body_at_last_letter(part.body)
        if last_letter_body is None:
            return False
        question.grounder.is_last = True
        question.require(make_value_statement(last_letter_body, binding, 0, positive=False))
        return True
    question.require(make_value_statement(part.body, binding, int(part.after), positive=False))
    return True


def make_satisfaction_statements(part: RulePart, letters: tuple[int, ...]) -> list[Statement]:
    """Make the statements about these letters that follow if a part is satisfied, for all objects.

    A statement about the end of the trace requires nothing at a letter with an action.
    """
    if part.mode == "always":
        return [_make_letter_statement(part.parameters, part.body, letter) for letter in letters]
    if part.mode == "each":
        return [] if forbids_step(part) else [_make_step_statement(part)]
    last_letter_body = part.body if part.mode == "end" else find_body_at_last_letter(part.body)
    if last_letter_body is None:
        return []
    return [_make_letter_statement(part.parameters, last_letter_body, 0, only_if_last=True)]


def _make_letter_statement(
    parameters: tuple[Variable, ...], body: Formula, letter: int, only_if_last: bool = False
) -> Statement:
    def encode(grounder: Grounder) -> Literal:
        if only_if_last and not grounder.is_last:
            return TRUE
        return grounder.encode_for_all(parameters, lambda binding: grounder.encode_truth(body, binding, letter, True))

    return encode


def _make_step_statement(part: RulePart) -> Statement:
    step, wildcards = split_step_pattern(part)

    def encode(grounder: Grounder) -> Literal:
        action = grounder.action
        if action is None or grounder.index.action_predicates[step.predicate] != (action.kind, action.action.name):
            return TRUE
        fixed_binding: Binding = {}
        match_literals: list[Literal] = []
        for argument, element in zip(step.arguments, action.arguments, strict=True):
            if argument >= 0:
                match_literals.append(
                    grounder.universe.encode_equality(grounder.universe.get_element(argument), element)
                )
            elif variable(argument) in fixed_binding:
                match_literals.append(grounder.universe.encode_equality(fixed_binding[variable(argument)], element))
            else:
                fixed_binding[variable(argument)] = element
        bound = [v for v in (*part.parameters, *wildcards) if v.slot in fixed_binding]
        match_literals += [grounder.universe.encode_membership(fixed_binding[v.slot], v.domain) for v in bound]
        unbound_parameters = tuple([v for v in part.parameters if v.slot not in fixed_binding])
        mismatch_literals = [literal ^ 1 for literal in match_literals]

        def encode_satisfaction(free_binding: Binding) -> Literal:
            binding = {**fixed_binding, **free_binding}
            guard = [] if part.guard is None else [grounder.encode_truth(part.guard, binding, 0, False)]
            body = grounder.encode_truth(part.body, binding, int(part.after), True)
            return grounder.circuit.disjunction([*mismatch_literals, *guard, body])

        return grounder.encode_for_all(unbound_parameters, encode_satisfaction)

    return encode


def find_body_at_last_letter(formula: Formula) -> Formula | None:
    """Find the condition on the last letter that follows from a formula over the trace; ``None`` if there is none.

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
    except _UnsupportedOperator:
        return None


class _UnsupportedOperator(Exception):
    """Raised for a temporal operator that is not in LTLf."""


def rewrite_for_last_letter(formula: Formula) -> Formula:
    """Rewrite a formula without future operators, with the same value at the last letter.

    Raises :class:`_UnsupportedOperator`.
    """
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
            raise _UnsupportedOperator
        case _:
            assert_never(formula.operator)


def find_read_symbols(rule: Rule) -> set[int]:
    """Find the predicates that the parts of a rule read, including actions; functions are negative numbers."""
    formulas = [formula for part in rule.parts for formula in (part.body, part.guard, part.step) if formula is not None]
    return find_signed_symbols(*formulas)
