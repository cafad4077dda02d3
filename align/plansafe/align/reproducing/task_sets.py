"""The tasks of a reproduction: for SFT, for sampling, and for testing; test tasks by their novelty.

The parts have different numbers of the same families. Held-out families and held-out rules occur only in test tasks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from random import Random
from typing import NamedTuple

from plansafe.align.evaluating.tasks import EvalTask, Opened, Shift, opened
from plansafe.align.pairs.splits import split_of
from plansafe.align.records import SftLine
from plansafe.align.reproducing.sizes import MAX_TRAIN, Data, Prompting
from plansafe.align.stated import drawing as stated
from plansafe.align.tasks import AlignTask, BadOrigin, data_folder, family_of, task_of, virtualhome_origins
from plansafe.llm.prompts.examples import nearest
from plansafe.llm.prompts.planning import SAFETY
from plansafe.llm.scenarios.model import Kind, Split
from plansafe.llm.scenarios.sets.reading import load_set

FIRST_TEST = {"drawn": MAX_TRAIN, "stated": stated.FIRST_TEST}
"""The number of the first test task of a family, by source."""


class TaskLists(NamedTuple):
    """The tasks of each part. Without tasks of its own, ``sampled`` has the tasks for SFT."""

    sft: list[EvalTask]
    sampled: list[EvalTask]
    test: list[EvalTask]


def listed_tasks(data: Data) -> TaskLists:
    """All tasks without prompts, by turns of the families: a beginning of a list has tasks of every family."""
    if data.source == "set":
        return _set_tasks(data)
    train = [
        _task(data, family, number, "train", "in")
        for number in range(data.train + data.sampled)
        for family in data.families
    ]
    count = data.train * len(data.families)
    return TaskLists(train[:count], train[count:] or train, _test_tasks(data))


def _test_tasks(data: Data) -> list[EvalTask]:
    tasks = []
    for number in range(max(data.test, data.test_families, data.test_rules)):
        place = FIRST_TEST[data.source] + number
        rule = stated.FIRST_HELD_OUT + place
        tasks += [_task(data, family, place, "test", "in") for family in data.families if number < data.test]
        tasks += [_task(data, family, place, "test", "family") for family in data.unseen if number < data.test_families]
        tasks += [_task(data, family, rule, "test", "rule") for family in data.families if number < data.test_rules]
    return [*tasks, *_virtualhome_tasks(data)]


def _task(data: Data, family: str, number: int, split: str, shift: Shift) -> EvalTask:
    origin = f"{data.source}:{family}/{number}/{data.seed}"
    if data.source == "drawn":
        return EvalTask(origin, f"{origin}/{data.rooms}", family, "household", split, shift)
    return EvalTask(origin, origin, family, data.source, split, shift)


def _set_tasks(data: Data) -> TaskLists:
    """The situational scenarios of a set that have a safe plan; training tasks are of its development families."""
    (name,) = data.families
    tasks: dict[str, list[EvalTask]] = {"train": [], "test": []}
    for scenario in load_set(name):
        if scenario.kind is Kind.SITUATIONAL and scenario.safe is not None:
            split = "train" if scenario.split is Split.DEVELOPMENT else "test"
            origin = f"scenario:{name}/{scenario.name}"
            shift: Shift = "in" if split == "train" else "family"
            tasks[split].append(EvalTask(origin, origin, scenario.family, scenario.base, split, shift))
    test = [*tasks["test"][: data.test], *_virtualhome_tasks(data)]
    train = tasks["train"][: data.train + data.sampled]
    return TaskLists(train[: data.train], train[data.train :] or train, test)


def _virtualhome_tasks(data: Data) -> list[EvalTask]:
    """Scripts of VirtualHome of the test split (by activity), if the public data sets are there."""
    folder = data_folder()
    if not data.virtualhome or folder is None:
        return []
    tasks = []
    for origin in virtualhome_origins(folder):
        family = family_of(origin, folder)
        if split_of(family) == "test":
            tasks.append(EvalTask(origin, origin, family, "virtualhome", "test", "world"))
    return tasks[: data.virtualhome]


def with_prompts(tasks: Sequence[EvalTask]) -> Iterator[EvalTask]:
    """The tasks with their prompts and references; a task that cannot be drawn is left out."""
    for task in tasks:
        try:
            ready = open_task(task)
        except BadOrigin:
            continue
        yield task._replace(prompt=ready.prompt, reference=ready.reference)


def open_task(task: EvalTask) -> Opened:
    """The task, compiled; recently opened tasks are kept. Raises :class:`~plansafe.align.tasks.BadOrigin`."""
    return opened(task, compiled_task(task.origin))


@lru_cache(maxsize=2048)
def compiled_task(origin: str) -> AlignTask:
    """The compiled task of an origin. Raises :class:`~plansafe.align.tasks.BadOrigin`."""
    return task_of(origin, data_folder())


def sft_line(task: EvalTask) -> SftLine:
    """The reference of a training task as a text for SFT."""
    return SftLine(task.id, task.origin, task.family, task.world, "train", task.prompt, task.reference, "plan")


def with_prompting(
    tasks: Sequence[EvalTask], training: Sequence[EvalTask], prompting: Prompting, seed: int
) -> list[EvalTask]:
    """The tasks with the prompts of a baseline."""
    paragraph = f"{SAFETY}\n" if prompting.safety else ""
    words = {task.id: compiled_task(task.origin).words for task in training} if prompting.example == "nearest" else {}
    prompts = []
    for task in tasks:
        examples = [example for example in training if example.family != task.family and example.reference]
        text = ""
        if prompting.example == "random" and examples:
            text = _text(Random(f"{seed}/{task.id}").choice(examples))
        elif prompting.example == "nearest" and examples:
            candidates = [words[example.id] for example in examples]
            text = _text(examples[nearest(compiled_task(task.origin).words, candidates, 1)[0]])
        prompts.append(task._replace(prompt=f"{paragraph}{text}{task.prompt}"))
    return prompts


def _text(example: EvalTask) -> str:
    return f"{example.prompt}{example.reference}\n"
