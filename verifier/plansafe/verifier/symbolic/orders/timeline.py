"""The moments of a partial order, and which step is before which: constants where the plan says so, else inputs."""

from __future__ import annotations

from time import monotonic

from plansafe.verifier.model.limits import Limited, LimitReached
from plansafe.verifier.symbolic.circuits.circuit import FALSE, TRUE, Literal
from plansafe.verifier.symbolic.orders.partial import PartialOrder
from plansafe.verifier.symbolic.orders.template import Template, TooHard
from plansafe.verifier.symbolic.orders.threats import END
from plansafe.verifier.symbolic.worlds.encoding import OrderInput

MAX_GATES = 1_500_000
"""Gates beyond which an encoding is given up: about a gigabyte."""
TimePoint = int
"""``END``, a step (the moment before it), or one of :meth:`Timeline.following` and :attr:`Timeline.start`."""


class Timeline:
    """The order of the steps of a template, in the circuit of the template."""

    def __init__(self, template: Template, order: PartialOrder, deadline: float | None) -> None:
        self.template = template
        self.circuit = template.circuit
        self.order = order
        self.deadline = deadline
        self.start = 2 * order.size + 1

    def following(self, step: int) -> TimePoint:
        """The moment after a step."""
        return self.order.size + step

    def precedes(self, first: int, second: int) -> Literal:
        """In which orders one step is taken before another."""
        if self.order.after[first] >> second & 1:
            return TRUE
        if self.order.before[first] >> second & 1 or first == second:
            return FALSE
        if first < second:
            return self.circuit.input(OrderInput(first, second))
        return self.circuit.input(OrderInput(second, first)) ^ 1

    def between(self, first: int, middle: int, moment: int) -> Literal:
        """In which orders a step is taken after another and before a moment (a step, or the end)."""
        late = TRUE if moment == END else self.precedes(middle, moment)
        return self.circuit.both(self.precedes(first, middle), late)

    def check(self) -> None:
        """Raise ``LimitReached`` or :class:`TooHard` where a limit is passed."""
        if len(self.circuit.gates) > MAX_GATES:
            raise TooHard("the encoding of the orders is too large")
        if self.deadline is not None and monotonic() > self.deadline:
            raise LimitReached(Limited.TIME)
