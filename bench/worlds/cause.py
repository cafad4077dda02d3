"""Measure the extra time of the minimal cause and of the question after the verdict: random tasks, in this process.

usage: python -m bench.worlds.cause [--count 100] [--seed 0]
"""

from __future__ import annotations

import argparse
import gc
import random
import time
from collections.abc import Iterator
from typing import NamedTuple

from bench.measure import spread
from bench.worlds.kitchen import kitchen_task
from bench.worlds.outcomes import pouring_task
from bench.worlds.shelves import counted_task, floor_task, pairwise_task
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
    """CPU seconds for one task. ``notes``: the searches without a result."""

    name: str
    open_facts: int
    verdict: float
    cause: float
    question: float
    elements: int
    questions: int
    notes: tuple[str, ...]


def random_tasks(count: int, seed: int) -> Iterator[tuple[str, Task]]:
    """Plans that are not safe in all worlds: half of them kitchens, the others pours and shelves."""
    rng = random.Random(seed)
    for number in range(count):
        if number % 2 == 0:
            objects, steps = rng.randint(20, 150), rng.randint(30, 150)
            yield f"kitchen-{objects}x{steps}", kitchen_task(objects, steps, 4 * objects, safe=False, seed=number)
        elif number % 4 == 1:
            items, steps, spills = rng.randint(3, 20), rng.randint(20, 60), rng.random() < 0.5
            kind = "spills" if spills else "pours"
            yield f"{kind}-{items}x{steps}", pouring_task(items, 6, steps, spills=spills, safe=False, seed=number)
        else:
            size, family = 2 * rng.randint(2, 8), rng.choice((pairwise_task, counted_task, floor_task))
            yield f"{family.__name__.removesuffix('_task')}-{size}", family(size, fits=True)


def measure_task(name: str, task: Task) -> Row:
    """Compute the verdict, then the cause from its witness, then the question with the same solvers."""
    checker = Checker(Source("domain", task.domain), Source("problem", task.problem), [Source("rules", task.rules)])
    parsed_plan = checker.read(Source("plan", task.plan))
    gc.collect()
    gc.disable()
    start = time.process_time()
    encoding = encode_plan(checker.compiled, parsed_plan)
    queries = EncodingQueries(encoding)
    verdict = queries.decide_verdict()
    verdict_end = time.process_time()
    assert verdict.safe is not Worlds.ALL, name
    good_worlds = encoding.encode_good_worlds()
    search = CompletionSearch(encoding.circuit, encoding.allowed, good_worlds, work=WorkBudget(MAX_WORK))
    cause = find_minimal_cause(search, verdict.failures[0][1] if verdict.failures else None)
    cause_end = time.process_time()
    question = find_question(search)
    question_end = time.process_time()
    search.close()
    queries.close()
    gc.enable()
    cause_values = cause.values
    return Row(
        name,
        task.open_facts,
        verdict_end - start,
        cause_end - verdict_end,
        question_end - cause_end,
        len(cause_values) if cause_values is not None else -1,
        len(question.variables) if question.variables is not None else -1,
        tuple([note for note in (cause.note, question.note) if note]),
    )


def measure_all(count: int, seed: int) -> list[Row]:
    """Measure all random tasks, after two unmeasured ones that load the solvers."""
    measure_task("warm", pairwise_task(4, fits=True))
    measure_task("warm", counted_task(4, fits=True))
    return [measure_task(name, task) for name, task in random_tasks(count, seed)]


def summarize(rows: list[Row]) -> dict[str, dict[str, float]]:
    """The spread of the milliseconds of each phase."""
    return {phase: spread([1000 * getattr(row, phase) for row in rows]) for phase in ("verdict", "cause", "question")}


def main() -> None:
    """Print the times of each task, and the spread."""
    parser = argparse.ArgumentParser(description="Measure the time of causes and questions after the verdict.")
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rows = measure_all(options.count, options.seed)
    for row in rows:
        print(
            f"{row.name:18} open {row.open_facts:5}  verdict {1000 * row.verdict:8.1f}  cause {1000 * row.cause:8.1f} "
            f"({row.elements})  question {1000 * row.question:8.1f} ({row.questions})  {'; '.join(row.notes)}"
        )
    print("CPU milliseconds:", summarize(rows))


if __name__ == "__main__":
    main()
