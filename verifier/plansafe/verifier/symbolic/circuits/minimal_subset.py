"""Subset-minimal sets with a property that every superset keeps: deletion in chunks, with cores."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")
TOO_MANY_NECESSARY = "too many elements are necessary"
"""The reason of a search that ends at ``max_necessary``."""


class GaveUp(Exception):
    """Time is up, or the solver cannot decide; the text says which."""


class PropertyHolds(NamedTuple, Generic[T]):
    """The set has the property. Its subset ``core`` also has it."""

    core: Collection[T]


class PropertyFails(NamedTuple, Generic[T]):
    """The set does not have the property. Nor does any set that contains no element of ``differing``.

    Every set that has the property contains all of ``necessary``.
    """

    differing: Collection[T]
    necessary: Collection[T] = ()


class MinimalSubset(NamedTuple, Generic[T]):
    """``elements`` have the property. No proper subset has it, unless ``reason`` says why that is unknown."""

    elements: list[T]
    reason: str = ""


def find_minimal_subset(
    elements: Sequence[T],
    check_property: Callable[[Sequence[T]], PropertyHolds[T] | PropertyFails[T]],
    max_necessary: int | None = None,
) -> MinimalSubset[T] | None:
    """Find a subset-minimal set with the property; ``None`` if ``elements`` do not have it.

    Earlier ``elements`` are kept rather than later ones. Chunks of the last elements are dropped. A chunk doubles after
    each success and halves after each failure, so k necessary elements of n cost about k log(n/k) checks, and fewer
    with good cores.

    If more than ``max_necessary`` elements are necessary, the search ends with reason :data:`TOO_MANY_NECESSARY`.

    :raises GaveUp: from ``check_property``, before a set with the property is known; a later one becomes the ``reason``
    """
    answer = check_property(elements)
    if not isinstance(answer, PropertyHolds):
        return None
    subset = [element for element in elements if element in answer.core]
    necessary: set[T] = set()
    chunk_size = 1
    while True:
        if max_necessary is not None and len(necessary) > max_necessary:
            return MinimalSubset(subset, TOO_MANY_NECESSARY)
        undecided = [element for element in reversed(subset) if element not in necessary]
        if not undecided:
            return MinimalSubset(subset)
        dropped = set(undecided[:chunk_size])
        try:
            answer = check_property([element for element in subset if element not in dropped])
        except GaveUp as reason:
            return MinimalSubset(subset, str(reason))
        if isinstance(answer, PropertyHolds):
            subset = [element for element in subset if element in answer.core]
            chunk_size *= 2
            continue
        necessary.update(answer.necessary)
        differing = dropped.intersection(answer.differing) if len(dropped) > 1 else dropped
        if len(differing) == 1:
            necessary |= differing
        chunk_size = max(1, chunk_size // 2)
