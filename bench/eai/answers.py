"""Make answers of action sequencing without a model: references in the shapes in which models write, and mutants."""

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
        """The objects of the initial state."""
        return json.loads(self.graph)["init_graph"]["nodes"]  # type: ignore[no-any-return]


class Answer(NamedTuple):
    """An answer to a task. ``kind`` is its shape, its changes, or ``recorded``."""

    id: str
    task: str
    kind: str
    text: str


def read_cases(folder: Path) -> list[Case]:
    """Return the tasks that have a graph, sorted by name."""
    annotations = json.loads((folder / "goals_and_tl.json").read_text(encoding="utf-8"))
    cases = []
    for activity, scripts in annotations.items():
        for task, annotation in scripts.items():
            path = folder / "init_and_final_graphs" / f"file{task}.json.gz"
            program = folder / "programs" / f"file{task}.txt"
            if path.is_file() and program.is_file():
                graph = gzip.decompress(path.read_bytes()).decode()
                goals = json.dumps({activity: {task: {"vh_goal": annotation["vh_goal"]}}})
                cases.append(Case(task, graph, goals, tuple(parse_script(program.read_text(encoding="utf-8")))))
    return sorted(cases, key=lambda case: case.task)


def parse_script(script: str) -> Iterator[Step]:
    """Yield the steps of a script."""
    for line in script.splitlines():
        if line.startswith("["):
            objects = re.findall(r"<(.+?)> \((?:\d+\.)?(\d+)\)", line)
            yield line[1 : line.index("]")].upper(), tuple(objects)


def format_answer(steps: tuple[Step, ...]) -> str:
    """Write steps in the format of the prompts: one JSON object with a key for each step."""
    pairs = [
        f"{json.dumps(action)}: {json.dumps([field for name_and_number in objects for field in name_and_number])}"
        for action, objects in steps
    ]
    return "{" + ", ".join(pairs) + "}"


def format_script(steps: tuple[Step, ...]) -> str:
    """Write steps as a script."""
    return "".join(
        [
            f"[{action}] {' '.join([f'<{name}> (1.{number})' for name, number in objects])}\n"
            for action, objects in steps
        ]
    )


def make_shapes(case: Case) -> Iterator[Answer]:
    """Yield the reference in the shapes in which models answer."""
    text = format_answer(case.reference)
    single_steps = [format_answer((step,)) for step in case.reference]
    without_numbers = [
        f"{json.dumps(action)}: {json.dumps([name for name, _ in objects])}" for action, objects in case.reference
    ]
    shapes = {
        "as asked": text,
        "in a fence": f"```json\n{text}\n```",
        "after a sentence": f"Here is the plan:\n{text}",
        "as a list": f"[{', '.join(single_steps)}]",
        "in single quotes": text.replace('"', "'"),
        "numbers as numbers": re.sub(r'"(\d+)"', r"\1", text),
        "without numbers": "{" + ", ".join(without_numbers) + "}",
        "cut off": text[: len(text) * 2 // 3],
        "empty": "{}",
        "words alone": "I would walk there and switch it on.",
    }
    for kind, shape in shapes.items():
        yield Answer(f"{case.task} {kind}", case.task, kind, shape)


def make_mutants(case: Case, arity: dict[str, int], rng: random.Random, count: int) -> Iterator[Answer]:
    """Yield ``count`` copies of the reference with one to three steps deleted, swapped, repeated, inserted or wrong."""
    nodes = [(str(node["class_name"]), str(node["id"])) for node in case.nodes]
    for number in range(count):
        steps, kinds = list(case.reference), []
        for _ in range(rng.randint(1, 3)):
            place = rng.randrange(len(steps))
            kind = rng.choice(["left out", "exchanged", "repeated", "inserted", "inserted", "other object", "wrong"])
            kinds.append(kind)
            action, objects = steps[place]
            if kind == "left out" and len(steps) > 1:
                del steps[place]
            elif kind == "exchanged":
                second_place = rng.randrange(len(steps))
                steps[place], steps[second_place] = steps[second_place], steps[place]
            elif kind == "repeated":
                steps.insert(place, steps[place])
            elif kind == "inserted":
                plan_objects = [pair for _, step_objects in steps for pair in step_objects] or nodes
                new_action = rng.choice(sorted(arity))
                pool = plan_objects if rng.random() < 0.8 else nodes
                steps.insert(place, (new_action, tuple([rng.choice(pool) for _ in range(arity[new_action])])))
            elif kind == "other object":
                steps[place] = (action, tuple([rng.choice(nodes) for _ in objects]))
            else:
                steps[place] = rng.choice(
                    [
                        ("FLY", objects),
                        (action, (*objects, *objects[:1])),
                        (action, objects[1:]),
                        (action, (("pony", "9"),)),
                    ]
                )
        text = format_answer(tuple(steps))
        yield Answer(f"{case.task} changed {number}", case.task, ", ".join(sorted(set(kinds))), text)
