"""The stored answers (``answers/``), their labels, and the reader's agreement with the labels."""

from __future__ import annotations

import hashlib
import json
import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from plansafe.grammar.source import Source
from plansafe.llm.loose.candidates import LooseResult
from plansafe.llm.loose.reader import read_loose
from plansafe.verifier.api import Checker

HERE = Path(__file__).parent / "answers"
DOMAIN = Path(__file__).parents[2] / "domains/plansafe/domains/household/domain.pddl"
MODELS = ("smollm2-135m", "qwen2.5-coder-0.5b", "qwen2.5-coder-1.5b")
TO_BUILD = 8
"""The number of families in the half for development: the families with the smallest digests."""


class Answer(NamedTuple):
    """An answer with its label."""

    model: str
    family: str
    number: int
    text: str
    label: dict[str, Any]
    to_judge: bool


def _read_rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (HERE / name).read_text(encoding="utf-8").splitlines()]


@cache
def answers() -> list[Answer]:
    """Return all answers, in the order of their files."""
    labels = {label["id"]: label for label in _read_rows("labels.jsonl")}
    rows = [(model, row) for model in MODELS for row in _read_rows(f"{model}.jsonl")]
    digests = sorted({row["family"] for _, row in rows}, key=lambda name: hashlib.sha256(name.encode()).hexdigest())
    build_families = set(digests[:TO_BUILD])
    return [
        Answer(
            model, row["family"], row["number"], row["answer"], labels[row["id"]], row["family"] not in build_families
        )
        for model, row in rows
    ]


@cache
def checker(family: str, number: int) -> Checker:
    """Return a checker of the scenario's task."""
    (row,) = [row for row in _read_rows("scenarios.jsonl") if (row["family"], row["number"]) == (family, number)]
    task_checker = Checker(
        Source("domain.pddl", DOMAIN.read_text(encoding="utf-8")), Source("problem.pddl", row["problem"])
    )
    assert task_checker.ok, task_checker.diagnostics
    return task_checker


def read(answer: Answer) -> LooseResult:
    """Read an answer."""
    return read_loose(Source("answer.txt", answer.text), checker(answer.family, answer.number))


def outcome(answer: Answer) -> str:
    """Compare the reading with the label: ``as labelled``, ``missed``, ``wrongly read`` or ``other steps``."""
    reading = read(answer)
    if not answer.label["plan"]:
        return "wrongly read" if reading.plan is not None else "as labelled"
    if reading.plan is None:
        return "missed"
    labelled = [_normalize(step) for step in answer.label["steps"]]
    as_read = [_normalize(step.text) for step in reading.steps]
    as_written = [_normalize(answer.text[step.span.start : step.span.end]) for step in reading.steps]
    same = len(labelled) == len(as_read)
    same = same and all([step in readings for step, *readings in zip(labelled, as_read, as_written, strict=True)])
    broken = "SC741" in {note.code for note in reading.notes}
    return "as labelled" if same and broken >= answer.label["broken_off"] else "other steps"


def _normalize(step: str) -> list[str]:
    """Return the words of a step, without regard to its notation."""
    return re.findall(r"[a-z0-9?]+", re.sub(r'"(?:action|args)"\s*:', " ", step.lower()))
