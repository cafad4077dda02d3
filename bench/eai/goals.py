"""Compare ``eai-eval`` with safecheck on answers of EAI's goal interpretation in VirtualHome, and explain differences.

usage: python -m bench.eai.goals --python PYTHON [--count N] [--each N] [--seed S] [--answers FILE] [--list]

``PYTHON`` is an interpreter that has ``eai-eval``. Without ``--answers``, the answers are the annotated goals in the
shapes in which models write, and with changes. ``--answers`` takes a file of lines ``{"task": "27_2", "text": ..}``,
the output of ``bench.eai.ask``. The reason of a difference is the fewest habits of the evaluator with which safecheck's
counts are the evaluator's. The exit code is 1 if a difference has no reason.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

from bench.eai.answers import Answer, Case, read_cases
from bench.eai.evaluator import (
    Reasons,
    find_data,
    make_parser,
    name_reasons,
    print_reasons,
    read_recorded,
    run_evaluator,
)
from bench.eai.goal_counts import HABITS, LISTS, TaskGoals, count_goals, find_habits, read_goals

CRASHED = "the evaluator fails"


class Comparison(NamedTuple):
    """The counts of both programs on an answer, and the reasons of a difference."""

    answer: Answer
    ours: dict[str, tuple[int, int, int]]
    theirs: dict[str, Any]
    reasons: Reasons


def read_case_goals(case: Case) -> TaskGoals:
    """Read the goals of a task."""
    (by_task,) = json.loads(case.goals).values()
    return read_goals(by_task[case.task]["vh_goal"], case.nodes)


def make_answer(goals: TaskGoals) -> dict[str, list[dict[str, str]]]:
    """Return the goals in the format of the prompt."""
    names = goals.names
    return {
        "node goals": [{"name": names[number], "state": state} for number, state in sorted(goals.states)],
        "edge goals": [
            {"from_name": names[first], "relation": relation, "to_name": names[second]}
            for first, relation, second in sorted(goals.relations)
        ],
        "action goals": [
            {"action": sorted(alternatives)[0], "description": "as asked"} for alternatives in goals.actions
        ],
    }


def make_shapes(case: Case, goals: TaskGoals) -> Iterator[Answer]:
    """Yield the goals in the shapes in which models answer."""
    text = json.dumps(make_answer(goals))
    shapes = {
        "as asked": str(make_answer(goals)),
        "in JSON": text,
        "in a fence": f"```json\n{text}\n```",
        "in a fence without a name": f"```\n{text}\n```",
        "after a sentence": f"Here are the goals:\n{text}",
        "with an apostrophe": text.replace("as asked", "with the robot's hand"),
        "in small letters": text.lower(),
        "cut off": text[: len(text) * 2 // 3],
        "empty": "{}",
        "words alone": "The light is on.",
    }
    for kind, shape in shapes.items():
        yield Answer(f"{case.task} {kind}", case.task, kind, shape)


def make_mutants(case: Case, goals: TaskGoals, rng: random.Random, count: int) -> Iterator[Answer]:
    """Yield ``count`` copies of the goals with one to three left out, wrong, repeated, or about another object."""
    names = sorted({str(node["class_name"]) for node in case.nodes})
    for number in range(count):
        lists, kinds = make_answer(goals), []
        for _ in range(rng.randint(1, 3)):
            entries = lists[rng.choice(LISTS)]
            kind = rng.choice(["left out", "wrong", "twice", "other thing", "lacks a field", "made up"])
            if not entries:
                lists["node goals"].append({"name": rng.choice(names), "state": "ON"})
                kinds.append("other thing")
                continue
            kinds.append(kind)
            place = rng.randrange(len(entries))
            entry = entries[place]
            fact_key = next((key for key in ("state", "relation", "action") if key in entry), None)
            if fact_key is None:  # an earlier change deleted the field
                continue
            if kind == "left out":
                del entries[place]
            elif kind == "wrong":
                entry[fact_key] = rng.choice(["OFF", "INSIDE", "SLEEP"])
            elif kind == "twice":
                entries.append({**entry, "description": "once more"})
            elif kind == "lacks a field":
                del entry[fact_key]
            elif fact_key != "action":
                name_key = rng.choice([key for key in entry if "name" in key])
                entry[name_key] = rng.choice(names) if kind == "other thing" else "pony"
        yield Answer(f"{case.task} changed {number}", case.task, ", ".join(sorted(set(kinds))), json.dumps(lists))


def compare_answers(python: str, goals_by_task: dict[str, TaskGoals], answers: list[Answer]) -> list[Comparison]:
    """Count the goals of the answers with both programs."""
    evaluations = run_evaluator(python, "their_goals.py", answers)
    comparisons = []
    for answer in answers:
        goals, theirs = goals_by_task[answer.task], evaluations[answer.id]
        ours = count_goals(answer.text, goals, {})
        reasons: Reasons = (CRASHED,)
        if "crashed" not in theirs:
            their_counts = {name: tuple(theirs["counts"][name]) for name in LISTS}
            reasons = find_habits(answer.text, goals, theirs["listed"], their_counts)
        comparisons.append(Comparison(answer, ours, theirs, reasons))
    return comparisons


def print_summary(comparisons: list[Comparison]) -> None:
    """Print the differences by reason, and the recall by both programs."""
    print(f"{len(comparisons)} answers to {len({comparison.answer.task for comparison in comparisons})} tasks")
    print_reasons([comparison.reasons for comparison in comparisons], HABITS)
    counted = [comparison for comparison in comparisons if "counts" in comparison.theirs]
    our_counts, their_counts = [row.ours for row in counted], [row.theirs["counts"] for row in counted]
    for name in LISTS:
        recalls = []
        for counts_by_answer in (our_counts, their_counts):
            right, missed = (sum([counts[name][at] for counts in counts_by_answer]) for at in (0, 2))
            recalls.append(f"{100 * right / (right + missed):.1f} %" if right + missed else "n/a")
        print(f"        {name}, recall: ours {recalls[0]}, theirs {recalls[1]}")


def main() -> int:
    options = make_parser(__doc__, 20).parse_args()
    folder = find_data(options.python)
    if folder is None:
        return 2
    cases, rng = read_cases(folder), random.Random(options.seed)
    if options.answers:
        answers = read_recorded(options.answers, {case.task for case in cases})
        answered = {answer.task for answer in answers}
        goals = {case.task: read_case_goals(case) for case in cases if case.task in answered}
    else:
        cases = rng.sample(cases, min(options.count, len(cases)))
        goals = {case.task: read_case_goals(case) for case in cases}
        answers = [answer for case in cases for answer in make_mutants(case, goals[case.task], rng, options.each)]
        answers += [answer for case in cases for answer in make_shapes(case, goals[case.task])]
    comparisons = compare_answers(options.python, goals, answers)
    print_summary(comparisons)
    for comparison in comparisons if options.list else ():
        if comparison.reasons != ():
            answer = comparison.answer
            print(f"\n{answer.id} ({answer.kind}): {', '.join(name_reasons(comparison.reasons))}")
            print(f"  {answer.text[:600]}\n  ours {comparison.ours}")
            print(f"  theirs {json.dumps(comparison.theirs)[:700]}")
    return 1 if any([comparison.reasons is None for comparison in comparisons]) else 0


if __name__ == "__main__":
    sys.exit(main())
