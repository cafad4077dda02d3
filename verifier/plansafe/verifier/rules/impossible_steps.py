"""Remove steps that cannot happen from a mapped rule.

A mapping replaces an event by all actions that it may be: to put down an object may be to place it on the floor, or on
another object. A rule about putting objects into a basin then has a step that matches no action, because a basin is not
a floor. In a rule that was written for this domain, such a step is a mistake (SC104); here it follows from the mapping.
"""

from __future__ import annotations

from itertools import pairwise

from plansafe.grammar.sexpr import Node, format_node
from plansafe.verifier.elaborate.context import Context, Place, is_variable, token_text
from plansafe.verifier.elaborate.symbols import ACTION_ATOMS, Symbols
from plansafe.verifier.elaborate.types import parse_typed_list
from plansafe.verifier.rules.expanded_specs import FORMULA_FIELDS, STEP_FIELDS, PlainRule, step_connective
from plansafe.verifier.rules.mapping import WordName

_DECIDED_BY_LAST = frozenset(("once", "historically", "since", "always", "sometime", "until"))
"""Operators that are true if their last operand is always true, and false if it is never true."""
_PROHIBITIONS = frozenset((":forbid", ":forbid-after"))
TypeScope = dict[str, tuple[int, ...]]
"""The types of each variable in scope."""


def without_impossible_steps(symbols: Symbols, rule: PlainRule) -> tuple[PlainRule, WordName | None]:
    """Remove the impossible steps of a rule; if none is left for a field, also return one of them."""
    node = rule.node
    at = node.index(":parameters") if ":parameters" in node[:-1] else -1
    remover = _StepRemover(symbols)
    scope = remover.extended_scope(node[at + 1], {}) if at >= 0 else {}
    children: list[Node] = []
    impossible: WordName | None = None
    key: Node = ""
    for child in node:
        if key in STEP_FIELDS and isinstance(child, list) and child:
            steps = child[1:] if step_connective(child) == "or" else [child]
            possible = [step for step in steps if remover.is_possible(step, scope)]
            if not possible and steps:
                impossible = ("step", format_node(steps[0]))
            children.append(remover.derived(["or", *possible], child) if 0 < len(possible) < len(steps) else child)
        elif key in FORMULA_FIELDS:
            children.append(remover.formula(child, scope))
        else:
            children.append(child)
        key = child if isinstance(child, str) else ""
    if all([new is old for new, old in zip(children, node, strict=True)]):
        return rule, impossible
    return rule._replace(node=remover.derived(children, node)), impossible


def is_vacuous(rule: list[Node]) -> bool:
    """Whether no plan can violate a rule, because its condition is false or its demands are true."""
    fields = {key: _truth(value) for key, value in pairwise(rule) if isinstance(key, str) and key in FORMULA_FIELDS}
    demands = [value is (key not in _PROHIBITIONS) for key, value in fields.items() if key != ":when"]
    return fields.get(":when") is False or (bool(demands) and all(demands))


def _truth(node: Node) -> bool | None:
    """Return the value of a formula that its connectives decide; ``None`` if they do not."""
    if not isinstance(node, list) or not node or not isinstance(node[0], str):
        return None
    head = node[0]
    if head in ("forall", "exists") and len(node) == 3:
        value = _truth(node[2])
        return value if value is (head == "forall") else None
    if head == "not" and len(node) == 2:
        value = _truth(node[1])
        return None if value is None else not value
    if head == "imply" and len(node) == 3:
        left, right = _truth(node[1]), _truth(node[2])
        return True if left is False or right is True else right if left is True else None
    if head in _DECIDED_BY_LAST and len(node) in (2, 3):
        return _truth(node[-1])
    if head in ("and", "or"):
        neutral = head == "and"
        values = [_truth(operand) for operand in node[1:]]
        return not neutral if (not neutral) in values else None if None in values else neutral
    return None


class _StepRemover:
    def __init__(self, symbols: Symbols) -> None:
        self.symbols = symbols

    def derived(self, tree: list[Node], origin: list[Node]) -> list[Node]:
        """Record the origin of a new list, also for children that differ; return the list."""
        context = self.symbols.context
        context.record_origin(tree, Place(origin))
        for child, node in enumerate(tree):
            if isinstance(node, str) and (child >= len(origin) or origin[child] != node):
                context.replaced[id(tree), child] = Place(origin)
        return tree

    def extended_scope(self, typed: Node, scope: TypeScope) -> TypeScope:
        """Add the variables of a typed list to a scope; mistakes in the list are reported elsewhere."""
        if not isinstance(typed, list):
            return scope
        index = self.symbols.types.index
        inner = dict(scope)
        for entry in parse_typed_list(Context(), typed, 0, is_variable, "a variable"):
            inner[entry.name] = tuple([index.get(name, 0) for name in entry.types or ("object",)])
        return inner

    def is_possible(self, step: Node, scope: TypeScope) -> bool:
        """Whether objects of the types in scope can match a step; True for a malformed step."""
        types = self.symbols.parameter_types.get(token_text(step[0])) if isinstance(step, list) and step else None
        if types is None or not isinstance(step, list) or len(step) != len(types) + 1:
            return True
        meets = self.symbols.types.variable_meets
        arguments = zip(step[1:], types, strict=True)
        return all(
            [meets(scope[token_text(token)], expected) for token, expected in arguments if token_text(token) in scope]
        )

    def formula(self, node: Node, scope: TypeScope) -> Node:
        """Replace each step that cannot happen by ``(or)``, which is false."""
        if not isinstance(node, list) or not node:
            return node
        if token_text(node[0]) in ACTION_ATOMS and len(node) == 2 and isinstance(node[1], list):
            return node if self.is_possible(node[1], scope) else self.derived(["or"], node)
        if node[0] in ("forall", "exists") and len(node) == 3:
            scope = self.extended_scope(node[1], scope)
        children = [self.formula(child, scope) for child in node]
        is_unchanged = all([new is old for new, old in zip(children, node, strict=True)])
        return node if is_unchanged else self.derived(children, node)
