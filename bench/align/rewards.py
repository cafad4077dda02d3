"""Measure how many completions the reward scores per second in one process, by their format.

usage: python -m bench.align.rewards [--count 2000]

All completions differ: plans of drawn household tasks, made 25 steps long by random executable steps. Tasks are
compiled before; no completion is cached. The processor time of this process counts. Exit code 1: fewer than 700 per
second of the mixture.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from random import Random
from time import process_time

from plansafe.align.reward import Scorer
from plansafe.align.tasks import task_of
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.steps import GroundAction, step_text

ORIGINS = ("drawn:leftovers/3/0", "drawn:warm-drink/3/0", "drawn:leftovers/5/0", "drawn:stew/3/0", "drawn:salad/3/0")
STEPS = 25
TARGET = 700
MIXTURE = {"plain": 10, "numbered": 3, "calls": 2, "fenced": 2, "words": 1, "sentences": 1, "cut": 1}
"""The number of completions in each format, of twenty; the last three formats are read as loose text."""


def pad_plan(scorer: Scorer, reference: list[str], random: Random) -> list[str]:
    """Return an executable plan of ``STEPS`` steps: the reference with random steps inserted."""
    engine = scorer.checker.engine
    resolved = [engine.resolver.resolve_step(tuple(text[1:-1].split())) for text in reference]
    steps = [step for step in resolved if isinstance(step, GroundAction)]
    while len(steps) < STEPS:
        place = random.randrange(len(steps) + 1)
        execution = Execution.initial(engine, False)
        for step in steps[:place]:
            execution.take(step)
        new_step = random.choice(list(execution.legal()))
        if execution.take(new_step) and all([execution.take(step) for step in steps[place:]]):
            steps.insert(place, new_step)
    return [step_text(step, engine.task.objects) for step in steps]


def format_plan(steps: list[str], style: str) -> str:
    """Return the plan as text in a format."""
    match style:
        case "numbered":
            return "\n".join([f"{number}. {step}" for number, step in enumerate(steps, 1)])
        case "calls":
            calls = [step[1:-1].split() for step in steps]
            return "\n".join([f"{call[0]}({', '.join(call[1:])})" for call in calls])
        case "fenced":
            return "```\n" + "\n".join(steps) + "\n```\n"
        case "words":
            return "\n".join([f"{number}. {step[1:-1]}" for number, step in enumerate(steps, 1)])
        case "sentences":
            return "Here is the plan for the robot:\n" + "\n".join(steps) + "\nThis keeps everybody safe.\n"
        case "cut":
            return "\n".join(steps)[:-7]
        case _:
            return "".join([f"{step}\n" for step in steps])


def main() -> int:
    """Measure, and print rates."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    random = Random(options.seed)
    tasks = [task_of(origin) for origin in ORIGINS]
    scorers = [Scorer(task) for task in tasks]
    styles = [style for style, count in MIXTURE.items() for _ in range(count)]
    texts: set[str] = set()
    completions: list[tuple[Scorer, str, str]] = []
    while len(completions) < options.count:
        number = len(completions) % len(tasks)
        style = styles[len(completions) // len(tasks) % len(styles)]
        text = format_plan(pad_plan(scorers[number], tasks[number].reference.splitlines(), random), style)
        if text not in texts:
            texts.add(text)
            completions.append((scorers[number], style, text))
    for scorer, task in zip(scorers, tasks, strict=True):
        scorer.score(task.reference)  # the first plan of a task causes compilation
    spent: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    safe = reached = 0
    for scorer, style, text in completions:
        started = process_time()
        score = scorer.score(text)
        spent[style] += process_time() - started  # type: ignore[assignment]
        counts[style] += 1
        safe += score.safe
        reached += score.goal == 1.0
    rules = len(scorers[0].checker.rules)
    size = f"{len(completions)} different completions of {STEPS} steps and {rules} rules"
    print(f"{size}: {reached} reach the goal, {safe} safe")
    for style in MIXTURE:
        if counts[style]:
            print(f"{style:9} {counts[style] / spent[style]:7.0f} per second")
    rate = len(completions) / sum(spent.values())
    print(f"mixture   {rate:7.0f} per second")
    return int(rate < TARGET)


if __name__ == "__main__":
    sys.exit(main())
