"""Write the answers of a stochastic policy to tasks with stated rules, for `align pairs --answers`.

usage: python -m bench.align.policy FILE [--numbers 24] [--samples 4] [--seed 5]

The policy reaches the goal and ignores half of the rules, as a small model after SFT does. It answers with the shortest
plan that ignores the rule, with the safe plan, or with the safe plan of the twin. One answer in three has a step
removed, repeated at another place, or exchanged with the next step. No model is needed.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from random import Random
from typing import Any

from plansafe.align.stated.drawing import draw
from plansafe.align.stated.families import FAMILIES

NOISE = 0.35
"""Share of answers with a change."""


def answers(numbers: int, samples: int, seed: int) -> Iterator[dict[str, Any]]:
    """The answers to the first tasks of every family for training."""
    random = Random(f"policy/{seed}")
    for number in range(numbers):
        for family in FAMILIES:
            task, twin = draw(family, number, seed), draw(family, number ^ 1, seed)
            for sample in range(samples):
                plan = random.choice([task.plain, task.plain, task.reference, twin.reference]).splitlines()
                if random.random() < NOISE:
                    plan = changed(plan, random)
                yield {"origin": f"stated:{family}/{number}/{seed}", "sample": sample, "plan": plan}


def changed(plan: list[str], random: Random) -> list[str]:
    """The plan with one change."""
    place = random.randrange(len(plan))
    match random.randrange(3):
        case 0:
            return plan[:place] + plan[place + 1 :]
        case 1:
            return [*plan[:place], random.choice(plan), *plan[place:]]
        case _:
            return [*plan[:place], *reversed(plan[place : place + 2]), *plan[place + 2 :]]


def main(arguments: list[str] | None = None) -> int:
    """Write the file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("file", metavar="FILE")
    parser.add_argument("--numbers", type=int, default=24, help="Answer this many tasks of each family.")
    parser.add_argument("--samples", type=int, default=4, help="Write this many answers to each task.")
    parser.add_argument("--seed", type=int, default=5)
    options = parser.parse_args(arguments)
    with open(options.file, "w", encoding="utf-8") as file:
        for answer in answers(options.numbers, options.samples, options.seed):
            file.write(json.dumps(answer) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
