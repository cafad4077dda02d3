"""A state in all worlds at once: for each fact a literal, for each fluent when it has a value, and which."""

from __future__ import annotations

from typing import NamedTuple

from plansafe.verifier.model.nodes import Task
from plansafe.verifier.symbolic.circuits.circuit import FALSE, TRUE, Literal
from plansafe.verifier.symbolic.circuits.terms import Sum

ZERO = Sum(0)


class Quantity(NamedTuple):
    """A fluent: in which worlds it has a value, and the value it has there."""

    defined: Literal
    value: Sum


UNDEFINED = Quantity(FALSE, ZERO)


class SymbolicState:
    """``facts[p]`` holds the possible, ``facts[size + p]`` the certain facts of predicate ``p``.

    ``literals[p]`` has a literal for the facts that are possible and not certain. ``quantities[f]`` leaves out fluents
    that are undefined in every world.
    """

    __slots__ = ("facts", "literals", "quantities", "size")

    def __init__(
        self,
        size: int,
        facts: list[set[int]],
        literals: list[dict[int, Literal]],
        quantities: list[dict[int, Quantity]],
    ) -> None:
        self.size = size
        self.facts = facts
        self.literals = literals
        self.quantities = quantities

    @classmethod
    def empty(cls, task: Task) -> SymbolicState:
        """No fact holds and no fluent has a value, in any world."""
        size = len(task.predicates)
        return cls(size, [set() for _ in range(2 * size)], [{} for _ in range(size)], [{} for _ in task.functions])

    def copy(self) -> SymbolicState:
        """An independent copy."""
        return SymbolicState(
            self.size,
            [set(facts) for facts in self.facts],
            [dict(literals) for literals in self.literals],
            [dict(quantities) for quantities in self.quantities],
        )

    def get(self, predicate: int, code: int) -> Literal:
        """In which worlds a fact is true."""
        literal = self.literals[predicate].get(code)
        if literal is None:
            return TRUE if code in self.facts[self.size + predicate] else FALSE
        return literal

    def put(self, predicate: int, code: int, literal: Literal) -> None:
        """Set a fact."""
        facts, literals = self.facts, self.literals[predicate]
        if literal > TRUE:
            literals[code] = literal
            facts[predicate].add(code)
            facts[self.size + predicate].discard(code)
            return
        literals.pop(code, None)
        if literal == TRUE:
            facts[predicate].add(code)
            facts[self.size + predicate].add(code)
        else:
            facts[predicate].discard(code)
            facts[self.size + predicate].discard(code)

    def quantity(self, function: int, code: int) -> Quantity:
        """The value of a fluent."""
        return self.quantities[function].get(code, UNDEFINED)
