"""Translate states, relations, actions and formulas of goals to the words of the domain."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from plansafe.domains.virtualhome.formula import Malformed, Operation, Operator, Primitive, Term, read_formula
from plansafe.domains.virtualhome.graph import POSTURES, STATES, Home, Id, Node
from plansafe.domains.virtualhome.names import CHARACTER, domain_text, is_room, letters_of, pddl_name
from plansafe.domains.virtualhome.script import action_name
from plansafe.domains.virtualhome.stages import ActionTaken, Fact, Stages, StepCondition, chain_goal, variable_name

_ACTION = re.compile(r"\(:action (\S+) :parameters \(([^()]*)\)")
MAX_CONDITIONS = 200

# Names of relations in formulas, and in graphs.
_RELATIONS = {
    "ontop": "on",
    "obj_ontop": "on",
    "on_char": "on",
    "obj_inside": "inside",
    "inside_room": "inside",
    "next_to": "close",
    "obj_next_to": "close",
}


class Untranslatable(Exception):
    """A formula that is malformed, or that the domain cannot express; ``position`` is the place in its text."""

    def __init__(self, message: str, position: int, help: str | None = None) -> None:
        super().__init__(message)
        self.message, self.position, self.help = message, position, help


class Operand(NamedTuple):
    """An argument in PDDL; ``person`` and ``room`` are ``None`` for variables, which may be either."""

    name: str
    person: bool | None = None
    room: bool | None = None


@cache
def _actions() -> dict[str, int]:
    """The actions of the shipped domain, each with its number of arguments without the character."""
    return {name: parameters.count("?") - 1 for name, parameters in _ACTION.findall(domain_text())}


def known_action(name: str) -> bool:
    """Whether the domain has an action with this name."""
    return name in _actions()


def state(word: str, node: Node) -> str | None:
    """The fact that an object is in a state; ``None`` if the domain does not have the state."""
    folded = word.lower()
    is_known = folded in STATES or (folded in POSTURES and node.type == CHARACTER)
    return f"({folded} {node.name})" if is_known else None


def relation(word: str, tail: Operand, head: Operand) -> str | None:
    """The fact that two objects are related; ``None`` if the domain does not have the relation.

    For relations to people and rooms the domain has separate facts; for a variable the condition is a disjunction.
    """
    folded = word.lower()
    folded = _RELATIONS.get(folded, folded)
    pair = f"{tail.name} {head.name}"
    if folded in ("holds_rh", "holds_lh"):
        return f"({folded} {pair})" if tail.person is not False else None
    if folded == "between":
        return f"(between {pair})" if head.room is not False else None
    if folded in ("on", "sitting"):
        return _either(head.person, f"(worn {pair})", f"(on_top {pair})")
    if folded == "inside":
        return _either(head.room, f"(in_room {pair})", f"(inside {pair})")
    if folded == "facing":
        return _either(tail.person, f"(facing {pair})", f"(faces {pair})")
    if folded == "close":
        otherwise = _either(head.person, f"(close {head.name} {tail.name})", f"(near {pair})")
        return _either(tail.person, f"(close {pair})", otherwise)
    return None


def _either(condition: bool | None, text_if_true: str, text_if_false: str) -> str:
    return f"(or {text_if_true} {text_if_false})" if condition is None else text_if_true if condition else text_if_false


def operand(node: Node) -> Operand:
    """The operand for an object of a scene."""
    return Operand(node.name, node.type == CHARACTER, is_room(node.type))


# -- formulas ---------------------------------------------------------------------------------------------------------


class _Range(NamedTuple):
    """The operations, as consecutive indices, of a subformula without ``then``: a condition on one state and step."""

    start: int
    end: int


_Value = _Range | list[_Range] | str
"""The value of a subformula: one condition, a sequence of conditions, or a goal over chains."""


def translate_formula(text: str, home: Home) -> Stages:
    """Translate a formula to a goal over chains of conditions. Raises :class:`Untranslatable`."""
    try:
        operations = read_formula(text)
    except Malformed as error:
        raise Untranslatable(error.message, error.position) from None
    variables = {o.variable for o in operations if isinstance(o, Operator) and o.variable}
    if len({name.lower() for name in variables}) < len(variables):
        raise Untranslatable("two variables differ only in the case of letters", 0)
    object_types: dict[str, str] = {}
    translated = [_translated(operation, home, object_types) for operation in operations]
    goal = _ChainCollector(translated, operations).read()
    return goal._replace(constants=tuple([f"{name} - {of_type}" for name, of_type in object_types.items()]))


class _ChainCollector:
    def __init__(self, translated: list[Fact | ActionTaken | Operator], operations: list[Operation]) -> None:
        self.translated = translated
        self.operations = operations
        self.chains: list[tuple[StepCondition, ...]] = []

    def read(self) -> Stages:
        stack: list[_Value] = []
        for number, operation in enumerate(self.operations):
            if isinstance(operation, Primitive):
                stack.append(_Range(number, number + 1))
                continue
            right = stack.pop()
            if operation.word in ("then", "and", "or"):
                stack.append(self._binary(operation, stack.pop(), right, number + 1))
            elif isinstance(right, _Range):
                stack.append(_Range(right.start, number + 1))
            else:
                raise Untranslatable(f"`{operation.word}` over `then` cannot be expressed", operation.start)
        (value,) = stack
        return Stages(self._goal(value), tuple(self.chains))

    def _binary(self, operation: Operator, left: _Value, right: _Value, end: int) -> _Value:
        if operation.word == "then":
            if isinstance(left, str) or isinstance(right, str):
                message = "`then` between formulas that join others with `then` cannot be expressed"
                raise Untranslatable(message, operation.start)
            sequence = [left] if isinstance(left, _Range) else left
            sequence += [right] if isinstance(right, _Range) else right
            return sequence
        if isinstance(left, _Range) and isinstance(right, _Range):
            return _Range(left.start, end)
        return f"({operation.word} {self._goal(left)} {self._goal(right)})"

    def _goal(self, value: _Value) -> str:
        if isinstance(value, str):
            return value
        ranges = [value] if isinstance(value, _Range) else value
        conditions = tuple([StepCondition(tuple(self.translated[part.start : part.end])) for part in ranges])
        self.chains.append(conditions)
        if sum([len(chain) for chain in self.chains]) > MAX_CONDITIONS:
            raise Untranslatable(f"the formula has more than {MAX_CONDITIONS} states in time", 0)
        return chain_goal(len(self.chains), conditions)


def _translated(operation: Operation, home: Home, object_types: dict[str, str]) -> Fact | ActionTaken | Operator:
    """Translate an operation to the domain; add the types of the objects that it names to ``object_types``."""
    if isinstance(operation, Operator):
        return operation
    folded = operation.name.lower()
    arguments = [_argument(term, operation, home, object_types) for term in operation.terms]
    fact = None
    if len(arguments) == 1:
        (node,) = arguments
        if folded in STATES or (folded in POSTURES and node.person is not False):
            fact = f"({folded} {node.name})"
    elif len(arguments) == 2:
        fact = relation(folded, *arguments)
    if fact is not None:
        return Fact(fact)
    name = action_name(folded, len(arguments))
    if name in _actions():
        names = [argument.name for argument in arguments]
        if len(names) == _actions()[name] + 1 and arguments[0].person is not False:
            names = names[1:]
        if len(names) != _actions()[name]:
            message = f"{operation.name} takes {_actions()[name]} objects, not {len(names)}"
            raise Untranslatable(message, operation.start)
        return ActionTaken(frozenset((name,)), tuple(names))
    message = f"the domain has no state, relation or action {operation.name:.40} of {len(arguments)} objects"
    raise Untranslatable(message, operation.start)


def _argument(term: Term, operation: Primitive, home: Home, object_types: dict[str, str]) -> Operand:
    """A variable, an object by its number (``computer.417``), or the only object of a class."""
    if term.bound:
        return Operand(variable_name(term.name))
    word, point, digits = term.name.rpartition(".")
    number: Id = int(digits) if point and len(digits) < 20 else term.name
    nodes = [home.objects[number]] if number in home.objects else []
    if not point:
        class_name = letters_of(term.name)
        nodes = [node for node in home.objects.values() if letters_of(node.class_name) == class_name]
    if len(nodes) == 1 and (not point or letters_of(nodes[0].class_name) == letters_of(word)):
        object_types[nodes[0].name] = nodes[0].type
        return operand(nodes[0])
    if nodes and not point:
        names = ", ".join(
            [f"{pddl_name(node.class_name)}.{key}" for key, node in home.objects.items() if node in nodes][:5]
        )
        raise Untranslatable(f"the scene has {len(nodes)} objects of class {term.name:.40}", operation.start, names)
    raise Untranslatable(f"the scene has no {term.name:.40}", operation.start)
