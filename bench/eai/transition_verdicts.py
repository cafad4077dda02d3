"""Compare actions in answers with the reference actions, and rewrite them to explain a different verdict.

A side of an action (its precondition, its effect) is right if it has the same literals as the reference, up to the
names of variables and the order of ``and``. A rewriting changes only the notation of an answer, so safecheck's verdict
stays the same. If the evaluator's verdict becomes safecheck's, the rewriting is the reason of the difference.
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
from plansafe.llm.metrics.transition import Side, read_action, score_action

SIDES = {"precondition": Side.PRECONDITION, "effect": Side.EFFECT}
REWRITINGS = {
    "names of variables": "variables with different names are different",
    "one part below `and`": "`(and (p))` is not `(p)`, and the other way round",
    "bound names": "variables of `forall` and `exists` are renamed only at the same place of an `and`",
    "order of parts": "a quantified part at the place of another part gets the variable of that part",
    "repeated part": "the second occurrence of a part is false",
}


class ReferenceAction(NamedTuple):
    """An action of the reference, as text."""

    name: str
    parameters: str
    precondition: str
    effect: str

    @property
    def text(self) -> str:
        """The action in PDDL."""
        fields = f":parameters {self.parameters} :precondition {self.precondition} :effect {self.effect}"
        return f"(:action {self.name} {fields})"


def parse_actions(text: str) -> dict[str, Node]:
    """Return the actions of an answer by name, the last of each name; in the JSON of the prompt, or in any text."""
    try:
        answer = json.loads(text)
        text = answer["output"] if isinstance(answer, dict) and isinstance(answer.get("output"), str) else text
    except ValueError:
        pass
    actions: dict[str, Node] = {}
    ends = _find_ends(text)
    for start in _find_starts(text):
        nodes = parse_nodes(Source("answer", text[start : ends[start]])) if start in ends else None
        if nodes and isinstance(nodes[0], list) and len(nodes[0]) > 1 and isinstance(nodes[0][1], str):
            actions[nodes[0][1]] = nodes[0]
    return actions


def close_truncated(text: str, name: str) -> Node | None:
    """Return the last action of an answer with its missing brackets, if it is truncated and has this name."""
    starts = _find_starts(text)
    if not starts or starts[-1] in _find_ends(text):
        return None
    last_action = text[starts[-1] :]
    return parse_actions(last_action + ")" * (last_action.count("(") - last_action.count(")"))).get(name)


def _find_starts(text: str) -> list[int]:
    return [match.start() for match in re.finditer(r"\(:action", text, re.IGNORECASE)]


def _find_ends(text: str) -> dict[int, int]:
    """Return, for each bracket that is closed, the end of its group."""
    ends, open_brackets = {}, []
    for match in re.finditer(r"[()]", text):
        if match[0] == "(":
            open_brackets.append(match.start())
        elif open_brackets:
            ends[open_brackets.pop()] = match.end()
    return ends


def judge_sides(answer: Node | None, reference: ReferenceAction) -> dict[str, bool]:
    """True for each side that is right. The sides of a missing or malformed action are wrong."""
    try:
        action = read_action("" if answer is None else format_node(answer))
        reference_action = read_action(reference.text)
        scores = {name: score_action(action, reference_action, side) for name, side in SIDES.items()}
    except (NotAFormula, TooManyVariables):
        return dict.fromkeys(SIDES, False)
    return {name: score.matched == score.predicted == score.reference for name, score in scores.items()}


def make_rewritings(answer: Node, reference: ReferenceAction) -> dict[tuple[str, ...], Node]:
    """Return the action after each combination of rewritings, smallest combinations first."""
    rewritten = {}
    for number in range(1, len(REWRITINGS) + 1):
        for names in combinations(REWRITINGS, number):
            rewritten[names] = _rewrite_action(answer, reference, names)
    return rewritten


def _rewrite_action(answer: Node, reference: ReferenceAction, names: tuple[str, ...]) -> Node:
    reference_nodes = parse_nodes(Source("gold", reference.text)) or []
    if "names of variables" in names:
        answer = _rename_variables(answer, _find_renaming(answer, reference))
    rewritten: list[Node] = []
    for at, part in enumerate(answer if isinstance(answer, list) else []):
        key = answer[at - 1] if at else ""
        if key in (":precondition", ":effect") and isinstance(part, list):
            action = reference_nodes[0]
            reference_side = action[action.index(key) + 1] if isinstance(action, list) else []
            part = _rewrite_side(part, reference_side, names)
        rewritten.append(part)
    return rewritten


def _rewrite_side(side: list[Node], reference: Node, names: tuple[str, ...]) -> Node:
    if "repeated part" in names and side[:1] == ["and"]:
        side = ["and", *[part for at, part in enumerate(side[1:]) if part not in side[1 : at + 1]]]
    if "bound names" in names and isinstance(reference, list):
        if side[:1] == reference[:1] == ["and"]:
            side = ["and", *_take_reference_variables(side[1:], reference[1:])]
        elif _number_variables(side, {}) == _number_variables(reference, {}):
            side = reference
    if "order of parts" in names and isinstance(reference, list) and side[:1] == reference[:1] == ["and"]:
        order = [_find_literals(part) for part in reference[1:]]

        def find_place(part: Node) -> int:
            literals = _find_literals(part)
            return order.index(literals) if literals in order else len(order)

        side = ["and", *sorted(side[1:], key=find_place)]
    if "one part below `and`" in names:
        is_single = isinstance(reference, list) and reference[:1] != ["and"]
        if is_single and side[:1] == ["and"] and len(side) == 2:
            return side[1]
        if not is_single and side and side[0] != "and":
            return ["and", side]
    return side


def _take_reference_variables(parts: list[Node], reference_parts: list[Node]) -> list[Node]:
    """Replace the parts that differ from a reference part only in the names of bound variables by that part."""
    unmatched = list(reference_parts)
    renamed: list[Node] = []
    for part in parts:
        twin = next((ref for ref in unmatched if _number_variables(ref, {}) == _number_variables(part, {})), None)
        if twin is not None:
            unmatched.remove(twin)
        renamed.append(part if twin is None else twin)
    return renamed


def _number_variables(node: Node, bound: Mapping[str, str]) -> Node:
    """Replace the variables of ``forall`` and ``exists`` by numbers in order."""
    if isinstance(node, str):
        return bound.get(node, node)
    if node[:1] in (["forall"], ["exists"]) and len(node) == 3 and isinstance(node[1], list):
        variables = [name for name in node[1] if isinstance(name, str) and name.startswith("?")]
        bound = {**bound, **{name: f"?{len(bound) + at}" for at, name in enumerate(variables)}}
    return [_number_variables(child, bound) for child in node]


def _find_literals(node: Node) -> frozenset[Literal]:
    try:
        return literals_of(node)
    except NotAFormula:
        return frozenset()


def _find_renaming(answer: Node, reference: ReferenceAction) -> dict[str, str]:
    try:
        action, reference_action = read_action(format_node(answer)), read_action(reference.text)
        renaming = best_renaming(
            (action.effect, action.precondition),
            (reference_action.effect, reference_action.precondition),
            action.variables,
            reference_action.variables,
        )
    except (NotAFormula, TooManyVariables):
        return {}
    return {name: new_name for name, new_name in renaming.items() if new_name.startswith("?")}


def _rename_variables(node: Node, names: Mapping[str, str]) -> Node:
    return names.get(node, node) if isinstance(node, str) else [_rename_variables(child, names) for child in node]
