"""The shipped sets of scenarios: they load quickly, hold what their cards say, and their scenarios are accepted."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest
from bench.scenarios.replays import replay_set
from bench.scenarios.set_figures import nearest_scores, set_figures
from bench.scenarios.shortcuts import measure_shortcuts
from bench.scenarios.splits import splits_text
from shipped_set import load_in_time

from plansafe.grammar.source import Source
from plansafe.llm.bench.sources import TaskSelection, tasks_of
from plansafe.llm.scenarios.model import Kind, Scenario, Split
from plansafe.llm.scenarios.reading import load_scenarios
from plansafe.llm.scenarios.sets.acceptance import MOST_OF_A_STRUCTURE, NOVELTY, accept
from plansafe.llm.scenarios.sets.part_files import Entry, read_part
from plansafe.llm.scenarios.sets.reading import family_splits, part_paths, rule_splits, set_folder
from plansafe.llm.scenarios.sets.structure import rule_key, structure_of
from plansafe.llm.scenarios.sheets import draw_scenarios
from plansafe.specs.taxonomy import load_taxonomies

NAME = "embodyguard-like"
FOLDER = Path(set_folder(NAME))
SAMPLE = 12


@pytest.fixture(scope="module")
def scenarios() -> tuple[Scenario, ...]:
    return load_in_time(NAME)


def entries() -> dict[str, Entry]:
    parts = [read_part(Source.from_path(path)) for path in part_paths(str(FOLDER))]
    return {entry.name: entry for part in parts for entry in part.entries}


def test_the_set_has_the_size_of_the_paper_s(scenarios: tuple[Scenario, ...]) -> None:
    kinds = Counter([scenario.kind for scenario in scenarios])
    assert len(scenarios) >= 800
    assert kinds[Kind.MALICIOUS] >= 450
    assert kinds[Kind.SITUATIONAL] >= 350
    categories = load_taxonomies()["safel"].categories
    types = Counter([scenario.types[0] for scenario in scenarios])
    assert min([types[category.name] for category in categories]) >= 20
    targets = Counter({target: 0 for category in categories for target in category.targets})
    for category in categories:
        targets.update(dict.fromkeys(category.targets, types[category.name]))
    assert min(targets.values()) >= 100


@pytest.mark.slow
def test_words_and_structures_do_not_repeat(scenarios: tuple[Scenario, ...]) -> None:
    assert max(nearest_scores(scenarios)) < NOVELTY
    assert max(Counter([structure_of(scenario) for scenario in scenarios]).values()) <= MOST_OF_A_STRUCTURE
    all_scenarios = (*scenarios, *load_scenarios())
    assert len({scenario.name for scenario in all_scenarios}) == len(all_scenarios)


def test_the_splits_are_those_of_the_file(scenarios: tuple[Scenario, ...]) -> None:
    assert (FOLDER / "splits.json").read_text(encoding="utf-8") == splits_text(scenarios)
    assert set(family_splits(str(FOLDER))) == {scenario.family for scenario in scenarios}
    by_rule = rule_splits(str(FOLDER))
    assert set(by_rule) == {scenario.name for scenario in scenarios}
    halves: dict[str, set[Split]] = {}
    for scenario in scenarios:
        halves.setdefault(rule_key(scenario), set()).add(by_rule[scenario.name])
    assert {len(splits) for splits in halves.values()} == {1}
    for split in Split:
        assert 0.4 < sum([scenario.split is split for scenario in scenarios]) / len(scenarios) < 0.6


@pytest.mark.slow
def test_words_alone_do_not_reveal_the_kind(scenarios: tuple[Scenario, ...]) -> None:
    shares = {(shortcut.sees, shortcut.classifier): shortcut.share for shortcut in measure_shortcuts(scenarios)}
    shares_without_plans = {
        name: share for name, share in shares.items() if name[0] in ("instruction", "names of new actions")
    }
    assert len(shares_without_plans) == 4
    assert max(shares_without_plans.values()) <= 0.75, shares_without_plans


@pytest.mark.slow
def test_the_card_has_the_figures_of_the_set(scenarios: tuple[Scenario, ...]) -> None:
    assert set_figures(scenarios, rule_splits(str(FOLDER))) in (FOLDER / "README.md").read_text(encoding="utf-8")


def test_a_sample_is_accepted(scenarios: tuple[Scenario, ...]) -> None:
    entries_by_name = entries()
    for scenario in draw_scenarios(scenarios, SAMPLE, 1):
        assert not accept(entries_by_name[scenario.name]).faults, scenario.name


def test_a_sample_replays(scenarios: tuple[Scenario, ...]) -> None:
    for plan_replays in replay_set(draw_scenarios(scenarios, 2 * SAMPLE, 2)):
        assert plan_replays.replays
        assert {replay.succeeds for replay in plan_replays.replays} == {plan_replays.plan == "situational, reference"}
        assert all([replay.goal and replay.kernel for replay in plan_replays.replays])


def test_the_tests_of_safel_take_the_set() -> None:
    tasks = tasks_of(TaskSelection(folder=NAME, split="test", limit=20))
    assert len(tasks) == 20
    assert {task.refuse for task in tasks} == {True, False}
    assert all([task.modelled for task in tasks])


@pytest.mark.whole
@pytest.mark.parametrize("part", part_paths(str(FOLDER)), ids=os.path.basename)
def test_every_scenario_is_accepted(part: str) -> None:
    faults = {entry.name: accept(entry).faults for entry in read_part(Source.from_path(part)).entries}
    assert not {name: entry_faults for name, entry_faults in faults.items() if entry_faults}


@pytest.mark.slow
def test_every_plan_replays(scenarios: tuple[Scenario, ...]) -> None:
    for plan_replays in replay_set(scenarios):
        assert {replay.succeeds for replay in plan_replays.replays} == {plan_replays.plan == "situational, reference"}
        assert all([replay.goal for replay in plan_replays.replays])
