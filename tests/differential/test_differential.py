"""A sample of the comparison with kairos; ``run.py`` makes the full comparison."""

from __future__ import annotations

from pathlib import Path

import pytest
from casefile import Case
from comparison import all_cases, compare_on_case, compare_on_mutants
from corpus import Task, shipped_tasks
from divergences import read_divergences
from mutation import mutants, object_names, read_plan
from validators import ROOT, Kernel, Safecheck, find_kairos

from quick import quick_every

CASES = all_cases()
TASKS = shipped_tasks()
METRICS = {"constraints/metric-is-violated-unknown"}  # the kernel skips metrics
DIVERGENCES = read_divergences(ROOT / "bench" / "results" / "kairos-differences.md")


@pytest.fixture(scope="session")
def kairos() -> Path:
    command = find_kairos()
    if command is None:
        pytest.skip("kairos is not installed (pip install kairos-planner)")
    return command


@pytest.mark.parametrize("case", quick_every(4, CASES), ids=lambda case: case.name)
def test_safecheck_gives_the_expected_verdict_on_a_case(case: Case) -> None:
    result = Safecheck(case.domain, case.problem)(case.plan)
    assert result.verdict == case.ours, result.output


@pytest.mark.parametrize("case", [c for c in CASES if c.name not in METRICS], ids=lambda case: case.name)
def test_the_kernel_gives_the_expected_verdict_on_a_case(case: Case) -> None:
    result = Kernel(case.domain, case.problem)(case.plan)
    assert result.verdict == case.ours, result.output


@pytest.mark.slow
def test_kairos_gives_the_listed_verdicts(kairos: Path) -> None:
    outcomes = [compare_on_case(case, kairos, Safecheck) for case in CASES]
    assert [(outcome.name, outcome.problem) for outcome in outcomes if outcome.problem] == []


@pytest.mark.parametrize("task", quick_every(6, TASKS), ids=lambda task: task.name)
def test_both_validators_give_the_same_verdict_on_mutants(task: Task, kairos: Path) -> None:
    outcomes = list(compare_on_mutants(task, 12, kairos, Safecheck, DIVERGENCES))
    assert [(o.name, o.problem, o.plan, o.ours.output) for o in outcomes if o.problem] == []


def test_the_list_of_divergences_has_exactly_the_entries_that_cases_and_mutants_need() -> None:
    needed = {case.divergence for case in CASES if case.divergence} | set(DIVERGENCES.mutants.values())
    assert needed == DIVERGENCES.names


def test_mutants_are_numerous_distinct_and_reproducible() -> None:
    total = 0
    for task in TASKS:
        plan, objects = read_plan(task.plan), object_names(task.domain, task.problem)
        mutants_of_task = list(mutants(plan, objects, 60, task.name))
        assert mutants_of_task == list(mutants(plan, objects, 60, task.name))
        assert len(set(mutants_of_task)) == len(mutants_of_task)
        total += len(mutants_of_task)
    assert total >= 600
    assert len(TASKS) >= 10
