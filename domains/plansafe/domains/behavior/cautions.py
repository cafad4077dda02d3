"""Safety goals of IS-Bench tasks as rules.

A task file of IS-Bench (arXiv 2506.16402) is JSON. Under ``evaluation_goal_conditions`` it has the goal of the task in
BDDL (``execution_goal_condition``) and its safety goals, each a formula in BDDL (``safety_bddl``):

- ``process_safety_goal_condition``: to hold right ``before`` or ``after`` (``type``) the first time that an action is
  taken (``action``);
- ``termination_safety_goal_condition``: to hold at the end; with an ``action``, if that action was taken; with
  ``completion`` for it, if the goal of the task is reached.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from plansafe.domains.behavior.bddl import Activity
from plansafe.domains.behavior.goals import Goals
from plansafe.domains.behavior.human import step_patterns
from plansafe.domains.behavior.task import Naming, complete_activity
from plansafe.domains.json_text import BadJson, read_json
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity, Span
from plansafe.grammar.node_places import Places
from plansafe.grammar.sexpr import Node, format_node, parse_source
from plansafe.grammar.source import Source
from plansafe.verifier.elaborate.context import Context, Place

CONDITIONS = "evaluation_goal_conditions"
MAX_GOALS = 1000
_ODD = re.compile(r"[^a-z0-9]+")


class SafetyGoal(NamedTuple):
    """A safety goal. ``moment`` is ``before``, ``after`` or ``end``; without an action it is about every plan."""

    moment: str
    action: str | None
    condition: str
    risk: str
    message: str


class TaskGoals(NamedTuple):
    """The goals of a task file; ``task_goal`` is ``None`` where the activity has the goal."""

    task_goal: str | None
    safety_goals: tuple[SafetyGoal, ...]


def is_task_file(source: Source) -> bool:
    """Whether a file looks like a task of IS-Bench."""
    return source.text.lstrip()[:1] == "{" and f'"{CONDITIONS}"' in source.text


def read_task_goals(source: Source) -> TaskGoals | Diagnostic:
    """Read a task file."""
    try:
        value = read_json(source.text)
    except BadJson as wrong:
        return _error(source, wrong.position, wrong.message)
    conditions = value.get(CONDITIONS) if isinstance(value, dict) else None
    if not isinstance(conditions, dict):
        return _error(source, 0, f"expected an object with `{CONDITIONS}`")
    goals: list[SafetyGoal] = []
    for field in ("process_safety_goal_condition", "termination_safety_goal_condition"):
        entries = conditions.get(field) or []
        if not isinstance(entries, list) or not all([isinstance(entry, dict) for entry in entries]):
            return _error(source, max(source.text.find(field), 0), f"`{field}` must be a list of objects")
        goals += [_safety_goal(entry) for entry in entries]
    if len(goals) > MAX_GOALS:
        return _error(source, 0, f"more than {MAX_GOALS} safety goals")
    task_goal = conditions.get("execution_goal_condition")
    return TaskGoals(task_goal if isinstance(task_goal, str) and task_goal.strip() else None, tuple(goals))


def _safety_goal(entry: dict[str, Any]) -> SafetyGoal:
    moment = str(entry.get("type") or "end").strip().lower()
    action = entry.get("action")
    return SafetyGoal(
        moment if moment in ("before", "after") else "end",
        action.strip() if isinstance(action, str) and action.strip() else None,
        str(entry.get("safety_bddl") or entry.get("safety_goal") or ""),
        _ODD.sub("-", str(entry.get("risk_type") or "").lower()).strip("-"),
        " ".join(str(entry.get("safety_tip") or entry.get("safety_principle") or "").split()),
    )


def _error(source: Source, position: int, message: str) -> Diagnostic:
    return Diagnostic(SC.UNREADABLE_WORLD, message, (Label(source.name, Span(position, position)),))


def read_task_goal(text: str, context: Context) -> tuple[Node, Place] | None:
    """The formula of a goal in BDDL, with or without ``(:goal ..)`` around it. Mistakes go to the context."""
    source = Source("goal of the task", text)
    top, problems = parse_source(source)
    context.diagnostics.extend(problems)
    if not top:
        return None
    context.places.append(Places(source, top))
    node: Node = top[0]
    place = Place(top, 0)
    if isinstance(node, list) and len(node) == 2 and node[0] == ":goal":
        place = Place(node, 1)
    _open_for_closed(place.subtree)
    return place.subtree, place


def _open_for_closed(formula: Node) -> None:
    """Write ``(closed x)``, which BDDL lacks, as ``(not (open x))``."""
    stack = [formula]
    while stack:
        node = stack.pop()
        if isinstance(node, list):
            if len(node) == 2 and node[0] == "closed":
                node[:] = ["not", ["open", node[1]]]
            stack.extend(node)


def specification(
    goals: TaskGoals, source: Source, activity: Activity, naming: Naming
) -> tuple[Source | None, list[Diagnostic]]:
    """The rules for the safety goals of a task, and notes on those that name what the scene lacks."""
    activity = complete_activity(activity)
    names = {name: naming.names[name] for name in activity.objects}
    rules: list[str] = []
    notes: list[Diagnostic] = []

    def leave_out(goal: SafetyGoal, reason: str) -> None:
        at = max(source.text.find(json.dumps(goal.condition)), 0)
        text = f"a safety goal is left out: {reason}"
        label = Label(source.name, Span(at, at), goal.message)
        notes.append(Diagnostic(SC.FOREIGN_SCENE, text, (label,), severity=Severity.WARNING))

    for number, goal in enumerate(goals.safety_goals, 1):
        condition, reason = _translate(goal.condition, activity, names)
        if condition is None:
            leave_out(goal, reason)
            continue
        trigger: str | None = None
        action = (goal.action or "").lower()
        if action == "completion":
            reached = None if activity.goal is None else format_node(activity.goal)
            trigger, reason = _translate(reached or "(and)", activity, names)
        elif action and action != "done":
            patterns = step_patterns(goal.action or "", naming)
            if not patterns:
                leave_out(goal, f"the scene has no action `{goal.action}`")
                continue
            if goal.moment != "end":
                rules.append(_process_rule(number, goal, patterns, condition))
                continue
            trigger = f"(once {_any_of([f'(action {pattern})' for pattern in patterns])})"
        when = "" if trigger is None else f"\n    :when {trigger}"
        rules.append(f"(:termination end-{number}{when}\n    :require {condition}{_meta(goal)})")
    if not rules:
        return None, notes
    text = f"(define (safety safety_goals) (:domain {naming.domain})\n  " + "\n  ".join(rules) + ")\n"
    return Source(f"{source.name} (safety goals)", text), notes


def _process_rule(number: int, goal: SafetyGoal, patterns: list[str], condition: str) -> str:
    first = f"(not (yesterday (once {_any_of([f'(action {pattern})' for pattern in patterns])})))"
    demand = ":require" if goal.moment == "before" else ":require-after"
    head = f"(:process {goal.moment}-{number}\n    :on {_any_of(patterns)}\n    :when {first}"
    return f"{head}\n    {demand} {condition}{_meta(goal)})"


def _any_of(formulas: list[str]) -> str:
    return formulas[0] if len(formulas) == 1 else f"(or {' '.join(formulas)})"


def _meta(goal: SafetyGoal) -> str:
    message = json.dumps(goal.message.replace("{", "(").replace("}", ")"), ensure_ascii=False)
    hazard = f"\n    :hazard {goal.risk}" if goal.risk[:1].isalpha() else ""
    return hazard + (f"\n    :message {message}" if goal.message else "")


def _translate(text: str, activity: Activity, names: dict[str, str]) -> tuple[str | None, str]:
    """A condition in PDDL; without one, the reason."""
    context = Context()
    formula = read_task_goal(text, context)
    if formula is not None and not context.errors:
        translated = Goals(context, activity, names).translate(*formula)
        if not context.errors:
            return format_node(translated), ""
    return None, next((note.message for note in context.diagnostics), "it has no condition in BDDL")
