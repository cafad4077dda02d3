"""EARBench (Zhu et al., arXiv 2408.04449): scenes as lists of objects with phrases about them, and plans in English.

docs/home-worlds.md defines the steps, the kinds of objects, and the defaults for facts that a scene does not state.
"""

from __future__ import annotations

import re

from plansafe.domains import domain_path
from plansafe.domains.earbench.cases import Unreadable, read_case
from plansafe.domains.earbench.names import TAP_WATER, ObjectNames, base_words
from plansafe.domains.earbench.scenes import Reader
from plansafe.domains.earbench.steps import DONE, StepReader
from plansafe.domains.json_text import broken_plan
from plansafe.domains.text_places import step_spans
from plansafe.domains.world import SCENE, Benchmark, FileRole, ForeignPlan, Request, Scene, no_scene
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity, Span
from plansafe.grammar.source import Source

_STEP_FORMATS = {
    "place_on": "place {} on {}",
    "place_in": "place {} in {}",
    "place_beside": "place {} next to {}",
    "place_at_edge": "place {} on edge of {}",
    "push_to": "push {} to {}",
    "hold_at": "hold {} next to {}",
    "turn_towards": "turn {} towards {}",
    "plug_into": "plug {} into {}",
    "pour": "pour {} into {}",
    "spray": "spray {} onto {}",
    "fill": "fill {} with {}",
    "give": "give {} to {}",
    "cut_with": "cut {} with {}",
    "clean_with": "clean {} with {}",
    "wash_with": "wash {} with {}",
    "stir_with": "stir {} with {}",
    "sit": "sit on {}",
    "lie": "lie on {}",
}


def read_scene(request: Request) -> Scene:
    """Read a case as a problem."""
    file = request.files[SCENE]
    try:
        case = read_case(file, request.task)
    except Unreadable as error:
        return no_scene(error.diagnostic)
    read = Reader(case, file).read()
    with open(domain_path("earbench"), encoding="utf-8") as shipped:
        domain = Source(shipped.name, shipped.read())
    return Scene(domain, Source(f"{file.name} (as PDDL)", read.problem), (), read.notes, read.objects)


def read_plan(text: Source, scene: Scene) -> ForeignPlan:
    """Read steps such as ``pick up cup_1``, ``place cup_1 on edge of desk_1``; on lines or in JSON.

    ``done`` ends the plan. A step with an unknown action stays in the plan, and the checker reports it.
    """
    objects: ObjectNames = scene.data
    reader = StepReader(objects)
    steps: list[str] = []
    places: list[Span] = []
    notes: list[Diagnostic] = []
    reported_choices: set[str] = set()
    broken = broken_plan(text)
    if broken is not None:
        return ForeignPlan(None, (), (broken,))
    spans = list(step_spans(text))
    for number, span in enumerate(spans):
        step_text = text.slice(span)
        if DONE.fullmatch(step_text.rstrip(".")):
            if number + 1 < len(spans):
                label = Label(text.name, spans[number + 1])
                advice = "`done` ends a plan: remove the steps after it, or the `done`"
                notes.append(Diagnostic(SC.FOREIGN_LINE, "this step comes after `done`", (label,), help=advice))
            break
        step = reader.read(step_text)
        for name, count in step.chosen:
            if name not in reported_choices:
                reported_choices.add(name)
                message = f"the scene has {count} such objects: read as `{name}`"
                note = Diagnostic(SC.AMBIGUOUS_OBJECT, message, (Label(text.name, span),), severity=Severity.NOTE)
                notes.append(note)
        steps.append(step.text)
        places.append(span)
    if any([note.severity is Severity.ERROR for note in notes]):
        return ForeignPlan(None, diagnostics=tuple(notes))
    return ForeignPlan(Source(f"{text.name} (as PDDL)", "\n".join(steps) + "\n"), tuple(places), tuple(notes))


def write_step(step: tuple[str, ...], _scene: Scene) -> str:
    """Write a step in the benchmark's words."""
    action, names = step[0], [_scene_name(name) for name in step[1:]]
    if action == "move_to" and step[1:] == ("outside",):
        return "go out"
    if action in _STEP_FORMATS:
        return _STEP_FORMATS[action].format(*names)
    return " ".join([action.replace("_", " "), *names])


def _scene_name(name: str) -> str:
    """The name of an object as in scenes: ``gas stove_1``."""
    number = re.search(r"_(\d+)\Z", name)
    return f"{base_words(name)}_{number[1]}" if number and name != TAP_WATER else base_words(name)


WORLD = Benchmark(
    name="earbench",
    title="EARBench: scenes in words, and plans in English",
    domain="earbench",
    files=(
        FileRole(
            SCENE, "the case: objects, positions, attributes (JSON, or the data set with --task ID)", required=True
        ),
    ),
    plans=("move to stove_1", "place cup_1 next to laptop_1", '["turn on stove_1", "done"]', '{"steps": [..]}'),
    example="safecheck --world earbench plan.txt --scene case.json",
    read_scene=read_scene,
    read_plan=read_plan,
    write_step=write_step,
)
