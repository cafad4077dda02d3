"""A task as text, with the correct verdict by construction."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

FILES = {"domain": "domain.pddl", "problem": "problem.pddl", "rules": "rules.pddl", "plan": "plan"}
_WORLD_VALUES = re.compile(r"executable (\w+), goal (\w+), safe (\w+)")


class Answer(NamedTuple):
    """A headline and the three values of a verdict over possible worlds (docs/worlds.md, section 2)."""

    headline: str
    executable: str = "ALL"
    goal: str = "ALL"
    safe: str = "ALL"

    def __str__(self) -> str:
        return f"{self.headline} {self.executable}/{self.goal}/{self.safe}"


SAFE = Answer("SAFE")
UNSAFE = Answer("UNSAFE", safe="SOME")
ALWAYS_UNSAFE = Answer("UNSAFE", safe="NONE")
INVALID = Answer("INVALID", executable="SOME", goal="SOME")


class Task(NamedTuple):
    """Domain, problem, rules and plan as text. ``expected`` is the correct verdict by construction."""

    domain: str
    problem: str
    rules: str
    plan: str
    expected: Answer
    open_facts: int = 0

    def write(self, folder: Path) -> None:
        """Write the four files."""
        folder.mkdir(parents=True, exist_ok=True)
        for field, name in FILES.items():
            (folder / name).write_text(getattr(self, field), encoding="utf-8")


def parse_answer(report: str) -> Answer | None:
    """The verdict in a full report; ``None`` if there is none."""
    headline = re.search(r"^(SAFE|VALID|UNSAFE|INVALID|UNKNOWN)\b", report, re.MULTILINE)
    if headline is None:
        return None
    values = _WORLD_VALUES.search(report)
    return Answer(headline[1], *values.groups()) if values is not None else Answer(headline[1])


def problem_text(domain: str, objects: dict[str, list[str]], init: list[str], goal: str = "") -> str:
    """A PDDL problem; ``objects`` by type."""
    declarations = " ".join([f"{' '.join(names)} - {type_name}" for type_name, names in objects.items() if names])
    return (
        f"(define (problem p) (:domain {domain})\n (:objects {declarations})\n (:init {' '.join(init)})\n"
        f" (:goal (and {goal})))\n"
    )
