"""What findings say of a step is held against the kernel's traces, in the reading that they tell of."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from case import plan_text
from compare import Both
from evidence import find_false_evidence
from generate import STREAMS, case

from plansafe.app.session.audit import Session
from plansafe.app.session.model import Prepared, Settings
from plansafe.grammar.source import Source
from plansafe.verifier.kernel import KernelLimit
from quick import quick_every

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SEED = 11
TASKS = 4


@pytest.mark.parametrize("number", range(TASKS))
@pytest.mark.parametrize("stream", quick_every(4, STREAMS))
def test_rows_name_the_steps_that_made_the_change(stream: str, number: int) -> None:
    candidate = case(stream, SEED, number, plans=8)
    both = Both(candidate)
    assert not both.problem
    for plan in candidate.plans:
        text = plan_text(plan)
        report = both.checker.check(Source("p", text))
        try:
            assert find_false_evidence(both.checker, both.kernel, text, report) == []
        except KernelLimit:
            continue  # numbers beyond 65,536 bits: the kernel has no opinion


def prepared(path: Path) -> Prepared:
    """A shipped example, compiled."""
    ready = Session(Settings(replay="never")).prepare(str(path))
    assert isinstance(ready, Prepared)
    return ready


def check_tables(ready: Prepared, text: str) -> int:
    """Hold the tables of a plan against the kernel; how many rows they have."""
    kernel = ready.checker.confirmer.kernel
    assert kernel is not None
    report = ready.checker.check(Source("p", text))
    assert find_false_evidence(ready.checker, kernel, text, report) == []
    return sum(len(finding.table.rows) for finding in report.findings if finding.table is not None)


@pytest.mark.parametrize("name", ["breakfast", "cleaning", "dinner", "leftovers", "visit"])
def test_rows_of_the_examples(name: str) -> None:
    plans = sorted((EXAMPLES / name).glob("*.plan"))
    rows = [check_tables(ready, ready.plan.text) for ready in map(prepared, plans)]
    assert any(rows) or name == "cleaning"


def test_rows_where_a_step_was_forgotten() -> None:
    ready = prepared(EXAMPLES / "dinner" / "stew-and-salad.plan")
    steps = re.findall(r"^\(.*\)$", ready.plan.text, re.MULTILINE)
    for gone in range(0, len(steps), 2):
        assert check_tables(ready, "\n".join(steps[:gone] + steps[gone + 1 :])) > 0
