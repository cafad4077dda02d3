"""Select pairs for a data set: without duplicates, balanced by rule, source and words, with families apart."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from heapq import heappop, heappush
from random import Random
from typing import NamedTuple

from plansafe.align.pairs.differences import WordDifference, mirrored, shape, word_difference
from plansafe.align.records import SOURCES, Pair
from plansafe.llm.metrics.rouge import alphanumeric, f_measure, lcs_length

TEST_SHARE = 0.25
MAX_OF_A_RULE = 0.15
"""Share of all pairs; an equal share if there are fewer than seven rules."""
MAX_WITHOUT_GOAL = 0.5
"""Share of pairs whose unsafe plan misses the goal: with more, "unsafe" would be learnt as "unfinished"."""
MAX_OF_A_TASK = 4
"""Pairs of one task against one rule."""
MAX_OF_A_LESSON = 12
"""Pairs against one rule whose plans differ in the same steps, up to the names of objects."""
MAX_LENGTH_RATIO = 2.0
MAX_PROMPT = 6000
NEAR = 0.9
"""Rouge-L F from which two pairs of one task and rule are near duplicates: of both plans from their first difference
(Safe-BeAl, section 3.2, compares tasks)."""


class Reason(Enum):
    """Why a pair is left out."""

    LONG = "the unsafe plan is more than twice as long as the safe one"
    LONG_PROMPT = "a prompt of more than 6,000 characters"
    DUPLICATE = "the same two plans for the same task"
    RENAMED = "the same two plans up to the names of objects, against the same rule"
    NEAR = "near another pair of the task by Rouge-L, against the same rule"
    TASK = "the task has enough pairs against the rule"
    LESSON = "enough pairs against the rule differ in the same steps"
    STRADDLES = "the same two plans up to the names of objects, against the same rule, are in the other split"
    RULE = "the rule would have too large a share"
    MUTANT = "mutants would have too large a share"
    UNBALANCED = "pairs that a bag of words distinguishes would have too large a share"
    WITHOUT_GOAL = "unsafe plans that miss the goal would have too large a share"
    NOT_NEEDED = "there are enough pairs"


class Shares(NamedTuple):
    """The largest shares of all pairs: of mutants, and of pairs without a mirror image (see :func:`select`)."""

    mutants: float = 0.02
    unbalanced: float = 0.5


DEFAULT_SHARES = Shares()


class Selection(NamedTuple):
    """The selected pairs by split, in the order of the candidates. ``balanced``: how many have a mirror image."""

    train: list[Pair]
    test: list[Pair]
    balanced: int
    left_out: Counter[Reason]


class Filter:
    """Accepts pairs that are fit and resemble no accepted pair."""

    def __init__(self) -> None:
        self.accepted: list[Pair] = []
        self.left_out: Counter[Reason] = Counter()
        self._keys: set[tuple[str, ...]] = set()
        self._texts: dict[tuple[str, str], list[list[str]]] = {}
        self._lessons: Counter[tuple[str, ...]] = Counter()

    def offer(self, pair: Pair) -> Reason | None:
        """Accept a pair, or return why it is left out."""
        reason = self._reason(pair)
        if reason is None:
            self.accepted.append(pair)
        else:
            self.left_out[reason] += 1
        return reason

    def _reason(self, pair: Pair) -> Reason | None:
        chosen, rejected = pair.actions.chosen, pair.actions.rejected
        if len(rejected) > MAX_LENGTH_RATIO * len(chosen):
            return Reason.LONG
        if len(pair.prompt) > MAX_PROMPT:
            return Reason.LONG_PROMPT
        exact, renamed = (pair.task, pair.chosen, pair.rejected), _rule_and_shape(pair)
        if exact in self._keys:
            return Reason.DUPLICATE
        if renamed in self._keys:
            return Reason.RENAMED
        near = self._texts.setdefault((pair.task, pair.rule), [])
        text = alphanumeric("\n".join([*chosen[pair.shared :], "or", *rejected[pair.shared :]]))
        if len(near) >= MAX_OF_A_TASK:
            return Reason.TASK
        if any([_rouge(text, accepted) >= NEAR for accepted in near]):
            return Reason.NEAR
        lesson = pair.split, _rule(pair), shape(chosen[pair.shared :], rejected[pair.shared :])
        if self._lessons[lesson] >= MAX_OF_A_LESSON:
            return Reason.LESSON
        self._keys |= {exact, renamed}
        self._lessons[lesson] += 1
        near.append(text)
        return None


def _rule(pair: Pair) -> str:
    """A name of the rule. Rules that a single task states (world ``stated``) have names by form: the task is added."""
    return f"{pair.rule} of {pair.task}" if pair.world == "stated" else pair.rule


def _rule_and_shape(pair: Pair) -> tuple[str, str]:
    return _rule(pair), shape(pair.actions.chosen, pair.actions.rejected)


def _rouge(first: Sequence[str], second: Sequence[str]) -> float:
    common = lcs_length(first, second)
    return f_measure(common / len(first), common / len(second)) if first and second else 0.0


def select(candidates: Iterable[Pair], count: int, seed: int, shares: Shares = DEFAULT_SHARES) -> Selection:
    """Select at most ``count`` pairs, at most a quarter of them for testing.

    Pairs of rare rules and of the model's own plans come first. Balanced pairs are those whose plans have the same bag
    of words, and those with a mirror image: what the safe plan has more of in one, the unsafe plan has more of in the
    other, so that no bag of words distinguishes them.
    """
    candidates = list(candidates)
    left_out: Counter[Reason] = Counter()
    test = _balanced_choice(
        [pair for pair in candidates if pair.split == "test"], round(count * TEST_SHARE), seed, shares, left_out
    )
    tested = {_rule_and_shape(pair) for pair in test.pairs}
    train_candidates = [pair for pair in candidates if pair.split == "train"]
    apart = [pair for pair in train_candidates if _rule_and_shape(pair) not in tested]
    left_out[Reason.STRADDLES] += len(train_candidates) - len(apart)
    train = _balanced_choice(apart, count - len(test.pairs), seed, shares, left_out)
    return Selection(train.pairs, test.pairs, train.balanced + test.balanced, left_out)


class _Choice(NamedTuple):
    pairs: list[Pair]
    balanced: int


class _Unit(NamedTuple):
    """A pair, or a pair with its mirror image: they are selected and removed together."""

    pairs: tuple[Pair, ...]
    is_balanced: bool

    def groups(self) -> Counter[tuple[Reason, str]]:
        """The pairs of the unit in each group whose share is limited."""
        groups = Counter([(Reason.RULE, _rule(pair)) for pair in self.pairs])
        groups[Reason.MUTANT, ""] = sum([pair.source == "mutant" for pair in self.pairs])
        groups[Reason.UNBALANCED, ""] = 0 if self.is_balanced else len(self.pairs)
        groups[Reason.WITHOUT_GOAL, ""] = sum([not pair.goal.rejected for pair in self.pairs])
        return +groups


def _balanced_choice(
    candidates: Sequence[Pair], count: int, seed: int, shares: Shares, left_out: Counter[Reason]
) -> _Choice:
    rules = {_rule(pair) for pair in candidates}
    limits = {
        Reason.RULE: max(MAX_OF_A_RULE, 1 / max(len(rules), 1)),
        Reason.MUTANT: shares.mutants,
        Reason.UNBALANCED: shares.unbalanced,
        Reason.WITHOUT_GOAL: MAX_WITHOUT_GOAL,
    }
    units = mirror_units(candidates, Random(seed))
    chosen, passed_over = _choose_units(units, count, limits)
    while (total := sum([len(unit.pairs) for unit in chosen])) < count:  # the limits are shares of the chosen pairs
        count = total
        chosen, passed_over = _choose_units(units, count, limits)
    for unit, reason in passed_over:
        left_out[reason] += len(unit.pairs)
    places = {id(pair) for unit in chosen for pair in unit.pairs}
    balanced = sum([len(unit.pairs) for unit in chosen if unit.is_balanced])
    return _Choice([pair for pair in candidates if id(pair) in places], balanced)


def mirror_units(pairs: Sequence[Pair], random: Random) -> list[_Unit]:
    """Group pairs with their mirror images. Balanced units come first, then pairs of the model's own plans."""
    units: list[_Unit] = []
    waiting: dict[WordDifference, list[Pair]] = {}
    for pair in random.sample(pairs, len(pairs)):
        difference = word_difference(pair.actions.chosen, pair.actions.rejected)
        if not difference:
            units.append(_Unit((pair,), True))
        elif partners := waiting.get(mirrored(difference)):
            units.append(_Unit((partners.pop(), pair), True))
        else:
            waiting.setdefault(difference, []).append(pair)
    units += [_Unit((pair,), False) for left in waiting.values() for pair in left]
    return sorted(
        units, key=lambda unit: (not unit.is_balanced, max([SOURCES.index(pair.source) for pair in unit.pairs]))
    )


def _choose_units(
    units: Sequence[_Unit], count: int, limits: Mapping[Reason, float]
) -> tuple[list[_Unit], list[tuple[_Unit, Reason]]]:
    """Take units, rare rules first, until there are ``count`` pairs; limits are shares of ``count``."""
    queues: dict[str, list[_Unit]] = {}
    for unit in reversed(units):
        queues.setdefault(_rule(unit.pairs[0]), []).append(unit)
    order = [(0, rule) for rule in sorted(queues)]  # a heap of rules by the number of their pairs
    chosen: list[_Unit] = []
    passed_over: list[tuple[_Unit, Reason]] = []
    total, groups = 0, Counter[tuple[Reason, str]]()
    while order:
        _, rule = heappop(order)
        unit = queues[rule].pop()
        more = unit.groups()
        excess = [key[0] for key, pairs in more.items() if groups[key] + pairs > _most(limits[key[0]], count)]
        if total + len(unit.pairs) > count:
            excess = [Reason.NOT_NEEDED]
        if excess:
            passed_over.append((unit, excess[0]))
        else:
            chosen.append(unit)
            groups.update(more)
            total += len(unit.pairs)
        if queues[rule]:
            heappush(order, (groups[Reason.RULE, rule], rule))
    return chosen, passed_over


def _most(share: float, total: int) -> float:
    """The largest number of pairs in a group; one pair is allowed in a very small set."""
    return max(1.0, share * total) if share else 0.0
