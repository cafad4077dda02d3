"""A model of an action as a language model wrote it: a whole ``(:action ..)``, one field of it, or bare literals."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from plansafe.grammar.sexpr import Node, parse_nodes
from plansafe.grammar.source import Source
from plansafe.llm.answers.expressions import cleaned, expressions, inside, written
from plansafe.llm.answers.goals import formulas_of
from plansafe.llm.metrics.literals import NotAFormula
from plansafe.llm.metrics.transition import ActionText, Side, read_action

_KEYS = {":parameters": ":parameters", ":precondition": ":precondition", ":effect": ":effect"} | {
    ":preconditions": ":precondition",
    ":effects": ":effect",
}
_FIELDS = (":parameters", ":precondition", ":effect")
FIELDS = {Side.EFFECT: ":effect", Side.PRECONDITION: ":precondition"}


@dataclass(frozen=True, slots=True)
class Asked:
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
        """The side that the model is told."""
        return self.precondition if self.side is Side.EFFECT else self.effect

    @property
    def wanted(self) -> str:
        """The side that it is asked for."""
        return self.effect if self.side is Side.EFFECT else self.precondition


def asked_of(domain: list[Node], name: str, side: Side) -> Asked | None:
    """The action of that name in a domain's tree; ``None`` if it has none."""
    for found in inside(domain):
        if found[:2] == [":action", name]:
            fields = _fields(found[2:])
            parameters, precondition, effect = (written(fields.get(key, [])) for key in _FIELDS)
            return Asked(name, parameters, precondition, effect, side)
    return None


def action_of(answer: str, asked: Asked, predicates: Collection[str]) -> ActionText | None:
    """The action that an answer describes, with what was given where the answer is silent; ``None``: nothing was read.

    The first ``(:action ..)`` that has the side asked for, else the field alone, else formulas about declared
    predicates.
    """
    nodes, field = expressions(answer), FIELDS[asked.side]
    for found in inside(nodes):
        if found[:1] == [":action"]:
            fields = _fields(found[2:])
            if field in fields:
                return _read(asked, fields[field], fields)
    value = _alone(answer, nodes, field)
    if value is None:
        formulas = formulas_of(nodes, predicates)
        value = ["and", *formulas] if formulas else None
    return None if value is None else _read(asked, value, {})


def _alone(answer: str, nodes: list[Node], field: str) -> Node | None:
    """The value of a field that stands by itself: ``:effect (..)`` or ``(:effect (..))``."""
    for found in inside(nodes):
        if found and isinstance(found[0], str) and _KEYS.get(found[0]) == field and len(found) > 1:
            return ["and", *found[1:]]
    chars = cleaned(answer).lower()
    match = re.search(rf":?\b{field[1:]}s?\b[\s:=*]*(?=\()", chars)
    if match is None:
        return None
    behind = expressions(chars[match.end() :])
    return behind[0] if behind else None


def _fields(rest: list[Node]) -> dict[str, Node]:
    """The fields of an action that have a value, the first of each name; what is none is passed over."""
    found: dict[str, Node] = {}
    at = 0
    while at < len(rest):
        key = rest[at]
        name = _KEYS.get(key) if isinstance(key, str) else None
        if name is None or at + 1 >= len(rest) or not isinstance(rest[at + 1], list):
            at += 1
            continue
        found.setdefault(name, rest[at + 1])
        at += 2
    return found


def _read(asked: Asked, value: Node, said: dict[str, Node]) -> ActionText | None:
    """With the answer's own parameters and other side, if it has any; else with those that it was given.

    Own parameters that are as many stand for those given, one by one; bad ones are no reason to drop the rest.
    """
    own = said.get(":parameters")
    other = said.get(FIELDS[Side.PRECONDITION if asked.side is Side.EFFECT else Side.EFFECT])
    ways = [(asked.parameters, asked.given if not other else written(other))]
    if own:
        ways.insert(0, (written(own), _renamed(asked, own) if not other else written(other)))
    for parameters, given in ways:
        sides = (given, written(value)) if asked.side is Side.EFFECT else (written(value), given)
        try:
            return read_action(_action(asked.name, parameters, *sides))
        except NotAFormula:
            continue
    return None


def _renamed(asked: Asked, parameters: Node) -> str:
    """The side that was given, in the words of an answer that calls its parameters otherwise."""
    theirs, ours = _variables(parameters), _variables((parse_nodes(Source("asked", asked.parameters)) or [[]])[0])
    if len(theirs) != len(ours) or len(set(theirs)) < len(theirs):
        return asked.given
    names = dict(zip(ours, theirs, strict=True))
    given = (parse_nodes(Source("asked", asked.given)) or [[]])[0]
    return written(_replaced(given, names))


def _variables(parameters: Node) -> list[str]:
    return [one for one in parameters if isinstance(one, str) and one.startswith("?")]


def _replaced(node: Node, names: dict[str, str]) -> Node:
    """A tree of bounded depth with other names."""
    return names.get(node, node) if isinstance(node, str) else [_replaced(child, names) for child in node]


def _action(name: str, parameters: str, precondition: str, effect: str) -> str:
    return f"(:action {name} :parameters {parameters} :precondition {precondition} :effect {effect})"
