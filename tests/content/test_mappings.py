"""The shipped mappings: each loads, declares the words that its world lacks, and replaces words correctly.

``mappings/WORLD.txt`` describes plans of each world in the words of the ontology: the events of their steps, and all
final facts. A new case is a new paragraph.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from mapping_texts import coverage_of_world, describe_plan, library_checker, read_cells

from plansafe.domains import domain_names
from plansafe.domains.behavior.vocabulary import categories, kinds_of, vocabulary
from plansafe.specs import default_specs, spec_names
from quick import quick_every

WORLDS = tuple(name for name in domain_names() if f"home-{name}" in spec_names())
HERE = Path(__file__).resolve().parent / "mappings"
# In every world, the first kind excludes the other kinds of its group.
EXCLUSIVE_KINDS = (
    ("agent", "person", "child", "animal", "furniture", "food"),
    ("heat-source", "microwave", "lamp", "flame", "cold-store"),
    ("liquid", "furniture", "electric", "structure", "sharp", "paper", "tableware", "animal"),
    ("food", "furniture", "electronics", "clothing", "toxic", "medicine", "structure", "tableware", "paper"),
    ("vessel", "paper", "clothing", "food", "sharp", "floor", "furniture"),
    ("floor", "container", "electric", "basin", "vessel", "high-place"),
    ("toxic", "medicine", "tableware", "electronics"),
    ("high-place", "low-place"),
    ("water-source", "electronics", "paper", "soft-furniture", "flammable"),
)
# Every object of the first kind is also of the second kind.
PARENT_KINDS = {
    "open-heat": "heat-source",
    "oven": "heat-source",
    "toaster": "heat-source",
    "kettle": "heat-source",
    "washer": "electric",
    "microwave": "electric",
    "kettle ": "electric",
    "bladed": "electric",
    "takes-water": "electric",
    "freezer": "cold-store",
    "raw-food": "food",
    "raw-food ": "perishable",
    "perishable": "food",
    "clothing": "flammable",
    "paper": "flammable",
}


def test_every_world_with_a_mapping_uses_it_or_its_own_library() -> None:
    assert "virtualhome" in WORLDS
    for world in WORLDS:
        assert default_specs(world) in (("home", f"home-{world}"), (world,))


@pytest.mark.parametrize("world", WORLDS)
def test_a_mapping_loads_and_binds_every_word(world: str) -> None:
    """The only diagnostic is the note about inapplicable rules; no word is bound only because the domain has it."""
    checker = library_checker(world)
    assert checker.ok, checker.diagnostics
    assert [(d.code, d.severity.value) for d in checker.diagnostics] == [("SC702", "note")]
    assert coverage_of_world(world).list_words("own") == ()


@pytest.mark.parametrize("world", WORLDS)
def test_inapplicable_rules_need_a_word_that_the_mapping_declares_missing(world: str) -> None:
    coverage = coverage_of_world(world)
    missing = {(word.kind, word.name) for word in coverage.list_words("unbound")}
    assert {rule.rule for rule in coverage.not_applicable} | set(coverage.applicable) == {
        r.name for r in library_checker(world).rules
    }
    for rule in coverage.not_applicable:
        assert bool(rule.missing_names) is (rule.exclusion_reason is None)
        assert set(rule.missing_names) <= missing | {name for name in rule.missing_names if name[0] == "step"}


@pytest.mark.parametrize("world", WORLDS)
def test_kinds_that_exclude_each_other_do_not_overlap(world: str) -> None:
    overlapping = set()
    for name, kinds in coverage_of_world(world).kinds.items():
        for group in EXCLUSIVE_KINDS:
            first = group[0]
            overlapping |= {(name, first, kind) for kind in group[1:] if first in kinds and kind in kinds}
    assert overlapping == set()


@pytest.mark.parametrize("world", WORLDS)
def test_kinds_are_within_their_parent_kinds(world: str) -> None:
    coverage = coverage_of_world(world)
    bound = {word.name for word in coverage.list_words("mapped") if word.kind == "type"}
    outside = set()
    for name, kinds in coverage.kinds.items():
        outside |= {
            (name, a, b) for a, b in PARENT_KINDS.items() if a.strip() in kinds and b in bound and b not in kinds
        }
    assert outside == set()


UNCLASSIFIED = {"safeagentbench": {"roomdecor", "tabletopdecor"}}
"""Classes whose names do not determine their kinds."""


@pytest.mark.parametrize("world", WORLDS)
def test_every_class_of_a_world_has_a_kind_or_is_declared_kindless(world: str) -> None:
    (applied,) = library_checker(world).compiled.expanded.mappings
    without_kind = {name for name, kinds in coverage_of_world(world).kinds.items() if set(kinds) <= {"thing"}}
    assert without_kind == applied.mapping.kindless_types.keys() | UNCLASSIFIED.get(world, set())


def read_cases(world: str) -> list[dict[str, str]]:
    """Return the cells of each paragraph in the file of a world."""
    text = (HERE / f"{world}.txt").read_text(encoding="utf-8")
    return [read_cells(paragraph) for paragraph in text.strip().split("\n\n")]


CASES = [
    pytest.param(path.stem, cells, id=f"{path.stem}-{number}")
    for path in sorted(HERE.glob("*.txt"))
    for number, cells in enumerate(read_cases(path.stem), 1)
]


@pytest.mark.parametrize(("world", "cells"), quick_every(6, CASES))
def test_plans_have_these_events_and_facts_in_the_ontology(world: str, cells: dict[str, str]) -> None:
    events, facts = describe_plan(world, cells["things"], cells["facts"], cells["plan"])
    assert events == [event.strip() for event in cells["does"].split(";")]
    assert facts == {fact.strip() for fact in cells["is"].split(";")}


@pytest.mark.parametrize("world", [world for world in WORLDS if world != "household"])
def test_every_bound_event_and_fact_occurs_in_a_case(world: str) -> None:
    occurring = {words.strip().split(" ")[1] for cells in read_cases(world) for words in cells["does"].split(";")}
    occurring |= {words.strip().split(" ")[0] for cells in read_cases(world) for words in cells["is"].split(";")}
    bound = {
        word.name for word in coverage_of_world(world).list_words("mapped") if word.kind in ("predicate", "action")
    }
    assert bound - occurring == set()


# Boxes and packs of food are fillable, and therefore vessels, although no plan fills them with a liquid.
EXCLUSIVE_KINDS_OF_TABLE = [group for group in EXCLUSIVE_KINDS if group[0] != "vessel"]


def test_the_table_of_behavior_gives_no_category_kinds_that_exclude_each_other() -> None:
    """The kinds that it declares in the domain are also the kinds of the table."""
    declared_kinds = vocabulary("omnigibson").kinds
    mapped_words = coverage_of_world("omnigibson").list_words("mapped")
    words = {word.name: word.replacement for word in mapped_words if word.kind == "type"}
    overlapping, outside, different = set(), set(), set()
    for category in categories():
        above = frozenset([above for kind in kinds_of(category) for above in declared_kinds[kind]])
        kinds = {word for word, meaning in words.items() if not above.isdisjoint(re.findall(r"[\w-]+", meaning))}
        for first, *excluded in EXCLUSIVE_KINDS_OF_TABLE:
            overlapping |= {(category, first, kind) for kind in excluded if {first, kind} <= kinds}
        outside |= {(category, a, b) for a, b in PARENT_KINDS.items() if a.strip() in kinds and b not in kinds}
        name = category.replace(".", "_")
        if name in declared_kinds and not declared_kinds[name] ^ above <= {name, "movable", "thing", "object"}:
            different.add(category)
    assert (overlapping, outside, different) == (set(), set(), set())


def test_packed_food_is_food() -> None:
    packs = (
        "box__of__cereal.n.01",
        "jar__of__jam.n.01",
        "bag__of__flour.n.01",
        "canned_food.n.01",
        "bottle__of__gin.n.01",
    )
    assert ["food" in kinds_of(pack) for pack in packs] == [True, True, True, True, False]
