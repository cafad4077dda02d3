"""Read plans of language models in JSON: ``{"WALK": ["bathroom", "1"], "GRAB": ["novel", 1000]}``.

Each pair of an object is a step, in the order of the text; a key that occurs twice is two steps. Lists of such objects,
and of lines of a script, are also read.
"""

from __future__ import annotations

import re

from plansafe.domains.virtualhome.script_lines import Argument, ScriptReading, ScriptStep, limit_diagnostics, read_lines
from plansafe.grammar.codes import SC
from plansafe.grammar.data_literals import DataValue, MalformedValue, NestedTooDeep, TruncatedValue, parse_value
from plansafe.grammar.diagnostics import Diagnostic, Label, Span
from plansafe.grammar.source import Source

_WRAPPERS = frozenset(("actions", "plan", "steps", "script", "action_sequence", "output"))
_DIGITS = re.compile(r"\d+\Z")


def read_object(source: Source, start: int, end: int) -> ScriptReading:
    """Read the steps of the JSON value that begins with the bracket at ``start``. Linear in its length."""
    try:
        value, after = parse_value(source.text, start, end)
    except NestedTooDeep as error:
        return _refused(source, "the JSON text is nested too deeply", Span(error.start, error.start + 1))
    except MalformedValue as error:
        place = Span(error.start, min(error.start + 1, len(source.text)))
        return _refused(source, "the plan is neither JSON nor a script", place)
    except TruncatedValue as error:
        return _refused(source, "the text ends inside this value", Span(error.start, error.start + 1))
    text_after = source.text[after:end].strip()
    reading = ScriptReading([], [])
    if text_after and not text_after.startswith(("`", "#")):
        line = source.text.find(text_after[:1], after, end)
        reading.diagnostics.append(_error(source, "text after the plan", Span(line, line + len(text_after))))
    _steps(source, value, reading)
    return reading._replace(diagnostics=limit_diagnostics(reading.diagnostics))


def _refused(source: Source, message: str, place: Span) -> ScriptReading:
    return ScriptReading([], [_error(source, message, place)])


def _error(source: Source, message: str, place: Span) -> Diagnostic:
    advice = 'write a plan in JSON as {"WALK": ["bathroom", 1], "STANDUP": []}, or a list of such objects'
    return Diagnostic(SC.FOREIGN_LINE, message, (Label(source.name, place),), help=advice)


def _steps(source: Source, value: DataValue, reading: ScriptReading) -> None:
    """Add the steps of a value, which may be nested lists of objects."""
    stack = [value]
    while stack:
        item = stack.pop()
        if item.kind == "list":
            stack += reversed(item.items)
        elif item.kind == "object":
            pairs = item.pairs
            if len(pairs) == 1 and pairs[0][0].text.lower() in _WRAPPERS and pairs[0][1].kind in ("list", "object"):
                stack.append(pairs[0][1])
                continue
            for key, arguments in pairs:
                _pair(source, key, arguments, reading)
        elif item.kind == "string" and item.exact:
            line = read_lines(source, item.start + 1, item.end - 1)
            reading.steps.extend(line.steps)
            reading.diagnostics.extend(line.diagnostics)
            if not line.steps and not line.diagnostics and item.text.strip():
                reading.diagnostics.append(_error(source, "this text is not a step", Span(item.start, item.end)))
        else:
            reading.diagnostics.append(_error(source, "this is not a step", Span(item.start, item.end)))


def _pair(source: Source, key: DataValue, arguments: DataValue, reading: ScriptReading) -> None:
    place = Span(key.start, arguments.end)
    items = arguments.items if arguments.kind == "list" else () if arguments.kind == "object" else (arguments,)
    if arguments.kind == "object" or not all([item.kind in ("string", "bare") for item in items]):
        message = "the objects of a step must be a list of names and numbers"
        reading.diagnostics.append(_error(source, message, Span(arguments.start, arguments.end)))
        return
    reading.steps.append(ScriptStep(key.text, tuple([argument for argument, _ in _arguments(items)]), place))


def _arguments(items: tuple[DataValue, ...]) -> list[tuple[Argument, Span]]:
    """The arguments of a step with their places; a number belongs to the word before it."""
    arguments: list[tuple[Argument, Span]] = []
    for item in items:
        text = item.text.strip()
        if _DIGITS.match(text) and arguments and arguments[-1][0].number is None:
            (word, _), place = arguments[-1]
            arguments[-1] = Argument(word, text), Span(place.start, item.end)
        elif text and text not in ("null", "None"):
            arguments.append((Argument(text, None), Span(item.start, item.end)))
    return arguments


def argument_places(text: str, place: Span) -> tuple[Span | None, ...] | None:
    """The places of the action and objects of a pair ``"WALK": ["kitchen", 11]``; ``None`` if it cannot be read."""
    pair = "{" + text[place.start : place.end] + "}"
    try:
        value = parse_value(pair, 0, len(pair))[0]
    except TruncatedValue:
        return None
    if value.kind != "object" or len(value.pairs) != 1:
        return None
    key, arguments = value.pairs[0]
    items = arguments.items if arguments.kind == "list" else () if arguments.kind == "object" else (arguments,)
    offset = place.start - 1
    spans = [Span(span.start + offset, span.end + offset) for _, span in _arguments(items)]
    return (Span(key.start + offset + 1, key.end + offset - 1), None, *spans)
