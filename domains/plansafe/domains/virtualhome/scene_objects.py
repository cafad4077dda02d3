"""The objects of a scene by the words of scripts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from plansafe.domains.virtualhome.graph import Home, Id
from plansafe.domains.virtualhome.names import CHARACTER, letters_of, synonyms
from plansafe.domains.virtualhome.script_lines import Argument
from plansafe.grammar.diagnostics import Span

if TYPE_CHECKING:
    from plansafe.verifier.execution.engine import Engine


class Mention(NamedTuple):
    """The first mention of an object that a script leaves open, as written, with the place of its step."""

    argument: Argument
    place: Span


class SceneObjects(NamedTuple):
    """The objects of a scene, for the reader of scripts.

    ``members``: numbers in the graph by class (letters); ``characters``: PDDL names, ``<char0>`` first; ``numbers``:
    numbers by PDDL name. ``resolved`` is a cache of arguments, and ``engine`` is compiled when a script first leaves an
    object open.
    """

    home: Home
    members: Mapping[str, list[Id]]
    characters: tuple[str, ...]
    numbers: Mapping[str, Id]
    resolved: dict[Argument, str | None]
    engine: list[Engine]


def index_objects(home: Home) -> SceneObjects:
    """Index the objects of a graph."""
    members: dict[str, list[Id]] = {}
    for number, node in home.objects.items():
        members.setdefault(letters_of(node.class_name), []).append(number)
    characters = [(number, node.name) for number, node in home.objects.items() if node.type == CHARACTER]
    characters.sort(key=lambda entry: (isinstance(entry[0], str), entry[0]))
    numbers = {node.name: number for number, node in home.objects.items()}
    return SceneObjects(home, members, tuple([name for _, name in characters]), numbers, {}, [])


def candidates(word: str, data: SceneObjects) -> list[str]:
    """The objects that a word can mean: objects of its class, then of classes with a similar meaning."""
    return [data.home.objects[number].name for number in candidate_ids(word, data)]


def candidate_ids(word: str, data: SceneObjects) -> list[Id]:
    """The numbers in the graph of the objects that a word can mean."""
    class_name = letters_of(word)
    numbers: list[Id] = list(data.members.get(class_name, ()))
    for synonym in synonyms().get(class_name, ()):
        numbers += data.members.get(synonym, ())
    return numbers
