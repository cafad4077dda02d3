"""The tasks whose plans are mutated: the cases in ``tasks.md``, and the Embodied Agent Interface if it is present."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # for scripts of this folder

from case_files import read_cases

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Task:
    """A domain, a problem and a plan. ``solved`` is true if the plan is known to solve the problem."""

    name: str
    domain: str
    problem: str
    plan: str
    solved: bool = True


def without_goal(problem: str) -> str:
    """Return the problem with a goal that always holds and without a metric: only steps and constraints can fail.

    Most mutants miss the goal, which would hide their other errors. Raises ValueError if the problem has no goal.
    """
    start, end = find_section(problem, "(:goal")
    problem = f"{problem[:start]}(:goal (and)){problem[end:]}"
    if "(:metric" in problem:
        start, end = find_section(problem, "(:metric")
        problem = problem[:start] + problem[end:]
    return problem


def find_section(text: str, opening: str) -> tuple[int, int]:
    """Return start and end of the section that begins with ``opening``. Raises ValueError if there is none."""
    start = text.index(opening)
    depth = 0
    for end in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        if depth == 0:
            return start, end + 1
    raise ValueError(f"{opening} is never closed")


def shipped_tasks() -> list[Task]:
    """Return the tasks of this folder, sorted by name."""
    cases = sorted(read_cases(HERE / "tasks.md"), key=lambda case: case.name)
    return [Task(case.name, case.text("domain.pddl"), case.text("problem.pddl"), case.text("plan")) for case in cases]


def data_folder() -> Path:
    """Return the folder of public data sets: ``$PLANSAFE_DATA``, or a folder next to the repository."""
    return Path(os.environ.get("PLANSAFE_DATA", HERE.parents[2] / "shared" / "data"))


def behavior_tasks(limit: int) -> list[Task]:
    """Return at most ``limit`` evenly spaced tasks of the Embodied Agent Interface (BEHAVIOR), if it is present."""
    folder = data_folder() / "eai-behavior"
    gold = folder / "gold_pddl_plan.json"
    if limit < 1 or not gold.is_file():
        return []
    domain = (folder / "domain" / "behavior.pddl").read_text(encoding="utf-8")
    plans: dict[str, list[str]] = json.loads(gold.read_text(encoding="utf-8"))
    names = sorted(name for name in plans if (folder / "problem_pddl" / f"{name}.pddl").is_file())
    return [
        Task(
            f"behavior-{name}",
            domain,
            (folder / "problem_pddl" / f"{name}.pddl").read_text(encoding="utf-8"),
            "".join(f"({step})\n" for step in plans[name]),
            solved=False,
        )
        for name in names[:: max(1, len(names) // limit)][:limit]
    ]
