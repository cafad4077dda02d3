"""Propose rules like the existing ones, about siblings: another type, predicate or action."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from plansafe.grammar.codes import SC
from plansafe.grammar.sexpr import Node, format_node
from plansafe.specs.lint.gaps.proposals import NAME, Proposal, make_proposal
from plansafe.specs.lint.gaps.suspicion import Suspicion, SuspicionWeights, node_words
from plansafe.verifier.elaborate.types import TypeTable

MAX_SIBLING_RULES = 60
SIBLING_WEIGHT = 1.0
"""The weight of a sibling of a rule; doubled if other rules contain both words."""
_TEXT_FIELDS = frozenset((":hazard", ":target", ":severity", ":message", ":rationale", ":source", ":fix"))


def sibling_rules(weights: SuspicionWeights, nodes: Sequence[list[Node]], table: TypeTable) -> list[Proposal]:
    """Each rule with one word replaced by a sibling, unless that is a rule already; the most suspicious ones."""
    stripped_rules = [_strip_texts(node) for node in nodes]
    existing = {format_node(rule) for rule in stripped_rules}
    words_of_rules = [set(node_words(rule)) for rule in stripped_rules]
    proposals: dict[str, Proposal] = {}
    for word, sibling, suspicion in _find_siblings(weights, table):
        candidates = [
            (node, format_node(_replace_word(rule, word, sibling)))
            for node, rule, rule_words in zip(nodes, stripped_rules, words_of_rules, strict=True)
            if word in rule_words and sibling not in rule_words
        ]
        are_alike = any([{word, sibling} <= rule_words for rule_words in words_of_rules])
        are_alike = are_alike or any([text in existing for _, text in candidates])
        for node, text in candidates:
            if text not in existing:
                reason = f"`{node[1]}` is about `{word}`, a sibling of `{sibling}`"
                suspicions = [suspicion, Suspicion(SIBLING_WEIGHT * (1 + are_alike), reason)]
                proposals.setdefault(text, make_proposal("sibling", text, suspicions, SC.GAP_SIBLING))
    return sorted(proposals.values(), key=lambda proposal: -proposal.score)[:MAX_SIBLING_RULES]


def _find_siblings(weights: SuspicionWeights, table: TypeTable) -> Iterator[tuple[str, str, Suspicion]]:
    """Pairs of words that are possible in the same places, and the suspicion against the second."""
    task = weights.task
    declared_types = sorted({type_number for types in task.object_types for type_number in types})
    for type_number, name in enumerate(table.names):
        for sibling in declared_types:
            if type_number != sibling and set(table.parents[type_number]) & set(table.parents[sibling]):
                yield name, table.names[sibling], weights.types[sibling]
    predicates = list(enumerate(task.predicates[: len(weights.facts)]))
    for p, first in predicates:
        for q, second in predicates:
            is_like = p != q and first.types == second.types and task.static[p] == task.static[q]
            if is_like and weights.facts[q].weight:
                yield first.name, second.name, weights.facts[q]
    for action in task.actions.values():
        domains = [v.domain for v in action.parameters]
        for twin in task.actions.values():
            if twin is not action and [v.domain for v in twin.parameters] == domains:
                yield action.name, twin.name, weights.actions[twin.name]


def _strip_texts(node: list[Node]) -> list[Node]:
    """A rule without its name, and without fields that only people read."""
    stripped: list[Node] = [node[0], NAME]
    for place in range(2, len(node) - 1, 2):
        if node[place] not in _TEXT_FIELDS:
            stripped += node[place : place + 2]
    return stripped


def _replace_word(node: Node, old: str, new: str) -> Node:
    if isinstance(node, str):
        return new if node == old else node
    return [_replace_word(child, old, new) for child in node]
