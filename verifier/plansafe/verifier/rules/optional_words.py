"""Words that a domain may lack without losing the rules that mention them (``:optional`` of a vocabulary).

Where a domain has nothing for an optional predicate or action, no fact of it is ever true and no such step is taken.
Atoms of these words in formulas become ``(or)``, which is false. Other missing words make a rule not applicable.
"""

from __future__ import annotations

from plansafe.grammar.codes import SC
from plansafe.grammar.sexpr import Node
from plansafe.verifier.elaborate.context import Context, Place, format_token, is_name
from plansafe.verifier.elaborate.symbols import ACTION_ATOMS
from plansafe.verifier.rules.expanded_specs import FORMULA_FIELDS, ExpandedSpecs, PlainRule, list_keyed_children
from plansafe.verifier.rules.mapping import Mapping, WordName, make_unbound_name
from plansafe.verifier.rules.vocabulary import find_declared_words

OPTIONAL_KINDS = ("predicate", "action")
_FALSE_IF_LAST_PART_IS_FALSE = ("exists", "yesterday", "once", "since")
"""Operators whose formula is never true if their last part is never true."""


def find_optional_words(context: Context, expanded: ExpandedSpecs, mapping: Mapping | None) -> set[WordName]:
    """Return the optional words of the vocabularies that a mapping serves, with the names of missing words as well.

    A missing word has the name of :func:`make_unbound_name` if the mapping declares that the domain has nothing for it.
    """
    words: set[WordName] = set()
    for vocabulary in expanded.vocabularies:
        if expanded.find_mapping(vocabulary.specification) is not mapping:
            continue
        declared = None
        for section in vocabulary.node[1:]:
            if not isinstance(section, list) or not section or section[0] != ":optional":
                continue
            declared = find_declared_words(context, [vocabulary]) if declared is None else declared
            for child, token in enumerate(section[1:], 1):
                name = format_token(token)
                kinds = [kind for kind in OPTIONAL_KINDS if is_name(token) and (kind, name) in declared]
                if not kinds:
                    message = f"`{name}` is optional, but this vocabulary declares no predicate or action of this name"
                    context.error(SC.VOCABULARY, message, Place(section, child), "not declared here")
                words.update([(kind, text) for kind in kinds for text in (name, make_unbound_name(name))])
    return words


def remove_words(context: Context, rule: PlainRule, words: set[WordName]) -> PlainRule:
    """Return a rule with each atom of the given predicates and actions replaced by ``(or)`` in its formulas."""
    node = rule.node
    children = [
        _remove_from_formula(context, child, words) if key in FORMULA_FIELDS else child
        for key, child in list_keyed_children(node)
    ]
    if all([new is old for new, old in zip(children, node, strict=True)]):
        return rule
    context.record_origin(children, Place(node))
    return rule._replace(node=children)


def _remove_from_formula(context: Context, node: Node, words: set[WordName]) -> Node:
    """Return a formula with each atom of some words replaced by ``(or)``; the same object if it has none."""
    if not isinstance(node, list) or not node:
        return node
    head = format_token(node[0])
    if head in ACTION_ATOMS and len(node) == 2 and isinstance(node[1], list) and node[1]:
        word = ("action", format_token(node[1][0]))
    else:
        word = ("predicate", head)
    tree: list[Node] = ["or"]
    if word not in words:
        first_operand = 2 if head in ("forall", "exists") and len(node) == 3 else 1
        tree = [*node[:first_operand], *[_remove_from_formula(context, child, words) for child in node[first_operand:]]]
        if all([new is old for new, old in zip(tree, node, strict=True)]):
            return node
        tree = _simplify(tree)
    context.record_origin(tree, Place(node))
    return tree


def _simplify(tree: list[Node]) -> list[Node]:
    """Simplify a changed formula whose parts may be ``(or)``: nothing is compiled for parts that are never true."""
    if tree[0] == "or":
        return ["or", *[part for part in tree[1:] if part != ["or"]]]
    is_false = ["or"] in tree if tree[0] == "and" else tree[0] in _FALSE_IF_LAST_PART_IS_FALSE and tree[-1] == ["or"]
    return ["or"] if is_false else tree
