"""Answers by writers who had not seen the reader (``unseen/README.md``), and the reader's outcomes."""

from __future__ import annotations

import json
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

from plansafe.grammar.source import Source
from plansafe.llm.loose.candidates import LooseResult
from plansafe.llm.loose.reader import check_answer
from plansafe.verifier.api import Checker
from plansafe.verifier.reporting.report import Headline

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
STOVE, EXAMPLES = HERE / "tasks", ROOT / "examples"
HOUSEHOLD = ROOT / "domains/plansafe/domains/household/domain.pddl"
TASKS = {
    "k": (STOVE / "stove-domain.pddl", STOVE / "stove-problem.pddl", STOVE / "stove-rules.safe"),
    "glass": tuple([EXAMPLES / "fragile-glass" / name for name in ("domain.pddl", "problem.pddl", "glass.safe")]),
    "oven": tuple([EXAMPLES / "oven" / name for name in ("domain.pddl", "problem.pddl", "dishes.safe")]),
    "milk": (HOUSEHOLD, EXAMPLES / "metal-cup/problem.pddl"),
}
KINDS = ("retractions", "chatty", "formats")
SETS = (1, 2)


class Outcome(StrEnum):
    """The outcome of an answer. ``OTHER_STEPS``: the steps that were read are not the author's steps."""

    SAFE = "SAFE"
    CAPPED = "capped"
    REFUSED = "refused"
    OTHER_VERDICT = "another verdict"
    AS_MEANT = "as meant"
    OTHER_STEPS = "other steps"


@cache
def checker(task: str) -> Checker:
    domain, problem, *rules = [Source(path.name, path.read_text(encoding="utf-8")) for path in TASKS[task]]
    task_checker = Checker(domain, problem, rules)
    assert task_checker.ok, task_checker.diagnostics
    return task_checker


def answers(kind: str, number: int) -> list[dict[str, Any]]:
    lines = (HERE / f"unseen/{kind}-{number}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def verdict(answer: dict[str, Any]) -> Outcome:
    """Return the verdict on an answer."""
    read, report = check_answer(Source("answer.txt", answer["text"]), checker(answer["task"]))
    if report is None:
        return Outcome.REFUSED
    if report.headline in (Headline.SAFE, Headline.VALID):
        return Outcome.SAFE
    return Outcome.CAPPED if read.remarks and report.headline is Headline.UNKNOWN else Outcome.OTHER_VERDICT


def reading(answer: dict[str, Any]) -> tuple[Outcome, LooseResult]:
    """Compare the steps of a structured answer with the author's steps; return the outcome and the reading."""
    read = check_answer(Source("answer.txt", answer["text"]), checker(answer["task"])).read
    if read.plan is None:
        return Outcome.REFUSED, read
    is_as_meant = [step.text for step in read.steps] == answer["steps"]
    return Outcome.AS_MEANT if is_as_meant else Outcome.OTHER_STEPS, read
