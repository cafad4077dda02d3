"""Read lines of scripts: ``[GRAB] <mug> (1.41)`` and ``<char0> [putin] <apple> (437) <fridge> (305)``.

Lines above the first step are the title and description. Below it, a line that is neither a step nor a comment is
ignored with a warning; a line that begins like a step and is not one is an error.
"""

from __future__ import annotations

import re

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity, Span
from plansafe.grammar.named_tuple import NamedTuple
from plansafe.grammar.source import Source

_LINE = re.compile(r"[^\r\n]+")
_STEP = re.compile(r"(?:<char(\d+)>[ \t]*)?\[([^\[\]<>()]+)\]((?:[ \t]*<[^<>]*>(?:[ \t]*\([^()]*\))?)*)[ \t]*")
_ARGUMENT = re.compile(r"<([^<>]*)>(?:[ \t]*\(([^()]*)\))?")
_MARK = re.compile(r"[ \t]*(?:(?:step[ \t]*)?\d+[.):][ \t]*|[-*][ \t]+)?", re.IGNORECASE)
_PARALLEL = re.compile(r"\|[ \t]*")
_AFTER_STEP = re.compile(r"(?:\[\d+\][ \t]*)?(?:\Z|#|//)")
_LOOKS_LIKE_STEP = re.compile(r"[ \t]*(?:\[|<char\d+>)|.*\[\w+\][ \t]*<")
_NUMBER = re.compile(r"(?:\d+\.)?\d+\Z")
_MAX_NOTES = 20


class Argument(NamedTuple):
    """An argument of a step: a word, and its number as written (``1.41``, ``437``; ``None``: no number)."""

    word: str
    number: str | None


class ScriptStep(NamedTuple):
    """A step as written; ``character`` counts from 0 as in ``<char0>``."""

    action: str
    arguments: tuple[Argument, ...]
    place: Span
    character: int = 0


class ScriptReading(NamedTuple):
    """The steps of a text, and diagnostics about its other parts."""

    steps: list[ScriptStep]
    diagnostics: list[Diagnostic]


def read_lines(source: Source, start: int, end: int) -> ScriptReading:
    """Read the steps on the lines of a part of a text. Linear in its length."""
    steps: list[ScriptStep] = []
    diagnostics: list[Diagnostic] = []
    text, name = source.text, source.name
    arguments_by_text: dict[str, tuple[Argument, ...]] = {}
    for line in _LINE.finditer(text, start, end):
        end_of_line = line.end()
        mark = _MARK.match(text, line.start(), end_of_line)
        begin = mark.end() if mark is not None else line.start()
        match = _STEP.match(text, begin, end_of_line)
        if match is None:
            problem = _report_other_line(text, name, line.start(), end_of_line, bool(steps))
            if problem is not None:
                diagnostics.append(problem)
            continue
        after = begin
        while match is not None:
            who, action, argument_text = match.groups()
            arguments = arguments_by_text.get(argument_text)
            if arguments is None:
                arguments = arguments_by_text[argument_text] = tuple(
                    [Argument(*pair) for pair in _arguments(argument_text)]
                )
            after = match.end()
            place = Span(begin, begin + len(match.group().rstrip()))
            steps.append(ScriptStep(action, arguments, place, int(who) if who else 0))
            bad_numbers = [a.number for a in arguments if a.number is not None and _NUMBER.match(a.number) is None]
            if bad_numbers:
                diagnostics.append(_error(name, f"`({bad_numbers[0]})` is not the number of an object", place))
            parallel = _PARALLEL.match(text, after, end_of_line)
            begin = parallel.end() if parallel is not None else end_of_line
            match = _STEP.match(text, begin, end_of_line)
        if _AFTER_STEP.match(text, after, end_of_line) is None:
            diagnostics.append(_error(name, "this is not part of a step", Span(after, end_of_line)))
    return ScriptReading(steps, limit_diagnostics(diagnostics))


def _arguments(argument_text: str) -> list[tuple[str, str | None]]:
    return [(word, number.strip() if number else None) for word, number in _ARGUMENT.findall(argument_text)]


def line_places(text: str, place: Span) -> tuple[Span | None, ...] | None:
    """The places of action, character (``None``: not written) and objects of a step; ``None`` for other notations."""
    match = _STEP.match(text, place.start, place.end)
    if match is None:
        return None
    who = Span(match.start(1) - len("<char"), match.end(1) + 1) if match[1] is not None else None
    objects = [Span(*argument.span()) for argument in _ARGUMENT.finditer(text, *match.span(3))]
    return (Span(*match.span(2)), who, *objects)


def _report_other_line(text: str, name: str, start: int, stop: int, has_steps_above: bool) -> Diagnostic | None:
    """Report a line that is not a step; ``None`` for comments and for lines above the first step."""
    line = text[start:stop]
    words = line.strip()
    if not words or words.startswith(("#", "//", "```")):
        return None
    place = Span(start + len(line) - len(line.lstrip()), start + len(line.rstrip()))
    if _LOOKS_LIKE_STEP.match(line):
        return _error(name, "this line looks like a step but is not one", place)
    if has_steps_above:
        return Diagnostic(
            SC.FOREIGN_LINE, "this line is not a step and is left out", (Label(name, place),), severity=Severity.WARNING
        )
    return None


def _error(name: str, message: str, place: Span) -> Diagnostic:
    advice = "write a step as `[GRAB] <mug> (1.41)` or `<char0> [putin] <apple> (437) <fridge> (305)`"
    return Diagnostic(SC.FOREIGN_LINE, message, (Label(name, place),), help=advice)


def limit_diagnostics(diagnostics: list[Diagnostic]) -> list[Diagnostic]:
    """The first 20 diagnostics, or errors if there are any, with the number of the rest."""
    if len(diagnostics) <= _MAX_NOTES:
        return diagnostics
    errors = [d for d in diagnostics if d.severity is Severity.ERROR]
    listed = (errors or diagnostics)[:_MAX_NOTES]
    more = f"and {len(diagnostics) - len(listed)} more like these"
    last = listed.pop()
    return [*listed, last._replace(notes=(*last.notes, more))]
