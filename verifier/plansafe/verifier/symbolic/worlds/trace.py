"""The trace of an untimed plan in all worlds at once.

A world's trace ends where a step cannot be taken, so letter ``i`` is there only in the worlds of ``alive[i]``. States
are computed as if every step had been taken: what they say of other worlds is never asked. Only what changes is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic
from typing import NamedTuple

from plansafe.verifier.execution.state import NumberTooLarge
from plansafe.verifier.execution.steps import GroundAction, IllFormed
from plansafe.verifier.model.limits import Limited, LimitReached
from plansafe.verifier.symbolic.circuits.circuit import FALSE, TRUE, Circuit, Literal
from plansafe.verifier.symbolic.worlds.derived import Derived
from plansafe.verifier.symbolic.worlds.state import Quantity, SymbolicState
from plansafe.verifier.symbolic.worlds.steps import Steps


class Letter(NamedTuple):
    """What changes on the way to a letter: facts with their new literals, fluents with their new values."""

    facts: list[tuple[int, int, Literal]]
    quantities: list[tuple[int, int, Quantity]]


class SymbolicTrace(NamedTuple):
    """``letters[i]`` lead to letter ``i`` (those of letter 0 are empty: ``start`` is S0), ``taken[i]`` leaves it.

    ``alive[i]``: the worlds in which the trace has letter ``i``. The trace ends with the last letter that any world
    has, or with ``limit``: why it could not be followed.
    """

    start: SymbolicState
    letters: list[Letter]
    alive: list[Literal]
    taken: list[GroundAction]
    steps: int
    limit: str | None


def follow(
    start: SymbolicState,
    derived: Derived | None,
    stepper: Steps,
    steps: Sequence[GroundAction | IllFormed],
    deadline: float | None,
) -> SymbolicTrace:
    """Take the steps of a plan, as far as any world can. Raises :class:`LimitReached`."""
    circuit = stepper.circuit
    state = start.copy()
    letters, alive, taken = [Letter([], [])], [TRUE], list[GroundAction]()
    limit = None
    for number, step in enumerate(steps, 1):
        if deadline is not None and monotonic() > deadline:
            raise LimitReached(Limited.TIME)
        if isinstance(step, IllFormed):
            break
        try:
            able, changes = stepper.take(state, step, number)
            there = circuit.both(alive[-1], able)
            if there == FALSE:
                break
            facts = _apply(state, changes.facts, changes.quantities, derived)
        except NumberTooLarge:
            limit = f"a number grew beyond 65,536 bits at step {number}"
            break
        letters.append(Letter(facts, changes.quantities))
        alive.append(there)
        taken.append(step)
    return SymbolicTrace(start, letters, alive, taken, len(steps), limit)


def ends(circuit: Circuit, alive: Sequence[Literal]) -> list[Literal]:
    """For each letter, the worlds whose trace ends with it."""
    return [circuit.both(a, b ^ 1) for a, b in zip(alive, [*alive[1:], FALSE], strict=True)]


def _apply(
    state: SymbolicState,
    facts: list[tuple[int, int, Literal]],
    quantities: list[tuple[int, int, Quantity]],
    derived: Derived | None,
) -> list[tuple[int, int, Literal]]:
    """Change a state; returns all facts that changed, derived ones included."""
    for predicate, code, literal in facts:
        state.put(predicate, code, literal)
    for function, code, quantity in quantities:
        state.quantities[function][code] = quantity
    if derived is None:
        return facts
    if not (derived.reads_numbers and quantities) and not any([p in derived.inputs for p, _, _ in facts]):
        return facts
    before = {p: {code: state.get(p, code) for code in state.facts[p]} for p in derived.predicates}
    derived.compute(state)
    out = list(facts)
    for predicate, old in before.items():
        for code in old.keys() | state.facts[predicate]:
            literal = state.get(predicate, code)
            if literal != old.get(code, FALSE):
                out.append((predicate, code, literal))
    return out


class Replay:
    """Follows a trace that is known, letter by letter, on a state of its own."""

    def __init__(self, trace: SymbolicTrace) -> None:
        self.trace = trace
        self.state = trace.start.copy()
        self.letter = 0

    def advance(self) -> Letter:
        """Go to the next letter; what has changed on the way."""
        self.letter += 1
        changes = self.trace.letters[self.letter]
        for predicate, code, literal in changes.facts:
            self.state.put(predicate, code, literal)
        for function, code, quantity in changes.quantities:
            self.state.quantities[function][code] = quantity
        return changes
