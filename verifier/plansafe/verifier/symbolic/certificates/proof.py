"""Proofs that clauses cannot all be true: each step names the clauses that it follows from (LRAT, without RAT).

Cruz-Filipe, Heule, Hunt, Kaufmann and Schneider-Kamp, "Efficient certified RAT verification", 2017. A checker has
nothing to search for, which is why this one is short. Every step is a consequence of the clauses: steps that only keep
satisfiability are refused, and CaDiCaL writes none.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

Clause = tuple[int, ...]

MAX_LIVE = 50_000_000
"""Literals in clauses that are in use at one time; each clause counts as sixteen more."""
MAX_WORK = 1_000_000_000
"""Literals looked at in all."""


class WrongStep(Exception):
    """A step of a proof does not follow, or makes no sense. The message says why."""


class ProofChecker:
    """Checks a proof step by step. Clauses are numbered from 1, first those that are given, then those of the steps."""

    def __init__(self) -> None:
        self.refuted = False
        """The empty clause was derived: what is given cannot be true."""
        self.steps = 0
        self.last = 0
        self._clauses: dict[int, Clause] = {}
        self._live = 0
        self._work = 0

    def given(self, clause: Clause) -> None:
        """Take the next clause for granted. Raises :class:`WrongStep`."""
        self._store(self.last + 1, clause)

    def derive(self, number: int, clause: Clause, hints: Sequence[int]) -> None:
        """Take a clause that follows from those numbered ``hints``. Raises :class:`WrongStep`.

        Where its literals are false, each hint has one literal left that must be true, until one has none.
        Time linear in the literals of the hints.
        """
        if number <= self.last:
            raise WrongStep(f"clause {number} comes after clause {self.last}")
        clauses, work = self._clauses, self._work
        false = set(clause)
        for hint in hints:
            premise = clauses.get(hint)
            if premise is None:
                if hint <= 0:
                    raise WrongStep("a step that only preserves satisfiability (RAT); such proofs are not supported")
                raise WrongStep(f"there is no clause {hint}")
            work += len(premise)
            left = [literal for literal in premise if literal not in false]
            if not left:
                break
            if len(left) > 1 and len(set(left)) > 1:
                raise WrongStep(f"clause {hint} has {len(set(left))} literals left instead of one")
            false.add(-left[0])
        else:
            raise WrongStep(f"clause {number} does not follow from the clauses that it names")
        self._work = work
        if work > MAX_WORK:
            raise WrongStep("the proof is too long to be checked here")
        self.steps += 1
        self.refuted = self.refuted or not clause
        self._store(number, clause)

    def delete(self, numbers: Iterable[int]) -> None:
        """Forget clauses. Raises :class:`WrongStep` if they are not there."""
        for number in numbers:
            clause = self._clauses.pop(number, None)
            if clause is None:
                raise WrongStep(f"there is no clause {number}")
            self._live -= len(clause) + 16

    def _store(self, number: int, clause: Clause) -> None:
        self._live += len(clause) + 16
        if self._live > MAX_LIVE:
            raise WrongStep("the proof needs more memory than it may take")
        self._clauses[number] = clause
        self.last = number


def trim_proof(lines: Iterable[bytes], given: int) -> Iterator[str] | None:
    """The steps of a proof in LRAT that its end depends on, numbered anew after ``given`` clauses; and deletions.

    CaDiCaL draws conclusions while it is given clauses: those have the numbers that no step has, in their order.
    ``None`` if the proof does not end with the empty clause. Memory for the whole proof.
    """
    steps: dict[int, list[bytes]] = {}
    end = 0
    for line in lines:
        words = line.split()
        if len(words) > 2 and words[1] != b"d":
            steps[int(words[0])] = words
            if words[1] == b"0":
                end = int(words[0])
                break
    return _renumbered(steps, end, given) if end else None


def _renumbered(steps: dict[int, list[bytes]], end: int, given: int) -> Iterator[str]:
    needed = {end}
    last: dict[int, int] = {}
    order = []
    for number in sorted(steps, reverse=True):
        if number in needed:
            order.append(number)
            words = steps[number]
            for word in words[words.index(b"0") + 1 : -1]:
                hint = int(word)
                needed.add(hint)
                last.setdefault(hint, number)
    done: dict[int, list[int]] = {}
    for hint, number in last.items():
        done.setdefault(number, []).append(hint)
    free = [number for number in range(1, given + len(steps) + 1) if number not in steps]
    names = {number: place for place, number in enumerate(free[:given], 1)}
    names.update({number: given + place for place, number in enumerate(reversed(order), 1)})
    for number in reversed(order):
        words = steps[number]
        middle = words.index(b"0")
        literals = [word.decode() for word in words[1:middle]]
        hints = [int(word) for word in words[middle + 1 : -1]]
        yield " ".join([str(names[number]), *literals, "0", *[str(names[hint]) for hint in hints], "0"])
        unused = sorted([names[hint] for hint in done.get(number, ())])
        if unused and number != end:
            yield " ".join([str(names[number]), "d", *[str(hint) for hint in unused], "0"])
