"""Answers to EAI's action sequencing in VirtualHome, by ``eai-eval`` and by us; every difference with its reason.

usage: python -m bench.eai.compare --python PYTHON [--count N] [--each N] [--seed S] [--shapes N] [--answers FILE]
       [--list] [--markdown]

``PYTHON`` is an interpreter that has ``eai-eval`` (its own environment: it needs much). Without ``--answers`` the
references are judged, in the shapes in which models write and with changed steps. With it, a file of lines ``{"task":
"27_2", "text": ..}``, as ``bench.eai.ask`` writes. A reason is not guessed: what the evaluator did is done to the
answer, and the reason stands if our verdict is then the evaluator's. The exit code is 1 if a difference has no reason.
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections import Counter
from typing import Any, NamedTuple

from bench.eai.answers import Answer, Case, Step, cases, changed, forms, lines, steps_of
from bench.eai.evaluator import arguments, asked, data_for, recorded
from bench.eai.scenes import EaiVerdict, Scene, Stage, open_scene

from plansafe.grammar.source import Source

AGREE, LEFT_OUT = "the same", "left out: the reference fails"
REASONS = {
    LEFT_OUT: "the evaluator counts but one relation of a goal, so that the reference fails and the task is left out",
    "equals the reference": "counted as executable and never as a success: its goals are not looked at",
    "a step without objects is not read": "`STANDUP: []` is not matched by the evaluator's pattern, and is not done",
    "an additional step is passed over": "what has its effect already is not done, and the plan goes on; we stop there",
    "the goal holds where it stops": "counted as a success though a later step cannot be executed",
    "an object that is not listed": "what the reference does not change counts as invented; for us it is in the scene",
    "names without numbers": "the evaluator wants pairs (its recorded prompts ask for names); we choose the object",
    "text that is no plan around it": 'the evaluator takes every `"KEY": [..]` anywhere; we read a plan, or none',
    "the wrong number of objects": "the evaluator looks at the number first, we at the steps in order",
    "what lay nowhere was taken": "there one is close to one of its neighbours, here to all (docs/home-worlds.md)",
    "the order of required actions": "the evaluator makes a set of them, so that their order is chance",
    "the evaluator fails": "an exception of the evaluator",
}


class Pair(NamedTuple):
    """One answer under both."""

    answer: Answer
    ours: EaiVerdict
    theirs: dict[str, Any]
    reason: str

    @property
    def cell(self) -> tuple[str, str]:
        """What ours and theirs say, in a word each."""
        other = "success" if self.theirs.get("success") else "executed" if self.theirs.get("executable") else "fails"
        if self.theirs.get("success") and not self.theirs.get("executable"):
            other = "success, not executed"
        own = "success" if self.ours.success else "executed" if self.ours.stage is Stage.EXECUTED else "fails"
        return own, other


def agree(ours: EaiVerdict, theirs: dict[str, Any]) -> bool:
    """Whether both say the same of executability, and of success."""
    return (ours.stage is Stage.EXECUTED, ours.success) == (bool(theirs["executable"]), bool(theirs["success"]))


def reason(answer: Answer, case: Case, scene: Scene, ours: EaiVerdict, theirs: dict[str, Any]) -> str:
    """Why they differ; empty if nobody knows."""
    if "crashed" in theirs:
        return "the evaluator fails"
    if not theirs["gold"]:
        return LEFT_OUT
    if agree(ours, theirs):
        return AGREE
    if theirs["error"] == "equals the reference" and not theirs["success"]:
        return _read_otherwise(answer) or "equals the reference"
    if theirs["error"] == "hallucination error":
        return "an object that is not listed" if _objects_are_there(answer, case) else ""
    if theirs["error"] == "parsing error":
        return "names without numbers" if not re.search(r"\d", answer.text) else "text that is no plan around it"
    if theirs["error"] == "parameter error":
        return "the wrong number of objects"
    done = tuple(steps_of("".join([f"{line}\n" for line, _ in theirs["steps"]])))
    passed = tuple([step for step, (_, taken) in zip(done, theirs["steps"], strict=True) if taken])
    if theirs["success"] and not theirs["executable"]:
        return "the goal holds where it stops" if _verdict(scene, passed).goal else ""
    if agree(_verdict(scene, done), theirs):
        return _read_otherwise(answer) or "text that is no plan around it"
    if theirs["executable"] and agree(_verdict(scene, passed), theirs):
        return "an additional step is passed over"
    alike = _verdict(scene, passed)
    if theirs["executable"] and alike.stage is Stage.EXECUTED and theirs["goals"][:2] == theirs["wanted"][:2]:
        return "the order of required actions" if theirs["wanted"][2] > 1 else ""
    if ours.stage is Stage.EXECUTED and _took_from_nowhere(passed, case):
        return "what lay nowhere was taken"
    return ""


def _took_from_nowhere(steps: tuple[Step, ...], case: Case) -> bool:
    """Whether a thing is taken that is on and in nothing but a room."""
    graph = json.loads(case.graph)["init_graph"]
    rooms = {node["id"] for node in graph["nodes"] if node.get("category") == "Rooms"}
    placed = {
        e["from_id"] for e in graph["edges"] if e["relation_type"] in ("ON", "INSIDE") and e["to_id"] not in rooms
    }
    return any([action == "GRAB" and int(objects[0][1]) not in placed for action, objects in steps if objects])


def _verdict(scene: Scene, steps: tuple[Step, ...]) -> EaiVerdict:
    return scene.judge(lines(steps))


def _read_otherwise(answer: Answer) -> str:
    """The evaluator reads no step with an empty list."""
    return "a step without objects is not read" if re.search(r"\[\s*\]", answer.text) else ""


def _objects_are_there(answer: Answer, case: Case) -> bool:
    known = {(str(node["class_name"]), str(node["id"])) for node in case.nodes}
    named = re.findall(r'"([a-z_]+)",\s*"?(\d+)"?', answer.text.replace("'", '"'))
    return bool(named) and set(named) <= known


def pairs(python: str, chosen: list[Case], answers: list[Answer]) -> list[Pair]:
    """All answers under both."""
    theirs = asked(python, "theirs.py", answers)
    by_task: dict[str, list[Answer]] = {}
    for answer in answers:
        by_task.setdefault(answer.task, []).append(answer)
    out = []
    for case in chosen:
        scene = open_scene(Source("graph.json", case.graph), Source("goals.json", case.goals), case.task)
        for answer in by_task.get(case.task, []):
            ours, other = scene.judge(answer.text), theirs[answer.id]
            out.append(Pair(answer, ours, other, reason(answer, case, scene, ours, other)))
    return out


def show(found: list[Pair], markdown: bool) -> None:
    """The differences by reason, and both verdicts against each other."""
    mark = "| " if markdown else ""
    tally = Counter([pair.reason or "NO REASON" for pair in found])
    print(f"{mark}{len(found)} answers to {len({pair.answer.task for pair in found})} tasks")
    for name, number in tally.most_common():
        words = f": {REASONS[name]}" if name in REASONS else ""
        print(f"| {name}{words} | {number} |" if markdown else f"{number:6}  {name}{words}")
    cells = Counter([pair.cell for pair in found if pair.reason != LEFT_OUT and "crashed" not in pair.theirs])
    for (own, other), number in sorted(cells.items()):
        print(f"| {own} | {other} | {number} |" if markdown else f"{number:6}  ours {own}, theirs {other}")


def main() -> int:
    parser = arguments(__doc__, 40)
    parser.add_argument("--shapes", type=int, default=10, help="of so many tasks the reference in all its shapes")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    folder = data_for(options.python)
    if folder is None:
        return 2
    every, draw = cases(folder), random.Random(options.seed)
    if options.answers:
        answers = recorded(options.answers, {case.task for case in every})
        chosen = every
    else:
        chosen = draw.sample(every, min(options.count, len(every)))
        arity = {action: len(objects) for case in every for action, objects in case.reference}
        answers = [answer for case in chosen for answer in changed(case, arity, draw, options.each)]
        answers += [answer for case in chosen[: options.shapes] for answer in forms(case)]
    found = pairs(options.python, chosen, answers)
    show(found, options.markdown)
    if options.list:
        for pair in found:
            if pair.reason not in (AGREE, LEFT_OUT):
                print(f"\n{pair.answer.id} ({pair.answer.kind}): {pair.reason or 'NO REASON'}")
                print(f"  {pair.answer.text[:600]}\n  ours {pair.ours}\n  theirs {json.dumps(pair.theirs)[:700]}")
    return 1 if any([not pair.reason for pair in found]) else 0


if __name__ == "__main__":
    sys.exit(main())
