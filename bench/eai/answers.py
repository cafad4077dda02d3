"""Answers of action sequencing that nobody had to be asked for: references as models would write them, and changed."""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

Step = tuple[str, tuple[tuple[str, str], ...]]
"""An action and its objects, each with its number in the graph."""


class Case(NamedTuple):
    """A task with its graph, its annotation and its reference."""

    task: str
    graph: str
    goals: str
    reference: tuple[Step, ...]

    @property
    def nodes(self) -> list[dict[str, Any]]:
        """The objects of the scene before anything is done."""
        return json.loads(self.graph)["init_graph"]["nodes"]  # type: ignore[no-any-return]


class Answer(NamedTuple):
    """What is judged: ``kind`` says how it came about."""

    id: str
    task: str
    kind: str
    text: str


def cases(folder: Path) -> list[Case]:
    """All tasks that come with a graph, by name."""
    annotations = json.loads((folder / "goals_and_tl.json").read_text(encoding="utf-8"))
    out = []
    for activity, scripts in annotations.items():
        for task, annotation in scripts.items():
            path = folder / "init_and_final_graphs" / f"file{task}.json.gz"
            program = folder / "programs" / f"file{task}.txt"
            if path.is_file() and program.is_file():
                graph = gzip.decompress(path.read_bytes()).decode()
                goals = json.dumps({activity: {task: {"vh_goal": annotation["vh_goal"]}}})
                out.append(Case(task, graph, goals, tuple(steps_of(program.read_text(encoding="utf-8")))))
    return sorted(out, key=lambda case: case.task)


def steps_of(script: str) -> Iterator[Step]:
    """The steps of a script."""
    for line in script.splitlines():
        if line.startswith("["):
            objects = re.findall(r"<(.+?)> \((?:\d+\.)?(\d+)\)", line)
            yield line[1 : line.index("]")].upper(), tuple(objects)


def written(steps: tuple[Step, ...]) -> str:
    """Steps as the prompts ask for them: one object of JSON, a key a step."""
    pairs = [
        f"{json.dumps(action)}: {json.dumps([part for one in objects for part in one])}" for action, objects in steps
    ]
    return "{" + ", ".join(pairs) + "}"


def lines(steps: tuple[Step, ...]) -> str:
    """Steps as a script."""
    return "".join(
        [
            f"[{action}] {' '.join([f'<{name}> (1.{number})' for name, number in objects])}\n"
            for action, objects in steps
        ]
    )


def forms(case: Case) -> Iterator[Answer]:
    """The reference in the shapes in which models answer."""
    text = written(case.reference)
    apart = [written((step,)) for step in case.reference]
    names = [f"{json.dumps(action)}: {json.dumps([one[0] for one in objects])}" for action, objects in case.reference]
    shapes = {
        "as asked": text,
        "in a fence": f"```json\n{text}\n```",
        "behind a sentence": f"Here is the plan:\n{text}",
        "as a list": f"[{', '.join(apart)}]",
        "in single quotes": text.replace('"', "'"),
        "numbers as numbers": re.sub(r'"(\d+)"', r"\1", text),
        "without numbers": "{" + ", ".join(names) + "}",
        "cut off": text[: len(text) * 2 // 3],
        "empty": "{}",
        "words alone": "I would walk there and switch it on.",
    }
    for kind, shape in shapes.items():
        yield Answer(f"{case.task} {kind}", case.task, kind, shape)


def changed(case: Case, arity: dict[str, int], draw: random.Random, each: int) -> Iterator[Answer]:
    """The reference with up to three steps left out, exchanged, repeated, inserted, or made wrong."""
    nodes = [(str(node["class_name"]), str(node["id"])) for node in case.nodes]
    for number in range(each):
        steps, kinds = list(case.reference), []
        for _ in range(draw.randint(1, 3)):
            place = draw.randrange(len(steps))
            kind = draw.choice(["left out", "exchanged", "repeated", "inserted", "inserted", "other object", "wrong"])
            kinds.append(kind)
            if kind == "left out" and len(steps) > 1:
                del steps[place]
            elif kind == "exchanged":
                other = draw.randrange(len(steps))
                steps[place], steps[other] = steps[other], steps[place]
            elif kind == "repeated":
                steps.insert(place, steps[place])
            elif kind == "inserted":
                known = [one for _, objects in steps for one in objects] or nodes
                action = draw.choice(sorted(arity))
                pool = known if draw.random() < 0.8 else nodes
                steps.insert(place, (action, tuple([draw.choice(pool) for _ in range(arity[action])])))
            elif kind == "other object":
                action, objects = steps[place]
                steps[place] = (action, tuple([draw.choice(nodes) for _ in objects]))
            else:
                action, objects = steps[place]
                steps[place] = draw.choice(
                    [
                        ("FLY", objects),
                        (action, (*objects, *objects[:1])),
                        (action, objects[1:]),
                        (action, (("pony", "9"),)),
                    ]
                )
        yield Answer(f"{case.task} changed {number}", case.task, ", ".join(sorted(set(kinds))), written(tuple(steps)))
