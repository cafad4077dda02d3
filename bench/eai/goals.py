"""Answers to EAI's goal interpretation in VirtualHome, by ``eai-eval`` and by us; every difference with its reason.

usage: python -m bench.eai.goals --python PYTHON [--count N] [--each N] [--seed S] [--answers FILE] [--list]

``PYTHON`` is an interpreter that has ``eai-eval``. Without ``--answers`` the annotated goals are judged, in the shapes
in which models write and with changes; with it, a file of lines ``{"task": "27_2", "text": ..}``, as ``bench.eai.ask``
writes. A reason is not guessed: it is the fewest of the evaluator's habits with which our counts are the evaluator's.
The exit code is 1 if a difference has no reason.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

from bench.eai.answers import Answer, Case, cases
from bench.eai.evaluator import Reasons, arguments, asked, data_for, named, recorded, show_reasons
from bench.eai.goal_counts import HABITS, LISTS, Annotated, annotated, counts, why

CRASHED = "the evaluator fails"


class Pair(NamedTuple):
    """One answer under both; ``reasons`` is ``None`` where nobody knows why they differ."""

    answer: Answer
    ours: dict[str, tuple[int, int, int]]
    theirs: dict[str, Any]
    reasons: Reasons


def goals_of(case: Case) -> Annotated:
    """The annotation of a task."""
    (by_task,) = json.loads(case.goals).values()
    return annotated(by_task[case.task]["vh_goal"], case.nodes)


def said(wanted: Annotated) -> dict[str, list[dict[str, str]]]:
    """The annotation as the prompt asks for it."""
    name = wanted.names
    return {
        "node goals": [{"name": name[number], "state": state} for number, state in sorted(wanted.states)],
        "edge goals": [
            {"from_name": name[a], "relation": relation, "to_name": name[b]}
            for a, relation, b in sorted(wanted.relations)
        ],
        "action goals": [{"action": sorted(one)[0], "description": "as asked"} for one in wanted.actions],
    }


def forms(case: Case, wanted: Annotated) -> Iterator[Answer]:
    """The annotation in the shapes in which models answer."""
    text = json.dumps(said(wanted))
    shapes = {
        "as asked": str(said(wanted)),
        "in JSON": text,
        "in a fence": f"```json\n{text}\n```",
        "in a fence without a name": f"```\n{text}\n```",
        "behind a sentence": f"Here are the goals:\n{text}",
        "with an apostrophe": text.replace("as asked", "with the robot's hand"),
        "in small letters": text.lower(),
        "cut off": text[: len(text) * 2 // 3],
        "empty": "{}",
        "words alone": "The light is on.",
    }
    for kind, shape in shapes.items():
        yield Answer(f"{case.task} {kind}", case.task, kind, shape)


def changed(case: Case, wanted: Annotated, draw: random.Random, each: int) -> Iterator[Answer]:
    """The annotation with up to three goals left out, made wrong, said twice, or about another thing of the scene."""
    names = sorted({str(node["class_name"]) for node in case.nodes})
    for number in range(each):
        goals, kinds = said(wanted), []
        for _ in range(draw.randint(1, 3)):
            goal_list = goals[draw.choice(LISTS)]
            kind = draw.choice(["left out", "wrong", "twice", "other thing", "lacks a field", "made up"])
            if not goal_list:
                goals["node goals"].append({"name": draw.choice(names), "state": "ON"})
                kinds.append("other thing")
                continue
            kinds.append(kind)
            place = draw.randrange(len(goal_list))
            one = goal_list[place]
            last = next((key for key in ("state", "relation", "action") if key in one), None)
            if last is None:  # it lacks that field already
                continue
            if kind == "left out":
                del goal_list[place]
            elif kind == "wrong":
                one[last] = draw.choice(["OFF", "INSIDE", "SLEEP"])
            elif kind == "twice":
                goal_list.append({**one, "description": "once more"})
            elif kind == "lacks a field":
                del one[last]
            elif last != "action":
                key = draw.choice([key for key in one if "name" in key])
                one[key] = draw.choice(names) if kind == "other thing" else "pony"
        yield Answer(f"{case.task} changed {number}", case.task, ", ".join(sorted(set(kinds))), json.dumps(goals))


def pairs(python: str, by_task: dict[str, Annotated], answers: list[Answer]) -> list[Pair]:
    """All answers under both."""
    theirs = asked(python, "their_goals.py", answers)
    out = []
    for answer in answers:
        wanted, other = by_task[answer.task], theirs[answer.id]
        ours = counts(answer.text, wanted, {})
        reasons: Reasons = (CRASHED,)
        if "crashed" not in other:
            found = {name: tuple(other["counts"][name]) for name in LISTS}
            reasons = why(answer.text, wanted, other["listed"], found)
        out.append(Pair(answer, ours, other, reasons))
    return out


def show(found: list[Pair]) -> None:
    """The differences by reason, and recall under both."""
    print(f"{len(found)} answers to {len({pair.answer.task for pair in found})} tasks")
    show_reasons([pair.reasons for pair in found], HABITS)
    both = [pair for pair in found if "counts" in pair.theirs]
    for name in LISTS:
        recalls = []
        for counted in ([pair.ours for pair in both], [pair.theirs["counts"] for pair in both]):
            right, missed = (sum([one[name][at] for one in counted]) for at in (0, 2))
            recalls.append(f"{100 * right / (right + missed):.1f} %" if right + missed else "n/a")
        print(f"        {name}, recall: ours {recalls[0]}, theirs {recalls[1]}")


def main() -> int:
    options = arguments(__doc__, 20).parse_args()
    folder = data_for(options.python)
    if folder is None:
        return 2
    every, draw = cases(folder), random.Random(options.seed)
    if options.answers:
        known = {case.task: case for case in every}
        answers = recorded(options.answers, known)
        by_task = {task: goals_of(known[task]) for task in {answer.task for answer in answers}}
    else:
        chosen = draw.sample(every, min(options.count, len(every)))
        by_task = {case.task: goals_of(case) for case in chosen}
        answers = [one for case in chosen for one in changed(case, by_task[case.task], draw, options.each)]
        answers += [one for case in chosen for one in forms(case, by_task[case.task])]
    found = pairs(options.python, by_task, answers)
    show(found)
    for pair in found if options.list else ():
        if pair.reasons != ():
            reasons = ", ".join(named(pair.reasons))
            print(f"\n{pair.answer.id} ({pair.answer.kind}): {reasons}")
            print(f"  {pair.answer.text[:600]}\n  ours {pair.ours}\n  theirs {json.dumps(pair.theirs)[:700]}")
    return 1 if any([pair.reasons is None for pair in found]) else 0


if __name__ == "__main__":
    sys.exit(main())
