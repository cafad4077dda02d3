"""Constraints in words: the seven kinds of the benchmark, in the words of its sentences and in others."""

from __future__ import annotations

import pytest

from plansafe.domains.safety_chip.sentences import formula_of


@pytest.mark.parametrize(
    ("sentence", "formula"),
    [
        ("never go to the pantry", "G ! agent_at(pantry)"),
        ("always avoid the kitchen table", "G ! agent_at(kitchentable)"),
        ("don't put mug in the microwave", "G ! is_in(mug,microwave)"),
        ("you have to enter bedroom before going into living room", "W ! agent_at(livingroom) agent_at(bedroom)"),
        ("don't go to garage if you haven't been to kitchen", "W ! agent_at(garage) agent_at(kitchen)"),
        (
            "before you switch on tv you must pick up the remote control",
            "W ! is_switchedon(tv) is_grabbed(remotecontrol)",
        ),
        ("you can turn on oven only after opening window", "W ! is_switchedon(oven) is_open(window)"),
        ("go to kitchen means you cannot go to bedroom", None),
        ("if you have been to kitchen, you have to go to bathroom", "G i agent_at(kitchen) F agent_at(bathroom)"),
        ("you have to wash hands before dinner", None),
        ("once you have picked up the knife, you cannot go to bedroom", "G i is_grabbed(knife) G ! agent_at(bedroom)"),
        ("you must visit kitchen right after living room", "G i agent_at(livingroom) X agent_at(kitchen)"),
        ("remember to close the fridge if you open it", "G i is_open(fridge) F ! is_open(fridge)"),
        ("pick up mug before you put it in the sink", "W ! is_in(mug,sink) is_grabbed(mug)"),
        (
            "you can visit a at most once",
            "! F & agent_at(a) U agent_at(a) & ! agent_at(a) U ! agent_at(a) F agent_at(a)",
        ),
        ("never go to the bath,room", None),
        ("do a cartwheel", None),
        ("", None),
        ("never " + "go to " * 100 + "kitchen", None),
    ],
)
def test_reads_or_says_that_it_cannot(sentence: str, formula: str | None) -> None:
    assert formula_of(sentence) == formula


def test_more_visits_are_more_blocks() -> None:
    thrice = formula_of("you can go to bathroom for at most three times")
    assert thrice is not None
    assert thrice == formula_of("you cannot visit bathroom for more than three times")
    assert thrice.count(" U ") == 6
    assert formula_of("only visiting bathroom less than four times is allowed") == thrice
