"""What the reader of scripts needs of a scene: its objects by what scripts call them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from plansafe.domains.virtualhome.graph import Home, Id
from plansafe.domains.virtualhome.names import CHARACTER, squeezed, synonyms
from plansafe.domains.virtualhome.notation import Argument
from plansafe.grammar.diagnostics import Span

if TYPE_CHECKING:
    from plansafe.verifier.execution.engine import Engine


class Mention(NamedTuple):
    """Where a script first names an object that it leaves open, and how."""

    argument: Argument
    place: Span


class Cast(NamedTuple):
    """What the reader of scripts needs of a scene.

    ``objects``: PDDL name and class by number in the graph; ``members``: numbers by squeezed class; ``characters``:
    PDDL names, the first the one of ``<char0>``; ``numbers``: the way back from PDDL names. ``resolved`` remembers what
    arguments mean, and ``engine`` is compiled when a script first leaves something open.
    """

    home: Home
    members: Mapping[str, list[Id]]
    characters: tuple[str, ...]
    numbers: Mapping[str, Id]
    resolved: dict[Argument, str | None]
    engine: list[Engine]


def cast(home: Home) -> Cast:
    """Prepare a graph for reading scripts."""
    members: dict[str, list[Id]] = {}
    for number, node in home.objects.items():
        members.setdefault(squeezed(node.class_name), []).append(number)
    people = [(number, node.name) for number, node in home.objects.items() if node.type == CHARACTER]
    people.sort(key=lambda found: (isinstance(found[0], str), found[0]))
    numbers = {node.name: number for number, node in home.objects.items()}
    return Cast(home, members, tuple([name for _, name in people]), numbers, {}, [])


def candidates(word: str, data: Cast) -> list[str]:
    """The objects that a word may mean: those of its class, then those of classes that mean much the same."""
    return [data.home.objects[number].name for number in candidate_ids(word, data)]


def candidate_ids(word: str, data: Cast) -> list[Id]:
    """The same, by their numbers in the graph."""
    own = squeezed(word)
    out: list[Id] = list(data.members.get(own, ()))
    for other in synonyms().get(own, ()):
        out += data.members.get(other, ())
    return out
