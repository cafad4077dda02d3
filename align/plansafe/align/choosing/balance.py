"""Choosing from the pool: balanced by rule and category, half with the goal reached, and not to be told by lengths.

Pairs of which both plans have the same lengths and counts tell nothing, and a pair with its mirror image tells nothing
either (``mirrors.py``): these are chosen. Those whose rule has the fewest pairs so far come first (the level of water
in vessels of unequal height), none more than 15 %. A share ``free`` may have no mirror image: leaving a step out is a
mistake worth learning although the length tells it. How much, those say who judge by lengths (``lengths.py``,
``trees.py``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random
from types import MappingProxyType
from typing import NamedTuple

from plansafe.align.choosing.lengths import Classifier, Linear, Lookup, Told, told
from plansafe.align.choosing.mirrors import Unit, units
from plansafe.align.choosing.pool import LARGEST_SHARE, Sketch
from plansafe.align.choosing.trees import Trees

_THREE = 3
TEST_SHARE = 1 / (_THREE + 1)
"""Of all pairs (3:1)."""
LARGEST_OF_TEST = 0.25
"""Of the pairs for testing, for one rule; of all pairs it is then no more than 6 %."""
LARGEST_CATEGORY = 0.35
"""Of all pairs, for one category of SafePlan-Bench; twice an equal share where there are few."""
MOST_TOLD = 0.6
"""What a classifier by lengths may be right in, of held-out pairs; 0.65 is promised, and others judge otherwise."""
ENOUGH_OF_A_TYPE = 110
"""Pairs of a type of SAFEL, up to which those of the rarest type come first."""
_FREE = (1.0, 0.6, 0.3, 0.2, 0.1, 0.05, 0.0)
_FILTERINGS = 12
"""How often the surest pairs are left out."""


class Chosen(NamedTuple):
    """What was chosen, and how the classifiers fare with it.

    ``straddling`` were left out for the sake of the split, ``telling`` because their lengths tell too much. ``free``:
    the share that may have no mirror image.
    """

    train: list[Sketch]
    test: list[Sketch]
    free: float
    linear: Told
    lookup: Told
    trees: Told
    straddling: int
    telling: int = 0

    @property
    def pairs(self) -> int:
        """How many pairs."""
        return len(self.train) + len(self.test)

    @property
    def most_told(self) -> float:
        """The share of the best classifier."""
        return max(self.linear.share, self.lookup.share, self.trees.share)


def choose(sketches: Sequence[Sketch], wanted: int, seed: int) -> Chosen:
    """Choose so many pairs, three quarters for training; fewer where rules or the pool do not give as many.

    As many as possible without a mirror image, such that a classifier by lengths, trained on the one side, is right in
    at most ``MOST_TOLD`` of the other. Where few have one, as in small pools, the pairs that it is surest of are left
    out, again and again (adversarial filtering, as Le Bras et al. 2020): fewer pairs, but none learnt by counting.
    """
    whole = found = _chosen(sketches, wanted, seed, _FREE[0])
    for free in _FREE[1:]:
        if found.most_told <= MOST_TOLD:
            break
        found = _chosen(sketches, wanted, seed, free)
    if found.most_told <= MOST_TOLD and 2 * found.pairs >= whole.pairs:
        return found
    filtered = _filtered(sketches, whole, wanted, seed)
    return filtered if found.most_told > MOST_TOLD or filtered.pairs > found.pairs else found


def _filtered(sketches: Sequence[Sketch], whole: Chosen, wanted: int, seed: int) -> Chosen:
    """Without the pairs that the classifiers are surest of, as few as will do; what is left at least on both sides."""
    found, left = whole, list(sketches)
    for _ in range(_FILTERINGS):
        gone = _surest(found)
        left = [sketch for sketch in left if sketch.place not in gone]
        fewer = _chosen(left, wanted, seed, _FREE[0])
        if not gone or not fewer.train or not fewer.test:
            break
        found = fewer._replace(telling=len(sketches) - len(left))
        if found.most_told <= MOST_TOLD:
            break
    return found


def _surest(chosen: Chosen) -> frozenset[int]:
    """The places of the pairs of which the best classifier, trained on all that was chosen, is surest: a tenth."""
    both = [*chosen.train, *chosen.test]
    differences = [sketch.difference for sketch in both]
    most = chosen.most_told
    classifier: Classifier = Linear(differences)
    if chosen.linear.share < most:
        classifier = Trees(differences) if chosen.trees.share == most else Lookup(differences)
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
    classifiers: list[Classifier] = [Lookup(differences), Trees(differences)]
    classifiers.insert(0, Linear(differences) if differences else Lookup(()))
    linear, lookup, trees = [told(one, held_out) for one in classifiers]
    return Chosen(train, test, free, linear, lookup, trees, len(mine) - len(left))


def pick(
    sketches: Sequence[Sketch],
    wanted: int,
    free: float,
    random: Random,
    share: float = LARGEST_SHARE,
    beside: Mapping[str, int] = MappingProxyType({}),
) -> list[Sketch]:
    """Choose at most so many of one side. ``share`` and ``beside`` are those of :func:`quotas`."""
    available = Counter([sketch.rule for sketch in sketches])
    total = sum(quotas(available, wanted, share, beside).values())
    most = max(1, int(max(share, 1 / max(len(available), 1)) * (total + sum(beside.values()))))
    categories = {one for sketch in sketches for one in sketch.categories}
    of_a_category = max(LARGEST_CATEGORY, 2 / len(categories)) if len(categories) > 1 else 1.0
    room = {rule: most - beside.get(rule, 0) for rule in available}
    picker = _Picker(room, max(2, int(of_a_category * total)))
    even, alone = units(sketches, random)
    picker.fill(even, total)
    picker.fill(alone, min(total, len(picker.taken) + int(free * total)))
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
    """Takes pairs, those of rare types and rules first. ``room``: for each rule; ``most``: of a category."""

    def __init__(self, room: dict[str, int], most: int) -> None:
        self.taken: list[Sketch] = []
        self._room = room
        self._most = most
        self._rules: Counter[str] = Counter()
        self._types: Counter[str] = Counter()
        self._categories: Counter[str] = Counter()

    def fill(self, found: Sequence[Unit], total: int) -> None:
        """Take units until so many pairs are taken, or none is left that fits."""
        waiting: dict[str, list[int]] = {}
        for number in reversed(range(len(found))):
            for rule in {sketch.rule for sketch in found[number]}:
                waiting.setdefault(rule, []).append(number)
        types = {sketch.rule: sketch.safel for unit in found for sketch in unit}
        done: set[int] = set()
        while waiting and len(self.taken) < total:
            rule = min(waiting, key=lambda name: (self._has(types[name]), self._rules[name], name))
            number = waiting[rule].pop()
            if not waiting[rule]:
                del waiting[rule]
            if number not in done and len(self.taken) + len(found[number]) <= total and self._fits(found[number]):
                done.add(number)
                self._take(found[number])

    def _has(self, types: Sequence[str]) -> int:
        """Pairs of the rarest of these types, as long as they are few."""
        return min([ENOUGH_OF_A_TYPE, *[self._types[one] for one in types]])

    def _fits(self, unit: Unit) -> bool:
        rules = Counter([sketch.rule for sketch in unit])
        categories = Counter([one for sketch in unit for one in sketch.categories])
        return all([self._rules[rule] + more <= self._room[rule] for rule, more in rules.items()]) and all(
            [self._categories[one] + more <= self._most for one, more in categories.items()]
        )

    def _take(self, unit: Unit) -> None:
        for sketch in unit:
            self.taken.append(sketch)
            self._rules[sketch.rule] += 1
            self._types.update(sketch.safel)
            self._categories.update(sketch.categories)


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
