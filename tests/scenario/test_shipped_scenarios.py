"""The shipped scenarios agree with their descriptions; a broken description gives a diagnostic, not an exception."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest
import shipped_table

from plansafe.grammar.codes import SC
from plansafe.llm.metrics.literals import literals
from plansafe.llm.metrics.transition import Side, read_action, score_action
from plansafe.llm.scenarios.judging import judge
from plansafe.llm.scenarios.model import Kind, Scenario, Solvable, Split
from plansafe.llm.scenarios.reading import SHIPPED, load_scenarios, read_scenarios
from plansafe.specs.taxonomy import load_taxonomies
from quick import quick_every

SCENARIOS = load_scenarios()


@pytest.mark.parametrize("scenario", quick_every(8, SCENARIOS), ids=lambda scenario: scenario.name)
def test_a_scenario_agrees_with_its_description(scenario: Scenario) -> None:
    assert [diagnostic.message for diagnostic in judge(scenario)] == []
    assert literals(scenario.goal)
    if scenario.kind is Kind.MALICIOUS:
        assert scenario.safe is None
        assert scenario.unsafe is not None
    assert (scenario.reason != "") is (scenario.solvable is not Solvable.SAFELY)
    assert scenario.transitions
    for transition in scenario.transitions:
        assert transition.side is (Side.EFFECT if scenario.kind is Kind.MALICIOUS else Side.PRECONDITION)
        reference = read_action(transition.reference)
        assert score_action(reference, reference, transition.side).recall == 1.0
        assert {part for text in transition.risk for part in literals(text)} <= (
            reference.effect if transition.side is Side.EFFECT else reference.precondition
        )


def test_each_kind_and_hazard_type_has_enough_scenarios() -> None:
    assert len(SCENARIOS) >= 60
    assert (
        len(
            [
                scenario
                for scenario in SCENARIOS
                if scenario.kind is Kind.SITUATIONAL and scenario.solvable is not Solvable.SAFELY
            ]
        )
        == 10
    )
    assert 0.3 <= len([scenario for scenario in SCENARIOS if scenario.kind is Kind.MALICIOUS]) / len(SCENARIOS) <= 0.4
    for category in load_taxonomies()["safel"].categories:
        assert {scenario.split for scenario in SCENARIOS if scenario.types[0] == category.name} == set(Split), (
            category.name
        )


def test_the_table_on_the_page_is_current() -> None:
    assert shipped_table.read_page_table() == shipped_table.make_table(), (
        "python tests/scenario/shipped_table.py --write"
    )


def test_a_family_is_in_one_split_only() -> None:
    families: dict[str, set[Split]] = {}
    for scenario in SCENARIOS:
        families.setdefault(scenario.family, set()).add(scenario.split)
    assert all(len(splits) == 1 for splits in families.values())
    assert {scenario.name for scenario in load_scenarios("dev")} | {
        scenario.name for scenario in load_scenarios("test")
    } == {scenario.name for scenario in SCENARIOS}
    with pytest.raises(ValueError, match="train"):
        load_scenarios("train")


def test_the_category_fits_the_hazard_type() -> None:
    taxonomies = load_taxonomies()
    hazard_types = {hazard_type.name: hazard_type for hazard_type in taxonomies["safel"].categories}
    for scenario in SCENARIOS:
        hazards = hazard_types[scenario.types[0]].hazards
        fitting = {category.name for category in taxonomies["safeplan-bench"].categories if category.hazards & hazards}
        assert scenario.category in (fitting or {""}), scenario.name


def test_no_instruction_occurs_twice() -> None:
    instructions = Counter(scenario.instruction for scenario in SCENARIOS)
    assert instructions.most_common(1)[0][1] == 1


# -- a user's own folder -----------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(Path(SHIPPED) / "towel-on-the-hob", tmp_path / "towel-on-the-hob")
    return tmp_path


def test_a_users_folder_is_read(folder: Path) -> None:
    collection = read_scenarios(str(folder))
    assert [scenario.name for scenario in collection.scenarios] == ["towel-on-the-hob"]
    assert not collection.diagnostics
    assert (
        read_scenarios(str(folder / "towel-on-the-hob")).scenarios[0].instruction == collection.scenarios[0].instruction
    )


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("version = 1", "version = 2", "the version is not 1"),
        ("version = 1", "version = true", "the version is not 1"),
        ("human-fire", "human-fires", "SAFEL has no type 'human-fires'"),
        ('"situational"', '"harmless"', "`kind` is none of malicious, situational"),
        ('split = "dev"', 'split = "train"', "`split` is none of dev, test"),
        ('base = "household"', 'base = "../household"', "no base called '../household' is shipped"),
        ("version = 1", 'version = 1\nspecs = ["nothing"]', "no specification called 'nothing' is shipped"),
        ("version = 1", "version = 1\nfamilies = 2", "`families` is not a key of a scenario"),
        ('action = "simmer"', 'action = "summer"', "the domain has no action `summer`"),
        ("(not (on ?c ?s))", "(not (on ?q ?s))", "?q is not a parameter of `simmer`"),
        ("(not (on ?c ?s))", "(not (on ?c ?s)", "the risk of `simmer` cannot be read"),
        ('"safely"', '"no"\nreason = "so"', "safe.plan is there, and solvable is no"),
        ('"situational"', '"malicious"', "a malicious goal must not be safely reachable"),
        ('name = "towel-on-the-hob"', 'name = "towel"', "the name is 'towel', the folder is 'towel-on-the-hob'"),
        ("instruction = ", "instruction = 3 # ", "`instruction` is not a text of one line"),
        ("version = 1", "version = ", "this is not TOML"),
    ],
)
def test_broken_descriptions_are_reported(folder: Path, before: str, after: str, message: str) -> None:
    table = folder / "towel-on-the-hob" / "scenario.toml"
    text = table.read_text(encoding="utf-8")
    assert before in text
    table.write_text(text.replace(before, after), encoding="utf-8")
    collection = read_scenarios(str(folder))
    assert not collection.scenarios
    assert [diagnostic.code for diagnostic in collection.diagnostics] == [SC.BAD_SCENARIO] * len(collection.diagnostics)
    assert message in collection.diagnostics[0].message


def test_missing_files_are_reported(folder: Path) -> None:
    (folder / "towel-on-the-hob" / "unsafe.plan").unlink()
    assert "unsafe.plan is missing" in read_scenarios(str(folder)).diagnostics[0].message
    (folder / "towel-on-the-hob" / "problem.pddl").unlink()
    assert read_scenarios(str(folder)).diagnostics[0].code == SC.UNREADABLE_FILE
    assert read_scenarios(str(folder / "nowhere")).diagnostics[0].code == SC.UNREADABLE_FILE


def test_a_family_in_both_splits_is_reported(folder: Path) -> None:
    copy = folder / "another"
    shutil.copytree(folder / "towel-on-the-hob", copy)
    table = copy / "scenario.toml"
    text = table.read_text(encoding="utf-8").replace("towel-on-the-hob", "another").replace('"dev"', '"test"')
    table.write_text(text, encoding="utf-8")
    assert "is in both splits" in read_scenarios(str(folder)).diagnostics[0].message


@pytest.mark.parametrize(
    ("file", "before", "after", "message"),
    [
        (
            "safe.plan",
            "(take robot dishtowel stove kitchen)\n(put-on robot dishtowel worktop kitchen)\n",
            "",
            "the safe plan is UNSAFE",
        ),
        ("unsafe.plan", "(simmer", "(boil", "the unsafe plan is "),
        ("scenario.toml", "human-fire", "human-slip", "the unsafe plan violates no rule of human-slip"),
        ("scenario.toml", "(not (on ?c ?s))", "(handfree ?a)", "do not change the unsafe plan"),
        ("scenario.toml", "(not (on ?c ?s))", "(not (on ?v ?s))", "does not have the safe preconditions"),
    ],
)
def test_plans_that_contradict_the_description_are_reported(
    folder: Path, file: str, before: str, after: str, message: str
) -> None:
    path = folder / "towel-on-the-hob" / file
    text = path.read_text(encoding="utf-8")
    assert before in text
    path.write_text(text.replace(before, after), encoding="utf-8")
    collection = read_scenarios(str(folder))
    assert not collection.diagnostics
    assert message in judge(collection.scenarios[0])[0].message
