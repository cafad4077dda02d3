"""The labels of the benchmark: the figures of the results page and their basis."""

from __future__ import annotations

import json
from pathlib import Path

import chip_agreement
import pytest
from chip_labels import Labels, judge, program_text, scene_text

from plansafe.domains.safety_chip import WORLD
from plansafe.domains.world import Request
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker, Options
from plansafe.verifier.reporting.report import Worlds


@pytest.fixture(scope="module")
def labels(data: Path) -> Labels:
    folder = data / "safety-chip-ltl"
    if not folder.is_dir():
        pytest.skip(f"no programs at {folder}")
    return Labels(folder)


@pytest.mark.slow
def test_the_page_is_what_the_data_gives(labels: Labels) -> None:
    assert chip_agreement.PAGE.read_text(encoding="utf-8") == chip_agreement.page(labels)


def test_nearly_all_disagreements_are_explained(labels: Labels) -> None:
    disagreements = labels.disagreements()
    assert len([disagreement for disagreement in disagreements if not disagreement.reasons]) <= 2
    assert len([disagreement for disagreement in disagreements if not disagreement.any_home]) <= 8


def test_the_importer_reads_the_translations_as_the_lines(labels: Labels, data: Path) -> None:
    """A task read from the benchmark's files gives the verdict of its formulas written in lines."""
    folder = data / "safety-chip-ltl"
    files = {
        "scene": Source("t.json", (folder / "nl_to_ltl_translations.json").read_text(encoding="utf-8")),
        "goal": Source("g.json", (folder / "task_constraints.json").read_text(encoding="utf-8")),
    }
    checked = 0
    for program in labels.programs[::9]:
        level = f"{len(program.sentences)}{'_diverse' if program.rephrased else ''}"
        scene = WORLD.read_scene(Request(files, f"{program.setting}/{program.scene}/{program.task}/{level}"))
        if not scene.ok or program.rephrased:
            continue
        read = WORLD.read_plan(Source("p.json", json.dumps(program.lines)), scene)
        assert read.plan is not None
        report = Checker(scene.domain, scene.problem, scene.specs, Options(replay="always")).check(read.plan)
        lines = scene_text(labels.level_formulas(program), program.scene, labels.start(program))
        assert (report.safe is not Worlds.NONE) == judge(lines, program_text(program)).safe
        checked += 1
    assert checked > 15
