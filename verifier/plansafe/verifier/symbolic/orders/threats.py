"""The modal truth criterion: does a fact have a value at a moment in every linear extension? (Chapman 1987)

For steps that write facts unconditionally the criterion is exact: a fact is true before step s in all orders iff
something necessarily before s makes it true (a step, or S0), and for every step that makes it false and is not
necessarily after s some step that makes it true is necessarily between the two (a white knight). It speaks of the trace
in which every step is taken; up to the first step that fails, that is the plan's trace.
"""

from __future__ import annotations

from typing import NamedTuple

from plansafe.verifier.symbolic.orders.partial import PartialOrder, members

END = 0
"""The moment after all steps; any other moment is that before a step."""


class Writers(NamedTuple):
    """The steps that write one fact. ``makes`` and ``breaks`` do so in every world, ``may_*`` may do so in some.

    ``initial`` is the value in S0, ``None`` where it is open. Where nothing is conditional, ``may_makes`` and
    ``may_breaks`` equal ``makes`` and ``breaks``.
    """

    initial: bool | None
    makes: int
    breaks: int
    may_makes: int
    may_breaks: int

    @property
    def plain(self) -> bool:
        """Whether no write is conditional, and the value in S0 is given: then the criterion is exact."""
        return self.initial is not None and self.makes == self.may_makes and self.breaks == self.may_breaks


def certain(order: PartialOrder, writers: Writers, moment: int, wanted: bool) -> bool:
    """Whether the fact has the value at the moment in every order; exact if the writers are plain.

    Linear in the number of steps that write the opposite, with one operation on masks for each.
    """
    return (
        established(order, writers, moment, wanted)
        and next(members(threats(order, writers, moment, wanted)), None) is None
    )


def established(order: PartialOrder, writers: Writers, moment: int, wanted: bool) -> bool:
    """Whether something necessarily before the moment gives the fact the value."""
    makes = writers.makes if wanted else writers.breaks
    return writers.initial is wanted or bool(makes & _before(order, moment))


def threats(order: PartialOrder, writers: Writers, moment: int, wanted: bool) -> int:
    """The steps that may take the value away, and after which nothing necessarily restores it before the moment."""
    makes, breaks = (writers.makes, writers.may_breaks) if wanted else (writers.breaks, writers.may_makes)
    before = _before(order, moment)
    if moment != END:
        breaks &= ~(order.after[moment] | 1 << moment)
    restoring = makes & before
    if restoring:
        breaks = sum([1 << step for step in members(breaks) if not restoring & order.after[step]])
    return breaks


def failing_order(order: PartialOrder, writers: Writers, moment: int, wanted: bool) -> tuple[int, ...] | None:
    """An order in which the fact has not the value at the moment if every step is taken; ``None`` if there is none.

    The writers are plain.
    """
    threat = next(members(threats(order, writers, moment, wanted)), None)
    everything = order.all
    if threat is not None:
        below = everything & ~(order.after[threat] | 1 << threat)
        if moment == END:
            return order.extension((below, 1 << threat))
        below &= ~(order.after[moment] | 1 << moment)
        between = order.after[threat] & order.before[moment]
        return order.extension((below, 1 << threat, between, 1 << moment))
    if not established(order, writers, moment, wanted):
        return order.extension((_before(order, moment), 1 << moment if moment != END else 0))
    return None


def _before(order: PartialOrder, moment: int) -> int:
    return order.all if moment == END else order.before[moment]
