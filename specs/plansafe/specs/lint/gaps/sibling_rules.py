"""Rules like those that are there, about their siblings: another kind of thing, another word, another action."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from plansafe.grammar.sexpr import Node, format_node
from plansafe.specs.lint.gaps.model import SIBLING
from plansafe.specs.lint.gaps.proposals import NAME, Proposal, make_proposal
from plansafe.specs.lint.gaps.suspicion import Suspicion, SuspicionWeights, node_words
from plansafe.verifier.elaborate.types import TypeTable

MAX_SIBLING_RULES = 60
SIBLING_WEIGHT = 1.0
"""The weight of being like a rule; it counts twice for words that other rules treat alike."""
_META = frozenset((":hazard", ":target", ":severity", ":message", ":rationale", ":fix"))


def sibling_rules(words: SuspicionWeights, nodes: Sequence[list[Node]], table: TypeTable) -> list[Proposal]:
    """Each rule with one word replaced by a sibling, unless that is a rule already; the most suspicious ones."""
    bare = [_bare(node) for node in nodes]
    known = {format_node(node) for node in bare}
    used = [set(node_words(rule)) for rule in bare]
    found: dict[str, Proposal] = {}
    for name, other, word in _siblings(words, table):
        like = [
            (node, format_node(_replaced(rule, name, other)))
            for node, rule, own in zip(nodes, bare, used, strict=True)
            if name in own and other not in own
        ]
        twins = any([{name, other} <= own for own in used]) or any([text in known for _, text in like])
        for node, text in like:
            if text not in known:
                reason = Suspicion(
                    SIBLING_WEIGHT * (1 + twins), f"`{node[1]}` is about `{name}`, a sibling of `{other}`"
                )
                found.setdefault(text, make_proposal("sibling", text, [word, reason], SIBLING))
    return sorted(found.values(), key=lambda p: -p.score)[:MAX_SIBLING_RULES]


def _siblings(words: SuspicionWeights, table: TypeTable) -> Iterator[tuple[str, str, Suspicion]]:
    """Pairs of words that may stand in the same places, and how suspicious the second is."""
    task = words.task
    present = sorted({t for types in task.object_types for t in types})
    for t, name in enumerate(table.names):
        for u in present:
            if t != u and set(table.parents[t]) & set(table.parents[u]):
                yield name, table.names[u], words.kinds[u]
    for p, declared in enumerate(task.predicates[: len(words.facts)]):
        for q, other in enumerate(task.predicates[: len(words.facts)]):
            if p != q and declared.types == other.types and task.static[p] == task.static[q] and words.facts[q].weight:
                yield declared.name, other.name, words.facts[q]
    for action in task.actions.values():
        for twin in task.actions.values():
            if twin is not action and [v.domain for v in twin.parameters] == [v.domain for v in action.parameters]:
                yield action.name, twin.name, words.actions[twin.name]


def _bare(node: list[Node]) -> list[Node]:
    """A rule without its name and what is for people."""
    out: list[Node] = [node[0], NAME]
    for place in range(2, len(node) - 1, 2):
        if node[place] not in _META:
            out += node[place : place + 2]
    return out


def _replaced(node: Node, old: str, new: str) -> Node:
    if isinstance(node, str):
        return new if node == old else node
    return [_replaced(child, old, new) for child in node]
