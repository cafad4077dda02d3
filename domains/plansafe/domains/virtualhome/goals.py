"""Goals of tasks as the Embodied Agent Interface annotates them: which task is meant, and its goal in PDDL.

``vh_goal`` lists states and relations that hold at the end, and actions that are taken in that order; ``tl_goal`` is a
formula (:mod:`formula`). Where both are given, ``vh_goal`` counts. A goal in PDDL speaks of the last state alone, so
what happened on the way is recorded by facts that the goal adds to the domain (:mod:`stages`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from plansafe.domains.json_text import BadJson, place_of, read_json
from plansafe.domains.virtualhome.graph import Home, Id, Node
from plansafe.domains.virtualhome.moments import Untranslatable, chains_of, known_action, relation, state, thing
from plansafe.domains.virtualhome.script import action_name
from plansafe.domains.virtualhome.stages import FALSE, TRUE, ActionTaken, Stages, StepCondition, chain_goal
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity, Span, suggest_name
from plansafe.grammar.source import Source

_LEVELS = 4
_SHOWN = 5

Path = tuple[str | int, ...]


class Annotated(NamedTuple):
    """The goal of the task that is meant; without ``stages``, ``notes`` say why there is none."""

    stages: Stages | None
    notes: tuple[Diagnostic, ...] = ()


class _Bad(Exception):
    def __init__(self, code: str, path: Path, message: str, inside: int | None = None, help: str | None = None) -> None:
        super().__init__(message)
        self.code, self.path, self.message, self.inside, self.help = code, path, message, inside, help


def read_goal(source: Source, task: str | None, home: Home) -> Annotated:
    """The goal of a task of a file, for the objects of a graph. Linear in the size of the file."""
    try:
        value = read_json(source.text)
    except BadJson as error:
        place = Span(error.position, min(error.position + 1, len(source.text)))
        advice = 'write goals as {"TASK": {"vh_goal": .., "tl_goal": ..}}'
        return Annotated(None, (_said(SC.UNREADABLE_WORLD, source, error.message, place, advice),))
    try:
        path, entry = _chosen(_entries(value), task)
        stages = _stages(path, entry, home)
        if stages.goal != TRUE:
            return Annotated(stages)
        empty = "the annotation of this task has no conditions: every script reaches the goal"
        label = Label(source.name, place_of(source.text, path))
        return Annotated(stages, (Diagnostic(SC.AMBIGUOUS_TASK, empty, (label,), severity=Severity.NOTE),))
    except _Bad as bad:
        place = place_of(source.text, bad.path) if bad.path else Span(0, min(1, len(source.text)))
        if bad.inside is not None and source.text[place.start : place.start + 1] == '"':
            place = Span(place.start + 1 + bad.inside, min(place.start + 2 + bad.inside, place.end))
        return Annotated(None, (_said(bad.code, source, bad.message, place, bad.help),))


def _said(code: str, source: Source, message: str, place: Span, help: str | None) -> Diagnostic:
    return Diagnostic(code, message, (Label(source.name, place),), help=help, severity=Severity.ERROR)


# -- which task -------------------------------------------------------------------------------------------------------


def _entries(value: Any) -> list[tuple[tuple[str, ...], dict[str, Any]]]:
    """The goals of a file, each with the keys that lead to it: a scene, an activity, the number of a script."""
    out: list[tuple[tuple[str, ...], dict[str, Any]]] = []
    level: list[tuple[tuple[str, ...], Any]] = [((), value)]
    for _ in range(_LEVELS):
        below: list[tuple[tuple[str, ...], Any]] = []
        for path, item in level:
            if not isinstance(item, dict):
                raise _Bad(SC.UNREADABLE_WORLD, path, "a goal must be an object with `vh_goal` or `tl_goal`")
            if "vh_goal" in item or "tl_goal" in item:
                out.append((path, item))
            else:
                below += [((*path, key), inner) for key, inner in item.items()]
        level = below
    if not out:
        raise _Bad(SC.UNREADABLE_WORLD, (), "the entry has no goal: neither `vh_goal` nor `tl_goal`")
    return out


def _chosen(
    entries: list[tuple[tuple[str, ...], dict[str, Any]]], task: str | None
) -> tuple[tuple[str, ...], dict[str, Any]]:
    if task is None:
        if len(entries) == 1:
            return entries[0]
        names = ", ".join(["/".join(path[-2:]) for path, _ in entries[:3]])
        raise _Bad(
            SC.AMBIGUOUS_TASK, (), f"the file has goals of {len(entries)} tasks", help=f"give --task, such as {names}"
        )
    wanted = task.strip().lower()
    found = [entry for entry in entries if wanted in _names(entry[0])]
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(["/".join(path[-2:]) for path, _ in found[:_SHOWN]])
        more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        raise _Bad(SC.AMBIGUOUS_TASK, (), f"{len(found)} tasks are named `{task}`", help=f"they are {names}{more}")
    known = [name for path, _ in entries for name in _names(path)]
    raise _Bad(
        SC.AMBIGUOUS_TASK, (), f"no task is named `{task}`", help=suggest_name(wanted, known) or f"such as {known[0]}"
    )


def _names(path: tuple[str, ...]) -> list[str]:
    """What a task may be called: the number of its script, that of its file, both with its activity, the activity."""
    if not path:
        return []
    words = [word.lower() for word in path]
    return [words[-1], f"file{words[-1]}", "/".join(words[-2:]), *words[-2:-1]]


# -- its goal ---------------------------------------------------------------------------------------------------------


def _stages(path: tuple[str, ...], entry: dict[str, Any], home: Home) -> Stages:
    goal = entry.get("vh_goal")
    if goal is not None:
        return _listed((*path, "vh_goal"), goal, home)
    formula = entry.get("tl_goal")
    if not isinstance(formula, str):
        raise _Bad(SC.UNREADABLE_WORLD, (*path, "tl_goal"), "`tl_goal` must be a formula in quotes")
    try:
        return chains_of(formula, home)
    except Untranslatable as error:
        raise _Bad(SC.FOREIGN_FORMULA, (*path, "tl_goal"), error.message, error.position, error.help) from None


def _listed(path: Path, goal: Any, home: Home) -> Stages:
    """States and relations at the end, and actions in their order."""
    if not isinstance(goal, dict):
        raise _Bad(SC.UNREADABLE_WORLD, path, "`vh_goal` must have `actions` and `goal`")
    wanted, actions = goal.get("goal") or [], goal.get("actions") or []
    for key, value in (("goal", wanted), ("actions", actions)):
        if not isinstance(value, list):
            raise _Bad(SC.UNREADABLE_WORLD, (*path, key), f"`{key}` must be a list")
    parts = [_condition((*path, "goal", number), item, home) for number, item in enumerate(wanted)]
    moments = tuple([_action((*path, "actions", number), item) for number, item in enumerate(actions)])
    if moments:
        parts.append(chain_goal(1, moments))
    text = "(and\n    " + "\n    ".join(dict.fromkeys(parts)) + ")"
    return Stages(text if parts else TRUE, (moments,) if moments else ())


def _condition(path: Path, item: Any, home: Home) -> str:
    if isinstance(item, dict) and {"id", "state"} <= item.keys():
        node = _node((*path, "id"), item["id"], home)
        found = state(str(item["state"]), node)
        if found is None:
            raise _Bad(
                SC.FOREIGN_FORMULA, (*path, "state"), f"the domain does not have the state {item['state']!s:.40}"
            )
        return found
    if isinstance(item, dict) and {"from_id", "relation_type", "to_id"} <= item.keys():
        tail, head = (_node((*path, key), item[key], home) for key in ("from_id", "to_id"))
        found = relation(str(item["relation_type"]), thing(tail), thing(head))
        if found is None:
            message = f"the domain does not have the relation {item['relation_type']!s:.40}"
            raise _Bad(SC.FOREIGN_FORMULA, (*path, "relation_type"), message)
        return found
    raise _Bad(
        SC.UNREADABLE_WORLD,
        path,
        "a goal must be a state (`id`, `state`) or a relation (`from_id`, `relation_type`, `to_id`)",
    )


def _node(path: Path, number: Any, home: Home) -> Node:
    if not isinstance(number, (int, str)) or number not in home.objects:
        raise _Bad(SC.FOREIGN_FORMULA, path, f"the scene has no object with the number {number!s:.40}")
    identity: Id = number
    return home.objects[identity]


def _action(path: Path, item: Any) -> StepCondition:
    """One action of several: ``LOOKAT|WATCH``."""
    if not isinstance(item, str):
        raise _Bad(SC.UNREADABLE_WORLD, path, "an action must be a word, or several words separated by `|`")
    names = frozenset([action_name(word) for word in item.split("|")])
    unknown = sorted([name for name in names if not known_action(name)])
    if unknown:
        raise _Bad(SC.FOREIGN_FORMULA, path, f"the domain does not have the action {unknown[0]:.40}")
    moment = StepCondition((ActionTaken(names),))
    if moment.text(None) != FALSE:
        raise AssertionError("an action that no step takes is false")
    return moment
