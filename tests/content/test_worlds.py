"""Each rule of the library that applies in a world has a plan there that breaks it, and a plan that keeps it.

``worlds/WORLD.txt`` has a scene, and for each rule two executable plans of the world: one breaks the rule, the other
keeps it. The steps omit their last argument, the agent. (The world of the ontology and ``household`` have their cases
in ``home/``.)
"""

from __future__ import annotations

from pathlib import Path

import pytest
from home_cases import library_sources
from mapping_texts import coverage_of_world, make_checker, read_cells

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.reporting.report import Report
from quick import quick_every

HERE = Path(__file__).resolve().parent / "worlds"
AGENT = {"omnigibson": "me"}


def _read_world(world: str) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    """Return the scene of a world, and the plans of each rule."""
    scene, *blocks = (HERE / f"{world}.txt").read_text(encoding="utf-8").strip().split("\n\n")
    rules = {}
    for block in blocks:
        name, _, plans = block.partition("\n")
        rules[name] = read_cells(plans)
    return read_cells(scene), rules


SCENES = {world: _read_world(world) for world in AGENT}


@pytest.fixture(scope="module")
def checkers() -> dict[str, Checker]:
    """Return a checker of the library in the scene of each world."""
    checker_by_world = {}
    for world, (scene, _) in SCENES.items():
        checker = make_checker(world, library_sources(world), scene["things"], scene["facts"])
        assert checker.ok, checker.diagnostics
        checker_by_world[world] = checker
    return checker_by_world


@pytest.mark.parametrize(
    ("world", "rule"), quick_every(10, [(world, rule) for world, (_, rules) in SCENES.items() for rule in rules])
)
def test_plans_of_the_world_break_and_keep_each_rule(checkers: dict[str, Checker], world: str, rule: str) -> None:
    def check_plan(plan: str) -> Report:
        steps = SCENES[world][1][rule][plan].replace(")", f" {AGENT[world]})")
        report = checkers[world].check(Source(f"{plan}.plan", steps))
        assert report.executable.value == "ALL", (plan, [finding.message for finding in report.findings])
        return report

    assert rule in {finding.rule for finding in check_plan("breaks").findings}
    assert rule not in {finding.rule for finding in check_plan("keeps").findings}


@pytest.mark.parametrize("world", AGENT)
def test_every_applicable_rule_has_plans(world: str) -> None:
    assert set(SCENES[world][1]) == set(coverage_of_world(world).applicable)
