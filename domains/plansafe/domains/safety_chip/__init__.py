"""The constraints and programs of "Plug in the Safety Chip" (Yang et al., arXiv 2309.09919).

A program is judged as it would be executed in its home: a walk to another room passes the rooms on the way, and each is
a step of its own. docs/home-worlds.md says what was decided where the benchmark is silent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from plansafe.domains import domain_path
from plansafe.domains.json_text import broken_plan
from plansafe.domains.safety_chip.constraints import Task, Unreadable, from_benchmark, from_lines
from plansafe.domains.safety_chip.homes import Home
from plansafe.domains.safety_chip.prefix import NotAFormula, atoms, in_specification, plain_name, put_on
from plansafe.domains.world import GOAL, SCENE, Benchmark, FileRole, ForeignPlan, Request, Scene, no_scene, wrong_task
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity, Span
from plansafe.grammar.source import Source

_NEAR = 0.8
_EXPECTED = "expected `<char0> [ACTION] <CLASS> (NUMBER) ..`"
_OTHER = re.compile(r"(?:\s|#[^\n]*|//[^\n]*)*+(?!\[|\{[^{}]*\"program\"|\Z)")
"""What is neither empty, nor comments alone, nor a JSON list or program without steps."""
_WALKS = ("walk", "find", "run", "walktowards")
_SAME = {"put": "puton", "putback": "puton", "putobjback": "puton", "release": "drop"}
_STEP = re.compile(r"(?:<char\d+>\s*)?\[\s*(\w+)\s*\]((?:\s*<[^<>]*>\s*\(\s*[\d.]+\s*\))*)")
_OBJECT = re.compile(r"<([^<>]*)>\s*\(\s*([\d.]+)\s*\)")
_CLASSES = re.compile(r"\(:constants(.*?)- thing\)", re.DOTALL)


class _Data(NamedTuple):
    """What a program needs: the home, and the room where it begins, if the files say so."""

    home: Home
    start: str | None


def read_scene(request: Request) -> Scene:
    """Make a problem of the home and a specification of the constraints."""
    file, tasks = request.files[SCENE], request.files.get(GOAL)
    in_lines = not file.text.lstrip().startswith("{")
    misnamed = wrong_task(request) if in_lines else ()
    if misnamed:
        return no_scene(*misnamed)
    if in_lines and tasks is not None:
        message = "--goal needs the benchmark's translations as the scene, and this scene is a file of lines"
        return no_scene(Diagnostic(SC.UNREADABLE_WORLD, message, (Label(file.name, Span(0, min(1, len(file.text)))),)))
    try:
        task = from_lines(file) if in_lines else from_benchmark(file, tasks, request.task)
        specification = _specification(file, task)
    except Unreadable as wrong:
        return no_scene(wrong.diagnostic)
    with open(domain_path("safety_chip"), encoding="utf-8") as shipped:
        domain = Source(shipped.name, shipped.read())
    known = _known(task, domain.text)
    problem = Source(f"{file.name} (as PDDL)", _problem(task, known))
    notes = (*task.notes, *_misspelt(file, task, known))
    return Scene(domain, problem, (specification,), notes, _Data(task.home, task.start))


def _known(task: Task, domain: str) -> frozenset[str]:
    """The things and rooms that the domain and the home have."""
    found = _CLASSES.search(domain)
    assert found is not None
    return frozenset((*re.sub(r";[^\n]*", "", found[1]).split(), *task.home.rooms))


def _misspelt(file: Source, task: Task, known: frozenset[str]) -> Iterator[Diagnostic]:
    """Warnings about names that nothing has and that are nearly others: such a constraint is about nothing."""
    import difflib  # noqa: PLC0415 - where a name is not known

    said = [name for constraint in task.constraints for atom in atoms(constraint.formula) for name in atom.names]
    for name in dict.fromkeys(said):
        near = difflib.get_close_matches(name[:60], known, n=1, cutoff=_NEAR) if name not in known else []
        if near:
            at = max(file.text.find(name), 0)
            label = Label(file.name, Span(at, min(at + len(name), len(file.text))))
            message = f"a constraint names `{name}`, which neither the home nor the domain has"
            help = f"did you mean `{near[0]}`?"
            yield Diagnostic(SC.FOREIGN_SCENE, message, (label,), help=help, severity=Severity.WARNING)


def _problem(task: Task, known: frozenset[str]) -> str:
    goal = " ".join(task.goal)
    named = [name for constraint in task.constraints for atom in atoms(constraint.formula) for name in atom.names]
    named += [word for fact in task.goal for word in fact.replace("(not", "").strip("() ").split()[1:]]
    others = [name for name in dict.fromkeys(named) if name not in known]
    doors = [f"(door {room} {other})" for room, beside in task.home.doors.items() for other in beside]
    start = [] if task.start is None else [f"(agent_at {task.start})"]
    lines = (
        "(define (problem home) (:domain safety_chip)",
        f"  (:objects {' '.join(task.home.rooms)} - room" + (f" {' '.join(others)} - thing)" if others else ")"),
        f"  (:init {' '.join([*start, *doors])})",
        f"  (:goal (and {goal})))" if goal else "  (:goal (and)))",
    )
    return "\n".join(lines) + "\n"


def _specification(file: Source, task: Task) -> Source:
    rules = []
    for number, constraint in enumerate(task.constraints, 1):
        try:
            formula = in_specification(constraint.formula)
        except NotAFormula as wrong:
            raise Unreadable(Diagnostic(SC.FOREIGN_FORMULA, str(wrong), (Label(file.name, Span(0, 1)),))) from None
        said = json.dumps(f"`{constraint.text}`" if constraint.sentence is None else constraint.sentence)
        message = said.replace("{", "(").replace("}", ")")
        rules.append(f"  (:trajectory constraint_{number} :formula {formula}\n    :message {message})")
    text = "(define (safety safety_chip_task) (:domain safety_chip)\n" + "\n".join(rules) + ")\n"
    return Source(f"{file.name} (constraints)", text)


def read_plan(text: Source, scene: Scene) -> ForeignPlan:
    """Read a program: lines ``<char0> [putin] <apple> (437) <fridge> (305)``, alone or in a JSON list.

    A walk to another room becomes one step for each door on the way, all at the place of the walk.
    """
    data: _Data = scene.data
    here = data.start
    steps: list[tuple[str, ...]] = []
    places: list[Span] = []
    wrong: list[Diagnostic] = []
    broken = broken_plan(text) if _is_json(text) else None
    if broken is not None:
        return ForeignPlan(None, (), (broken,))
    lines = list(_lines(text))
    if not lines and _OTHER.match(text.text):
        label = Label(text.name, Span(0, min(1, len(text.text))))
        return ForeignPlan(None, (), (Diagnostic(SC.FOREIGN_LINE, "the plan has no steps", (label,), help=_EXPECTED),))
    for span in lines:
        line = text.slice(span)
        found = _STEP.fullmatch(line)
        if found is None:
            wrong.append(Diagnostic(SC.FOREIGN_LINE, _EXPECTED, (Label(text.name, span),)))
            continue
        action = _SAME.get(found[1].lower(), found[1].lower())
        objects = [(_name(one[1]), int(one[2].rpartition(".")[2][:18] or "0")) for one in _OBJECT.finditer(found[2])]
        names = [name for name, _ in objects]
        made = [(put_on(action, names), *names)]
        if action in _WALKS and len(objects) == 1:
            made, here = _walk(data.home, here, *objects[0])
        steps += made
        places += [span] * len(made)
    if wrong:
        return ForeignPlan(None, diagnostics=tuple(wrong))
    written = "\n".join([f"({' '.join(step)})" for step in steps]) + "\n"
    return ForeignPlan(Source(f"{text.name} (as PDDL)", written), tuple(places))


def _walk(home: Home, here: str | None, name: str, number: int) -> tuple[list[tuple[str, ...]], str | None]:
    """The steps to a room, or to a thing in its room, and the room at the end.

    A walk to the room where the agent is passes no door, and is no step.
    """
    room = name if name in home.rooms else home.room_of(number) or here
    made: list[tuple[str, ...]] = []
    if room is not None and room != here:
        way = home.way(here, room) if here is not None else ()
        if way:
            made += [("walk", one, other) for one, other in pairwise(way)]
        else:
            made.append(("arrive", room) if here is None else ("walk", here, room))
    if name not in home.rooms:
        made.append(("find", name))
    return made, room


def _lines(text: Source) -> Iterator[Span]:
    """The places of the steps: the strings of a JSON list, or lines. A title above the first step is left out."""
    if _is_json(text):
        yield from [Span(found.start(1), found.end(1)) for found in _json_strings(text.text)]
        return
    begun = False
    for found in re.finditer(r"[^\r\n]+", text.text):
        line = found[0].strip()
        begun = begun or "[" in line
        if line and begun and not line.startswith(("#", "//")):
            start = found.start() + len(found[0]) - len(found[0].lstrip())
            yield Span(start, start + len(line))


def _is_json(text: Source) -> bool:
    """Whether a program is JSON: its lines begin with brackets, too."""
    return text.text.lstrip().startswith("{") or re.match(r"\s*\[\s*(\"|\])", text.text) is not None


def _json_strings(text: str) -> Iterator[re.Match[str]]:
    """The strings of the list ``program`` of an object, or of the list that the text is."""
    begin = re.search(r'"program"\s*:\s*\[', text)
    at = begin.end() if begin is not None else text.find("[") + 1
    string = re.compile(r'[\s,]*"((?:[^"\\]|\\.)*)"')
    while (found := string.match(text, at)) is not None:
        yield found
        at = found.end()


def _name(words: str) -> str:
    """A class as a name of PDDL; what could be none is kept apart from the syntax."""
    return re.sub(r"[^a-z0-9_-]", "_", plain_name(words)) or "_"


def write_step(step: tuple[str, ...], scene: Scene) -> str:
    """Write a step as the programs do; numbers of things are left open (``0``)."""
    data: _Data = scene.data
    action, names = step[0], step[1:]
    if action == "walk":
        names = names[-1:]
    elif action == "arrive":
        action = "walk"
    numbers = [data.home.rooms.get(name) or 0 for name in names]
    return " ".join([f"<char0> [{action}]", *[f"<{name}> ({n})" for name, n in zip(names, numbers, strict=True)]])


WORLD = Benchmark(
    name="safety-chip",
    title="Safety Chip: programs of a household robot with constraints in prefix LTL",
    domain="safety_chip",
    files=(
        FileRole(SCENE, "the constraints: the benchmark's translations (JSON), or lines of prefix LTL", required=True),
        FileRole(GOAL, "the benchmark's tasks (JSON): sentences, start and goal"),
    ),
    plans=("<char0> [putin] <apple> (437) <fridge> (305)", 'a JSON list of such lines, or an object with "program"'),
    example="safecheck --world safety-chip program.txt --scene constraints.txt",
    read_scene=read_scene,
    read_plan=read_plan,
    write_step=write_step,
)
