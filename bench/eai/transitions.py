"""Compare ``eai-eval`` with safecheck on answers of EAI's transition modeling in VirtualHome, and explain differences.

usage: python -m bench.eai.transitions --python PYTHON [--count N] [--each N] [--seed S] [--answers FILE] [--list]

``PYTHON`` is an interpreter that has ``eai-eval``. Without ``--answers``, the answers are the reference actions in the
shapes in which models write, and with changes. ``--answers`` takes a file of lines ``{"task": "27_2", "text": ..}``,
the output of ``bench.eai.ask``. Both programs decide whether each side of each action is right. The reason of a
difference is the fewest rewritings of the answer after which the evaluator's verdict is safecheck's. Whether a planner
reaches the goal with the actions is not compared. The exit code is 1 if a difference has no reason.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from bench.eai.answers import Answer
from bench.eai.evaluator import (
    Reasons,
    find_data,
    make_parser,
    name_reasons,
    print_reasons,
    read_recorded,
    run_evaluator,
)
from bench.eai.transition_verdicts import (
    REWRITINGS,
    SIDES,
    ReferenceAction,
    close_truncated,
    judge_sides,
    make_rewritings,
    parse_actions,
)

from plansafe.grammar.sexpr import Node, format_node, parse_nodes
from plansafe.grammar.source import Source

REASONS = {
    "not there": "the evaluator does not count an action that the answer lacks or that cannot be read",
    "broken off": "a truncated action has its complete sides; for safecheck it is not an action",
    "nothing asked": "an empty side of the reference is right, whatever the answer has",
    "the evaluator fails": "an exception of the evaluator",
    **REWRITINGS,
}


class Comparison(NamedTuple):
    """The two verdicts on a side of an action, and the reasons of a difference."""

    answer: Answer
    action: str
    side: str
    ours: bool
    theirs: bool
    reasons: Reasons


class Task(NamedTuple):
    """A task and the actions that it asks for."""

    name: str
    actions: tuple[ReferenceAction, ...]


class OpenDifference(NamedTuple):
    """A difference that needs an explanation, with the rewritten answers by the names of the rewritings."""

    comparison: Comparison
    rewritten: Mapping[tuple[str, ...], Answer]


def read_tasks(folder: Path) -> list[Task]:
    """Return the tasks that the evaluator does not leave out, sorted by name."""
    actions, names_by_task, evaluated_tasks = [
        json.loads((folder / name).read_text(encoding="utf-8"))
        for name in ("domain/gold_action.json", "id2action.json", "success_task.json")
    ]
    keys = ("action_name", "action_parameters", "action_preconditions", "action_effects")
    references = {name: ReferenceAction(*[action[key] for key in keys]) for name, action in actions.items()}
    return [
        Task(task, tuple([references[name] for name in names_by_task[task]]))
        for task in sorted(names_by_task)
        if task in evaluated_tasks
    ]


def make_shapes(task: Task) -> Iterator[Answer]:
    """Yield the reference in the shapes in which models answer."""
    text = " ".join([action.text for action in task.actions])
    complete = json.dumps({"output": text})
    shapes = {
        "as asked": complete,
        "in a fence": f"```json\n{complete}\n```",
        "as PDDL": text,
        "after a sentence": f"The actions:\n{text}",
        "cut off": complete[: len(complete) // 2],
        "words alone": "One walks, and then one is there.",
    }
    for kind, shape in shapes.items():
        yield Answer(f"{task.name} {kind}", task.name, kind, shape)


def make_mutants(task: Task, rng: random.Random, count: int) -> Iterator[Answer]:
    """Yield ``count`` copies of the reference with parts deleted, negated, repeated, reordered, or renamed."""
    for number in range(count):
        texts, kinds = [], []
        for action in task.actions:
            kind = rng.choice(["same", "left out", "negated", "twice", "order", "names", "and", "lacks a part"])
            kinds.append(kind)
            if kind != "left out":
                texts.append(format_node(_change_action(parse_nodes(Source("gold", action.text)), kind, rng)))
        text = json.dumps({"output": " ".join(texts)})
        yield Answer(f"{task.name} changed {number}", task.name, ", ".join(sorted(set(kinds))), text)


def _change_action(nodes: list[Node] | None, kind: str, rng: random.Random) -> Node:
    assert nodes and isinstance(nodes[0], list)
    action = list(nodes[0])
    if kind == "names":
        return _rename_variables(action)
    at = action.index(rng.choice((":precondition", ":effect"))) + 1
    side = action[at]
    assert isinstance(side, list)
    parts: list[Node] = list(side[1:]) if side[:1] == ["and"] else [side] if side else []
    if kind == "order":
        rng.shuffle(parts)
    elif kind == "twice" and parts:
        parts.append(rng.choice(parts))
    elif kind == "lacks a part" and parts:
        parts.pop(rng.randrange(len(parts)))
    elif kind == "negated" and parts:
        place = rng.randrange(len(parts))
        parts[place] = ["not", parts[place]]
    without_and = len(parts) == 1 and (kind == "and") is (side[:1] == ["and"])
    action[at] = parts[0] if without_and else ["and", *parts] if parts else []
    return action


def _rename_variables(node: Node) -> Node:
    if isinstance(node, str):
        return f"?my_{node[1:]}" if node.startswith("?") else node
    return [_rename_variables(child) for child in node]


def evaluate_by_theirs(python: str, answers: list[Answer]) -> dict[str, dict[str, Any]]:
    """Return the evaluator's counts for each answer, by its id."""
    return run_evaluator(python, "their_transitions.py", answers)


def _is_right(counts: list[int]) -> bool:
    """True if no predicate is false or missed. ``counts``: matched, false, missed."""
    return not counts[1] and not counts[2]


def compare_answers(python: str, tasks: list[Task], answers: list[Answer]) -> list[Comparison]:
    """Judge both sides of all actions with both programs."""
    references = {task.name: task.actions for task in tasks}
    evaluations = evaluate_by_theirs(python, answers)
    open_differences: list[OpenDifference] = []
    comparisons: list[Comparison] = []
    for answer in answers:
        actions, evaluation = parse_actions(answer.text), evaluations[answer.id]
        for reference in references[answer.task]:
            action = actions.get(reference.name)
            our_verdicts = judge_sides(action, reference)
            for side, ours in our_verdicts.items():
                counts = evaluation.get("actions", {}).get(reference.name, {}).get(side, [0, 0, 0])
                theirs = _is_right(counts)
                comparison = Comparison(answer, reference.name, side, ours, theirs, ())
                if "crashed" in evaluation:
                    comparisons.append(comparison._replace(reasons=("the evaluator fails",)))
                elif ours is theirs:
                    comparisons.append(comparison)
                elif theirs and not any(counts):
                    is_read = action is not None and evaluation.get("read")
                    comparisons.append(comparison._replace(reasons=("nothing asked" if is_read else "not there",)))
                elif action is None:
                    is_truncated = judge_sides(close_truncated(answer.text, reference.name), reference)[side] is theirs
                    comparisons.append(comparison._replace(reasons=("broken off",) if is_truncated else None))
                else:
                    rewritten = {
                        names: Answer(
                            f"{answer.id} {reference.name} {side} {'+'.join(names)}", answer.task, "", format_node(node)
                        )
                        for names, node in make_rewritings(action, reference).items()
                    }
                    open_differences.append(OpenDifference(comparison, rewritten))
    return comparisons + _explain_differences(python, open_differences)


def _explain_differences(python: str, differences: list[OpenDifference]) -> list[Comparison]:
    """Find the smallest combination of rewritings after which both verdicts are equal."""
    if not differences:
        return []
    answers = [answer for difference in differences for answer in difference.rewritten.values()]
    evaluations = evaluate_by_theirs(python, answers)

    def find_reasons(comparison: Comparison, rewritten: Mapping[tuple[str, ...], Answer]) -> Reasons:
        for names, answer in rewritten.items():
            counts = evaluations[answer.id].get("actions", {}).get(comparison.action, {}).get(comparison.side)
            if counts and _is_right(counts) is comparison.ours:
                return names
        return None

    return [comparison._replace(reasons=find_reasons(comparison, texts)) for comparison, texts in differences]


def print_summary(comparisons: list[Comparison]) -> None:
    """Print the differences by reason, and the number of sides that are right by each program."""
    print(
        f"{len(comparisons)} sides of actions, in {len({comparison.answer.id for comparison in comparisons})} answers"
    )
    print_reasons([comparison.reasons for comparison in comparisons], REASONS)
    for side in SIDES:
        verdicts = [(comparison.ours, comparison.theirs) for comparison in comparisons if comparison.side == side]
        ours, theirs = sum([ours for ours, _ in verdicts]), sum([theirs for _, theirs in verdicts])
        print(f"        {side}s right: ours {ours}, theirs {theirs}, of {len(verdicts)}")


def main() -> int:
    options = make_parser(__doc__, 20).parse_args()
    folder = find_data(options.python)
    if folder is None:
        return 2
    tasks, rng = read_tasks(folder), random.Random(options.seed)
    if options.answers:
        answers = read_recorded(options.answers, {task.name for task in tasks})
    else:
        sampled_tasks = rng.sample(tasks, min(options.count, len(tasks)))
        answers = [
            answer for task in sampled_tasks for answer in (*make_shapes(task), *make_mutants(task, rng, options.each))
        ]
    comparisons = compare_answers(options.python, tasks, answers)
    print_summary(comparisons)
    for comparison in comparisons if options.list else ():
        if comparison.reasons != ():
            answer, reasons = comparison.answer, ", ".join(name_reasons(comparison.reasons))
            print(f"\n{answer.id} ({answer.kind}), {comparison.action}, {comparison.side}: {reasons}")
            print(f"  {answer.text[:600]}\n  ours {comparison.ours}, theirs {comparison.theirs}")
    return 1 if any([comparison.reasons is None for comparison in comparisons]) else 0


if __name__ == "__main__":
    sys.exit(main())
