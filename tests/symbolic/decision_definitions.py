"""Causes and questions by their definitions (docs/worlds.md, section 2), over an enumeration of completions.

An enumeration is a list of (values, good); the values are a mapping from open variables with any names. So the same
functions apply to random circuits and, with completions by the kernel, to whole tasks.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from itertools import combinations

Completion = tuple[Mapping[Hashable, object], bool]


def implies_bad(completions: Sequence[Completion], values: Mapping[Hashable, object]) -> bool:
    """Whether some completion agrees with the values, and all completions that agree are bad."""
    agreeing = [
        good
        for completion, good in completions
        if all([completion[variable] == value for variable, value in values.items()])
    ]
    return bool(agreeing) and not any(agreeing)


def is_cause(completions: Sequence[Completion], values: Mapping[Hashable, object]) -> bool:
    """Whether the values imply that a completion is bad, and no proper subset of them does."""
    if not implies_bad(completions, values):
        return False
    subsets = [s for size in range(len(values)) for s in combinations(values.items(), size)]
    return not any([implies_bad(completions, dict(subset)) for subset in subsets])


def determines_quality(completions: Sequence[Completion], variables: Collection[Hashable]) -> bool:
    """Whether completions that agree on the items are all good or all bad."""
    good_by_values: dict[tuple[object, ...], bool] = {}
    return all(
        [
            good_by_values.setdefault(tuple([completion[variable] for variable in variables]), good) == good
            for completion, good in completions
        ]
    )


def is_question(completions: Sequence[Completion], variables: Collection[Hashable]) -> bool:
    """Whether the items determine which completions are good, and no proper subset of them does."""
    if not determines_quality(completions, variables):
        return False
    subsets = [s for size in range(len(variables)) for s in combinations(variables, size)]
    return not any([determines_quality(completions, subset) for subset in subsets])
