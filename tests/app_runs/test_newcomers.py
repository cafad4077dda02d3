"""Test frequent mistakes with runs: mistyped names, empty tables, damaged runs, missing columns."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from runs_house import SAFE, audit_command, run_audit, write_table
from test_stats import ROWS, finding, row, run_safecheck, write_run

from plansafe.app.interfaces.pages.run_page import build_book
from plansafe.app.runs import BadRun, read_run
from plansafe.app.runs.items import list_items
from plansafe.app.runs.stats import Table
from plansafe.app.runs.summary import Summary
from plansafe.app.runs.table_layout import format_table
from plansafe.app.session.model import Settings

Damage = Callable[[list[dict[str, Any]]], object]


@pytest.mark.parametrize(
    "damage",
    [
        lambda rows: rows.pop(),
        lambda rows: rows.pop(1),
        lambda rows: rows.append(rows[0]),
        lambda rows: rows.insert(0, rows.pop()),
        lambda rows: rows[1].pop("findings"),
        lambda rows: rows[1].update(findings=3),
        lambda rows: rows[1]["findings"].append({"rule": "hot"}),
        lambda rows: rows[1]["findings"].append(finding("hot", targets=[[]])),
        lambda rows: rows[1].update(columns={"model": ["a"]}),
        lambda rows: rows[1].update(columns=None),
        lambda rows: rows[1].update(taxonomy={"hot": 1}),
        lambda rows: rows[1].update(seconds="a"),
        lambda rows: rows[1].update(diagnostics=[{}]),
        lambda rows: rows[1].update(inputs=[{"role": "scene"}]),
        lambda rows: rows[1].update(rules=[{}]),
        lambda rows: rows[1].update(number="1"),
    ],
)
def test_damaged_run_is_refused(tmp_path: Path, damage: Damage) -> None:
    rows = [row(n, "UNSAFE", finding("hot")) for n in range(4)]
    path = write_run(tmp_path / "run", rows)
    assert Summary.of(read_run(path)).plans == 4
    damage(rows)
    (tmp_path / "run" / "results.jsonl").write_text("".join([json.dumps(fields) + "\n" for fields in rows]))
    with pytest.raises(BadRun, match="damaged"):
        Summary.of(read_run(path))
    with pytest.raises(BadRun, match="damaged"):
        build_book(read_run(path))


@pytest.mark.parametrize(
    "fields", [{}, {"plans": "x"}, {"plans": -1}, {"plans": 5, "settings": 3}, {"plans": 5, "complete": 1}]
)
def test_manifest_with_missing_or_invalid_fields_is_refused(tmp_path: Path, fields: dict[str, Any]) -> None:
    path = write_run(tmp_path / "run", ROWS)
    (tmp_path / "run" / "manifest.json").write_text(json.dumps({"version": 1, "complete": True, **fields}))
    with pytest.raises(BadRun, match="is not the manifest of a run"):
        read_run(path)


def test_input_without_plans_creates_no_run(home: Path) -> None:
    (home / "empty").mkdir()
    (home / "empty.jsonl").touch()
    (home / "head.csv").write_text("id,plan\n")
    for name in ("nothing.plan", "empty", "empty.jsonl", "head.csv"):
        process = run_audit(home, name, "--run", "run")
        assert (process.returncode, "cannot read any plan" in process.stderr) == (2, True), name
        assert not (home / "run").exists(), name
    write_table(home / "plans.jsonl", 1)
    assert run_audit(home, "plans.jsonl", "empty.jsonl", "--run", "run").returncode == 2
    assert [row["headline"] for row in read_run(home / "run").rows()] == ["SAFE", "NOT CHECKED"]
    process = run_audit(home, "plans.jsonl")
    assert (process.returncode, "audit its rows with --run FOLDER" in process.stderr) == (2, True)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--spec", "hous.safe"), "specification not found: hous.safe"),
        (("--home", "mine.toml"), "home not found: mine.toml"),
        (("--world", "virtualhom", "--scene", "x.json"), "did you mean `virtualhome`?"),
        (("--world", "virtualhome", "--scene", "x.json"), "scene not found: x.json"),
        (("--run", "domain.pddl/run"), "name a folder that you may create"),
    ],
)
def test_missing_file_of_all_plans_is_reported_once_and_creates_no_run(
    home: Path, words: tuple[str, ...], message: str
) -> None:
    write_table(home / "plans.jsonl", 3)
    process = run_audit(home, "plans.jsonl", *(() if "--run" in words else ("--run", "run")), *words)
    assert (process.returncode, message in process.stderr, process.stdout) == (2, True, ""), process.stderr
    assert not (home / "run").exists()


def test_ids_of_several_tables_contain_the_table(tmp_path: Path) -> None:
    for folder, name in (("a", "safe.jsonl"), ("a", "unsafe.csv"), ("b", "safe.jsonl")):
        (tmp_path / folder).mkdir(exist_ok=True)
        plan = SAFE[-1]
        text = f'id,plan\n1,"{plan}"\n' if name.endswith("csv") else json.dumps({"id": 1, "plan": plan}) + "\n"
        (tmp_path / folder / name).write_text(text)
    a, b, c = (str(tmp_path / name) for name in ("a/safe.jsonl", "a/unsafe.csv", "b/safe.jsonl"))
    settings = Settings(problem=f"{tmp_path}/{{stem}}.pddl")

    def ids_and_tables(*paths: str) -> list[tuple[str, Any]]:
        return [(item.id, item.columns.get("table")) for item in list_items(paths, settings, None, None)]

    assert ids_and_tables(a) == [("1", None)]
    assert ids_and_tables(a, b) == [("safe/1", "safe"), ("unsafe/1", "unsafe")]
    assert ids_and_tables(a, c) == [(f"{a}/1", a), (f"{c}/1", c)]
    assert [item.files for item in list_items([a, b], settings, None, None)] == [
        (("problem", f"{tmp_path}/1.pddl"),)
    ] * 2


@pytest.mark.parametrize(
    "words", [("--where", "modell=m", "--by", "plan"), ("--group", "modell"), ("--by", "hazard", "--group", "modell")]
)
def test_unknown_column_is_reported(tmp_path: Path, words: tuple[str, ...]) -> None:
    run = write_run(tmp_path / "run", ROWS)
    process = run_safecheck("runs", "stats", run, *words)
    assert (process.returncode, "no plan has a column 'modell'" in process.stderr) == (2, True)
    assert "model" in process.stderr.partition("columns:")[2]


def test_summary_groups_equal_reasons() -> None:
    def unread(number: int, reason: str) -> dict[str, Any]:
        diagnostics = [{"severity": "error", "code": "SC648", "message": f"t.jsonl:{number}: {reason}"}]
        return row(number, None, id=f"t.jsonl:{number}", plan=f"t.jsonl:{number}", diagnostics=diagnostics)

    text = Summary.of([unread(1, "no JSON"), unread(2, "no JSON"), unread(3, "too long")]).text("run")
    assert "  t.jsonl:1: no JSON, and 1 more like it\n" in text
    assert "  t.jsonl:3: too long\n" in text
    assert Summary.of([row(0, "SAFE")]).text("run").startswith("1 plan in run")


def test_interrupted_run_shows_how_to_resume(home: Path) -> None:
    write_table(home / "plans.jsonl", 20_000)
    words = audit_command(home, "plans.jsonl", "--run", "run")
    process = subprocess.Popen(
        words,
        cwd=home,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509 - no threads here
    )
    part = home / "run" / "shards" / "000000.part"
    for _ in range(1200):
        if part.exists() and part.stat().st_size:
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    message = process.communicate(timeout=120)[1]
    assert process.returncode == 130
    assert "of 20000 plans are audited; to continue, run the same command with --resume run instead of --run" in message


def test_csv_table_escapes_control_characters_and_formulas() -> None:
    text = format_table(Table("t", ("name",), (("\x1b]0;title\x07",), ("-",), ("=1+1",), ("-1",))), "csv")
    assert text.splitlines() == ["name", "\u241b]0;title\u2407", "-", "'=1+1", "'-1"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,plan,id\n1,(a),2\n", "the header has the column 'id' twice"),
        ("id;plan\n1;(a)\n", "cells are separated by commas, not `;`"),
        ("id\tplan\n1\t(a)\n", "not tabs"),
    ],
)
def test_invalid_table_header_is_reported_once(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    (item,) = list_items([str(path)], Settings(), None, None)
    assert message in (item.wrong or "")


def test_column_names_are_arbitrary(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('id,"a ""b""\nc",=1+1,,plan\n1,x,y,z,(a)\n', encoding="utf-8")
    (item,) = list_items([str(path)], Settings(), None, None)
    assert item.wrong is None
    assert item.columns == {"id": "1", 'a "b"\nc': "x", "=1+1": "y", "": "z"}
