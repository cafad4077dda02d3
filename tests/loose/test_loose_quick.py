"""Answers that are nothing but a list of steps: the quick reading says what the careful one does, or nothing."""

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


def careful(text: str, checker: Checker) -> list[str] | None:
    plan = read_loose(Source("answer", text), checker).plan
    return None if plan is None else [line for line in plan.text.splitlines() if line]


def quick(text: str, checker: Checker) -> list[str] | None:
    found = quick_steps(text, checker)
    if found is None:
        return None
    shown = []
    lines = [line for line in text.splitlines() if "(" in line]
    for line, step in zip(lines, found.steps, strict=True):
        shown.append(step_text(step, checker.engine.task.objects) if isinstance(step, GroundAction) else line)
    return shown


def written(steps: list[str], random: Random) -> str:
    """Steps in one manner, at times with something that no list of steps has."""
    manner = random.choice(("plain", "numbered", "calls", "numbered calls", "words"))
    lines = []
    for number, step in enumerate(steps, 1):
        name, *objects = step[1:-1].split()
        shown = step if manner in ("plain", "numbered") else f"{name}({', '.join(objects)})"
        if manner == "words":
            shown = f"{name} {' '.join(objects)}"
        lines.append(f"{number}. {shown}" if manner.startswith("numbered") else shown)
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
def test_it_says_what_the_careful_reading_says(family: str) -> None:
    made = draw(family, 1)
    checker, random = made.checker(), Random(family)
    steps, read = made.reference.splitlines(), 0
    objects = checker.engine.task.objects
    for _ in range(250):
        some = random.choices(steps, k=random.randint(1, 6))
        if random.random() < 0.2:  # a step whose arguments may have the wrong types
            name, *given = random.choice(steps)[1:-1].split()
            some.append(f"({' '.join([name, *random.choices(objects, k=len(given))])})")
        text = written(some, random)
        found = quick(text, checker)
        if found is not None:
            read += 1
            assert found == careful(text, checker), text
    assert read > 80


def test_real_answers(root: Path) -> None:
    """Where it reads what a model wrote, it reads it as the careful reading does."""
    made = draw("tea", 1)
    checker = made.checker()
    for file in sorted((root / "tests/loose/answers").glob("*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            for text in [value for value in json.loads(line).values() if isinstance(value, str)]:
                found = quick(text, checker)
                assert found is None or found == careful(text, checker), text


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
def test_what_is_no_list_of_steps_is_left_to_the_careful_reading(text: str) -> None:
    assert quick_steps(text, draw("tea", 1).checker()) is None
