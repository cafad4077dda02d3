"""The evaluator of ``eai-eval`` on answers of action sequencing in VirtualHome, answer by answer.

usage: PYTHON-WITH-EAI-EVAL bench/eai/theirs.py ANSWERS.jsonl > JUDGED.jsonl

Reads lines ``{"id": .., "task": "27_2", "text": ..}`` and writes, for each, ``{"id", "gold", "error", "executable",
"goals", "wanted", "success", "steps"}``. ``gold``: whether the reference passes, else the evaluator leaves the task
out. Its functions run unchanged: what they return is noted as they are called, since the evaluator itself reports but
sums (and divides by them, so that a few answers have none). It needs no package of ours.
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
import os
import sys
import tempfile
from collections import defaultdict
from types import SimpleNamespace
from typing import Any


def main(path: str) -> None:
    with open(path, encoding="utf-8") as file:
        answers = [json.loads(line) for line in file]
    os.chdir(tempfile.mkdtemp(prefix="eai-"))
    logging.disable(logging.CRITICAL)
    with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
        from virtualhome_eval import agent_eval
        from virtualhome_eval.evaluation.action_sequencing.scripts import evaluate_results as module
        from virtualhome_eval.simulation.evolving_graph.motion_planner import MotionPlanner
    seen: list[dict[str, Any]] = []

    def noting(name: str, note: Any) -> None:
        inner = getattr(module, name)

        def call(*arguments: Any, **named: Any) -> Any:
            result = inner(*arguments, **named)
            note(arguments, named, result)
            return result

        setattr(module, name, call)

    def scene(arguments: Any, named: Any, result: Any) -> None:
        nodes, edges, actions, success = result[:4]
        if "gold" not in seen[-1]:
            seen[-1]["gold"] = success
            return
        seen[-1]["goals"] = [nodes, edges, actions]
        seen[-1]["wanted"] = [len(arguments[1]), len(arguments[2]), len(named["action_goals"])]
        seen[-1]["success"] = success

    noting("construct_planner", lambda _a, named, _r: seen.append({"task": named["script_id"], "steps": []}))
    noting("scene_evaluate_wID", scene)
    step = MotionPlanner.my_execute_primitive_action_eval

    def taken(self: Any, action: str, *more: Any) -> Any:
        result = step(self, action, *more)
        seen[-1]["steps"].append([action, result[0]])
        return result

    MotionPlanner.my_execute_primitive_action_eval = taken
    rounds: dict[int, list[dict[str, Any]]] = defaultdict(list)  # it knows but one answer to a task
    count: dict[str, int] = defaultdict(int)
    for answer in answers:
        rounds[count[answer["task"]]].append(answer)
        count[answer["task"]] += 1
    for number, group in sorted(rounds.items()):
        folder = f"answers-{number}"
        os.makedirs(f"{folder}/virtualhome/action_sequencing")
        with open(f"{folder}/virtualhome/action_sequencing/m_outputs.json", "w", encoding="utf-8") as file:
            json.dump([{"identifier": a["task"], "llm_output": a["text"]} for a in group], file)
        seen.clear()
        errors, crashed = evaluated(module, agent_eval, folder)
        for answer, found in zip(group, seen, strict=False):
            assert answer["task"] == found["task"], (answer, found)
            error = errors.get(answer["task"], {})
            # What equals the reference is counted as executable and never looked at again.
            same = not error and found.get("gold", False)
            line = {
                "id": answer["id"],
                "gold": found.get("gold", False),
                "error": "equals the reference" if same else error.get("error_type"),
                "executable": same or bool(error.get("executable")),
                "goals": found.get("goals"),
                "wanted": found.get("wanted"),
                "success": bool(found.get("success")),
                "steps": found["steps"],
            }
            print(json.dumps(line), flush=True)
        for answer in group[len(seen) :]:
            print(json.dumps({"id": answer["id"], "crashed": crashed}), flush=True)


def evaluated(module: Any, agent_eval: Any, folder: str) -> tuple[dict[str, Any], str]:
    """What went wrong with each task, by its name; and how the evaluator itself failed, if it did."""
    wishes = SimpleNamespace(
        dataset="virtualhome",
        llm_response_path=folder,
        resource_dir=agent_eval.default_resource_dir,
        dataset_dir=agent_eval.default_dataset_dir,
        output_dir="out",
    )
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            return module.evaluate_results(wishes)["m"][1], ""
    except Exception as error:
        trace = error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_name == "evaluate_results":
                return trace.tb_frame.f_locals.get("error_info", {}), f"{type(error).__name__}: {error}"[:200]
            trace = trace.tb_next
        raise


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]))
