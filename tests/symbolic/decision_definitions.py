"""Causes and questions by their definitions (docs/worlds.md, section 2), over an enumeration of completions.

An enumeration is a list of (values, good); the values are a mapping from open variables with any names. So the same
functions apply to random circuits and, with completions by the kernel, to whole tasks.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from itertools import combinations

Completion = tuple[Mapping[Hashable, object], bool]


def implies_bad(completions: Sequence[Completion], values: Mapping[Hashable, object]) -> bool:
    """Some completion agrees with the values, and all that do are bad."""
    agreeing = [good for c, good in completions if all([c[item] == value for item, value in values.items()])]
    return bool(agreeing) and not any(agreeing)


def is_cause(completions: Sequence[Completion], values: Mapping[Hashable, object]) -> bool:
    """The definition; every proper subset is looked at."""
    if not implies_bad(completions, values):
        return False
    subsets = [s for size in range(len(values)) for s in combinations(values.items(), size)]
    return not any([implies_bad(completions, dict(subset)) for subset in subsets])


def determines_quality(completions: Sequence[Completion], items: Collection[Hashable]) -> bool:
    """Completions that agree on the items are all good or all bad."""
    good_by_values: dict[tuple[object, ...], bool] = {}
    return all([good_by_values.setdefault(tuple([c[item] for item in items]), good) == good for c, good in completions])


def is_question(completions: Sequence[Completion], items: Collection[Hashable]) -> bool:
    """The definition; every proper subset is looked at."""
    if not determines_quality(completions, items):
        return False
    subsets = [s for size in range(len(items)) for s in combinations(items, size)]
    return not any([determines_quality(completions, subset) for subset in subsets])
