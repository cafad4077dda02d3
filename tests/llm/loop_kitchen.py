"""A kitchen with one rule, for tests of the loop and of its command."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

Run = Callable[..., tuple[int, str, str]]
"""Runs a command: exit code, standard output, standard error."""
RULES = """(define (safety kitchen)
  (:process stove-off-before-leaving :on (go ?from ?to) :rationale "An attended stove burns no home."
    :forbid (exists (?s - stove) (and (in ?s ?from) (on ?s))) :message "a stove is on in {?from}" :fix "switch it off"))
"""
COLD = "(define (safety cold) (:trajectory cold :formula (always (not (hot hob)))))"


def says(*answers: str) -> str:
    """A file of recorded answers for a task, round by round."""
    lines = [json.dumps({"task": "tea", "text": answer}) + "\n" for answer in answers]
    Path("answers.jsonl").write_text("".join(lines))
    return "replay/answers.jsonl"


def written() -> set[str]:
    """What a command has written."""
    return {path.name for path in Path().iterdir()} - {"task", "answers.jsonl"}
