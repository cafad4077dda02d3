"""Proofs that clauses are unsatisfiable: each step names the clauses that it follows from (LRAT, without RAT).

Cruz-Filipe, Heule, Hunt, Kaufmann and Schneider-Kamp, "Efficient certified RAT verification", 2017. The checker is
short because it does not search. Every step is a consequence of the clauses: steps that only preserve satisfiability
are refused, and CaDiCaL writes none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

Clause = tuple[int, ...]

MAX_LIVE_LITERALS = 50_000_000
"""Maximum number of literals in clauses that are in use at one time, with ``CLAUSE_OVERHEAD`` for each clause."""
CLAUSE_OVERHEAD = 16
MAX_WORK = 1_000_000_000
"""Maximum number of literals of premises, in all steps together."""


class WrongStep(Exception):
    """A step of a proof does not follow, or is malformed. The message says why."""


class ProofChecker:
    """Checks a proof step by step. Clauses are numbered from 1: first the premises, then the steps.

    ``refuted``: the empty clause was derived, so the premises are unsatisfiable.
    """

    def __init__(self) -> None:
        self.refuted = False
        self.steps = 0
        self.last_number = 0
        self._clauses: dict[int, Clause] = {}
        self._live_literals = 0
        self._read_literals = 0

    def add_premise(self, clause: Clause) -> None:
        """Add the next clause without a check. Raises :class:`WrongStep`."""
        self._store_clause(self.last_number + 1, clause)

    def derive(self, number: int, clause: Clause, hints: Sequence[int]) -> None:
        """Add a clause that follows from the clauses numbered ``hints``. Raises :class:`WrongStep`.

        If the clause's literals are false, each hint has one literal left that must be true, until a hint has none.
        Linear in the literals of the hints.
        """
        if number <= self.last_number:
            raise WrongStep(f"clause {number} comes after clause {self.last_number}")
        clauses, work = self._clauses, self._read_literals
        false = set(clause)
        for hint in hints:
            premise = clauses.get(hint)
            if premise is None:
                if hint <= 0:
                    raise WrongStep("a step that only preserves satisfiability (RAT); such proofs are not supported")
                raise WrongStep(f"there is no clause {hint}")
            work += len(premise)
            remaining = [literal for literal in premise if literal not in false]
            if not remaining:
                break
            if len(remaining) > 1 and len(set(remaining)) > 1:
                raise WrongStep(f"clause {hint} has {len(set(remaining))} literals left instead of one")
            false.add(-remaining[0])
        else:
            raise WrongStep(f"clause {number} does not follow from the clauses that it names")
        self._read_literals = work
        if work > MAX_WORK:
            raise WrongStep("the proof is too long to be checked here")
        self.steps += 1
        self.refuted = self.refuted or not clause
        self._store_clause(number, clause)

    def delete(self, numbers: Iterable[int]) -> None:
        """Delete clauses. Raises :class:`WrongStep` if one does not exist."""
        for number in numbers:
            clause = self._clauses.pop(number, None)
            if clause is None:
                raise WrongStep(f"there is no clause {number}")
            self._live_literals -= len(clause) + CLAUSE_OVERHEAD

    def _store_clause(self, number: int, clause: Clause) -> None:
        """Store a clause in use, within the limit of memory."""
        self._live_literals += len(clause) + CLAUSE_OVERHEAD
        if self._live_literals > MAX_LIVE_LITERALS:
            raise WrongStep("the proof needs more memory than it may take")
        self._clauses[number] = clause
        self.last_number = number


def trim_proof(lines: Iterable[bytes], premise_count: int) -> Iterator[str] | None:
    """Return the lines of an LRAT proof that its end depends on, numbered after the premises, with deletions.

    CaDiCaL derives clauses while the premises are added, so the premises have the numbers that no step has, in their
    order. ``None`` if the proof does not end with the empty clause. Needs memory for the whole proof.
    """
    steps: dict[int, list[bytes]] = {}
    for line in lines:
        words = line.split()
        if len(words) > 2 and words[1] != b"d":
            number = int(words[0])
            steps[number] = words
            if words[1] == b"0":
                return _renumber_steps(steps, number, premise_count)
    return None


def _renumber_steps(steps: dict[int, list[bytes]], end: int, premise_count: int) -> Iterator[str]:
    """Yield the lines of the steps that step ``end`` depends on, each followed by the deletion of unused clauses."""
    needed = {end}
    unused_after_step: dict[int, list[int]] = {}  # the clauses that no later step needs
    needed_steps: list[int] = []
    for number in sorted(steps, reverse=True):
        if number in needed:
            needed_steps.append(number)
            words = steps[number]
            for word in words[words.index(b"0") + 1 : -1]:
                hint = int(word)
                if hint not in needed:
                    needed.add(hint)
                    unused_after_step.setdefault(number, []).append(hint)
    needed_steps.reverse()
    premises = [number for number in range(1, premise_count + len(steps) + 1) if number not in steps]
    new_numbers = {number: place for place, number in enumerate(premises[:premise_count], 1)}
    new_numbers.update({number: premise_count + place for place, number in enumerate(needed_steps, 1)})
    for number in needed_steps:
        words = steps[number]
        middle = words.index(b"0")
        literals = [word.decode() for word in words[1:middle]]
        hints = [str(new_numbers[int(word)]) for word in words[middle + 1 : -1]]
        yield " ".join([str(new_numbers[number]), *literals, "0", *hints, "0"])
        unused = sorted([new_numbers[hint] for hint in unused_after_step.get(number, ())])
        if unused and number != end:
            yield " ".join([str(new_numbers[number]), "d", *map(str, unused), "0"])
