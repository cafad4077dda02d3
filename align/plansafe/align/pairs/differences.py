"""How the two plans of a pair differ: in words, in the order of their steps, by a missing step."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from hashlib import blake2b

_NUMBER = re.compile(r"[_-]?\d+(?:[._]\d+)*$")

WordDifference = tuple[tuple[str, int], ...]
"""Words that the safe plan has more often (positive) or less often than the unsafe plan, sorted."""


class DifferenceKind(StrEnum):
    """What distinguishes the unsafe plan of a pair from the safe one."""

    ORDER = "order"
    """Both plans have the same steps."""
    MISSING_STEP = "missing step"
    """The unsafe plan lacks steps of the safe plan."""
    EXTRA_STEP = "extra step"
    """The unsafe plan has more steps than the safe plan."""
    OTHER_STEPS = "other steps"
    """Each plan has steps that the other lacks."""


def difference_kind(chosen: Sequence[str], rejected: Sequence[str]) -> DifferenceKind:
    """The kind of the difference between a safe and an unsafe plan."""
    safe, unsafe = Counter(chosen), Counter(rejected)
    match bool(safe - unsafe), bool(unsafe - safe):
        case False, False:
            return DifferenceKind.ORDER
        case True, False:
            return DifferenceKind.MISSING_STEP
        case False, True:
            return DifferenceKind.EXTRA_STEP
        case _:
            return DifferenceKind.OTHER_STEPS


def words(plan: Sequence[str]) -> Counter[str]:
    """The bag of words of a plan: verbs such as ``(take`` and kinds of objects, without order and numbers."""
    counts: Counter[str] = Counter()
    for action in plan:
        verb, *objects = action_parts(action) or ("",)
        counts.update([f"({verb}", *[object_kind(name) for name in objects]])
    return counts


def word_difference(chosen: Sequence[str], rejected: Sequence[str]) -> WordDifference:
    """The words in which two plans differ."""
    more = words(chosen)
    more.subtract(words(rejected))
    return tuple(sorted([(word, count) for word, count in more.items() if count]))


def mirrored(difference: WordDifference) -> WordDifference:
    """The difference with the plans exchanged."""
    return tuple([(word, -count) for word, count in difference])


def action_parts(action: str) -> tuple[str, ...]:
    """Name and objects of an action such as ``(go robot hall kitchen)``."""
    return tuple(action[1:-1].split())


def object_kind(name: str) -> str:
    """The kind of an object by its name: ``mug_41`` and ``mug2`` are ``mug``."""
    return _NUMBER.sub("", name) or name


def shape(*plans: Sequence[str]) -> str:
    """A hash that is equal for plans that differ only in the names of objects."""
    numbers: dict[str, int] = {}
    digest = blake2b(digest_size=16)
    for plan in plans:
        for action in plan:
            verb, *objects = action_parts(action) or ("",)
            places = [numbers.setdefault(name, len(numbers)) for name in objects]
            digest.update(f"{verb} {places}\n".encode())
        digest.update(b";")
    return digest.hexdigest()


def edit_distance(first: Sequence[str], second: Sequence[str]) -> int:
    """The least number of actions that are inserted, removed or replaced between two plans (Levenshtein 1966)."""
    row = list(range(len(second) + 1))
    for at, mine in enumerate(first, 1):
        corner, row[0] = row[0], at
        for place, theirs in enumerate(second, 1):
            least = min(row[place] + 1, row[place - 1] + 1, corner + (mine != theirs))
            corner, row[place] = row[place], least
    return row[-1]
