"""A model of an action as a language model wrote it: a whole ``(:action ..)``, one field of it, or bare literals."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from plansafe.grammar.sexpr import Node, parse_nodes
from plansafe.grammar.source import Source
from plansafe.llm.answers.goals import cleaned, expressions, formulas_of, inside, written
from plansafe.llm.metrics.literals import NotAFormula
from plansafe.llm.metrics.transition import ActionText, Side, read_action

_KEYS = {":parameters": ":parameters", ":precondition": ":precondition", ":effect": ":effect"} | {
    ":preconditions": ":precondition",
    ":effects": ":effect",
}
_FIELDS = (":parameters", ":precondition", ":effect")
FIELDS = {Side.EFFECT: ":effect", Side.PRECONDITION: ":precondition"}


@dataclass(frozen=True, slots=True)
class ActionQuestion:
    """An action as the domain has it, field by field as PDDL, and the side of it that a model is to predict."""

    name: str
    parameters: str
    precondition: str
    effect: str
    side: Side

    @property
    def reference(self) -> str:
        """The whole action."""
        return _action(self.name, self.parameters, self.precondition, self.effect)

    @property
    def given(self) -> str:
        """The side that the prompt shows."""
        return self.precondition if self.side is Side.EFFECT else self.effect

    @property
    def wanted(self) -> str:
        """The side that it is asked for."""
        return self.effect if self.side is Side.EFFECT else self.precondition


def action_question(domain: list[Node], name: str, side: Side) -> ActionQuestion | None:
    """The action of that name in a domain's tree; ``None`` if it has none."""
    for node in inside(domain):
        if node[:2] == [":action", name]:
            fields = _fields(node[2:])
            parameters, precondition, effect = (written(fields.get(key, [])) for key in _FIELDS)
            return ActionQuestion(name, parameters, precondition, effect, side)
    return None


def action_of(answer: str, question: ActionQuestion, predicates: Collection[str]) -> ActionText | None:
    """The action that an answer describes, with the given text for missing fields; ``None``: nothing was read.

    The first ``(:action ..)`` that has the side asked for, else the field alone, else formulas about declared
    predicates.
    """
    nodes, field = expressions(answer), FIELDS[question.side]
    for node in inside(nodes):
        if node[:1] == [":action"]:
            fields = _fields(node[2:])
            if field in fields:
                return _read(question, fields[field], fields)
    value = _alone(answer, nodes, field)
    if value is None:
        formulas = formulas_of(nodes, predicates)
        value = ["and", *formulas] if formulas else None
    return None if value is None else _read(question, value, {})


def _alone(answer: str, nodes: list[Node], field: str) -> Node | None:
    """The value of a field without an action: ``:effect (..)`` or ``(:effect (..))``."""
    for field_match in inside(nodes):
        if (
            field_match
            and isinstance(field_match[0], str)
            and _KEYS.get(field_match[0]) == field
            and len(field_match) > 1
        ):
            return ["and", *field_match[1:]]
    chars = cleaned(answer).lower()
    match = re.search(rf":?\b{field[1:]}s?\b[\s:=*]*(?=\()", chars)
    if match is None:
        return None
    values = expressions(chars[match.end() :])
    return values[0] if values else None


def _fields(nodes: list[Node]) -> dict[str, Node]:
    """The fields of an action that have a value, the first of each name; other items are ignored."""
    fields: dict[str, Node] = {}
    at = 0
    while at < len(nodes):
        key = nodes[at]
        name = _KEYS.get(key) if isinstance(key, str) else None
        if name is None or at + 1 >= len(nodes) or not isinstance(nodes[at + 1], list):
            at += 1
            continue
        fields.setdefault(name, nodes[at + 1])
        at += 2
    return fields


def _read(question: ActionQuestion, value: Node, fields: dict[str, Node]) -> ActionText | None:
    """With the answer's own parameters and other side, if it has any; else with those that it was given.

    Own parameters that are as many stand for those given, one by one; with bad ones the rest is still used.
    """
    own_parameters = fields.get(":parameters")
    other_side = fields.get(FIELDS[Side.PRECONDITION if question.side is Side.EFFECT else Side.EFFECT])
    ways = [(question.parameters, question.given if not other_side else written(other_side))]
    if own_parameters:
        ways.insert(
            0, (written(own_parameters), _renamed(question, own_parameters) if not other_side else written(other_side))
        )
    for parameters, renamed_from in ways:
        sides = (renamed_from, written(value)) if question.side is Side.EFFECT else (written(value), renamed_from)
        try:
            return read_action(_action(question.name, parameters, *sides))
        except NotAFormula:
            continue
    return None


def _renamed(question: ActionQuestion, parameters: Node) -> str:
    """The side that was given, in the words of an answer that calls its parameters otherwise."""
    theirs, ours = _variables(parameters), _variables((parse_nodes(Source("asked", question.parameters)) or [[]])[0])
    if len(theirs) != len(ours) or len(set(theirs)) < len(theirs):
        return question.given
    names = dict(zip(ours, theirs, strict=True))
    node = (parse_nodes(Source("asked", question.given)) or [[]])[0]
    return written(_replaced(node, names))


def _variables(parameters: Node) -> list[str]:
    return [name for name in parameters if isinstance(name, str) and name.startswith("?")]


def _replaced(node: Node, names: dict[str, str]) -> Node:
    """A tree of bounded depth with other names."""
    return names.get(node, node) if isinstance(node, str) else [_replaced(child, names) for child in node]


def _action(name: str, parameters: str, precondition: str, effect: str) -> str:
    return f"(:action {name} :parameters {parameters} :precondition {precondition} :effect {effect})"
