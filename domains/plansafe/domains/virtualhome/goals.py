"""Read goals of tasks in the annotation format of the Embodied Agent Interface as goals in PDDL.

``vh_goal`` lists states and relations that hold at the end, and actions in order; ``tl_goal`` is a formula
(:mod:`formula`). If both are given, ``vh_goal`` is used. A goal in PDDL is about the final state only, so the goal adds
facts about earlier steps to the domain (:mod:`stages`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from plansafe.domains.json_text import BadJson, place_of, read_json
from plansafe.domains.virtualhome.formula_translation import (
    Untranslatable,
    known_action,
    operand,
    relation,
    state,
    translate_formula,
)
from plansafe.domains.virtualhome.graph import Home, Id, Node
from plansafe.domains.virtualhome.script import action_name
from plansafe.domains.virtualhome.stages import FALSE, TRUE, ActionTaken, Stages, StepCondition, chain_goal
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity, Span, suggest_name
from plansafe.grammar.source import Source

_LEVELS = 4
_MAX_LISTED = 5

Path = tuple[str | int, ...]


class AnnotatedGoal(NamedTuple):
    """The goal of a task; if ``stages`` is ``None``, ``notes`` give the reason."""

    stages: Stages | None
    notes: tuple[Diagnostic, ...] = ()


class _GoalError(Exception):
    def __init__(self, code: str, path: Path, message: str, inside: int | None = None, help: str | None = None) -> None:
        super().__init__(message)
        self.code, self.path, self.message, self.inside, self.help = code, path, message, inside, help


def read_goal(source: Source, task: str | None, home: Home) -> AnnotatedGoal:
    """Read the goal of a task of a file for the objects of a graph. Linear in the size of the file."""
    try:
        value = read_json(source.text)
    except BadJson as error:
        place = Span(error.position, min(error.position + 1, len(source.text)))
        advice = 'write goals as {"TASK": {"vh_goal": .., "tl_goal": ..}}'
        return AnnotatedGoal(None, (_error(SC.UNREADABLE_WORLD, source, error.message, place, advice),))
    try:
        path, entry = _select_entry(_entries(value), task)
        stages = _stages(path, entry, home)
        if stages.goal != TRUE:
            return AnnotatedGoal(stages)
        message = "the annotation of this task has no conditions: every script reaches the goal"
        label = Label(source.name, place_of(source.text, path))
        return AnnotatedGoal(stages, (Diagnostic(SC.AMBIGUOUS_TASK, message, (label,), severity=Severity.NOTE),))
    except _GoalError as goal_error:
        place = place_of(source.text, goal_error.path) if goal_error.path else Span(0, min(1, len(source.text)))
        if goal_error.inside is not None and source.text[place.start : place.start + 1] == '"':
            place = Span(place.start + 1 + goal_error.inside, min(place.start + 2 + goal_error.inside, place.end))
        return AnnotatedGoal(None, (_error(goal_error.code, source, goal_error.message, place, goal_error.help),))


def _error(code: str, source: Source, message: str, place: Span, help: str | None) -> Diagnostic:
    return Diagnostic(code, message, (Label(source.name, place),), help=help, severity=Severity.ERROR)


# -- which task -------------------------------------------------------------------------------------------------------


def _entries(value: Any) -> list[tuple[tuple[str, ...], dict[str, Any]]]:
    """The goals of a file, each with its keys, such as a scene, an activity and the number of a script."""
    entries: list[tuple[tuple[str, ...], dict[str, Any]]] = []
    level: list[tuple[tuple[str, ...], Any]] = [((), value)]
    for _ in range(_LEVELS):
        next_level: list[tuple[tuple[str, ...], Any]] = []
        for path, item in level:
            if not isinstance(item, dict):
                raise _GoalError(SC.UNREADABLE_WORLD, path, "a goal must be an object with `vh_goal` or `tl_goal`")
            if "vh_goal" in item or "tl_goal" in item:
                entries.append((path, item))
            else:
                next_level += [((*path, key), inner) for key, inner in item.items()]
        level = next_level
    if not entries:
        raise _GoalError(SC.UNREADABLE_WORLD, (), "the entry has no goal: neither `vh_goal` nor `tl_goal`")
    return entries


def _select_entry(
    entries: list[tuple[tuple[str, ...], dict[str, Any]]], task: str | None
) -> tuple[tuple[str, ...], dict[str, Any]]:
    if task is None:
        if len(entries) == 1:
            return entries[0]
        names = ", ".join(["/".join(path[-2:]) for path, _ in entries[:3]])
        raise _GoalError(
            SC.AMBIGUOUS_TASK, (), f"the file has goals of {len(entries)} tasks", help=f"give --task, such as {names}"
        )
    task_name = task.strip().lower()
    matches = [entry for entry in entries if task_name in _names(entry[0])]
    if len(matches) == 1:
        return matches[0]
    if matches:
        names = ", ".join(["/".join(path[-2:]) for path, _ in matches[:_MAX_LISTED]])
        more = f" and {len(matches) - _MAX_LISTED} more" if len(matches) > _MAX_LISTED else ""
        raise _GoalError(
            SC.AMBIGUOUS_TASK, (), f"{len(matches)} tasks are named `{task}`", help=f"they are {names}{more}"
        )
    all_names = [name for path, _ in entries for name in _names(path)]
    raise _GoalError(
        SC.AMBIGUOUS_TASK,
        (),
        f"no task is named `{task}`",
        help=suggest_name(task_name, all_names) or f"such as {all_names[0]}",
    )


def _names(path: tuple[str, ...]) -> list[str]:
    """The names of a task: the number of its script, with and without the activity; its file; its activity."""
    if not path:
        return []
    words = [word.lower() for word in path]
    return [words[-1], f"file{words[-1]}", "/".join(words[-2:]), *words[-2:-1]]


# -- its goal ---------------------------------------------------------------------------------------------------------


def _stages(path: tuple[str, ...], entry: dict[str, Any], home: Home) -> Stages:
    goal = entry.get("vh_goal")
    if goal is not None:
        return _listed_goal((*path, "vh_goal"), goal, home)
    formula = entry.get("tl_goal")
    if not isinstance(formula, str):
        raise _GoalError(SC.UNREADABLE_WORLD, (*path, "tl_goal"), "`tl_goal` must be a formula in quotes")
    try:
        return translate_formula(formula, home)
    except Untranslatable as error:
        raise _GoalError(SC.FOREIGN_FORMULA, (*path, "tl_goal"), error.message, error.position, error.help) from None


def _listed_goal(path: Path, goal: Any, home: Home) -> Stages:
    """Read a list of states and relations at the end, and of actions in order."""
    if not isinstance(goal, dict):
        raise _GoalError(SC.UNREADABLE_WORLD, path, "`vh_goal` must have `actions` and `goal`")
    conditions, actions = goal.get("goal") or [], goal.get("actions") or []
    for key, value in (("goal", conditions), ("actions", actions)):
        if not isinstance(value, list):
            raise _GoalError(SC.UNREADABLE_WORLD, (*path, key), f"`{key}` must be a list")
    parts = [_condition((*path, "goal", number), item, home) for number, item in enumerate(conditions)]
    step_conditions = tuple([_action((*path, "actions", number), item) for number, item in enumerate(actions)])
    if step_conditions:
        parts.append(chain_goal(1, step_conditions))
    text = "(and\n    " + "\n    ".join(dict.fromkeys(parts)) + ")"
    return Stages(text if parts else TRUE, (step_conditions,) if step_conditions else ())


def _condition(path: Path, item: Any, home: Home) -> str:
    if isinstance(item, dict) and {"id", "state"} <= item.keys():
        node = _node((*path, "id"), item["id"], home)
        fact = state(str(item["state"]), node)
        if fact is None:
            raise _GoalError(
                SC.FOREIGN_FORMULA, (*path, "state"), f"the domain does not have the state {item['state']!s:.40}"
            )
        return fact
    if isinstance(item, dict) and {"from_id", "relation_type", "to_id"} <= item.keys():
        tail, head = (_node((*path, key), item[key], home) for key in ("from_id", "to_id"))
        fact = relation(str(item["relation_type"]), operand(tail), operand(head))
        if fact is None:
            message = f"the domain does not have the relation {item['relation_type']!s:.40}"
            raise _GoalError(SC.FOREIGN_FORMULA, (*path, "relation_type"), message)
        return fact
    raise _GoalError(
        SC.UNREADABLE_WORLD,
        path,
        "a goal must be a state (`id`, `state`) or a relation (`from_id`, `relation_type`, `to_id`)",
    )


def _node(path: Path, number: Any, home: Home) -> Node:
    if not isinstance(number, (int, str)) or number not in home.objects:
        raise _GoalError(SC.FOREIGN_FORMULA, path, f"the scene has no object with the number {number!s:.40}")
    identity: Id = number
    return home.objects[identity]


def _action(path: Path, item: Any) -> StepCondition:
    """Read one action, or alternatives such as ``LOOKAT|WATCH``."""
    if not isinstance(item, str):
        raise _GoalError(SC.UNREADABLE_WORLD, path, "an action must be a word, or several words separated by `|`")
    names = frozenset([action_name(word) for word in item.split("|")])
    unknown = sorted([name for name in names if not known_action(name)])
    if unknown:
        raise _GoalError(SC.FOREIGN_FORMULA, path, f"the domain does not have the action {unknown[0]:.40}")
    condition = StepCondition((ActionTaken(names),))
    if condition.text(None) != FALSE:
        raise AssertionError("an action that no step takes is false")
    return condition
