"""Shares of counts, and precision, recall and F1: with nothing to count the value is n/a (``None``), never 0 or 1."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

NOT_APPLICABLE = "n/a"


@dataclass(frozen=True, slots=True)
class Share:
    """``hits`` of ``of``. Raises ``ValueError`` unless 0 <= hits <= of."""

    hits: int
    of: int

    def __post_init__(self) -> None:
        if not 0 <= self.hits <= self.of:
            raise ValueError(f"{self.hits} of {self.of} is not a share")

    @property
    def value(self) -> float | None:
        """Hits / of; ``None`` for 0/0."""
        return ratio(self.hits, self.of)

    @property
    def complement(self) -> Share:
        """The others of the same."""
        return Share(self.of - self.hits, self.of)

    def __add__(self, other: Share) -> Share:
        return Share(self.hits + other.hits, self.of + other.of)

    def __str__(self) -> str:
        return f"{percent(self.value)} ({self.hits}/{self.of})"


@dataclass(frozen=True, slots=True)
class Retrieval:
    """How many of the ``predicted`` and of the ``reference`` items were ``matched``, one to one.

    Raises ``ValueError`` if more are matched than there are.
    """

    matched: int
    predicted: int
    reference: int

    def __post_init__(self) -> None:
        if not 0 <= self.matched <= min(self.predicted, self.reference):
            raise ValueError(f"{self.matched} cannot match in {self.predicted} and {self.reference}")

    @property
    def recall(self) -> float | None:
        """Matched / reference."""
        return ratio(self.matched, self.reference)

    @property
    def precision(self) -> float | None:
        """Matched / predicted."""
        return ratio(self.matched, self.predicted)

    @property
    def f1(self) -> float | None:
        """2 matched / (predicted + reference), the harmonic mean of precision and recall where both are defined."""
        return ratio(2 * self.matched, self.predicted + self.reference)

    def __add__(self, other: Retrieval) -> Retrieval:
        """Pooled counts (micro average)."""
        return Retrieval(
            self.matched + other.matched, self.predicted + other.predicted, self.reference + other.reference
        )


def ratio(part: float, total: float) -> float | None:
    """Part / whole; ``None`` where the whole is 0."""
    return part / total if total else None


def share(values: Iterable[bool | None]) -> Share:
    """How many are true; ``None`` (not applicable) is left out."""
    applicable = [value for value in values if value is not None]
    return Share(sum(applicable), len(applicable))


def mean(values: Iterable[float | None]) -> float | None:
    """The mean of those that apply (macro average); ``None`` if none does."""
    applicable = [value for value in values if value is not None]
    return sum(applicable) / len(applicable) if applicable else None


def pooled(counts: Iterable[Retrieval]) -> Retrieval:
    """The sum of counts (micro average)."""
    return sum(counts, Retrieval(0, 0, 0))


def percent(value: float | None) -> str:
    """For tables: ``41.7 %``, or ``n/a``."""
    return NOT_APPLICABLE if value is None else f"{100 * value:.1f} %"
