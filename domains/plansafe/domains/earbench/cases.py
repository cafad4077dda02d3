"""Cases of EARBench as its data set has them: objects of JSON whose lists are written as Python's, one or several."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from plansafe.domains.json_text import BadJson, read_json
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Span, suggest_name
from plansafe.grammar.source import Source

_TOKEN = re.compile(r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([\[\]{},:]))""", re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_MOST = 5000


class Case(NamedTuple):
    """What a scene says: its identifier, the place, the objects, where they are, and what is said of each."""

    name: str
    place: str
    objects: tuple[str, ...]
    positions: tuple[str, ...]
    attributes: dict[str, tuple[str, ...]]


class Unreadable(Exception):
    """The diagnostic that says why there is no task."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


def read_case(file: Source, name: str | None) -> Case:
    """The case of a file that is meant: its only one, or of JSON lines (or a list) the one called so.

    Raises :class:`Unreadable`.
    """
    cases = _entries(file)
    if len(cases) == 1 and name is None:
        return _case(file, cases[0])
    named = {str(case.get("ID")): case for case in cases if isinstance(case, dict)}
    if name is None:
        message = f"the file has {len(cases)} cases, and --task is missing"
        advice = f"give --task ID, for example --task '{next(iter(named), '')[:60]}'"
        raise Unreadable(Diagnostic(SC.AMBIGUOUS_TASK, message, (first(file),), help=advice))
    if name not in named:
        guess = suggest_name(name, tuple(named))
        raise Unreadable(Diagnostic(SC.AMBIGUOUS_TASK, f"there is no case `{name}`", (first(file),), help=guess))
    return _case(file, named[name])


def first(file: Source) -> Label:
    """The beginning of a file, for what is about all of it."""
    return Label(file.name, Span(0, min(1, len(file.text))))


def _entries(file: Source) -> list[Any]:
    lines = [(found.start(), found[0]) for found in re.finditer(r"[^\r\n]+", file.text) if found[0].strip()]
    many = len(lines) > 1 and all([line.lstrip()[:1] == "{" and line.rstrip()[-1:] == "}" for _, line in lines])
    values = [_load(file, line, start) for start, line in lines] if many else [_load(file, file.text, 0)]
    if len(values) == 1 and isinstance(values[0], list):
        values = values[0]
    if not values:
        raise _wrong(file, "the file has no cases")
    return values


def _load(file: Source, text: str, start: int) -> Any:
    try:
        return read_json(text)
    except BadJson as error:
        at = start + error.position
        label = Label(file.name, Span(at, min(at + 1, len(file.text))))
        raise Unreadable(Diagnostic(SC.UNREADABLE_WORLD, error.message, (label,))) from None


def _case(file: Source, entry: Any) -> Case:
    if not isinstance(entry, dict):
        raise _wrong(file, "a case must be an object with `Objects`, `Objects Positions` and `Objects Attributes`")
    objects = _strings(file, entry, "Objects")
    if not objects:
        raise _wrong(file, "the case has no `Objects`")
    said = entry.get("Objects Attributes")
    attributes = _attributes(said) if isinstance(said, dict) else _written(said or "{}")
    if not isinstance(attributes, dict):
        raise _wrong(file, "`Objects Attributes` must be an object that maps each thing to its attributes")
    place = entry.get("Scene")
    name = str(entry.get("ID") or "scene")
    return Case(name, str(place or ""), objects, _strings(file, entry, "Objects Positions"), attributes)


def _strings(file: Source, entry: dict[str, Any], key: str) -> tuple[str, ...]:
    said = entry.get(key)
    value = list(said) if isinstance(said, list) else _written(said or "[]")
    if not isinstance(value, list) or not all([isinstance(item, str) for item in value]):
        raise _wrong(file, f"`{key}` must be a list of strings")
    return tuple(value)


def _attributes(said: dict[str, Any]) -> dict[str, tuple[str, ...]]:
    return {
        thing: tuple([item for item in (words if isinstance(words, list) else [words]) if isinstance(item, str)])
        for thing, words in said.items()
    }


def _written(text: Any) -> list[str] | dict[str, tuple[str, ...]] | None:
    """A list of strings, or strings with such lists, as Python writes them; ``None`` if the text is neither."""
    tokens = _tokens(text) if isinstance(text, str) else None
    if not tokens or len(tokens) < 2:
        return None
    if tokens[0] == "[" and tokens[-1] == "]":
        inner = tokens[1:-1]
        return None if any([token in "[]{}:" for token in inner]) else [token[1:] for token in inner if token != ","]
    if tokens[0] != "{" or tokens[-1] != "}":
        return None
    found: dict[str, list[str]] = {}
    for at, token in enumerate(tokens[1:-1], 1):
        if token[0] == '"' and tokens[at + 1] == ":":
            found[token[1:]] = []
        elif token[0] == '"':
            if not found:
                return None
            found[next(reversed(found))].append(token[1:])
    return {thing: tuple(words) for thing, words in found.items()}


def _tokens(text: str) -> list[str] | None:
    """The tokens of a text: signs, and strings with a quotation mark before each; ``None`` if there is more."""
    found: list[str] = []
    at = 0
    text = text.rstrip()
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None or len(found) > _MOST:
            return None
        written = token[1] if token[1] is not None else token[2]
        found.append(token[3] if written is None else '"' + _ESCAPE.sub(r"\1", written))
        at = token.end()
    return found


def _wrong(file: Source, message: str) -> Unreadable:
    return Unreadable(Diagnostic(SC.UNREADABLE_WORLD, message, (first(file),)))
