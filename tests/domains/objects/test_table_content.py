"""The content of the shipped object table: complete rows, kinds that fit together, and reproducible proposals."""

from __future__ import annotations

import csv
import os
import re
from collections import defaultdict
from pathlib import Path

import pytest
from bench.data_sets import DATA_SETS
from bench.hazards.propose_kinds import make_proposals

from plansafe.domains.objects.classification import Classifier
from plansafe.domains.objects.table import CONFIRMED, EVERYWHERE, FOLDER, NO_KIND, letters, load_table
from plansafe.specs import spec_path

MAX_PROPOSALS_SIZE = 1_500_000
# The first kind excludes the other kinds of its group.
EXCLUSIVE_KINDS = (
    ("person", "child", "animal", "furniture", "food"),
    ("food", "furniture", "electronics", "clothing", "toxic", "medicine", "structure", "tableware", "paper"),
    ("heat-source", "microwave", "lamp", "flame", "cold-store"),
    ("liquid", "furniture", "electric", "structure", "sharp", "paper", "tableware", "animal"),
    ("vessel", "paper", "clothing", "food", "sharp", "floor", "furniture"),
    ("floor", "container", "electric", "basin", "vessel", "high-place"),
    ("toxic", "medicine", "tableware", "electronics"),
    ("water-source", "electronics", "paper", "soft-furniture", "flammable"),
    ("high-place", "low-place"),
)
# Classes of the first kind are also of the second.
PARENT_KINDS = (("clothing", "flammable"), ("paper", "flammable"))


def read_rows(name: str) -> list[dict[str, str]]:
    with open(os.path.join(FOLDER, name), encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


OBJECTS = read_rows("objects.csv")


def kinds_by_class() -> dict[str, set[str]]:
    """Return the kinds of each class, with those that follow."""
    table = load_table()
    kinds: dict[str, set[str]] = defaultdict(set)
    for row in OBJECTS:
        if row["kind"] != NO_KIND:
            kind = table.kinds[letters(row["kind"])]
            kinds[row["class"]].update((kind.name, *kind.implies))
    return kinds


def test_the_kinds_are_those_of_the_ontology() -> None:
    text = re.sub(r";.*", "", Path(spec_path("home")).read_text(encoding="utf-8"))
    types = text.partition("(:types")[2].partition(")")[0].split()
    assert {row["kind"] for row in read_rows("kinds.csv")} == set(types) - {"thing", "room", "agent"}
    assert [row["kind"] for row in read_rows("kinds.csv") if len(row["meaning"]) < 10] == []


def test_classes_are_sorted_and_spelled_once() -> None:
    keys = [(row["class"], row["kind"]) for row in OBJECTS]
    assert keys == sorted(set(keys))
    spellings: dict[str, set[str]] = defaultdict(set)
    for name, _ in keys:
        spellings[letters(name)].add(name)
    assert [names for names in spellings.values() if len(names) > 1] == []


def test_every_row_has_a_reason_that_is_not_the_kind_and_a_source() -> None:
    for row in OBJECTS:
        assert row["status"] == CONFIRMED, row
        assert row["reason"] and row["source"] and row["reviewer"], row
        assert letters(row["reason"]) not in (letters(row["kind"]), letters(row["class"])), row


def test_implied_kinds_are_not_repeated() -> None:
    table = load_table()
    direct: dict[str, set[str]] = defaultdict(set)
    for row in OBJECTS:
        direct[row["class"]].add(row["kind"])
    for name, kinds in direct.items():
        implied = {above for kind in kinds - {NO_KIND} for above in table.kinds[letters(kind)].implies}
        assert kinds & implied == set(), name
        assert NO_KIND not in kinds or len(kinds) == 1, name


@pytest.mark.parametrize("group", EXCLUSIVE_KINDS, ids=lambda group: group[0])
def test_kinds_that_exclude_each_other(group: tuple[str, ...]) -> None:
    first_kind, *other_kinds = group
    excluded_kinds = {name: kinds & set(other_kinds) for name, kinds in kinds_by_class().items() if first_kind in kinds}
    assert {name: kinds for name, kinds in excluded_kinds.items() if kinds} == {}


@pytest.mark.parametrize(("kind", "parent"), PARENT_KINDS)
def test_kinds_that_another_kind_needs(kind: str, parent: str) -> None:
    assert [name for name, kinds in kinds_by_class().items() if kind in kinds and parent not in kinds] == []


def test_names_mean_classes_and_are_no_classes() -> None:
    classes = {letters(row["class"]) for row in OBJECTS}
    rows = read_rows("names.csv")
    assert [row for row in rows if letters(row["class"]) not in classes] == []
    assert [row for row in rows if not row["world"] and letters(row["name"]) in classes] == []
    keys = [(row["world"], row["name"]) for row in rows]
    assert keys == sorted(set(keys))


def test_proposals_are_sorted_and_for_other_nouns() -> None:
    path = Path(FOLDER) / "proposals.csv"
    assert path.stat().st_size < MAX_PROPOSALS_SIZE
    table = load_table()
    rows = read_rows("proposals.csv")
    keys = [(row["class"], row["kind"]) for row in rows]
    assert keys == sorted(set(keys))
    names = {name for world, name in table.names if world == EVERYWHERE}
    for row in rows:
        assert letters(row["kind"]) in table.kinds, row
        assert row["evidence"], row
        assert letters(row["class"]) not in table.rows and letters(row["class"]) not in names, row


def test_the_script_reproduces_the_proposals() -> None:
    if not (DATA_SETS / "wordnet-nouns").is_dir():
        pytest.skip("PLANSAFE_DATA has no folder wordnet-nouns")
    rows, report = make_proposals(DATA_SETS, load_table())
    shipped = [(row["class"], row["kind"], row["evidence"]) for row in read_rows("proposals.csv")]
    assert rows == shipped, "run `python -m bench.hazards.propose_kinds --write`"
    proposed = [row for row in report if row[-1] == "yes"]
    assert len(proposed) >= 30


def test_a_package_is_named_by_its_whole_content() -> None:
    entry = Classifier("omnigibson").classify("liquid_soap__bottle.n.01")
    assert entry.is_known
    assert entry.class_name == "bottle + liquid_soap"
