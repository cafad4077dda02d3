"""What a mapped rule says of steps that cannot happen with such things is left out.

A mapping gives an event all the actions that it may be: to put a thing down may be to place it on the floor, or on
something else. A rule about putting things into a basin then has a step that nothing can match, because a basin is no
floor. In a rule that was written for this domain, that is a mistake (SC104); here it follows from the mapping.
"""

from __future__ import annotations

from itertools import pairwise

from plansafe.grammar.sexpr import Node, format_node
from plansafe.verifier.elaborate.context import Context, Place, is_variable, token_text
from plansafe.verifier.elaborate.symbols import ACTION_ATOMS, Symbols
from plansafe.verifier.elaborate.types import parse_typed_list
from plansafe.verifier.rules.expanded_specs import FORMULA_FIELDS, STEP_FIELDS, PlainRule, step_connective
from plansafe.verifier.rules.mapping import WordName

_LASTING = frozenset(("once", "historically", "since", "always", "sometime", "until"))
"""Operators that are true if their last operand always is, and false if it never is."""
_FORBIDDEN = frozenset((":forbid", ":forbid-after"))
Scope = dict[str, tuple[int, ...]]


def narrowed(symbols: Symbols, rule: PlainRule) -> tuple[PlainRule, WordName | None]:
    """The rule without what cannot happen; with a step of it if nothing is left that it could be about."""
    node = rule.node
    at = node.index(":parameters") if ":parameters" in node[:-1] else -1
    narrow = _Narrow(symbols)
    scope = narrow.bound(node[at + 1], {}) if at >= 0 else {}
    out: list[Node] = []
    lost: WordName | None = None
    key: Node = ""
    for child in node:
        if key in STEP_FIELDS and isinstance(child, list) and child:
            steps = child[1:] if step_connective(child) == "or" else [child]
            left = [step for step in steps if narrow.possible(step, scope)]
            if not left and steps:
                lost = ("step", format_node(steps[0]))
            out.append(narrow.same(["or", *left], child) if 0 < len(left) < len(steps) else child)
        elif key in FORMULA_FIELDS:
            out.append(narrow.formula(child, scope))
        else:
            out.append(child)
        key = child if isinstance(child, str) else ""
    if all([new is old for new, old in zip(out, node, strict=True)]):
        return rule, lost
    return rule._replace(node=narrow.same(out, node)), lost


def is_vacuous(rule: list[Node]) -> bool:
    """Whether a rule cannot be violated whatever happens, since its condition is false or its demands are true."""
    fields = {key: _truth(value) for key, value in pairwise(rule) if isinstance(key, str) and key in FORMULA_FIELDS}
    demands = [value is (key not in _FORBIDDEN) for key, value in fields.items() if key != ":when"]
    return fields.get(":when") is False or (bool(demands) and all(demands))


def _truth(node: Node) -> bool | None:
    """The value of a formula that its connectives alone decide; ``None`` if they do not."""
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
    if head in _LASTING and len(node) in (2, 3):  # two operands: the last one decides
        return _truth(node[-1])
    if head in ("and", "or"):
        neutral = head == "and"
        values = [_truth(part) for part in node[1:]]
        return not neutral if (not neutral) in values else None if None in values else neutral
    return None


class _Narrow:
    def __init__(self, symbols: Symbols) -> None:
        self.symbols = symbols

    def same(self, made: list[Node], origin: list[Node]) -> list[Node]:
        """A new list, whose children stand where those of ``origin`` do."""
        context = self.symbols.context
        context.record_origin(made, Place(origin))
        for child, part in enumerate(made):
            if isinstance(part, str) and (child >= len(origin) or origin[child] != part):
                context.replaced[id(made), child] = Place(origin)
        return made

    def bound(self, typed: Node, scope: Scope) -> Scope:
        """The scope with the variables of a typed list; what is wrong with it is reported elsewhere."""
        if not isinstance(typed, list):
            return scope
        index = self.symbols.types.index
        inner = dict(scope)
        for entry in parse_typed_list(Context(), typed, 0, is_variable, "a variable"):
            inner[entry.name] = tuple([index.get(name, 0) for name in entry.types or ("object",)])
        return inner

    def possible(self, step: Node, scope: Scope) -> bool:
        """Whether something of the types in scope may match a step; also for what is no step at all."""
        types = self.symbols.parameter_types.get(token_text(step[0])) if isinstance(step, list) and step else None
        if types is None or not isinstance(step, list) or len(step) != len(types) + 1:
            return True
        meets = self.symbols.types.variable_meets
        return all(
            [meets(scope[token_text(t)], w) for t, w in zip(step[1:], types, strict=True) if token_text(t) in scope]
        )

    def formula(self, node: Node, scope: Scope) -> Node:
        """The formula with ``(or)``, which is false, for each step that cannot happen."""
        if not isinstance(node, list) or not node:
            return node
        if token_text(node[0]) in ACTION_ATOMS and len(node) == 2 and isinstance(node[1], list):
            return node if self.possible(node[1], scope) else self.same(["or"], node)
        if node[0] in ("forall", "exists") and len(node) == 3:
            scope = self.bound(node[1], scope)
        out = [self.formula(child, scope) for child in node]
        return node if all([new is old for new, old in zip(out, node, strict=True)]) else self.same(out, node)
