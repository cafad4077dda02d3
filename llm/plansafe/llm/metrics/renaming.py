"""The renaming of variables under which two sets of literals have most in common: exact, by branch and bound."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from plansafe.llm.metrics.literals import Literal

MOST_NODES = 200_000
MOST_VARIABLES = 32


class TooManyVariables(ValueError):
    """The search for the best renaming would take too long; nothing is approximated."""


@dataclass(frozen=True, slots=True)
class Variables:
    """The variables of an action in order, with their types; then further variables of the text."""

    names: tuple[str, ...]
    types: Mapping[str, str]

    def fits(self, name: str, reference_variables: Variables, reference_name: str) -> bool:
        """Whether a variable may stand for another: their types are equal, or one has no type (``object``)."""
        mine, its = self.types.get(name, "object"), reference_variables.types.get(reference_name, "object")
        return mine == its or "object" in (mine, its)


def best_renaming(
    predicted: Sequence[frozenset[Literal]],
    reference: Sequence[frozenset[Literal]],
    variables: Variables,
    reference_variables: Variables,
) -> dict[str, str]:
    """The one-to-one renaming of predicted variables with most literals in common, over all pairs of sets together.

    Of several, the one with most in common in the first pair; of those, the first in which earlier variables stand for
    earlier ones: by position. Variables without counterpart keep a name that nothing of the reference has. Raises
    :class:`TooManyVariables`.
    """
    if max(len(variables.names), len(reference_variables.names)) > MOST_VARIABLES:
        raise TooManyVariables(f"more than {MOST_VARIABLES} variables")
    return _Search(predicted, reference, variables, reference_variables).run()


class _Search:
    def __init__(
        self,
        predicted: Sequence[frozenset[Literal]],
        reference: Sequence[frozenset[Literal]],
        variables: Variables,
        reference_variables: Variables,
    ) -> None:
        self.reference = reference
        self.variables, self.reference_variables = variables, reference_variables
        self.order = variables.names
        place = {name: at for at, name in enumerate(self.order)}
        # Each predicted literal is decided with the last of its variables.
        self.due: list[list[tuple[int, Literal]]] = [[] for _ in range(len(self.order) + 1)]
        for side, literals in enumerate(predicted):
            for literal in sorted(literals):
                last = max([place[a] + 1 for a in literal.arguments if a in place], default=0)
                self.due[last].append((side, literal))
        self.hope = [self._hope(after) for after in range(len(self.order) + 1)]
        self.best: tuple[int, int] = (-1, -1)
        self.found: dict[str, str] = {}
        self.nodes = 0

    def _hope(self, after: int) -> int:
        """An upper bound on the literals decided later that can match: the common signatures, counted."""
        total = 0
        for side, literals in enumerate(self.reference):
            later = Counter(
                [_signature(literal) for due in self.due[after + 1 :] for where, literal in due if where == side]
            )
            total += sum((later & Counter([_signature(literal) for literal in literals])).values())
        return total

    def run(self) -> dict[str, str]:
        names = dict.fromkeys(self.order, "")
        start = self._matched(0, names)
        self._assign(0, names, set(), start)
        return self.found

    def _matched(self, at: int, names: Mapping[str, str]) -> tuple[int, int]:
        """How many of the literals that are now decided match: in all, and in the first pair."""
        total = first = 0
        for side, literal in self.due[at]:
            if literal.renamed(names) in self.reference[side]:
                total += 1
                first += side == 0
        return total, first

    def _assign(self, at: int, names: dict[str, str], used: set[str], score: tuple[int, int]) -> None:
        self.nodes += 1
        if self.nodes > MOST_NODES:
            raise TooManyVariables(f"{len(self.order)} variables against {len(self.reference_variables.names)}")
        hope = self.hope[at]
        if (score[0] + hope, score[1] + hope) <= self.best:
            return
        if at == len(self.order):
            self.best, self.found = score, dict(names)
            return
        name = self.order[at]
        fitting = [
            o
            for o in self.reference_variables.names
            if o not in used and self.variables.fits(name, self.reference_variables, o)
        ]
        for candidate in (*fitting, None):
            names[name] = candidate if candidate is not None else f"?unmatched {at}"
            total, first = self._matched(at + 1, names)
            if candidate is not None:
                used.add(candidate)
            self._assign(at + 1, names, used, (score[0] + total, score[1] + first))
            if candidate is not None:
                used.discard(candidate)


def _signature(literal: Literal) -> tuple[str, int, bool, str]:
    return literal.predicate, len(literal.arguments), literal.negated, literal.shape
