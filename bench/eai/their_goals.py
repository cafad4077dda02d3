"""Run the evaluator of ``eai-eval`` on single answers of goal interpretation in VirtualHome.

usage: PYTHON-WITH-EAI-EVAL bench/eai/their_goals.py ANSWERS.jsonl > COUNTED.jsonl

Reads lines ``{"id": .., "task": "27_2", "text": ..}`` and writes, for each, ``{"id", "counts", "listed"}``: right,
false and missed goals of each list, and the object that each name was taken for; or ``{"id", "crashed"}``. The
evaluator's functions run unchanged; this script records their sums and look-ups. It needs no package of this project.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from types import SimpleNamespace
from typing import Any

from their_answers import describe_crash, read_answers, write_answers

LISTS = ("node goals", "edge goals", "action goals")


def main(path: str) -> None:
    answers = read_answers(path)
    with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
        from virtualhome_eval import agent_eval
        from virtualhome_eval.evaluation.goal_interpretation.scripts import evaluate_results as module
        from virtualhome_eval.simulation.evolving_graph.motion_planner import MotionPlanner
    sums: list[tuple[int, int, int]] = []
    listed: dict[str, int] = {}
    compute_scores, find_nodes = module.precision_recall_f1, MotionPlanner.get_relevant_nodes

    def record_sums(right: int, false: int, missed: int) -> Any:
        sums.append((right, false, missed))
        return compute_scores(right, false, missed)

    def record_nodes(self: Any, *arguments: Any, **keywords: Any) -> Any:
        nodes = find_nodes(self, *arguments, **keywords)
        listed.update({node[0]: node[1] for node in nodes})  # in the order in which the evaluator reads them
        return nodes

    module.precision_recall_f1 = record_sums
    MotionPlanner.get_relevant_nodes = record_nodes
    for number, answer in enumerate(answers):
        folder = f"answers-{number}"
        write_answers(folder, "goal_interpretation", [answer])
        arguments = SimpleNamespace(
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
                module.evaluate_results(arguments)
            counts = dict(zip(LISTS, sums[:3], strict=True))
            print(json.dumps({"id": answer["id"], "counts": counts, "listed": listed}), flush=True)
        except Exception as error:
            print(json.dumps({"id": answer["id"], "crashed": describe_crash(error)}), flush=True)


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]))
