"""Pairs of literals that are never both true while a plan is executed, and literals that they imply at a step.

A pair is exclusive if it is not true in S0 and no step makes it true: the pairs of critical-path heuristics (Haslum and
Geffner, "Admissible heuristics for optimal planning", 2000), found over the steps of the plan. Without them, a solver
would find out case by case that, for example, an agent that needs a tool must wait until another agent has put it down.
"""

from __future__ import annotations

from plansafe.verifier.model.limits import check_deadline
from plansafe.verifier.symbolic.circuits.circuit import FALSE, TRUE, Literal
from plansafe.verifier.symbolic.orders.fact_timeline import FactTimeline
from plansafe.verifier.symbolic.orders.partial_order import iterate_bits
from plansafe.verifier.symbolic.orders.template import Fact

MAX_FACTS = 1_500
"""Maximum number of facts whose pairs are examined; further facts are ignored."""
MAX_IMPLIED = 20_000
"""Maximum number of implied literals."""


def find_implied_literals(timeline: FactTimeline) -> dict[int, list[Literal]]:
    """For each step, literals at the time point before it that its precondition and the exclusive pairs imply.

    Raises ``LimitReached``.
    """
    exclusive_pairs = ExclusivePairs(timeline)
    implied_literals: dict[int, list[Literal]] = {}
    implied_count = 0
    for step, precondition in exclusive_pairs.preconditions.items():
        false_literals = 0
        for literal in iterate_bits(precondition):
            false_literals |= exclusive_pairs.pairs[literal]
        for literal in iterate_bits(false_literals & ~exclusive_pairs.negate(precondition)):
            is_negated = literal & 1
            implied_literal = timeline.encode_fact(exclusive_pairs.facts[literal >> 1], step) ^ is_negated ^ 1
            if implied_literal != TRUE:
                implied_literals.setdefault(step, []).append(implied_literal)
            implied_count += 1
            if implied_count >= MAX_IMPLIED:
                return implied_literals
    return implied_literals


class ExclusivePairs:
    """The exclusive pairs, a greatest fixpoint.

    A literal is ``2 * number`` of a fact, plus one for its negation. A set of literals is a mask: bit ``l`` is literal
    ``l``. ``pairs[l]`` are the literals that are never true together with ``l``. They include ``l`` itself if it is
    never true. ``preconditions`` has for each step the literals in its precondition.
    """

    def __init__(self, timeline: FactTimeline) -> None:
        self.timeline = timeline
        self.facts: list[Fact] = list(timeline.template.current_inputs)[:MAX_FACTS]
        self._literals = {fact: 2 * number for number, fact in enumerate(self.facts)}
        self._positive_literals = sum([1 << (2 * number) for number in range(len(self.facts))])
        self._all_literals = self._positive_literals | (self._positive_literals << 1)
        steps = range(1, timeline.order.size + 1)
        self.preconditions = {step: self._encode_precondition(step) for step in steps}
        initial_literals = 0  # the literals that may be true in S0
        for fact, literal in self._literals.items():
            initial_value = timeline.template.initial_facts[fact]
            initial_literals |= self._make_mask(literal, initial_value != FALSE, initial_value != TRUE)
        self._never_true_literals = self._all_literals & ~initial_literals
        self.pairs = [
            self._never_true_literals if (initial_literals >> literal) & 1 else self._all_literals
            for literal in range(2 * len(self.facts))
        ]
        effects = {step: self._find_effects(step) for step in steps}
        has_changed = True
        while has_changed:
            has_changed = False
            for step in steps:
                check_deadline(timeline.deadline)
                has_changed = self._remove_pairs_made_true(self.preconditions[step], *effects[step]) or has_changed

    def negate(self, mask: int) -> int:
        """The negations of the literals of a mask."""
        return ((mask & self._positive_literals) << 1) | ((mask >> 1) & self._positive_literals)

    @staticmethod
    def _make_mask(literal: int, has_fact: bool, has_negation: bool) -> int:
        """The mask of a positive literal, of its negation, or of both."""
        return (has_fact << literal) | (has_negation << (literal + 1))

    def _encode_precondition(self, step: int) -> int:
        """The literals in the conjunction of a step's precondition."""
        mask = 0
        for part in self.timeline.circuit.list_conjuncts(self.timeline.template.steps[step].precondition):
            fact = self.timeline.find_fact(part)
            if fact in self._literals:
                mask |= 1 << (self._literals[fact] + (part & 1))
        return mask

    def _find_effects(self, step: int) -> tuple[int, int]:
        """The literals that a step may make true, and those that it certainly makes false."""
        template = self.timeline.template.steps[step]
        added_literals = deleted_literals = 0
        if template.precondition == FALSE:
            return 0, 0
        for fact in template.facts:
            write = self.timeline.find_writes(fact).get(step)
            literal = self._literals.get(fact)
            if write is not None and literal is not None:
                added_literals |= self._make_mask(literal, write.makes != FALSE, write.breaks != FALSE)
                deleted_literals |= self._make_mask(literal, write.breaks == TRUE, write.makes == TRUE)
        return added_literals, deleted_literals

    def _remove_pairs_made_true(self, precondition: int, added_literals: int, deleted_literals: int) -> bool:
        """Remove the pairs that a step may make true; return whether there are any."""
        pairs = self.pairs
        false_literals_before = self._never_true_literals
        for literal in iterate_bits(precondition):
            if pairs[literal] & precondition:
                return False  # the precondition is never true
            false_literals_before |= pairs[literal]
        possible_literals_after = (
            self._all_literals & ~(false_literals_before | self.negate(precondition) | deleted_literals)
            | added_literals
        )
        has_changed = False
        for literal in iterate_bits(added_literals):
            partners = pairs[literal] & possible_literals_after
            if partners:
                has_changed = True
                pairs[literal] &= ~partners
                for partner in iterate_bits(partners):
                    pairs[partner] &= ~(1 << literal)
        self._never_true_literals &= ~added_literals
        return has_changed
