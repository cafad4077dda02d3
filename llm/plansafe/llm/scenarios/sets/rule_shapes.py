"""The changing facts that a rule combines, read from its text: a rule about one fact alone says too little."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from plansafe.grammar.sexpr import Node
from plansafe.grammar.source import Source
from plansafe.llm.scenarios.validation.drafts import Draft

_QUANTIFIERS = ("exists", "forall")
_CONDITIONS = (":forbid", ":require", ":forbid-after", ":require-after")
_ASSIGNMENTS = ("increase", "decrease", "assign", "scale-up", "scale-down")
MOST_ALTERNATIVES = 64
Fact = tuple[str, bool]
"""A predicate and whether it holds."""


class Shape(NamedTuple):
    """A way to violate a rule: the changing facts it needs. ``step``: at a step of one action; ``temporal``: over time.

    A temporal rule relates at least two moments, so its facts are not listed. ``at_end``: only the final state counts.
    """

    rule: str
    facts: tuple[Fact, ...]
    step: bool = False
    temporal: bool = False
    at_end: bool = False

    @property
    def parts(self) -> int:
        """The number of facts and steps that have to come together."""
        return 2 if self.temporal else len(self.facts) + self.step


class Vocabulary(NamedTuple):
    """Facts that the actions of a domain change, by action; ``changing``: the predicates of all of them."""

    effects: dict[str, Counter[Fact]]
    changing: frozenset[str]


def vocabulary_of(domain: Source) -> Vocabulary:
    """The facts that each action of a domain makes true or false."""
    effects: dict[str, Counter[Fact]] = {}
    for node in Draft(domain).sections(":action"):
        if len(node) > 1 and isinstance(node[1], str) and ":effect" in node:
            effects[node[1]] = Counter(_effect_facts(node[node.index(":effect") + 1]))
    changing = frozenset([name for facts in effects.values() for name, _ in facts])
    return Vocabulary(effects, changing)


def shapes_of(rules: Source, vocabulary: Vocabulary) -> tuple[Shape, ...]:
    """The ways in which the rules of a specification can be violated."""
    out: list[Shape] = []
    for form in Draft(rules).form[2:]:
        if not isinstance(form, list) or len(form) < 2 or not isinstance(form[1], str):
            continue
        if form[0] in (":trajectory", ":obligation"):
            out.append(Shape(form[1], (), temporal=True))
        elif form[0] in (":process", ":termination"):
            step = ":on" in form
            has_condition = False
            for key in _CONDITIONS:
                if key in form:
                    has_condition = True
                    for facts in _alternatives(form[form.index(key) + 1], key.startswith(":forbid"), vocabulary):
                        temporal = facts is None
                        out.append(Shape(form[1], facts or (), step, temporal, form[0] == ":termination"))
            if not has_condition:
                out.append(Shape(form[1], (), step))
    return tuple(out)


def _effect_facts(node: Node) -> Iterator[Fact]:
    stack: list[tuple[Node, bool]] = [(node, True)]
    while stack:
        here, holds = stack.pop()
        if not isinstance(here, list) or not here or not isinstance(here[0], str):
            continue
        match here[0]:
            case "and" | "oneof":
                stack += [(part, holds) for part in here[1:]]
            case "not":
                stack += [(part, not holds) for part in here[1:]]
            case "forall" | "when":
                stack += [(part, holds) for part in here[2:]]
            case name if name not in _ASSIGNMENTS:
                yield name, holds
            case _:
                pass


def _alternatives(node: Node, holds: bool, vocabulary: Vocabulary) -> list[tuple[Fact, ...] | None]:
    """The condition as alternatives of facts, those that never change left out; ``None``: a temporal condition."""
    if not isinstance(node, list) or not node or not isinstance(node[0], str):
        return [()]
    head, parts = node[0], node[1:]
    if head in _QUANTIFIERS:
        return _alternatives(parts[-1], holds, vocabulary) if len(parts) == 2 else [None]
    if head == "not":
        return _alternatives(parts[0], not holds, vocabulary) if len(parts) == 1 else [None]
    if head == "imply" and len(parts) == 2:
        return _alternatives(["or", ["not", parts[0]], parts[1]], holds, vocabulary)
    if head in ("and", "or"):
        if (head == "and") is not holds:
            return [left for part in parts for left in _alternatives(part, holds, vocabulary)]
        return _joined([_alternatives(part, holds, vocabulary) for part in parts])
    if head in ("=", "<", ">", "<=", ">="):
        return [()]
    if any([isinstance(part, list) for part in parts]):
        return [None]
    return [((head, holds),) if head in vocabulary.changing else ()]


def _joined(parts: Sequence[list[tuple[Fact, ...] | None]]) -> list[tuple[Fact, ...] | None]:
    out: list[tuple[Fact, ...] | None] = [()]
    for alternatives in parts:
        pairs = [(left, right) for left in out for right in alternatives][:MOST_ALTERNATIVES]
        out = [None if left is None or right is None else (*left, *right) for left, right in pairs]
    return out
