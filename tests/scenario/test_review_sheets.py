"""Review sheets: what is written is read back, answers are counted, and broken sheets are told."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from pathlib import Path

import pytest

from plansafe.app.interfaces.cli.commandline import app
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

SOME = load_scenarios("dev")[:4]


def filled(answers: dict[str, dict[str, str]], given: str = "yes") -> Source:
    """The sheet of some scenarios with one answer everywhere, but for those given."""
    rows = list(csv.DictReader(io.StringIO(sheet(SOME))))
    for row in rows:
        for question in QUESTIONS:
            row[question] = answers.get(row["scenario"], {}).get(question, row[question] or given)
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return Source("filled.csv", out.getvalue())


def test_an_empty_sheet_is_read_back() -> None:
    found = read_sheet(Source("s", sheet(SOME)))
    assert list(found.answers) == [one.name for one in SOME]
    assert found.versions == {one.name: version(one) for one in SOME}
    for one in SOME:
        assert found.answers[one.name]["safe"] == ("-" if one.safe is None else None)
        assert found.answers[one.name]["sensible"] is None
    assert set(compare(found, found).open) == {one.name for one in SOME}


def test_answers_are_counted() -> None:
    first, second, third, _ = [one.name for one in SOME]
    one = read_sheet(filled({first: {"hazard": "no"}, second: {"hazard": "no"}, third: {"type": ""}}))
    other = read_sheet(filled({first: {"hazard": "no"}, third: {"goal": "YES"}}))
    found = compare(one, other)
    hazard = found.questions["hazard"]
    assert (hazard.observed.hits, hazard.observed.of) == (3, 4)
    assert hazard.kappa == pytest.approx((3 / 4 - (2 * 1 + 2 * 3) / 16) / (1 - (2 * 1 + 2 * 3) / 16))
    assert found.questions["type"].left_out == 1
    assert found.questions["sensible"].kappa is None
    assert set(found.rejected) == {first, second}
    assert found.open == (third,)
    assert len(found.accepted) == 1
    applying = sum(scenario.safe is not None for scenario in SOME)
    assert found.questions["safe"].observed.of == applying


def test_semicolons_and_apostrophes_of_a_spreadsheet() -> None:
    rows = list(csv.reader(io.StringIO(filled({}).text)))
    out = io.StringIO()
    csv.writer(out, delimiter=";").writerows(rows)
    assert compare(read_sheet(Source("s", out.getvalue())), read_sheet(filled({}))).accepted


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"])
def test_no_cell_is_a_formula(text: str) -> None:
    assert cell(text) == "'" + text.replace("\r", "\n")
    evil = replace(SOME[0], instruction=text, goal_words=text)
    for row in csv.reader(io.StringIO(sheet([evil]))):
        assert all(not one.startswith(("=", "+", "@", "\t", "\r")) and (one == "-" or one[:1] != "-") for one in row)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (",yes,", ",maybe,", "which is not an answer"),
        ("sensible", "sensibel", "no column is named sensible"),
        ("hazard,type", "hazard,hazard", "more than one column is named hazard"),
        (f"{SOME[1].name},", f"{SOME[0].name},", "is repeated"),
        (f"{SOME[1].name},", ",", "this line does not name a scenario"),
    ],
)
def test_broken_sheets_are_told(before: str, after: str, said: str) -> None:
    text = filled({}).text
    assert before in text
    with pytest.raises(BadSheet, match=said) as caught:
        read_sheet(Source("s", text.replace(before, after, 1)))
    assert caught.value.diagnostic.code == SC.BAD_SHEET
    assert caught.value.diagnostic.labels


@pytest.mark.parametrize("text", ["", "\n\n", "scenario", "scenario,version\n", '"' + "x" * 200_000 + '"', "a\0b"])
def test_what_is_no_sheet_is_told(text: str) -> None:
    with pytest.raises(BadSheet):
        read_sheet(Source("s", text))


def test_sheets_about_different_texts_are_not_compared() -> None:
    changed = replace(SOME[0], instruction="Something else.")
    with pytest.raises(BadSheet, match="different versions"):
        compare(read_sheet(Source("a", sheet([changed]))), read_sheet(Source("b", sheet(SOME[:1]))))
    with pytest.raises(BadSheet, match="is in b and not in a"):
        compare(read_sheet(Source("a", sheet(SOME[:1]))), read_sheet(Source("b", sheet(SOME[:2]))))


def test_the_reading_has_every_scenario() -> None:
    text = reading(SOME)
    for one in SOME:
        assert f"## {one.name} (version {version(one)})" in text
        assert one.instruction in text


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as stop:
        app([*arguments], prog_name="safecheck")
    return int(stop.value.code or 0)


@pytest.mark.slow
def test_the_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, b = tmp_path / "a.csv", tmp_path / "b.csv"
    assert run("bench", "scenario", "sheet", "--split", "test", "--output", str(a)) == 0
    assert a.read_text(encoding="utf-8") == sheet(load_scenarios("test"))
    b.write_text(a.read_text(encoding="utf-8").replace("sensible", "sound"), encoding="utf-8")
    assert run("bench", "scenario", "agreement", str(a), str(b)) == 2
    assert "SC779" in capsys.readouterr().err
    assert run("bench", "scenario", "agreement", str(a), str(a)) == 0
    assert "accepted  0" in capsys.readouterr().out
    assert run("bench", "scenario", "agreement", str(a), str(tmp_path / "none.csv")) == 2
    assert run("bench", "scenario", "sheet", str(tmp_path / "none")) == 2
    assert run("bench", "scenario", "sheet", "--format", "markdown", "--split", "dev") == 0
    assert "towel-on-the-hob" in capsys.readouterr().out
