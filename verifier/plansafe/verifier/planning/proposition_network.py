"""Numbered propositions, and operators that make propositions true if others are: the graph of a delete relaxation."""

from __future__ import annotations

from collections.abc import Iterable

Fact = tuple[int, int, bool]
"""A predicate, the code of its arguments, and whether it is true."""
Conjunction = tuple[int, ...]
"""Propositions that must all be true; where ``None`` is allowed, it means a condition that is never true."""


NO_STEP = -1
"""The label of an operator that belongs to no step and has no cost."""


class PropositionNetwork:
    """Numbered propositions, and operators with ``conditions`` and ``effects`` but without deletes.

    ``labels``: the step of each operator, or :data:`NO_STEP`. ``readers``: the operators whose conditions contain a
    proposition. ``unconditional_operators``: operators without condition.
    """

    def __init__(self) -> None:
        self.size = 0
        self.readers: list[list[int]] = []
        self.condition_sizes: list[int] = []
        self.effects: list[list[int]] = []
        self.conditions: list[Conjunction] = []
        self.labels: list[int] = []
        self.unconditional_operators: list[int] = []
        self.facts: dict[Fact, int] = {}
        self._disjunctions: dict[frozenset[Conjunction], int] = {}
        """The proposition of each disjunction, by its parts."""
        self._achievers: dict[Fact, list[int]] = {}
        """The operators that make a fact true, which may have no proposition yet."""

    def add_proposition(self) -> int:
        """Add a proposition."""
        self.readers.append([])
        self.size += 1
        return self.size - 1

    def find_proposition(self, fact: Fact) -> int:
        """Return the proposition of a fact, which is added if it is new."""
        proposition = self.facts.get(fact)
        if proposition is None:
            proposition = self.facts[fact] = self.add_proposition()
            for number in self._achievers.get(fact, ()):
                self.effects[number].append(proposition)
        return proposition

    def add_operator(self, condition: Conjunction, label: int = NO_STEP) -> int:
        """Add an operator."""
        number = len(self.condition_sizes)
        self.condition_sizes.append(len(condition))
        self.conditions.append(condition)
        self.effects.append([])
        self.labels.append(label)
        for proposition in condition:
            self.readers[proposition].append(number)
        if not condition:
            self.unconditional_operators.append(number)
        return number

    def add_effect(self, operator: int, fact: Fact) -> None:
        """Let an operator make a fact true."""
        self._achievers.setdefault(fact, []).append(operator)
        proposition = self.facts.get(fact)
        if proposition is not None:
            self.effects[operator].append(proposition)

    def disjoin(self, parts: Iterable[Conjunction | None]) -> Conjunction | None:
        """Return a conjunction for a disjunction (``None``: never true), with a new proposition if needed."""
        choices: set[Conjunction] = set()
        for part in parts:
            if part == ():
                return ()
            if part is not None:
                choices.add(part)
        if not choices:
            return None
        if len(choices) == 1:
            return choices.pop()
        key = frozenset(choices)
        proposition = self._disjunctions.get(key)
        if proposition is None:
            proposition = self._disjunctions[key] = self.add_proposition()
            for choice in choices:
                self.effects[self.add_operator(choice)].append(proposition)
        return (proposition,)


def conjoin(parts: Iterable[Conjunction | None]) -> Conjunction | None:
    """Return the conjunction of conjunctions (``None``: never true)."""
    conjunction: Conjunction = ()
    for part in parts:
        if part is None:
            return None
        if conjunction and part:
            conjunction = tuple(sorted({*conjunction, *part}))
        else:
            conjunction = conjunction or part
    return conjunction
