"""The constraints of a task, from the benchmark's files or from lines of prefix LTL, and the home that they are about.

The benchmark's translations nest setting, scene, task and level (``mobile_manip/0/3_3/2_diverse``); each level has one
formula for each sentence, over placeholders. The tasks nest setting, scene and task, and say what the sentences are,
where the agent starts and what is to be true at the end.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from plansafe.domains.json_text import BadJson, read_json
from plansafe.domains.safety_chip.homes import HOMES, ROOMS, Home, home
from plansafe.domains.safety_chip.prefix import Formula, NotAFormula, parse, plain_name
from plansafe.domains.safety_chip.sentences import NotUnderstood, formula_of
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity, Span
from plansafe.grammar.source import Source

_PLACEHOLDER = re.compile(r"\(([^()]*)\)")


class Constraint(NamedTuple):
    """A formula with its text, and the sentence that it stands for, if there is one."""

    formula: Formula
    text: str
    sentence: str | None = None


class Task(NamedTuple):
    """What the files say: the home, where the agent starts, the constraints, and what the goal is, as PDDL."""

    home: Home
    start: str | None
    constraints: tuple[Constraint, ...]
    goal: tuple[str, ...] = ()
    notes: tuple[Diagnostic, ...] = ()


_LINES = "write a formula such as `G ! agent_at(kitchen)`, or begin the line with home, room, door or start"


class Unreadable(Exception):
    """The diagnostic that says why there is no task."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


def from_lines(file: Source) -> Task:
    """Read a file of lines. Raises :class:`Unreadable`.

    A line is a formula; ``room NAME [NUMBER]``, ``door ROOM ROOM``, ``start ROOM`` or ``home NUMBER``; or empty; ``#``
    starts a comment. Without rooms there are the four of the benchmark; without doors, every room leads to every other.
    """
    rooms: dict[str, int | None] = {}
    doors: list[tuple[str, str, Span]] = []
    known: Home | None = None
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
                known = HOMES[number]
            case ["room", name] | ["room", name, _]:
                if len(words) == 3 and not words[2].isdecimal():
                    raise _unreadable(file, span, "the number of a room must be a number", "write `room NAME [NUMBER]`")
                rooms[_room(file, name, span)] = int(words[2][:18]) if len(words) == 3 else None
            case ["door", one, other]:
                doors.append((_room(file, one, span), _room(file, other, span), span))
            case ["start", name]:
                start = (_room(file, name, span), span)
            case _:
                constraints.append(Constraint(_formula(file, line, match.start()), " ".join(words)))
    if not constraints and not file.text.strip():
        raise _unreadable(file, Span(0, 0), "the file is empty", _LINES)
    if known is None:
        rooms = rooms or dict.fromkeys(ROOMS)
        for one, other, span in doors:
            for name in (one, other):
                if name not in rooms:
                    raise _unreadable(file, span, f"there is no room {name!a}", f"declare it: `room {name}`")
        known = home(rooms, [(one, other) for one, other, _ in doors] or None)
    if start is not None and start[0] not in known.rooms:
        raise _unreadable(file, start[1], f"there is no room {start[0]!a}", f"rooms: {', '.join(known.rooms)}")
    return Task(known, start[0] if start else None, tuple(constraints))


def from_benchmark(file: Source, tasks: Source | None, name: str | None) -> Task:
    """Read the task ``name`` of the benchmark's translations, and of its tasks if they are given.

    Raises :class:`Unreadable`.
    """
    level, path = _descend(file, _load(file), name, ("sub_trans", "unified_trans"))
    described: Any = {}
    if tasks is not None and len(path) > 1:
        described, _ = _descend(tasks, _load(tasks), "/".join(path[:-1]), ("constraints", "init_room"))
    scene = path[1] if len(path) > 1 else ""
    notes = []
    if scene not in HOMES:
        message = (
            f"the home of the scene {scene!a} is unknown: every room is assumed to have a door to every other room"
        )
        notes.append(Diagnostic(SC.FOREIGN_SCENE, message, (_first(file),), severity=Severity.NOTE))
    there = HOMES.get(scene) or home(dict.fromkeys(ROOMS), None)
    sentences = _get(_get(described, "constraints"), path[-1] if path else "")
    constraints = _constraints(file, level, sentences if isinstance(sentences, list) else [], notes)
    start = _get(described, "init_room")
    if start is not None and plain_name(str(start)) not in there.rooms:
        assert tasks is not None
        raise Unreadable(Diagnostic(SC.UNREADABLE_WORLD, f"the room {start!a} is not in the home", (_first(tasks),)))
    return Task(
        there,
        None if start is None else plain_name(str(start)),
        tuple(constraints),
        _goal(tasks, _get(described, "goal_state")) if tasks is not None else (),
        tuple(notes),
    )


def _constraints(file: Source, level: Any, sentences: list[Any], notes: list[Diagnostic]) -> list[Constraint]:
    parts = _get(level, "sub_trans")
    formulas, holders, said = _list(parts, "sym_ltl"), _list(parts, "placeholder"), _list(parts, "sym_utt")
    constraints = []
    for number, written in enumerate(formulas):
        holder = holders[number] if number < len(holders) else None
        text = _grounded(file, written, holder)
        sentence = str(sentences[number]) if number < len(sentences) else None
        if sentence is None and number < len(said) and isinstance(said[number], str) and isinstance(holder, dict):
            sentence = _put_back(said[number], holder)
        constraint = Constraint(_formula(file, text, None), text, sentence)
        constraints.append(constraint)
        notes += _doubts(file, constraint)
    if not constraints:
        message = "expected a list `sym_ltl` of formulas, with their placeholders"
        raise Unreadable(Diagnostic(SC.UNREADABLE_WORLD, message, (_first(file),)))
    return constraints


def _doubts(file: Source, constraint: Constraint) -> list[Diagnostic]:
    """A note if the sentence, read by itself, is another formula, or cannot be read."""
    if constraint.sentence is None:
        return []
    try:
        meant = formula_of(constraint.sentence)
    except NotUnderstood as why:
        message = f"{constraint.sentence!a} cannot be compared with its formula: {why}"
        return [Diagnostic(SC.FOREIGN_FORMULA, message, (_first(file),), severity=Severity.NOTE)]
    if parse(meant) == constraint.formula:
        return []
    message = f"the formula of {constraint.sentence!a} has another meaning: `{constraint.text}`"
    return [
        Diagnostic(
            SC.FOREIGN_FORMULA,
            message,
            (_first(file),),
            notes=("the formula of the file is used",),
            help=f"the sentence means `{meant}`",
            severity=Severity.NOTE,
        )
    ]


def _grounded(file: Source, written: Any, holder: Any) -> str:
    """The formula with the names that its placeholders stand for."""
    if not isinstance(written, str) or not isinstance(holder, dict):
        message = "a formula must be a string, and its placeholders an object"
        raise Unreadable(Diagnostic(SC.UNREADABLE_WORLD, message, (_first(file),)))
    names = {letter: thing for thing, letter in holder.items() if isinstance(letter, str)}

    def ground(found: re.Match[str]) -> str:
        return "(" + ",".join([names.get(word.strip(), word.strip()) for word in found[1].split(",")]) + ")"

    return _PLACEHOLDER.sub(ground, written)


def _put_back(sentence: str, holder: dict[str, Any]) -> str:
    names = {letter: thing for thing, letter in holder.items() if isinstance(letter, str)}
    return " ".join([names.get(word, word) for word in sentence.split()])


def _goal(file: Source, wanted: Any) -> tuple[str, ...]:
    """``{"radio": {"is_switchedon": true}, "salmon": {"is_in": "fridge"}}`` as facts of PDDL."""
    facts = []
    for thing, states in wanted.items() if isinstance(wanted, dict) else ():
        for predicate, value in states.items() if isinstance(states, dict) else ():
            atom = f"{predicate}({thing},{value})" if isinstance(value, str) else f"{predicate}({thing})"
            fact = str(_formula(file, atom, None))
            facts.append(fact if value is not False else f"(not {fact})")
    return tuple(facts)


def _formula(file: Source, text: str, place: int | None) -> Formula:
    """``place``: where the text is in the file; ``None``: it was put together from several places."""
    try:
        return parse(text)
    except NotAFormula as wrong:
        label = _first(file) if place is None else Label(file.name, Span(place + wrong.span[0], place + wrong.span[1]))
        notes = () if place is not None else (f"in `{text[:300]}`",)
        raise Unreadable(
            Diagnostic(SC.FOREIGN_FORMULA, str(wrong), (label,), notes, None if notes else _LINES)
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


def _descend(file: Source, node: Any, name: str | None, marks: tuple[str, ...]) -> tuple[Any, list[str]]:
    """The entry that a path of keys such as ``rooms/0/0_7/3`` leads to, and the path."""
    ahead = [part for part in (name or "").split("/") if part]
    path: list[str] = []
    while isinstance(node, dict) and not any([mark in node for mark in marks]):
        if not ahead:
            message = f"`{file.name}` holds several tasks" + (f" below `{'/'.join(path)}`" if path else "")
            raise Unreadable(_which(file, message, path, node))
        if ahead[0] not in node:
            raise Unreadable(_which(file, f"there is no {ahead[0]!a} in `{file.name}`", path, node))
        path.append(ahead.pop(0))
        node = node[path[-1]]
    if not isinstance(node, dict):
        message = f"expected an object with `{'` or `'.join(marks)}`"
        raise Unreadable(Diagnostic(SC.UNREADABLE_WORLD, message, (_first(file),)))
    return node, path


def _which(file: Source, message: str, path: list[str], node: dict[str, Any]) -> Diagnostic:
    names = ", ".join(["/".join([*path, str(key)])[:60] for key in list(node)[:8]])
    more = " .." if len(node) > 8 else ""
    return Diagnostic(
        SC.AMBIGUOUS_TASK, message, (_first(file),), help=f"`--task` can continue with one of: {names}{more}"
    )


def _get(node: Any, key: str) -> Any:
    return node.get(key) if isinstance(node, dict) else None


def _list(node: Any, key: str) -> list[Any]:
    found = _get(node, key)
    return found if isinstance(found, list) else []


def _first(file: Source) -> Label:
    return Label(file.name, Span(0, min(1, len(file.text))))


def _unreadable(file: Source, span: Span, message: str, advice: str) -> Unreadable:
    return Unreadable(Diagnostic(SC.UNREADABLE_WORLD, message, (Label(file.name, span),), help=advice))
