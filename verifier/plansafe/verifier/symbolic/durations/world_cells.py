"""Cells: sets of worlds that an execution cannot distinguish, as ranges of linear forms."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from plansafe.verifier.model.nodes import Number, normal_number
from plansafe.verifier.symbolic.durations.affine import LinearConstraint, LinearTerms

Box: TypeAlias = "tuple[tuple[Number, Number], ...]"
"""The least and greatest value of each variable."""


class ValueRange(NamedTuple):
    """The values between two bounds (``None``: unbounded), except bounds that are open and ``excluded`` values."""

    low: Number | None = None
    low_open: bool = False
    high: Number | None = None
    high_open: bool = False
    excluded: frozenset[Number] = frozenset()

    def with_lower_bound(self, bound: Number, is_open: bool) -> ValueRange:
        """The values of the range above a bound."""
        if self.low is None or bound > self.low or (bound == self.low and is_open):
            return self._replace(low=bound, low_open=is_open)
        return self

    def with_upper_bound(self, bound: Number, is_open: bool) -> ValueRange:
        """The values of the range below a bound."""
        if self.high is None or bound < self.high or (bound == self.high and is_open):
            return self._replace(high=bound, high_open=is_open)
        return self

    def contains(self, number: Number) -> bool:
        """Whether a number is in the range."""
        if self.low is not None and (number < self.low or (number == self.low and self.low_open)):
            return False
        if self.high is not None and (number > self.high or (number == self.high and self.high_open)):
            return False
        return number not in self.excluded

    def remove_implied_bounds(self, least: Number, greatest: Number) -> ValueRange:
        """The range without the bounds that follow from the least and greatest possible value."""
        interval = self._replace(excluded=frozenset())
        excluded = [number for number in self.excluded if least <= number <= greatest and interval.contains(number)]
        needed = self._replace(excluded=frozenset(excluded))
        if self.low is not None and (self.low < least or (self.low == least and not self.low_open)):
            needed = needed._replace(low=None, low_open=False)
        if self.high is not None and (self.high > greatest or (self.high == greatest and not self.high_open)):
            needed = needed._replace(high=None, high_open=False)
        return needed


MIRRORED_RELATION = {"<": ">", "<=": ">=", "=": "=", "!=": "!=", ">=": "<=", ">": "<"}
"""By relation: the one after a division by a negative number."""
MAX_DECIMALS = 3
"""Maximum number of decimals of a rounded duration."""
Cell: TypeAlias = dict[LinearTerms, ValueRange]
"""Linear forms (the first coefficient is 1) with their ranges. Each world of the cell satisfies all of them."""


def make_cell(constraints: Iterable[LinearConstraint], box: Box) -> Cell:
    """The worlds of the box that satisfy all constraints; bounds that the box implies are left out."""
    ranges: Cell = {}
    for terms, constant, relation in constraints:
        scale = terms[0][1]
        form = tuple([(variable, normal_number(Fraction(factor) / scale)) for variable, factor in terms])
        bound = normal_number(Fraction(-constant) / scale)
        if scale < 0:
            relation = MIRRORED_RELATION[relation]
        form_range = ranges.get(form, ValueRange())
        match relation:
            case "<" | "<=":
                form_range = form_range.with_upper_bound(bound, relation == "<")
            case ">" | ">=":
                form_range = form_range.with_lower_bound(bound, relation == ">")
            case "=":
                form_range = form_range.with_upper_bound(bound, False).with_lower_bound(bound, False)
            case _:  # !=
                form_range = form_range._replace(excluded=form_range.excluded | {bound})
        ranges[form] = form_range
    needed = {form: form_range.remove_implied_bounds(*compute_bounds(form, box)) for form, form_range in ranges.items()}
    return {form: form_range for form, form_range in needed.items() if form_range != ValueRange()}


def compute_bounds(form: LinearTerms, box: Box) -> tuple[Number, Number]:
    """The least and the greatest value of a linear form in the box."""
    least = greatest = Fraction(0)
    for variable, factor in form:
        low, high = box[variable]
        least += factor * (low if factor > 0 else high)
        greatest += factor * (high if factor > 0 else low)
    return least, greatest


def contains_world(cell: Cell, values: tuple[Number, ...]) -> bool:
    """Whether a world is in a cell."""
    return all(
        [
            form_range.contains(sum([factor * values[variable] for variable, factor in form]))
            for form, form_range in cell.items()
        ]
    )


def choose_simplest_world(
    cell: Cell, box: Box, values: tuple[Number, ...], preferred: tuple[Number, ...]
) -> tuple[Number, ...]:
    """A world of the cell that is easier to read than ``values``: ``preferred`` durations, or few decimals.

    One variable is changed at a time; the others keep their values.
    """
    simplest_values = list(values)
    scales = [10**decimals for decimals in range(MAX_DECIMALS + 1)]
    for variable, (low, high) in enumerate(box):
        rounded_durations = [
            normal_number(Fraction(round(simplest_values[variable] * scale), scale)) for scale in scales
        ]
        for duration in (preferred[variable], *rounded_durations):
            candidate = (*simplest_values[:variable], duration, *simplest_values[variable + 1 :])
            if low <= duration <= high and contains_world(cell, candidate):
                simplest_values[variable] = duration
                break
    return tuple(simplest_values)
