"""Numbers that depend on open durations, as the explicit engine sees them.

In one world, an :class:`Affine` behaves as its value. Each comparison adds a linear constraint on the open durations to
a :class:`ConstraintTrail`. The engine computes with it as with any number, so a run with one choice of durations also
finds the other choices for which it would take the same decisions.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

from plansafe.verifier.execution.state import check_number
from plansafe.verifier.model.nodes import Number, normal_number

LinearTerms: TypeAlias = tuple[tuple[int, Number], ...]
"""Variables with coefficients that are not zero, in order."""
LinearConstraint: TypeAlias = tuple[LinearTerms, Number, str]
"""``sum of the terms + constant relation 0`` with a relation ``< <= = != >= >``."""
Topic: TypeAlias = "tuple[str | int, ...]"
"""What the engine is doing, and the number of the event, step, rule part or happening, as in ``("check", 3)``."""
NumberOrAffine: TypeAlias = "Number | Affine"


class NotLinear(Exception):
    """Two open quantities were multiplied, or an open quantity is a divisor."""


class ConstraintTrail:
    """The ``values`` of the variables in the world of a run, and the constraints that decided the run.

    ``constraints``: by topic, each constraint once. ``exact``: also constrain whether a fluent changed.
    """

    def __init__(self, exact: bool = False) -> None:
        self.exact = exact
        self.start_run(())

    def start_run(self, values: tuple[Number, ...]) -> None:
        """Forget the last run, and take the values of another world."""
        self.values = values
        self.constraints: dict[Topic, dict[LinearConstraint, None]] = {}
        self.set_topic(())

    def set_topic(self, topic: Topic) -> None:
        """Assign all constraints from now on to this topic."""
        self._topic_constraints = self.constraints.setdefault(topic, {})

    def add(self, constraint: LinearConstraint) -> None:
        """Add a constraint that decided a comparison."""
        self._topic_constraints[constraint] = None

    def make_variable(self, index: int) -> Affine:
        """The affine number that is the variable with this index in ``values``."""
        return Affine(self, 0, ((index, 1),))


class Affine:
    """``constant + terms``, in the world of its trail. Constant sums are plain numbers, never of this class.

    ``!=`` and hashes compare the form, not the value: the engine finds changed fluents by ``!=``, and a change to an
    equal value alters only blame. All other comparisons add a constraint to the trail.
    """

    __slots__ = ("constant", "terms", "trail")

    def __init__(self, trail: ConstraintTrail, constant: Number, terms: LinearTerms) -> None:
        self.trail = trail
        self.constant = constant
        self.terms = terms

    @property
    def value(self) -> Number:
        """Its value in the world of the run."""
        values = self.trail.values
        return normal_number(self.constant + sum([factor * values[variable] for variable, factor in self.terms]))

    # -- arithmetic ---------------------------------------------------------------------------------------------------

    def _add_multiple(self, operand: NumberOrAffine, factor: int) -> NumberOrAffine:
        if not isinstance(operand, Affine):
            return Affine(self.trail, check_number(normal_number(self.constant + factor * operand)), self.terms)
        coefficients = dict(self.terms)
        for variable, coefficient in operand.terms:
            coefficients[variable] = check_number(normal_number(coefficients.get(variable, 0) + factor * coefficient))
        constant = check_number(normal_number(self.constant + factor * operand.constant))
        terms = tuple(sorted([term for term in coefficients.items() if term[1]]))
        return Affine(self.trail, constant, terms) if terms else constant

    def _multiply(self, factor: Number) -> NumberOrAffine:
        if not factor:
            return 0
        terms = tuple(
            [(variable, check_number(normal_number(coefficient * factor))) for variable, coefficient in self.terms]
        )
        return Affine(self.trail, check_number(normal_number(self.constant * factor)), terms)

    def __add__(self, other: NumberOrAffine) -> NumberOrAffine:
        return self._add_multiple(other, 1)

    __radd__ = __add__

    def __sub__(self, other: NumberOrAffine) -> NumberOrAffine:
        return self._add_multiple(other, -1)

    def __rsub__(self, other: NumberOrAffine) -> NumberOrAffine:
        return (-self)._add_multiple(other, 1)

    def __neg__(self) -> Affine:
        negative = self._multiply(-1)
        assert isinstance(negative, Affine)
        return negative

    def __mul__(self, other: NumberOrAffine) -> NumberOrAffine:
        if isinstance(other, Affine):
            raise NotLinear
        return self._multiply(other)

    __rmul__ = __mul__

    def __truediv__(self, other: NumberOrAffine) -> NumberOrAffine:
        if isinstance(other, Affine):
            return other.__rtruediv__(self)
        return self._multiply(Fraction(1) / other)

    def __rtruediv__(self, other: NumberOrAffine) -> NumberOrAffine:
        if self == 0:
            raise ZeroDivisionError
        if not isinstance(other, Affine) and not other:
            return 0
        raise NotLinear

    def __abs__(self) -> Magnitude:
        return Magnitude(self)

    # -- comparisons --------------------------------------------------------------------------------------------------

    def _compare(self, operand: NumberOrAffine, relation: str) -> bool:
        difference = self._add_multiple(operand, -1)
        if not isinstance(difference, Affine):
            return HOLDS[relation](difference)
        holds = HOLDS[relation](difference.value)
        self.trail.add((difference.terms, difference.constant, relation if holds else OPPOSITE[relation]))
        return holds

    def __lt__(self, other: NumberOrAffine) -> bool:
        return self._compare(other, "<")

    def __le__(self, other: NumberOrAffine) -> bool:
        return self._compare(other, "<=")

    def __gt__(self, other: NumberOrAffine) -> bool:
        return self._compare(other, ">")

    def __ge__(self, other: NumberOrAffine) -> bool:
        return self._compare(other, ">=")

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Affine) and other.trail is not self.trail:
            return False  # from the audit of another plan, in a table that outlives one audit
        return self._compare(other, "=") if isinstance(other, int | Fraction | Affine) else NotImplemented

    def __ne__(self, other: object) -> bool:
        if self.trail.exact:
            return not self == other
        return not (isinstance(other, Affine) and (other.terms, other.constant) == (self.terms, self.constant))

    def __hash__(self) -> int:
        return hash((id(self.trail), self.constant, self.terms))

    def __str__(self) -> str:
        return str(self.value)


class Magnitude:
    """The absolute value of a number, only for ``<= bound``: two linear constraints, and no case distinction."""

    def __init__(self, number: Affine) -> None:
        self.number = number

    def __le__(self, bound: Number) -> bool:
        return self.number <= bound and self.number >= -bound


HOLDS: dict[str, Callable[[Number], bool]] = {
    "<": lambda number: number < 0,
    "<=": lambda number: number <= 0,
    "=": lambda number: number == 0,
    "!=": lambda number: number != 0,
    ">=": lambda number: number >= 0,
    ">": lambda number: number > 0,
}
"""By relation: whether a number has it to zero."""
OPPOSITE = {"<": ">=", "<=": ">", "=": "!=", "!=": "=", ">=": "<", ">": "<="}
