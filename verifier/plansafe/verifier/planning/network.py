"""Propositions and operators without deletes: what a relaxed search runs on."""

from __future__ import annotations

from collections.abc import Iterable

Fact = tuple[int, int, bool]
"""A predicate, the code of its arguments, and whether it is true."""
Conjunction = tuple[int, ...]


class Network:
    """Propositions, numbered, and operators with ``conditions`` and ``effects``.

    The ``labels`` entry of an operator says which step it belongs to: -1 for those that cost nothing.
    """

    def __init__(self) -> None:
        self.size = 0
        self.readers: list[list[int]] = []
        self.needs: list[int] = []
        self.effects: list[list[int]] = []
        self.conditions: list[Conjunction] = []
        self.labels: list[int] = []
        self.free: list[int] = []
        self.facts: dict[Fact, int] = {}
        self._choices: dict[frozenset[Conjunction], int] = {}
        self._achievers: dict[Fact, list[int]] = {}

    def fresh(self) -> int:
        """A new proposition."""
        self.readers.append([])
        self.size += 1
        return self.size - 1

    def fact(self, fact: Fact) -> int:
        """The proposition of a fact."""
        known = self.facts.get(fact)
        if known is None:
            known = self.facts[fact] = self.fresh()
            for number in self._achievers.get(fact, ()):
                self.effects[number].append(known)
        return known

    def operator(self, condition: Conjunction, label: int = -1) -> int:
        """A new operator."""
        number = len(self.needs)
        self.needs.append(len(condition))
        self.conditions.append(condition)
        self.effects.append([])
        self.labels.append(label)
        for proposition in condition:
            self.readers[proposition].append(number)
        if not condition:
            self.free.append(number)
        return number

    def achieves(self, operator: int, fact: Fact) -> None:
        """Let an operator make a fact true."""
        self._achievers.setdefault(fact, []).append(operator)
        known = self.facts.get(fact)
        if known is not None:
            self.effects[operator].append(known)

    def any(self, parts: Iterable[Conjunction | None]) -> Conjunction | None:
        """A proposition for a disjunction; ``None`` is never true."""
        choices: set[Conjunction] = set()
        for part in parts:
            if part == ():
                return ()
            if part is not None:
                choices.add(part)
        if len(choices) < 2:
            return choices.pop() if choices else None
        key = frozenset(choices)
        known = self._choices.get(key)
        if known is None:
            known = self._choices[key] = self.fresh()
            for choice in choices:
                self.effects[self.operator(choice)].append(known)
        return (known,)


def all_of(parts: Iterable[Conjunction | None]) -> Conjunction | None:
    """A conjunction; ``None`` is never true."""
    out: Conjunction = ()
    for part in parts:
        if part is None:
            return None
        out = tuple(sorted({*out, *part})) if out and part else out or part
    return out
