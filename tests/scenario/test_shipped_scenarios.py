"""The scenarios that come with safecheck hold what their descriptions say; broken descriptions are told, not raised."""

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

ALL = load_scenarios()


@pytest.mark.parametrize("scenario", quick_every(8, ALL), ids=lambda one: one.name)
def test_it_holds_what_it_says(scenario: Scenario) -> None:
    assert [one.message for one in judge(scenario)] == []
    assert literals(scenario.goal)
    if scenario.kind is Kind.MALICIOUS:
        assert scenario.safe is None
        assert scenario.unsafe is not None
    assert (scenario.reason != "") is (scenario.solvable is not Solvable.SAFELY)
    assert scenario.transitions
    for one in scenario.transitions:
        assert one.side is (Side.EFFECT if scenario.kind is Kind.MALICIOUS else Side.PRECONDITION)
        reference = read_action(one.reference)
        assert score_action(reference, reference, one.side).recall == 1.0
        assert {part for text in one.risk for part in literals(text)} <= (
            reference.effect if one.side is Side.EFFECT else reference.precondition
        )


def test_there_are_enough_of_every_kind() -> None:
    assert len(ALL) >= 60
    assert len([one for one in ALL if one.kind is Kind.SITUATIONAL and one.solvable is not Solvable.SAFELY]) == 10
    assert 0.3 <= len([one for one in ALL if one.kind is Kind.MALICIOUS]) / len(ALL) <= 0.4
    for category in load_taxonomies()["safel"].categories:
        assert {one.split for one in ALL if one.types[0] == category.name} == set(Split), category.name


def test_the_table_on_the_page_is_current() -> None:
    assert shipped_table.shown() == shipped_table.table(), "python tests/scenario/shipped_table.py --write"


def test_the_halves_are_apart() -> None:
    families: dict[str, set[Split]] = {}
    for one in ALL:
        families.setdefault(one.family, set()).add(one.split)
    assert all(len(splits) == 1 for splits in families.values())
    assert {one.name for one in load_scenarios("dev")} | {one.name for one in load_scenarios("test")} == {
        one.name for one in ALL
    }
    with pytest.raises(ValueError, match="train"):
        load_scenarios("train")


def test_categories_are_those_of_the_type() -> None:
    taxonomies = load_taxonomies()
    types = {one.name: one for one in taxonomies["safel"].categories}
    for scenario in ALL:
        hazards = types[scenario.types[0]].hazards
        fitting = {one.name for one in taxonomies["safeplan-bench"].categories if one.hazards & hazards}
        assert scenario.category in (fitting or {""}), scenario.name


def test_instructions_are_told_apart() -> None:
    said = Counter(one.instruction for one in ALL)
    assert said.most_common(1)[0][1] == 1


# -- a user's own folder -----------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(Path(SHIPPED) / "towel-on-the-hob", tmp_path / "towel-on-the-hob")
    return tmp_path


def test_a_folder_of_ones_own_is_read(folder: Path) -> None:
    found = read_scenarios(str(folder))
    assert [one.name for one in found.scenarios] == ["towel-on-the-hob"]
    assert not found.diagnostics
    assert read_scenarios(str(folder / "towel-on-the-hob")).scenarios[0].instruction == found.scenarios[0].instruction


@pytest.mark.parametrize(
    ("before", "after", "said"),
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
def test_broken_descriptions_are_told(folder: Path, before: str, after: str, said: str) -> None:
    table = folder / "towel-on-the-hob" / "scenario.toml"
    text = table.read_text(encoding="utf-8")
    assert before in text
    table.write_text(text.replace(before, after), encoding="utf-8")
    found = read_scenarios(str(folder))
    assert not found.scenarios
    assert [one.code for one in found.diagnostics] == [SC.BAD_SCENARIO] * len(found.diagnostics)
    assert said in found.diagnostics[0].message


def test_missing_files_are_told(folder: Path) -> None:
    (folder / "towel-on-the-hob" / "unsafe.plan").unlink()
    assert "unsafe.plan is missing" in read_scenarios(str(folder)).diagnostics[0].message
    (folder / "towel-on-the-hob" / "problem.pddl").unlink()
    assert read_scenarios(str(folder)).diagnostics[0].code == SC.UNREADABLE_FILE
    assert read_scenarios(str(folder / "nowhere")).diagnostics[0].code == SC.UNREADABLE_FILE


def test_a_family_in_both_halves_is_told(folder: Path) -> None:
    other = folder / "another"
    shutil.copytree(folder / "towel-on-the-hob", other)
    table = other / "scenario.toml"
    text = table.read_text(encoding="utf-8").replace("towel-on-the-hob", "another").replace('"dev"', '"test"')
    table.write_text(text, encoding="utf-8")
    assert "is in both splits" in read_scenarios(str(folder)).diagnostics[0].message


@pytest.mark.parametrize(
    ("file", "before", "after", "said"),
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
def test_what_does_not_hold_is_told(folder: Path, file: str, before: str, after: str, said: str) -> None:
    path = folder / "towel-on-the-hob" / file
    text = path.read_text(encoding="utf-8")
    assert before in text
    path.write_text(text.replace(before, after), encoding="utf-8")
    found = read_scenarios(str(folder))
    assert not found.diagnostics
    assert said in judge(found.scenarios[0])[0].message
