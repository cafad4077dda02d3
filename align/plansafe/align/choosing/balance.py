"""Choosing from the pool: balanced by rule and category, half with the goal reached, and not to be told by lengths.

Each rule gets as many pairs as the others, as far as it has them (the level of water in vessels of unequal height),
none more than 15 %. Of a rule's candidates the next is the one that keeps sums near 0: those of what safe plans have
more of than unsafe ones (``lengths.py``), in which a logistic regression has nothing to go by where all are 0. A share
``free`` is taken as it comes: leaving a step out is a mistake worth learning although the length tells it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from random import Random
from types import MappingProxyType
from typing import NamedTuple

from plansafe.align.choosing.lengths import Linear, Lookup, Told, told
from plansafe.align.choosing.pool import LARGEST_SHARE, Sketch

_THREE = 3
TEST_SHARE = 1 / (_THREE + 1)
"""Of all pairs (3:1)."""
LARGEST_OF_TEST = 0.25
"""Of the pairs for testing, for one rule; of all pairs it is then no more than 6 %."""
MOST_TOLD = 0.63
"""What a classifier by lengths may be right in, of held-out pairs; 0.65 is promised."""
GOAL_SHARE = 0.55
"""Of unsafe plans that reach the goal, aimed at; half is promised."""
_FREE = (0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0)
_FILTERINGS = 12
"""How often the surest pairs are left out."""
_WINDOW = 40
"""Candidates of a rule that are looked at for one place."""
_SAME_TASK = 0.2
_NO_GOAL = 4.0


class Chosen(NamedTuple):
    """What was chosen, and how the classifiers fare with it.

    ``straddling`` were left out for the sake of the split, ``telling`` because their lengths tell too much.
    """

    train: list[Sketch]
    test: list[Sketch]
    free: float
    linear: Told
    lookup: Told
    straddling: int
    telling: int = 0

    @property
    def most_told(self) -> float:
        """The share of the better classifier."""
        return max(self.linear.share, self.lookup.share)


def choose(sketches: Sequence[Sketch], wanted: int, seed: int) -> Chosen:
    """Choose so many pairs, three quarters for training; fewer where rules or the pool do not give as many.

    As much as possible is left to chance such that a classifier by lengths, trained on the one side, is right in at
    most ``MOST_TOLD`` of the other. Where that is not enough, the pairs that it is surest of are left out, again and
    again (adversarial filtering, as Le Bras et al. 2020): fewer pairs, but none that are learnt by counting.
    """
    found = None
    for free in _FREE:
        found = _chosen(sketches, wanted, seed, free)
        if found.most_told <= MOST_TOLD:
            return found
    assert found is not None
    left = list(sketches)
    for _ in range(_FILTERINGS):
        gone = _surest(found)
        left = [sketch for sketch in left if sketch.place not in gone]
        fewer = _chosen(left, wanted, seed, 0.0)
        if not gone or not fewer.train or not fewer.test:
            break
        found = fewer._replace(telling=len(sketches) - len(left))
        if found.most_told <= MOST_TOLD:
            break
    return found


def _surest(chosen: Chosen) -> frozenset[int]:
    """The places of the pairs of which the better classifier, trained on all that was chosen, is surest: a tenth."""
    both = [*chosen.train, *chosen.test]
    better = Lookup if chosen.lookup.share > chosen.linear.share else Linear
    classifier = better([sketch.difference for sketch in both])
    sure = [(classifier.favours(sketch.difference), sketch.place) for sketch in both]
    right = sorted([(-score, place) for score, place in sure if score > 0])
    return frozenset([place for _, place in right[: max(1, len(both) // 10)]])


def _chosen(sketches: Sequence[Sketch], wanted: int, seed: int, free: float) -> Chosen:
    for_test = round(wanted * TEST_SHARE)
    test = pick([s for s in sketches if s.split == "test"], for_test, free, Random(f"{seed}/test"), LARGEST_OF_TEST)
    shapes = {one for sketch in test for one in sketch.shapes}
    mine = [s for s in sketches if s.split == "train"]
    left = [s for s in mine if shapes.isdisjoint(s.shapes)]
    most = min(wanted - for_test, _THREE * len(test)) if test else wanted - for_test
    train = pick(left, most, free, Random(f"{seed}/train"), LARGEST_SHARE, Counter([s.rule for s in test]))
    if len(train) < _THREE * len(test):
        test = pick(test, len(train) // _THREE, free, Random(f"{seed}/less"), LARGEST_OF_TEST)
    differences = [s.difference for s in train]
    held_out = [s.difference for s in test]
    classifiers = (Linear(differences), Lookup(differences)) if differences else (Lookup(()), Lookup(()))
    linear, lookup = [told(one, held_out) for one in classifiers]
    return Chosen(train, test, free, linear, lookup, len(mine) - len(left))


def pick(
    sketches: Sequence[Sketch],
    wanted: int,
    free: float,
    random: Random,
    share: float = LARGEST_SHARE,
    beside: Mapping[str, int] = MappingProxyType({}),
) -> list[Sketch]:
    """Choose at most so many of one side. ``share`` and ``beside`` are those of :func:`quotas`."""
    waiting: dict[str, list[Sketch]] = {}
    for sketch in sketches:
        waiting.setdefault(sketch.rule, []).append(sketch)
    for found in waiting.values():
        random.shuffle(found)
    places = quotas({rule: len(found) for rule, found in waiting.items()}, wanted, share, beside)
    picker = _Picker(sketches, free, random)
    while places:
        for rule in sorted(places, key=lambda name: (-places[name], name)):
            picker.take(waiting[rule])
            places[rule] -= 1
        places = {rule: left for rule, left in places.items() if left}
    return _with_goals(picker.taken)


def quotas(
    available: Mapping[str, int],
    wanted: int,
    share: float = LARGEST_SHARE,
    beside: Mapping[str, int] = MappingProxyType({}),
) -> dict[str, int]:
    """How many of each rule: equal numbers as far as there are as many, none with more than a share of all.

    ``beside``: what is chosen already of each rule, which counts for the share. The sum is at most ``wanted``, and less
    where the rules do not give as many. Where there are few rules, an equal share is the largest.
    """
    if not available:
        return {}
    others, share = sum(beside.values()), max(share, 1 / len(available))

    def capped(total: int) -> dict[str, int]:
        most = max(1, int(share * (total + others)))  # of a handful one pair is more than the share
        return {rule: max(0, min(count, most - beside.get(rule, 0))) for rule, count in available.items()}

    total = min(wanted, sum(available.values()))
    while total and sum(capped(total).values()) < total:
        total -= 1
    caps = capped(total)
    low, high = 0, total
    while low < high:
        level = (low + high + 1) // 2
        if sum([min(count, level) for count in caps.values()]) <= total:
            low = level
        else:
            high = level - 1
    found = {rule: min(count, low) for rule, count in caps.items()}
    for rule in sorted(caps):
        if sum(found.values()) < total and found[rule] < caps[rule]:
            found[rule] += 1
    return {rule: count for rule, count in found.items() if count}


class _Picker:
    def __init__(self, sketches: Collection[Sketch], free: float, random: Random) -> None:
        self.taken: list[Sketch] = []
        self._free, self._random = free, random
        self._sums: Counter[str] = Counter()
        self._tasks: Counter[str] = Counter()
        self._goals = 0
        squares: Counter[str] = Counter()
        for sketch in sketches:
            squares.update({name: count * count for name, count in sketch.difference})
        self._scale = {name: len(sketches) / square for name, square in squares.items()}

    def take(self, waiting: list[Sketch]) -> None:
        cost: Callable[[Sketch], float] = self._spread if self._random.random() < self._free else self._cost
        window = waiting[-_WINDOW:]
        best = min(range(len(window)), key=lambda at: cost(window[at]))
        at = len(waiting) - len(window) + best
        waiting[at], waiting[-1] = waiting[-1], waiting[at]
        sketch = waiting.pop()
        self.taken.append(sketch)
        self._sums.update(dict(sketch.difference))
        self._tasks[sketch.task] += 1
        self._goals += sketch.goal

    def _spread(self, sketch: Sketch) -> float:
        behind = not sketch.goal and self._goals < GOAL_SHARE * len(self.taken)
        return _SAME_TASK * self._tasks[sketch.task] + (_NO_GOAL if behind else 0.0)

    def _cost(self, sketch: Sketch) -> float:
        sums, scale = self._sums, self._scale
        telling = sum([count * (count + 2 * sums[name]) * scale[name] for name, count in sketch.difference])
        return telling + self._spread(sketch)


def _with_goals(taken: list[Sketch]) -> list[Sketch]:
    """At least half reach the goal in their unsafe plan: of the others, the last of the most frequent rules go."""
    reached = sum([sketch.goal for sketch in taken])
    surplus = len(taken) - 2 * reached
    if surplus <= 0:
        return taken
    rules = Counter([sketch.rule for sketch in taken])
    others = [at for at, sketch in enumerate(taken) if not sketch.goal]
    gone = set(sorted(others, key=lambda at: (-rules[taken[at].rule], -at))[:surplus])
    return [sketch for at, sketch in enumerate(taken) if at not in gone]
