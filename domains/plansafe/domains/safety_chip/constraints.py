"""Read the constraints of a task and its home, from the benchmark's files or from lines of prefix LTL.

The benchmark's translations nest setting, scene, task and level (``mobile_manip/0/3_3/2_diverse``); each level has one
formula with placeholders for each sentence. The tasks nest setting, scene and task, and contain the sentences, the
start room and the goal.

The homes of the experiments: rooms with their numbers, and the doors between them.

A constraint such as "never go to the bathroom" is about every room that a walk passes. VirtualHome 2.3 numbers a room
and then the objects in it, so an object is in the room with the highest number below its own. The doors were inferred:
of the 38 maps of four rooms, these have the fewest doors among the maps that agree with the public labels of all
monitored runs (docs/home-worlds.md).
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from plansafe.domains.json_text import BadJson, read_json
from plansafe.domains.safety_chip.prefix import Formula, NotAFormula, parse, plain_name
from plansafe.domains.safety_chip.sentences import NotUnderstood, formula_of
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity, Span
from plansafe.grammar.source import Source

_PLACEHOLDER = re.compile(r"\(([^()]*)\)")


class Constraint(NamedTuple):
    """A formula with its text and, if known, the sentence that it translates."""

    formula: Formula
    text: str
    sentence: str | None = None


class Task(NamedTuple):
    """A task: the home, the start room, the constraints, and the goal as PDDL facts."""

    home: Home
    start: str | None
    constraints: tuple[Constraint, ...]
    goal: tuple[str, ...] = ()
    notes: tuple[Diagnostic, ...] = ()


_LINE_ADVICE = "write a formula such as `G ! agent_at(kitchen)`, or begin the line with home, room, door or start"


class Unreadable(Exception):
    """The files cannot be read as a task; ``diagnostic`` gives the reason."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


def from_lines(file: Source) -> Task:
    """Read a file of lines. Raises :class:`Unreadable`.

    A line is a formula, ``room NAME [NUMBER]``, ``door ROOM ROOM``, ``start ROOM``, ``home NUMBER``, or empty; ``#``
    starts a comment. By default the home has the four rooms of the benchmark, and doors between all rooms.
    """
    rooms: dict[str, int | None] = {}
    doors: list[tuple[str, str, Span]] = []
    scene_home: Home | None = None
    start: tuple[str, Span] | None = None
    constraints = []
    for match in re.finditer(r"[^\r\n]+", file.text):
        line = match[0].split("#", 1)[0]
        words = line.split()
        span = Span(match.start(), match.start() + len(line.rstrip()))
        match words:
            case []:
                continue
            case ["home", number]:
                if number not in HOMES:
                    raise _unreadable(file, span, f"no home {number!a} is known", f"known homes: {', '.join(HOMES)}")
                scene_home = HOMES[number]
            case ["room", name] | ["room", name, _]:
                if len(words) == 3 and not words[2].isdecimal():
                    raise _unreadable(file, span, "the number of a room must be a number", "write `room NAME [NUMBER]`")
                rooms[_room(file, name, span)] = int(words[2][:18]) if len(words) == 3 else None
            case ["door", first_room, second_room]:
                doors.append((_room(file, first_room, span), _room(file, second_room, span), span))
            case ["start", name]:
                start = (_room(file, name, span), span)
            case _:
                constraints.append(Constraint(_formula(file, line, match.start()), " ".join(words)))
    if not constraints and not file.text.strip():
        raise _unreadable(file, Span(0, 0), "the file is empty", _LINE_ADVICE)
    if scene_home is None:
        rooms = rooms or dict.fromkeys(ROOMS)
        for first_room, second_room, span in doors:
            for name in (first_room, second_room):
                if name not in rooms:
                    raise _unreadable(file, span, f"there is no room {name!a}", f"declare it: `room {name}`")
        scene_home = home(rooms, [(first_room, second_room) for first_room, second_room, _ in doors] or None)
    if start is not None and start[0] not in scene_home.rooms:
        raise _unreadable(file, start[1], f"there is no room {start[0]!a}", f"rooms: {', '.join(scene_home.rooms)}")
    return Task(scene_home, start[0] if start else None, tuple(constraints))


def from_benchmark(file: Source, tasks: Source | None, name: str | None) -> Task:
    """Read the task ``name`` from the benchmark's translations and, if given, from its tasks.

    Raises :class:`Unreadable`.
    """
    level, path = _find_entry(file, _load(file), name, ("sub_trans", "unified_trans"))
    description: Any = {}
    if tasks is not None and len(path) > 1:
        description, _ = _find_entry(tasks, _load(tasks), "/".join(path[:-1]), ("constraints", "init_room"))
    scene = path[1] if len(path) > 1 else ""
    notes = []
    if scene not in HOMES:
        message = (
            f"the home of the scene {scene!a} is unknown: every room is assumed to have a door to every other room"
        )
        notes.append(Diagnostic(SC.FOREIGN_SCENE, message, (_first(file),), severity=Severity.NOTE))
    scene_home = HOMES.get(scene) or home(dict.fromkeys(ROOMS), None)
    sentences = _get_key(_get_key(description, "constraints"), path[-1] if path else "")
    constraints = _constraints(file, level, sentences if isinstance(sentences, list) else [], notes)
    start = _get_key(description, "init_room")
    if start is not None and plain_name(str(start)) not in scene_home.rooms:
        assert tasks is not None
        raise Unreadable(Diagnostic(SC.UNREADABLE_WORLD, f"the room {start!a} is not in the home", (_first(tasks),)))
    return Task(
        scene_home,
        None if start is None else plain_name(str(start)),
        tuple(constraints),
        _goal(tasks, _get_key(description, "goal_state")) if tasks is not None else (),
        tuple(notes),
    )


def _constraints(file: Source, level: Any, sentences: list[Any], notes: list[Diagnostic]) -> list[Constraint]:
    parts = _get_key(level, "sub_trans")
    formulas, placeholders, templates = (
        _get_list(parts, "sym_ltl"),
        _get_list(parts, "placeholder"),
        _get_list(parts, "sym_utt"),
    )
    constraints = []
    for number, formula in enumerate(formulas):
        placeholder = placeholders[number] if number < len(placeholders) else None
        text = _fill_formula(file, formula, placeholder)
        sentence = str(sentences[number]) if number < len(sentences) else None
        if (
            sentence is None
            and number < len(templates)
            and isinstance(templates[number], str)
            and isinstance(placeholder, dict)
        ):
            sentence = _fill_placeholders(templates[number], placeholder)
        constraint = Constraint(_formula(file, text, None), text, sentence)
        constraints.append(constraint)
        notes += _compare_with_sentence(file, constraint)
    if not constraints:
        message = "expected a list `sym_ltl` of formulas, with their placeholders"
        raise Unreadable(Diagnostic(SC.UNREADABLE_WORLD, message, (_first(file),)))
    return constraints


def _compare_with_sentence(file: Source, constraint: Constraint) -> list[Diagnostic]:
    """Report a sentence that our grammar reads as another formula, or cannot read."""
    if constraint.sentence is None:
        return []
    try:
        sentence_formula = formula_of(constraint.sentence)
    except NotUnderstood as reason:
        message = f"{constraint.sentence!a} cannot be compared with its formula: {reason}"
        return [Diagnostic(SC.FOREIGN_FORMULA, message, (_first(file),), severity=Severity.NOTE)]
    if parse(sentence_formula) == constraint.formula:
        return []
    message = f"the formula of {constraint.sentence!a} has another meaning: `{constraint.text}`"
    return [
        Diagnostic(
            SC.FOREIGN_FORMULA,
            message,
            (_first(file),),
            notes=("the formula of the file is used",),
            help=f"the sentence means `{sentence_formula}`",
            severity=Severity.NOTE,
        )
    ]


def _fill_formula(file: Source, formula: Any, placeholder: Any) -> str:
    """The formula with names in place of its placeholders."""
    if not isinstance(formula, str) or not isinstance(placeholder, dict):
        message = "a formula must be a string, and its placeholders an object"
        raise Unreadable(Diagnostic(SC.UNREADABLE_WORLD, message, (_first(file),)))
    names = {letter: name for name, letter in placeholder.items() if isinstance(letter, str)}

    def ground(match: re.Match[str]) -> str:
        return "(" + ",".join([names.get(word.strip(), word.strip()) for word in match[1].split(",")]) + ")"

    return _PLACEHOLDER.sub(ground, formula)


def _fill_placeholders(sentence: str, placeholder: dict[str, Any]) -> str:
    names = {letter: name for name, letter in placeholder.items() if isinstance(letter, str)}
    return " ".join([names.get(word, word) for word in sentence.split()])


def _goal(file: Source, states_by_object: Any) -> tuple[str, ...]:
    """Translate a goal such as ``{"radio": {"is_switchedon": true}, "salmon": {"is_in": "fridge"}}`` to PDDL facts."""
    facts = []
    for name, states in states_by_object.items() if isinstance(states_by_object, dict) else ():
        for predicate, value in states.items() if isinstance(states, dict) else ():
            atom = f"{predicate}({name},{value})" if isinstance(value, str) else f"{predicate}({name})"
            fact = str(_formula(file, atom, None))
            facts.append(fact if value is not False else f"(not {fact})")
    return tuple(facts)


def _formula(file: Source, text: str, place: int | None) -> Formula:
    """Parse a formula. ``place`` is its position in the file; ``None`` if the text was composed of several parts."""
    try:
        return parse(text)
    except NotAFormula as error:
        label = _first(file) if place is None else Label(file.name, Span(place + error.span[0], place + error.span[1]))
        notes = () if place is not None else (f"in `{text[:300]}`",)
        raise Unreadable(
            Diagnostic(SC.FOREIGN_FORMULA, str(error), (label,), notes, None if notes else _LINE_ADVICE)
        ) from None


def _room(file: Source, name: str, span: Span) -> str:
    plain = plain_name(name)
    if not re.fullmatch(r"[a-z][a-z0-9-]*", plain):
        raise _unreadable(file, span, f"{name!a} is not a valid name of a room", "a name must begin with a letter")
    return plain


def _load(file: Source) -> Any:
    try:
        return read_json(file.text)
    except BadJson as error:
        span = Span(error.position, min(error.position + 1, len(file.text)))
        raise Unreadable(Diagnostic(SC.UNREADABLE_WORLD, error.message, (Label(file.name, span),))) from None


def _find_entry(file: Source, node: Any, name: str | None, marks: tuple[str, ...]) -> tuple[Any, list[str]]:
    """The entry at a path of keys such as ``rooms/0/0_7/3``, and the path as a list."""
    remaining = [part for part in (name or "").split("/") if part]
    path: list[str] = []
    while isinstance(node, dict) and not any([mark in node for mark in marks]):
        if not remaining:
            message = f"`{file.name}` holds several tasks" + (f" below `{'/'.join(path)}`" if path else "")
            raise Unreadable(_ambiguous_path(file, message, path, node))
        if remaining[0] not in node:
            raise Unreadable(_ambiguous_path(file, f"there is no {remaining[0]!a} in `{file.name}`", path, node))
        path.append(remaining.pop(0))
        node = node[path[-1]]
    if not isinstance(node, dict):
        message = f"expected an object with `{'` or `'.join(marks)}`"
        raise Unreadable(Diagnostic(SC.UNREADABLE_WORLD, message, (_first(file),)))
    return node, path


def _ambiguous_path(file: Source, message: str, path: list[str], node: dict[str, Any]) -> Diagnostic:
    names = ", ".join(["/".join([*path, str(key)])[:60] for key in list(node)[:8]])
    more = " .." if len(node) > 8 else ""
    return Diagnostic(
        SC.AMBIGUOUS_TASK, message, (_first(file),), help=f"`--task` can continue with one of: {names}{more}"
    )


def _get_key(node: Any, key: str) -> Any:
    return node.get(key) if isinstance(node, dict) else None


def _get_list(node: Any, key: str) -> list[Any]:
    value = _get_key(node, key)
    return value if isinstance(value, list) else []


def _first(file: Source) -> Label:
    return Label(file.name, Span(0, min(1, len(file.text))))


def _unreadable(file: Source, span: Span, message: str, advice: str) -> Unreadable:
    return Unreadable(Diagnostic(SC.UNREADABLE_WORLD, message, (Label(file.name, span),), help=advice))


class Home(NamedTuple):
    """The number of each room (``None`` without a number), and the rooms next to each room."""

    rooms: Mapping[str, int | None]
    doors: Mapping[str, tuple[str, ...]]

    def room_of(self, number: int) -> str | None:
        """The room of the object with a number; ``None`` if the rooms have no numbers, or only higher ones."""
        candidates = [(first, room) for room, first in self.rooms.items() if first is not None and first <= number]
        return max(candidates)[1] if candidates else None

    def path(self, start: str, end: str) -> tuple[str, ...]:
        """A shortest path of rooms from ``start`` to ``end``, both included; empty if there is none.

        Of several shortest paths, the first in the order of the doors. Linear in the number of doors.
        """
        predecessors: dict[str, str | None] = {start: None}
        queue = deque([start])
        while queue and end not in predecessors:
            room = queue.popleft()
            for next_room in self.doors.get(room, ()):
                if next_room not in predecessors:
                    predecessors[next_room] = room
                    queue.append(next_room)
        path = []
        current: str | None = end if end in predecessors else None
        while current is not None:
            path.append(current)
            current = predecessors[current]
        return tuple(reversed(path))


def home(rooms: Mapping[str, int | None], doors: Sequence[tuple[str, str]] | None) -> Home:
    """Build a home. If ``doors`` is ``None``, there is a door between any two rooms."""
    pairs = [(a, b) for a in rooms for b in rooms if a < b] if doors is None else doors
    neighbours: dict[str, list[str]] = {room: [] for room in rooms}
    for a, b in pairs:
        neighbours[a].append(b)
        neighbours[b].append(a)
    return Home(dict(rooms), {room: tuple(sorted(set(names))) for room, names in neighbours.items()})


_KITCHEN_IN_THE_MIDDLE = [("bathroom", "kitchen"), ("bedroom", "kitchen"), ("kitchen", "livingroom")]
_IN_A_ROW = [("bathroom", "bedroom"), ("bedroom", "kitchen"), ("kitchen", "livingroom")]

# By the benchmark's name, which is the number of the simulator's scene.
HOMES: Mapping[str, Home] = {
    "0": home({"bathroom": 11, "bedroom": 73, "kitchen": 205, "livingroom": 335}, _IN_A_ROW),
    "1": home({"bathroom": 11, "bedroom": 50, "kitchen": 126, "livingroom": 261}, _KITCHEN_IN_THE_MIDDLE),
}
ROOMS = ("bathroom", "bedroom", "kitchen", "livingroom")
