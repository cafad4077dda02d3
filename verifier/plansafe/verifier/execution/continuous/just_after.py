"""The time of an open interval: just after the moment at which it begins."""

from __future__ import annotations

from functools import total_ordering
from typing import cast

from plansafe.verifier.model.nodes import Number


@total_ordering
class JustAfter:
    """A time greater than ``moment``, and less than every number greater than ``moment``.

    It takes the place of a number in the monitors: times are compared, and bounds are added to them.
    """

    __slots__ = ("moment",)

    def __init__(self, moment: Number) -> None:
        self.moment = moment

    def __add__(self, bound: Number) -> JustAfter:
        return JustAfter(self.moment + bound)

    def __lt__(self, other: object) -> bool:
        return self.moment < (other.moment if isinstance(other, JustAfter) else cast(Number, other))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, JustAfter) and self.moment == other.moment

    def __hash__(self) -> int:
        return hash((JustAfter, self.moment))
