"""A small home as an environment graph, and the way of a script through it."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from plansafe.domains.virtualhome import WORLD
from plansafe.domains.world import GOAL, SCENE, ForeignPlan, Request, Scene
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.reporting.report import Report, Worlds

CHARACTER = 65

# number: class, properties, states, support or container, room
OBJECTS: dict[int, tuple[str, str, str, str, int]] = {
    305: ("fridge", "CAN_OPEN CONTAINERS HAS_PLUG HAS_SWITCH", "CLOSED OFF PLUGGED_IN", "", 11),
    226: ("table", "SURFACES MOVABLE", "CLEAN", "", 11),
    437: ("apple", "GRABBABLE EATABLE CUTTABLE", "DIRTY", "ON 226", 11),
    438: ("apple", "GRABBABLE EATABLE CUTTABLE", "CLEAN", "INSIDE 305", 11),
    41: ("mug", "GRABBABLE RECIPIENT", "CLEAN", "ON 226", 11),
    42: ("water", "DRINKABLE POURABLE", "", "", 11),
    43: ("knife", "GRABBABLE", "", "ON 226", 11),
    356: ("chair", "SITTABLE GRABBABLE MOVABLE", "CLEAN", "", 11),
    357: ("chair", "SITTABLE GRABBABLE MOVABLE", "CLEAN", "", 12),
    352: ("couch", "SITTABLE LIEABLE", "CLEAN", "", 12),
    410: ("television", "HAS_SWITCH HAS_PLUG LOOKABLE", "OFF PLUGGED_OUT", "", 12),
    500: ("hands_both", "BODY_PART", "", "", 11),
    501: ("towel", "GRABBABLE", "", "ON 226", 11),
    502: ("clothes_hat", "GRABBABLE CLOTHES", "", "ON 352", 12),
    503: ("novel", "GRABBABLE READABLE", "", "ON 352", 12),
    504: ("tray", "GRABBABLE SURFACES", "", "ON 226", 11),
    505: ("spoon", "GRABBABLE", "", "ON 504", 11),
}


def graph(**changes: Any) -> dict[str, Any]:
    """The graph of the home; ``nodes`` and ``edges`` are added to it."""
    nodes = [
        node(11, "kitchen", category="Rooms"),
        node(12, "livingroom", category="Rooms"),
        node(CHARACTER, "character"),
    ]
    edges = [edge(CHARACTER, "INSIDE", 12)]
    for number, (of_class, properties, states, support, room) in OBJECTS.items():
        nodes.append(node(number, of_class, properties, states))
        edges.append(edge(number, "INSIDE", room))
        if support:
            relation, target = support.split()
            edges += [
                edge(number, relation, int(target)),
                edge(number, "CLOSE", int(target)),
                edge(int(target), "CLOSE", number),
            ]
    return {"nodes": [*nodes, *changes.get("nodes", ())], "edges": [*edges, *changes.get("edges", ())]}


def node(number: int, of_class: str, properties: str = "", states: str = "", **more: Any) -> dict[str, Any]:
    task_scene = {"id": number, "class_name": of_class, "properties": properties.split(), "states": states.split()}
    return {**task_scene, **more}


def edge(tail: int, relation: str, head: int) -> dict[str, Any]:
    return {"from_id": tail, "relation_type": relation, "to_id": head}


def scene(text: str | dict[str, Any] | None = None, goal: Any = None, task: str | None = None) -> Scene:
    """The scene of a graph, and of the goals given as a value or as text."""
    written = text if isinstance(text, str) else json.dumps(graph() if text is None else text)
    files = {SCENE: Source("graph.json", written)}
    if goal is not None:
        files[GOAL] = Source("goals.json", goal if isinstance(goal, str) else json.dumps(goal))
    return WORLD.read_scene(Request(files, task))


def read(text: str, task_scene: Scene | None = None) -> ForeignPlan:
    return WORLD.read_plan(Source("script.txt", text), task_scene or HOME)


def steps(text: str, task_scene: Scene | None = None) -> list[str]:
    """The PDDL steps of a script that can be read."""
    plan = read(text, task_scene)
    assert plan.plan is not None, plan.diagnostics
    assert len(plan.places) == len(plan.plan.text.splitlines())
    return plan.plan.text.splitlines()


@cache
def checker_of(domain: str, problem: str) -> Checker:
    """A compiled task; the same home is compiled once."""
    checker = Checker(Source("domain.pddl", domain), Source("problem.pddl", problem))
    assert checker.ok, checker.diagnostics
    return checker


def audit(text: str, task_scene: Scene | None = None) -> Report:
    """The report on a script."""
    home = task_scene or HOME
    assert home.ok, home.notes
    checker = checker_of(home.domain.text, home.problem.text)
    plan = read(text, home)
    assert plan.plan is not None, plan.diagnostics
    return checker.check(plan.plan)


def stops(text: str, task_scene: Scene | None = None) -> int | None:
    """The number of the first step that cannot be taken, if there is one."""
    report = audit(text, task_scene)
    halt = report.readings[0].executed if report.readings else report.steps
    return None if report.executable is Worlds.ALL else halt + 1


def reached(text: str, goal: Any) -> bool:
    """Whether a script reaches the goal of the only task."""
    return audit(text, scene(goal=goal)).goal is Worlds.ALL


HOME = scene()
