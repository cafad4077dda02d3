"""Gold scripts and gold plans of the Embodied Agent Interface, a sample of them; ``run_oracle.py`` takes all."""

from __future__ import annotations

import random
from itertools import islice
from pathlib import Path

import pytest
from vh_gold import cases, judge, pddl_plans, pddl_verdict, recorded_stop

SAMPLE = 5
# It takes a glass that it holds already.
WRONG = "688_1"


@pytest.fixture(scope="module")
def folder(data: Path) -> Path:
    data_folder = data / "eai-virtualhome"
    if not data_folder.is_dir():
        pytest.skip(f"no {data_folder}")
    return data_folder


@pytest.mark.slow
def test_our_executor_agrees_and_every_gold_script_reaches_its_goal(folder: Path) -> None:
    gold_cases = [case for case in cases(folder) if case.name != WRONG]
    assert len(gold_cases) == 235
    missed = [case for case in gold_cases if not case.recorded["gold_ok"]]
    assert len(missed) == 27
    generator = random.Random(4)
    for case in (*generator.sample(gold_cases, SAMPLE), *generator.sample(missed, 2)):
        verdict = judge(case)
        assert verdict.stopped == recorded_stop(case) is None, case.name
        assert verdict.goal, case.name
        assert verdict.formula is not False, case.name
        annotated_goal = case.annotation["vh_goal"]
        assert bool(verdict.notes) is not (bool(annotated_goal["goal"]) or bool(annotated_goal["actions"])), case.name
        assert case.recorded["gold_ok"] or case.edges > 1, case.name


def test_the_one_wrong_gold_script(folder: Path) -> None:
    (case,) = [case for case in cases(folder) if case.name == WRONG]
    verdict = judge(case)
    assert verdict.stopped == recorded_stop(case) == 17
    assert not verdict.goal
    lines = [line for line in case.script.splitlines() if line.startswith("[")]
    assert lines[14] == lines[16] == "[GRAB] <water_glass> (1.1000)"


@pytest.mark.slow
def test_gold_plans_in_pddl_are_valid(folder: Path) -> None:
    for name, checker, plan in islice(pddl_plans(folder), 0, None, 25):
        assert pddl_verdict(checker, plan) == "VALID", name
