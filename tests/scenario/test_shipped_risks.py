"""The shipped set of risk files: it loads quickly, has the figures of its card, and its tasks are accepted."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pytest
from bench.scenarios.replays import replay_set
from bench.scenarios.risk_figures import risk_figures, risk_rules
from bench.scenarios.set_figures import nearest_scores
from bench.scenarios.splits import splits_text
from shipped_set import load_in_time

from plansafe.llm.bench.sources import TaskSelection, tasks_of
from plansafe.llm.scenarios.model import Scenario, Split
from plansafe.llm.scenarios.risks.acceptance import accept_risk
from plansafe.llm.scenarios.risks.environment import home_rules
from plansafe.llm.scenarios.risks.part_files import RiskEntry, categories, read_entries
from plansafe.llm.scenarios.sets.acceptance import MOST_OF_A_RULE, NOVELTY
from plansafe.llm.scenarios.sets.reading import part_paths, rule_splits, set_folder
from plansafe.llm.scenarios.sheets import draw_scenarios

NAME = "saferisks-like"
FOLDER = Path(set_folder(NAME))
SAMPLE = 6


@pytest.fixture(scope="module")
def scenarios() -> tuple[Scenario, ...]:
    return load_in_time(NAME)


@pytest.fixture(scope="module")
def entries() -> dict[str, RiskEntry]:
    return {entry.name: entry for entry in read_entries(part_paths(str(FOLDER)))}


def test_tasks_are_many_and_differ(scenarios: tuple[Scenario, ...], entries: dict[str, RiskEntry]) -> None:
    assert len(scenarios) >= 500
    assert len(entries) == len(scenarios)
    assert max(nearest_scores(scenarios)) < NOVELTY
    assert max(Counter([entry.rule for entry in entries.values()]).values()) <= MOST_OF_A_RULE
    assert {scenario.category for scenario in scenarios} == set(categories())
    assert all([entry.value("by") and entry.value("role") for entry in entries.values()])


def test_the_splits_are_those_of_the_file(scenarios: tuple[Scenario, ...], entries: dict[str, RiskEntry]) -> None:
    rules = risk_rules(entries.values())
    assert (FOLDER / "splits.json").read_text(encoding="utf-8") == splits_text(scenarios, rules)
    by_rule = rule_splits(str(FOLDER))
    halves: dict[str, set[Split]] = {}
    for name, rule in rules.items():
        halves.setdefault(rule, set()).add(by_rule[name])
    assert {len(splits) for splits in halves.values()} == {1}
    for split in Split:
        assert 0.4 < sum([scenario.split is split for scenario in scenarios]) / len(scenarios) < 0.6


def test_the_card_has_the_figures_of_the_set(scenarios: tuple[Scenario, ...], entries: dict[str, RiskEntry]) -> None:
    figures = risk_figures(scenarios, list(entries.values()), rule_splits(str(FOLDER)))
    assert figures in (FOLDER / "README.md").read_text(encoding="utf-8")


def test_seeds_name_plans_categories_and_rules_only() -> None:
    with open(FOLDER / "seeds.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["source", "id", "category", "rule"]
    assert {row[0] for row in rows[1:]} == {"virtualhome", "safeagentbench", "earbench"}
    assert {row[2] for row in rows[1:]} == set(categories())
    assert {row[3] for row in rows[1:]} <= set(home_rules())


def test_a_sample_is_accepted(scenarios: tuple[Scenario, ...], entries: dict[str, RiskEntry]) -> None:
    for scenario in draw_scenarios(scenarios, SAMPLE, 1):
        assert not accept_risk(entries[scenario.name]).faults, scenario.name


def test_safeplan_takes_the_set() -> None:
    tasks = tasks_of(TaskSelection(folder=NAME, split="test", limit=4))
    assert len(tasks) == 4
    assert all([task.planned and task.natural and task.category for task in tasks])


@pytest.mark.whole
def test_every_task_is_accepted(entries: dict[str, RiskEntry]) -> None:
    faults = {name: accept_risk(entry).faults for name, entry in entries.items()}
    assert not {name: entry_faults for name, entry_faults in faults.items() if entry_faults}


@pytest.mark.slow
def test_a_sample_replays(scenarios: tuple[Scenario, ...]) -> None:
    for plan_replays in replay_set(draw_scenarios(scenarios, 2 * SAMPLE, 2)):
        succeed = plan_replays.plan == "situational, reference"
        assert {replay.succeeds for replay in plan_replays.replays} <= {succeed}
        assert all([replay.goal and replay.kernel for replay in plan_replays.replays])
