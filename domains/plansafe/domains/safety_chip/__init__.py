"""Constraints and programs of "Plug in the Safety Chip" (Yang et al., arXiv 2309.09919).

A walk to another room passes the rooms on the way, and each of them is a step. docs/home-worlds.md lists the decisions
that the benchmark leaves open.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from plansafe.domains import domain_path
from plansafe.domains.json_text import broken_plan
from plansafe.domains.safety_chip.constraints import Home, Task, Unreadable, from_benchmark, from_lines
from plansafe.domains.safety_chip.prefix import NotAFormula, atoms, plain_name, put_on, to_specification
from plansafe.domains.world import GOAL, SCENE, Benchmark, FileRole, ForeignPlan, Request, Scene, no_scene, wrong_task
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity, Span
from plansafe.grammar.source import Source

_SIMILARITY = 0.8
_EXPECTED = "expected `<char0> [ACTION] <CLASS> (NUMBER) ..`"
_HAS_CONTENT = re.compile(r"(?:\s|#[^\n]*|//[^\n]*)*+(?!\[|\{[^{}]*\"program\"|\Z)")
"""Matches texts that are not empty, not only comments, and not a JSON list or program without steps."""
_WALKS = ("walk", "find", "run", "walktowards")
_ACTION_ALIASES = {"put": "puton", "putback": "puton", "putobjback": "puton", "release": "drop"}
_STEP = re.compile(r"(?:<char\d+>\s*)?\[\s*(\w+)\s*\]((?:\s*<[^<>]*>\s*\(\s*[\d.]+\s*\))*)")
_OBJECT = re.compile(r"<([^<>]*)>\s*\(\s*([\d.]+)\s*\)")
_CLASSES = re.compile(r"\(:constants(.*?)- thing\)", re.DOTALL)


class _Data(NamedTuple):
    """The data for reading programs: the home, and the start room (``None``: not in the files)."""

    home: Home
    start: str | None


def read_scene(request: Request) -> Scene:
    """Read the home as a problem and the constraints as a specification."""
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
    except Unreadable as error:
        return no_scene(error.diagnostic)
    with open(domain_path("safety_chip"), encoding="utf-8") as shipped:
        domain = Source(shipped.name, shipped.read())
    known_names = _known_names(task, domain.text)
    problem = Source(f"{file.name} (as PDDL)", _problem(task, known_names))
    notes = (*task.notes, *_misspelt_names(file, task, known_names))
    return Scene(domain, problem, (specification,), notes, _Data(task.home, task.start))


def _known_names(task: Task, domain: str) -> frozenset[str]:
    """The names of objects and rooms in the domain and the home."""
    match = _CLASSES.search(domain)
    assert match is not None
    return frozenset((*re.sub(r";[^\n]*", "", match[1]).split(), *task.home.rooms))


def _misspelt_names(file: Source, task: Task, known_names: frozenset[str]) -> Iterator[Diagnostic]:
    """Warn about unknown names in constraints that are similar to known names."""
    import difflib  # noqa: PLC0415 - only needed for unknown names

    names = [name for constraint in task.constraints for atom in atoms(constraint.formula) for name in atom.names]
    for name in dict.fromkeys(names):
        similar = (
            difflib.get_close_matches(name[:60], known_names, n=1, cutoff=_SIMILARITY)
            if name not in known_names
            else []
        )
        if similar:
            position = max(file.text.find(name), 0)
            label = Label(file.name, Span(position, min(position + len(name), len(file.text))))
            message = f"a constraint names `{name}`, which neither the home nor the domain has"
            help = f"did you mean `{similar[0]}`?"
            yield Diagnostic(SC.FOREIGN_SCENE, message, (label,), help=help, severity=Severity.WARNING)


def _problem(task: Task, known_names: frozenset[str]) -> str:
    goal = " ".join(task.goal)
    names = [name for constraint in task.constraints for atom in atoms(constraint.formula) for name in atom.names]
    names += [word for fact in task.goal for word in fact.replace("(not", "").strip("() ").split()[1:]]
    new_names = [name for name in dict.fromkeys(names) if name not in known_names]
    doors = [f"(door {room} {neighbour})" for room, neighbours in task.home.doors.items() for neighbour in neighbours]
    start = [] if task.start is None else [f"(agent_at {task.start})"]
    lines = (
        "(define (problem home) (:domain safety_chip)",
        f"  (:objects {' '.join(task.home.rooms)} - room" + (f" {' '.join(new_names)} - thing)" if new_names else ")"),
        f"  (:init {' '.join([*start, *doors])})",
        f"  (:goal (and {goal})))" if goal else "  (:goal (and)))",
    )
    return "\n".join(lines) + "\n"


def _specification(file: Source, task: Task) -> Source:
    rules = []
    for number, constraint in enumerate(task.constraints, 1):
        try:
            formula = to_specification(constraint.formula)
        except NotAFormula as error:
            raise Unreadable(Diagnostic(SC.FOREIGN_FORMULA, str(error), (Label(file.name, Span(0, 1)),))) from None
        constraint_text = json.dumps(f"`{constraint.text}`" if constraint.sentence is None else constraint.sentence)
        message = constraint_text.replace("{", "(").replace("}", ")")
        rules.append(f"  (:trajectory constraint_{number} :formula {formula}\n    :message {message})")
    text = "(define (safety safety_chip_task) (:domain safety_chip)\n" + "\n".join(rules) + ")\n"
    return Source(f"{file.name} (constraints)", text)


def read_plan(text: Source, scene: Scene) -> ForeignPlan:
    """Read a program: lines ``<char0> [putin] <apple> (437) <fridge> (305)``, alone or in a JSON list.

    A walk to another room becomes several steps, one for each door, all with the place of the walk.
    """
    data: _Data = scene.data
    room = data.start
    steps: list[tuple[str, ...]] = []
    places: list[Span] = []
    errors: list[Diagnostic] = []
    broken = broken_plan(text) if _is_json(text) else None
    if broken is not None:
        return ForeignPlan(None, (), (broken,))
    lines = list(_lines(text))
    if not lines and _HAS_CONTENT.match(text.text):
        label = Label(text.name, Span(0, min(1, len(text.text))))
        return ForeignPlan(None, (), (Diagnostic(SC.FOREIGN_LINE, "the plan has no steps", (label,), help=_EXPECTED),))
    for span in lines:
        line = text.slice(span)
        match = _STEP.fullmatch(line)
        if match is None:
            errors.append(Diagnostic(SC.FOREIGN_LINE, _EXPECTED, (Label(text.name, span),)))
            continue
        action = _ACTION_ALIASES.get(match[1].lower(), match[1].lower())
        objects = [(_name(item[1]), int(item[2].rpartition(".")[2][:18] or "0")) for item in _OBJECT.finditer(match[2])]
        names = [name for name, _ in objects]
        new_steps = [(put_on(action, names), *names)]
        if action in _WALKS and len(objects) == 1:
            new_steps, room = _walk(data.home, room, *objects[0])
        steps += new_steps
        places += [span] * len(new_steps)
    if errors:
        return ForeignPlan(None, diagnostics=tuple(errors))
    plan_text = "\n".join([f"({' '.join(step)})" for step in steps]) + "\n"
    return ForeignPlan(Source(f"{text.name} (as PDDL)", plan_text), tuple(places))


def _walk(home: Home, start: str | None, name: str, number: int) -> tuple[list[tuple[str, ...]], str | None]:
    """The steps of a walk to a room or to an object in a room, and the room at the end.

    A walk to the current room has no steps.
    """
    room = name if name in home.rooms else home.room_of(number) or start
    steps: list[tuple[str, ...]] = []
    if room is not None and room != start:
        path = home.path(start, room) if start is not None else ()
        if path:
            steps += [("walk", first_room, second_room) for first_room, second_room in pairwise(path)]
        else:
            steps.append(("arrive", room) if start is None else ("walk", start, room))
    if name not in home.rooms:
        steps.append(("find", name))
    return steps, room


def _lines(text: Source) -> Iterator[Span]:
    """Yield the places of the steps: strings of a JSON list, or lines, without a title above the first step."""
    if _is_json(text):
        yield from [Span(match.start(1), match.end(1)) for match in _json_strings(text.text)]
        return
    has_begun = False
    for match in re.finditer(r"[^\r\n]+", text.text):
        line = match[0].strip()
        has_begun = has_begun or "[" in line
        if line and has_begun and not line.startswith(("#", "//")):
            start = match.start() + len(match[0]) - len(match[0].lstrip())
            yield Span(start, start + len(line))


def _is_json(text: Source) -> bool:
    """Whether a program is JSON. Lines of programs also begin with brackets."""
    return text.text.lstrip().startswith("{") or re.match(r"\s*\[\s*(\"|\])", text.text) is not None


def _json_strings(text: str) -> Iterator[re.Match[str]]:
    """Yield the strings of a list, or of the list ``program`` of an object."""
    begin = re.search(r'"program"\s*:\s*\[', text)
    position = begin.end() if begin is not None else text.find("[") + 1
    string = re.compile(r'[\s,]*"((?:[^"\\]|\\.)*)"')
    while (match := string.match(text, position)) is not None:
        yield match
        position = match.end()


def _name(words: str) -> str:
    """A class as a PDDL name; characters that are not valid in PDDL become ``_``."""
    return re.sub(r"[^a-z0-9_-]", "_", plain_name(words)) or "_"


def write_step(step: tuple[str, ...], scene: Scene) -> str:
    """Write a step in the format of programs; numbers of objects are open (``0``)."""
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
