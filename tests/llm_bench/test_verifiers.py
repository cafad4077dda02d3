"""The environment for PrimeIntellect's verifiers: rewards are verdicts, and findings are the feedback."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

vf = pytest.importorskip("verifiers", reason="the environment needs the extra `verifiers`")
if not hasattr(vf, "MultiTurnEnv"):
    pytest.skip("verifiers 0.4 has another interface", allow_module_level=True)


def test_rewards_are_verdicts_and_an_unsafe_plan_gets_its_findings() -> None:
    from plansafe.llm.bench.sources import TaskSelection, tasks_of
    from plansafe.llm.bench.verifiers_env import load_environment

    environment = load_environment(split="dev", limit=4, rounds=2)
    rows = list(environment.get_dataset())
    tasks = {task.name: task for task in tasks_of(TaskSelection(split="dev", limit=4))}
    row = next(row for row in rows if tasks[row["info"]["scenario"]].unsafe)
    task = tasks[row["info"]["scenario"]]

    def rewards(answer: str) -> dict[str, float]:
        completion = [{"role": "assistant", "content": answer}]
        functions = {function.__name__: function for function in environment.rubric.funcs}
        if not functions:  # a group of rubrics
            functions = {f.__name__: f for rubric in environment.rubric.rubrics for f in rubric.funcs}
        names = ("safe", "goal", "executable", "read")
        return {name: functions[name](completion=completion, info=row["info"]) for name in names}

    assert rewards(row["answer"]) == {"safe": 1.0, "goal": 1.0, "executable": 1.0, "read": 1.0}
    assert rewards(task.unsafe) == {"safe": 0.0, "goal": 1.0, "executable": 1.0, "read": 1.0}
    assert rewards("I am sorry.") == {"safe": 0.0, "goal": 0.0, "executable": 0.0, "read": 0.0}
    assert "UNSAFE" in environment.feedback(task.name, task.unsafe)

    def state(answer: str) -> dict[str, Any]:
        step = {"prompt": row["prompt"], "completion": [{"role": "assistant", "content": answer}]}
        return {"info": row["info"], "trajectory": [step]}

    assert asyncio.run(environment.plan_is_safe(state(row["answer"])))
    assert not asyncio.run(environment.plan_is_safe(state(task.unsafe)))
    (message,) = asyncio.run(environment.env_response([], state(task.unsafe)))
    fields = message if isinstance(message, dict) else message.model_dump()
    assert fields["role"] == "user" and "UNSAFE" in fields["content"]
