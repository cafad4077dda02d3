"""The outputs under ``outputs/`` and ``formats/``: a model's text, and the expected plan or refusal.

``=== name`` begins a case. Its text runs to ``--- plan CODES`` (the notes and remarks that must be reported,
then the plan) or ``--- refused CODES`` (one of the codes of the errors). ``\\uXXXX`` and a final ``\\r`` stand for
invisible characters.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from plansafe.grammar.source import Source
from plansafe.llm.loose.candidates import LooseResult
from plansafe.llm.loose.reader import read_loose
from plansafe.verifier.api import Checker

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
TASKS = {
    "household": (
        ROOT / "domains/plansafe/domains/household/domain.pddl",
        ROOT / "examples/breakfast/problem.pddl",
    ),
    "home": (HERE / "tasks/home-domain.pddl", HERE / "tasks/home-problem.pddl"),
    "depot": (HERE / "tasks/depot-domain.pddl", HERE / "tasks/depot-problem.pddl"),
}
_ESCAPE = re.compile(r"\\u([0-9a-f]{4})")


class Case(NamedTuple):
    task: str
    name: str
    text: str
    plan: str | None
    codes: tuple[str, ...]


@cache
def checker(task: str) -> Checker:
    domain, problem = (Source(path.name, path.read_text(encoding="utf-8")) for path in TASKS[task])
    task_checker = Checker(domain, problem)
    assert task_checker.ok, task_checker.diagnostics
    return task_checker


def cases() -> list[Case]:
    """Return the cases of each task, and the cases of each format, which are for the task ``home``."""
    all_cases = []
    for path in (*[HERE / f"outputs/{task}.txt" for task in TASKS], *sorted((HERE / "formats").glob("*.txt"))):
        in_format = path.parent.name == "formats"
        task = "home" if in_format else path.stem
        for part in re.split(r"^=== ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
            name, _, body = part.partition("\n")
            name = f"{path.stem}, {name}" if in_format else name
            match = re.search(r"^--- (plan|refused)(.*)\n", body, flags=re.MULTILINE)
            assert match, name
            written = _ESCAPE.sub(lambda escape: chr(int(escape[1], 16)), body[: match.start()]).replace(
                "\\r\n", "\r\n"
            )
            plan = body[match.end() :] if match[1] == "plan" else None
            all_cases.append(Case(task, name, written, plan, tuple(match[2].split())))
    return all_cases


def read_output(text: str, task: str = "home") -> LooseResult:
    """Read an output as a plan of a task."""
    return read_loose(Source("output.txt", text), checker(task))
