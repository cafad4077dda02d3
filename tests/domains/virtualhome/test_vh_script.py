"""Scripts in their three notations, diagnostics about mistakes, and steps written as lines."""

from __future__ import annotations

import time

import pytest
from vh_home import graph, node, read, scene, steps

from plansafe.domains.virtualhome import WORLD
from plansafe.domains.virtualhome.script import object_place, word_places
from plansafe.domains.world import Request
from plansafe.grammar.diagnostics import Severity
from plansafe.grammar.plan_text import read_plan
from plansafe.grammar.source import Source

WALK_GRAB = ["(walk character_65 table_226)", "(grab character_65 mug_41)"]


@pytest.mark.parametrize(
    "text",
    [
        "Drink\nWalk to the table [and] take the mug\n\n\n[WALK] <table> (1.226)\n[GRAB] <mug> (1.41)\n",
        "[WALK] <table> (226)\n[GRAB] <mug> (41)",
        "<char0> [walk] <table> (226)\n<char0> [grab] <mug> (41)",
        "<char0> [walk] <table> (226) | <char0> [grab] <mug> (41)",
        "1. [Walk] <table> (1.226)\n2. [Grab] <mug> (1.41) [2]\n# done\n",
        "- [walktowards] <table> (2.226)\r\n- [pick_up] <mug> (3.41)  // mine\r\n",
        '{"WALK": ["table", "226"], "GRAB": ["mug", 41]}',
        '[{"WALK": ["table", 226]}, {"GRAB": ["mug", "41"]}]',
        '{"actions": [{"WALK": ["table_226"]}, {"GRAB": "mug_41"}]}',
        '["[WALK] <table> (226)", "[GRAB] <mug> (41)"]',
        "```json\n{'WALK': ['table', 226], 'GRAB': ['mug', 41, '']}\n```\n",
        'Sure, here is the plan:\n{"WALK": ["table", 226],\n "GRAB": ["mug", 41]}\n',
        "```\n[WALK] <table> (226)\n[GRAB] <mug> (41)\n```",
    ],
)
def test_the_notations(text: str) -> None:
    plan = read(text)
    assert plan.diagnostics == ()
    assert steps(text) == WALK_GRAB


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[WALK] <table> (1.226)\n", ["WALK", None, "<table> (1.226)"]),
        ("<char0> [walk] <table> (226) | <char0> [grab] <mug> (41)", ["walk", "<char0>", "<table> (226)"]),
        ('{"actions": [{"WALK": ["table", 226]}, {"GRAB": "mug_41"}]}', ["WALK", None, '"table", 226']),
        ('{"WALK": ["table_226"], "GRAB": ["mug", 41, ""]}', ["WALK", None, '"table_226"']),
        ('["[WALK] <table> (226)"]', ["WALK", None, "<table> (226)"]),
    ],
)
def test_words_of_a_step_have_places(text: str, words: list[str | None]) -> None:
    plan = read(text)
    assert plan.plan is not None
    for step, place in zip(read_plan(plan.plan).steps, plan.places, strict=True):
        places = word_places(Source("script", text), place, step.tokens)
        assert len(places) == len(step.tokens)
        words_at_places = [None if span is None else text[span.start : span.end] for span in places]
        if step.tokens[0] == "walk":
            assert words_at_places == words
        else:
            assert "mug" in str(words_at_places[2])


def test_an_object_is_found_at_its_number_in_the_graph_that_is_read() -> None:
    text = '{"other": {"id": 41}, "init_graph": {"edges": [], "nodes": [{"class_name": "character", "id": 1},'
    text += ' {"class_name": "mug", "id" : 41, "properties": []}, {"id": "x7", "class_name": "mug"}]}}'
    source = Source("graph.json", text)
    home = WORLD.read_scene(Request({"scene": source}))
    assert home.ok
    for name, words in (("mug_41", '"id" : 41'), ("mug_x7", '"id": "x7"')):
        place = object_place(source, home, name)
        assert place is not None
        assert text[place.start : place.end] == words
        assert place.start > text.index("nodes")
    assert object_place(source, home, "mug_9") is None


def test_places_are_those_of_the_steps() -> None:
    text = "T\nd\n\n  [WALK] <table> (1.226)  \n<char0> [grab] <mug> (41) | <char0> [drink] <mug> (41)\n[STANDUP]\n"
    step_texts = [text[slice(*place)] for place in read(text).places]
    assert step_texts == [
        "[WALK] <table> (1.226)",
        "<char0> [grab] <mug> (41)",
        "<char0> [drink] <mug> (41)",
        "[STANDUP]",
    ]
    text = 'x\n```json\n[{"WALK": ["table", 226], "WALK": ["mug", 41]},\n "[GRAB] <mug> (41)"]\n```'
    step_texts = [text[slice(*place)] for place in read(text).places]
    assert step_texts == ['"WALK": ["table", 226]', '"WALK": ["mug", 41]', "[GRAB] <mug> (41)"]


def test_a_repeated_key_is_a_step_each_time() -> None:
    text = '{"FIND": ["mug", 41], "FIND": ["table", 226], "STANDUP": [], "FIND": ["mug", 41]}'
    assert steps(text) == [
        "(find character_65 mug_41)",
        "(find character_65 table_226)",
        "(standup character_65)",
        "(find character_65 mug_41)",
    ]


@pytest.mark.parametrize(
    ("line", "step"),
    [
        ("[PUTBACK] <mug> (41) <table> (226)", "(putback character_65 mug_41 table_226)"),
        ("[PUTON] <mug> (41) <table> (226)", "(putback character_65 mug_41 table_226)"),
        ("[put] <mug> (41) <table> (226)", "(putback character_65 mug_41 table_226)"),
        ("[PUTON] <clothes_hat> (502)", "(puton character_65 clothes_hat_502)"),
        ("[PUT_IN] <apple> (437) <fridge> (305)", "(putin character_65 apple_437 fridge_305)"),
        ("[SWITCH ON] <television> (410)", "(switchon character_65 television_410)"),
        ("[LOOKAT_LONG] <tv> (410)", "(lookat character_65 television_410)"),
        ("[WALK] <Sofa> (1.352)", "(walk character_65 couch_352)"),
        ("[WALK] <character> (65)", "(walk character_65 character_65)"),
        ("[SLEEP]", "(sleep character_65)"),
        ("<char7> [walk] <mug> (41)", "(walk char7 mug_41)"),
    ],
)
def test_words_of_scripts(line: str, step: str) -> None:
    assert steps(line) == [step]


def test_characters_are_counted_by_their_numbers() -> None:
    home = scene(graph(nodes=[node(64, "character")]))
    text = "<char0> [walk] <mug> (41) | <char1> [walk] <mug> (41)"
    assert steps(text, home) == ["(walk character_64 mug_41)", "(walk character_65 mug_41)"]


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("T\n[WALK <mug> (1", "[WALK <mug> (1", "this line looks like a step but is not one"),
        ("[WALK] <mug> (41)\nthen [GRAB] <mug> (41)", "then [GRAB] <mug> (41)", "this line looks like a step"),
        ("<char0> walk <mug>", "<char0> walk <mug>", "this line looks like a step"),
        ("[WALK] <mug> (one)", "[WALK] <mug> (one)", "`(one)` is not the number of an object"),
        ("[WALK] <mug> (41) quickly", "quickly", "this is not part of a step"),
        ("A story\nwithout steps", "A story", "the script has no steps"),
        ("(walk character_65 mug_41)", "(walk character_65 mug_41)", "the script has no steps"),
        ("[]", "[]", "the script has no steps"),
        ('{"WALK": ["mug", 41]', "{", "the text ends inside this value"),
        ('{"WALK" ["mug", 41]}', "[", "the plan is neither JSON nor a script"),
        ('{"WALK": {"mug": 41}}', '{"mug": 41}', "the objects of a step must be a list"),
        ('{"WALK": [["mug", 41]]}', '[["mug", 41]]', "the objects of a step must be a list"),
        ('{"WALK": ["mug", 41]} and more', "and more", "text after the plan"),
        ('[{"WALK": ["mug", 41]}, "sit down"]', '"sit down"', "this text is not a step"),
        ('[{"WALK": ["mug", 41]}, 7]', "7", "this is not a step"),
        ("[" * 50 + '"' + "]" * 50, "[", "the JSON text is nested too deeply"),
    ],
)
def test_a_mistake_has_a_place(text: str, place: str, message: str) -> None:
    plan = read(text)
    assert plan.plan is None
    (error,) = plan.diagnostics
    assert (error.code, error.severity) == ("SC011", Severity.ERROR)
    assert message in error.message
    assert error.labels[0].source == "script.txt"
    assert text[slice(*error.labels[0].span)] == place


def test_a_line_below_the_first_step_is_not_dropped_in_silence() -> None:
    plan = read("Title\n[WALK] <mug> (41)\nand now\n\n[GRAB] <mug> (41)")
    assert plan.plan is not None
    (warning,) = plan.diagnostics
    assert (warning.code, warning.severity) == ("SC011", Severity.WARNING)
    assert plan.plan.text.count("\n") == 2


def test_many_mistakes_are_told_once() -> None:
    plan = read("[WALK] <mug> (41)\n" + "oh\n" * 50 + "[GRAB <mug>\n" * 30)
    assert len(plan.diagnostics) == 20
    assert plan.diagnostics[-1].notes == ("and 60 more like these",)


def test_an_empty_script_is_an_empty_plan() -> None:
    plan = read("  \n\n")
    assert plan.plan is not None
    assert (plan.plan.text, plan.places, plan.diagnostics) == ("", (), ())


@pytest.mark.parametrize(
    ("line", "step", "message", "help"),
    [
        ("[WALK] <mug> (1.305)", "mug_305", "number 305 is fridge_305", "the scene has mug_41"),
        ("[WALK] <mug> (77)", "mug_77", "no object has the number 77", "the scene has mug_41"),
        ("[WALK] <fridgge> (1)", "fridgge_1", "there is no fridgge", "did you mean `fridge`?"),
        ("[WALK] <unicorn>", "unicorn", "there is no unicorn", None),
    ],
)
def test_unknown_objects_stay_in_the_plan(line: str, step: str, message: str, help: str | None) -> None:
    assert steps(line) == [f"(walk character_65 {step})"]
    (note,) = read(line).diagnostics
    assert (note.code, note.severity, note.help) == ("SC012", Severity.NOTE, help)
    assert message in note.message


def test_a_name_for_what_is_missing_is_no_name_of_the_scene() -> None:
    home = scene(graph(nodes=[node(77, "mug")]))
    assert steps("[WALK] <cup> (1.437)", home) == ["(walk character_65 cup_437)"]
    assert steps("[WALK] <mug> (077)", home) == ["(walk character_65 mug_77)"]


def test_steps_are_written_as_they_are_read() -> None:
    text = "[WALK] <table> (1.226)\n[GRAB] <mug> (1.41)\n[PUTIN] <mug> (1.41) <fridge> (1.305)\n"
    text += "[STANDUP]\n<char1> [WALK] <mug> (1.41)"
    home = scene(graph(nodes=[node(66, "character")]))
    plan = read(text, home).plan
    assert plan is not None
    written = [WORLD.write_step(step.tokens, home) for step in read_plan(plan).steps]
    assert written == text.splitlines()
    assert WORLD.write_step(("walk", "character_65", "nowhere"), home) == "[WALK] <nowhere>"
    assert WORLD.write_step(("walk",), home) == "[WALK]"


def test_a_script_of_forty_thousand_lines_is_read() -> None:
    """Work that grows with the square of the length would need minutes; the speed itself is measured in bench/."""
    start = time.process_time()
    assert len(steps("T\n" + "[WALK] <table> (1.226)\n[FIND] <mug> (41)\n" * 20_000)) == 40_000
    assert time.process_time() - start < 60


@pytest.mark.parametrize(
    "unit", ["[", "<", "(", "[A] <b", "{", '{"A": [', "[A] <b> (1) |", "[A] " + " " * 50, "\r", "```\n"]
)
def test_no_text_takes_long(unit: str) -> None:
    text = unit * (60_000 // len(unit))
    start = time.process_time()
    read(text)
    read("[WALK] <mug> (41) " + text)
    assert time.process_time() - start < 5
