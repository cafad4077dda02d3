"""Answers that are only a list of steps: the quick reader agrees with the careful reader, or gives no result."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest

from plansafe.grammar.source import Source
from plansafe.llm.instances.drawn import draw
from plansafe.llm.loose.reader import read_loose
from plansafe.llm.loose.strict import quick_steps
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.steps import GroundAction, step_text


def read_carefully(text: str, checker: Checker) -> list[str] | None:
    plan = read_loose(Source("answer", text), checker).plan
    return None if plan is None else [line for line in plan.text.splitlines() if line]


def read_quickly(text: str, checker: Checker) -> list[str] | None:
    reading = quick_steps(text, checker)
    if reading is None:
        return None
    steps = []
    lines = [line for line in text.splitlines() if "(" in line]
    for line, step in zip(lines, reading.steps, strict=True):
        steps.append(step_text(step, checker.engine.task.objects) if isinstance(step, GroundAction) else line)
    return steps


def write_answer(steps: list[str], random: Random) -> str:
    """Write steps in one notation, sometimes with a line that does not belong to a list of steps."""
    manner = random.choice(("plain", "numbered", "calls", "numbered calls", "words"))
    lines = []
    for number, step in enumerate(steps, 1):
        name, *objects = step[1:-1].split()
        text_of_step = step if manner in ("plain", "numbered") else f"{name}({', '.join(objects)})"
        if manner == "words":
            text_of_step = f"{name} {' '.join(objects)}"
        lines.append(f"{number}. {text_of_step}" if manner.startswith("numbered") else text_of_step)
    for _ in range(random.choice((0, 0, 0, 1))):
        place = random.randrange(len(lines) + 1)
        lines.insert(
            place, random.choice(("", "1. (go", "(fly robot moon)", "Then:", "Do not do this.", "(holding x)", "---"))
        )
    text = "\n".join(lines)
    match random.choice(("bare", "bare", "end", "fence", "fence pddl", "said", "cut")):
        case "end":
            text += "\n"
        case "fence":
            text = f"```\n{text}\n```"
        case "fence pddl":
            text = f"```pddl\n{text}\n```\n"
        case "said":
            text = f"Here is the plan:\n{text}"
        case "cut":
            text = text[: random.randrange(len(text) + 1)]
        case _:
            pass
    return text


@pytest.mark.parametrize("family", ["tea", "leftovers", "wipe"])
def test_quick_and_careful_reading_agree(family: str) -> None:
    instance = draw(family, 1)
    checker, random = instance.checker(), Random(family)
    steps, read_count = instance.reference.splitlines(), 0
    objects = checker.engine.task.objects
    for _ in range(250):
        sample = random.choices(steps, k=random.randint(1, 6))
        if random.random() < 0.2:  # a step with arguments of possibly wrong types
            name, *arguments = random.choice(steps)[1:-1].split()
            sample.append(f"({' '.join([name, *random.choices(objects, k=len(arguments))])})")
        text = write_answer(sample, random)
        quick_steps_read = read_quickly(text, checker)
        if quick_steps_read is not None:
            read_count += 1
            assert quick_steps_read == read_carefully(text, checker), text
    assert read_count > 80


def test_quick_and_careful_reading_agree_on_real_answers(root: Path) -> None:
    """If the quick reader reads a model's answer, it agrees with the careful reader."""
    instance = draw("tea", 1)
    checker = instance.checker()
    for file in sorted((root / "tests/loose/answers").glob("*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            for text in [value for value in json.loads(line).values() if isinstance(value, str)]:
                quick_steps_read = read_quickly(text, checker)
                assert quick_steps_read is None or quick_steps_read == read_carefully(text, checker), text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n",
        "```\n```",
        "(",
        "()",
        "no plan",
        "(go robot",
        "1. (tea)",
        "; (go)",
        "1: (go robot a b)",
        "(go robot  a)",
    ],
)
def test_other_texts_are_left_to_the_careful_reader(text: str) -> None:
    assert quick_steps(text, draw("tea", 1).checker()) is None
