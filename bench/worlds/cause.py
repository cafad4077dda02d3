"""How long the minimal cause, and the question, take beyond the verdict: random tasks, measured in this process.

usage: python -m bench.worlds.cause [--count 100] [--seed 0]
"""

from __future__ import annotations

import argparse
import gc
import random
import time
from collections.abc import Iterator
from typing import NamedTuple

from bench.faults.spread import spread
from bench.worlds.kitchen import kitchen
from bench.worlds.outcomes import pouring
from bench.worlds.shelves import counted, floor, pairwise
from bench.worlds.task import Task

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.model.limits import WorkBudget
from plansafe.verifier.reporting.report import Worlds
from plansafe.verifier.symbolic.worlds.completions import CompletionSearch
from plansafe.verifier.symbolic.worlds.encode import encode_plan
from plansafe.verifier.symbolic.worlds.encoding_queries import EncodingQueries
from plansafe.verifier.symbolic.worlds.explanation import MAX_WORK, find_minimal_cause
from plansafe.verifier.symbolic.worlds.question import find_question


class Row(NamedTuple):
    """CPU seconds for one task. ``notes`` say what was not found."""

    name: str
    open_facts: int
    verdict: float
    cause: float
    question: float
    elements: int
    asked: int
    notes: tuple[str, ...]


def random_tasks(count: int, seed: int) -> Iterator[tuple[str, Task]]:
    """Plans that are not safe in all worlds: half of them kitchens, the others with outcomes, places and shelves."""
    rnd = random.Random(seed)
    for number in range(count):
        if number % 2 == 0:
            objects, steps = rnd.randint(20, 150), rnd.randint(30, 150)
            yield f"kitchen-{objects}x{steps}", kitchen(objects, steps, 4 * objects, safe=False, seed=number)
        elif number % 4 == 1:
            items, steps, spills = rnd.randint(3, 20), rnd.randint(20, 60), rnd.random() < 0.5
            kind = "spills" if spills else "pours"
            yield f"{kind}-{items}x{steps}", pouring(items, 6, steps, spills=spills, safe=False, seed=number)
        else:
            size, family = 2 * rnd.randint(2, 8), rnd.choice((pairwise, counted, floor))
            yield f"{family.__name__}-{size}", family(size, fits=True)


def measure(name: str, task: Task) -> Row:
    """The verdict, then the cause taken from its witness, then the question with the same solvers."""
    checker = Checker(Source("domain", task.domain), Source("problem", task.problem), [Source("rules", task.rules)])
    read = checker.read(Source("plan", task.plan))
    gc.collect()
    gc.disable()
    started = time.process_time()
    encoding = encode_plan(checker.compiled, read.steps)
    judge = EncodingQueries(encoding)
    verdict = judge.decide()
    judged = time.process_time()
    assert verdict.safe is not Worlds.ALL, name
    search = CompletionSearch(encoding.circuit, encoding.allowed, encoding.good(), work=WorkBudget(MAX_WORK))
    cause = find_minimal_cause(search, verdict.failures[0][1] if verdict.failures else None)
    caused = time.process_time()
    asked = find_question(search)
    ended = time.process_time()
    search.close()
    judge.close()
    gc.enable()
    found = cause.values
    return Row(
        name,
        task.open_facts,
        judged - started,
        caused - judged,
        ended - caused,
        len(found) if found is not None else -1,
        len(asked.variables) if asked.variables is not None else -1,
        tuple([note for note in (cause.note, asked.note) if note]),
    )


def measure_all(count: int, seed: int) -> list[Row]:
    """All random tasks; the solvers are loaded by one that is not counted."""
    measure("warm", pairwise(4, fits=True))
    measure("warm", counted(4, fits=True))
    return [measure(name, task) for name, task in random_tasks(count, seed)]


def summary(rows: list[Row]) -> dict[str, dict[str, float]]:
    """Milliseconds."""
    return {what: spread([1000 * getattr(row, what) for row in rows]) for what in ("verdict", "cause", "question")}


def main() -> None:
    """Print each task, and the spread."""
    parser = argparse.ArgumentParser(description="Time for causes and questions beyond the verdict.")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rows = measure_all(options.count, options.seed)
    for row in rows:
        print(
            f"{row.name:18} open {row.open_facts:5}  verdict {1000 * row.verdict:8.1f}  cause {1000 * row.cause:8.1f} "
            f"({row.elements})  question {1000 * row.question:8.1f} ({row.asked})  {'; '.join(row.notes)}"
        )
    print("CPU milliseconds:", summary(rows))


if __name__ == "__main__":
    main()
