"""Review sheets: a written sheet is read back, answers are counted, and broken sheets are reported."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest

from in_process import run_app
from plansafe.grammar.codes import SC
from plansafe.grammar.source import Source
from plansafe.llm.scenarios.reading import load_scenarios
from plansafe.llm.scenarios.sheets import (
    QUESTIONS,
    BadSheet,
    cell,
    compare,
    read_sheet,
    reading,
    sheet,
    version,
)

SCENARIOS = load_scenarios("dev")[:4]


def fill_sheet(answers: dict[str, dict[str, str]], default: str = "yes") -> Source:
    """Return the sheet of four scenarios with these answers, and with the default answer in all other cells."""
    rows = list(csv.DictReader(io.StringIO(sheet(SCENARIOS))))
    for row in rows:
        for question in QUESTIONS:
            row[question] = answers.get(row["scenario"], {}).get(question, row[question] or default)
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return Source("filled.csv", buffer.getvalue())


def test_an_empty_sheet_is_read_back() -> None:
    empty_sheet = read_sheet(Source("s", sheet(SCENARIOS)))
    assert list(empty_sheet.answers) == [scenario.name for scenario in SCENARIOS]
    assert empty_sheet.versions == {scenario.name: version(scenario) for scenario in SCENARIOS}
    for scenario in SCENARIOS:
        assert empty_sheet.answers[scenario.name]["safe"] == ("-" if scenario.safe is None else None)
        assert empty_sheet.answers[scenario.name]["sensible"] is None
    assert set(compare(empty_sheet, empty_sheet).open) == {scenario.name for scenario in SCENARIOS}


def test_answers_are_counted() -> None:
    first, second, third, _ = [scenario.name for scenario in SCENARIOS]
    first_reviewer = read_sheet(fill_sheet({first: {"hazard": "no"}, second: {"hazard": "no"}, third: {"type": ""}}))
    second_reviewer = read_sheet(fill_sheet({first: {"hazard": "no"}, third: {"goal": "YES"}}))
    agreement = compare(first_reviewer, second_reviewer)
    hazard = agreement.questions["hazard"]
    assert (hazard.observed.hits, hazard.observed.of) == (3, 4)
    assert hazard.kappa == pytest.approx((3 / 4 - (2 * 1 + 2 * 3) / 16) / (1 - (2 * 1 + 2 * 3) / 16))
    assert agreement.questions["type"].left_out == 1
    assert agreement.questions["sensible"].kappa is None
    assert set(agreement.rejected) == {first, second}
    assert agreement.open == (third,)
    assert len(agreement.accepted) == 1
    applying = sum(scenario.safe is not None for scenario in SCENARIOS)
    assert agreement.questions["safe"].observed.of == applying


def test_a_sheet_with_semicolons_is_read() -> None:
    rows = list(csv.reader(io.StringIO(fill_sheet({}).text)))
    buffer = io.StringIO()
    csv.writer(buffer, delimiter=";").writerows(rows)
    assert compare(read_sheet(Source("s", buffer.getvalue())), read_sheet(fill_sheet({}))).accepted


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_no_cell_can_be_a_formula(text: str) -> None:
    assert cell(text) == "'" + text.replace("\r", "\n")
    evil = replace(SCENARIOS[0], instruction=text, goal_words=text)
    for row in csv.reader(io.StringIO(sheet([evil]))):
        assert all(
            not entry.startswith(("=", "+", "@", "\t", "\r")) and (entry == "-" or entry[:1] != "-") for entry in row
        )


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        (",yes,", ",maybe,", "which is not an answer"),
        ("sensible", "sensibel", "no column is named sensible"),
        ("hazard,type", "hazard,hazard", "more than one column is named hazard"),
        (f"{SCENARIOS[1].name},", f"{SCENARIOS[0].name},", "is repeated"),
        (f"{SCENARIOS[1].name},", ",", "this line does not name a scenario"),
    ],
)
def test_broken_sheets_are_reported(before: str, after: str, message: str) -> None:
    text = fill_sheet({}).text
    assert before in text
    with pytest.raises(BadSheet, match=message) as caught:
        read_sheet(Source("s", text.replace(before, after, 1)))
    assert caught.value.diagnostic.code == SC.BAD_SHEET
    assert caught.value.diagnostic.labels


@pytest.mark.parametrize("text", ["", "\n\n", "scenario", "scenario,version\n", '"' + "x" * 200_000 + '"', "a\0b"])
def test_a_text_that_is_not_a_sheet_is_refused(text: str) -> None:
    with pytest.raises(BadSheet):
        read_sheet(Source("s", text))


def test_sheets_about_different_texts_are_not_compared() -> None:
    changed = replace(SCENARIOS[0], instruction="Something else.")
    with pytest.raises(BadSheet, match="different versions"):
        compare(read_sheet(Source("a", sheet([changed]))), read_sheet(Source("b", sheet(SCENARIOS[:1]))))
    with pytest.raises(BadSheet, match="is in b and not in a"):
        compare(read_sheet(Source("a", sheet(SCENARIOS[:1]))), read_sheet(Source("b", sheet(SCENARIOS[:2]))))


def test_the_reading_copy_has_all_scenarios() -> None:
    text = reading(SCENARIOS)
    for scenario in SCENARIOS:
        assert f"## {scenario.name} (version {version(scenario)})" in text
        assert scenario.instruction in text


@pytest.mark.slow
def test_the_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, b = tmp_path / "a.csv", tmp_path / "b.csv"
    assert run_app("bench", "scenario", "sheet", "--split", "test", "--output", str(a)) == 0
    assert a.read_text(encoding="utf-8") == sheet(load_scenarios("test"))
    b.write_text(a.read_text(encoding="utf-8").replace("sensible", "sound"), encoding="utf-8")
    assert run_app("bench", "scenario", "agreement", str(a), str(b)) == 2
    assert "SC779" in capsys.readouterr().err
    assert run_app("bench", "scenario", "agreement", str(a), str(a)) == 0
    assert "accepted  0" in capsys.readouterr().out
    assert run_app("bench", "scenario", "agreement", str(a), str(tmp_path / "none.csv")) == 2
    assert run_app("bench", "scenario", "sheet", str(tmp_path / "none")) == 2
    assert run_app("bench", "scenario", "sheet", "--format", "markdown", "--split", "dev") == 0
    assert "towel-on-the-hob" in capsys.readouterr().out
