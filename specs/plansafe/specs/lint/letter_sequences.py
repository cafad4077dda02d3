"""Whether some sequence of letters breaks, or keeps, formulas over the trace: automata over letters that are possible.

Each letter is possible by itself, as far as formulas say; that one leads to the next is not asked. So where no sequence
is found there is no such trace. Time is that of plans without times.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from itertools import product
from time import monotonic
from typing import NamedTuple

from plansafe.verifier.execution.monitors.monitor_key import program_key
from plansafe.verifier.execution.monitors.program import PRESENTLY_SATISFIED, LetterTime, Program
from plansafe.verifier.model.limits import LimitKind, LimitReached
from plansafe.verifier.model.nodes import Formula, Quantified, Task, Temporal
from plansafe.verifier.model.operations import is_temporal, subformulas
from plansafe.verifier.rules.model import RulePart

MAX_LEAVES = 8
MAX_NODES = 20_000

Letter = int
"""The values of leaves, as bits."""


class RequiredValue(NamedTuple):
    """The value that a part shall have at the end of the trace, for one instance."""

    part: RulePart
    positive: bool


def trace_formula(part: RulePart) -> Formula:
    """A part about states, or about the end, as a formula over the trace."""
    if part.mode == "whole":
        return part.body
    if part.mode not in ("always", "end"):
        raise AssertionError("parts about steps are no formulas over the trace")
    return Temporal("always" if part.mode == "always" else "at-end", (part.body,))


def quantifies_over_time(part: RulePart) -> bool:
    """Whether a temporal operator stands below a quantifier: then the formula depends on the objects there are."""
    return any([isinstance(f, Quantified) and is_temporal(f.body) for f in subformulas(part.body)])


class LetterSequences:
    """The programs of instances, read side by side. ``leaves`` are pairs of the instance's number and a formula."""

    def __init__(self, task: Task, wanted: Sequence[RequiredValue]) -> None:
        self.wanted = wanted
        self.programs = [Program(task, "whole", trace_formula(w.part)) for w in wanted]
        self.leaves = [(n, leaf) for n, program in enumerate(self.programs) for leaf in program.leaves]
        self._shifts = [sum([len(p.leaves) for p in self.programs[:n]]) for n in range(len(self.programs))]

    def exists(
        self,
        first: Callable[[Letter], bool],
        later: Callable[[Letter], bool],
        last: Callable[[Letter], bool],
        fixed: int = 0,
        deadline: float | None = None,
    ) -> bool:
        """Whether there are letters after which all parts have the value wanted.

        ``first``, ``later`` and ``last`` say which letters are possible there (a trace of one letter has one that is
        first and last). The leaves in ``fixed`` keep their values. Raises :class:`LimitReached`.
        """
        if len(self.leaves) > MAX_LEAVES:
            raise LimitReached(LimitKind.QUESTION)
        letters = range(1 << len(self.leaves))
        start = tuple([program.start for program in self.programs])
        queue = deque([(start, 0, -1)])
        seen = set()
        while queue:
            states, number, values = queue.popleft()
            if deadline is not None and monotonic() > deadline:
                raise LimitReached(LimitKind.QUESTION)
            for letter in letters:
                if values >= 0 and letter & fixed != values:
                    continue
                ends, goes = last(letter), (later if number else first)(letter)
                ends = ends and (number > 0 or first(letter))
                if not (ends or goes):
                    continue
                after = self._step(states, number, letter)
                if ends and self._accepted(after):
                    return True
                keys = [program_key(p, s, number + 1) for p, s in zip(self.programs, after, strict=True)]
                mark = (tuple(keys), letter & fixed)
                if goes and mark not in seen:
                    seen.add(mark)
                    if len(seen) > MAX_NODES:
                        raise LimitReached(LimitKind.QUESTION)
                    queue.append((after, number + 1, letter & fixed))
        return False

    def _step(self, states: tuple[int, ...], number: int, letter: Letter) -> tuple[int, ...]:
        moment = LetterTime(number, number, False)
        out = []
        for program, state, shift in zip(self.programs, states, self._shifts, strict=True):
            own = letter >> shift & (1 << len(program.leaves)) - 1
            out.append(program.step(state, own, program.time_bits(moment), moment))
        return tuple(out)

    def _accepted(self, states: tuple[int, ...]) -> bool:
        return all(
            [
                (program.verdict(state) >= PRESENTLY_SATISFIED) == wanted.positive
                for program, state, wanted in zip(self.programs, states, self.wanted, strict=True)
            ]
        )


def assignments(values: int, choices: Sequence[Sequence[int]], limit: int) -> list[tuple[int, ...]]:
    """Up to ``limit`` ways to choose, one for each of ``choices``; those with different choices first."""
    found = []
    for count, chosen in enumerate(product(*choices)):
        if count >= 64 * limit or values == 0:
            break
        found.append(chosen)
    return sorted(found, key=lambda chosen: -len(set(chosen)))[:limit]
