"""The shortcuts of the kernel change nothing: its judgement is the same if every definition is executed literally."""

from __future__ import annotations

from dataclasses import replace

import pytest
from case import plan_text
from generate import STREAMS, case

from plansafe.verifier.kernel import Kernel, KernelLimit, KernelRejects, KernelVerdict
from quick import quick_every

SEED = 1971
TASKS = 3


def verdict_or_limit(kernel: Kernel, plan: str) -> KernelVerdict | str:
    try:
        return replace(kernel.audit(plan), work=0)
    except KernelLimit as limit:
        return str(limit)


@pytest.mark.parametrize("number", range(TASKS))
@pytest.mark.parametrize("stream", quick_every(6, STREAMS))
def test_shortcuts_change_no_judgement(stream: str, number: int) -> None:
    task = case(stream, SEED, number)
    safety = [task.safety_text()] if task.safety_text() else []
    try:
        kernels = [
            Kernel(task.domain_text(), task.problem_text(), safety, literal=literal) for literal in (False, True)
        ]
    except KernelRejects as rejection:
        pytest.fail(f"a random task is rejected: {rejection}")
    for plan in task.plans:
        short, literal = (verdict_or_limit(kernel, plan_text(plan)) for kernel in kernels)
        assert short == literal, plan_text(plan)
