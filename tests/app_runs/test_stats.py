"""Test tables, plots and comparisons of runs, on rows with known counts."""

from __future__ import annotations

import csv
import importlib.util
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from plansafe.app.runs import read_run, to_dataframe
from plansafe.app.runs.comparison import compare
from plansafe.app.runs.rates import NOT_CHECKED, Rate
from plansafe.app.runs.stats import Table, by_findings, by_labels, by_plans, by_position
from plansafe.app.runs.summary import Summary
from plansafe.app.runs.table_layout import format_table


def finding(rule: str | None, **fields: Any) -> dict[str, Any]:
    defaults = {
        "rule": rule, "hazard": "fire", "targets": ["human"], "severity": "high", "class": "termination",
        "readings": ["halt"], "blame": "introduced", "message": "rule: it burns", "step": None, "at_end": True,
    }  # fmt: skip
    return {**defaults, **fields}


def row(number: int, headline: str, *findings: dict[str, Any], **fields: Any) -> dict[str, Any]:
    defaults = {
        "id": f"p{number}", "number": number, "columns": {"model": "m"}, "seconds": 0.5, "kept": [], "steps": 10,
        "taxonomy": {"hot": {"safel": ["human-fire"]}, "wet": {"safel": ["human-slip"]}},
        "headline": headline, "exit_code": {"SAFE": 0, NOT_CHECKED: 2}.get(headline, 1),
        "executable": {"INVALID": "NONE", NOT_CHECKED: "UNKNOWN"}.get(headline, "ALL"),
        "safe": {"SAFE": "ALL", NOT_CHECKED: None}.get(headline, "NONE"),
        "findings": list(findings), "suppressed": 0, "diagnostics": [], "inputs": [], "plan": f"{number}.plan",
    }  # fmt: skip
    return {**defaults, **fields}


ROWS = [
    row(0, "SAFE"),
    row(1, "UNSAFE", finding("hot"), finding("hot"), finding("wet", hazard="slip", blame="pre-existing")),
    row(2, "UNSAFE", finding("wet", hazard="slip", step=4, at_end=False), columns={"model": "n"}),
    row(3, "INVALID", finding(None, **{"class": "inexecutable", "hazard": None, "step": 10, "at_end": False})),
    row(4, NOT_CHECKED, columns={}, diagnostics=[{"severity": "error", "code": "SC601", "message": "no file"}]),
]


def write_run(folder: Path, rows: list[dict[str, Any]], complete: bool = True) -> str:
    folder.mkdir()
    manifest = {"version": 1, "complete": complete, "plans": len(rows), "settings": {"world": None}}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    text = "".join([json.dumps(row) + "\n" for row in rows])
    (folder / "shards").mkdir()
    (folder / ("results.jsonl" if complete else "shards/000000.part")).write_text(text)
    return str(folder)


def run_safecheck(*words: str) -> subprocess.CompletedProcess[str]:
    program = str(Path(sys.executable).with_name("safecheck"))
    return subprocess.run([program, *words], capture_output=True, text=True, check=False, timeout=60)


def test_rate_has_wilson_interval() -> None:
    """Newcombe 1998, table I: 81/263, 15/148, 0/20, 1/29."""
    for hits, total, low, high in ((81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0, 0.1611)):
        assert Rate(hits, total).interval == pytest.approx((low, high), abs=1e-4)
    assert Rate(1, 29).interval == pytest.approx((0.0061, 0.1718), abs=1e-4)
    assert Rate(0, 0).value is None


def test_plan_counts_once_per_rule_and_pre_existing_findings_are_separate() -> None:
    table = by_findings(ROWS, "rule")
    assert table.rows == (
        ("slip", "wet", Rate(1, 5), 1, 1, 1, "p2: it burns"),
        ("fire", "hot", Rate(1, 5), 2, 0, 0, "p1: it burns"),
    )
    assert table.title.endswith("of 5 (1 not checked)")
    assert [category for category, *_ in by_findings(ROWS, "safel").rows] == ["human-slip", "human-fire"]
    classes = {name: rate for name, rate, *_ in by_findings(ROWS, "class").rows}
    assert classes == {"termination": Rate(2, 5), "inexecutable": Rate(1, 5)}
    grouped = by_findings(ROWS, "hazard", "model")
    assert grouped.head == ("hazard", "m", "n", "-")
    assert grouped.rows == (
        ("slip", Rate(0, 3), Rate(1, 1), Rate(0, 1)),
        ("fire", Rate(1, 3), Rate(0, 1), Rate(0, 1)),
    )


def test_plans_are_counted_by_their_columns() -> None:
    first, *_ = by_plans(ROWS, "model").rows
    assert first == ("m", 3, Rate(2, 3), Rate(1, 3), 1, 0, 1, 1, 0, 0)
    assert by_plans(ROWS, "model").rows[1] == ("-", 1, Rate(0, 1), Rate(0, 1), 0, 0, 0, 0, 0, 1)


def test_unchecked_plan_is_in_all_denominators(tmp_path: Path) -> None:
    rows = [row(0, "SAFE"), row(1, "UNSAFE", finding("hot")), row(2, NOT_CHECKED)]
    assert by_findings(rows, "rule").rows[0][2] == Rate(1, 3)
    assert by_plans(rows, "model").rows[0][1:4] == (3, Rate(2, 3), Rate(1, 3))
    assert by_labels(rows, "model", "safel", {"m": ("human-fire",)}).rows[-1] == ("all", 3, Rate(1, 3), Rate(1, 3))
    text = Summary.of(rows).text("run")
    assert "rules that plans break (of 3 plans)" in text
    assert f"{NOT_CHECKED:40}       1   33.3 %" in text
    comparison = compare(rows, [*rows[:2], row(2, "SAFE")])
    assert [(test.only_first, test.only_second, test.ties) for _, test in comparison.tests] == [(0, 1, 2), (0, 1, 2)]
    assert ("p2", NOT_CHECKED, "SAFE", "", "") in comparison.plans.rows


def test_null_headline_of_an_older_run_is_not_checked(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", [{**row(0, NOT_CHECKED), "headline": None}])
    assert [plan["headline"] for plan in read_run(run).rows()] == [NOT_CHECKED]


@pytest.mark.slow
def test_findings_of_another_reading_count_on_request(tmp_path: Path) -> None:
    rows = [*ROWS, row(5, "INVALID", finding("late", readings=["skip"]), finding(None, readings=["halt", "skip"]))]
    assert [line[1] for line in by_findings(rows, "rule").rows] == ["wet", "hot"]
    assert [line[1] for line in by_findings(rows, "rule", reading="skip").rows] == ["late"]
    assert {line[1]: line[2] for line in by_findings(rows, "rule", reading="any").rows}["late"] == Rate(1, 6)
    assert by_plans(rows, "model", "any").rows[0][3] == Rate(2, 4)
    assert by_labels(rows, "model", "safel", {"m": ("human-fire",)}, "any").rows[-1] == (
        "all",
        4,
        Rate(1, 4),
        Rate(2, 4),
    )
    run = write_run(tmp_path / "run", rows)
    assert "late" not in run_safecheck("runs", "stats", run, "--by", "rule").stdout
    assert "| late | 1 of 6" in run_safecheck("runs", "stats", run, "--by", "rule", "--reading", "skip").stdout
    process = run_safecheck("runs", "stats", run, "--by", "where", "--reading", "skip")
    assert process.returncode == 2
    assert "leave out --reading" in process.stderr


def test_labels_are_compared_with_categories() -> None:
    labels = {"m": ("human-slip",), "n": ("human-slip", "human-fire")}
    table = by_labels(ROWS, "model", "safel", labels)
    assert table.rows == (
        ("human-slip", 4, Rate(1, 4), Rate(2, 4)),
        ("human-fire", 1, Rate(1, 1), Rate(1, 1)),
        ("all", 4, Rate(1, 4), Rate(2, 4)),
    )


def test_findings_are_counted_by_position() -> None:
    lines = {name: counts for name, *counts in by_position(ROWS).rows}
    assert lines["30 to 40 %"] == [1, 0]
    assert lines["90 to 100 %"] == [0, 1]
    assert lines["at the end"] == [2, 0]


def test_cells_are_escaped() -> None:
    table = Table("t", ("name", "rate"), (("=1+1|\n\x1b[2J\\&_<b>", Rate(1, 4)), ("b", None)))
    markdown = format_table(table, "markdown")
    assert len(markdown.splitlines()) == 4
    assert "\x1b" not in markdown
    assert "\\|" in markdown
    assert "\\<b\\>" in markdown
    cells = list(csv.reader(io.StringIO(format_table(table, "csv"))))
    assert cells[0] == ["name", "rate", "rate: of", "rate: low", "rate: high"]
    assert cells[1][0].startswith("'=1+1")
    assert cells[1][1:3] == ["1", "4"]
    latex = format_table(table, "latex")
    assert r"\textbackslash{}\&\_" in latex
    assert r"25.0 \%" in latex


def test_summary_lists_equal_diagnostics_once() -> None:
    rows = [*ROWS, *[row(n, NOT_CHECKED, diagnostics=ROWS[4]["diagnostics"]) for n in range(5, 50)]]
    summary = Summary.of(rows)
    assert summary.headlines == {"SAFE": 1, "UNSAFE": 2, "INVALID": 1, NOT_CHECKED: 46}
    text = summary.text("run")
    assert text.count("no file") == 1
    assert "46" in text


@pytest.mark.slow
def test_commands_on_runs(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", ROWS)
    assert "UNSAFE" in run_safecheck("runs", "stats", run).stdout
    assert "| fire | hot | 1 of 5: 20.0 %" in run_safecheck("runs", "stats", run, "--by", "rule").stdout
    assert "| slip | 1 of 1" in run_safecheck("runs", "stats", run, "--by", "hazard", "--where", "model=n").stdout
    assert (
        run_safecheck("runs", "stats", run, "--by", "plan", "--format", "csv").stdout.splitlines()[2]
        == "p1,UNSAFE,ALL,10,fire,hot"
    )
    process = run_safecheck("runs", "stats", run, "--by", "colour")
    assert (process.returncode, "no plan has a column 'colour'" in process.stderr) == (2, True)
    assert run_safecheck("runs", "stats", str(tmp_path)).returncode == 2
    for form in ("csv", "latex"):  # a format is used or refused, never ignored
        process = run_safecheck("runs", "stats", run, "--format", form)
        assert (process.returncode, process.stdout, "a summary is not a table" in process.stderr) == (2, "", True)


@pytest.mark.parametrize("command", ["stats", "compare", "view", "export"])
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("missing", "the folder does not exist"),
        ("empty", "the folder has no manifest.json"),
        ("file", "it is not a folder"),
    ],
)
def test_a_path_that_is_not_a_run_is_refused(tmp_path: Path, command: str, name: str, reason: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("")
    folder = str(tmp_path / name)
    run_folders = [folder, folder] if command == "compare" else [folder]
    output = ["--output", str(tmp_path / "runs.parquet")] if command == "export" else []
    process = run_safecheck("runs", command, *run_folders, *output)
    assert process.returncode == 2
    assert f"{folder} is not a run: {reason}\n" in process.stderr


def test_runs_are_compared_by_plan(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", ROWS)
    second = write_run(
        tmp_path / "second", [row(0, "UNSAFE", finding("hot")), *ROWS[1:4], row(9, "SAFE")], complete=False
    )
    process = run_safecheck("runs", "compare", run, second)
    assert process.returncode == 0
    assert "4 plans in both runs" in process.stdout
    assert "no rule broken: 1 in the first alone, 0 in the second alone, 2 alike, 1 left out" in process.stdout
    assert "| p0 | SAFE | UNSAFE | - | hot |" in process.stdout
    process = run_safecheck("runs", "compare", run, second, "--format", "csv")
    lines = list(csv.DictReader(io.StringIO(process.stdout)))
    assert [(line["plan"], line["first"], line["second"]) for line in lines] == [("p0", "SAFE", "UNSAFE")]
    assert "4 plans in both runs" in process.stderr
    assert "McNemar's exact p" in process.stderr


@pytest.mark.slow
@pytest.mark.parametrize("form", ["svg", "png"])
def test_plots_are_deterministic(tmp_path: Path, form: str) -> None:
    pytest.importorskip("matplotlib")
    from plansafe.app.runs.plots import draw_plot

    tables = {"bars": by_findings(ROWS, "rule"), "where": by_position(ROWS), "heat": by_findings(ROWS, "rule", "model")}
    for kind, table in tables.items():
        image = draw_plot(table, kind, form)
        assert image == draw_plot(table, kind, form)
        assert image.startswith(b"\x89PNG" if form == "png" else b"<?xml")
        assert b"<script" not in image
        assert draw_plot(Table(table.title, table.head, ()), kind, form)


def test_pandas_reads_a_run(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    run = write_run(tmp_path / "run", ROWS)
    frame = pandas.read_json(f"{run}/results.jsonl", lines=True)
    assert list(frame["id"]) == ["p0", "p1", "p2", "p3", "p4"]
    exported = to_dataframe(read_run(run))
    assert list(exported["columns.model"].fillna("-")) == ["m", "m", "n", "m", "-"]


def test_runs_are_exported_as_parquet(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed: make ray-test installs it")
    fields = {"columns": {"model": "m", "n": 1, "mixed": True, "none": None}}
    rows = [
        {**row_fields, **fields, "plan": "p", "diagnostics": row_fields.get("diagnostics", [])} for row_fields in ROWS
    ]
    rows[1]["columns"] = {"n": 2.5, "mixed": "a", "later": 1 << 70}
    run = write_run(tmp_path / "run", rows)
    incomplete = write_run(tmp_path / "part", rows[:2], complete=False)
    process = run_safecheck("runs", "export", run, incomplete, "-o", str(tmp_path / "plans.parquet"), "--whole")
    assert process.returncode == 0, process.stderr
    assert "part is not complete" in process.stderr
    table = parquet.read_table(tmp_path / "plans.parquet")
    assert table.column("id").to_pylist() == ["p0", "p1", "p2", "p3", "p4", "p0", "p1"]
    assert [json.loads(text) for text in table.column("row").to_pylist()] == [*rows, *rows[:2]]
    types = {field.name: str(field.type) for field in table.schema if field.name.startswith("columns.")}
    assert types == {
        "columns.model": "string", "columns.n": "double", "columns.mixed": "string", "columns.none": "string",
        "columns.later": "string",
    }  # fmt: skip
    assert table.column("columns.mixed").to_pylist()[:3] == ["true", "a", "true"]
    plan = table.slice(1, 1).to_pylist()[0]
    assert (plan["hazards"], plan["findings"][0]["rule"], plan["run"]) == (["fire"], "hot", run)


def test_run_that_cannot_be_exported_is_reported(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", ROWS)
    process = run_safecheck("runs", "export", run, "-o", str(tmp_path / "plans.csv"))
    assert (process.returncode, "--output FILE.parquet" in process.stderr) == (2, True)
    if importlib.util.find_spec("pyarrow") is None:
        process = run_safecheck("runs", "export", run, "-o", str(tmp_path / "plans.parquet"))
        assert (process.returncode, "export needs pyarrow (extra `parquet`)" in process.stderr) == (2, True)
    assert not list(tmp_path.glob("plans*"))
