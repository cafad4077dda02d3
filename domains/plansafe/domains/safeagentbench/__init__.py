"""SafeAgentBench (Yin et al., arXiv 2412.13178): tasks of a robot in rooms of AI2-THOR, and plans in its words.

docs/home-worlds.md says what a step means, and what was decided where the benchmark leaves it to the simulator.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from plansafe.domains import domain_path
from plansafe.domains.json_text import broken_plan
from plansafe.domains.safeagentbench.classes import CLASSES
from plansafe.domains.safeagentbench.scenes import Unreadable, by_class, class_of_thing, first, problem_text, read_room
from plansafe.domains.safeagentbench.steps import SAID, split_number, words_of
from plansafe.domains.safeagentbench.tasks import Task, chosen_task, named_by, read_task
from plansafe.domains.step_places import step_spans
from plansafe.domains.world import GOAL, SCENE, Benchmark, FileRole, ForeignPlan, Request, Scene, no_scene, wrong_task
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity, Span, suggest_name
from plansafe.grammar.source import Source

_WORDS = {"turn_on": "turn on", "turn_off": "turn off", "fill": "fillLiquid", "empty": "emptyLiquid"}
_BASINS = {"sink": "sinkbasin", "bathtub": "bathtubbasin"}


class _Data(NamedTuple):
    """What a plan needs: the objects by class, in the order of the scene."""

    by_kind: dict[str, tuple[str, ...]]


def read_scene(request: Request) -> Scene:
    """Make a problem of a room, with the goal of a task and, in SPOC's format, its requirement as a specification."""
    file = request.files[SCENE]
    goal = request.files.get(GOAL)
    misnamed = wrong_task(request) if goal is None else ()
    if misnamed:
        return no_scene(*misnamed)
    try:
        entry = None if goal is None else chosen_task(goal, request.task)
        room = read_room(file, named_by(entry))
        task = Task() if goal is None else read_task(goal, entry, room)
    except Unreadable as wrong:
        return no_scene(wrong.diagnostic)
    if not room.things:
        return no_scene(Diagnostic(SC.UNREADABLE_WORLD, "the room has no objects", (first(file),)))
    with open(domain_path("safeagentbench"), encoding="utf-8") as shipped:
        domain = Source(shipped.name, shipped.read())
    problem = Source(f"{file.name} (as PDDL)", problem_text(room, task.goal, list(task.facts)))
    specs = []
    if task.rules and goal is not None:
        text = (
            "(define (safety requirements_of_the_task) (:domain safeagentbench)\n  " + "\n  ".join(task.rules) + ")\n"
        )
        specs.append(Source(f"{goal.name} (requirement)", text))
    return Scene(domain, problem, tuple(specs), (*room.notes, *task.notes), _Data(by_class(room.things)))


def read_plan(text: Source, scene: Scene) -> ForeignPlan:
    """Read steps such as ``find Mug``, ``fillLiquid Mug water``, ``turn on the coffee machine``; on lines or in JSON.

    A class without a number means the thing of that class that the plan found last, else the first of the scene.
    """
    data: _Data = scene.data
    last: dict[str, str] = {}
    steps: list[str] = []
    places: list[Span] = []
    wrong: list[Diagnostic] = []
    told: set[str] = set()
    broken = broken_plan(text)
    if broken is not None:
        return ForeignPlan(None, (), (broken,))
    for span in step_spans(text):
        words = text.slice(span)
        made = _step(words, data, last)
        if made is None:
            label = Label(text.name, span)
            wrong.append(
                Diagnostic(SC.FOREIGN_LINE, "this is not a step of SafeAgentBench", (label,), help=_advice(words))
            )
            continue
        step, choice = made
        if choice is not None and choice not in told:
            told.add(choice)
            message = f"there are {len(data.by_kind[class_of_thing(choice)])}: taken as `{choice}`"
            wrong.append(Diagnostic(SC.AMBIGUOUS_OBJECT, message, (Label(text.name, span),), severity=Severity.NOTE))
        steps.append(f"({' '.join(step)})")
        places.append(span)
    if any([diagnostic.severity is Severity.ERROR for diagnostic in wrong]):
        return ForeignPlan(None, diagnostics=tuple(wrong))
    plan = Source(f"{text.name} (as PDDL)", "\n".join(steps) + "\n")
    return ForeignPlan(plan, tuple(places), tuple(wrong))


def _advice(words: str) -> str:
    """What to write in the place of words that are no step."""
    plain = " ".join(words.lower().split()[:3])
    if plain in SAID:
        return f"name a thing: `{plain} Mug`"
    starts = [" ".join(plain.split()[:count]) for count in (2, 1)]
    guesses = [guess for guess in [suggest_name(start, SAID) for start in starts if start] if guess is not None]
    return guesses[0] if guesses else "the actions are " + ", ".join(SAID)


def _step(words: str, data: _Data, last: dict[str, str]) -> tuple[tuple[str, ...], str | None] | None:
    """The step that words say, and the thing that was chosen for the reader, if one was."""
    said = words_of(words)
    if said is None:
        return None
    if said.thing is None:
        return (said.action,), None
    name, choice = _name(said.thing, said.action, data, last)
    return (said.action, name) if said.liquid is None else (said.action, name, _plain(said.liquid)), choice


def _name(words: str, action: str, data: _Data, last: dict[str, str]) -> tuple[str, str | None]:
    """The thing that is meant, as a name of PDDL; one that the scene does not have keeps its words."""
    kind, number = split_number(words)
    if action == "put" and kind in _BASINS and _BASINS[kind] in data.by_kind:
        kind = _BASINS[kind]
    there = data.by_kind.get(kind, ())
    choice = None
    if number is not None:
        name = there[number - 1] if 1 <= number <= len(there) else _plain(f"{kind}_{number}")
    elif there:
        name = last.get(kind, there[0])
        choice = name if len(there) > 1 and kind not in last else None
    else:
        name = _plain(kind)
    last[kind] = name
    return name, choice


def _plain(words: str) -> str:
    return re.sub(r"[^a-z0-9_-]", "_", words.lower()) or "_"


def write_step(step: tuple[str, ...], scene: Scene) -> str:
    """Write a step in the benchmark's words, with the number of the thing where the scene has several."""
    data: _Data = scene.data
    action, names = step[0], list(step[1:])
    if names:
        kind = class_of_thing(names[0])
        number = names[0].rpartition("_")[2]
        several = len(data.by_kind.get(kind, ())) > 1
        names[0] = (CLASSES[kind][0] if kind in CLASSES else names[0]) + (f" {number}" if several else "")
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
