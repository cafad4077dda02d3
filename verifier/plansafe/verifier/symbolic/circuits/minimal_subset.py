"""Subset-minimal sets of a property that every superset keeps: deletion in chunks, with cores."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")
TOO_MANY_NECESSARY = "too many elements are necessary"


class GaveUp(Exception):
    """Time is up, or the solver cannot decide; the text says which."""


class PropertyHolds(NamedTuple, Generic[T]):
    """The property holds for the set, and for the part of it in ``core``."""

    core: Collection[T]


class PropertyFails(NamedTuple, Generic[T]):
    """The property fails for the set, and for every set without an element of ``differing``.

    All of ``necessary`` are in every set that has the property.
    """

    differing: Collection[T]
    necessary: Collection[T] = ()


class MinimalSubset(NamedTuple, Generic[T]):
    """``elements`` have the property; no proper subset has it unless ``reason`` says why that is not known."""

    elements: list[T]
    reason: str = ""


def find_minimal_subset(
    elements: Sequence[T],
    holds: Callable[[Sequence[T]], PropertyHolds[T] | PropertyFails[T]],
    preferred: Collection[T] = (),
    most: int | None = None,
) -> MinimalSubset[T] | None:
    """A subset-minimal set with the property, or ``None`` if ``elements`` have it not.

    What comes first in ``elements`` is kept rather than what comes later; if the ``preferred`` suffice, no others are
    taken. Chunks of the last elements are dropped, twice as many after each success and half as many after each
    failure, so of n elements k necessary ones cost about k log(n/k) checks and fewer with good cores.

    ``most``: the search ends with the reason :data:`TOO_MANY_NECESSARY` when more elements are known to be necessary.

    :raises GaveUp: from ``holds``, while no set with the property is known; later ones end up in ``reason``
    """
    answer = None
    if preferred:
        answer = holds([element for element in elements if element in preferred])
    if not isinstance(answer, PropertyHolds):
        answer = holds(elements)
        if not isinstance(answer, PropertyHolds):
            return None
    current = [element for element in elements if element in answer.core]
    necessary: set[T] = set()
    chunk = 1
    while True:
        if most is not None and len(necessary) > most:
            return MinimalSubset(current, TOO_MANY_NECESSARY)
        open_ones = [element for element in reversed(current) if element not in necessary]
        if not open_ones:
            return MinimalSubset(current)
        dropped = set(open_ones[:chunk])
        try:
            answer = holds([element for element in current if element not in dropped])
        except GaveUp as why:
            return MinimalSubset(current, str(why))
        if isinstance(answer, PropertyHolds):
            current = [element for element in current if element in answer.core]
            chunk *= 2
            continue
        necessary.update(answer.necessary)
        differing = dropped.intersection(answer.differing) if len(dropped) > 1 else dropped
        if len(differing) == 1:
            necessary |= differing
        chunk = max(1, chunk // 2)
