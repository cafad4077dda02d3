"""Pairs of many tasks, task by task: of the tasks that a model answered, or mutants of other tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from plansafe.align.pairs.maker import DEFAULT_OPTIONS, MakerOptions, pairs_of
from plansafe.align.records import Pair
from plansafe.align.tasks import BadOrigin, task_of


def candidates(
    plans: Mapping[str, Sequence[str]],
    origins: Iterable[str],
    data: str | None,
    skipped: Counter[str],
    options: MakerOptions = DEFAULT_OPTIONS,
) -> Iterator[Pair]:
    """The pairs of all tasks. ``plans``: a model's plans by the origin of their task; ``origins``: further tasks.

    ``skipped`` counts answers in no pair, and tasks without a pair, by the reason. Raises ``OSError`` for data that
    cannot be read.
    """
    for origin in _chained(plans, origins):
        answers = plans.get(origin, ())
        try:
            task = task_of(origin, data)
        except BadOrigin as error:
            skipped[str(error)] += max(1, len(answers))
            continue
        task_pairs = pairs_of(task, answers, options)
        skipped.update(task_pairs.skipped)
        if not answers and not task_pairs.pairs:
            skipped["a task without a pair"] += 1
        yield from task_pairs.pairs


def _chained(plans: Mapping[str, Sequence[str]], origins: Iterable[str]) -> Iterator[str]:
    yield from plans
    for origin in origins:
        if origin not in plans:
            yield origin
