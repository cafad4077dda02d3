"""Comparing the two judges over micro cases and mutants; every difference must be on the written list."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from casefile import Case, read_cases
from corpus import Task
from divergences import Divergences
from judges import Judge, Kairos, Opinion
from mutation import mutants, object_names, read_plan

HERE = Path(__file__).resolve().parent
MakeJudge = Callable[[str, str], Judge]


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


def judge_mutants(task: Task, count: int, command: Path, make: MakeJudge, known: Divergences) -> Iterator[Outcome]:
    """Both verdicts on a task's own plan, which must be accepted twice, and on its mutants."""
    objects = object_names(task.domain, task.problem)
    with tempfile.TemporaryDirectory() as folder:
        kairos = Kairos(command, task.domain, task.problem, Path(folder))
        ours = make(task.domain, task.problem)
        said, we_say = kairos(task.plan), ours(task.plan)
        accepted = said.verdict == we_say.verdict == "accept"
        yield Outcome(task.name, task.plan, said, we_say, None, None if accepted else "the unchanged plan is rejected")
        for number, plan in enumerate(mutants(read_plan(task.plan), objects, count, task.name), 1):
            said, we_say = kairos(plan), ours(plan)
            name = f"{task.name}#{number}"
            if said.verdict == we_say.verdict:
                yield Outcome(name, plan, said, we_say)
            else:
                entry = known.mutants.get((task.name, said.verdict))
                yield Outcome(name, plan, said, we_say, entry, None if entry else "not on the list of divergences")
