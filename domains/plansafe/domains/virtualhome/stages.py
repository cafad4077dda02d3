"""What happened on the way, as facts: goals that speak of more than the last state.

A chain is a sequence of moments; a moment is a state and the action taken in it. For each moment, the domain gets a
fact that becomes true once the moment has come, after those before it. Its conditions are read in the state before the
step, so that a moment counts only if it comes later than the one before: this is the greedy reading of ``then`` in the
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
_TOLD = 5


class Fact(NamedTuple):
    """A proposition of the domain, as text."""

    text: str


class ActionTaken(NamedTuple):
    """That one of the actions ``names`` is taken; if ``arguments`` are given, with these."""

    names: frozenset[str]
    arguments: tuple[str, ...] | None = None


class StepCondition(NamedTuple):
    """A condition on a state and the action taken in it; operations come behind their operands."""

    operations: tuple[Fact | ActionTaken | Operator, ...]

    def text(self, action: Signature | None) -> str:
        """The condition in PDDL where that action is taken, or where none is."""
        stack: list[_Text] = []
        for operation in self.operations:
            match operation:
                case Fact():
                    stack.append(operation.text)
                case ActionTaken():
                    stack.append(_taken(operation, action))
                case Operator(word="not"):
                    stack.append(_negated(stack.pop()))
                case Operator(word="and" | "or"):
                    right, left = stack.pop(), stack.pop()
                    stack.append(_joined(operation.word, left, right))
                case _:
                    stack.append(_quantified(operation, stack.pop()))
        (text,) = stack
        return _flat(text)


class Signature(NamedTuple):
    """An action of the domain and its parameters but the character."""

    name: str
    parameters: tuple[str, ...]


class Stages(NamedTuple):
    """A goal in PDDL, and the chains that it speaks of: ``(stage_2_1_drink)`` is the first moment of the second chain.

    ``constants`` are the objects that moments name, with their types: a domain must declare them.
    """

    goal: str
    chains: tuple[tuple[StepCondition, ...], ...] = ()
    constants: tuple[str, ...] = ()

    def extended(self, domain: Source) -> Source:
        """The domain with the facts of the chains. No line of it moves."""
        if not self.chains:
            return domain
        text = domain.text
        pieces: list[str] = []
        position = text.index(_PREDICATES)
        constants = f"(:constants {' '.join(self.constants)}) " if self.constants else ""
        texts = [[_Texts.of(moment) for moment in moments] for moments in self.chains]
        stages = [stages_of(chain, moments) for chain, moments in enumerate(self.chains, 1)]
        facts = " ".join([fact for chain in stages for fact in chain])
        pieces += [text[:position], constants, _PREDICATES, " ", facts]
        position += len(_PREDICATES)
        for match in list(_ACTION.finditer(text)):
            parameters = tuple([word for word in match[2].split() if word.startswith("?")])[1:]
            effects = _effects(texts, stages, Signature(match[1], parameters))
            if not effects:
                continue
            end = _closing(text, match.start())
            effect = _EFFECT.search(text, match.end(), end)
            if effect is None:
                pieces += [text[position:end], f" :effect (and {effects})"]
            else:
                pieces += [text[position : effect.end()], f"(and {effects} ", text[effect.end() : end], ")"]
            position = end
        return Source(domain.name, "".join([*pieces, text[position:]]))


class _Texts(NamedTuple):
    """A moment, the actions that it names, and its text where another action is taken."""

    moment: StepCondition
    names: frozenset[str]
    other: str

    @classmethod
    def of(cls, moment: StepCondition) -> _Texts:
        names = [operation.names for operation in moment.operations if isinstance(operation, ActionTaken)]
        return cls(moment, frozenset().union(*names), moment.text(None))

    def text(self, action: Signature) -> str:
        return self.moment.text(action) if action.name in self.names else self.other


def _effects(chains: list[list[_Texts]], stages: list[list[str]], action: Signature) -> str:
    out = []
    for moments, facts in zip(chains, stages, strict=True):
        for moment, before, fact in zip(moments, [TRUE, *facts], facts, strict=False):
            condition = _flat(_joined("and", before, moment.text(action)))
            if condition != FALSE:
                out.append(fact if condition == TRUE else f"(when {condition} {fact})")
    return " ".join(out)


def stages_of(chain: int, moments: tuple[StepCondition, ...]) -> list[str]:
    """The facts that the moments of a chain have come; the actions in their names are for people."""
    out = []
    for number, moment in enumerate(moments, 1):
        names = {
            name for operation in moment.operations if isinstance(operation, ActionTaken) for name in operation.names
        }
        told = "_or_".join(sorted(names)) if len(names) <= _TOLD else ""
        out.append(f"(stage_{chain}_{number}{'_' if told else ''}{told})")
    return out


def chain_goal(chain: int, moments: tuple[StepCondition, ...]) -> str:
    """What the last state must be for a chain to have come to its end: its last moment may be that state."""
    facts = stages_of(chain, moments)
    before = facts[-2] if len(facts) > 1 else TRUE
    return _flat(_joined("or", facts[-1], _joined("and", before, moments[-1].text(None))))


_Text = str | tuple["_Text", ...]
"""A text in pieces: deep formulas are put together once, at the end."""


def _flat(text: _Text) -> str:
    out: list[str] = []
    stack = [text]
    while stack:
        piece = stack.pop()
        if isinstance(piece, str):
            out.append(piece)
        else:
            stack += reversed(piece)
    return "".join(out)


def _taken(operation: ActionTaken, action: Signature | None) -> _Text:
    if action is None or action.name not in operation.names:
        return FALSE
    if operation.arguments is None:
        return TRUE
    if len(operation.arguments) != len(action.parameters):
        return FALSE
    text: _Text = TRUE
    for argument, parameter in zip(operation.arguments, action.parameters, strict=True):
        text = _joined("and", text, f"(= {argument} {parameter})")
    return text


def _negated(text: _Text) -> _Text:
    if text in (TRUE, FALSE):
        return FALSE if text == TRUE else TRUE
    return ("(not ", text, ")")


def _joined(word: str, left: _Text, right: _Text) -> _Text:
    neutral, final = (TRUE, FALSE) if word == "and" else (FALSE, TRUE)
    if final in (left, right):
        return final
    if left == neutral:
        return right
    return left if right == neutral else (f"({word} ", left, " ", right, ")")


def _quantified(operator: Operator, body: _Text) -> _Text:
    if body in (TRUE, FALSE):
        return body
    variable = variable_name(operator.variable)
    if operator.word == "exists" and isinstance(body, str) and body.startswith(f"(= {variable} "):
        return TRUE  # some object is the one of the action
    return (f"({operator.word} ({variable} - object) ", body, ")")


def variable_name(word: str) -> str:
    """A variable of a formula in PDDL: no parameter of an action begins like this."""
    return f"?v_{word.lower()}"


def _closing(text: str, start: int) -> int:
    """Where the parenthesis that opens at ``start`` closes."""
    depth = 0
    for match in re.compile(r"[()]").finditer(text, start):
        depth += 1 if match.group() == "(" else -1
        if depth == 0:
            return match.start()
    raise AssertionError("the shipped domain is balanced")
