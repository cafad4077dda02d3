"""Pairs of literals that are never both true while a plan is executed, and literals that they imply at a step.

A pair is exclusive if it is not true in S0 and no step makes it true: the pairs of critical-path heuristics (Haslum and
Geffner, "Admissible heuristics for optimal planning", 2000), found over the steps of the plan. Without them, a solver
would rediscover case by case that, for example, an agent that needs the tool needs it from another who has put it down.
"""

from __future__ import annotations

from plansafe.verifier.model.limits import check_deadline
from plansafe.verifier.symbolic.circuits.circuit import FALSE, TRUE, Literal
from plansafe.verifier.symbolic.orders.moments import Moments
from plansafe.verifier.symbolic.orders.partial_order import bit_numbers
from plansafe.verifier.symbolic.orders.template import Fact

MAX_FACTS = 1_500
"""Only pairs of this many facts are examined."""
MAX_IMPLIED = 20_000
"""Implied literals that are used."""


def find_implied_literals(moments: Moments) -> dict[int, list[Literal]]:
    """For each step, literals at the moment before it that its precondition and the exclusive pairs imply.

    Raises ``LimitReached``.
    """
    exclusive = ExclusivePairs(moments)
    implied: dict[int, list[Literal]] = {}
    count = 0
    for step, precondition in exclusive.preconditions.items():
        excluded = 0
        for literal in bit_numbers(precondition):
            excluded |= exclusive.pairs[literal]
        for literal in bit_numbers(excluded & ~exclusive.negate(precondition)):
            literal_before = moments.fact_at(exclusive.facts[literal >> 1], step) ^ (literal & 1) ^ 1
            if literal_before != TRUE:
                implied.setdefault(step, []).append(literal_before)
            count += 1
            if count >= MAX_IMPLIED:
                return implied
    return implied


class ExclusivePairs:
    """The exclusive pairs, a greatest fixpoint. Literals are ``2 * number`` of a fact, plus one for its negation.

    Sets of literals are masks. ``pairs[l]`` are the literals that are never true together with ``l``, and ``l`` itself
    if it is never true.
    """

    def __init__(self, moments: Moments) -> None:
        self.moments = moments
        self.facts: list[Fact] = list(moments.template.held)[:MAX_FACTS]
        self._literals = {fact: 2 * number for number, fact in enumerate(self.facts)}
        self._positive = sum([1 << 2 * number for number in range(len(self.facts))])
        self._all = self._positive * 3
        steps = range(1, moments.order.size + 1)
        self.preconditions = {step: self._precondition(step) for step in steps}
        possible = 0
        for fact, literal in self._literals.items():
            initial = moments.template.initial[fact]
            possible |= (initial != FALSE) << literal | (initial != TRUE) << literal + 1
        self.pairs = [
            self._all & ~possible if possible >> literal & 1 else self._all for literal in range(2 * len(self.facts))
        ]
        self._never_true = self._all & ~possible
        effects = {step: self._effects(step) for step in steps}
        changed = True
        while changed:
            changed = False
            for step in steps:
                check_deadline(moments.deadline)
                changed = self._apply_step(self.preconditions[step], *effects[step]) or changed

    def negate(self, mask: int) -> int:
        """The negations of the literals of a mask."""
        return (mask & self._positive) << 1 | mask >> 1 & self._positive

    def _precondition(self, step: int) -> int:
        """The literals in the conjunction of a step's precondition."""
        mask = 0
        for part in self.moments.conjuncts(self.moments.template.steps[step].precondition):
            fact = self.moments.held_fact(part)
            if fact in self._literals:
                mask |= 1 << self._literals[fact] + (part & 1)
        return mask

    def _effects(self, step: int) -> tuple[int, int]:
        """The literals that a step may make true, and those that it certainly makes false."""
        template = self.moments.template.steps[step]
        made_true = made_false = 0
        if template.precondition == FALSE:
            return 0, 0
        for fact in template.facts:
            write = self.moments.writes(fact).get(step)
            literal = self._literals.get(fact)
            if write is not None and literal is not None:
                made_true |= (write.makes != FALSE) << literal | (write.breaks != FALSE) << literal + 1
                made_false |= (write.breaks == TRUE) << literal | (write.makes == TRUE) << literal + 1
        return made_true, made_false

    def _apply_step(self, precondition: int, made_true: int, made_false: int) -> bool:
        """Remove the pairs that a step may make true; return whether there are any."""
        pairs = self.pairs
        false_before = self._never_true
        for literal in bit_numbers(precondition):
            if pairs[literal] & precondition:
                return False  # the precondition is never true
            false_before |= pairs[literal]
        possible_after = self._all & ~(false_before | self.negate(precondition) | made_false) | made_true
        changed = False
        for literal in bit_numbers(made_true):
            partners = pairs[literal] & possible_after
            if partners:
                changed = True
                pairs[literal] &= ~partners
                for partner in bit_numbers(partners):
                    pairs[partner] &= ~(1 << literal)
        self._never_true &= ~made_true
        return changed
