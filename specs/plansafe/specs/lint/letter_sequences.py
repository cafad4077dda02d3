"""Whether some sequence of letters violates, or satisfies, formulas over the trace, by automata over possible letters.

Each letter is possible by itself, according to the formulas; whether one leads to the next is not checked. So if
such a sequence does not exist, such a trace does not exist either. Plans have no times here.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from time import monotonic
from typing import NamedTuple

from plansafe.verifier.execution.monitors.monitor_key import make_program_key
from plansafe.verifier.execution.monitors.program import Program
from plansafe.verifier.execution.monitors.trace_operators import PRESENTLY_SATISFIED, LetterTime
from plansafe.verifier.model.limits import LimitKind, LimitReached
from plansafe.verifier.model.nodes import Formula, Quantified, Task, Temporal
from plansafe.verifier.model.operations import is_temporal, subformulas
from plansafe.verifier.rules.model import RulePart

MAX_LEAVES = 8
"""Maximum number of leaves of all automata together; each of them doubles the number of letters."""
MAX_NODES = 20_000
"""Maximum number of nodes of the product of the automata."""

Letter = int
"""The values of the leaves, as bits."""


class RequiredValue(NamedTuple):
    """The required value of a part at the end of the trace, for one instance."""

    part: RulePart
    positive: bool


def make_trace_formula(part: RulePart) -> Formula:
    """A part about states, or about the final state, as a formula over the trace."""
    if part.mode == "whole":
        return part.body
    if part.mode not in ("always", "end"):
        raise AssertionError("parts about steps are not formulas over the trace")
    return Temporal("always" if part.mode == "always" else "at-end", (part.body,))


def quantifies_over_time(part: RulePart) -> bool:
    """Whether a temporal operator is below a quantifier: then the formula depends on the objects of the problem."""
    return any([isinstance(f, Quantified) and is_temporal(f.body) for f in subformulas(part.body)])


class _ProductNode(NamedTuple):
    """The states of the automata after some letters, and the values of the static leaves (``None``: no letter yet)."""

    states: tuple[int, ...]
    letter_count: int
    static_values: Letter | None


class LetterSequences:
    """The product of the automata of instances. ``leaves`` are pairs of the instance's number and a formula."""

    def __init__(self, task: Task, required_values: Sequence[RequiredValue]) -> None:
        self.required_values = required_values
        self.programs = [Program(task, "whole", make_trace_formula(value.part)) for value in required_values]
        self.leaves = [(number, leaf) for number, program in enumerate(self.programs) for leaf in program.leaves]
        self._bit_offsets = [
            sum([len(p.leaves) for p in self.programs[:number]]) for number in range(len(self.programs))
        ]

    def exists(
        self,
        may_be_first: Callable[[Letter], bool],
        may_follow: Callable[[Letter], bool],
        may_be_last: Callable[[Letter], bool],
        static_leaf_mask: int = 0,
        deadline: float | None = None,
    ) -> bool:
        """Whether there is a sequence of possible letters after which all parts have the required value.

        The letter of a sequence of one letter must be possible as the first and the last. The leaves with
        bits in ``static_leaf_mask`` keep their values. Raises :class:`LimitReached`.
        """
        if len(self.leaves) > MAX_LEAVES:
            raise LimitReached(LimitKind.QUESTION)
        letters = range(1 << len(self.leaves))
        start = tuple([program.start for program in self.programs])
        queue = deque([_ProductNode(start, 0, None)])
        visited = set()
        while queue:
            states, letter_count, static_values = queue.popleft()
            if deadline is not None and monotonic() > deadline:
                raise LimitReached(LimitKind.QUESTION)
            for letter in letters:
                if static_values is not None and letter & static_leaf_mask != static_values:
                    continue
                can_continue = may_be_first(letter) if letter_count == 0 else may_follow(letter)
                can_end = may_be_last(letter) and (can_continue or letter_count > 0)
                if not (can_end or can_continue):
                    continue
                successors = self._step(states, letter_count, letter)
                if can_end and self._has_required_values(successors):
                    return True
                count = letter_count + 1
                keys = [make_program_key(p, s, count) for p, s in zip(self.programs, successors, strict=True)]
                node_key = (tuple(keys), letter & static_leaf_mask)
                if can_continue and node_key not in visited:
                    visited.add(node_key)
                    if len(visited) > MAX_NODES:
                        raise LimitReached(LimitKind.QUESTION)
                    queue.append(_ProductNode(successors, count, letter & static_leaf_mask))
        return False

    def _step(self, states: tuple[int, ...], number: int, letter: Letter) -> tuple[int, ...]:
        time = LetterTime(number, number, False)
        successors = []
        for program, state, offset in zip(self.programs, states, self._bit_offsets, strict=True):
            program_letter = (letter >> offset) & ((1 << len(program.leaves)) - 1)
            successors.append(program.step(state, program_letter, program.compare_time(time), time))
        return tuple(successors)

    def _has_required_values(self, states: tuple[int, ...]) -> bool:
        return all(
            [
                (program.find_verdict(state) >= PRESENTLY_SATISFIED) == value.positive
                for program, state, value in zip(self.programs, states, self.required_values, strict=True)
            ]
        )
