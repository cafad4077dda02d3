"""Actions as models wrote them against the reference's: our verdict, and rewritings that explain another one.

A side of an action (its precondition, its effect) is right if it has the literals of the reference and no others, up to
the names of variables and the order of ``and``. A rewriting changes how an answer is written and nothing that we look
at: where the evaluator says otherwise before it and the same after it, that is what it stumbled over.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from itertools import combinations
from typing import NamedTuple

from plansafe.grammar.sexpr import Node, format_node, parse_nodes
from plansafe.grammar.source import Source
from plansafe.llm.metrics.literals import Literal, NotAFormula, literals_of
from plansafe.llm.metrics.renaming import TooManyVariables, best_renaming
from plansafe.llm.metrics.transition import ActionText, Side, read_action, score_action

SIDES = {"precondition": Side.PRECONDITION, "effect": Side.EFFECT}
REWRITINGS = {
    "names of variables": "variables with other names are other ones",
    "one part below `and`": "`(and (p))` is not `(p)`, and the other way round",
    "bound names": "those of `forall` and `exists` are renamed only where both stand at the same place of an `and`",
    "order of parts": "where a quantified part stands at the place of another one, it gets that one's variable",
    "said twice": "a part that is said twice is a false one",
}


class Gold(NamedTuple):
    """An action of the reference, as text."""

    name: str
    parameters: str
    precondition: str
    effect: str

    @property
    def text(self) -> str:
        """The whole action."""
        fields = f":parameters {self.parameters} :precondition {self.precondition} :effect {self.effect}"
        return f"(:action {self.name} {fields})"


def actions_of(text: str) -> dict[str, Node]:
    """The actions of an answer by name, the last of each: in the JSON that is asked for, or wherever they stand."""
    try:
        said = json.loads(text)
        text = said["output"] if isinstance(said, dict) and isinstance(said.get("output"), str) else text
    except ValueError:
        pass
    found: dict[str, Node] = {}
    ends = _ends(text)
    for at in _beginnings(text):
        tops = parse_nodes(Source("answer", text[at : ends[at]])) if at in ends else None
        if tops and isinstance(tops[0], list) and len(tops[0]) > 1 and isinstance(tops[0][1], str):
            found[tops[0][1]] = tops[0]
    return found


def _beginnings(text: str) -> list[int]:
    return [one.start() for one in re.finditer(r"\(:action", text, re.IGNORECASE)]


def closed(text: str, name: str) -> Node | None:
    """An action that breaks off, with the brackets that it lacks."""
    begun = _beginnings(text)
    if not begun or begun[-1] in _ends(text):
        return None
    last = text[begun[-1] :]
    return actions_of(last + ")" * (last.count("(") - last.count(")"))).get(name)


def _ends(text: str) -> dict[int, int]:
    """Of each bracket that is closed, where what it holds ends."""
    found, begun = {}, []
    for one in re.finditer(r"[()]", text):
        if one[0] == "(":
            begun.append(one.start())
        elif begun:
            found[begun.pop()] = one.end()
    return found


def right(said: Node | None, gold: Gold) -> dict[str, bool]:
    """Whether each side is right. What is not there, or is no action, is wrong."""
    try:
        action, wanted = read_action("" if said is None else format_node(said)), read_action(gold.text)
        scores = {name: score_action(action, wanted, side) for name, side in SIDES.items()}
    except (NotAFormula, TooManyVariables):
        return dict.fromkeys(SIDES, False)
    return {name: one.matched == one.predicted == one.reference for name, one in scores.items()}


def rewritten(said: Node, gold: Gold) -> dict[tuple[str, ...], Node]:
    """The action under each choice of rewritings, few first."""
    out = {}
    for number in range(1, len(REWRITINGS) + 1):
        for chosen in combinations(REWRITINGS, number):
            out[chosen] = _rewritten(said, gold, chosen)
    return out


def _rewritten(said: Node, gold: Gold, chosen: tuple[str, ...]) -> Node:
    wanted = parse_nodes(Source("gold", gold.text)) or []
    if "names of variables" in chosen:
        said = _renamed(said, _names(said, gold))
    out: list[Node] = []
    for at, part in enumerate(said if isinstance(said, list) else []):
        key = said[at - 1] if at else ""
        if key in (":precondition", ":effect") and isinstance(part, list):
            other = wanted[0][wanted[0].index(key) + 1] if isinstance(wanted[0], list) else []
            part = _side(part, other, chosen)
        out.append(part)
    return out


def _side(part: list[Node], other: Node, chosen: tuple[str, ...]) -> Node:
    if "said twice" in chosen and part[:1] == ["and"]:
        part = ["and", *[one for at, one in enumerate(part[1:]) if one not in part[1 : at + 1]]]
    if "bound names" in chosen and isinstance(other, list):
        if part[:1] == other[:1] == ["and"]:
            part = ["and", *_as_there(part[1:], other[1:])]
        elif _plain(part, {}) == _plain(other, {}):
            part = other
    if "order of parts" in chosen and isinstance(other, list) and part[:1] == other[:1] == ["and"]:
        order = [_literals(one) for one in other[1:]]
        part = [
            "and",
            *sorted(part[1:], key=lambda one: order.index(found) if (found := _literals(one)) in order else 999),
        ]
    if "one part below `and`" in chosen:
        single = isinstance(other, list) and other[:1] != ["and"]
        if single and part[:1] == ["and"] and len(part) == 2:
            return part[1]
        if not single and part and part[0] != "and":
            return ["and", part]
    return part


def _as_there(parts: list[Node], others: list[Node]) -> list[Node]:
    """The parts as the reference writes them, where they differ from it in the names of bound variables alone."""
    waiting = list(others)
    out: list[Node] = []
    for part in parts:
        same = next((one for one in waiting if _plain(one, {}) == _plain(part, {})), None)
        if same is not None:
            waiting.remove(same)
        out.append(part if same is None else same)
    return out


def _plain(node: Node, bound: Mapping[str, str]) -> Node:
    """With the variables of ``forall`` and ``exists`` numbered as they come, and nothing else changed."""
    if isinstance(node, str):
        return bound.get(node, node)
    if node[:1] in (["forall"], ["exists"]) and len(node) == 3 and isinstance(node[1], list):
        own = [one for one in node[1] if isinstance(one, str) and one.startswith("?")]
        bound = {**bound, **{name: f"?{len(bound) + at}" for at, name in enumerate(own)}}
    return [_plain(one, bound) for one in node]


def _literals(node: Node) -> frozenset[Literal]:
    try:
        return literals_of(node)
    except NotAFormula:
        return frozenset()


def _names(said: Node, gold: Gold) -> dict[str, str]:
    try:
        action, wanted = read_action(format_node(said)), read_action(gold.text)
        found = best_renaming(_both(action), _both(wanted), action.variables, wanted.variables)
    except (NotAFormula, TooManyVariables):
        return {}
    return {name: other for name, other in found.items() if other.startswith("?")}


def _both(action: ActionText) -> tuple[frozenset[Literal], frozenset[Literal]]:
    return action.effect, action.precondition


def _renamed(node: Node, names: dict[str, str]) -> Node:
    return names.get(node, node) if isinstance(node, str) else [_renamed(one, names) for one in node]
