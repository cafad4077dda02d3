"""Facts about earlier steps, for goals about more than the final state.

A chain is a sequence of conditions on a state and the action taken in it. For each condition the domain gets a fact
that becomes true when the condition holds after the previous conditions of the chain. A condition is evaluated in the
state before the step, so it must hold later than the previous one: this is the greedy reading of ``then`` in the
Embodied Agent Interface.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from plansafe.domains.virtualhome.formula import Operator
from plansafe.grammar.source import Source

TRUE = "(and)"
FALSE = "(or)"
_ACTION = re.compile(r"\(:action (\S+) :parameters \(([^()]*)\)")
_EFFECT = re.compile(r":effect\s+")
_PREDICATES = "(:predicates"
_MAX_NAMED_ACTIONS = 5


class Fact(NamedTuple):
    """A proposition of the domain, as text."""

    text: str


class ActionTaken(NamedTuple):
    """True if one of the actions ``names`` is taken, with ``arguments`` unless they are ``None``."""

    names: frozenset[str]
    arguments: tuple[str, ...] | None = None


class StepCondition(NamedTuple):
    """A condition on a state and the action taken in it; ``operations`` is in postfix order."""

    operations: tuple[Fact | ActionTaken | Operator, ...]

    def text(self, action: Signature | None) -> str:
        """The condition in PDDL for a step with ``action``; ``None``: for a state without a step."""
        stack: list[_Text] = []
        for operation in self.operations:
            match operation:
                case Fact():
                    stack.append(operation.text)
                case ActionTaken():
                    stack.append(_action_condition(operation, action))
                case Operator(word="not"):
                    stack.append(_negate(stack.pop()))
                case Operator(word="and" | "or"):
                    right, left = stack.pop(), stack.pop()
                    stack.append(_join(operation.word, left, right))
                case _:
                    stack.append(_quantify(operation, stack.pop()))
        (text,) = stack
        return _flatten(text)


class Signature(NamedTuple):
    """An action of the domain and its parameters without the character."""

    name: str
    parameters: tuple[str, ...]


class Stages(NamedTuple):
    """A goal in PDDL, and its chains: ``(stage_2_1_drink)`` is the fact of the first condition of the second chain.

    ``constants`` are the objects in conditions with their types; the domain must declare them.
    """

    goal: str
    chains: tuple[tuple[StepCondition, ...], ...] = ()
    constants: tuple[str, ...] = ()

    def extended(self, domain: Source) -> Source:
        """Add the facts of the chains to a domain; line numbers do not change."""
        if not self.chains:
            return domain
        text = domain.text
        pieces: list[str] = []
        position = text.index(_PREDICATES)
        constants = f"(:constants {' '.join(self.constants)}) " if self.constants else ""
        texts = [[_Texts.of(condition) for condition in conditions] for conditions in self.chains]
        stages = [stage_facts(chain, conditions) for chain, conditions in enumerate(self.chains, 1)]
        facts = " ".join([fact for chain in stages for fact in chain])
        pieces += [text[:position], constants, _PREDICATES, " ", facts]
        position += len(_PREDICATES)
        for match in list(_ACTION.finditer(text)):
            parameters = tuple([word for word in match[2].split() if word.startswith("?")])[1:]
            effects = _effects(texts, stages, Signature(match[1], parameters))
            if not effects:
                continue
            end = _closing_parenthesis(text, match.start())
            effect = _EFFECT.search(text, match.end(), end)
            if effect is None:
                pieces += [text[position:end], f" :effect (and {effects})"]
            else:
                pieces += [text[position : effect.end()], f"(and {effects} ", text[effect.end() : end], ")"]
            position = end
        return Source(domain.name, "".join([*pieces, text[position:]]))


class _Texts(NamedTuple):
    """A condition, the actions that it names, and its text for steps with other actions."""

    condition: StepCondition
    names: frozenset[str]
    text_otherwise: str

    @classmethod
    def of(cls, condition: StepCondition) -> _Texts:
        names = [operation.names for operation in condition.operations if isinstance(operation, ActionTaken)]
        return cls(condition, frozenset().union(*names), condition.text(None))

    def text(self, action: Signature) -> str:
        return self.condition.text(action) if action.name in self.names else self.text_otherwise


def _effects(chains: list[list[_Texts]], stages: list[list[str]], action: Signature) -> str:
    effects = []
    for conditions, facts in zip(chains, stages, strict=True):
        for condition, before, fact in zip(conditions, [TRUE, *facts], facts, strict=False):
            text = _flatten(_join("and", before, condition.text(action)))
            if text != FALSE:
                effects.append(fact if text == TRUE else f"(when {text} {fact})")
    return " ".join(effects)


def stage_facts(chain: int, conditions: tuple[StepCondition, ...]) -> list[str]:
    """The facts of the conditions of a chain, in order; their names include the actions for readability."""
    facts = []
    for number, condition in enumerate(conditions, 1):
        names = {
            name for operation in condition.operations if isinstance(operation, ActionTaken) for name in operation.names
        }
        action_names = "_or_".join(sorted(names)) if len(names) <= _MAX_NAMED_ACTIONS else ""
        facts.append(f"(stage_{chain}_{number}{'_' if action_names else ''}{action_names})")
    return facts


def chain_goal(chain: int, conditions: tuple[StepCondition, ...]) -> str:
    """The goal that a chain is complete; the final state may satisfy its last condition."""
    facts = stage_facts(chain, conditions)
    before = facts[-2] if len(facts) > 1 else TRUE
    return _flatten(_join("or", facts[-1], _join("and", before, conditions[-1].text(None))))


_Text = str | tuple["_Text", ...]
"""A text in pieces, which are joined once at the end; formulas may be deep."""


def _flatten(text: _Text) -> str:
    pieces: list[str] = []
    stack = [text]
    while stack:
        piece = stack.pop()
        if isinstance(piece, str):
            pieces.append(piece)
        else:
            stack += reversed(piece)
    return "".join(pieces)


def _action_condition(operation: ActionTaken, action: Signature | None) -> _Text:
    if action is None or action.name not in operation.names:
        return FALSE
    if operation.arguments is None:
        return TRUE
    if len(operation.arguments) != len(action.parameters):
        return FALSE
    text: _Text = TRUE
    for argument, parameter in zip(operation.arguments, action.parameters, strict=True):
        text = _join("and", text, f"(= {argument} {parameter})")
    return text


def _negate(text: _Text) -> _Text:
    if text in (TRUE, FALSE):
        return FALSE if text == TRUE else TRUE
    return ("(not ", text, ")")


def _join(word: str, left: _Text, right: _Text) -> _Text:
    neutral, final = (TRUE, FALSE) if word == "and" else (FALSE, TRUE)
    if final in (left, right):
        return final
    if left == neutral:
        return right
    return left if right == neutral else (f"({word} ", left, " ", right, ")")


def _quantify(operator: Operator, body: _Text) -> _Text:
    if body in (TRUE, FALSE):
        return body
    variable = variable_name(operator.variable)
    if operator.word == "exists" and isinstance(body, str) and body.startswith(f"(= {variable} "):
        return TRUE  # the parameter of the action is such an object
    return (f"({operator.word} ({variable} - object) ", body, ")")


def variable_name(word: str) -> str:
    """The PDDL name of a formula's variable; no parameter of an action has this prefix."""
    return f"?v_{word.lower()}"


def _closing_parenthesis(text: str, start: int) -> int:
    """The position of the parenthesis that closes the one at ``start``."""
    depth = 0
    for match in re.compile(r"[()]").finditer(text, start):
        depth += 1 if match.group() == "(" else -1
        if depth == 0:
            return match.start()
    raise AssertionError("the shipped domain is balanced")
