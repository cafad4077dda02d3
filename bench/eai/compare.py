"""Compare ``eai-eval`` with safecheck on answers of EAI's action sequencing in VirtualHome, and explain differences.

usage: python -m bench.eai.compare --python PYTHON [--count N] [--each N] [--seed S] [--shapes N] [--answers FILE]
       [--list] [--markdown]

``PYTHON`` is an interpreter that has ``eai-eval``, in an environment of its own. Without ``--answers``, the answers are
the references in the shapes in which models write, and the references with changed steps. ``--answers`` takes a file of
lines ``{"task": "27_2", "text": ..}``, the output of ``bench.eai.ask``. Reasons are tested: the steps that the
evaluator executed are checked by safecheck, and the verdicts must then be equal. The exit code is 1 if a difference has
no reason.
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections import Counter
from typing import Any, NamedTuple

from bench.eai.answers import (
    Answer,
    Case,
    Step,
    format_script,
    make_mutants,
    make_shapes,
    parse_script,
    read_cases,
)
from bench.eai.evaluator import find_data, make_parser, read_recorded, run_evaluator
from bench.eai.scenes import EaiVerdict, Scene, Stage, open_scene

from plansafe.grammar.source import Source

AGREE, LEFT_OUT = "the same", "left out: the reference fails"
REASONS = {
    LEFT_OUT: "the evaluator counts only one relation of a goal, so the reference fails and the task is left out",
    "equals the reference": "counted as executable and never as a success: its goals are not evaluated",
    "a step without objects is not read": "the evaluator's pattern does not match `STANDUP: []`; the step is not done",
    "an additional step is skipped": "the evaluator skips a step whose effect holds already; safecheck stops",
    "the goal holds where it stops": "counted as a success though a later step cannot be executed",
    "an object that the reference does not change": "it counts as invented; for safecheck it is in the scene",
    "names without numbers": "the evaluator wants pairs, the prompts ask for names; safecheck chooses the object",
    "text around the plan": 'the evaluator takes every `"KEY": [..]` anywhere; safecheck reads only plans',
    "the wrong number of objects": "the evaluator checks the numbers first, safecheck the steps in order",
    "an unplaced object is grabbed": "near one neighbour in the evaluator, near all in safecheck (docs/home-worlds.md)",
    "the order of required actions": "the evaluator puts required actions into a set, so their order is random",
    "the evaluator fails": "an exception of the evaluator",
}


class Comparison(NamedTuple):
    """The two verdicts on an answer, and the reason of a difference; the reason is empty if it is not explained."""

    answer: Answer
    ours: EaiVerdict
    theirs: dict[str, Any]
    reason: str

    @property
    def cell(self) -> tuple[str, str]:
        """The outcomes by safecheck and by the evaluator."""
        theirs = "success" if self.theirs.get("success") else "executed" if self.theirs.get("executable") else "fails"
        if self.theirs.get("success") and not self.theirs.get("executable"):
            theirs = "success, not executed"
        ours = "success" if self.ours.success else "executed" if self.ours.stage is Stage.EXECUTED else "fails"
        return ours, theirs


def agree(ours: EaiVerdict, theirs: dict[str, Any]) -> bool:
    """True if both verdicts are equal in executability and success."""
    return (ours.stage is Stage.EXECUTED, ours.success) == (bool(theirs["executable"]), bool(theirs["success"]))


def find_reason(answer: Answer, case: Case, scene: Scene, ours: EaiVerdict, theirs: dict[str, Any]) -> str:
    """Return the reason why the verdicts differ; empty if it is not explained."""
    if "crashed" in theirs:
        return "the evaluator fails"
    if not theirs["gold"]:
        return LEFT_OUT
    if agree(ours, theirs):
        return AGREE
    if theirs["error"] == "equals the reference" and not theirs["success"]:
        return _find_unread_step(answer) or "equals the reference"
    if theirs["error"] == "hallucination error":
        return "an object that the reference does not change" if _are_objects_in_scene(answer, case) else ""
    if theirs["error"] == "parsing error":
        return "names without numbers" if not re.search(r"\d", answer.text) else "text around the plan"
    if theirs["error"] == "parameter error":
        return "the wrong number of objects"
    read_steps = tuple(parse_script("".join([f"{line}\n" for line, _ in theirs["steps"]])))
    executed_steps = tuple([step for step, (_, executed) in zip(read_steps, theirs["steps"], strict=True) if executed])
    executed_verdict = _judge(scene, executed_steps)
    if theirs["success"] and not theirs["executable"]:
        return "the goal holds where it stops" if executed_verdict.goal else ""
    if agree(_judge(scene, read_steps), theirs):
        return _find_unread_step(answer) or "text around the plan"
    if theirs["executable"] and agree(executed_verdict, theirs):
        return "an additional step is skipped"
    states_and_relations_agree = theirs["goals"][:2] == theirs["wanted"][:2]
    if theirs["executable"] and executed_verdict.stage is Stage.EXECUTED and states_and_relations_agree:
        return "the order of required actions" if theirs["wanted"][2] > 1 else ""
    if ours.stage is Stage.EXECUTED and _grabs_unplaced_object(executed_steps, case):
        return "an unplaced object is grabbed"
    return ""


def _grabs_unplaced_object(steps: tuple[Step, ...], case: Case) -> bool:
    """True if a grabbed object is on and inside nothing but a room."""
    graph = json.loads(case.graph)["init_graph"]
    rooms = {node["id"] for node in graph["nodes"] if node.get("category") == "Rooms"}
    placed = {
        edge["from_id"]
        for edge in graph["edges"]
        if edge["relation_type"] in ("ON", "INSIDE") and edge["to_id"] not in rooms
    }
    return any([action == "GRAB" and int(objects[0][1]) not in placed for action, objects in steps if objects])


def _judge(scene: Scene, steps: tuple[Step, ...]) -> EaiVerdict:
    return scene.judge(format_script(steps))


def _find_unread_step(answer: Answer) -> str:
    """Return the reason if the answer has a step with an empty list; the evaluator does not read such steps."""
    return "a step without objects is not read" if re.search(r"\[\s*\]", answer.text) else ""


def _are_objects_in_scene(answer: Answer, case: Case) -> bool:
    scene_objects = {(str(node["class_name"]), str(node["id"])) for node in case.nodes}
    answer_objects = re.findall(r'"([a-z_]+)",\s*"?(\d+)"?', answer.text.replace("'", '"'))
    return bool(answer_objects) and set(answer_objects) <= scene_objects


def compare_answers(python: str, cases: list[Case], answers: list[Answer]) -> list[Comparison]:
    """Evaluate the answers with both programs."""
    their_verdicts = run_evaluator(python, "their_sequencing.py", answers)
    by_task: dict[str, list[Answer]] = {}
    for answer in answers:
        by_task.setdefault(answer.task, []).append(answer)
    comparisons = []
    for case in cases:
        scene = open_scene(Source("graph.json", case.graph), Source("goals.json", case.goals), case.task)
        for answer in by_task.get(case.task, []):
            ours, theirs = scene.judge(answer.text), their_verdicts[answer.id]
            comparisons.append(Comparison(answer, ours, theirs, find_reason(answer, case, scene, ours, theirs)))
    return comparisons


def print_summary(comparisons: list[Comparison], markdown: bool) -> None:
    """Print the differences by reason, and the outcomes of both programs."""
    mark = "| " if markdown else ""
    tally = Counter([comparison.reason or "NO REASON" for comparison in comparisons])
    print(f"{mark}{len(comparisons)} answers to {len({comparison.answer.task for comparison in comparisons})} tasks")
    for name, number in tally.most_common():
        explanation = f": {REASONS[name]}" if name in REASONS else ""
        print(f"| {name}{explanation} | {number} |" if markdown else f"{number:6}  {name}{explanation}")
    cells = Counter(
        [
            comparison.cell
            for comparison in comparisons
            if comparison.reason != LEFT_OUT and "crashed" not in comparison.theirs
        ]
    )
    for (ours, theirs), number in sorted(cells.items()):
        print(f"| {ours} | {theirs} | {number} |" if markdown else f"{number:6}  ours {ours}, theirs {theirs}")


def main() -> int:
    parser = make_parser(__doc__, 40)
    parser.add_argument("--shapes", type=int, default=10, help="number of tasks whose reference is tried in all shapes")
    parser.add_argument("--markdown", action="store_true", help="print the summary as table rows")
    options = parser.parse_args()
    folder = find_data(options.python)
    if folder is None:
        return 2
    cases, rng = read_cases(folder), random.Random(options.seed)
    if options.answers:
        answers = read_recorded(options.answers, {case.task for case in cases})
    else:
        arity = {action: len(objects) for case in cases for action, objects in case.reference}
        cases = rng.sample(cases, min(options.count, len(cases)))
        answers = [answer for case in cases for answer in make_mutants(case, arity, rng, options.each)]
        answers += [answer for case in cases[: options.shapes] for answer in make_shapes(case)]
    comparisons = compare_answers(options.python, cases, answers)
    print_summary(comparisons, options.markdown)
    if options.list:
        for comparison in comparisons:
            if comparison.reason not in (AGREE, LEFT_OUT):
                answer = comparison.answer
                print(f"\n{answer.id} ({answer.kind}): {comparison.reason or 'NO REASON'}\n  {answer.text[:600]}")
                print(f"  ours {comparison.ours}\n  theirs {json.dumps(comparison.theirs)[:700]}")
    return 1 if any([not comparison.reason for comparison in comparisons]) else 0


if __name__ == "__main__":
    sys.exit(main())
