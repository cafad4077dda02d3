"""Remove steps that cannot happen from a mapped rule.

A mapping replaces an event by all actions that it may be: to put down an object may be to place it on the floor, or on
another object. A rule about putting objects into a basin then has a step that matches no action, because a basin is not
a floor. In a rule that was written for this domain, such a step is a mistake (SC104); here it follows from the mapping.
"""

from __future__ import annotations

from plansafe.grammar.sexpr import Node, format_node
from plansafe.verifier.elaborate.context import Context, Place, format_token, is_variable
from plansafe.verifier.elaborate.symbols import ACTION_ATOMS, Symbols
from plansafe.verifier.elaborate.types import parse_typed_list
from plansafe.verifier.rules.expanded_specs import (
    FORMULA_FIELDS,
    STEP_FIELDS,
    PlainRule,
    find_step_connective,
    list_keyed_children,
)

_DECIDED_BY_LAST_OPERAND = frozenset(("once", "historically", "since", "always", "sometime", "until"))
"""Operators that are true if their last operand is always true, and false if it is never true."""
_PROHIBITIONS = frozenset((":forbid", ":forbid-after"))
TypeScope = dict[str, tuple[int, ...]]
"""The types of each variable in scope."""


def remove_impossible_steps(symbols: Symbols, rule: PlainRule) -> PlainRule:
    """Remove the impossible steps of a rule. A field in which every step is impossible is unchanged."""
    node = rule.node
    remover = _StepRemover(symbols)
    scope = remover.find_parameter_scope(node)
    children: list[Node] = []
    for key, child in list_keyed_children(node):
        if key in STEP_FIELDS and isinstance(child, list) and child:
            steps = _list_alternatives(child)
            possible_steps = [step for step in steps if remover.is_possible(step, scope)]
            is_changed = 0 < len(possible_steps) < len(steps)
            children.append(remover.record_origin(["or", *possible_steps], child) if is_changed else child)
        elif key in FORMULA_FIELDS:
            children.append(remover.replace_steps(child, scope))
        else:
            children.append(child)
    if all([new is old for new, old in zip(children, node, strict=True)]):
        return rule
    return rule._replace(node=remover.record_origin(children, node))


def find_impossible_step(symbols: Symbols, rule: PlainRule) -> str | None:
    """Return the text of the first step of a field in which every step is impossible; ``None`` without such a field."""
    remover = _StepRemover(symbols)
    scope = remover.find_parameter_scope(rule.node)
    for key, value in list_keyed_children(rule.node):
        if key in STEP_FIELDS and isinstance(value, list) and value:
            steps = _list_alternatives(value)
            if steps and not any([remover.is_possible(step, scope) for step in steps]):
                return format_node(steps[0])
    return None


def _list_alternatives(step: list[Node]) -> list[Node]:
    return step[1:] if find_step_connective(step) == "or" else [step]


def is_vacuous(rule: list[Node]) -> bool:
    """Whether no plan can violate a rule, because its condition is false or its demands are true."""
    values = {key: _find_constant_value(child) for key, child in list_keyed_children(rule) if key in FORMULA_FIELDS}
    demands_are_true = [value is (key not in _PROHIBITIONS) for key, value in values.items() if key != ":when"]
    return values.get(":when") is False or (bool(demands_are_true) and all(demands_are_true))


def _find_constant_value(node: Node) -> bool | None:
    """Return the value of a formula that its connectives decide; ``None`` if they do not."""
    if not isinstance(node, list) or not node or not isinstance(node[0], str):
        return None
    head = node[0]
    if head in ("forall", "exists") and len(node) == 3:
        value = _find_constant_value(node[2])
        return value if value is (head == "forall") else None
    if head == "not" and len(node) == 2:
        value = _find_constant_value(node[1])
        return None if value is None else not value
    if head == "imply" and len(node) == 3:
        condition, conclusion = _find_constant_value(node[1]), _find_constant_value(node[2])
        if condition is False or conclusion is True:
            return True
        return conclusion if condition is True else None
    if head == "yesterday" and len(node) == 2:
        return False if _find_constant_value(node[1]) is False else None  # it is false at the first letter
    if head in _DECIDED_BY_LAST_OPERAND and len(node) in (2, 3):
        return _find_constant_value(node[-1])
    if head in ("and", "or"):
        neutral = head == "and"
        values = [_find_constant_value(operand) for operand in node[1:]]
        if (not neutral) in values:
            return not neutral
        return None if None in values else neutral
    return None


class _StepRemover:
    """Decides which steps of a rule are impossible, and makes the trees without them."""

    def __init__(self, symbols: Symbols) -> None:
        self.symbols = symbols
        self._silent = Context()
        self._silent.alternatives = symbols.context.alternatives

    def record_origin(self, tree: list[Node], origin: list[Node]) -> list[Node]:
        """Record the list that a new list replaces, for the places of diagnostics; return the new list."""
        self.symbols.context.record_origin(tree, Place(origin))
        return tree

    def find_parameter_scope(self, rule: list[Node]) -> TypeScope:
        """Return the types of a rule's parameters."""
        if ":parameters" not in rule[:-1]:
            return {}
        return self.extend_scope(rule[rule.index(":parameters") + 1], {})

    def extend_scope(self, typed: Node, scope: TypeScope) -> TypeScope:
        """Add the variables of a typed list to a scope; mistakes in the list are reported elsewhere."""
        if not isinstance(typed, list):
            return scope
        index = self.symbols.types.index
        extended_scope = dict(scope)
        for entry in parse_typed_list(self._silent, typed, 0, is_variable, "a variable"):
            extended_scope[entry.name] = tuple([index.get(name, 0) for name in entry.types or ("object",)])
        return extended_scope

    def is_possible(self, step: Node, scope: TypeScope) -> bool:
        """Whether objects of the types in scope can match a step; True for a malformed step."""
        types = self.symbols.parameter_types.get(format_token(step[0])) if isinstance(step, list) and step else None
        if types is None or not isinstance(step, list) or len(step) != len(types) + 1:
            return True
        meets = self.symbols.types.variable_meets
        arguments = zip(step[1:], types, strict=True)
        return all(
            [
                meets(scope[format_token(token)], expected)
                for token, expected in arguments
                if format_token(token) in scope
            ]
        )

    def replace_steps(self, node: Node, scope: TypeScope, quantifiers: tuple[Node, ...] = ()) -> Node:
        """Replace each step that cannot happen by ``(or)``, which is false.

        ``quantifiers``: the typed lists of the quantifiers around the node, whose variables are not yet in ``scope``.
        """
        if not isinstance(node, list) or not node:
            return node
        head = node[0]
        if isinstance(head, str) and head in ACTION_ATOMS and len(node) == 2 and isinstance(node[1], list):
            for typed in quantifiers:
                scope = self.extend_scope(typed, scope)
            return node if self.is_possible(node[1], scope) else self.record_origin(["or"], node)
        if head in ("forall", "exists") and len(node) == 3:
            body = self.replace_steps(node[2], scope, (*quantifiers, node[1]))
            return node if body is node[2] else self.record_origin([head, node[1], body], node)
        children = [
            self.replace_steps(child, scope, quantifiers) if isinstance(child, list) else child for child in node
        ]
        is_unchanged = all([new is old for new, old in zip(children, node, strict=True)])
        return node if is_unchanged else self.record_origin(children, node)
