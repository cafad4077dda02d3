"""Numbers that depend on open durations, as the explicit engine sees them.

In one world, an :class:`Affine` behaves as its value. Each comparison adds a linear constraint on the open durations to
a :class:`ConstraintTrail`. The engine computes with it as with any number, so a run with one choice of durations also
finds the other choices for which it would take the same decisions.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

from plansafe.verifier.execution.state import checked_number
from plansafe.verifier.model.nodes import Number, normal_number

LinearTerms: TypeAlias = tuple[tuple[int, Number], ...]
"""Variables with coefficients that are not zero, in order."""
LinearConstraint: TypeAlias = tuple[LinearTerms, Number, str]
"""``sum of the items + constant relation 0`` with a relation ``< <= = != >= >``."""
Topic: TypeAlias = "tuple[str | int, ...]"
NumberOrAffine: TypeAlias = "Number | Affine"


class NotLinear(Exception):
    """Two open quantities were multiplied, or one was divided by: no linear constraint says what follows."""


class ConstraintTrail:
    """The world of the present run, ``values`` of the variables, and what has been decided by them so far.

    ``marks``: by topic, a key for what the engine was about. ``exact``: also whether a fluent has really changed is
    decided.
    """

    def __init__(self, exact: bool = False) -> None:
        self.exact = exact
        self.begin(())

    def begin(self, values: tuple[Number, ...]) -> None:
        """A new run, in another world."""
        self.values = values
        self.marks: dict[Topic, dict[LinearConstraint, None]] = {}
        self.turn(())

    def turn(self, topic: Topic) -> None:
        """What is decided from now on is about this topic."""
        self._present = self.marks.setdefault(topic, {})

    def note(self, mark: LinearConstraint) -> None:
        """Something has been decided."""
        self._present[mark] = None

    def variable(self, number: int) -> Affine:
        """The variable of this number."""
        return Affine(self, 0, ((number, 1),))


class Affine:
    """``constant + items``, in the world of its trail. Sums that are constant are plain numbers, never of this class.

    ``!=`` and hashes are about the form, not the value: the engine asks by ``!=`` whether a fluent has changed, and a
    change to an equal value alters nothing but blame. Everything else notes what it finds.
    """

    __slots__ = ("constant", "items", "trail")

    def __init__(self, trail: ConstraintTrail, constant: Number, items: LinearTerms) -> None:
        self.trail = trail
        self.constant = constant
        self.items = items

    @property
    def value(self) -> Number:
        """The number that it is in the present world."""
        values = self.trail.values
        return normal_number(self.constant + sum([factor * values[variable] for variable, factor in self.items]))

    # -- arithmetic ---------------------------------------------------------------------------------------------------

    def _plus(self, other: NumberOrAffine, factor: int) -> NumberOrAffine:
        if not isinstance(other, Affine):
            return Affine(self.trail, checked_number(normal_number(self.constant + factor * other)), self.items)
        total = dict(self.items)
        for variable, amount in other.items:
            total[variable] = checked_number(normal_number(total.get(variable, 0) + factor * amount))
        constant = checked_number(normal_number(self.constant + factor * other.constant))
        items = tuple(sorted([item for item in total.items() if item[1]]))
        return Affine(self.trail, constant, items) if items else constant

    def _scaled(self, factor: Number) -> NumberOrAffine:
        if not factor:
            return 0
        items = tuple([(variable, checked_number(normal_number(amount * factor))) for variable, amount in self.items])
        return Affine(self.trail, checked_number(normal_number(self.constant * factor)), items)

    def __add__(self, other: NumberOrAffine) -> NumberOrAffine:
        return self._plus(other, 1)

    __radd__ = __add__

    def __sub__(self, other: NumberOrAffine) -> NumberOrAffine:
        return self._plus(other, -1)

    def __rsub__(self, other: NumberOrAffine) -> NumberOrAffine:
        return (-self)._plus(other, 1)

    def __neg__(self) -> Affine:
        negative = self._scaled(-1)
        assert isinstance(negative, Affine)
        return negative

    def __mul__(self, other: NumberOrAffine) -> NumberOrAffine:
        if isinstance(other, Affine):
            raise NotLinear
        return self._scaled(other)

    __rmul__ = __mul__

    def __truediv__(self, other: NumberOrAffine) -> NumberOrAffine:
        if isinstance(other, Affine):
            return other.__rtruediv__(self)
        return self._scaled(Fraction(1) / other)

    def __rtruediv__(self, other: NumberOrAffine) -> NumberOrAffine:
        if self == 0:
            raise ZeroDivisionError
        if not isinstance(other, Affine) and not other:
            return 0
        raise NotLinear

    def __abs__(self) -> Magnitude:
        return Magnitude(self)

    # -- comparisons --------------------------------------------------------------------------------------------------

    def _compared(self, other: NumberOrAffine, relation: str) -> bool:
        difference = self._plus(other, -1)
        if not isinstance(difference, Affine):
            return HOLDS[relation](difference)
        holds = HOLDS[relation](difference.value)
        self.trail.note((difference.items, difference.constant, relation if holds else OPPOSITE[relation]))
        return holds

    def __lt__(self, other: NumberOrAffine) -> bool:
        return self._compared(other, "<")

    def __le__(self, other: NumberOrAffine) -> bool:
        return self._compared(other, "<=")

    def __gt__(self, other: NumberOrAffine) -> bool:
        return self._compared(other, ">")

    def __ge__(self, other: NumberOrAffine) -> bool:
        return self._compared(other, ">=")

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Affine) and other.trail is not self.trail:
            return False  # of another judgement: kept in a table that outlives one
        return self._compared(other, "=") if isinstance(other, int | Fraction | Affine) else NotImplemented

    def __ne__(self, other: object) -> bool:
        if self.trail.exact:
            return not self == other
        return not (isinstance(other, Affine) and (other.items, other.constant) == (self.items, self.constant))

    def __hash__(self) -> int:
        return hash((id(self.trail), self.constant, self.items))

    def __str__(self) -> str:
        return str(self.value)


class Magnitude:
    """The magnitude of a number, to be compared with a bound: two linear constraints, and no case for the sign."""

    def __init__(self, number: Affine) -> None:
        self.number = number

    def __le__(self, bound: Number) -> bool:
        return self.number <= bound and self.number >= -bound


HOLDS: dict[str, Callable[[Number], bool]] = {
    "<": lambda value: value < 0,
    "<=": lambda value: value <= 0,
    "=": lambda value: value == 0,
    "!=": lambda value: value != 0,
    ">=": lambda value: value >= 0,
    ">": lambda value: value > 0,
}
"""Relations to zero."""
OPPOSITE = {"<": ">=", "<=": ">", "=": "!=", "!=": "=", ">=": "<", ">": "<="}
