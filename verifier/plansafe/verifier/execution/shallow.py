"""Copies that share everything: a fork starts as one, and takes for itself what it may change."""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")


def shallow(original: T) -> T:
    """A new object of the same class with the same attributes. Cheaper than ``copy.copy``: searches fork monitors."""
    copy = object.__new__(type(original))
    copy.__dict__ = original.__dict__.copy()  # half the time of an update
    return copy
