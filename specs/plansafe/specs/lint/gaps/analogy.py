"""Rules like those that are there, about their siblings: another kind of thing, another word, another action."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from plansafe.grammar.sexpr import Node, read_all, write
from plansafe.grammar.source import Source
from plansafe.specs.lint.gaps.model import SIBLING
from plansafe.specs.lint.gaps.rules import NAME, GroundLiteral, Proposal, Scoring
from plansafe.specs.lint.gaps.words import Words

MAX_ANALOGIES = 60
_STEPS = frozenset((":on", ":at-end", ":during"))
_ACTIONS = frozenset(("action", "action-end", "action-during"))
_META = frozenset((":hazard", ":target", ":severity", ":message", ":rationale", ":fix"))


def analogies(words: Words, nodes: Sequence[list[Node]]) -> list[Proposal]:
    """Each rule with one word replaced by a sibling, unless that is a rule already; the most suspicious ones."""
    bare = [_bare(node) for node in nodes]
    known = {_anonymous(node) for node in bare}
    equal = _alike(bare)
    found: dict[str, Proposal] = {}
    for node in bare:
        for proposal in _of(node, words, equal):
            if proposal.text not in known and proposal.text not in found:
                found[proposal.text] = proposal
    return sorted(found.values(), key=lambda p: -p.score)[:MAX_ANALOGIES]


def _bare(node: list[Node]) -> list[Node]:
    """A rule without what is for people."""
    out: list[Node] = node[:2]
    for place in range(2, len(node) - 1, 2):
        if node[place] not in _META:
            out += node[place : place + 2]
    return out


def _anonymous(node: list[Node]) -> str:
    return write([node[0], NAME, *node[2:]])


def _of(node: list[Node], words: Words, equal: list[set[str]]) -> Iterator[Proposal]:
    task = words.task
    used = _names(node)
    present = {task.type_names[t] for t in words.leaves}
    for name in sorted(used["type"]):
        for sibling in sorted((_siblings(words, name) & present) - used["type"]):
            twins = any([name in group and sibling in group for group in equal])
            scoring = Scoring(words).kind(task.type_names.index(sibling))
            scoring.bonus(0.8, f"`{node[1]}` says it of a `{name}`, a sibling of `{sibling}`")
            if sibling in words.companions(name) or twins:
                scoring.bonus(1.2, f"other rules treat `{name}` and `{sibling}` alike")
            yield scoring.proposal(SIBLING, "sibling", _replaced(node, "type", name, sibling))
    for p, declared in enumerate(task.predicates):
        if p >= len(words.facts) or declared.name not in used["predicate"]:
            continue
        for q, other in enumerate(task.predicates):
            if q == p or q >= len(words.facts) or other.types != declared.types or other.name in used["predicate"]:
                continue
            if task.static[p] == task.static[q] and words.facts[q].weight >= 0.5:
                scoring = Scoring(words).facts([GroundLiteral(q, ())])
                scoring.bonus(0.8, f"`{node[1]}` says it of `{declared.name}`, a sibling of `{other.name}`")
                yield scoring.proposal(SIBLING, "sibling", _replaced(node, "predicate", declared.name, other.name))
    for action in task.actions.values():
        if action.name not in used["action"]:
            continue
        for twin in task.actions.values():
            same = [v.domain for v in twin.parameters] == [v.domain for v in action.parameters]
            if same and twin.name not in used["action"]:
                scoring = Scoring(words).action(twin.name)
                scoring.bonus(0.8, f"`{node[1]}` says it of `{action.name}`, which takes the same as `{twin.name}`")
                yield scoring.proposal(SIBLING, "sibling", _replaced(node, "action", action.name, twin.name))


def _siblings(words: Words, name: str) -> set[str]:
    """The types with the same parent."""
    parents = words.parents
    own = parents.get(name, frozenset())
    return {other for other, theirs in parents.items() if other != name and theirs & own}


def _alike(nodes: Sequence[list[Node]]) -> list[set[str]]:
    """Groups of types in which rules are equal otherwise."""
    groups: dict[str, set[str]] = {}
    for node in nodes:
        for name in _names(node)["type"]:
            groups.setdefault(_replaced(node, "type", name, "<type>"), set()).add(name)
    return [group for group in groups.values() if len(group) > 1]


def _places(node: list[Node]) -> Iterator[tuple[list[Node], int, str]]:
    """Where names stand in a rule: the list, the place in it, and the name space."""
    stack: list[tuple[list[Node], bool]] = []
    for place in range(2, len(node) - 1, 2):
        value = node[place + 1]
        if isinstance(value, list):
            stack.append((value, node[place] in _STEPS))
    while stack:
        item, step = stack.pop()
        typed = {place for place in range(1, len(item)) if item[place - 1] == "-" and place > 1}
        head = item[0] if item else ""
        for place, child in enumerate(item):
            if place in typed:
                if isinstance(child, str):
                    yield item, place, "type"
                else:
                    yield from [(child, i, "type") for i in range(1, len(child))]
            elif isinstance(child, list):
                stack.append((child, head in _ACTIONS or (step and head == "or")))
            elif place == 0 and not child.startswith("?"):
                yield item, place, "action" if step and child != "or" else "predicate"


def _names(node: list[Node]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {"type": set(), "predicate": set(), "action": set()}
    for item, place, space in _places(node):
        found[space].add(str(item[place]))
    return found


def _replaced(node: list[Node], space: str, old: str, new: str) -> str:
    """The rule with one word replaced by another, and without a name."""
    copy = read_all(Source("", write(node)))
    assert copy is not None
    rule = copy[0]
    assert isinstance(rule, list)
    for item, place, its in list(_places(rule)):
        if its == space and item[place] == old:
            item[place] = new
    return write([rule[0], NAME, *rule[2:]])
