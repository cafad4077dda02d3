"""SafeAgentBench (Yin et al., arXiv 2412.13178): tasks of a robot in rooms of AI2-THOR, and plans in its words.

docs/home-worlds.md describes the files and steps; SOURCE.md says how the actions follow the simulator.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from plansafe.domains import domain_path
from plansafe.domains.json_text import broken_plan
from plansafe.domains.safeagentbench.object_classes import CLASSES
from plansafe.domains.safeagentbench.scenes import (
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
from plansafe.domains.step_places import step_spans
from plansafe.domains.world import GOAL, SCENE, Benchmark, FileRole, ForeignPlan, Request, Scene, no_scene, wrong_task
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity, Span, suggest_name
from plansafe.grammar.source import Source

_WORDS = {"turn_on": "turn on", "turn_off": "turn off", "fill": "fillLiquid", "empty": "emptyLiquid"}
_BASINS = {"sink": "sinkbasin", "bathtub": "bathtubbasin"}


class _PlanContext(NamedTuple):
    """The names of the room's objects by class, and the receptacles for one object with whether they are occupied."""

    names: dict[str, tuple[str, ...]]
    single_places: dict[str, bool]


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
    context = _PlanContext(names_by_class(room.objects), single_places(room))
    return Scene(domain, problem, tuple(specs), (*room.notes, *task.notes), context)


def read_plan(text: Source, scene: Scene) -> ForeignPlan:
    """Read steps such as ``find Mug``, ``fillLiquid Mug water`` and ``turn on the television``, on lines or in JSON."""
    resolver = _ObjectResolver(scene.data)
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
            count = len(resolver.context.names[class_of_name(choice)])
            message = f"there are {count}: taken as `{choice}`"
            diagnostics.append(Diagnostic(SC.AMBIGUOUS_OBJECT, message, (label,), severity=Severity.NOTE))
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


class _ObjectResolver:
    """Finds the object that a step means.

    A class without a number means the object of the class that the plan named last, else the first object of the room.
    For receptacles that accept one object, such as burners, occupied ones come last.
    """

    def __init__(self, context: _PlanContext) -> None:
        self.context = context
        self.latest: dict[str, str] = {}
        self.occupied = {name for name, occupied in context.single_places.items() if occupied}
        self.choice: str | None = None
        """The object of the current step, if several objects qualify and the plan does not say which."""

    def read_step(self, words: str) -> tuple[str, ...] | None:
        """Return the PDDL step for words; ``None`` if they are not a step."""
        self.choice = None
        step = parse_step(words)
        if step is None:
            return None
        if step.object_words is None:
            return (step.action,)
        name = self._resolve(step.object_words, step.action)
        if step.action == "put" and name in self.context.single_places:
            self.occupied.add(name)
        return (step.action, name) if step.liquid is None else (step.action, name, _plain_name(step.liquid))

    def _resolve(self, words: str, action: str) -> str:
        """Return the PDDL name of the object; an object that the scene does not have keeps its words."""
        object_class, number = split_number(words)
        if action == "put" and _BASINS.get(object_class) in self.context.names:
            object_class = _BASINS[object_class]
        names = self.context.names.get(object_class, ())
        if number is not None:
            name = names[number - 1] if 1 <= number <= len(names) else _plain_name(f"{object_class}_{number}")
        elif names:
            candidates = [name for name in names if name not in self.occupied] or list(names)
            latest = self.latest.get(object_class)
            name = latest if latest is not None and (latest in candidates or latest not in names) else candidates[0]
            self.choice = name if len(names) > 1 and latest is None else None
        else:
            name = _plain_name(object_class)
        self.latest[object_class] = name
        return name


def _plain_name(words: str) -> str:
    return re.sub(r"[^a-z0-9_-]", "_", words.lower()) or "_"


def write_step(step: tuple[str, ...], scene: Scene) -> str:
    """Write a step in the benchmark's words, with the number of the object if the scene has several of its class."""
    context: _PlanContext = scene.data
    action, names = step[0], list(step[1:])
    if names:
        object_class = class_of_name(names[0])
        number = names[0].rpartition("_")[2]
        numbered = len(context.names.get(object_class, ())) > 1
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
