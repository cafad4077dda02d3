"""Run the evaluator of ``eai-eval`` on single answers of transition modeling in VirtualHome.

usage: PYTHON-WITH-EAI-EVAL bench/eai/their_transitions.py ANSWERS.jsonl > COUNTED.jsonl

Reads lines ``{"id": .., "task": "27_2", "text": ..}`` and writes, for each, ``{"id", "read", "actions"}``: for each
action that the task asks for, the numbers of predicates that match, are false and are missed, in precondition and
effect; ``read`` is ``null`` if the task is left out. The evaluator's functions run unchanged, except for its planner,
which is a separate program and is not called. It needs no package of this project.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from typing import Any

from their_answers import describe_crash, read_answers


class NoPlanner:
    """A planner that always fails."""

    def plan_from_pddl(self, *_: Any, **__: Any) -> None:
        raise RuntimeError("no planner is called")


def main(path: str) -> None:
    answers = read_answers(path)
    with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
        from virtualhome_eval import agent_eval
        from virtualhome_eval.evaluation.transition_modeling.scripts import evaluate_results as module
    module.FD = NoPlanner
    root = os.path.join(agent_eval.default_resource_dir, "virtualhome")
    names = ("id2action", "id2category_2", "id2task", "success_task", "predicates_category", "gold_action")
    resources: dict[str, Any] = {}
    for name in names:
        with open(os.path.join(root, f"{name}.json"), encoding="utf-8") as file:
            resources[name] = json.load(file)
    kinds = resources["predicates_category"]
    for answer in answers:
        arguments = (
            {"identifier": answer["task"], "llm_output": answer["text"]},
            "m",
            "virtualhome",
            100,
            root,
            "pddl",
            os.path.join(root, "problem_pddl"),
            resources["id2action"],
            resources["id2category_2"],
            resources["id2task"],
            resources["success_task"],
            kinds,
            resources["gold_action"],
            {*kinds.values(), *[kind for task_kinds in resources["id2category_2"].values() for kind in task_kinds]},
            {action for task_actions in resources["id2action"].values() for action in task_actions},
            set(kinds),
        )
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                scores, _ = module.worker_process(arguments)
        except Exception as error:
            print(json.dumps({"id": answer["id"], "crashed": describe_crash(error)}), flush=True)
            continue
        if scores is None or "precond_action_type" not in scores:
            read = None if scores is None else False
            print(json.dumps({"id": answer["id"], "read": read, "actions": {}}), flush=True)
            continue
        counts = {
            name: {"precondition": scores["precond_action_type"][name], "effect": scores["effect_action_type"][name]}
            for name in resources["id2action"][answer["task"]]
        }
        print(json.dumps({"id": answer["id"], "read": True, "actions": counts}), flush=True)


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]))
