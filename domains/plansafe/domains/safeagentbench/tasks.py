"""What is to be true at the end of a task, and how soon: SafeAgentBench's ``final_state`` and SPOC's requirements.

SafeAgentBench: ``[{"objectType": "Mug", "isFilledWithLiquid": true, "parentReceptacles": ["CounterTop"]}]``: some
object of the class is so. SPOC (Apache-2.0, arXiv 2602.21595): the same under other names (``object_name``, ``parent``,
``child``), and a bounded response: within so many steps after the trigger holds, the goal condition does.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from plansafe.domains.json_text import BadJson, read_json
from plansafe.domains.safeagentbench.classes import CLASSES, LIQUIDS
from plansafe.domains.safeagentbench.scenes import STATES, Named, Room, Unreadable, class_of, first, load, unreadable
from plansafe.domains.safeagentbench.steps import named_in
from plansafe.domains.world import Request, wrong_task
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Severity, suggest_name
from plansafe.grammar.source import Source


class Task(NamedTuple):
    """A goal as a condition, facts that hold at the start besides, a specification's rules, and notes."""

    goal: str = "(and)"
    facts: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    notes: tuple[Diagnostic, ...] = ()


def named_by(task: Any) -> dict[str, Named]:
    """The classes that a task names, in its steps and its list of objects, with what the steps suppose of each."""
    if not isinstance(task, dict):
        return {}
    steps, objects = [
        [text for text in value if isinstance(text, str)] if isinstance(value, list) else []
        for value in (task.get("step"), task.get("objects"))
    ]
    named = named_in(steps)
    for kind in map(class_of, objects):
        if kind in CLASSES:
            named.setdefault(kind, Named())
    return named


def read_task(file: Source, value: Any, room: Room) -> Task:
    """Read a task: an object, or a list of states. Raises :class:`Unreadable`."""
    reader = _Reader(file, room)
    if isinstance(value, list):
        return Task(reader.goal(value), notes=tuple(reader.notes))
    if isinstance(value, dict) and "requirement_condition" in value:
        goal = reader.goal(value.get("goal_condition_state") or [])
        facts, rules = reader.starting(value.get("init_actions")), reader.requirement(value)
        return Task(goal, facts, rules, tuple(reader.notes))
    if isinstance(value, dict) and "final_state" in value:
        return Task(reader.goal(value["final_state"] or []), notes=tuple(reader.notes))
    raise unreadable(file, "expected `final_state`, `requirement_condition`, or a list of states")


def chosen_task(file: Source, name: str | None) -> Any:
    """The one task of a file that is meant: of JSON lines, that with this number or instruction.

    Raises :class:`Unreadable`.
    """
    lines = [line for line in file.text.splitlines() if line.strip()]
    if len(lines) < 2 or not _is_entry(lines[0]):
        value = load(file)
        own = value.get("instruction") if isinstance(value, dict) else None
        wrong = wrong_task(Request({}, name), *([own] if isinstance(own, str) else []), "1")
        if wrong:
            raise Unreadable(wrong[0]._replace(labels=(first(file),)))
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
    raise Unreadable(Diagnostic(SC.AMBIGUOUS_TASK, message, (first(file),), help=advice))


def _is_entry(line: str) -> bool:
    try:
        return isinstance(read_json(line), dict)
    except BadJson:
        return False


class _Reader:
    def __init__(self, file: Source, room: Room) -> None:
        self.file = file
        self.room = room
        self.notes: list[Diagnostic] = []

    def goal(self, states: Any) -> str:
        """The conjunction of what is asked of some object each."""
        if not isinstance(states, list):
            raise unreadable(self.file, "the final states must be a list")
        wanted = [condition for condition in [self._some(state) for state in states] if condition]
        if states and not wanted:  # every plan would reach a goal that asks for nothing
            said, help = tuple([note.message for note in self.notes[:8]]), self.notes[-1].help
            message = "no part of the goal is known"
            raise Unreadable(Diagnostic(SC.UNREADABLE_WORLD, message, (first(self.file),), said, help))
        return f"(and {' '.join(wanted)})"

    def starting(self, actions: Any) -> tuple[str, ...]:
        """The facts that SPOC's preparations of a scene make true or false."""
        made = {"DirtyObject": "is_dirty", "OpenObject": "is_open", "ToggleObjectOn": "is_toggled"}
        unmade = {"CloseObject": "is_open", "ToggleObjectOff": "is_toggled", "DisableObject": "present"}
        names = {thing.id: thing.name for thing in self.room.things}
        facts = []
        for action in actions if isinstance(actions, list) else ():
            arguments = action.get("args") if isinstance(action, dict) else None
            arguments = arguments if isinstance(arguments, dict) else {}
            name, kind = names.get(str(arguments.get("objectId"))), action.get("action")
            if name is None:
                continue  # the room does not have it
            if kind in made:
                facts.append(f"({made[kind]} {name})")
            elif kind in unmade:
                facts.append(f"(not ({unmade[kind]} {name}))")
            elif kind == "FillObjectWithLiquid" and arguments.get("fillLiquid") in LIQUIDS:
                facts += [f"(is_filled {name})", f"(filled_with {name} {arguments['fillLiquid']})"]
            else:
                self._left_out(f"the preparation {kind!a}")
        return tuple(facts)

    def requirement(self, task: dict[str, Any]) -> tuple[str, ...]:
        """The rule of a requirement: within so many steps after the trigger, the goal condition; or never to be so."""
        required = task["requirement_condition"]
        if not isinstance(required, dict):
            raise unreadable(self.file, "`requirement_condition` must be an object")
        kind = class_of(str(required.get("condition_object")))
        if kind not in CLASSES:
            raise unreadable(self.file, f"the class {kind[:80]!a} of the requirement is unknown")
        conditions = [self._is(required.get(key), "?x") for key in ("trigger_state", "goal_condition", "avoid_state")]
        trigger, goal, avoid = conditions
        said = " ".join(str(task.get("requirements") or "the requirement").split())
        message = json.dumps(said.replace("{", "(").replace("}", ")"), ensure_ascii=False)
        head = f"requirement :parameters (?x - {kind})"
        if required.get("condition_type") == "condition":
            return (f"(:process {head} :when {trigger} :forbid {avoid} :message {message})",)
        steps = required.get("condition_value")
        if isinstance(steps, bool) or not isinstance(steps, int) or steps < 0:
            raise unreadable(self.file, "`condition_value` must be a number of steps")
        # "Within n steps after": the trigger comes about with one step, the answer with one of the next n.
        begins = f"(and {trigger} (weak-yesterday (not {trigger})))"
        return (f"(:obligation {head} :when {begins} :then {goal} :within {steps} :message {message})",)

    def _some(self, state: Any) -> str:
        if not isinstance(state, dict):
            raise unreadable(self.file, "a final state must be an object")
        kind = class_of(str(state.get("objectType") or state.get("object_name")))
        if kind not in CLASSES:
            self._left_out(f"the class {kind[:80]!a} of the goal", suggest_name(kind, tuple(CLASSES)))
            return ""
        known = len(self.notes)
        asked = self._is(state, "?x")
        if asked == "(and )" and len(self.notes) > known:  # nothing that is asked of it is known
            return ""
        return f"(exists (?x - {kind}) (and (present ?x) {asked}))"

    def _is(self, state: Any, variable: str) -> str:
        """What is asked of one object."""
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
                self._left_out(f"{key[:80]!a} of the goal", suggest_name(key, tuple(STATES)))
        return f"(and {' '.join([part for part in parts if part])})"

    def _related(self, value: Any, relation: str, variable: str) -> str:
        """Some object of one of the classes stands in a relation; ``null`` and an empty list ask for none."""
        if value is None or value == []:
            return f"(not (exists (?r - thing) {relation.format(x=variable)}))"
        names = [class_of(str(name)) for name in value] if isinstance(value, list) else [class_of(str(value))]
        # The benchmark compares parts of names: `Sink` is also the sink's basin.
        kinds = [kind for kind in CLASSES if any([name and kind.startswith(name) for name in names])]
        kinds = [kind for kind in kinds if kind in names or kind.endswith("basin")]
        if not kinds:
            self._left_out(f"the classes {', '.join(names)[:80]!a} of the goal", suggest_name(names[0], tuple(CLASSES)))
            return ""
        return f"(exists (?r - (either {' '.join(kinds)})) {relation.format(x=variable)})"

    def _left_out(self, what: str, help: str | None = None) -> None:
        message = f"{what} is unknown and is left out"
        self.notes.append(
            Diagnostic(SC.FOREIGN_SCENE, message, (first(self.file),), help=help, severity=Severity.WARNING)
        )
