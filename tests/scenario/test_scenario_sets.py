"""Sets of scenarios in part files: reading, acceptance, derived lines, splits, figures, and the four tests of SAFEL."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from bench.scenarios.replays import replay_set
from bench.scenarios.set_figures import rejection_table, set_figures
from bench.scenarios.shortcuts import measure_shortcuts
from bench.scenarios.splits import divide

from plansafe.grammar.codes import SC
from plansafe.grammar.source import Source
from plansafe.llm.bench.sources import TaskSelection, tasks_of
from plansafe.llm.scenarios.judging import judge
from plansafe.llm.scenarios.model import Kind, Scenario, Split
from plansafe.llm.scenarios.reading import load_scenarios, read_scenarios
from plansafe.llm.scenarios.sets import part_log
from plansafe.llm.scenarios.sets.acceptance import (
    MOST_OF_A_STRUCTURE,
    NOVELTY,
    Acceptance,
    ComparedScenario,
    Instructions,
    accept,
    risk_word,
    set_faults,
)
from plansafe.llm.scenarios.sets.part_files import Entry, read_part
from plansafe.llm.scenarios.sets.part_log import AcceptanceLog, accept_part, with_derived
from plansafe.llm.scenarios.sets.risk_literals import derive_risk
from plansafe.llm.scenarios.sets.structure import structure_of
from plansafe.llm.scenarios.sheets import draw_scenarios

PARTS = Path(__file__).parent / "parts"
ACCEPTED = PARTS / "accepted.scenarios"
REJECTED = Source.from_path(PARTS / "rejected.scenarios")
CODES = {name: code for code, name in re.findall(r"# expect: (\S+)\nscenario: (\S+)", REJECTED.text)}


def entries_of(text: str) -> list[Entry]:
    return list(read_part(Source("part", text)).entries)


def scenarios() -> tuple[Scenario, ...]:
    scenario_set = read_scenarios(str(ACCEPTED))
    assert not scenario_set.diagnostics
    return scenario_set.scenarios


# -- reading ----------------------------------------------------------------------------------------------------------


def test_a_part_file_gives_the_files_of_its_scenarios() -> None:
    baked, melted, carried = scenarios()
    assert (baked.kind, melted.kind, carried.types) == (Kind.SITUATIONAL, Kind.MALICIOUS, ("animal-trapping",))
    assert baked.family == melted.family == "oven-shelf"
    assert "(passage kitchen den) (passage den kitchen)" in melted.problem.text
    assert "robot - robot" in baked.problem.text
    assert "(handfree robot)" in baked.problem.text
    assert ":hazard burned-object :target property :severity high" in baked.specs[0].text
    assert carried.unsafe is not None
    assert len(carried.unsafe.text.splitlines()) == 5
    assert baked.safe is not None
    assert not any([judge(scenario) for scenario in (baked, melted, carried)])


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("kind: situational", "kind: harmless", 14, "`kind` is not one of"),
        ("hazard: property-burned-object", "hazard: property-burned", 15, "is not a hazard type"),
        ("rooms: kitchen\n", "room: kitchen\n", 18, "`room` is not a key of a scenario"),
        ("goal: (cooked loaf) (not", "goal: (cooked loaf) not", 22, "there is a `)` without `(`"),
        ("words: The loaf is baked and the oven is off.\n", "", 13, "`words:` is missing"),
        ("scenario: loaf-next-to-the-lunch-box", "scenario: The Loaf", 13, "is not a valid name"),
        ("scenario: controller-in-the-oven", "scenario: loaf-next-to-the-lunch-box", 43, "occurs twice in this file"),
        ("family: oven-shelf\n", "", 1, "a line `family: NAME` must come first"),
    ],
)
def test_mistakes_of_form_name_their_line(old: str, new: str, line: int, message: str) -> None:
    text = ACCEPTED.read_text(encoding="utf-8")
    assert old in text
    part = read_part(Source("part", text.replace(old, new, 1)))
    mistakes = [*part.mistakes, *[mistake for entry in part.entries for mistake in entry.mistakes]]
    assert any([message in mistake.message and mistake.line == line for mistake in mistakes]), mistakes


def test_mistakes_are_diagnostics_when_a_set_is_read(tmp_path: Path) -> None:
    text = ACCEPTED.read_text(encoding="utf-8").replace("hazard: animal-trapping", "hazard: animal-traps")
    (tmp_path / "a.scenarios").write_text(text, encoding="utf-8")
    scenario_set = read_scenarios(str(tmp_path))
    assert [diagnostic.code for diagnostic in scenario_set.diagnostics] == [SC.BAD_SCENARIO]
    assert len(scenario_set.scenarios) == 2
    shutil.copy(ACCEPTED, tmp_path / "b.scenarios")
    diagnostics = read_scenarios(str(tmp_path)).diagnostics
    assert any(["two scenarios are called" in diagnostic.message for diagnostic in diagnostics])


# -- acceptance -------------------------------------------------------------------------------------------------------


def test_good_scenarios_are_accepted() -> None:
    verdicts = [accept(entry) for entry in read_part(Source.from_path(ACCEPTED)).entries]
    assert [verdict.faults for verdict in verdicts] == [(), (), ()]
    assert verdicts[0].figures["detour"] is True
    assert verdicts[0].figures["natural_steps"] == 7
    assert len({verdict.structure for verdict in verdicts}) == 3


@pytest.mark.parametrize("entry", read_part(REJECTED).entries, ids=lambda entry: entry.name)
def test_bad_scenarios_are_rejected_for_the_stated_reason(entry: Entry) -> None:
    assert {fault.code for fault in accept(entry).faults} == {CODES[entry.name]}


def test_a_fault_names_the_line_of_the_part_file() -> None:
    entry = next(entry for entry in read_part(REJECTED).entries if entry.name == "predicate-is-misspelt")
    fault = accept(entry).faults[0]
    assert "inflammable" in REJECTED.text.splitlines()[fault.line - 1]


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("pour-into", ""),
        ("serve-breakfast", ""),
        ("charge", ""),
        ("poison-bowl", "poison"),
        ("smashing-up", "smashing"),
        ("shut-up", "shut-up"),
        ("crushed-x", "crushed"),
    ],
)
def test_names_of_actions_that_carry_the_risk(name: str, word: str) -> None:
    assert risk_word(name) == word


def verdict_of(name: str, instruction: str, structure: str) -> Acceptance:
    entry = entries_of(f"family: f\nscenario: {name}\ninstruction: {instruction}\n")[0]
    return Acceptance(entry, (), structure=structure)


def test_instructions_that_are_near_to_others_are_rejected() -> None:
    first = verdict_of("a", "Put the red cup on the table in the hall", "1")
    near = verdict_of("b", "Put the blue cup on the table in the hall", "2")
    far = verdict_of("c", "Water the fern", "3")
    faults = set_faults([first, near, far], [ComparedScenario("other", "d", "Please water the fern", "4")])
    assert {name: [fault.code for fault in faults_of_entry] for name, faults_of_entry in faults.items()} == {
        "a": [],
        "b": ["novelty"],
        "c": ["novelty"],
    }


def test_the_pruned_search_for_the_nearest_instruction_is_exact() -> None:
    from plansafe.llm.metrics.rouge import rouge_score_l

    texts = [scenario.instruction for scenario in load_scenarios()]
    instructions = Instructions()
    for number, text in enumerate(texts):
        nearest_score = max([rouge_score_l(text, earlier_text).f for earlier_text in texts[:number]], default=0.0)
        assert instructions.nearest(text)[1] == pytest.approx(nearest_score)
        instructions.add(text, str(number))
    assert NOVELTY == 0.7


def test_a_structure_occurs_at_most_five_times() -> None:
    words = ["fern", "cup", "lamp", "door", "sock", "bowl"]
    verdicts = [verdict_of(f"n{number}", f"Move the {word} {word}", "same") for number, word in enumerate(words)]
    faults = set_faults(verdicts, ())
    assert [name for name, faults_of_entry in faults.items() if faults_of_entry] == ["n5"]
    assert len(words) == MOST_OF_A_STRUCTURE + 1


def test_names_and_objects_do_not_change_the_structure(tmp_path: Path) -> None:
    text = ACCEPTED.read_text(encoding="utf-8")
    renamed = re.sub(r"\b(bake-through|loaf|lunch_box|inside-of|lure-into|carrier|minka)\b", r"\1x", text)
    (tmp_path / "a.scenarios").write_text(renamed, encoding="utf-8")
    renamed_scenarios = read_scenarios(str(tmp_path)).scenarios
    assert [structure_of(scenario) for scenario in renamed_scenarios] == [
        structure_of(scenario) for scenario in scenarios()
    ]
    changed = text.replace("(running ?o) (inside ?x ?o) (meltable ?x)", "(running ?o) (inside ?x ?o) (flammable ?x)")
    (tmp_path / "a.scenarios").write_text(changed, encoding="utf-8")
    assert structure_of(read_scenarios(str(tmp_path)).scenarios[0]) != structure_of(scenarios()[0])


def test_the_command_writes_what_it_derives_and_skips_what_is_unchanged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = ACCEPTED.read_text(encoding="utf-8")
    bare = re.sub(r"^(natural:\n(  .*\n)+|risk: .*\n)", "", text, flags=re.MULTILINE)
    assert bare != text
    path = tmp_path / "a.scenarios"
    path.write_text(bare, encoding="utf-8")
    log = AcceptanceLog(str(tmp_path / "log.jsonl"))
    verdict = accept_part(str(path), log)
    assert with_derived(verdict.source, verdict.verdicts) == text
    path.write_text(text, encoding="utf-8")
    monkeypatch.setattr(part_log, "accept", lambda *_: pytest.fail("judged again"))
    again = accept_part(str(path), AcceptanceLog(str(tmp_path / "log.jsonl")))
    assert [verdict.accepted for verdict in again.verdicts] == [True] * 3
    assert with_derived(again.source, again.verdicts) == text


def test_rejections_are_counted_by_reason(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    accept_part(str(PARTS / "rejected.scenarios"), AcceptanceLog(str(path)))
    table = rejection_table(path.read_text(encoding="utf-8").splitlines())
    assert f"{len(CODES)} proposals were judged, {len(CODES)} rejected (100.0%)." in table
    for code, count in Counter(CODES.values()).items():
        assert re.search(rf"\| `{code}` \| [^|]+ \| {count} \|", table)


def test_the_derived_risk_of_shipped_scenarios_is_the_stated_one() -> None:
    derived = {"antifreeze-in-the-cats-bowl", "fern-above-the-laptop", "soup-while-the-parrot-watches"}
    for scenario in load_scenarios():
        if scenario.name in derived:
            risk = derive_risk(replace(scenario, transitions=()))
            assert risk is not None
            assert (risk.action, (risk.literal,)) in [(row.action, row.risk) for row in scenario.transitions]


# -- sets -------------------------------------------------------------------------------------------------------------


def test_the_four_tests_of_safel_take_a_folder_of_part_files() -> None:
    tasks = {task.name: task for task in tasks_of(TaskSelection(folder=str(PARTS / "accepted.scenarios")))}
    assert tasks["controller-in-the-oven"].refuse
    assert tasks["loaf-next-to-the-lunch-box"].planned
    assert all([task.modelled for task in tasks.values()])
    assert tasks["carrier-in-the-attic"].action("lure-into") is not None


def test_splits_keep_families_and_rules_together() -> None:
    many = [
        replace(scenario, name=f"{scenario.name}-{number}", family=f"{scenario.family}-{number}")
        for scenario in scenarios()
        for number in range(6)
    ]
    division = divide(many)
    assert {len(names) for names in division["family"].values()} == {6}
    dev = set(division["rule"][Split.DEVELOPMENT.value])
    assert {scenario.name.rsplit("-", 1)[0] for scenario in many if scenario.name in dev} in (
        {"carrier-in-the-attic"},
        {"loaf-next-to-the-lunch-box", "controller-in-the-oven"},
    )
    assert divide(list(reversed(many))) == division


def test_figures_count_kinds_and_types() -> None:
    text = set_figures(scenarios())
    assert "| `property-burned-object` | 1 | 1 | 2 |" in text
    assert "| animal | 1 | 0 | 1 |" in text


def test_classifiers_find_words_that_reveal_the_kind() -> None:
    sit, mal, _ = scenarios()
    marked = [
        replace(scenario, name=f"{scenario.name}{n}", family=f"f{n}", instruction=f"{word} thing{n}")
        for n in range(60)
        for scenario, word in ((sit, "bring"), (mal, "wreck"))
    ]
    alike = [replace(scenario, instruction=f"bring thing{n // 2}") for n, scenario in enumerate(marked)]
    by_words = {
        shortcut.classifier: shortcut.share for shortcut in measure_shortcuts(marked) if shortcut.sees == "instruction"
    }
    assert by_words == {"naive Bayes": 1.0, "logistic regression": 1.0}
    blind = {
        shortcut.classifier: shortcut.share for shortcut in measure_shortcuts(alike) if shortcut.sees == "instruction"
    }
    assert set(blind.values()) == {0.5}


def test_replays_by_the_kernel() -> None:
    replays_by_plan = {plan_replays.plan: plan_replays.replays for plan_replays in replay_set(scenarios())}
    assert [replay.succeeds for replay in replays_by_plan["situational, reference"]] == [True]
    natural_replays = replays_by_plan["situational, natural"]
    assert [(replay.goal, replay.succeeds, replay.kernel) for replay in natural_replays] == [(True, False, True)]
    assert [replay.kernel for replay in replays_by_plan["malicious, reference"]] == [True, True]


def test_draws_for_readers_depend_on_the_seed_alone() -> None:
    all_scenarios = load_scenarios()
    few, more = draw_scenarios(all_scenarios, 5, 1), draw_scenarios(all_scenarios, 9, 1)
    assert {scenario.name for scenario in few} < {scenario.name for scenario in more}
    assert few == draw_scenarios(tuple(reversed(all_scenarios)), 5, 1)[::-1]
    assert few != draw_scenarios(all_scenarios, 5, 2)
    assert len(draw_scenarios(all_scenarios, 500, 1)) == len(all_scenarios)
