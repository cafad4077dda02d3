"""Read cases of EARBench in the format of its data set: JSON objects whose lists are strings in Python's notation."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from plansafe.domains.json_text import BadJson, read_json
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Span, suggest_name
from plansafe.grammar.source import Source

_TOKEN = re.compile(r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([\[\]{},:]))""", re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_MAX_TOKENS = 5000


class Case(NamedTuple):
    """A case: its identifier, its room, the objects, sentences about positions, and phrases about each object."""

    name: str
    place: str
    objects: tuple[str, ...]
    positions: tuple[str, ...]
    attributes: dict[str, tuple[str, ...]]


class Unreadable(Exception):
    """The file cannot be read as a case; ``diagnostic`` gives the reason."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


def read_case(file: Source, name: str | None) -> Case:
    """Read the only case of a file, or the case with a name from JSON lines or a list. Raises :class:`Unreadable`."""
    cases = _entries(file)
    if len(cases) == 1 and name is None:
        return _case(file, cases[0])
    cases_by_id = {str(case.get("ID")): case for case in cases if isinstance(case, dict)}
    if name is None:
        message = f"the file has {len(cases)} cases, and --task is missing"
        advice = f"give --task ID, for example --task '{next(iter(cases_by_id), '')[:60]}'"
        raise Unreadable(Diagnostic(SC.AMBIGUOUS_TASK, message, (first(file),), help=advice))
    if name not in cases_by_id:
        guess = suggest_name(name, tuple(cases_by_id))
        raise Unreadable(Diagnostic(SC.AMBIGUOUS_TASK, f"there is no case `{name}`", (first(file),), help=guess))
    return _case(file, cases_by_id[name])


def first(file: Source) -> Label:
    """The first character of a file, as the place of messages about the whole file."""
    return Label(file.name, Span(0, min(1, len(file.text))))


def _entries(file: Source) -> list[Any]:
    lines = [(match.start(), match[0]) for match in re.finditer(r"[^\r\n]+", file.text) if match[0].strip()]
    is_json_lines = len(lines) > 1 and all(
        [line.lstrip()[:1] == "{" and line.rstrip()[-1:] == "}" for _, line in lines]
    )
    values = [_load(file, line, start) for start, line in lines] if is_json_lines else [_load(file, file.text, 0)]
    if len(values) == 1 and isinstance(values[0], list):
        values = values[0]
    if not values:
        raise _unreadable(file, "the file has no cases")
    return values


def _load(file: Source, text: str, start: int) -> Any:
    try:
        return read_json(text)
    except BadJson as error:
        position = start + error.position
        label = Label(file.name, Span(position, min(position + 1, len(file.text))))
        raise Unreadable(Diagnostic(SC.UNREADABLE_WORLD, error.message, (label,))) from None


def _case(file: Source, entry: Any) -> Case:
    if not isinstance(entry, dict):
        raise _unreadable(file, "a case must be an object with `Objects`, `Objects Positions` and `Objects Attributes`")
    objects = _strings(file, entry, "Objects")
    if not objects:
        raise _unreadable(file, "the case has no `Objects`")
    attributes_value = entry.get("Objects Attributes")
    attributes = (
        _attributes(attributes_value)
        if isinstance(attributes_value, dict)
        else _parse_python_literal(attributes_value or "{}")
    )
    if not isinstance(attributes, dict):
        raise _unreadable(file, "`Objects Attributes` must be an object that maps each thing to its attributes")
    place = entry.get("Scene")
    name = str(entry.get("ID") or "scene")
    return Case(name, str(place or ""), objects, _strings(file, entry, "Objects Positions"), attributes)


def _strings(file: Source, entry: dict[str, Any], key: str) -> tuple[str, ...]:
    entry_value = entry.get(key)
    value = list(entry_value) if isinstance(entry_value, list) else _parse_python_literal(entry_value or "[]")
    if not isinstance(value, list) or not all([isinstance(item, str) for item in value]):
        raise _unreadable(file, f"`{key}` must be a list of strings")
    return tuple(value)


def _attributes(phrases_by_object: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    return {
        name: tuple([item for item in (phrases if isinstance(phrases, list) else [phrases]) if isinstance(item, str)])
        for name, phrases in phrases_by_object.items()
    }


def _parse_python_literal(text: Any) -> list[str] | dict[str, tuple[str, ...]] | None:
    """Parse a list of strings, or a dictionary of such lists, in Python's notation; ``None`` for other texts."""
    tokens = _tokens(text) if isinstance(text, str) else None
    if not tokens or len(tokens) < 2:
        return None
    if tokens[0] == "[" and tokens[-1] == "]":
        inner = tokens[1:-1]
        return None if any([token in "[]{}:" for token in inner]) else [token[1:] for token in inner if token != ","]
    if tokens[0] != "{" or tokens[-1] != "}":
        return None
    phrases_by_object: dict[str, list[str]] = {}
    for position, token in enumerate(tokens[1:-1], 1):
        if token[0] == '"' and tokens[position + 1] == ":":
            phrases_by_object[token[1:]] = []
        elif token[0] == '"':
            if not phrases_by_object:
                return None
            phrases_by_object[next(reversed(phrases_by_object))].append(token[1:])
    return {name: tuple(phrases) for name, phrases in phrases_by_object.items()}


def _tokens(text: str) -> list[str] | None:
    """The tokens of a text: punctuation, and strings prefixed with a quotation mark; ``None`` for other texts."""
    tokens: list[str] = []
    position = 0
    text = text.rstrip()
    while position < len(text):
        token = _TOKEN.match(text, position)
        if token is None or len(tokens) > _MAX_TOKENS:
            return None
        string = token[1] if token[1] is not None else token[2]
        tokens.append(token[3] if string is None else '"' + _ESCAPE.sub(r"\1", string))
        position = token.end()
    return tokens


def _unreadable(file: Source, message: str) -> Unreadable:
    return Unreadable(Diagnostic(SC.UNREADABLE_WORLD, message, (first(file),)))
