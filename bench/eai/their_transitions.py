"""The evaluator of ``eai-eval`` on answers of transition modeling in VirtualHome, answer by answer.

usage: PYTHON-WITH-EAI-EVAL bench/eai/their_transitions.py ANSWERS.jsonl > COUNTED.jsonl

Reads lines ``{"id": .., "task": "27_2", "text": ..}`` and writes, for each, ``{"id", "read", "actions"}``: of each
action that the task asks for the predicates that match, are false and are missed, in precondition and effect; ``read``
is ``null`` where the task is left out. Its functions run unchanged, but for its planner, which is another program and
is not asked. It needs no package of ours.
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
import os
import sys
import tempfile
from typing import Any


class NoPlanner:
    """Finds no plan."""

    def plan_from_pddl(self, *_: Any, **__: Any) -> None:
        raise RuntimeError("no planner is asked")


def main(path: str) -> None:
    with open(path, encoding="utf-8") as file:
        answers = [json.loads(line) for line in file]
    os.chdir(tempfile.mkdtemp(prefix="eai-"))
    logging.disable(logging.CRITICAL)
    with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
        from virtualhome_eval import agent_eval
        from virtualhome_eval.evaluation.transition_modeling.scripts import evaluate_results as module
    module.FD = NoPlanner
    root = os.path.join(agent_eval.default_resource_dir, "virtualhome")
    names = ("id2action", "id2category_2", "id2task", "success_task", "predicates_category", "gold_action")
    known: dict[str, Any] = {}
    for name in names:
        with open(os.path.join(root, f"{name}.json"), encoding="utf-8") as file:
            known[name] = json.load(file)
    kinds = known["predicates_category"]
    for answer in answers:
        arguments = (
            {"identifier": answer["task"], "llm_output": answer["text"]},
            "m",
            "virtualhome",
            100,
            root,
            "pddl",
            os.path.join(root, "problem_pddl"),
            known["id2action"],
            known["id2category_2"],
            known["id2task"],
            known["success_task"],
            kinds,
            known["gold_action"],
            {*kinds.values(), *[kind for found in known["id2category_2"].values() for kind in found]},
            {action for found in known["id2action"].values() for action in found},
            set(kinds),
        )
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                found, _ = module.worker_process(arguments)
        except Exception as error:
            print(json.dumps({"id": answer["id"], "crashed": f"{type(error).__name__}: {error}"[:200]}), flush=True)
            continue
        if found is None or "precond_action_type" not in found:
            read = None if found is None else False
            print(json.dumps({"id": answer["id"], "read": read, "actions": {}}), flush=True)
            continue
        counted = {
            name: {"precondition": found["precond_action_type"][name], "effect": found["effect_action_type"][name]}
            for name in known["id2action"][answer["task"]]
        }
        print(json.dumps({"id": answer["id"], "read": True, "actions": counted}), flush=True)


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]))
