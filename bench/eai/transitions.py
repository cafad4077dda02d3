"""Answers to EAI's transition modeling in VirtualHome, by ``eai-eval`` and by us; every difference with its reason.

usage: python -m bench.eai.transitions --python PYTHON [--count N] [--each N] [--seed S] [--answers FILE] [--list]

``PYTHON`` is an interpreter that has ``eai-eval``. Without ``--answers`` the reference actions are judged, in the
shapes in which models write and with changes; with it, a file of lines ``{"task": "27_2", "text": ..}``, as
``bench.eai.ask`` writes. Compared is whether each side of each action is right. A reason is not guessed: the answer is
rewritten in the fewest ways, and the reason stands if the evaluator's verdict is then ours. Whether a planner reaches
the goal with the actions is not asked. The exit code is 1 if a difference has no reason.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from bench.eai.answers import Answer
from bench.eai.evaluator import Reasons, arguments, asked, data_for, named, recorded, show_reasons
from bench.eai.transition_verdicts import REWRITINGS, SIDES, Gold, actions_of, closed, rewritten, right

from plansafe.grammar.sexpr import Node, format_node, parse_nodes
from plansafe.grammar.source import Source

REASONS = {
    "not there": "an action that the answer lacks, or that is not read, is counted nowhere",
    "broken off": "an action that breaks off has the sides that it has; for us it is none",
    "nothing asked": "an empty side of the reference is right whatever the answer has there",
    "the evaluator fails": "an exception of the evaluator",
    **REWRITINGS,
}


class Pair(NamedTuple):
    """One side of one action under both; ``reasons`` is ``None`` where nobody knows why they differ."""

    answer: Answer
    action: str
    side: str
    ours: bool
    theirs: bool
    reasons: Reasons


class Task(NamedTuple):
    """A task with the actions that it asks for."""

    name: str
    actions: tuple[Gold, ...]


def tasks(folder: Path) -> list[Task]:
    """All tasks that the evaluator does not leave out, by name."""
    gold, asked, kept = [
        json.loads((folder / name).read_text(encoding="utf-8"))
        for name in ("domain/gold_action.json", "id2action.json", "success_task.json")
    ]
    keys = ("action_name", "action_parameters", "action_preconditions", "action_effects")
    texts = {name: Gold(*[one[key] for key in keys]) for name, one in gold.items()}
    return [Task(name, tuple([texts[one] for one in asked[name]])) for name in sorted(asked) if name in kept]


def forms(task: Task) -> Iterator[Answer]:
    """The reference in the shapes in which models answer."""
    text = " ".join([one.text for one in task.actions])
    whole = json.dumps({"output": text})
    shapes = {
        "as asked": whole,
        "in a fence": f"```json\n{whole}\n```",
        "as PDDL": text,
        "behind a sentence": f"The actions:\n{text}",
        "cut off": whole[: len(whole) // 2],
        "words alone": "One walks, and then one is there.",
    }
    for kind, shape in shapes.items():
        yield Answer(f"{task.name} {kind}", task.name, kind, shape)


def changed(task: Task, draw: random.Random, each: int) -> Iterator[Answer]:
    """The reference with parts left out, negated, said twice, in another order, or written otherwise."""
    for number in range(each):
        texts, kinds = [], []
        for one in task.actions:
            kind = draw.choice(["same", "left out", "negated", "twice", "order", "names", "and", "lacks a part"])
            kinds.append(kind)
            if kind != "left out":
                texts.append(format_node(_changed(parse_nodes(Source("gold", one.text)), kind, draw)))
        text = json.dumps({"output": " ".join(texts)})
        yield Answer(f"{task.name} changed {number}", task.name, ", ".join(sorted(set(kinds))), text)


def _changed(tops: list[Node] | None, kind: str, draw: random.Random) -> Node:
    assert tops and isinstance(tops[0], list)
    action = list(tops[0])
    if kind == "names":
        return _prefixed(action)
    at = action.index(draw.choice((":precondition", ":effect"))) + 1
    side = action[at]
    assert isinstance(side, list)
    parts: list[Node] = list(side[1:]) if side[:1] == ["and"] else [side] if side else []
    if kind == "order":
        draw.shuffle(parts)
    elif kind == "twice" and parts:
        parts.append(draw.choice(parts))
    elif kind == "lacks a part" and parts:
        parts.pop(draw.randrange(len(parts)))
    elif kind == "negated" and parts:
        place = draw.randrange(len(parts))
        parts[place] = ["not", parts[place]]
    plain = len(parts) == 1 and (kind == "and") is (side[:1] == ["and"])
    action[at] = parts[0] if plain else ["and", *parts] if parts else []
    return action


def _prefixed(node: Node) -> Node:
    if isinstance(node, str):
        return f"?my_{node[1:]}" if node.startswith("?") else node
    return [_prefixed(one) for one in node]


def by_theirs(python: str, answers: list[Answer]) -> dict[str, dict[str, Any]]:
    """What the evaluator counts in each answer, by its id."""
    return asked(python, "their_transitions.py", answers)


def pairs(python: str, every: list[Task], answers: list[Answer]) -> list[Pair]:
    """Both sides of all actions under both."""
    gold = {task.name: task.actions for task in every}
    theirs = by_theirs(python, answers)
    open_: list[tuple[Pair, Gold, dict[tuple[str, ...], Answer]]] = []
    out: list[Pair] = []
    for answer in answers:
        said, other = actions_of(answer.text), theirs[answer.id]
        for one in gold[answer.task]:
            mine = right(said.get(one.name), one)
            for side in SIDES:
                counted = other.get("actions", {}).get(one.name, {}).get(side, [0, 0, 0])
                own, its = mine[side], not counted[1] and not counted[2]
                pair = Pair(answer, one.name, side, own, its, ())
                if "crashed" in other:
                    out.append(pair._replace(reasons=("the evaluator fails",)))
                elif own is its:
                    out.append(pair)
                elif its and not any(counted):
                    there = one.name in said and other.get("read")
                    out.append(pair._replace(reasons=("nothing asked" if there else "not there",)))
                else:
                    node = said.get(one.name)
                    if node is None and right(closed(answer.text, one.name), one)[side] is its:
                        out.append(pair._replace(reasons=("broken off",)))
                        continue
                    ways = {} if node is None else rewritten(node, one)
                    texts = {
                        way: Answer(f"{answer.id} {one.name} {side} {'+'.join(way)}", answer.task, "", format_node(new))
                        for way, new in ways.items()
                    }
                    open_.append((pair, one, texts))
    again = by_theirs(python, [one for _, _, texts in open_ for one in texts.values()]) if open_ else {}
    for pair, one, texts in open_:
        reasons = None
        for way, answer in texts.items():
            counted = again[answer.id].get("actions", {}).get(one.name, {}).get(pair.side)
            if counted and (not counted[1] and not counted[2]) is pair.ours:
                reasons = way
                break
        out.append(pair._replace(reasons=reasons))
    return out


def show(found: list[Pair]) -> None:
    """The differences by reason, and how many sides are right under both."""
    print(f"{len(found)} sides of actions, in {len({pair.answer.id for pair in found})} answers")
    show_reasons([pair.reasons for pair in found], REASONS)
    for side in SIDES:
        of = [pair for pair in found if pair.side == side]
        ours, theirs = sum([pair.ours for pair in of]), sum([pair.theirs for pair in of])
        print(f"        {side}s right: ours {ours}, theirs {theirs}, of {len(of)}")


def main() -> int:
    options = arguments(__doc__, 20).parse_args()
    folder = data_for(options.python)
    if folder is None:
        return 2
    every, draw = tasks(folder), random.Random(options.seed)
    if options.answers:
        answers = recorded(options.answers, {task.name for task in every})
    else:
        chosen = draw.sample(every, min(options.count, len(every)))
        answers = [one for task in chosen for one in (*forms(task), *changed(task, draw, options.each))]
    found = pairs(options.python, every, answers)
    show(found)
    for pair in found if options.list else ():
        if pair.reasons != ():
            reasons = ", ".join(named(pair.reasons))
            print(f"\n{pair.answer.id} ({pair.answer.kind}), {pair.action}, {pair.side}: {reasons}")
            print(f"  {pair.answer.text[:600]}\n  ours {pair.ours}, theirs {pair.theirs}")
    return 1 if any([pair.reasons is None for pair in found]) else 0


if __name__ == "__main__":
    sys.exit(main())
