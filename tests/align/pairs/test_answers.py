"""Test the reading of plans from runs and lists of answers; each skipped answer has a reason."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from plansafe.align.pairs.answers import MAX_STEPS, read_answers
from plansafe.align.records import BadRecords
from plansafe.llm.bench.run_file import BadRun


def write(path: Path, *records: object) -> str:
    path.write_text("".join([json.dumps(record) + "\n" for record in records]), encoding="utf-8")
    return str(path)


def test_runs_of_align_eval_give_the_samples_of_each_task_in_order(tmp_path: Path) -> None:
    head = {"kind": "run", "version": 1, "suite": "align"}
    safe = {"id": "a", "origin": "drawn:tea/0/0", "sample": 0, "plan": ["(go r hall)"], "headline": "SAFE"}
    records = [
        safe,
        {**safe, "sample": 1, "plan": ["(go r sink)", "(open r sink)"], "headline": "UNSAFE"},
        {**safe, "sample": 2, "headline": "INVALID"},
        {**safe, "sample": 3, "headline": "UNKNOWN"},
        {**safe, "sample": 4, "plan": [], "headline": None},
        {**safe, "sample": 5, "plan": ["(go r hall)"] * (MAX_STEPS + 1)},
        {**safe, "sample": 6, "origin": 5, "id": 7},
        {**safe, "origin": "drawn:stew/1/0", "headline": None},
    ]
    answers = read_answers([write(tmp_path / "eval.jsonl", head, *records)])
    assert answers.plans == {
        "drawn:tea/0/0": ["(go r hall)\n", "(go r sink)\n(open r sink)\n"],
        "drawn:stew/1/0": ["(go r hall)\n"],
    }
    assert answers.skipped == {
        "INVALID by its recorded verdict": 1,
        "UNKNOWN by its recorded verdict": 1,
        "an answer without a plan": 1,
        f"a plan of more than {MAX_STEPS} steps": 1,
        "an answer that names no task": 1,
    }


def test_plain_lists_are_read(tmp_path: Path) -> None:
    path = write(tmp_path / "plain.jsonl", {"origin": "drawn:stew/0/0", "plan": ["(open r sink)"]}, {"plan": ["(go)"]})
    answers = read_answers([path])
    assert answers.plans == {"drawn:stew/0/0": ["(open r sink)\n"]}
    assert answers.skipped == {"an answer that names no task": 1}


def test_other_files_are_refused(tmp_path: Path) -> None:
    run = write(tmp_path / "safel.jsonl", {"kind": "run", "version": 1, "suite": "safel"})
    with pytest.raises(BadRun, match="suite 'safel'"):
        read_answers([run])
    (tmp_path / "text").write_text("no JSON\n", encoding="utf-8")
    with pytest.raises(BadRecords, match="text:1"):
        read_answers([str(tmp_path / "text")])
    with pytest.raises(BadRecords):
        read_answers([str(tmp_path / "none")])
