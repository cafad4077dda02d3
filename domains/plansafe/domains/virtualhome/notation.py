"""The notation of scripts: ``[GRAB] <mug> (1.41)`` and ``<char0> [putin] <apple> (437) <fridge> (305)``, line by line.

Lines above the first step are the title and description. Below it, a line that is no step and no comment is said to be
left out, and one that begins like a step and is none is an error.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity, Span
from plansafe.grammar.source import Source

_LINE = re.compile(r"[^\r\n]+")
_STEP = re.compile(r"(?:<char(\d+)>[ \t]*)?\[([^\[\]<>()]+)\]((?:[ \t]*<[^<>]*>(?:[ \t]*\([^()]*\))?)*)[ \t]*")
_ARGUMENT = re.compile(r"<([^<>]*)>(?:[ \t]*\(([^()]*)\))?")
_MARK = re.compile(r"[ \t]*(?:(?:step[ \t]*)?\d+[.):][ \t]*|[-*][ \t]+)?", re.IGNORECASE)
_PARALLEL = re.compile(r"\|[ \t]*")
_BEHIND = re.compile(r"(?:\[\d+\][ \t]*)?(?:\Z|#|//)")
_MEANT = re.compile(r"[ \t]*(?:\[|<char\d+>)|.*\[\w+\][ \t]*<")
_NUMBER = re.compile(r"(?:\d+\.)?\d+\Z")
_MAX_NOTES = 20


class Argument(NamedTuple):
    """What a step names: a word, and the number behind it as written (``1.41``, ``437``), if there is one."""

    word: str
    number: str | None


class Written(NamedTuple):
    """A step as it stands: ``character`` counts from 0 as in ``<char0>``."""

    action: str
    arguments: tuple[Argument, ...]
    place: Span
    character: int = 0


class Reading(NamedTuple):
    """The steps of a text, and what is to be said about the rest of it."""

    steps: list[Written]
    diagnostics: list[Diagnostic]


def read_lines(source: Source, start: int, end: int) -> Reading:
    """The steps on the lines of a part of a text. Linear in its length."""
    steps: list[Written] = []
    diagnostics: list[Diagnostic] = []
    text, name = source.text, source.name
    known: dict[str, tuple[Argument, ...]] = {}
    for line in _LINE.finditer(text, start, end):
        stop = line.end()
        mark = _MARK.match(text, line.start(), stop)
        begin = mark.end() if mark is not None else line.start()
        found = _STEP.match(text, begin, stop)
        if found is None:
            problem = _no_step(text, name, line.start(), stop, bool(steps))
            if problem is not None:
                diagnostics.append(problem)
            continue
        after = begin
        while found is not None:
            who, action, rest = found.groups()
            arguments = known.get(rest)
            if arguments is None:
                arguments = known[rest] = tuple([Argument(*pair) for pair in _pairs(rest)])
            after = found.end()
            place = Span(begin, begin + len(found.group().rstrip()))
            steps.append(Written(action, arguments, place, int(who) if who else 0))
            bad = [a.number for a in arguments if a.number is not None and _NUMBER.match(a.number) is None]
            if bad:
                diagnostics.append(_error(name, f"`({bad[0]})` is not the number of an object", place))
            parallel = _PARALLEL.match(text, after, stop)
            begin = parallel.end() if parallel is not None else stop
            found = _STEP.match(text, begin, stop)
        if _BEHIND.match(text, after, stop) is None:
            diagnostics.append(_error(name, "this is not part of a step", Span(after, stop)))
    return Reading(steps, capped(diagnostics))


def _pairs(rest: str) -> list[tuple[str, str | None]]:
    return [(word, number.strip() if number else None) for word, number in _ARGUMENT.findall(rest)]


def line_places(text: str, place: Span) -> tuple[Span | None, ...] | None:
    """Where action, character (``None``: not written) and objects stand in a step; ``None`` if it is no line."""
    found = _STEP.match(text, place.start, place.end)
    if found is None:
        return None
    who = Span(found.start(1) - len("<char"), found.end(1) + 1) if found[1] is not None else None
    objects = [Span(*one.span()) for one in _ARGUMENT.finditer(text, *found.span(3))]
    return (Span(*found.span(2)), who, *objects)


def _no_step(text: str, name: str, start: int, stop: int, below: bool) -> Diagnostic | None:
    """What to say about a line that is no step; ``below``: there were steps above it."""
    line = text[start:stop]
    words = line.strip()
    if not words or words.startswith(("#", "//", "```")):
        return None
    place = Span(start + len(line) - len(line.lstrip()), start + len(line.rstrip()))
    if _MEANT.match(line):
        return _error(name, "this line looks like a step but is not one", place)
    if below:
        return Diagnostic(
            SC.FOREIGN_LINE, "this line is not a step and is left out", (Label(name, place),), severity=Severity.WARNING
        )
    return None


def _error(name: str, message: str, place: Span) -> Diagnostic:
    advice = "write a step as `[GRAB] <mug> (1.41)` or `<char0> [putin] <apple> (437) <fridge> (305)`"
    return Diagnostic(SC.FOREIGN_LINE, message, (Label(name, place),), help=advice)


def capped(diagnostics: list[Diagnostic]) -> list[Diagnostic]:
    """The first of many diagnostics, and how many there are."""
    if len(diagnostics) <= _MAX_NOTES:
        return diagnostics
    errors = [d for d in diagnostics if d.severity is Severity.ERROR]
    shown = (errors or diagnostics)[:_MAX_NOTES]
    more = f"and {len(diagnostics) - len(shown)} more like these"
    last = shown.pop()
    return [*shown, last._replace(notes=(*last.notes, more))]
