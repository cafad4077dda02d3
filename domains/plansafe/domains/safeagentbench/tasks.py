"""Read the goals of SafeAgentBench (``final_state``) and the requirements of SPOC.

SafeAgentBench: ``[{"objectType": "Mug", "isFilledWithLiquid": true, "parentReceptacles": ["CounterTop"]}]`` holds if an
object of the class has these states. SPOC (Apache-2.0, arXiv 2602.21595) has the keys ``object_name``, ``parent`` and
``child`` instead, and a bounded response: the goal condition holds within a number of steps after the trigger.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from plansafe.domains.json_text import BadJson, read_json
from plansafe.domains.safeagentbench.object_classes import CLASSES, LIQUIDS
from plansafe.domains.safeagentbench.scenes import (
    STATES,
    Assumption,
    Room,
    Unreadable,
    class_of,
    load,
    start_of,
    unreadable,
)
from plansafe.domains.safeagentbench.steps import assumptions_of
from plansafe.domains.world import Request, wrong_task
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Severity, suggest_name
from plansafe.grammar.source import Source


class Task(NamedTuple):
    """A goal condition, changes of the initial facts, the rules of a specification, and notes."""

    goal: str = "(and)"
    facts: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    notes: tuple[Diagnostic, ...] = ()


def task_assumptions(task: Any) -> dict[str, Assumption]:
    """Return the classes in the steps and the object list of a task, with the assumptions of the steps."""
    if not isinstance(task, dict):
        return {}
    steps, objects = [
        [text for text in value if isinstance(text, str)] if isinstance(value, list) else []
        for value in (task.get("step"), task.get("objects"))
    ]
    assumptions = assumptions_of(steps)
    for object_class in map(class_of, objects):
        if object_class in CLASSES:
            assumptions.setdefault(object_class, Assumption())
    return assumptions


def read_task(file: Source, value: Any, room: Room) -> Task:
    """Read a task: an object, or a list of states. Raises :class:`Unreadable`."""
    reader = _TaskReader(file, room)
    if isinstance(value, list):
        return Task(reader.read_goal(value), notes=tuple(reader.notes))
    if isinstance(value, dict) and "requirement_condition" in value:
        goal = reader.read_goal(value.get("goal_condition_state") or [])
        facts, rules = reader.read_preparations(value.get("init_actions")), reader.read_requirement(value)
        return Task(goal, facts, rules, tuple(reader.notes))
    if isinstance(value, dict) and "final_state" in value:
        return Task(reader.read_goal(value["final_state"] or []), notes=tuple(reader.notes))
    raise unreadable(file, "expected `final_state`, `requirement_condition`, or a list of states")


def select_task(file: Source, name: str | None) -> Any:
    """Return the task of a file; in JSON lines, the task with this line number or instruction.

    Raises :class:`Unreadable`.
    """
    lines = [line for line in file.text.splitlines() if line.strip()]
    if len(lines) < 2 or not _is_entry(lines[0]):
        value = load(file)
        instruction = value.get("instruction") if isinstance(value, dict) else None
        instructions = [instruction] if isinstance(instruction, str) else []
        mistakes = wrong_task(Request({}, name), *instructions, "1")
        if mistakes:
            raise Unreadable(mistakes[0]._replace(labels=(start_of(file),)))
        return value
    if name is not None and name.isdecimal() and 1 <= int(name[:9]) <= len(lines):
        return load(Source(file.name, lines[int(name[:9]) - 1]))
    for line in lines:
        if _is_entry(line):
            entry = read_json(line)
            if name is not None and entry.get("instruction") == name:
                return entry
    message = f"`{file.name}` holds {len(lines)} tasks" + ("" if name is None else f", none of them {name[:80]!a}")
    advice = "name one with `--task`: the number of its line, or its instruction"
    raise Unreadable(Diagnostic(SC.AMBIGUOUS_TASK, message, (start_of(file),), help=advice))


def _is_entry(line: str) -> bool:
    try:
        return isinstance(read_json(line), dict)
    except BadJson:
        return False


# SPOC's preparations of a scene, and the predicate that they make true or false.
_ADDED_BY_PREPARATION = {"DirtyObject": "is_dirty", "OpenObject": "is_open", "ToggleObjectOn": "is_toggled"}
_DELETED_BY_PREPARATION = {"CloseObject": "is_open", "ToggleObjectOff": "is_toggled", "DisableObject": "present"}


class _TaskReader:
    def __init__(self, file: Source, room: Room) -> None:
        self.file = file
        self.room = room
        self.notes: list[Diagnostic] = []

    def read_goal(self, states: Any) -> str:
        """Return the conjunction of the final states."""
        if not isinstance(states, list):
            raise unreadable(self.file, "the final states must be a list")
        conditions = [condition for condition in [self._exists(state) for state in states] if condition]
        if states and not conditions:  # every plan would reach an empty goal
            messages, help = tuple([note.message for note in self.notes[:8]]), self.notes[-1].help
            message = "no part of the goal is known"
            raise Unreadable(Diagnostic(SC.UNREADABLE_WORLD, message, (start_of(self.file),), messages, help))
        return f"(and {' '.join(conditions)})"

    def read_preparations(self, actions: Any) -> tuple[str, ...]:
        """Return the facts that SPOC's preparations of a scene make true or false."""
        names = {scene_object.id: scene_object.name for scene_object in self.room.objects}
        facts = []
        for action in actions if isinstance(actions, list) else ():
            arguments = action.get("args") if isinstance(action, dict) else None
            arguments = arguments if isinstance(arguments, dict) else {}
            name, verb = names.get(str(arguments.get("objectId"))), action.get("action")
            if name is None:
                continue  # the room does not have the object
            if verb in _ADDED_BY_PREPARATION:
                facts.append(f"({_ADDED_BY_PREPARATION[verb]} {name})")
            elif verb in _DELETED_BY_PREPARATION:
                facts.append(f"(not ({_DELETED_BY_PREPARATION[verb]} {name}))")
            elif verb == "FillObjectWithLiquid" and arguments.get("fillLiquid") in LIQUIDS:
                facts += [f"(is_filled {name})", f"(filled_with {name} {arguments['fillLiquid']})"]
            else:
                self._leave_out(f"the preparation {verb!a}")
        return tuple(facts)

    def read_requirement(self, task: dict[str, Any]) -> tuple[str, ...]:
        """Return SPOC's requirement as a rule: a bounded response, or a state that must never hold with the trigger."""
        requirement = task["requirement_condition"]
        if not isinstance(requirement, dict):
            raise unreadable(self.file, "`requirement_condition` must be an object")
        object_class = class_of(str(requirement.get("condition_object")))
        if object_class not in CLASSES:
            raise unreadable(self.file, f"the class {object_class[:80]!a} of the requirement is unknown")
        trigger, goal, avoid = [
            self._has(requirement.get(key), "?x") for key in ("trigger_state", "goal_condition", "avoid_state")
        ]
        text = " ".join(str(task.get("requirements") or "the requirement").split())
        message = json.dumps(text.replace("{", "(").replace("}", ")"), ensure_ascii=False)
        head = f"requirement :parameters (?x - {object_class})"
        if requirement.get("condition_type") == "condition":
            return (f"(:process {head} :when {trigger} :forbid {avoid} :message {message})",)
        steps = requirement.get("condition_value")
        if isinstance(steps, bool) or not isinstance(steps, int) or steps < 0:
            raise unreadable(self.file, "`condition_value` must be a number of steps")
        # "Within n steps after": one step makes the trigger true, and one of the next n steps the goal condition.
        begins = f"(and {trigger} (weak-yesterday (not {trigger})))"
        return (f"(:obligation {head} :when {begins} :then {goal} :within {steps} :message {message})",)

    def _exists(self, state: Any) -> str:
        """Return the condition that an object of the class has a final state; empty if no part of it is known."""
        if not isinstance(state, dict):
            raise unreadable(self.file, "a final state must be an object")
        object_class = class_of(str(state.get("objectType") or state.get("object_name")))
        if object_class not in CLASSES:
            help = suggest_name(object_class, tuple(CLASSES))
            self._leave_out(f"the class {object_class[:80]!a} of the goal", help)
            return ""
        note_count = len(self.notes)
        condition = self._has(state, "?x")
        if condition == "(and )" and len(self.notes) > note_count:
            return ""
        return f"(exists (?x - {object_class}) (and (present ?x) {condition}))"

    def _has(self, state: Any, variable: str) -> str:
        """Return the condition that an object has a state."""
        parts = []
        for key, value in state.items() if isinstance(state, dict) else ():
            if key in STATES and isinstance(value, bool):
                parts.append(f"({STATES[key]} {variable})" if value else f"(not ({STATES[key]} {variable}))")
            elif key in ("parentReceptacles", "parent"):
                parts.append(self._related(value, "(contained {x} ?r)", variable))
            elif key in ("receptacleObjectIds", "child"):
                parts.append(self._related(value, "(contained ?r {x})", variable))
            elif key == "fillLiquid" and value in LIQUIDS:
                parts.append(f"(filled_with {variable} {value})")
            elif key == "temperature" and value == "Hot":
                parts.append(f"(is_hot {variable})")
            elif key not in ("objectType", "object_name"):
                self._leave_out(f"{key[:80]!a} of the goal", suggest_name(key, tuple(STATES)))
        return f"(and {' '.join([part for part in parts if part])})"

    def _related(self, value: Any, relation: str, variable: str) -> str:
        """Return the condition that an object of these classes is in a relation; ``null`` and ``[]`` forbid objects."""
        if value is None or value == []:
            return f"(not (exists (?r - thing) {relation.format(x=variable)}))"
        names = [class_of(str(name)) for name in value] if isinstance(value, list) else [class_of(str(value))]
        # The benchmark compares parts of names, so `Sink` also means the basin of the sink.
        object_classes = [
            object_class
            for object_class in CLASSES
            if object_class in names
            or (object_class.endswith("basin") and any([name and object_class.startswith(name) for name in names]))
        ]
        if not object_classes:
            help = suggest_name(names[0], tuple(CLASSES))
            self._leave_out(f"the classes {', '.join(names)[:80]!a} of the goal", help)
            return ""
        return f"(exists (?r - (either {' '.join(object_classes)})) {relation.format(x=variable)})"

    def _leave_out(self, part: str, help: str | None = None) -> None:
        message = f"{part} is unknown and is left out"
        label = start_of(self.file)
        self.notes.append(Diagnostic(SC.FOREIGN_SCENE, message, (label,), help=help, severity=Severity.WARNING))
