"""The places of names in files of worlds whose readers do not report places."""

from __future__ import annotations

import pytest

from plansafe.domains.text_places import object_place, word_places
from plansafe.domains.world import no_scene
from plansafe.domains.worlds import world
from plansafe.grammar.diagnostics import Span
from plansafe.grammar.source import Source


@pytest.mark.parametrize(
    ("name", "text", "words", "named_parts"),
    [
        ("roboguard", "inspect(Person_1, 'is he hurt?')", ("inspect", "person_1"), ["inspect", "Person_1"]),
        ("roboguard", "goto(ground_1)", ("goto", "ground_1"), ["goto", "ground_1"]),
        ("earbench", "pour cup_1 into cup_1", ("pour", "agent", "cup_1", "cup_1"), ["pour", None, "cup_1", "cup_1"]),
        ("safeagentbench", "find the Mug", ("find", "mug_2"), ["find", None]),
    ],
)
def test_words_with_the_same_letters_are_found(
    name: str, text: str, words: tuple[str, ...], named_parts: list[str | None]
) -> None:
    places = word_places(world(name), Source("plan", text), Span(0, len(text)), words)
    assert [None if place is None else text[place.start : place.end] for place in places] == named_parts


def test_an_object_is_found_as_a_whole_word() -> None:
    source = Source("graph.json", '{"regions": ["ground_10", "Ground_1", "my-ground_1"]}')
    place = object_place(world("roboguard"), source, no_scene(), "ground_1")
    assert place is not None
    assert source.text[place.start : place.end] == "Ground_1"
    assert object_place(world("roboguard"), source, no_scene(), "ground") is None
    assert object_place(world("roboguard"), source, no_scene(), "(") is None
