"""Cells: sets of worlds that a run cannot tell apart, as ranges of linear forms."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from plansafe.verifier.model.nodes import Number, normal_number
from plansafe.verifier.symbolic.durations.affine import LinearConstraint, LinearTerms

Box: TypeAlias = "tuple[tuple[Number, Number], ...]"
"""The least and greatest value of each variable."""


class ValueRange(NamedTuple):
    """The values between two bounds (``None``: there is none), without the bounds that are open and some others."""

    low: Number | None = None
    low_open: bool = False
    high: Number | None = None
    high_open: bool = False
    without: frozenset[Number] = frozenset()

    def above(self, bound: Number, is_open: bool) -> ValueRange:
        """What is left above a bound."""
        if self.low is None or bound > self.low or (bound == self.low and is_open):
            return self._replace(low=bound, low_open=is_open)
        return self

    def below(self, bound: Number, is_open: bool) -> ValueRange:
        """What is left below a bound."""
        if self.high is None or bound < self.high or (bound == self.high and is_open):
            return self._replace(high=bound, high_open=is_open)
        return self

    def holds(self, value: Number) -> bool:
        """Whether a value is in the range."""
        if self.low is not None and (value < self.low or (value == self.low and self.low_open)):
            return False
        if self.high is not None and (value > self.high or (value == self.high and self.high_open)):
            return False
        return value not in self.without


Cell: TypeAlias = dict[LinearTerms, ValueRange]
"""What a run has found out: forms (the first coefficient is 1) with the ranges they lie in; all of them at once."""


def cell_of(marks: Iterable[LinearConstraint], box: Box) -> Cell:
    """The worlds of the box where all marks are so; bounds that the box implies are left out."""
    out: Cell = {}
    for items, constant, relation in marks:
        scale = items[0][1]
        form = tuple([(variable, normal_number(Fraction(factor) / scale)) for variable, factor in items])
        bound = normal_number(Fraction(-constant) / scale)
        if scale < 0:
            relation = relation.translate({ord("<"): ">", ord(">"): "<"})
        known = out.get(form, ValueRange())
        match relation:
            case "<" | "<=":
                known = known.below(bound, relation == "<")
            case ">" | ">=":
                known = known.above(bound, relation == ">")
            case "=":
                known = known.below(bound, False).above(bound, False)
            case _:
                known = known._replace(without=known.without | {bound})
        out[form] = known
    needed = {form: _needed(known, *value_bounds(form, box)) for form, known in out.items()}
    return {form: known for form, known in needed.items() if known != ValueRange()}


def _needed(known: ValueRange, least: Number, greatest: Number) -> ValueRange:
    """A range without what follows from the least and greatest value there are."""
    without = frozenset([v for v in known.without if least <= v <= greatest and known._replace(without=_NONE).holds(v)])
    known = known._replace(without=without)
    if known.low is not None and (known.low < least or (known.low == least and not known.low_open)):
        known = known._replace(low=None, low_open=False)
    if known.high is not None and (known.high > greatest or (known.high == greatest and not known.high_open)):
        known = known._replace(high=None, high_open=False)
    return known


_NONE: frozenset[Number] = frozenset()


def value_bounds(form: LinearTerms, box: Box) -> tuple[Number, Number]:
    """The least and the greatest value of a form."""
    least = greatest = Fraction(0)
    for variable, factor in form:
        low, high = box[variable]
        least += factor * (low if factor > 0 else high)
        greatest += factor * (high if factor > 0 else low)
    return least, greatest


def contains_world(cell: Cell, values: tuple[Number, ...]) -> bool:
    """Whether a world lies in a cell."""
    return all([known.holds(sum([f * values[v] for v, f in form])) for form, known in cell.items()])


def simplest_world(cell: Cell, box: Box, values: tuple[Number, ...], wanted: tuple[Number, ...]) -> tuple[Number, ...]:
    """A world of the cell that reads better than ``values``: durations as wanted, or with few decimals.

    One variable is changed at a time, the others staying as they are.
    """
    found = list(values)
    for number, (low, high) in enumerate(box):
        for value in (wanted[number], *[_rounded(found[number], digits) for digits in range(4)]):
            if low <= value <= high and contains_world(cell, (*found[:number], value, *found[number + 1 :])):
                found[number] = value
                break
    return tuple(found)


def _rounded(value: Number, digits: int) -> Number:
    return normal_number(Fraction(round(value * 10**digits), 10**digits))
