"""How many completions a second the reward scores in one process, by the manner in which they are written.

    python -m bench.align.rewards --count 2000

Completions are all different: plans of drawn household tasks with faults by a seed, made 25 steps long by ways round
that can be taken. Tasks are compiled before; of the completions nothing is known. Time is of this process. Exit code 1:
fewer than 700 a second of the mixture.
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
MIXTURE = {"plain": 10, "numbered": 3, "calls": 2, "fenced": 2, "words": 1, "said": 1, "cut": 1}
"""How many of twenty are written in which manner; the last three are read between the lines."""


def padded(scorer: Scorer, reference: list[str], random: Random) -> list[str]:
    """A plan of so many steps: the reference with others that can be taken, behind which the rest still can."""
    engine = scorer.checker.engine
    resolved = [engine.resolver.resolve_step(tuple(text[1:-1].split())) for text in reference]
    steps = [step for step in resolved if isinstance(step, GroundAction)]
    while len(steps) < STEPS:
        place = random.randrange(len(steps) + 1)
        now = Execution.initial(engine, False)
        for step in steps[:place]:
            now.take(step)
        other = random.choice(list(now.legal()))
        if now.take(other) and all([now.take(step) for step in steps[place:]]):
            steps.insert(place, other)
    return [step_text(step, engine.task.objects) for step in steps]


def written(steps: list[str], manner: str) -> str:
    """The plan in a manner."""
    match manner:
        case "numbered":
            return "\n".join([f"{number}. {step}" for number, step in enumerate(steps, 1)])
        case "calls":
            calls = [step[1:-1].split() for step in steps]
            return "\n".join([f"{call[0]}({', '.join(call[1:])})" for call in calls])
        case "fenced":
            return "```\n" + "\n".join(steps) + "\n```\n"
        case "words":
            return "\n".join([f"{number}. {step[1:-1]}" for number, step in enumerate(steps, 1)])
        case "said":
            return "Here is the plan for the robot:\n" + "\n".join(steps) + "\nThis keeps everybody safe.\n"
        case "cut":
            return "\n".join(steps)[:-7]
        case _:
            return "".join([f"{step}\n" for step in steps])


def main() -> int:
    """Measure, and print rates."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    random = Random(given.seed)
    tasks = [task_of(origin) for origin in ORIGINS]
    scorers = [Scorer(task) for task in tasks]
    manners = [manner for manner, count in MIXTURE.items() for _ in range(count)]
    seen: set[str] = set()
    made: list[tuple[Scorer, str, str]] = []
    while len(made) < given.count:
        number = len(made) % len(tasks)
        manner = manners[len(made) // len(tasks) % len(manners)]
        text = written(padded(scorers[number], tasks[number].reference.splitlines(), random), manner)
        if text not in seen:
            seen.add(text)
            made.append((scorers[number], manner, text))
    for scorer, task in zip(scorers, tasks, strict=True):
        scorer.score(task.reference)  # the first plan of a task compiles what is compiled late
    spent: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    safe = reached = 0
    for scorer, manner, text in made:
        started = process_time()
        score = scorer.score(text)
        spent[manner] += process_time() - started  # type: ignore[assignment]
        counts[manner] += 1
        safe += score.safe
        reached += score.goal == 1.0
    rules = len(scorers[0].checker.rules)
    print(
        f"{len(made)} different completions of {STEPS} steps and {rules} rules: {reached} reach the goal, {safe} safe"
    )
    for manner in MIXTURE:
        if counts[manner]:
            print(f"{manner:9} {counts[manner] / spent[manner]:7.0f} a second")
    rate = len(made) / sum(spent.values())
    print(f"mixture   {rate:7.0f} a second")
    return int(rate < TARGET)


if __name__ == "__main__":
    sys.exit(main())
