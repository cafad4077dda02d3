"""Environment graphs: facts, notes, and unreadable files."""

from __future__ import annotations

import json
import re
import time

import pytest
from vh_home import CHARACTER, HOME, edge, graph, node, scene

from plansafe.domains.virtualhome.graph import POSTURES, PROPERTIES, RELATIONS, STATES
from plansafe.domains.virtualhome.names import known_types, synonyms
from plansafe.grammar.diagnostics import Severity
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker


def facts(text: str) -> set[str]:
    init = text.partition("(:init")[2].partition("(:goal")[0]
    return {line.strip().rstrip(")") + ")" for line in init.splitlines() if line.strip()}


def test_objects_facts_and_rooms() -> None:
    assert HOME.notes == ()
    text = HOME.problem.text
    assert "apple_437 apple_438 - apple" in text
    assert "character_65 - character" in text
    assert "kitchen_11 - kitchen" in text
    assert {
        "(grabbable apple_437)",
        "(closed fridge_305)",
        "(plugged_in fridge_305)",
        "(dirty apple_437)",
        "(on_top apple_437 table_226)",
        "(inside apple_438 fridge_305)",
        "(near apple_437 table_226)",
        "(in_room apple_438 kitchen_11)",
        "(in_room character_65 livingroom_12)",
    } <= facts(text)
    assert not [fact for fact in facts(text) if fact.startswith("(inside apple_438 kitchen")]


def test_a_room_is_found_through_what_holds_a_thing() -> None:
    edges = [edge(CHARACTER, "HOLDS_RH", 900), edge(900, "CLOSE", 226), edge(901, "INSIDE", 900), edge(902, "ON", 226)]
    more = graph(nodes=[node(900, "box"), node(901, "coin"), node(902, "fork")], edges=edges)
    result = facts(scene(more).problem.text)
    assert {
        "(in_room box_900 livingroom_12)",
        "(in_room coin_901 livingroom_12)",
        "(in_room fork_902 kitchen_11)",
    } <= result
    assert "(holds_rh character_65 box_900)" in result
    assert not [fact for fact in result if fact.startswith("(near box_900")], "who carries a thing leaves its place"


def test_relations_of_people_have_facts_of_their_own() -> None:
    more = [edge(502, "ON", CHARACTER), edge(CHARACTER, "SITTING", 352), edge(CHARACTER, "CLOSE", 352)]
    more += [edge(352, "CLOSE", CHARACTER), edge(CHARACTER, "FACING", 410), edge(352, "FACING", 410)]
    result = facts(scene(graph(edges=more)).problem.text)
    assert {
        "(worn clothes_hat_502 character_65)",
        "(on_top character_65 couch_352)",
        "(close character_65 couch_352)",
        "(facing character_65 television_410)",
        "(faces couch_352 television_410)",
    } <= result
    assert "(near couch_352 character_65)" not in result


@pytest.mark.parametrize("wrap", ["init_graph", "environment_graph", None])
def test_the_graph_may_be_wrapped(wrap: str | None) -> None:
    value = graph() if wrap is None else {"other": [], wrap: graph()}
    assert scene(json.dumps(value)).problem.text == HOME.problem.text


def test_unknown_words_of_a_kind_give_one_note() -> None:
    nodes = [
        node(900, "flux_capacitor", "GRABBABLE GLOWING", "HUMMING CLEAN"),
        node(901, "Flux Capacitor", "GLOWING", ""),
        node(902, "observatory", category="Rooms"),
        node(41, "mug"),
    ]
    edges = [edge(900, "ABOVE", 901), edge(900, "ON", 999), edge(900, "ON", 902)]
    result = scene(graph(nodes=nodes, edges=edges))
    assert result.ok
    assert {note.code for note in result.notes} == {"SC013"}
    assert {note.severity for note in result.notes} == {Severity.NOTE}
    assert [note.message for note in result.notes] == [
        "the domain has no types for these classes (their kinds: object table): flux_capacitor (2 times)",
        "the domain does not have these classes of rooms; their rooms get the type room: observatory",
        "edges to missing nodes are left out: 900 ON 999",
        "nodes that occur twice are left out: mug (41)",
        "the domain does not have these properties, and they are left out: glowing (2 times)",
        "the domain does not have these relations, and they are left out: above",
        "the domain does not have these states, and they are left out: humming",
    ]
    assert "flux_capacitor_900 flux_capacitor_901 - thing" in result.problem.text
    assert "observatory_902 - room" in result.problem.text
    assert Checker(result.domain, result.problem).ok


def test_names_are_one_to_one() -> None:
    odd = [node(1, "a_b"), node(2, "a"), {**node(3, "a"), "id": "b_1"}, {**node(4, "(x);"), "id": "2 2"}]
    result = scene(graph(nodes=odd))
    names = [node.name for node in result.data.home.objects.values()]
    assert len(set(names)) == len(names)
    assert {"a_b_1", "a_2", "a_b_1_", "_x__2_2"} <= set(names)
    assert Checker(result.domain, result.problem).ok


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("", "", "the file is empty"),
        ('{"nodes": [', "[", "this JSON is cut off"),
        ('{"nodes": ["mu', '"', "this JSON is cut off"),
        ('{"caf\udce9": 1}', "\udce9", "this is not UTF-8"),
        ('{"nodes": [}', "}", "this is not JSON"),
        ("[1]", "[1]", "a graph must have `nodes` and `edges`"),
        ('{"init_graph": {"nodes": []}}', '{"nodes": []}', "a graph must have `nodes` and `edges`"),
        ('{"nodes": {}, "edges": []}', "{}", "`nodes` is not a list"),
        ('{"nodes": [7], "edges": []}', "7", "a node must be an object"),
        ('{"nodes": [{"id": true, "class_name": "mug"}], "edges": []}', "true", "the `id` of a node must be a number"),
        (
            '{"nodes": [{"class_name": "mug"}], "edges": []}',
            '{"class_name": "mug"}',
            "the `id` of a node must be a number",
        ),
        (
            '{"nodes": [{"id": 1, "class_name": null}], "edges": []}',
            "null",
            "the `class_name` of a node must be a word",
        ),
        ('{"nodes": [{"id": 1, "class_name": "mug", "states": [3]}], "edges": []}', "[3]", "`states` must be a list"),
        ('{"nodes": [], "edges": [{"from_id": 1}]}', '{"from_id": 1}', "an edge must be an object"),
        ('{"nodes": [], "edges": []}', "{", "the graph has no character"),
    ],
)
def test_a_broken_graph_has_a_place(text: str, place: str, message: str) -> None:
    result = scene(text)
    (error,) = result.notes
    assert (error.code, error.severity) == ("SC010", Severity.ERROR)
    assert message in error.message
    (label,) = error.labels
    assert label.source == "graph.json"
    assert text[slice(*label.span)] == place
    assert not result.ok


def test_depth_and_odd_values_do_no_harm() -> None:
    for text in ("[" * 200_000, '{"nodes": ' * 200_000, "1" * 10_000, '"' + "[" * 1_000 + '"'):
        assert [note.code for note in scene(text).notes] == ["SC010"]
    brackets = graph(nodes=[node(900, "[" * 1_000)])
    assert scene(brackets).ok


def test_the_work_is_linear_in_the_size_of_a_graph() -> None:
    def seconds(count: int) -> float:
        nodes = [node(1_000 + i, "mug", "GRABBABLE") for i in range(count)]
        edges = [edge(1_000 + i, "CLOSE", 1_000 + (i * 7) % count) for i in range(count * 10)] if count else []
        edges += [edge(1_000 + i, "INSIDE", 1_001 + i) for i in range(count - 1)]
        text = json.dumps(graph(nodes=nodes, edges=edges[: count * 10] + edges[-count:]))
        best = float("inf")
        for _ in range(3):
            start = time.process_time()
            assert scene(text).ok
            best = min(best, time.process_time() - start)
        return best

    small, large = seconds(200), seconds(1_600)
    assert large < 8 * 3 * small, (small, large)


def test_the_words_of_the_reader_are_those_of_the_domain() -> None:
    domain = HOME.domain.text
    for word in PROPERTIES | STATES:
        assert f"({word} ?x - object)" in domain
    for word in POSTURES:
        assert f"({word} ?c - character)" in domain
    assert len(set(RELATIONS)) == len(RELATIONS)
    types = known_types()
    assert types["fridge"] == "appliance"
    assert types["mini-fridge"] == "appliance"
    assert types["kitchen"] == "room"
    assert types["character"] == "object"
    squeezed = {re.sub("[_-]", "", name) for name in types}
    for word, classes in synonyms().items():
        assert {word, *classes} <= squeezed, word


def test_every_class_of_the_tables_and_graphs_is_a_type(data: object) -> None:
    from pathlib import Path

    assert isinstance(data, Path)
    tables = data / "virtualhome-resources"
    if not tables.is_dir():
        pytest.skip(f"no {tables}")
    names: set[str] = set()
    for table in ("properties_data", "properties_data_all", "properties_data_unity", "object_states"):
        names |= json.loads((tables / f"{table}.json").read_text(encoding="utf-8")).keys()
    equivalence = json.loads((tables / "class_name_equivalence.json").read_text(encoding="utf-8"))
    names |= equivalence.keys() | {class_name for classes in equivalence.values() for class_name in classes}
    assert len(names) > 500
    assert names <= known_types().keys()


def test_the_domain_compiles_alone() -> None:
    problem = Source("p", "(define (problem p) (:domain virtualhome) (:init) (:goal (and)))")
    checker = Checker(HOME.domain, problem)
    assert checker.ok
    assert checker.diagnostics == ()
