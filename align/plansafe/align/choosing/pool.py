"""Candidates that are worth choosing among: the pairs lie in a file, and only what choosing needs is in memory."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import IO, NamedTuple

from plansafe.align.choosing.filters import Reason, unfit
from plansafe.align.choosing.lengths import Difference, difference
from plansafe.align.choosing.near import Near
from plansafe.align.choosing.needs import Draft, Needs
from plansafe.align.choosing.shape import shape
from plansafe.align.choosing.splits import split_of
from plansafe.align.records import Pair, Split, actions_of, json_of, pair_of_json
from plansafe.align.tokens import shared_actions

NEAR = 0.9
"""Rouge-L from which two pairs of one rule are near duplicates; see :func:`lesson` for what is compared."""
MOST_OF_A_LESSON = 12
"""Pairs of one rule and side, of tasks that differ, whose plans part in nearly the same steps."""
MOST_OF_A_TASK = 12
"""Pairs of one task and one rule."""
MOST_SKETCHES = 200_000
LARGEST_SHARE = 0.15
"""Of all pairs, for one rule."""
RESERVE, MORE = 1.5, 40
"""How many times as many as are wanted, and how many more, are worth keeping, so that there is something to choose."""
LEAST_ROOM = 20
_THREE = 3


class Sketch(NamedTuple):
    """What choosing needs of a pair. ``place``: where in the file its line begins. ``shapes``: of both plans."""

    place: int
    split: Split
    rule: str
    categories: tuple[str, ...]
    safel: tuple[str, ...]
    task: str
    goal: bool
    difference: Difference
    shapes: tuple[bytes, bytes]


class Pool:
    """Takes candidates, and keeps those that are fit and new. ``wanted``: how many pairs are to be chosen in the end.

    ``needs`` is told what is kept.

    ``file`` is for the pairs, open for reading and writing in bytes; it takes a few kilobytes a pair. Memory: a sketch
    for each, about 2 kB with what near duplicates are told by.
    """

    def __init__(self, file: IO[bytes], wanted: int, needs: Needs | None = None) -> None:
        self._file = file
        self._needs = Needs() if needs is None else needs
        self._needs.repeats = self.repeats
        self._near = Near(NEAR)
        self._room = max(LEAST_ROOM, round(wanted * LARGEST_SHARE))
        self._seen: set[bytes] = set()
        self._renamed: set[bytes] = set()
        self._cells: Counter[tuple[str, ...]] = Counter()
        self.sketches: list[Sketch] = []
        self.rejected: Counter[Reason] = Counter()
        """Why candidates were not kept, and how many."""
        self.offered = 0

    def offer(self, pair: Pair) -> Reason | None:
        """Keep a candidate, or say why not. The split is set by the pair's family."""
        self.offered += 1
        reason = self._keep(replace(pair, split=split_of(pair.family)))
        if reason is not None:
            self.rejected[reason] += 1
        return reason

    def repeats(self, draft: Draft) -> bool:
        """Whether a pair of these plans would be left out as the same up to names, or as near another of its task."""
        if _renamed(draft.rule, draft.chosen, draft.rejected) in self._renamed:
            return True
        text = lesson(draft.chosen, draft.rejected)
        return self._near.repeats(_group(draft.split, draft.rule), text, draft.task)

    def pair(self, sketch: Sketch) -> Pair:
        """The pair of a sketch."""
        self._file.seek(sketch.place)
        return pair_of_json(json.loads(self._file.readline()))

    def count(self, split: Split) -> int:
        """How many were kept for one side."""
        return self._cells[(split,)]

    def scarcer(self) -> Split:
        """The side of which too few were kept."""
        return "test" if _THREE * self.count("test") <= self.count("train") else "train"

    def _keep(self, pair: Pair) -> Reason | None:
        chosen, rejected = actions_of(pair.chosen), actions_of(pair.rejected)
        exact = _hash((pair.task, pair.chosen, pair.rejected))
        if exact in self._seen:
            return Reason.DUPLICATE
        reason = unfit(pair)
        if reason is not None:
            return reason
        found = difference(chosen, rejected)
        cells = self._cells_of(pair, found)
        if len(self.sketches) >= MOST_SKETCHES or any([self._cells[cell] >= room for cell, room in cells.items()]):
            return Reason.CROWDED
        renamed = _renamed(pair.rule, chosen, rejected)
        if renamed in self._renamed:
            return Reason.RENAMED
        group, text = _group(pair.split, pair.rule), lesson(chosen, rejected)
        near = self._near.add_whole(group, text, pair.task, task_and_plans(pair), MOST_OF_A_LESSON)
        if near is not None:
            return Reason.NEAR if near == "near" else Reason.OFTEN
        self._needs.keep(pair.rule, pair.safel, pair.split, found)
        self._seen.add(exact)
        self._renamed.add(renamed)
        self._cells.update([*cells, (pair.split,)])
        place = self._file.seek(0, 2)
        self._file.write(json_of(pair).encode() + b"\n")
        shapes = (shape(chosen), shape(rejected))
        names = (pair.rule, pair.categories, pair.safel, pair.task)
        self.sketches.append(Sketch(place, pair.split, *names, pair.goal.rejected, found, shapes))
        return None

    def _cells_of(self, pair: Pair, found: Difference) -> dict[tuple[str, ...], int]:
        """What a pair takes room in: its task, and pairs of its rule that are like it to those who choose."""
        lengths = dict(found).get("number of actions", 0)
        kind = "same" if not found else "longer" if lengths < 0 else "shorter" if lengths else "other"
        goal = "done" if pair.goal.rejected else "undone"
        return {
            ("task", pair.task, pair.rule): MOST_OF_A_TASK,
            ("kind", pair.split, pair.rule, goal, kind): self._room,
        }


def lesson(chosen: Sequence[str], rejected: Sequence[str]) -> str:
    """What a pair teaches, as the text that near duplicates are told by: both plans from where they part."""
    shared = shared_actions(chosen, rejected)
    return "\n".join([*chosen[shared:], "or", *rejected[shared:]])


def task_and_plans(pair: Pair) -> str:
    """What is asked, and both plans: a pair of another task with the same lesson is near only if these are near, too.

    The scene is left out: homes share most of theirs.
    """
    return pair.prompt[pair.prompt.rfind("\nTask: ") + 1 :] + pair.chosen + "or\n" + pair.rejected


def _group(split: Split, rule: str) -> str:
    return f"{split} {rule}"


def _renamed(rule: str, chosen: Sequence[str], rejected: Sequence[str]) -> bytes:
    """The same for pairs of a rule that differ in the names of objects alone."""
    return _hash((rule, shape(chosen, rejected).hex()))


def _hash(texts: Iterable[str]) -> bytes:
    return blake2b("\0".join(texts).encode(), digest_size=16).digest()
