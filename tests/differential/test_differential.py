"""A sample of the comparison with kairos; ``run.py`` does all of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from casefile import Case
from comparison import all_cases, judge_case, judge_mutants
from corpus import Task, shipped_tasks
from divergences import read_divergences
from judges import ROOT, Kernel, Safecheck, find_kairos
from mutation import mutants, object_names, read_plan

from quick import quick_every

CASES = all_cases()
TASKS = shipped_tasks()
METRICS = {"constraints/metric-is-violated-unknown"}  # the kernel reads over metrics
KNOWN = read_divergences(ROOT / "bench" / "results" / "kairos-differences.md")


@pytest.fixture(scope="session")
def kairos() -> Path:
    command = find_kairos()
    if command is None:
        pytest.skip("kairos is not installed (pip install kairos-planner)")
    return command


@pytest.mark.parametrize("case", quick_every(4, CASES), ids=lambda case: case.name)
def test_our_verdict_on_a_case(case: Case) -> None:
    opinion = Safecheck(case.domain, case.problem)(case.plan)
    assert opinion.verdict == case.ours, opinion.words


@pytest.mark.parametrize("case", [c for c in CASES if c.name not in METRICS], ids=lambda case: case.name)
def test_the_verdict_of_the_kernel_on_a_case(case: Case) -> None:
    opinion = Kernel(case.domain, case.problem)(case.plan)
    assert opinion.verdict == case.ours, opinion.words


@pytest.mark.slow
def test_kairos_is_as_listed(kairos: Path) -> None:
    outcomes = [judge_case(case, kairos, Safecheck) for case in CASES]
    assert [(outcome.name, outcome.problem) for outcome in outcomes if outcome.problem] == []


@pytest.mark.parametrize("task", quick_every(6, TASKS), ids=lambda task: task.name)
def test_same_verdict_on_mutants(task: Task, kairos: Path) -> None:
    outcomes = list(judge_mutants(task, 12, kairos, Safecheck, KNOWN))
    assert [(o.name, o.problem, o.plan, o.ours.words) for o in outcomes if o.problem] == []


def test_the_list_has_an_entry_for_every_divergence_and_no_other() -> None:
    named = {case.divergence for case in CASES if case.divergence} | set(KNOWN.mutants.values())
    assert named == KNOWN.names


def test_mutants_are_many_different_and_repeatable() -> None:
    total = 0
    for task in TASKS:
        plan, objects = read_plan(task.plan), object_names(task.domain, task.problem)
        made = list(mutants(plan, objects, 60, task.name))
        assert made == list(mutants(plan, objects, 60, task.name))
        assert len(set(made)) == len(made)
        total += len(made)
    assert total >= 600
    assert len(TASKS) >= 10
