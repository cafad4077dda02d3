"""The public data of BEHAVIOR: activities, gold plans, and action sequences of people."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from behavior_data import JudgedPlan, activities, data_folder, gold, human, source
from run_human import activity_name, make_table, read_fault_reasons, summarise

from plansafe.domains.behavior import WORLD
from plansafe.domains.world import Request
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.reporting.report import Headline

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def published() -> list[JudgedPlan]:
    return list(gold(data_folder(), published=True))


@pytest.fixture(scope="module", autouse=True)
def _present() -> None:
    for name in ("eai-behavior", "bddl-behavior1k", "bddl-behavior100"):
        if not (data_folder() / name).is_dir():
            pytest.skip(f"no {name} in {data_folder()} (set PLANSAFE_DATA)")


def test_all_activities_are_read() -> None:
    sources = activities(data_folder())
    assert len(sources) == 781
    for number, text in enumerate(sources):
        scene = WORLD.read_scene(Request({"scene": text}))
        assert scene.ok, (text.name, scene.notes)
        if number % 20 == 0:  # run_activities.py checks all
            checker = Checker(scene.domain, scene.problem)
            assert checker.ok, (text.name, checker.diagnostics)


def test_gold_plans_are_valid_under_the_published_domain(published: list[JudgedPlan]) -> None:
    assert len(published) == 70
    failing = [plan for plan in published if plan.verdict != "VALID"]
    assert [activity_name(plan) for plan in failing] == ["cleaning_floors"]
    errors = {(note.code, note.message) for note in failing[0].diagnostics}
    assert errors == {("SC108", "unknown object `cleansing_agent_n_01_1`")}


def test_the_undeclared_object_is_the_only_fault_of_its_problem(published: list[JudgedPlan]) -> None:
    folder = data_folder() / "eai-behavior"
    [unread] = [plan for plan in published if plan.report is None]
    path = folder / "problem_pddl" / f"{unread.name}.pddl"
    text = path.read_text()
    line = source(path).position(unread.diagnostics[0].labels[0].span.start)[0]
    assert "cleansing_agent_n_01_1" in text.splitlines()[line - 1]
    declared = text.replace("(:objects ", "(:objects cleansing_agent_n_01_1 - cleansing_agent_n_01 ")
    checker = Checker(source(folder / "domain" / "behavior.pddl"), Source(path.name, declared))
    report = checker.check(Source("plan", "\n".join(f"({step})" for step in unread.written)))
    assert report.headline is Headline.VALID


@pytest.mark.slow
def test_gold_plans_under_our_domain_fail_for_the_listed_reasons() -> None:
    lines = (HERE / "gold_differences.txt").read_text().splitlines()
    listed = dict(line.split() for line in lines if not line.startswith("#"))
    reasons_found: dict[str, str] = {}
    for plan in gold(data_folder(), published=False):
        first = plan.first()
        if first is None or first.step is None:
            continue
        name, *arguments = plan.written[first.step - 1].split()
        if first.code == "SC404" and name == "open":
            reasons_found[activity_name(plan)] = "opens"
        elif first.code == "SC301" and name.startswith("place_nextto") and arguments[0] == arguments[1]:
            reasons_found[activity_name(plan)] = "itself"
        elif first.code == "SC404" and name == "grasp":
            reasons_found[activity_name(plan)] = "built-in"
        else:
            reasons_found[activity_name(plan)] = first.message
    assert reasons_found == listed


@pytest.mark.slow
def test_the_page_has_the_verdicts_on_sequences_of_people(root: Path) -> None:
    plans = list(human(data_folder()))
    assert len(plans) == 70
    assert all(plan.report is not None for plan in plans)
    failing = {activity_name(plan) for plan in plans if plan.verdict != "VALID"}
    assert failing == set(read_fault_reasons())
    page = (root / "bench/results/behavior.md").read_text()
    assert summarise(plans) in page
    for row in make_table(plans):
        assert row in page


def test_every_category_of_behavior_100_is_declared() -> None:
    domain_text = WORLD.read_scene(Request({"scene": activities(data_folder())[-1]})).domain.text
    for definition in activities(data_folder()):
        if "(:domain igibson)" not in definition.text:
            continue
        for category in re.findall(r"- ([a-z_'-]+\.n\.\d+)", definition.text.lower()):
            assert re.search(rf"\s{re.escape(category.replace('.', '_'))}\s", domain_text), category
