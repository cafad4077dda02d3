"""Repairs and classes equal an exhaustive enumeration on random tasks; ``run.py`` compares any number of tasks."""

from __future__ import annotations

import pytest
from repair_compare import find_differences, find_optimum_within_limit, format_reproduction
from repair_random import task

from quick import quick_every

SEED = 2026
BATCH = 20
BATCHES = 18  # `make fuzz` runs all 27; one takes as long as ten others


@pytest.mark.parametrize("batch", quick_every(9, range(BATCHES)))
def test_repairs_and_classes_equal_the_enumeration(batch: int) -> None:
    for number in range(batch * BATCH, (batch + 1) * BATCH):
        tested_task = task(SEED, number)
        best = find_optimum_within_limit(tested_task)
        assert best is not None, f"task {number} of seed {SEED} takes too long; choose another seed"
        if find_differences(tested_task, best):
            pytest.fail(f"task {number} of seed {SEED}\n{format_reproduction(tested_task)}", pytrace=False)


def test_a_task_depends_only_on_its_seed_and_number() -> None:
    assert task(SEED, 0) == task(SEED, 0)
    assert task(SEED, 0) != task(SEED, 1)
