"""What parts of rules say of a letter and the letter after it, as statements for questions."""

from __future__ import annotations

from typing import assert_never

from plansafe.specs.lint.grounder import Binding, Grounder
from plansafe.specs.lint.letter_question import LetterQuestion, Statement
from plansafe.verifier.model.nodes import (
    FALSE,
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
    Variable,
    variable,
)
from plansafe.verifier.model.operations import symbols_read
from plansafe.verifier.rules.model import Rule, RulePart
from plansafe.verifier.symbolic.circuits.circuit import TRUE, Literal


def forbids_step(part: RulePart) -> bool:
    """Whether a part forbids its step in so many words, without any condition."""
    never = part.body in (FALSE, Or(())) and isinstance(part.body, Truth | Or)
    return part.mode == "each" and not part.after and never and part.guard is None


def step_pattern(part: RulePart) -> tuple[Atom, tuple[Variable, ...]]:
    """The step pattern of a part, and the variables that stand for any object in it."""
    step = part.step
    if isinstance(step, Quantified):
        assert isinstance(step.body, Atom)
        return step.body, step.variables
    assert isinstance(step, Atom)
    return step, ()


def value_statement(formula: Formula, binding: Binding, letter: int, positive: bool) -> Statement:
    """A formula has a value."""
    return lambda grounder: grounder.truth(formula, binding, letter, positive)


def add_violation(asked: LetterQuestion, part: RulePart) -> bool:
    """Say that a part is broken here, for some objects: at letter 0, or after the step taken there.

    ``False`` if that is not about one letter and the next.
    """
    binding = asked.choose(part.parameters)
    if part.mode == "each":
        step, wild = step_pattern(part)
        binding |= asked.choose(wild)
        kind, name = asked.words.action_predicates[step.predicate]
        asked.take(kind, name, asked.grounder.elements(step.arguments, binding))
        if part.guard is not None:
            asked.say(value_statement(part.guard, binding, 0, True))
    elif part.mode == "end":
        asked.grounder.last = True
    elif part.mode == "whole":
        at_end = body_at_last_letter(part.body)
        if at_end is None:
            return False
        asked.grounder.last = True
        asked.say(value_statement(at_end, binding, 0, False))
        return True
    asked.say(value_statement(part.body, binding, int(part.after), False))
    return True


def satisfaction_statements(part: RulePart, letters: tuple[int, ...]) -> list[Statement]:
    """What is so of these letters wherever a part is kept: for all objects.

    At a letter with an action nothing is said of the end of the trace.
    """
    if part.mode == "always":
        return [_for_all(part.parameters, part.body, letter) for letter in letters]
    out = []
    if part.mode == "each" and not forbids_step(part):
        out.append(_at_step(part))
    elif part.mode in ("end", "whole"):
        at_end = part.body if part.mode == "end" else body_at_last_letter(part.body)
        if at_end is not None:
            out.append(_at_end(part.parameters, at_end))
    return out


def _for_all(parameters: tuple[Variable, ...], body: Formula, letter: int) -> Statement:
    def statement(grounder: Grounder) -> Literal:
        return grounder.every(parameters, lambda binding: grounder.truth(body, binding, letter, True))

    return statement


def _at_end(parameters: tuple[Variable, ...], body: Formula) -> Statement:
    def statement(grounder: Grounder) -> Literal:
        if not grounder.last:
            return TRUE
        return grounder.every(parameters, lambda binding: grounder.truth(body, binding, 0, True))

    return statement


def _at_step(part: RulePart) -> Statement:
    step, wild = step_pattern(part)

    def statement(grounder: Grounder) -> Literal:
        taken = grounder.taken
        if taken is None or grounder.words.action_predicates[step.predicate] != (taken.kind, taken.action.name):
            return TRUE
        given: Binding = {}
        matches: list[Literal] = []
        for argument, element in zip(step.arguments, taken.arguments, strict=True):
            if argument >= 0:
                matches.append(grounder.universe.equal(grounder.universe.of_object(argument), element))
            elif variable(argument) in given:
                matches.append(grounder.universe.equal(given[variable(argument)], element))
            else:
                given[variable(argument)] = element
        bound = [v for v in (*part.parameters, *wild) if v.slot in given]
        matches += [grounder.universe.member(given[v.slot], v.domain) for v in bound]
        free = tuple([v for v in part.parameters if v.slot not in given])
        missed = [literal ^ 1 for literal in matches]

        def obeyed(own: Binding) -> Literal:
            binding = {**given, **own}
            guard = [] if part.guard is None else [grounder.truth(part.guard, binding, 0, False)]
            body = grounder.truth(part.body, binding, int(part.after), True)
            return grounder.circuit.disjunction([*missed, *guard, body])

        return grounder.every(free, obeyed)

    return statement


def body_at_last_letter(formula: Formula) -> Formula | None:
    """What a formula over the trace says of its last letter alone: whatever keeps the one keeps the other there.

    So a trace of one letter breaks the formula exactly if it breaks this. ``None`` if there is no such formula.
    """
    match formula:
        case Temporal("always" | "at-end", (body,)):
            return at_last_letter(body)
        case Temporal("sometime-after" | "always-within", (trigger, answer)):
            left, right = at_last_letter(trigger), at_last_letter(answer)
            return None if left is None or right is None else Or((Not(left), right))
        case _:
            return None


def at_last_letter(formula: Formula) -> Formula | None:
    """A future formula at the last letter, without future operators; ``None`` if it is not one of LTLf."""
    match formula:
        case Not():
            body = at_last_letter(formula.body)
            return None if body is None else Not(body)
        case Temporal():
            return _last_operator(formula)
        case Quantified():
            body = at_last_letter(formula.body)
            return None if body is None else Quantified(formula.universal, formula.variables, body)
        case And() | Or():
            parts = [part for part in map(at_last_letter, formula.parts) if part is not None]
            if len(parts) < len(formula.parts):
                return None
            return And(tuple(parts)) if isinstance(formula, And) else Or(tuple(parts))
        case Truth() | Atom() | Equal() | Compare():
            return formula
        case _:
            assert_never(formula)


def _last_operator(formula: Temporal) -> Formula | None:
    match formula.operator:
        case "next" | "weak-next":
            return Truth(formula.operator == "weak-next")
        case "always" | "sometime" | "until" | "release":
            return at_last_letter(formula.operands[-1])
        case "sometime-after":
            return body_at_last_letter(formula)
        case "yesterday" | "weak-yesterday" | "once" | "historically" | "since":
            return formula
        case "at-end" | "within" | "at-most-once" | "sometime-before" | "always-within" | "hold-during" | "hold-after":
            return None
        case _:
            assert_never(formula.operator)


def read_symbols(rule: Rule) -> set[int]:
    """The predicates that the parts of a rule read, actions included; functions as negative numbers."""
    return symbols_read(*[f for part in rule.parts for f in (part.body, part.guard, part.step) if f is not None])
