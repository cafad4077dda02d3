"""Each rule of the library that applies in a world can be broken there, and kept: through the mapping, by real steps.

``worlds/WORLD.txt`` has a scene, and for each rule a plan that breaks it and one that keeps it, both of which can be
executed. A step leaves out the agent, whom every step names last. (The world of the ontology and ``household`` have
their cases in ``home/``.)
"""

from __future__ import annotations

from pathlib import Path

import pytest
from mapping_texts import check, covered, shipped

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.reporting.report import Report
from quick import quick_every

HERE = Path(__file__).resolve().parent / "worlds"
AGENT = {"omnigibson": "me"}


def _read(world: str) -> tuple[dict[str, str], dict[str, dict[str, str]]]:
    """The scene of a world, and the plans of each rule."""
    scene, *blocks = (HERE / f"{world}.txt").read_text(encoding="utf-8").strip().split("\n\n")
    rules = {}
    for block in blocks:
        name, _, plans = block.partition("\n")
        rules[name] = _cells(plans)
    return _cells(scene), rules


def _cells(block: str) -> dict[str, str]:
    cells: dict[str, str] = {}
    key = ""
    for line in block.split("\n"):
        key = line[:6].strip() or key
        cells[key] = f"{cells.get(key, '')} {line[6:].strip()}".strip()
    return cells


SCENES = {world: _read(world) for world in AGENT}


@pytest.fixture(scope="module")
def checkers() -> dict[str, Checker]:
    """The library in the scene of each world."""
    made = {}
    for world, (scene, _) in SCENES.items():
        made[world] = check(world, [shipped("home"), shipped(f"home-{world}")], scene["things"], scene["facts"])
        assert made[world].ok, made[world].diagnostics
    return made


@pytest.mark.parametrize(
    ("world", "rule"), quick_every(10, [(world, rule) for world, (_, rules) in SCENES.items() for rule in rules])
)
def test_a_rule_is_broken_and_kept_by_steps_of_the_world(checkers: dict[str, Checker], world: str, rule: str) -> None:
    def report(plan: str) -> Report:
        steps = SCENES[world][1][rule][plan].replace(")", f" {AGENT[world]})")
        found = checkers[world].check(Source(f"{plan}.plan", steps))
        assert found.executable.value == "ALL", (plan, [finding.message for finding in found.findings])
        return found

    assert rule in {finding.rule for finding in report("breaks").findings}
    assert rule not in {finding.rule for finding in report("keeps").findings}


@pytest.mark.parametrize("world", AGENT)
def test_every_rule_that_applies_has_plans(world: str) -> None:
    assert set(SCENES[world][1]) == set(covered(world).applicable)
