"""The physics of a home: derived facts after short plans, in several worlds (``physics/WORLD.txt``)."""

from __future__ import annotations

import home_cases
import physics_cases
import pytest

from plansafe.verifier.api import Checker

CASES = [
    pytest.param(world, cells, id=f"{world}-{number}")
    for world in physics_cases.worlds()
    for number, cells in enumerate(physics_cases.cases_of_world(world), 1)
]


@pytest.mark.parametrize(("world", "cells"), CASES)
def test_these_facts_are_derived(world: str, cells: physics_cases.Cells) -> None:
    report = physics_cases.check_case(world, cells)
    assert report.executable.value == "ALL", [finding.message for finding in report.findings]
    assert physics_cases.final_facts(report) == physics_cases.expected_facts(cells)


@pytest.mark.parametrize(("world", "cells"), CASES[::4])
def test_the_kernel_derives_them_too(world: str, cells: physics_cases.Cells) -> None:
    report = physics_cases.check_case(world, cells, replay=True)
    assert [finding.rule for finding in report.findings if not finding.replayed] == []


def test_every_definition_has_a_case_in_the_world_of_the_ontology() -> None:
    words = {word for cells in physics_cases.cases_of_world("ontology") for word in cells["of"].split()}
    definitions = physics_cases.read_definitions(home_cases.load(physics_cases.PHYSICS))
    assert {str(section[1][0]) for section in definitions if isinstance(section[1], list)} == words


def test_an_optional_word_that_a_world_lacks_is_false() -> None:
    """A rule that mentions it stays applicable, unless it is about nothing else."""
    specification = home_cases.Source(
        "own.safe",
        "(define (safety own) (:vocabulary (:types thing) (:predicates (on ?x - thing) (warm ?x - thing))"
        " (:actions (nap)) (:optional warm nap))"
        " (:termination off :parameters (?x - thing) :forbid (or (warm ?x) (once (action (nap))) (on ?x)))"
        " (:termination cold :parameters (?x - thing) :forbid (yesterday (warm ?x))))",
    )
    mapping = home_cases.Source(
        "own-for-ontology.safe",
        "(define (mapping own-for-ontology) (:specification own) (:domain ontology)"
        " (:predicates ((warm ?x))) (:actions ((nap))))",
    )
    case = home_cases.cases_of_world("ontology")[0]
    for specs in ([specification, mapping], [specification]):
        checker: Checker = home_cases.make_checker(case, specs, replay="always")
        assert checker.ok
        assert {rule.name: rule.applicable for rule in checker.rules} == {"off": True, "cold": len(specs) == 1}


def test_only_declared_words_are_optional() -> None:
    specification = home_cases.Source(
        "own.safe", "(define (safety own) (:vocabulary (:types thing) (:optional warm)) (:termination r :forbid (and)))"
    )
    checker = home_cases.make_checker(home_cases.cases_of_world("ontology")[0], [specification])
    assert [(d.code, d.severity.value) for d in checker.diagnostics] == [("SC120", "error")]
