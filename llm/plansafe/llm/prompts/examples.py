"""Examples for prompts: those that are shipped with a domain, and the choice of the nearest by words.

``household.jsonl`` has one drawn task of each family with its reference plan, drawn by a seed that no suite of tests
has (:data:`SEED`); a test draws them again and judges them. Nearest is by Rouge-L between the words of the tasks, as
LLM-Planner (Song et al. 2023) chooses its examples by likeness of the instructions; ties go to the first.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from plansafe.grammar.source import Source
from plansafe.llm.instances.drawn import draw
from plansafe.llm.metrics.rouge import rouge_score_l
from plansafe.llm.prompts.planning import Example
from plansafe.llm.tasks import load

SEED = 20_231
"""Of the drawn tasks that are shipped."""
BENCHMARK = (("wash-up", 100), ("stew", 100))
"""The tasks that the suite ``planning`` shows before the one that it asks about."""
_WORDS = 2_000
_FOLDER = Path(__file__).parent


class StoredExample(NamedTuple):
    """A task in words, its problem as text, and a safe plan."""

    words: str
    problem: str
    plan: str
    family: str = ""


def shipped(domain: str) -> list[StoredExample]:
    """The examples that come with a domain, in their order; none for most domains."""
    path = _FOLDER / "household.jsonl"
    if domain != "household":
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    return [StoredExample(record["words"], record["problem"], record["plan"], record["family"]) for record in records]


def benchmark_examples() -> list[StoredExample]:
    """The examples that the suite ``planning`` shows, in its order: the benchmark's figures are for these prompts."""
    instances = [draw(family, number) for family, number in BENCHMARK]
    return [StoredExample(task.words, task.problem.text, task.reference) for task in instances]


def example(stored: StoredExample) -> Example:
    """An example that can be shown: its task is compiled, without rules."""
    return Example(stored.words, load(Source("example", stored.problem), specs=()).compiled, stored.plan)


def nearest(words: str, candidates: Sequence[str], count: int) -> list[int]:
    """The numbers of the texts that are nearest to some words, the nearest first."""
    shares = [rouge_score_l(words[:_WORDS], candidate[:_WORDS]).f for candidate in candidates]
    return sorted(range(len(candidates)), key=lambda number: (-shares[number], number))[:count]
