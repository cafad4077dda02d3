"""The evaluator of ``eai-eval`` on answers of goal interpretation in VirtualHome, answer by answer.

usage: PYTHON-WITH-EAI-EVAL bench/eai/their_goals.py ANSWERS.jsonl > COUNTED.jsonl

Reads lines ``{"id": .., "task": "27_2", "text": ..}`` and writes, for each, ``{"id", "counts", "listed"}``: right,
false and missed goals of each list, and the number that a name was taken for; or ``{"id", "crashed"}``. Its functions
run unchanged: what it sums and what it looks up is noted on the way. It needs no package of ours.
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
import os
import sys
import tempfile
from types import SimpleNamespace
from typing import Any

LISTS = ("node goals", "edge goals", "action goals")


def main(path: str) -> None:
    with open(path, encoding="utf-8") as file:
        answers = [json.loads(line) for line in file]
    os.chdir(tempfile.mkdtemp(prefix="eai-"))
    logging.disable(logging.CRITICAL)
    with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
        from virtualhome_eval import agent_eval
        from virtualhome_eval.evaluation.goal_interpretation.scripts import evaluate_results as module
        from virtualhome_eval.simulation.evolving_graph.motion_planner import MotionPlanner
    sums: list[tuple[int, int, int]] = []
    listed: dict[str, int] = {}
    share, nodes = module.precision_recall_f1, MotionPlanner.get_relevant_nodes

    def noted(right: int, false: int, missed: int) -> Any:
        sums.append((right, false, missed))
        return share(right, false, missed)

    def looked_up(self: Any, *arguments: Any, **named: Any) -> Any:
        found = nodes(self, *arguments, **named)
        listed.update({one[0]: one[1] for one in found})  # in the order in which the evaluator will go through them
        return found

    module.precision_recall_f1 = noted
    MotionPlanner.get_relevant_nodes = looked_up
    for number, answer in enumerate(answers):
        folder = f"answers-{number}"
        os.makedirs(f"{folder}/virtualhome/goal_interpretation")
        with open(f"{folder}/virtualhome/goal_interpretation/m_outputs.json", "w", encoding="utf-8") as file:
            json.dump([{"identifier": answer["task"], "llm_output": answer["text"]}], file)
        wishes = SimpleNamespace(
            dataset="virtualhome",
            scene_id=1,
            llm_response_path=folder,
            resource_dir=agent_eval.default_resource_dir,
            dataset_dir=agent_eval.default_dataset_dir,
            output_dir="out",
        )
        sums.clear()
        listed.clear()
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                module.evaluate_results(wishes)
            counts = dict(zip(LISTS, sums[:3], strict=True))
            print(json.dumps({"id": answer["id"], "counts": counts, "listed": listed}), flush=True)
        except Exception as error:
            print(json.dumps({"id": answer["id"], "crashed": f"{type(error).__name__}: {error}"[:200]}), flush=True)


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]))
