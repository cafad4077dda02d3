"""The kept answers (``answers/``), their labels, and how far the reader agrees with them."""

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
"""How many families are to build with: those whose digests are smallest."""


class Answer(NamedTuple):
    """An answer with its label."""

    model: str
    family: str
    number: int
    text: str
    label: dict[str, Any]
    to_judge: bool


def _lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (HERE / name).read_text(encoding="utf-8").splitlines()]


@cache
def answers() -> list[Answer]:
    """All answers, in the order of their files."""
    labels = {each["id"]: each for each in _lines("labels.jsonl")}
    rows = [(model, row) for model in MODELS for row in _lines(f"{model}.jsonl")]
    digests = sorted({row["family"] for _, row in rows}, key=lambda name: hashlib.sha256(name.encode()).hexdigest())
    build = set(digests[:TO_BUILD])
    return [
        Answer(model, row["family"], row["number"], row["answer"], labels[row["id"]], row["family"] not in build)
        for model, row in rows
    ]


@cache
def checker(family: str, number: int) -> Checker:
    """The task of a scenario."""
    (row,) = [each for each in _lines("scenarios.jsonl") if (each["family"], each["number"]) == (family, number)]
    made = Checker(Source("domain.pddl", DOMAIN.read_text(encoding="utf-8")), Source("problem.pddl", row["problem"]))
    assert made.ok, made.diagnostics
    return made


def read(answer: Answer) -> LooseResult:
    """What the reader makes of an answer."""
    return read_loose(Source("answer.txt", answer.text), checker(answer.family, answer.number))


def outcome(answer: Answer) -> str:
    """``as labelled``, ``missed`` (a plan that is not read), ``wrongly read`` or ``other steps``."""
    found = read(answer)
    if not answer.label["plan"]:
        return "wrongly read" if found.plan is not None else "as labelled"
    if found.plan is None:
        return "missed"
    wanted = [_folded(step) for step in answer.label["steps"]]
    as_read = [_folded(step.text) for step in found.steps]
    as_stands = [_folded(answer.text[step.span.start : step.span.end]) for step in found.steps]
    same = len(wanted) == len(as_read)
    same = same and all([one in pair for one, *pair in zip(wanted, as_read, as_stands, strict=True)])
    broken = "SC741" in {note.code for note in found.notes}
    return "as labelled" if same and broken >= answer.label["broken_off"] else "other steps"


def _folded(step: str) -> list[str]:
    """The words of a step, however it is written."""
    return re.findall(r"[a-z0-9?]+", re.sub(r'"(?:action|args)"\s*:', " ", step.lower()))
