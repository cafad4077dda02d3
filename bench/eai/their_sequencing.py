"""Run the evaluator of ``eai-eval`` on single answers of action sequencing in VirtualHome.

usage: PYTHON-WITH-EAI-EVAL bench/eai/their_sequencing.py ANSWERS.jsonl > JUDGED.jsonl

Reads lines ``{"id": .., "task": "27_2", "text": ..}`` and writes, for each, ``{"id", "gold", "error", "executable",
"goals", "wanted", "success", "steps"}``. ``gold``: whether the reference passes; otherwise the evaluator leaves the
task out. The evaluator's functions run unchanged. It reports only sums (and divides by them, so it fails on a few
answers); this script therefore records what its functions return. It needs no package of this project.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
from collections import defaultdict
from types import SimpleNamespace
from typing import Any

from their_answers import describe_crash, read_answers, write_answers


def main(path: str) -> None:
    answers = read_answers(path)
    with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
        from virtualhome_eval import agent_eval
        from virtualhome_eval.evaluation.action_sequencing.scripts import evaluate_results as module
        from virtualhome_eval.simulation.evolving_graph.motion_planner import MotionPlanner
    records: list[dict[str, Any]] = []

    def observe(name: str, record: Any) -> None:
        """Call ``record`` with the arguments and the return value of each call of an evaluator's function."""
        original = getattr(module, name)

        def call(*arguments: Any, **keywords: Any) -> Any:
            returned = original(*arguments, **keywords)
            record(arguments, keywords, returned)
            return returned

        setattr(module, name, call)

    def record_goals(arguments: Any, keywords: Any, returned: Any) -> None:
        nodes, edges, actions, success = returned[:4]
        if "gold" not in records[-1]:
            records[-1]["gold"] = success
            return
        records[-1]["goals"] = [nodes, edges, actions]
        records[-1]["wanted"] = [len(arguments[1]), len(arguments[2]), len(keywords["action_goals"])]
        records[-1]["success"] = success

    observe("construct_planner", lambda _a, keywords, _r: records.append({"task": keywords["script_id"], "steps": []}))
    observe("scene_evaluate_wID", record_goals)
    execute_step = MotionPlanner.my_execute_primitive_action_eval

    def record_step(self: Any, action: str, *arguments: Any) -> Any:
        returned = execute_step(self, action, *arguments)
        records[-1]["steps"].append([action, returned[0]])
        return returned

    MotionPlanner.my_execute_primitive_action_eval = record_step
    rounds: dict[int, list[dict[str, Any]]] = defaultdict(list)  # the evaluator reads one answer to each task
    counts: dict[str, int] = defaultdict(int)
    for answer in answers:
        rounds[counts[answer["task"]]].append(answer)
        counts[answer["task"]] += 1
    for number, group in sorted(rounds.items()):
        folder = f"answers-{number}"
        write_answers(folder, "action_sequencing", group)
        records.clear()
        errors, crashed = evaluate(module, agent_eval, folder)
        for answer, record in zip(group, records, strict=False):
            assert answer["task"] == record["task"], (answer, record)
            error = errors.get(answer["task"], {})
            # The evaluator counts an answer that equals the reference as executable and does not evaluate its goals.
            equals_reference = not error and record.get("gold", False)
            line = {
                "id": answer["id"],
                "gold": record.get("gold", False),
                "error": "equals the reference" if equals_reference else error.get("error_type"),
                "executable": equals_reference or bool(error.get("executable")),
                "goals": record.get("goals"),
                "wanted": record.get("wanted"),
                "success": bool(record.get("success")),
                "steps": record["steps"],
            }
            print(json.dumps(line), flush=True)
        for answer in group[len(records) :]:
            print(json.dumps({"id": answer["id"], "crashed": crashed}), flush=True)


def evaluate(module: Any, agent_eval: Any, folder: str) -> tuple[dict[str, Any], str]:
    """Return the errors by task, and the exception of the evaluator, if it raises one."""
    arguments = SimpleNamespace(
        dataset="virtualhome",
        llm_response_path=folder,
        resource_dir=agent_eval.default_resource_dir,
        dataset_dir=agent_eval.default_dataset_dir,
        output_dir="out",
    )
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            return module.evaluate_results(arguments)["m"][1], ""
    except Exception as error:
        trace = error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_name == "evaluate_results":
                return trace.tb_frame.f_locals.get("error_info", {}), describe_crash(error)
            trace = trace.tb_next
        raise


if __name__ == "__main__":
    main(os.path.abspath(sys.argv[1]))
