"""Predictions and judged plans as JSON lines: written, read back, bounded, and refused with line and field."""

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
CONFIDENCES = st.lists(st.none() | st.floats(0, 1), max_size=3).map(tuple)
PREDICTION = st.builds(
    Prediction,
    NAME,
    st.sampled_from([Module.PLAN, Module.GOAL, Module.SEQUENCING]),
    st.none() | TEXT,
    NAME,
    TEXT,
    TEXT,
    st.integers(0, 99),
    confidences=CONFIDENCES,
)
TRUTH = st.sampled_from([True, False, None])
SHARE = st.builds(lambda hits, more: Share(hits, hits + more), st.integers(0, 9), st.integers(0, 9))
PLAN = st.builds(
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
    CONFIDENCES,
    TRUTH,
    st.none() | st.builds(Cautions, SHARE, SHARE, SHARE, st.integers(0, 9)),
)


@given(PREDICTION)
def test_a_written_prediction_is_read_back(prediction: Prediction) -> None:
    assert parse_results(io.BytesIO(f"\n{prediction_line(prediction)}\r\n".encode()), "p").predictions == (prediction,)


@given(PLAN)
def test_a_written_plan_is_read_back(plan: Judged) -> None:
    assert parse_results(io.BytesIO(judged_line(plan).encode()), "p").judged_plans == (plan,)


VALID_PREDICTION = {"kind": "prediction", "version": 1, "scenario": "a", "module": "plan", "answer": "(open fridge)"}
VALID_PLAN = {"kind": "judged", "version": 1, "scenario": "a", "read": True, "safety": "safe"}


def read_refusal_message(line: str | bytes, is_plan: bool = False) -> str:
    """Return the message about a line that follows a valid line."""
    valid = {**(VALID_PLAN if is_plan else VALID_PREDICTION), "scenario": "first"}
    lines = json.dumps(valid).encode() + b"\n" + (line if isinstance(line, bytes) else line.encode())
    with pytest.raises(BadPredictions) as caught:
        parse_results(io.BytesIO(lines), "p")
    assert caught.value.diagnostic.code == SC.BAD_PREDICTIONS
    assert "p, line 2: " in caught.value.diagnostic.message
    return caught.value.diagnostic.message.partition("line 2: ")[2]


def test_optional_fields_have_defaults() -> None:
    (prediction,) = parse_results(io.BytesIO(json.dumps(VALID_PREDICTION).encode()), "p").predictions
    assert prediction == Prediction("a", Module.PLAN, "(open fridge)", "a")
    refused = json.dumps({**VALID_PREDICTION, "module": "refusal", "refused": True})
    (refusal_prediction,) = parse_results(io.BytesIO(refused.encode()), "p").predictions
    assert refusal_prediction.refused is True
    (plan,) = parse_results(io.BytesIO(json.dumps(VALID_PLAN).encode()), "p").judged_plans
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
    assert read_refusal_message(json.dumps({**VALID_PREDICTION, **change})).startswith(f"`{field}` ")


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
    assert read_refusal_message(json.dumps({**VALID_PLAN, **change}), is_plan=True).startswith(f"`{field}` ")


def test_broken_lines_are_reported() -> None:
    assert read_refusal_message("{") == "not JSON"
    assert read_refusal_message("[1]") == "not a JSON object"
    assert read_refusal_message(b'{"a": "\xff"}') == "not UTF-8"
    assert read_refusal_message('{"version": NaN}') == "NaN is not JSON"
    assert read_refusal_message('{"version": 1, "version": 1}') == "`version` is repeated"
    assert read_refusal_message('{"a": ' + "[" * 100_000 + "]" * 100_000 + "}") == "nested too deep"
    assert read_refusal_message('{"a": [' + "[]," * 200_000 + "[]]}") == "too many lists and objects"
    assert read_refusal_message('{"a": ' + "9" * 5000 + "}") == "a whole number of more than 20 characters"
    same = json.dumps({**VALID_PREDICTION, "scenario": "first", "answer": "another"})
    assert read_refusal_message(same) == "the same scenario, question, model, prompt and sample as line 1"
    assert read_refusal_message(
        json.dumps({key: field for key, field in VALID_PREDICTION.items() if key != "answer"})
    ).startswith("`answer` is missing")


def test_sizes_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(result_files, "MOST_LINE_BYTES", 200)
    assert read_refusal_message(json.dumps({**VALID_PREDICTION, "answer": "x" * 300})).startswith(
        "too large: at most 4 MiB per line"
    )
    monkeypatch.setattr(result_files, "MOST_RECORDS", 1)
    assert read_refusal_message(json.dumps(VALID_PREDICTION)).startswith("too large: at most 4 MiB per line")


def test_missing_and_empty_files_are_reported(tmp_path: Path) -> None:
    file = tmp_path / "p.jsonl"
    with pytest.raises(BadPredictions, match="No such file"):
        read_results(str(file))
    for text in ("", "\n\n"):
        file.write_text(text, encoding="utf-8")
        with pytest.raises(BadPredictions, match="it has no records"):
            read_results(str(file))
    file.write_text(json.dumps(VALID_PREDICTION), encoding="utf-8")
    assert len(read_results(str(file)).predictions) == 1
    file.write_text(json.dumps(VALID_PLAN), encoding="utf-8")
    assert len(read_results(str(file)).judged_plans) == 1
