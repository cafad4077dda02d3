"""Pairs of literals that are never both true while a plan is executed, and what a step's condition implies by them.

A pair is exclusive if it is not true in S0 and no step makes it true: the pairs of critical-path heuristics (Haslum and
Geffner, "Admissible heuristics for optimal planning", 2000), found over the steps of the plan. Without them a solver
would have to find again, case by case, that whoever needs the tool needs it from somebody who has put it down.
"""

from __future__ import annotations

from time import monotonic

from plansafe.verifier.model.limits import LimitKind, LimitReached
from plansafe.verifier.symbolic.circuits.circuit import FALSE, TRUE, Literal
from plansafe.verifier.symbolic.orders.moments import Moments
from plansafe.verifier.symbolic.orders.partial_order import bit_numbers
from plansafe.verifier.symbolic.orders.template import Fact

MAX_FACTS = 1_500
"""Facts beyond which nothing is looked for."""
MAX_IMPLIED = 20_000
"""Implied literals that are used."""


def find_implied_literals(moments: Moments) -> dict[int, list[Literal]]:
    """For each step, literals at the moment before it that are true wherever it is taken, beside its condition.

    Raises ``LimitReached``.
    """
    found = ExclusivePairs(moments)
    out: dict[int, list[Literal]] = {}
    total = 0
    for step, condition in found.conditions.items():
        excluded = 0
        for literal in bit_numbers(condition):
            excluded |= found.pairs[literal]
        for literal in bit_numbers(excluded & ~found.negated(condition)):
            value = moments.fact(found.facts[literal >> 1], step) ^ (literal & 1) ^ 1
            if value != TRUE:
                out.setdefault(step, []).append(value)
            total += 1
            if total >= MAX_IMPLIED:
                return out
    return out


class ExclusivePairs:
    """The exclusive pairs. Literals are ``2 * number`` of a fact, plus one for its negation; sets of them are masks.

    ``pairs[l]``: what is never true together with ``l``; ``l`` itself, if it is never true. A greatest fixpoint.
    """

    def __init__(self, moments: Moments) -> None:
        self.moments = moments
        self.facts: list[Fact] = list(moments.template.held)[:MAX_FACTS]
        self._index = {fact: 2 * number for number, fact in enumerate(self.facts)}
        self._positive = sum([1 << 2 * number for number in range(len(self.facts))])
        self._everything = self._positive * 3
        steps = range(1, moments.order.size + 1)
        self.conditions = {step: self._condition(step) for step in steps}
        start = 0
        for fact, base in self._index.items():
            initial = moments.template.initial[fact]
            start |= (initial != FALSE) << base | (initial != TRUE) << base + 1
        self.pairs = [
            self._everything & ~start if start >> literal & 1 else self._everything
            for literal in range(2 * len(self.facts))
        ]
        self._never = self._everything & ~start
        effects = {step: self._effects(step) for step in steps}
        changed = True
        while changed:
            changed = False
            for step in steps:
                if moments.deadline is not None and monotonic() > moments.deadline:
                    raise LimitReached(LimitKind.TIME)
                changed = self._applied(self.conditions[step], *effects[step]) or changed

    def negated(self, mask: int) -> int:
        """The negations of the literals of a mask."""
        return (mask & self._positive) << 1 | mask >> 1 & self._positive

    def _condition(self, step: int) -> int:
        mask = 0
        for part in self.moments.conjuncts(self.moments.template.steps[step].able):
            fact = self.moments.held(part)
            if fact in self._index:
                mask |= 1 << self._index[fact] + (part & 1)
        return mask

    def _effects(self, step: int) -> tuple[int, int]:
        """The literals that a step may make true, and those that it makes false for certain."""
        template = self.moments.template.steps[step]
        makes = gone = 0
        if template.able == FALSE:
            return 0, 0
        for fact in template.facts:
            write = self.moments.writes(fact).get(step)
            base = self._index.get(fact)
            if write is not None and base is not None:
                makes |= (write.makes != FALSE) << base | (write.breaks != FALSE) << base + 1
                gone |= (write.breaks == TRUE) << base | (write.makes == TRUE) << base + 1
        return makes, gone

    def _applied(self, condition: int, makes: int, gone: int) -> bool:
        """Take out the pairs that a step may make true; whether there are any."""
        pairs = self.pairs
        before = self._never
        for literal in bit_numbers(condition):
            if pairs[literal] & condition:
                return False  # its condition is never true
            before |= pairs[literal]
        beside = self._everything & ~(before | self.negated(condition) | gone) | makes
        changed = False
        for literal in bit_numbers(makes):
            others = pairs[literal] & beside
            if others:
                changed = True
                pairs[literal] &= ~others
                for other in bit_numbers(others):
                    pairs[other] &= ~(1 << literal)
        self._never &= ~makes
        return changed
