"""Predictions and judged plans as JSON lines: to and fro, bounded, and refused with the line and the field."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plansafe.grammar.codes import SC
from plansafe.llm.bench import result_files
from plansafe.llm.bench.result_files import BadPredictions, parse_results, read_results
from plansafe.llm.metrics.cautions import Cautions
from plansafe.llm.metrics.judged import Judged, Moment, Safety, Success, Violated
from plansafe.llm.metrics.lines import judged_line, prediction_line
from plansafe.llm.metrics.records import Module, Prediction
from plansafe.llm.metrics.shares import Share
from plansafe.verifier.diagnose.labels import SAFEL_LABELS

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
NAME = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
STATED = st.lists(st.none() | st.floats(0, 1), max_size=3).map(tuple)
PREDICTION = st.builds(
    Prediction,
    NAME,
    st.sampled_from([Module.PLAN, Module.GOAL, Module.SEQUENCING]),
    st.none() | TEXT,
    NAME,
    TEXT,
    TEXT,
    st.integers(0, 99),
    confidences=STATED,
)
TRUTH = st.sampled_from([True, False, None])
SHARE = st.builds(lambda hits, more: Share(hits, hits + more), st.integers(0, 9), st.integers(0, 9))
JUDGED = st.builds(
    Judged,
    NAME,
    NAME,
    TEXT,
    TEXT,
    st.integers(0, 99),
    st.just(True),
    TRUTH,
    st.sampled_from(Safety),
    st.builds(Success, TRUTH, TRUTH, TRUTH),
    st.none() | st.sampled_from(SAFEL_LABELS),
    st.lists(NAME, max_size=2).map(tuple),
    st.lists(st.builds(Violated, NAME, st.sampled_from(Moment), st.lists(NAME, max_size=2).map(tuple)), max_size=2).map(
        tuple
    ),
    st.integers(0, 9),
    STATED,
    TRUTH,
    st.none() | st.builds(Cautions, SHARE, SHARE, SHARE, st.integers(0, 9)),
)


@given(PREDICTION)
def test_predictions_there_and_back(one: Prediction) -> None:
    assert parse_results(io.BytesIO(f"\n{prediction_line(one)}\r\n".encode()), "p").predictions == (one,)


@given(JUDGED)
def test_judged_plans_there_and_back(one: Judged) -> None:
    assert parse_results(io.BytesIO(judged_line(one).encode()), "p").judged_plans == (one,)


RIGHT = {"kind": "prediction", "version": 1, "scenario": "a", "module": "plan", "answer": "(open fridge)"}
JUDGED_RIGHT = {"kind": "judged", "version": 1, "scenario": "a", "read": True, "safety": "safe"}


def refusal(line: str | bytes, judged: bool = False) -> str:
    """What is said of a line that follows a right one."""
    first = {**(JUDGED_RIGHT if judged else RIGHT), "scenario": "first"}
    data = json.dumps(first).encode() + b"\n" + (line if isinstance(line, bytes) else line.encode())
    with pytest.raises(BadPredictions) as caught:
        parse_results(io.BytesIO(data), "p")
    assert caught.value.diagnostic.code == SC.BAD_PREDICTIONS
    assert "p, line 2: " in caught.value.diagnostic.message
    return caught.value.diagnostic.message.partition("line 2: ")[2]


def test_what_may_be_left_out() -> None:
    (prediction,) = parse_results(io.BytesIO(json.dumps(RIGHT).encode()), "p").predictions
    assert prediction == Prediction("a", Module.PLAN, "(open fridge)", "a")
    refused = json.dumps({**RIGHT, "module": "refusal", "refused": True})
    (refusal,) = parse_results(io.BytesIO(refused.encode()), "p").predictions
    assert refusal.refused is True
    (plan,) = parse_results(io.BytesIO(json.dumps(JUDGED_RIGHT).encode()), "p").judged_plans
    assert plan == Judged("a", "a", "", "", 0, True, None, Safety.SAFE)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"version": 2}, "version"),
        ({"version": True}, "version"),
        ({"kind": "judged"}, "kind"),
        ({"scenario": ""}, "scenario"),
        ({"scenario": 3}, "scenario"),
        ({"scenario": "x" * 2000}, "scenario"),
        ({"module": "plans"}, "module"),
        ({"answer": 3}, "answer"),
        ({"answer": "\ud800"}, "answer"),
        ({"anwser": ""}, "anwser"),
        ({"sample": -1}, "sample"),
        ({"sample": True}, "sample"),
        ({"action": "open"}, "action"),
        ({"module": "transition-modeling"}, "action"),
        ({"refused": True}, "refused"),
        ({"module": "refusal", "refused": "yes"}, "refused"),
        ({"confidences": 1}, "confidences"),
        ({"confidences": [0.5, 1.5]}, "confidences"),
        ({"confidences": [True]}, "confidences"),
        ({"confidences": [10**15]}, "confidences"),
    ],
)
def test_broken_fields_of_predictions(change: dict[str, object], field: str) -> None:
    assert refusal(json.dumps({**RIGHT, **change})).startswith(f"`{field}` ")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"read": None}, "read"),
        ({"read": False}, "read"),
        ({"read": False, "safety": "unknown", "goal": True}, "read"),
        ({"safety": "SAFE"}, "safety"),
        ({"executable": 1}, "executable"),
        ({"label": "oops"}, "label"),
        ({"classes": "process"}, "classes"),
        ({"classes": [1]}, "classes"),
        ({"violations": [1]}, "violations"),
        ({"violations": [{"rule": "r", "moment": "later"}]}, "moment"),
        ({"violations": [{"rule": "r", "moment": "process", "x": 1}]}, "x"),
        ({"suppressed": 0.5}, "suppressed"),
        ({"answer": ""}, "answer"),
    ],
)
def test_broken_fields_of_judged_plans(change: dict[str, object], field: str) -> None:
    assert refusal(json.dumps({**JUDGED_RIGHT, **change}), judged=True).startswith(f"`{field}` ")


def test_broken_lines() -> None:
    assert refusal("{") == "not JSON"
    assert refusal("[1]") == "not a JSON object"
    assert refusal(b'{"a": "\xff"}') == "not UTF-8"
    assert refusal('{"version": NaN}') == "NaN is not JSON"
    assert refusal('{"version": 1, "version": 1}') == "`version` is repeated"
    assert refusal('{"a": ' + "[" * 100_000 + "]" * 100_000 + "}") == "nested too deep"
    assert refusal('{"a": [' + "[]," * 200_000 + "[]]}") == "too many lists and objects"
    assert refusal('{"a": ' + "9" * 5000 + "}") == "a whole number of more than 20 characters"
    same = json.dumps({**RIGHT, "scenario": "first", "answer": "another"})
    assert refusal(same) == "the same scenario, question, model, prompt and sample as line 1"
    assert refusal(json.dumps({k: v for k, v in RIGHT.items() if k != "answer"})).startswith("`answer` is missing")


def test_sizes_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(result_files, "MOST_LINE_BYTES", 200)
    assert refusal(json.dumps({**RIGHT, "answer": "x" * 300})).startswith("too large: at most 4 MiB per line")
    monkeypatch.setattr(result_files, "MOST_RECORDS", 1)
    assert refusal(json.dumps(RIGHT)).startswith("too large: at most 4 MiB per line")


def test_files(tmp_path: Path) -> None:
    file = tmp_path / "p.jsonl"
    with pytest.raises(BadPredictions, match="No such file"):
        read_results(str(file))
    for text in ("", "\n\n"):
        file.write_text(text, encoding="utf-8")
        with pytest.raises(BadPredictions, match="it has no records"):
            read_results(str(file))
    file.write_text(json.dumps(RIGHT), encoding="utf-8")
    assert len(read_results(str(file)).predictions) == 1
    file.write_text(json.dumps(JUDGED_RIGHT), encoding="utf-8")
    assert len(read_results(str(file)).judged_plans) == 1
