"""States: facts as sets of codes, fluents as maps. Cheap to change by a delta, to undo, and to fork.

A *symbol* is a predicate or a function. Symbol indexes number the predicates first, then the functions.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, TypeVar

from plansafe.grammar.named_tuple import NamedTuple
from plansafe.verifier.model.nodes import Number, Task

T = TypeVar("T")
MAX_BITS = 65_536
"""Maximum size of the numerator and of the denominator of a number."""
_SMALL_LIMIT = 1 << 63
"""Integers below it in magnitude are accepted at once: a comparison is cheaper than the number of bits."""


class NumberTooLarge(Exception):
    """An exact number grew beyond 65,536 bits; the verdict is UNKNOWN (SC501)."""


def check_number(value: Number) -> Number:
    """Return ``value``, as an integer if it is whole; raise :class:`NumberTooLarge` if it is too large."""
    if isinstance(value, int):
        if -_SMALL_LIMIT < value < _SMALL_LIMIT or value.bit_length() <= MAX_BITS:
            return value
        raise NumberTooLarge
    if not isinstance(value, Fraction):
        return value  # another kind of number, which checks its size itself
    if value.denominator == 1:
        return check_number(value.numerator)
    if value.numerator.bit_length() > MAX_BITS or value.denominator.bit_length() > MAX_BITS:
        raise NumberTooLarge
    return value


class Delta(NamedTuple):
    """The changes of a step: deleted and added facts (predicate, code), and new values (function, code, value)."""

    deletes: list[tuple[int, int]]
    adds: list[tuple[int, int]]
    values: list[tuple[int, int, Number]]


StateChange = tuple[int, int, bool | Number | None]
"""(symbol index, code, value): for a predicate its value after the change, for a function its value before it."""


class State:
    """A state of a task. ``facts[p]``: the codes of predicate ``p``; ``fluents[f]``: the defined values of ``f``."""

    __slots__ = ("facts", "fluents", "indexes", "task")

    def __init__(
        self,
        task: Task,
        facts: list[set[int]],
        fluents: list[dict[int, Number]],
        indexes: dict[int, dict[int, Any]] | None = None,
    ) -> None:
        self.task = task
        self.facts = facts
        self.fluents = fluents
        self.indexes = indexes
        """The :class:`FactIndexes` of the monitors that read this state; ``None`` without monitors."""

    @classmethod
    def initial(cls, task: Task) -> State:
        """The initial state, without derived facts."""
        facts = [set(facts) for facts in task.initial_facts]
        facts += [set() for _ in range(len(task.predicates) - len(facts))]
        return cls(task, facts, [dict(values) for values in task.initial_fluents])

    def get_value(self, symbol_index: int, code: int) -> bool | Number | None:
        """Return the value of a fact or fluent; ``None``: undefined."""
        predicate_count = len(self.facts)
        if symbol_index < predicate_count:
            return code in self.facts[symbol_index]
        return self.fluents[symbol_index - predicate_count].get(code)

    def fork(self) -> State:
        """An independent copy. Sets of static predicates are shared."""
        static = self.task.static
        facts = [f if p < len(static) and static[p] else set(f) for p, f in enumerate(self.facts)]
        return State(self.task, facts, [dict(values) for values in self.fluents])

    def shared_copy(self) -> State:
        """A copy with the same sets: call :meth:`unshare` before changing either of the two."""
        return State(self.task, list(self.facts), list(self.fluents))

    def unshare(self, changing_symbols: Iterable[int], unshared: set[int]) -> None:
        """Copy the sets of symbols that will change, except of ``unshared`` symbols, and add these symbols to it."""
        facts, fluents, predicate_count = self.facts, self.fluents, len(self.facts)
        for symbol_index in changing_symbols:
            if symbol_index in unshared:
                continue
            unshared.add(symbol_index)
            if symbol_index < predicate_count:
                facts[symbol_index] = set(facts[symbol_index])
            else:
                fluents[symbol_index - predicate_count] = dict(fluents[symbol_index - predicate_count])

    def apply(self, delta: Delta, log: list[StateChange]) -> None:
        """Change the state, and append every change to ``log``."""
        facts = self.facts
        adds = set(delta.adds)
        for predicate, code in delta.deletes:
            if code in facts[predicate] and (predicate, code) not in adds:
                facts[predicate].remove(code)
                log.append((predicate, code, False))
        for predicate, code in delta.adds:
            if code not in facts[predicate]:
                facts[predicate].add(code)
                log.append((predicate, code, True))
        predicate_count = len(facts)
        for function, code, value in delta.values:
            before = self.fluents[function].get(code)
            if before != value:
                self.fluents[function][code] = value
                log.append((predicate_count + function, code, before))

    def undo(self, log: list[StateChange]) -> None:
        """Undo the changes of a log, and empty it."""
        facts, predicate_count = self.facts, len(self.facts)
        while log:
            symbol_index, code, value = log.pop()
            if symbol_index < predicate_count:
                if value:
                    facts[symbol_index].discard(code)
                else:
                    facts[symbol_index].add(code)
            elif value is None:
                self.fluents[symbol_index - predicate_count].pop(code, None)
            else:
                self.fluents[symbol_index - predicate_count][code] = value

    def key(self) -> tuple[frozenset[int] | frozenset[tuple[int, Number]], ...]:
        """A hashable copy of the state, for searches."""
        return (*[frozenset(f) for f in self.facts], *[frozenset(v.items()) for v in self.fluents])


def shallow_copy(original: T) -> T:
    """Return a new object of the same class with the same attributes; cheaper than ``copy.copy``."""
    copy = object.__new__(type(original))
    copy.__dict__ = original.__dict__.copy()  # takes half the time of an update
    return copy
