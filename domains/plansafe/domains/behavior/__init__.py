"""BEHAVIOR, iGibson and OmniGibson: household activities in BDDL, and plans of people and models for them.

docs/home-worlds.md describes the files, the meaning of BDDL, and the differences from the published domain.
"""

from __future__ import annotations

import re

from plansafe.domains.behavior.human import read_actions, read_lines, steps_of, written_step
from plansafe.domains.behavior.scenes import read_scene
from plansafe.domains.behavior.task import Naming
from plansafe.domains.behavior.vocabulary import IGIBSON
from plansafe.domains.world import GOAL, SCENE, Benchmark, FileRole, ForeignPlan, Scene
from plansafe.grammar.diagnostics import Severity
from plansafe.grammar.plan_text import read_plan as read_pddl_plan
from plansafe.grammar.source import Source

_START = re.compile(r"(?:\s|[;#][^\r\n]*(?:[\r\n]|\Z)|```[^\r\n]*(?:[\r\n]|\Z))*")


def read_plan(source: Source, scene: Scene) -> ForeignPlan:
    """Read a plan: PDDL steps, actions in JSON or Python notation, or one action on each line."""
    naming = scene.data
    assert isinstance(naming, Naming)
    start = _START.match(source.text)
    position = start.end() if start else 0
    char = source.text[position : position + 1]
    if char == "(":
        return _pddl(source, naming)
    actions, wrong = read_actions(source, position) if char in ("[", "{") else read_lines(source)
    if wrong:
        return ForeignPlan(None, (), tuple(wrong))
    return steps_of(source, actions, naming)


def _pddl(source: Source, naming: Naming) -> ForeignPlan:
    """A plan in PDDL; its objects may be named as the activity names them."""
    parsed = read_pddl_plan(source)
    if any([note.severity is Severity.ERROR for note in parsed.diagnostics]):
        return ForeignPlan(None, (), parsed.diagnostics)
    places = tuple([step.span for step in parsed.steps])
    plain = all([step.time is None for step in parsed.steps]) and parsed.ordering is None
    names = naming.names
    if not plain or all([names.get(word, word) == word for step in parsed.steps for word in step.tokens[1:]]):
        return ForeignPlan(source, places, parsed.diagnostics)
    steps = [" ".join([step.tokens[0], *[names.get(word, word) for word in step.tokens[1:]]]) for step in parsed.steps]
    text = "".join([f"({step})\n" for step in steps])
    return ForeignPlan(Source(f"{source.name} (as PDDL)", text), places, parsed.diagnostics)


def write_step(step: tuple[str, ...], scene: Scene) -> str:
    """A step as an action in JSON."""
    naming = scene.data
    assert isinstance(naming, Naming)
    return written_step(step, naming)


WORLD = Benchmark(
    name="behavior",
    title="BEHAVIOR, iGibson and OmniGibson: household activities in BDDL",
    domain=IGIBSON,
    files=(
        FileRole(
            SCENE,
            "an activity in BDDL, a problem in PDDL, or a prompt or scene of the Embodied Agent Interface",
            required=True,
        ),
        FileRole(
            GOAL,
            "the activity in BDDL where the scene is a prompt: its rooms, and its goal as it was written; "
            "with an activity as the scene, a task of IS-Bench in JSON with its safety goals",
        ),
    ),
    plans=(
        "(grasp bow.n.08_1 agent.n.01_1)",
        '[{"action": "RIGHT_GRASP", "object": "bow_0"}, ..]',
        "RIGHT_GRASP(bow_0)",
    ),
    example="safecheck --world behavior plan.json --scene assembling_gift_baskets.bddl",
    read_scene=read_scene,
    read_plan=read_plan,
    write_step=write_step,
)
