"""Compare two validators on micro cases and mutants; every difference must be in the list of divergences."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from casefile import Case, read_cases
from corpus import Task, without_goal
from divergences import Divergences
from judges import Kairos, Opinion, PlanValidator
from mutation import mutants, object_names, read_plan

HERE = Path(__file__).resolve().parent
MakeJudge = Callable[[str, str], PlanValidator]


@dataclass(frozen=True)
class Outcome:
    """The two verdicts on one plan. ``problem`` describes an unexpected pair of verdicts."""

    name: str
    plan: str
    kairos: Opinion
    ours: Opinion
    divergence: str | None = None
    problem: str | None = None


def all_cases() -> list[Case]:
    """Return the micro cases of all files."""
    return [case for path in sorted((HERE / "micro").glob("*.cases")) for case in read_cases(path)]


def judge_case(case: Case, command: Path, make: MakeJudge) -> Outcome:
    """Compare both verdicts on a micro case with those in its file."""
    with tempfile.TemporaryDirectory() as folder:
        kairos = Kairos(command, case.domain, case.problem, Path(folder))(case.plan)
    ours = make(case.domain, case.problem)(case.plan)
    problems = []
    if ours.verdict != case.ours:
        problems.append(f"safecheck should {case.ours}")
    if kairos.verdict != case.kairos:
        problems.append(f"kairos is listed with {case.kairos}")
    return Outcome(case.name, case.plan, kairos, ours, case.divergence, "; ".join(problems) or None)


def judge_plan(
    task: Task, plan: str, judges: tuple[PlanValidator, PlanValidator], name: str, divergences: Divergences
) -> Outcome:
    """Return both verdicts on one plan of a task and, if they differ, the entry of the list."""
    kairos, ours = (judge(plan) for judge in judges)
    if kairos.verdict == ours.verdict:
        return Outcome(name, plan, kairos, ours)
    entry = divergences.mutants.get((task.name, kairos.verdict))
    return Outcome(name, plan, kairos, ours, entry, None if entry else "not on the list of divergences")


def judge_mutants(
    task: Task, count: int, command: Path, make: MakeJudge, divergences: Divergences
) -> Iterator[Outcome]:
    """Yield both verdicts on a task's plan and on its mutants.

    Half of the mutants are of the whole plan, half of its prefixes, which are judged without the goal.
    """
    objects = object_names(task.domain, task.problem)
    goalless = without_goal(task.problem)
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        judges = (Kairos(command, task.domain, task.problem, Path(first)), make(task.domain, task.problem))
        goalless_judges = (Kairos(command, task.domain, goalless, Path(second)), make(task.domain, goalless))
        outcome = judge_plan(task, task.plan, judges, task.name, divergences)
        if task.solved and outcome.ours.verdict == "reject":
            outcome = replace(outcome, problem="the unchanged plan is rejected")
        yield outcome
        original = read_plan(task.plan)
        for number, plan in enumerate(mutants(original, objects, count - count // 2, task.name), 1):
            yield judge_plan(task, plan, judges, f"{task.name}#{number}", divergences)
        for number, plan in enumerate(mutants(original, objects, count // 2, f"{task.name}, prefixes", True), 1):
            yield judge_plan(task, plan, goalless_judges, f"{task.name}, prefix #{number}", divergences)
