"""SafeAgentBench (Yin et al., arXiv 2412.13178): tasks of a robot in rooms of AI2-THOR, and plans in its words.

docs/home-worlds.md describes the files and steps; SOURCE.md says how the actions follow the simulator.

Find the objects that the steps of a plan mean.
"""

from __future__ import annotations

import re

from plansafe.domains import domain_path
from plansafe.domains.json_text import broken_plan
from plansafe.domains.safeagentbench.object_classes import CLASSES
from plansafe.domains.safeagentbench.scenes import (
    Room,
    Unreadable,
    class_of_name,
    names_by_class,
    problem_text,
    read_room,
    single_places,
    start_of,
)
from plansafe.domains.safeagentbench.steps import ACTION_WORDS, parse_step, split_number
from plansafe.domains.safeagentbench.tasks import Task, read_task, select_task, task_assumptions
from plansafe.domains.text_places import step_spans
from plansafe.domains.world import GOAL, SCENE, Benchmark, FileRole, ForeignPlan, Request, Scene, no_scene, wrong_task
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity, Span, suggest_name
from plansafe.grammar.source import Source

_WORDS = {"turn_on": "turn on", "turn_off": "turn off", "fill": "fillLiquid", "empty": "emptyLiquid"}
# States that a list of names does not give, and the ability that an object needs for the state.
_UNSTATED = {"is_toggled": "toggleable", "is_dirty": "dirtyable", "is_filled": "fillable"}


def read_scene(request: Request) -> Scene:
    """Make a problem from a room and the goal of a task, and a specification from SPOC's requirement."""
    file = request.files[SCENE]
    goal = request.files.get(GOAL)
    mistakes = wrong_task(request) if goal is None else ()
    if mistakes:
        return no_scene(*mistakes)
    try:
        entry = None if goal is None else select_task(goal, request.task)
        room = read_room(file, task_assumptions(entry))
        task = Task() if goal is None else read_task(goal, entry, room)
    except Unreadable as error:
        return no_scene(error.diagnostic)
    if not room.objects:
        return no_scene(Diagnostic(SC.UNREADABLE_WORLD, "the room has no objects", (start_of(file),)))
    with open(domain_path("safeagentbench"), encoding="utf-8") as shipped:
        domain = Source(shipped.name, shipped.read())
    problem = Source(f"{file.name} (as PDDL)", problem_text(room, task.goal, list(task.facts)))
    specs = []
    if task.rules and goal is not None:
        text = (
            "(define (safety requirements_of_the_task) (:domain safeagentbench)\n  " + "\n  ".join(task.rules) + ")\n"
        )
        specs.append(Source(f"{goal.name} (requirement)", text))
    return Scene(domain, problem, tuple(specs), (*room.notes, *task.notes), room, _unstated_states(room))


def _unstated_states(room: Room) -> dict[str, frozenset[str]]:
    if room.has_metadata:
        return {}
    return {
        state: frozenset([scene_object.name for scene_object in room.objects if ability in scene_object.abilities])
        for state, ability in _UNSTATED.items()
    }


def read_plan(text: Source, scene: Scene) -> ForeignPlan:
    """Read steps such as ``find Mug``, ``fillLiquid Mug water`` and ``turn on the television``, on lines or in JSON."""
    resolver = ObjectResolver(scene.data)
    steps: list[str] = []
    places: list[Span] = []
    diagnostics: list[Diagnostic] = []
    noted: set[str] = set()
    broken = broken_plan(text)
    if broken is not None:
        return ForeignPlan(None, (), (broken,))
    for span in step_spans(text):
        words = text.slice(span)
        step = resolver.read_step(words)
        label = Label(text.name, span)
        if step is None:
            message = "this is not a step of SafeAgentBench"
            diagnostics.append(Diagnostic(SC.FOREIGN_LINE, message, (label,), help=_suggest_step(words)))
            continue
        choice = resolver.choice
        if choice is not None and choice not in noted:
            noted.add(choice)
            count = len(resolver.names[class_of_name(choice)])
            message = f"there are {count}: taken as `{choice}`"
            diagnostics.append(Diagnostic(SC.AMBIGUOUS_OBJECT, message, (label,), severity=Severity.NOTE))
        if resolver.hindrance is not None:
            message = f"the hand holds `{resolver.hindrance}`: as in the benchmark, this step changes nothing"
            diagnostics.append(Diagnostic(SC.FOREIGN_SCENE, message, (label,), severity=Severity.NOTE))
        steps.append(f"({' '.join(step)})")
        places.append(span)
    if any([diagnostic.severity is Severity.ERROR for diagnostic in diagnostics]):
        return ForeignPlan(None, diagnostics=tuple(diagnostics))
    plan = Source(f"{text.name} (as PDDL)", "\n".join(steps) + "\n")
    return ForeignPlan(plan, tuple(places), tuple(diagnostics))


def _suggest_step(words: str) -> str:
    """Return the help text for words that are not a step."""
    plain = " ".join(words.lower().split()[:3])
    if plain in ACTION_WORDS:
        return f"name a thing: `{plain} Mug`"
    starts = [" ".join(plain.split()[:count]) for count in (2, 1)]
    guesses = [guess for guess in [suggest_name(start, ACTION_WORDS) for start in starts if start] if guess is not None]
    return guesses[0] if guesses else "the actions are " + ", ".join(ACTION_WORDS)


def write_step(step: tuple[str, ...], scene: Scene) -> str:
    """Write a step in the benchmark's words, with the number of the object if the scene has several of its class."""
    room: Room = scene.data
    action, names = step[0], list(step[1:])
    if names:
        object_class = class_of_name(names[0])
        number = names[0].rpartition("_")[2]
        numbered = len(names_by_class(room.objects).get(object_class, ())) > 1
        class_name = CLASSES[object_class].name if object_class in CLASSES else names[0]
        names[0] = class_name + (f" {number}" if numbered else "")
    return " ".join([_WORDS.get(action, action), *names])


WORLD = Benchmark(
    name="safeagentbench",
    title="SafeAgentBench: a robot in rooms of AI2-THOR (and the tasks of SPOC)",
    domain="safeagentbench",
    files=(
        FileRole(SCENE, "the objects of the room: AI2-THOR's metadata (JSON), or names", required=True),
        FileRole(GOAL, 'the task: "final_state" of SafeAgentBench, or a task of SPOC'),
    ),
    plans=("find Mug", "fillLiquid Mug water", "turn on CoffeeMachine", '["find Mug", "pick Mug"]', '{"step": [..]}'),
    example="safecheck --world safeagentbench plan.txt --scene objects.json",
    read_scene=read_scene,
    read_plan=read_plan,
    write_step=write_step,
)


# `put Sink` places the object in the basin, as the controller does.
_BASINS = {"sink": "sinkbasin", "bathtub": "bathtubbasin"}


class ObjectResolver:
    """Resolves the words of steps to objects of a room, in the order of the plan.

    A class without a number means the object of the class that the plan named last, else the nearest object by the
    metadata, else the first object. The controller skips objects in closed receptacles and prefers free burners, so the
    resolver follows which receptacles the plan opens and closes, and where it puts objects.
    """

    def __init__(self, room: Room) -> None:
        self.names = names_by_class(room.objects)
        self.choice: str | None = None
        """The object of the current step, if several objects qualify and the plan does not say which."""
        self.hindrance: str | None = None
        """The object in the hand, if the current step is a `pick` that changes nothing because of it."""
        self._latest: dict[str, str] = {}
        self._distances = {scene_object.name: scene_object.distance for scene_object in room.objects}
        self._single_places = single_places(room)
        names = {scene_object.id: scene_object.name for scene_object in room.objects}
        self._receptacles = {
            scene_object.name: {names[parent] for parent in scene_object.parents if parent in names}
            for scene_object in room.objects
        }
        self._pickupable = {
            scene_object.name for scene_object in room.objects if "pickupable" in scene_object.abilities
        }
        self._openable = {scene_object.name for scene_object in room.objects if "openable" in scene_object.abilities}
        self._closed = self._openable - {
            scene_object.name for scene_object in room.objects if "is_open" in scene_object.facts
        }
        self._in_hand: str | None = None

    def read_step(self, words: str) -> tuple[str, ...] | None:
        """Return the PDDL step for words; ``None`` if they are not a step."""
        self.choice = self.hindrance = None
        step = parse_step(words)
        if step is None:
            return None
        if step.object_words is None:
            self._follow(step.action, "")
            return (step.action,)
        name = self._resolve(step.object_words, step.action)
        self._follow(step.action, name)
        return (step.action, name) if step.liquid is None else (step.action, name, _plain_name(step.liquid))

    def _resolve(self, words: str, action: str) -> str:
        """Return the PDDL name of the object; an object that the scene does not have keeps its words."""
        object_class, number = split_number(words)
        if action == "put" and _BASINS.get(object_class) in self.names:
            object_class = _BASINS[object_class]
        names = self.names.get(object_class, ())
        if number is not None:
            name = names[number - 1] if 1 <= number <= len(names) else _plain_name(f"{object_class}_{number}")
        elif names:
            name = self._choose(names, self._latest.get(object_class))
        else:
            name = _plain_name(object_class)
        self._latest[object_class] = name
        return name

    def _choose(self, names: tuple[str, ...], latest: str | None) -> str:
        best = min(names, key=lambda name: (self._obstacles(name), self._distances[name]))
        if latest is None:
            self.choice = best if len(names) > 1 else None
            return best
        return latest if latest not in names or self._obstacles(latest) == self._obstacles(best) else best

    def _obstacles(self, name: str) -> tuple[bool, bool]:
        """Return whether the object is in a closed receptacle, and whether it is an occupied place for one object."""
        is_hidden = not self._closed.isdisjoint(self._receptacles.get(name, ()))
        is_occupied = name in self._single_places and any([name in places for places in self._receptacles.values()])
        return is_hidden, is_occupied

    def _follow(self, action: str, name: str) -> None:
        """Update the positions of objects and the closed receptacles after a step."""
        if action == "pick" and name in self._pickupable:
            self.hindrance = self._in_hand
            if self._in_hand is None:
                self._in_hand = name
                self._receptacles[name] = set()
        elif action in ("put", "drop", "throw") and self._in_hand is not None:
            self._receptacles[self._in_hand] = {name} if action == "put" else set()
            self._in_hand = None
        elif action == "open":
            self._closed.discard(name)
        elif action == "close" and name in self._openable:
            self._closed.add(name)


def _plain_name(words: str) -> str:
    return re.sub(r"[^a-z0-9_-]", "_", words.lower()) or "_"
