"""ALFRED (Shridhar et al., arXiv 1912.01734): trajectories of a robot in rooms of AI2-THOR.

The domain is SafeAgentBench's, with what running water and a fridge do to an object; docs/home-worlds.md describes it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from plansafe.domains import domain_path
from plansafe.domains.alfred.trajectory import (
    COMPOSITE,
    LOW_LEVEL,
    WORDS,
    HighStep,
    StepExpander,
    count_objects,
    goal_text,
    identifiers_by_class,
    initial_changes,
    is_trajectory,
    read_high_step,
    title_of,
)
from plansafe.domains.json_text import BadJson, broken_plan, read_json
from plansafe.domains.safeagentbench.scenes import (
    Room,
    Unreadable,
    load,
    names_by_class,
    problem_text,
    read_room,
    start_of,
    unreadable,
)
from plansafe.domains.world import GOAL, SCENE, Benchmark, FileRole, ForeignPlan, Request, Scene, no_scene, wrong_task
from plansafe.grammar.codes import SC
from plansafe.grammar.data_literals import DataValue, UnreadableValue, parse_value
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity, Span, suggest_name
from plansafe.grammar.source import Source

_CONTROLLED = "(forall (?y - thing) (when (controls ?x ?y) (is_toggled ?y)))"
_RINSED = """
      (forall (?f - faucet ?b ?y - thing) (when (and (= ?f ?x) (controls ?x ?b) (contained ?y ?b))
        (and (is_rinsed ?y) (not (is_dirty ?y)))))"""
_COOLED = """:effect (and (not (is_open ?x)) (forall (?f - fridge ?y - thing)
      (when (and (= ?f ?x) (contained ?y ?x)) (and (is_cold ?y) (not (is_hot ?y)))))))"""
ADDITIONS = (
    ("(is_hot ?x - thing)", "(is_hot ?x - thing) (is_cold ?x - thing) (is_rinsed ?x - thing)"),
    (_CONTROLLED, _CONTROLLED + _RINSED),
    (":effect (not (is_open ?x)))", _COOLED),
)
"""Texts of SafeAgentBench's domain, and what takes their place: water rinses, and a closed fridge cools."""
_LINE = re.compile(r"[^\r\n]+")


class AlfredRoom(NamedTuple):
    """A room, the names of its objects by class and by identifier, and the objects that are on at the start."""

    room: Room
    names: Mapping[str, tuple[str, ...]]
    objects: Mapping[str, str]
    switched_on: frozenset[str]


def read_domain() -> Source:
    """Return SafeAgentBench's domain with the effects of water and cold."""
    with open(domain_path("safeagentbench"), encoding="utf-8") as file:
        text = file.read()
    for old, new in ADDITIONS:
        text = text.replace(old, new, 1)
    return Source(file.name, text)  # the shipped rules are found by this name


def read_scene(request: Request) -> Scene:
    """Make a problem from a trajectory, or from a room and the trajectory of a task."""
    file, goal = request.files[SCENE], request.files.get(GOAL)
    mistakes = wrong_task(request)
    if mistakes:
        return no_scene(*mistakes)
    try:
        trajectory = load(goal) if goal is not None else _load_trajectory(file)
        if goal is not None and not is_trajectory(trajectory):
            raise unreadable(goal, "expected a trajectory of ALFRED (`traj_data.json`)")
        room = _read_room(file, trajectory)
        target = goal_text(trajectory) if trajectory is not None else ""
    except Unreadable as error:
        return no_scene(error.diagnostic)
    except ValueError as error:
        return no_scene(Diagnostic(SC.UNREADABLE_WORLD, str(error), (start_of(goal or file),)))
    if not room.objects:
        return no_scene(Diagnostic(SC.UNREADABLE_WORLD, "the room has no objects", (start_of(file),)))
    names = names_by_class(room.objects)
    objects = {o.id: o.name for o in room.objects if o.id}
    for object_class, identifiers in identifiers_by_class(trajectory).items():
        unknown = [identifier for identifier in identifiers if identifier not in objects]
        free = [name for name in names.get(object_class, ()) if room.has_metadata is False]
        objects.update(zip(unknown, free, strict=False))
    changes = list(initial_changes(trajectory, names, objects))
    problem = problem_text(room, target or "(and)", changes)
    notes = list(room.notes)
    if _is_trajectory_file(file):
        message = "the room has only the objects that the trajectory names"
        advice = "give the room's layout or metadata with --scene, and the trajectory with --goal"
        notes.append(Diagnostic(SC.FOREIGN_SCENE, message, (start_of(file),), help=advice, severity=Severity.NOTE))
    already_on = [o.name for o in room.objects if "is_toggled" in o.facts]
    on = [change[len("(is_toggled ") : -1] for change in changes if change.startswith("(is_toggled ")]
    data = AlfredRoom(room, names, objects, frozenset([*already_on, *on]))
    return Scene(read_domain(), Source(f"{file.name} (as PDDL)", problem), (), tuple(notes), data)


def _is_trajectory_file(file: Source) -> bool:
    return _load_trajectory(file) is not None


def _load_trajectory(file: Source) -> Any:
    """Return the trajectory of a file; ``None`` if the file is a room."""
    try:
        value = read_json(file.text) if file.text.lstrip()[:1] == "{" else None
    except BadJson:
        return None  # the reader of rooms reports the mistake
    return value if is_trajectory(value) else None


def _read_room(file: Source, trajectory: Any) -> Room:
    """Read a room of names, completed with the objects of a trajectory; metadata stay as they are."""
    counts = count_objects(trajectory)
    if _is_trajectory_file(file):
        listed: list[str] = []
    else:
        room = read_room(file)
        if room.has_metadata:
            return room
        listed = [o.object_class for o in room.objects if o.name not in room.absent and o.object_class != "thing"]
    missing = [name for name, count in counts.items() for _ in range(count - listed.count(name))]
    return read_room(Source(file.name, json.dumps([*listed, *missing])))


def read_plan(text: Source, scene: Scene) -> ForeignPlan:
    """Read the high-level steps of a trajectory, or lines such as ``PickupObject Apple``."""
    data: AlfredRoom = scene.data
    expander = StepExpander(data.names, data.objects, data.switched_on)
    title, description = "", ""
    if text.text.lstrip()[:1] in ("{", "["):
        broken = broken_plan(text)
        if broken is not None:
            return ForeignPlan(None, (), (broken,))
        title, description = title_of(read_json(text.text))
    steps: list[str] = []
    places: list[Span] = []
    wrong: list[Diagnostic] = []
    for step, place in _written_steps(text):
        expanded = None if step is None else expander.expand(step)
        if expanded is None:
            action = step.action if step is not None else ""
            advice = (
                suggest_name(action, (*LOW_LEVEL, *COMPOSITE)) or f"the actions are {', '.join(COMPOSITE[:-1])}, .."
            )
            message = "this is not a step of ALFRED"
            wrong.append(Diagnostic(SC.FOREIGN_LINE, message, (Label(text.name, place),), help=advice))
            continue
        steps += [f"({' '.join(words)})" for words in expanded]
        places += [place] * len(expanded)
    if wrong:
        return ForeignPlan(None, (), tuple(wrong))
    plan = Source(f"{text.name} (as PDDL)", "".join([step + "\n" for step in steps]))
    return ForeignPlan(plan, tuple(places), (), title, description)


def _written_steps(text: Source) -> Iterator[tuple[HighStep | None, Span]]:
    """Yield the steps of a text with their places; ``None`` for an entry without an action."""
    start = len(text.text) - len(text.text.lstrip())
    if text.text[start : start + 1] not in ("{", "["):
        for line in _LINE.finditer(text.text):
            words = line[0].split()
            if words and not words[0].startswith("#"):
                yield (
                    HighStep(words[0], tuple(words[1:]), is_exact=True),
                    Span(line.start(), line.start() + len(line[0].rstrip())),
                )
        return
    try:
        value = parse_value(text.text, start, len(text.text))
    except UnreadableValue:
        yield None, Span(start, start + 1)
        return
    listed = value if value.kind == "list" else _member(_member(value, "plan"), "high_pddl")
    if listed is None:
        yield None, Span(start, start + 1)
        return
    for item in listed.items:
        yield read_high_step(read_json(text.text[item.start : item.end])), Span(item.start, item.end)


def _member(value: DataValue | None, key: str) -> DataValue | None:
    if value is None or value.kind != "object":
        return None
    return next((item for name, item in value.pairs if name.text == key), None)


def write_step(step: tuple[str, ...], _scene: Scene) -> str:
    """Write a step as a line: ``ToggleObjectOff microwave_1``."""
    return " ".join([WORDS.get(step[0], step[0]), *step[1:]])


WORLD = Benchmark(
    name="alfred",
    title="ALFRED: trajectories of a robot in rooms of AI2-THOR",
    domain="safeagentbench",
    files=(
        FileRole(
            SCENE, "the trajectory (`traj_data.json`), or the room: a layout's names or AI2-THOR's metadata", True
        ),
        FileRole(GOAL, "the trajectory whose `pddl_params` are the goal, if the scene is a room"),
    ),
    plans=("a trajectory: `plan.high_pddl`", "PickupObject Apple", "HeatObject Apple"),
    example="safecheck --world alfred traj_data.json --scene traj_data.json",
    read_scene=read_scene,
    read_plan=read_plan,
    write_step=write_step,
)
