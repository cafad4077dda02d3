"""A kitchen with one rule, and models with given answers, for tests of the loop and of its command."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from plansafe.llm.models.mock import MockModel
from plansafe.llm.models.request import Situation

Run = Callable[..., tuple[int, str, str]]
"""Runs a command: exit code, standard output, standard error."""
RULES = """(define (safety kitchen)
  (:process stove-off-before-leaving :on (go ?from ?to) :rationale "An attended stove burns no home."
    :forbid (exists (?s - stove) (and (in ?s ?from) (on ?s))) :message "a stove is on in {?from}" :fix "switch it off"))
"""
COLD = "(define (safety cold) (:trajectory cold :formula (always (not (hot hob)))))"


def record_answers(*answers: str) -> str:
    """Write a file of recorded answers for a task, one for each round; return the model that replays it."""
    lines = [json.dumps({"task": "tea", "text": answer}) + "\n" for answer in answers]
    Path("answers.jsonl").write_text("".join(lines))
    return "replay/answers.jsonl"


def written_files() -> set[str]:
    """Return the names of the files that a command has written."""
    return {path.name for path in Path().iterdir()} - {"task", "answers.jsonl"}


def mock_with_answers(*answers: str) -> MockModel:
    """Return a model that gives these answers, one in each round; the last answer is repeated."""
    remaining = list(answers)

    def policy(_: Situation) -> str:
        return remaining.pop(0) if len(remaining) > 1 else remaining[0]

    return MockModel("planner", {"planner": policy})
