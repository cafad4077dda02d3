"""Open objects of scripts: the choice lets the steps execute, is reported, and is deterministic."""

from __future__ import annotations

import time

from vh_home import HOME, edge, graph, node, read, scene, steps, stops

from plansafe.grammar.diagnostics import Severity


def chosen(text: str, home: object = HOME) -> list[str]:
    return [" ".join(line.strip("()").split()[2:]) for line in steps(text, home)]  # type: ignore[arg-type]


def test_the_only_thing_of_a_class_is_no_choice() -> None:
    assert chosen("[WALK] <mug> (1)\n[GRAB] <mug> (1)") == ["mug_41", "mug_41"]
    assert read("[WALK] <mug> (1)").diagnostics == ()
    assert read("[WALK] <Mug>").diagnostics == ()


def test_a_choice_among_several_objects_is_reported() -> None:
    text = "T\n\n[WALK] <chair> (1)\n[SIT] <chair> (1)"
    (note,) = read(text).diagnostics
    assert (note.code, note.severity) == ("SC012", Severity.NOTE)
    assert note.message == "`<chair> (1)` is read as chair_356"
    assert note.notes == ("it could also be chair_357",)
    assert note.help == "write `<chair> (1.NUMBER)` with the number of another object to choose it"
    assert text[slice(*note.labels[0].span)] == "[WALK] <chair> (1)"


def test_a_class_with_the_same_meaning_is_reported() -> None:
    (note,) = read("[WALK] <sofa> (1)").diagnostics
    assert note.message == "`<sofa> (1)` is read as couch_352"
    assert note.notes == ()


def test_the_choice_lets_the_script_be_executed() -> None:
    assert chosen("[WALK] <apple> (1)\n[GRAB] <apple> (1)")[0] == "apple_437"
    inside = "[WALK] <fridge> (1)\n[OPEN] <fridge> (1)\n[FIND] <apple> (1)\n[GRAB] <apple> (1)"
    assert stops(inside) is None
    far = "[WALK] <livingroom> (1)\n[WALK] <chair> (1)\n[SIT] <chair> (1)\n"
    far += "[TURNTO] <television> (1)\n[WATCH] <television> (1)"
    assert chosen(far)[1] == "chair_357", "with the other one, the television is in another room"
    assert stops(far) is None


def test_a_later_failure_changes_only_what_it_names() -> None:
    text = "[WALK] <apple> (1)\n[WALK] <chair> (1)\n[SIT] <chair> (1)\n[GRAB] <television> (1)\n[STANDUP]"
    assert chosen(text)[:2] == ["apple_437", "chair_356"]
    assert stops(text) == 4


def test_different_numbers_are_different_things() -> None:
    assert chosen("[WALK] <apple> (1)\n[WALK] <apple> (2)") == ["apple_437", "apple_438"]
    assert chosen("[WALK] <apple> (1)\n[WALK] <apple> (2)\n[WALK] <apple> (3)")[2] in ("apple_437", "apple_438")


def test_a_name_without_a_number_is_the_first_of_its_kind() -> None:
    assert chosen('{"WALK": ["chair"], "SIT": ["chair", 1]}') == ["chair_356", "chair_356"]


def test_objects_are_chosen_also_for_an_inexecutable_script() -> None:
    text = "[SIT] <chair> (1)\n[GRAB] <apple> (1)\n[GRAB] <apple> (2)\n[PUTIN] <apple> (2) <fridge> (1)"
    assert chosen(text) == ["chair_356", "apple_437", "apple_438", "apple_438 fridge_305"]


def test_two_open_things_in_one_step_are_chosen_together() -> None:
    nodes = [
        node(600, "milk", "GRABBABLE"),
        node(601, "milk", "GRABBABLE POURABLE"),
        node(602, "cup"),
        node(603, "cup", "RECIPIENT"),
    ]
    edges = [edge(n, "INSIDE", 11) for n in (600, 601, 602, 603)] + [edge(601, "ON", 226), edge(603, "ON", 226)]
    home = scene(graph(nodes=nodes, edges=edges))
    text = "[WALK] <table> (1)\n[GRAB] <milk> (1)\n[POUR] <milk> (1) <cup> (1)"
    assert stops(text, home) is None
    assert chosen(text, home) == ["table_226", "milk_601", "milk_601 cup_603"]


def test_every_script_keeps_its_objects_through_a_failed_search() -> None:
    text = "[WALK] <chair> (1)\n[TURNTO] <chair> (1)\n[GRAB] <apple> (2)\n" * 30
    assert set(chosen(text)) == {"chair_356", "apple_437"}


def test_the_search_is_bounded_and_deterministic() -> None:
    nodes = [node(1_000 + i, "book", "GRABBABLE") for i in range(40)]
    edges = [edge(1_000 + i, "INSIDE", 11) for i in range(40)]
    home = scene(graph(nodes=nodes, edges=edges))
    text = "".join([f"[WALK] <book> ({i})\n[GRAB] <book> ({i})\n" for i in range(1, 10)]) * 100
    text += "[READ] <book> (1)\n[READ] <book> (2)\n" * 100
    read(text, home)
    start = time.process_time()
    first = steps(text, home)
    assert time.process_time() - start < 5
    assert steps(text, scene(graph(nodes=nodes, edges=edges))) == first
