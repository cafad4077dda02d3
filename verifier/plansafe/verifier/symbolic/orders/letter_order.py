"""The letters of a formula over all orders of a plan: which exist, in which order they are, and their numbers.

A letter exists only in the worlds whose trace has it. Then all letters before it also exist. The methods return a
literal: it is true in the worlds or orders that their docstrings name.
"""

from __future__ import annotations

from collections.abc import Sequence

from plansafe.verifier.symbolic.circuits.circuit import FALSE, TRUE, Literal
from plansafe.verifier.symbolic.orders.fact_timeline import FactTimeline
from plansafe.verifier.symbolic.orders.partial_order import END
from plansafe.verifier.symbolic.orders.template import TimePoint


class LetterOrder:
    """The letters of one formula, and their order.

    ``writers``: the steps that change what the formula reads, so that only letters after them are needed (merged
    letters). ``None``: letters may not be merged.
    """

    def __init__(self, timeline: FactTimeline, writers: Sequence[int] | None) -> None:
        self.timeline = timeline
        self.circuit = timeline.circuit
        self.has_merged_letters = writers is not None
        if writers is not None:
            self.letters: list[TimePoint] = [
                timeline.start,
                *[timeline.find_time_point_after(step) for step in writers],
            ]
        else:
            self.letters = [*range(1, timeline.order.size + 1), END]

    def encode_existence(self, letter: TimePoint) -> Literal:
        """Return the worlds in which the trace has a letter."""
        timeline = self.timeline
        if letter == END:
            return timeline.encode_is_executable()
        if letter == timeline.start:
            return TRUE
        size = timeline.order.size
        return timeline.encode_is_reached(letter) if letter <= size else timeline.encode_is_taken(letter - size)

    def encode_is_not_after(self, letter: TimePoint, time_point: TimePoint) -> Literal:
        """Return the orders in which a letter is not after a time point, which may itself be a letter."""
        timeline, size = self.timeline, self.timeline.order.size
        if letter == time_point or time_point == END or letter == timeline.start:
            return TRUE
        if letter == END or time_point == timeline.start:
            return FALSE
        # Both are directly before or after a step. The letter after a step is not after the one before a later step.
        letter_step = letter - size if letter > size else letter
        time_point_step = time_point - size if time_point > size else time_point
        if letter_step == time_point_step:
            return TRUE if time_point > size else FALSE
        return timeline.encode_precedence(letter_step, time_point_step)

    def encode_is_earlier(self, letter: TimePoint, later: TimePoint) -> Literal:
        """Return the orders in which a letter is before another."""
        return FALSE if letter == later else self.encode_is_not_after(letter, later)

    def encode_is_next(self, letter: TimePoint, following: TimePoint) -> Literal:
        """Return the orders in which ``following`` is the letter right after ``letter``; not for merged letters."""
        not_between = [
            self.circuit.both(self.encode_is_earlier(letter, middle), self.encode_is_earlier(middle, following)) ^ 1
            for middle in self.letters
            if middle not in (letter, following)
        ]
        self.timeline.check_limits()
        return self.circuit.conjunction([self.encode_is_earlier(letter, following), *not_between])

    def encode_is_last(self, letter: TimePoint) -> Literal:
        """Return the worlds in which the trace ends with a letter."""
        no_later_letters = [
            self.circuit.both(self.encode_is_earlier(letter, later), self.encode_existence(later)) ^ 1
            for later in self.letters
        ]
        return self.circuit.conjunction([self.encode_existence(letter), *no_later_letters])

    def encode_is_first(self, letter: TimePoint) -> Literal:
        """Return the orders in which a letter is letter 0; not for merged letters."""
        return self.circuit.conjunction(
            [self.encode_is_earlier(other_letter, letter) ^ 1 for other_letter in self.letters]
        )

    def encode_is_on_side(self, letter: TimePoint, time_point: TimePoint, past: bool) -> Literal:
        """Return the worlds in which a letter is on one side of a time point, or at it.

        ``past``: it is not after the time point. Otherwise it exists and is not before the time point.
        """
        if past:
            return self.encode_is_not_after(letter, time_point)
        return self.circuit.both(self.encode_is_not_after(time_point, letter), self.encode_existence(letter))

    def encode_number_at_most(self, letter: TimePoint, bound: int) -> Literal:
        """Return the orders in which the number of a letter is at most ``bound``; not for merged letters."""
        return self.encode_count_at_most(
            [self.encode_is_earlier(other_letter, letter) for other_letter in self.letters], bound
        )

    def encode_count_at_most(self, literals: list[Literal], bound: int) -> Literal:
        """Return the literal that at most ``bound`` literals are true.

        The encoding counts in unary: the true or the false literals, whichever needs the smaller count.
        """
        bound -= literals.count(TRUE)
        literals = [literal for literal in literals if literal > TRUE]
        if bound >= len(literals):
            return TRUE
        if bound < 0:
            return FALSE
        needed, flip = bound + 1, 1  # the negation of: at least ``needed`` literals are true
        if len(literals) - bound < needed:
            needed, flip = len(literals) - bound, 0  # at least ``needed`` literals are false
            literals = [literal ^ 1 for literal in literals]
        circuit = self.circuit
        at_least = [TRUE, *[FALSE] * needed]  # at_least[k]: at least k of the encoded literals are true
        for literal in literals:
            for count in range(needed, 0, -1):
                at_least[count] = circuit.either(at_least[count], circuit.both(at_least[count - 1], literal))
        self.timeline.check_limits()
        return at_least[needed] ^ flip
