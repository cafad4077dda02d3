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
        os.makedirs(f"{folder}/virtualhome/goal_interpretation")
        with open(f"{folder}/virtualhome/goal_interpretation/m_outputs.json", "w", encoding="utf-8") as file:
            json.dump([{"identifier": answer["task"], "llm_output": answer["text"]}], file)
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
            print(json.dumps({"id": answer["id"], "crashed": f"{type(error).__name__}: {error}"[:200]}), flush=True)


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]))
