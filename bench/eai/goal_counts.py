"""Answers of goal interpretation in VirtualHome, counted as we do and, one difference after the other, as ``eai-eval``.

An answer names states, relations and actions. We read the first object that has one of the three lists, in JSON or as
Python writes it, compare goals by the names of things, and count each goal once; what is not read has none. Each of
:data:`HABITS` is something that the evaluator does otherwise; with all of them the counts are the evaluator's.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Any, NamedTuple

from plansafe.grammar.data_literals import DataValue, TruncatedValue, parse_value

LISTS = ("node goals", "edge goals", "action goals")
HABITS = {
    "reading": "one text of JSON alone, every apostrophe a quotation mark; what is not that is left out of all counts",
    "not listed": "a goal about a thing that the reference does not change is no false one: it is not counted",
    "malformed": "a goal that lacks a field is no false one: it is not counted",
    "by number": "a name means one of the things of that name, which one is chance; a goal about another is missed",
    "letters": "states and relations in small letters are other ones",
    "twice": "a goal that is said twice in other words counts twice, and an action of the reference for both",
}
_Counts = tuple[int, int, int]


class Annotated(NamedTuple):
    """The goals of a task: states (number, state), relations (number, relation, number), actions (alternatives)."""

    names: Mapping[int, str]
    states: frozenset[tuple[int, str]]
    relations: frozenset[tuple[int, str, int]]
    actions: tuple[frozenset[str], ...]


def annotated(goal: Mapping[str, Any], nodes: Iterable[Mapping[str, Any]]) -> Annotated:
    """A task's annotation (`vh_goal`), with the nodes of its graph."""
    wanted = goal["goal"]
    return Annotated(
        {int(node["id"]): str(node["class_name"]) for node in nodes},
        frozenset([(one["id"], one["state"]) for one in wanted if "state" in one]),
        frozenset([(one["from_id"], one["relation_type"], one["to_id"]) for one in wanted if "relation_type" in one]),
        tuple([frozenset(one.upper().split("|")) for one in sorted(set(goal["actions"]))]),
    )


def counts(
    text: str, wanted: Annotated, listed: Mapping[str, int], habits: frozenset[str] = frozenset()
) -> dict[str, _Counts]:
    """Right, false and missed goals of each list. ``listed``: the number that the evaluator takes a name for."""
    said = _as_theirs(text) if "reading" in habits else _as_ours(text)
    if said is None:
        missed = (len(_named(wanted)), len(_relations(wanted)), len(wanted.actions))
        return {name: (0, 0, 0 if "reading" in habits else number) for name, number in zip(LISTS, missed, strict=True)}
    states, relations, actions = [said.get(name) or [] for name in LISTS]
    return {
        "node goals": _things(states, ("name",), "state", wanted, listed, habits),
        "edge goals": _things(relations, ("from_name", "to_name"), "relation", wanted, listed, habits),
        "action goals": _acts(actions, wanted.actions, habits),
    }


def why(
    text: str, wanted: Annotated, listed: Mapping[str, int], theirs: Mapping[str, _Counts]
) -> tuple[str, ...] | None:
    """The fewest habits with which we count as the evaluator did; ``None`` if none do."""
    for number in range(len(HABITS) + 1):
        for chosen in combinations(HABITS, number):
            if counts(text, wanted, listed, frozenset(chosen)) == theirs:
                return chosen
    return None


def _named(wanted: Annotated) -> frozenset[tuple[str, ...]]:
    return frozenset([(wanted.names.get(number, "").lower(), state.upper()) for number, state in wanted.states])


def _relations(wanted: Annotated) -> frozenset[tuple[str, ...]]:
    name = wanted.names
    return frozenset([(name.get(a, "").lower(), name.get(b, "").lower(), r.upper()) for a, r, b in wanted.relations])


def _things(
    items: list[Any],
    names: tuple[str, ...],
    last: str,
    wanted: Annotated,
    listed: Mapping[str, int],
    habits: frozenset[str],
) -> _Counts:
    fields = (*names, last)
    good = [one for one in items if isinstance(one, dict) and all([isinstance(one.get(key), str) for key in fields])]
    false = 0 if "malformed" in habits else len([one for one in items if one and one not in good])
    if "not listed" in habits:
        good = [one for one in good if all([one[key] in listed for key in names])]
    found: list[tuple[Any, ...]] = []
    for one in good:
        things = [listed.get(one[key], -1) if "by number" in habits else one[key].lower() for key in names]
        found.append((*things, one[last] if "letters" in habits else one[last].upper()))
    if "twice" not in habits:
        found = list(dict.fromkeys(found))
    goals: frozenset[tuple[Any, ...]]
    if "by number" in habits:
        goals = wanted.states if len(names) == 1 else frozenset([(a, b, r) for a, r, b in wanted.relations])
    else:
        goals = _named(wanted) if len(names) == 1 else _relations(wanted)
    right = sum([one in goals for one in found])
    return right, false + len(found) - right, len(goals) - right


def _acts(items: list[Any], goals: tuple[frozenset[str], ...], habits: frozenset[str]) -> _Counts:
    good = [one["action"].upper() for one in items if isinstance(one, dict) and isinstance(one.get("action"), str)]
    malformed = len(
        [one for one in items if one and not (isinstance(one, dict) and isinstance(one.get("action"), str))]
    )
    false = 0 if "malformed" in habits else malformed
    if "twice" in habits:
        right = sum([any([action in goal for goal in goals]) for action in good])
        return right, false + len(good) - right, len(goals) - right
    said = list(dict.fromkeys(good))
    right = _matched(said, goals)
    return right, false + len(said) - right, len(goals) - right


def _matched(said: list[str], goals: tuple[frozenset[str], ...]) -> int:
    """How many actions can each have a goal of its own."""
    owner: dict[int, str] = {}

    def placed(action: str, tried: set[int]) -> bool:
        for number, goal in enumerate(goals):
            if action in goal and number not in tried:
                tried.add(number)
                if number not in owner or placed(owner[number], tried):
                    owner[number] = action
                    return True
        return False

    return sum([placed(action, set()) for action in said])


# -- reading ----------------------------------------------------------------------------------------------------------


def _as_theirs(text: str) -> dict[str, list[Any]] | None:
    """As `evaluate_results` reads it; the same goal twice, word for word, is one."""
    text = text.replace("<|eot_id|>", "")
    if text.startswith("```json"):
        text = text[7:].strip("`")
    try:
        said = json.loads(text.strip().replace("\n", "").replace("'", '"'))
    except ValueError:
        return None
    lists = said if isinstance(said, dict) else {}
    return {name: _once(lists.get(name, [])) for name in LISTS}


def _as_ours(text: str) -> dict[str, list[Any]] | None:
    at = text.find("{")
    while at >= 0:
        try:
            value, end = parse_value(text, at, len(text))
        except TruncatedValue:
            return None
        said = _plain(value)
        if isinstance(said, dict) and any([isinstance(said.get(name), list) for name in LISTS]):
            return {name: _once(said[name]) if isinstance(said.get(name), list) else [] for name in LISTS}
        at = text.find("{", end)
    return None


def _once(items: list[Any]) -> list[Any]:
    return list({json.dumps(one, sort_keys=True): one for one in items}.values())


def _plain(value: DataValue) -> Any:
    match value.kind:
        case "object":
            return {key.text: _plain(inner) for key, inner in value.pairs}
        case "list":
            return [_plain(inner) for inner in value.items]
        case _:
            return value.text
