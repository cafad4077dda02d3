"""Lifted knowledge about a state: literals and denials over objects and variables with domains."""

from __future__ import annotations

from typing import NamedTuple

from plansafe.verifier.model.memoized import memoized
from plansafe.verifier.model.nodes import Task

EQUALITY = -1
"""The predicate of equality. Smaller numbers are pseudo-predicates."""


class LiftedLiteral(NamedTuple):
    """An atom, or its negation. A negative argument is a variable."""

    positive: bool
    predicate: int
    arguments: tuple[int, ...]


class Denial(NamedTuple):
    """For no objects in place of ``variables`` (variable -> domain, ``None``: any object) are all literals true.

    It applies only if each term of ``members`` is in its domain.
    """

    variables: dict[int, int | None]
    literals: tuple[LiftedLiteral, ...]
    members: tuple[tuple[int, int | None], ...] = ()


class Knowledge(NamedTuple):
    """Literals and denials that hold for some objects in place of ``variables`` (each with its domain).

    Of each split, at least one alternative holds.
    """

    variables: tuple[tuple[int, int], ...] = ()
    literals: tuple[LiftedLiteral, ...] = ()
    denials: tuple[Denial, ...] = ()
    splits: tuple[tuple[Knowledge, ...], ...] = ()


class MutexGroup(NamedTuple):
    """At most one instance of the parts is true. A part is a predicate, and for each argument its term or ``None``."""

    parts: tuple[tuple[int, tuple[int | None, ...]], ...]


class DomainRelations:
    """Which domains of a task are disjoint or contained in each other."""

    def __init__(self, task: Task) -> None:
        self.sets = task.domain_sets
        self.object_count = len(task.objects)

    @memoized
    def are_disjoint(self, first: int, second: int) -> bool:
        """Whether no object is in both domains."""
        return first != second and self.sets[first].isdisjoint(self.sets[second])

    @memoized
    def is_contained(self, first: int, second: int) -> bool:
        """Whether every object of the first domain is in the second."""
        return first == second or self.sets[first] <= self.sets[second]
