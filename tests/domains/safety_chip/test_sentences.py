"""Constraints in words: the seven kinds of the benchmark, in its own words and in other words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from plansafe.domains.safety_chip.prefix import parse
from plansafe.domains.safety_chip.sentences import NotUnderstood, formula_of


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
        ("go to kitchen means you cannot go to bedroom", "G i agent_at(kitchen) G ! agent_at(bedroom)"),
        ("if you have been to kitchen, you have to go to bathroom", "G i agent_at(kitchen) F agent_at(bathroom)"),
        ("once you have picked up the knife, you cannot go to bedroom", "G i is_grabbed(knife) G ! agent_at(bedroom)"),
        ("you must visit kitchen right after living room", "G i agent_at(livingroom) X agent_at(kitchen)"),
        ("remember to close the fridge if you open it", "G i is_open(fridge) F ! is_open(fridge)"),
        ("pick up mug before you put it in the sink", "W ! is_in(mug,sink) is_grabbed(mug)"),
        (
            "you can visit a at most once",
            "! F & agent_at(a) U agent_at(a) & ! agent_at(a) U ! agent_at(a) F agent_at(a)",
        ),
        # forms that the benchmark's public sentences lack
        ("Please stay away from the bathroom.", "G ! agent_at(bathroom)"),
        ("entering the bathroom is forbidden", "G ! agent_at(bathroom)"),
        ("don't go to kitchen or bathroom", "G ! | agent_at(kitchen) agent_at(bathroom)"),
        ("never leave the fridge open", "G i is_open(fridge) F ! is_open(fridge)"),
        ("always close the fridge after opening it", "G i is_open(fridge) F ! is_open(fridge)"),
        ("don't go to bedroom while the tv is on", "G i is_switchedon(tv) ! agent_at(bedroom)"),
        ("unless you have visited kitchen, do not enter bedroom", "W ! agent_at(bedroom) agent_at(kitchen)"),
        ("only go to the bedroom if you have visited the kitchen", "W ! agent_at(bedroom) agent_at(kitchen)"),
        ("to enter the bedroom, you must first go to kitchen", "W ! agent_at(bedroom) agent_at(kitchen)"),
        ("kitchen must be visited before bedroom", "W ! agent_at(bedroom) agent_at(kitchen)"),
        ("if you don't visit kitchen, you can't enter bedroom", "W ! agent_at(bedroom) agent_at(kitchen)"),
        ("as soon as you enter living room you must go to kitchen", "G i agent_at(livingroom) X agent_at(kitchen)"),
        ("after visiting the kitchen, you are not allowed to enter a", "G i agent_at(kitchen) G ! agent_at(a)"),
        ("visit kitchen at least once", "F agent_at(kitchen)"),
        ("place mug on the coffee table before you touch it", "W ! is_touched(mug) is_on(mug,coffeetable)"),
        ("place mug in the sofa before you touch it", "W ! is_touched(mug) is_on(mug,sofa)"),
        ("you are not allowed in the bedroom", "G ! agent_at(bedroom)"),
        ("The robot must not visit the kitchen", "G ! agent_at(kitchen)"),
        ("under no circumstances should you enter the bathroom", "G ! agent_at(bathroom)"),
        ("you may never set foot in the bedroom", "G ! agent_at(bedroom)"),
        ("no visiting the bathroom before the kitchen", "W ! agent_at(bathroom) agent_at(kitchen)"),
        ("visit the bedroom at some point", "F agent_at(bedroom)"),
        ("make sure the tv is off in the end", "F G ! is_switchedon(tv)"),
        ("the fridge must be closed at the end", "F G ! is_open(fridge)"),
        ("you have to visit the kitchen and the bathroom", "& F agent_at(kitchen) F agent_at(bathroom)"),
        ("you must go to either the kitchen or the bedroom", "F | agent_at(kitchen) agent_at(bedroom)"),
    ],
)
def test_reads_the_kinds_in_many_words(sentence: str, formula: str) -> None:
    assert parse(formula_of(sentence)) == parse(formula)


@pytest.mark.parametrize(
    ("sentence", "reason"),
    [
        ("you have to wash hands before dinner", "they contain no proposition of this home world"),
        ("you have to turn off the tv before leaving the kitchen", "'leaving the kitchen'"),
        (
            "never go to the bath,room",
            "'never go to the bath,room' does not correspond to a proposition of this home world",
        ),
        ("do a cartwheel", "'do a cartwheel'"),
        ("kitchen", "neither required nor forbidden"),
        ("do not enter the kitchen again", "neither required nor forbidden"),
        ("", "the sentence is empty"),
        ("never " + "go to " * 100 + "kitchen", "more than 200 characters"),
    ],
)
def test_an_inexpressible_sentence_is_refused_with_a_reason(sentence: str, reason: str) -> None:
    with pytest.raises(NotUnderstood, match=reason):
        formula_of(sentence)


def test_nearly_all_public_sentences_are_understood(data: Path) -> None:
    folder = data / "safety-chip-ltl"
    if not folder.is_dir():
        pytest.skip(f"no sentences at {folder}")
    tasks = json.loads((folder / "task_constraints.json").read_text(encoding="utf-8"))
    scenes = [scene for setting in tasks.values() for scene in setting.values()]
    levels = [task["constraints"] for scene in scenes for task in scene.values()]
    sentences = [sentence for level in levels for text in level.values() for sentence in text]
    templates = json.loads((folder / "constraint_templates.json").read_text(encoding="utf-8"))
    sentences += [template["utt"] for kind in templates.values() for template in kind]
    assert len(sentences) > 400
    assert [sentence for sentence in sentences if not _understood(sentence)] == []


def _understood(sentence: str) -> bool:
    try:
        return bool(formula_of(sentence))
    except NotUnderstood:
        return False


@pytest.mark.parametrize(
    ("sentence", "same"),
    [
        ("you should visit a no fewer than twice", "you must visit a at least two times"),
        ("the robot has to visit a no less than two times", "you must visit a at least two times"),
        ("at least two visits to a are required", "you must visit a at least two times"),
        ("no more than one visit to a", "you can visit a at most once"),
        ("at most two visits to the kitchen are allowed", "you can visit kitchen at most twice"),
        ("do not enter a a second time", "you can visit a at most once"),
        ("visiting a three times is not allowed", "you can visit a at most twice"),
    ],
)
def test_counts_in_other_words(sentence: str, same: str) -> None:
    assert formula_of(sentence) == formula_of(same)


def test_more_visits_are_more_blocks() -> None:
    thrice = formula_of("you can go to bathroom for at most three times")
    assert thrice == formula_of("you cannot visit bathroom for more than three times")
    assert thrice.count(" U ") == 6
    assert formula_of("only visiting bathroom less than four times is allowed") == thrice
