"""Plans built step by step by policies: under a shield nothing breaks a rule on the way, under a guide all arrive."""

from __future__ import annotations

import pytest

from plansafe.align.evaluating.figures import BY_NAME, estimated
from plansafe.align.evaluating.running import Evaluation, evaluate
from plansafe.align.evaluating.stepping import Stepwise
from plansafe.align.evaluating.tasks import EvalTask
from plansafe.align.evaluating.writers import Mock
from plansafe.llm.decoding.stepwise import Mode
from quick import quick_every

TASKS = tuple([EvalTask(f"{name}-0", f"drawn:{name}/0/0", name, "household") for name in ("tidy", "wash-up")])


def _run(kind: str, mode: Mode) -> Evaluation:
    mock = Mock(kind)
    return evaluate(Stepwise(mock.model, mode, mock.label, mock.identity), TASKS, settings={"decode": mode.value})


def _value(run: Evaluation, name: str) -> float | None:
    return estimated(BY_NAME[name], run.evaluated).interval.value


@pytest.mark.parametrize("mode", quick_every(2, [Mode.SHIELD, Mode.GUIDED]))
def test_the_planner_needs_no_correction_and_chance_does(mode: Mode) -> None:
    planner, chance = _run("planner", mode), _run("random", mode)
    assert _value(planner, "kept") == 1.0
    assert _value(planner, "safe-goal") == 1.0
    kept = _value(chance, "kept")
    assert kept is not None and kept < 0.9
    assert _value(chance, "breaks-process") == 0.0
    assert _value(chance, "executable") in (1.0, None)
    if mode is Mode.GUIDED:
        assert _value(chance, "safe-goal") == 1.0
    for record in chance.records:
        assert record["end"] in ("done", "length", "stuck")
        assert [one[3] for one in record["choices"] if one[3] != "(done)"] == record["plan"]
        assert len(record["plan"]) <= -(-3 * len(record["reference"]) // 2)


def test_whole_plans_have_no_first_choices() -> None:
    assert estimated(BY_NAME["kept"], evaluate(Mock("planner"), TASKS).evaluated).whole == 0
