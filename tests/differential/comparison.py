"""Compare two validators on micro cases and mutants; every difference must be in the list of divergences."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from casefile import Case, read_cases
from corpus import Task, without_goal
from divergences import Divergences
from mutation import mutants, object_names, read_plan
from validators import Kairos, PlanValidator, ValidatorResult

HERE = Path(__file__).resolve().parent
ValidatorFactory = Callable[[str, str], PlanValidator]


@dataclass(frozen=True)
class Outcome:
    """The two verdicts on one plan. ``problem`` describes an unexpected pair of verdicts."""

    name: str
    plan: str
    kairos: ValidatorResult
    ours: ValidatorResult
    divergence: str | None = None
    problem: str | None = None


def all_cases() -> list[Case]:
    """Return the micro cases of all files."""
    return [case for path in sorted((HERE / "micro").glob("*.cases")) for case in read_cases(path)]


def compare_on_case(case: Case, command: Path, make_validator: ValidatorFactory) -> Outcome:
    """Compare both verdicts on a micro case with those in its file."""
    with tempfile.TemporaryDirectory() as folder:
        kairos = Kairos(command, case.domain, case.problem, Path(folder))(case.plan)
    ours = make_validator(case.domain, case.problem)(case.plan)
    problems = []
    if ours.verdict != case.ours:
        problems.append(f"safecheck should {case.ours}")
    if kairos.verdict != case.kairos:
        problems.append(f"kairos is listed with {case.kairos}")
    return Outcome(case.name, case.plan, kairos, ours, case.divergence, "; ".join(problems) or None)


def compare_on_plan(
    task: Task, plan: str, pair: tuple[PlanValidator, PlanValidator], name: str, divergences: Divergences
) -> Outcome:
    """Return both verdicts on one plan of a task and, if they differ, the entry of the list."""
    kairos, ours = (validator(plan) for validator in pair)
    if kairos.verdict == ours.verdict:
        return Outcome(name, plan, kairos, ours)
    entry = divergences.mutants.get((task.name, kairos.verdict))
    return Outcome(name, plan, kairos, ours, entry, None if entry else "not on the list of divergences")


def compare_on_mutants(
    task: Task, count: int, command: Path, make_validator: ValidatorFactory, divergences: Divergences
) -> Iterator[Outcome]:
    """Yield both verdicts on a task's plan and on its mutants.

    Half of the mutants are of the whole plan, half of its prefixes, which are compared without the goal.
    """
    objects = object_names(task.domain, task.problem)
    goalless = without_goal(task.problem)
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        pair = (Kairos(command, task.domain, task.problem, Path(first)), make_validator(task.domain, task.problem))
        goalless_validators = (
            Kairos(command, task.domain, goalless, Path(second)),
            make_validator(task.domain, goalless),
        )
        outcome = compare_on_plan(task, task.plan, pair, task.name, divergences)
        if task.solved and outcome.ours.verdict == "reject":
            outcome = replace(outcome, problem="the unchanged plan is rejected")
        yield outcome
        original = read_plan(task.plan)
        for number, plan in enumerate(mutants(original, objects, count - count // 2, task.name), 1):
            yield compare_on_plan(task, plan, pair, f"{task.name}#{number}", divergences)
        for number, plan in enumerate(mutants(original, objects, count // 2, f"{task.name}, prefixes", True), 1):
            yield compare_on_plan(task, plan, goalless_validators, f"{task.name}, prefix #{number}", divergences)
