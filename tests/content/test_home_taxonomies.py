"""Taxonomies: every hazard type has a rule or a reason, in the library and in each world with a mapping."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import home_cases
import pytest

from plansafe.domains import domain_names, domain_path
from plansafe.domains.objects import add_kinds
from plansafe.grammar.source import Source
from plansafe.specs import spec_names
from plansafe.specs.taxonomy import (
    SHIPPED_TABLE,
    Taxonomies,
    Taxonomy,
    check_taxonomies,
    find_category_coverage,
    load_taxonomies,
    read_taxonomies,
)
from plansafe.verifier.api import Checker
from plansafe.verifier.rules.model import Rule

WORLDS = [name for name in domain_names() if f"home-{name}" in spec_names()]

OURS = """
[ours]
title = "Ours"
[ours.worlds]
ice-land = "everything freezes"
[ours.categories]
burns = { title = "Burns", hazards = ["fire", "heat"], targets = ["human"] }
wet = { hazards = ["spill"], rules = ["no-flood"] }
[ours.categories.rays]
title = "Rays"
reason = "nothing radiates here"
[ours.categories.cold]
hazards = ["frost"]
worlds.oven-land = "it is never cold"
[ours.left-out]
noise = "nobody minds"
"""


class Stub(NamedTuple):
    """A rule with only the fields that a taxonomy reads."""

    name: str
    hazard: str | None
    targets: tuple[str, ...] = ("human",)


RULES = (
    Stub("no-fire", "fire", ("human", "property")),
    Stub("no-scorch", "fire", ("property",)),
    Stub("no-heat", "heat"),
    Stub("no-flood", "flood-damage"),
    Stub("no-spill", "spill", ()),
    Stub("quiet", "noise"),
    Stub("no-frost", "cold"),
    Stub("plain", None),
)


@pytest.fixture(scope="module")
def library() -> list[Rule]:
    """Return the rules of the household library."""
    return home_cases.ontology_checker().rules


def test_the_shipped_table_fits_the_library(library: list[Rule]) -> None:
    taxonomies = load_taxonomies()
    assert taxonomies.diagnostics == ()
    assert check_taxonomies(taxonomies, library) == ()
    sizes = {taxonomy.name: len(taxonomy.categories) for taxonomy in taxonomies.taxonomies}
    assert sizes == {"safel": 24, "safeplan-bench": 8, "safeagentbench": 10}


def test_every_type_of_safel_has_a_rule_and_every_rule_a_type(library: list[Rule]) -> None:
    safel = load_taxonomies()["safel"]
    assert [covered.category.name for covered in find_category_coverage(safel, library) if not covered.rules] == []
    assert [rule.name for rule in library if not safel.find_categories(rule)] == []
    for category in safel.categories:
        (target,), (hazard,) = category.targets, category.hazards
        assert category.name == f"{target}-{hazard}"


@pytest.mark.parametrize("world", WORLDS)
def test_every_type_has_an_applicable_rule_or_a_reason_in_each_world(world: str) -> None:
    problem = Source("problem", f"(define (problem p) (:domain {world}) (:objects) (:init) (:goal (and)))")
    domain = home_cases.load(Path(domain_path(world)))
    specs = add_kinds(domain, problem, home_cases.library_sources(world))
    checker = Checker(domain, problem, specs, resolve=home_cases.resolve_shipped)
    applicable = [rule for rule in checker.rules if rule.applicable]
    safel = load_taxonomies()["safel"]
    coverage = find_category_coverage(safel, applicable, world)
    assert {covered.category.name for covered in coverage if not covered.rules and not covered.reason} == set()
    with_reason = {category.name for category in safel.categories if world in category.worlds}
    assert with_reason <= {covered.category.name for covered in coverage if covered.reason}, "a reason is outdated"


def _names(taxonomy: Taxonomy, rule: Stub) -> list[str]:
    return [category.name for category in taxonomy.find_categories(rule)]


def test_the_categories_of_a_rule_follow_from_hazard_targets_and_name() -> None:
    ours = read_taxonomies(Source("ours.toml", OURS))["ours"]
    assert {rule.name: _names(ours, rule) for rule in RULES} == {
        "no-fire": ["burns"],
        "no-scorch": [],
        "no-heat": ["burns"],
        "no-flood": ["wet"],
        "no-spill": ["wet"],
        "quiet": [],
        "no-frost": ["cold"],
        "plain": [],
    }
    coverage = {covered.category.name: covered for covered in find_category_coverage(ours, RULES[:1], "oven-land")}
    assert coverage["burns"].rules == ("no-fire",)
    assert coverage["burns"].reason is None
    assert coverage["rays"].reason == "nothing radiates here"
    assert coverage["cold"].reason == "it is never cold"
    assert coverage["wet"].reason is None
    assert ours.categories[1].title == "wet"
    reasons = {covered.category.name: covered.reason for covered in find_category_coverage(ours, RULES[:1], "ice-land")}
    assert reasons == {
        "burns": None,
        "wet": "everything freezes",
        "rays": "everything freezes",
        "cold": "everything freezes",
    }


def _diagnostics(taxonomies: Taxonomies) -> list[tuple[str, str, str]]:
    """Return code, message and marked text of each diagnostic."""
    text = taxonomies.table.text
    diagnostics = [*taxonomies.diagnostics, *check_taxonomies(taxonomies, RULES)]
    return [(d.code, d.message, text[d.labels[0].span.start : d.labels[0].span.end]) for d in diagnostics]


def test_a_table_without_a_hazard_of_the_rules_is_reported() -> None:
    assert _diagnostics(read_taxonomies(Source("ours.toml", OURS))) == [
        ("SC777", "`ours` does not mention the hazard `flood-damage`, which `no-flood` name", "[ours]")
    ]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ('"no-flood"', '"no-floods"', ("SC775", "no rule is named `no-floods`", 'rules = ["no-floods"]')),
        ('"heat"', '"heath"', ("SC775", "no rule has the hazard `heath`", 'hazards = ["fire"')),
        ("noise =", "noises =", ("SC775", "no rule has the hazard `noises`", "noises = ")),
        ('reason = "nothing radiates here"', "", ("SC777", "`rays` has neither a rule nor a `reason`", "[ours.cat")),
        ('["human"]', '["humans"]', ("SC775", "unknown target of harm 'humans'", "targets = [")),
        ('title = "Rays"', 'titel = "Rays"', ("SC775", "unknown key 'titel'", "titel = ")),
        ('title = "Rays"', "title = 3", ("SC775", "`title` must be a text", "title = 3")),
        ('["spill"]', '"spill"', ("SC775", "`hazards` must be a list of names", 'hazards = "spill"')),
        ('title = "Ours"', 'colour = "red"', ("SC775", "unknown key 'colour'", "colour = ")),
        ("[ours]", "[ours", ("SC775", "this is not TOML: ", "")),
        ("[ours.left-out]", "[theirs]\n[ours.left-out]", ("SC775", "`theirs` has no categories", "[theirs]")),
        (
            'wet = { hazards = ["spill"], rules = ["no-flood"] }',
            "wet = 1",
            ("SC775", "`wet` must be a table", "wet = 1"),
        ),
    ],
)
def test_a_mistake_in_a_table_is_reported_at_its_place(before: str, after: str, expected: tuple[str, str, str]) -> None:
    assert before in OURS
    diagnostics = _diagnostics(read_taxonomies(Source("ours.toml", OURS.replace(before, after, 1))))
    code, message, place = expected
    assert any(c == code and m.startswith(message) and p.startswith(place) for c, m, p in diagnostics), diagnostics


def test_a_user_can_load_another_table(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(OURS, encoding="utf-8")
    assert [taxonomy.name for taxonomy in load_taxonomies(str(path)).taxonomies] == ["ours"]
    assert load_taxonomies().table.name == SHIPPED_TABLE
    with pytest.raises(KeyError):
        load_taxonomies(str(path))["safel"]
    with pytest.raises(OSError, match="nowhere"):
        load_taxonomies(str(tmp_path / "nowhere.toml"))


@pytest.mark.parametrize(
    "text", ["", "[" * 200, "x" * 20_000, "a = 1", "[a]\nb = [[1]]", '"" = {}', "[a.categories]\nb.hazards = [1]"]
)
def test_any_text_is_read_or_refused(text: str) -> None:
    taxonomies = read_taxonomies(Source("t.toml", text))
    assert taxonomies.diagnostics or not taxonomies.taxonomies
    for diagnostic in taxonomies.diagnostics:
        span = diagnostic.labels[0].span
        assert 0 <= span.start <= span.end <= len(text)
