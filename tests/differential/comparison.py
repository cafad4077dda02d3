"""Comparing the two judges over micro cases and mutants; every difference must be on the written list."""

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
    """One plan judged twice. ``problem`` says what is wrong with the pair of verdicts, if anything."""

    name: str
    plan: str
    kairos: Opinion
    ours: Opinion
    divergence: str | None = None
    problem: str | None = None


def all_cases() -> list[Case]:
    """The micro cases of all files."""
    return [case for path in sorted((HERE / "micro").glob("*.cases")) for case in read_cases(path)]


def judge_case(case: Case, command: Path, make: MakeJudge) -> Outcome:
    """Both verdicts on a micro case, against what its file says."""
    with tempfile.TemporaryDirectory() as folder:
        kairos = Kairos(command, case.domain, case.problem, Path(folder))(case.plan)
    ours = make(case.domain, case.problem)(case.plan)
    wrong = []
    if ours.verdict != case.ours:
        wrong.append(f"safecheck should {case.ours}")
    if kairos.verdict != case.kairos:
        wrong.append(f"kairos is listed with {case.kairos}")
    return Outcome(case.name, case.plan, kairos, ours, case.divergence, "; ".join(wrong) or None)


def judge_plan(
    task: Task, plan: str, judges: tuple[PlanValidator, PlanValidator], name: str, known: Divergences
) -> Outcome:
    """Both verdicts on one plan of a task; where they differ, the entry of the list."""
    kairos, ours = (judge(plan) for judge in judges)
    if kairos.verdict == ours.verdict:
        return Outcome(name, plan, kairos, ours)
    entry = known.mutants.get((task.name, kairos.verdict))
    return Outcome(name, plan, kairos, ours, entry, None if entry else "not on the list of divergences")


def judge_mutants(task: Task, count: int, command: Path, make: MakeJudge, known: Divergences) -> Iterator[Outcome]:
    """Both verdicts on a task's own plan and on mutants: half of the plan, half of prefixes, without the goal."""
    objects = object_names(task.domain, task.problem)
    goalless = without_goal(task.problem)
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        whole = (Kairos(command, task.domain, task.problem, Path(first)), make(task.domain, task.problem))
        steps_alone = (Kairos(command, task.domain, goalless, Path(second)), make(task.domain, goalless))
        outcome = judge_plan(task, task.plan, whole, task.name, known)
        if task.solved and outcome.ours.verdict == "reject":
            outcome = replace(outcome, problem="the unchanged plan is rejected")
        yield outcome
        original = read_plan(task.plan)
        for number, plan in enumerate(mutants(original, objects, count - count // 2, task.name), 1):
            yield judge_plan(task, plan, whole, f"{task.name}#{number}", known)
        for number, plan in enumerate(mutants(original, objects, count // 2, f"{task.name}, prefixes", True), 1):
            yield judge_plan(task, plan, steps_alone, f"{task.name}, prefix #{number}", known)
