"""Count the goals in answers of goal interpretation in VirtualHome: as safecheck does, and as ``eai-eval`` does.

An answer names states, relations and actions. Safecheck reads the first object that has one of the three lists, in JSON
or in Python's notation, compares goals by the names of objects, and counts each goal once; an unreadable answer has no
goals. Each of :data:`HABITS` is a difference of the evaluator; with all of them the counts are the evaluator's.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Any, NamedTuple

from plansafe.grammar.data_literals import DataValue, UnreadableValue, parse_value

LISTS = ("node goals", "edge goals", "action goals")
HABITS = {
    "reading": "reads only pure JSON, after replacing apostrophes by quotation marks; other answers are not counted",
    "not listed": "a goal about an object that the reference does not change is not false: it is not counted",
    "malformed": "a goal that lacks a field is not false: it is not counted",
    "by number": "a name means one object of that name, chosen at random; a goal about another object is missed",
    "letters": "states and relations in lower case differ from those in upper case",
    "twice": "a goal that is repeated in other words counts twice, and an action counts for each goal that it matches",
}
_Counts = tuple[int, int, int]


class TaskGoals(NamedTuple):
    """The goals of a task: states (number, state), relations (number, relation, number), actions (alternatives)."""

    names: Mapping[int, str]
    states: frozenset[tuple[int, str]]
    relations: frozenset[tuple[int, str, int]]
    actions: tuple[frozenset[str], ...]


def read_goals(annotation: Mapping[str, Any], nodes: Iterable[Mapping[str, Any]]) -> TaskGoals:
    """Read a task's annotation (`vh_goal`); ``nodes`` are the nodes of its graph."""
    goals = annotation["goal"]
    return TaskGoals(
        {int(node["id"]): str(node["class_name"]) for node in nodes},
        frozenset([(goal["id"], goal["state"]) for goal in goals if "state" in goal]),
        frozenset(
            [(goal["from_id"], goal["relation_type"], goal["to_id"]) for goal in goals if "relation_type" in goal]
        ),
        tuple([frozenset(alternatives.upper().split("|")) for alternatives in sorted(set(annotation["actions"]))]),
    )


def count_goals(
    text: str, reference: TaskGoals, listed: Mapping[str, int], habits: frozenset[str] = frozenset()
) -> dict[str, _Counts]:
    """Count right, false and missed goals of each list. ``listed``: the object that the evaluator takes a name for."""
    lists = _parse_as_evaluator(text) if "reading" in habits else _parse_answer(text)
    if lists is None:
        missed = (len(_named_states(reference)), len(_named_relations(reference)), len(reference.actions))
        return {name: (0, 0, 0 if "reading" in habits else number) for name, number in zip(LISTS, missed, strict=True)}
    states, relations, actions = [lists.get(name) or [] for name in LISTS]
    return {
        "node goals": _count_facts(states, ("name",), "state", reference, listed, habits),
        "edge goals": _count_facts(relations, ("from_name", "to_name"), "relation", reference, listed, habits),
        "action goals": _count_actions(actions, reference.actions, habits),
    }


def find_habits(
    text: str, reference: TaskGoals, listed: Mapping[str, int], theirs: Mapping[str, _Counts]
) -> tuple[str, ...] | None:
    """Return the fewest habits with which the counts are the evaluator's; ``None`` if there are none."""
    for number in range(len(HABITS) + 1):
        for habits in combinations(HABITS, number):
            if count_goals(text, reference, listed, frozenset(habits)) == theirs:
                return habits
    return None


def _named_states(goals: TaskGoals) -> frozenset[tuple[str, ...]]:
    return frozenset([(goals.names.get(number, "").lower(), state.upper()) for number, state in goals.states])


def _named_relations(goals: TaskGoals) -> frozenset[tuple[str, ...]]:
    names = goals.names
    return frozenset(
        [
            (names.get(first, "").lower(), names.get(second, "").lower(), relation.upper())
            for first, relation, second in goals.relations
        ]
    )


def _count_facts(
    entries: list[Any],
    name_keys: tuple[str, ...],
    fact_key: str,
    reference: TaskGoals,
    listed: Mapping[str, int],
    habits: frozenset[str],
) -> _Counts:
    keys = (*name_keys, fact_key)
    complete = [
        entry for entry in entries if isinstance(entry, dict) and all([isinstance(entry.get(key), str) for key in keys])
    ]
    malformed = 0 if "malformed" in habits else len([entry for entry in entries if entry and entry not in complete])
    if "not listed" in habits:
        complete = [entry for entry in complete if all([entry[key] in listed for key in name_keys])]
    facts: list[tuple[Any, ...]] = []
    for entry in complete:
        objects = [listed.get(entry[key], -1) if "by number" in habits else entry[key].lower() for key in name_keys]
        facts.append((*objects, entry[fact_key] if "letters" in habits else entry[fact_key].upper()))
    if "twice" not in habits:
        facts = list(dict.fromkeys(facts))
    goals: frozenset[tuple[Any, ...]]
    if "by number" in habits:
        by_number = frozenset([(first, second, relation) for first, relation, second in reference.relations])
        goals = reference.states if len(name_keys) == 1 else by_number
    else:
        goals = _named_states(reference) if len(name_keys) == 1 else _named_relations(reference)
    right = sum([fact in goals for fact in facts])
    return right, malformed + len(facts) - right, len(goals) - right


def _count_actions(entries: list[Any], goals: tuple[frozenset[str], ...], habits: frozenset[str]) -> _Counts:
    is_complete = [isinstance(entry, dict) and isinstance(entry.get("action"), str) for entry in entries]
    actions = [entry["action"].upper() for entry, complete in zip(entries, is_complete, strict=True) if complete]
    malformed = len([entry for entry, complete in zip(entries, is_complete, strict=True) if entry and not complete])
    if "malformed" in habits:
        malformed = 0
    if "twice" in habits:
        right = sum([any([action in goal for goal in goals]) for action in actions])
    else:
        actions = list(dict.fromkeys(actions))
        right = _count_matches(actions, goals)
    return right, malformed + len(actions) - right, len(goals) - right


def _count_matches(actions: list[str], goals: tuple[frozenset[str], ...]) -> int:
    """Return the size of a largest matching of actions to goals."""
    owner: dict[int, str] = {}

    def assign(action: str, tried: set[int]) -> bool:
        for number, goal in enumerate(goals):
            if action in goal and number not in tried:
                tried.add(number)
                if number not in owner or assign(owner[number], tried):
                    owner[number] = action
                    return True
        return False

    return sum([assign(action, set()) for action in actions])


# -- reading ----------------------------------------------------------------------------------------------------------


def _parse_as_evaluator(text: str) -> dict[str, list[Any]] | None:
    """Parse an answer as `evaluate_results` does, which drops literal repetitions of a goal."""
    text = text.replace("<|eot_id|>", "")
    if text.startswith("```json"):
        text = text[7:].strip("`")
    try:
        answer = json.loads(text.strip().replace("\n", "").replace("'", '"'))
    except ValueError:
        return None
    lists = answer if isinstance(answer, dict) else {}
    return {name: _drop_repetitions(lists.get(name, [])) for name in LISTS}


def _parse_answer(text: str) -> dict[str, list[Any]] | None:
    at = text.find("{")
    while at >= 0:
        try:
            literal = parse_value(text, at, len(text))
        except UnreadableValue:
            return None
        answer = _to_python(literal)
        if isinstance(answer, dict) and any([isinstance(answer.get(name), list) for name in LISTS]):
            return {
                name: _drop_repetitions(answer[name]) if isinstance(answer.get(name), list) else [] for name in LISTS
            }
        at = text.find("{", literal.end)
    return None


def _drop_repetitions(entries: list[Any]) -> list[Any]:
    return list({json.dumps(entry, sort_keys=True): entry for entry in entries}.values())


def _to_python(literal: DataValue) -> Any:
    match literal.kind:
        case "object":
            return {key.text: _to_python(inner) for key, inner in literal.pairs}
        case "list":
            return [_to_python(inner) for inner in literal.items]
        case _:
            return literal.text
