"""Indexes: facts by some of their arguments, and rule instances by the facts they read."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from plansafe.verifier.compile.emitter import Emitter
from plansafe.verifier.compile.triggers import ReadPattern
from plansafe.verifier.execution.state import StateChange, shallow_copy
from plansafe.verifier.model.nodes import Task

Binding = tuple[int, ...]


class FactIndexes:
    """The indexes ``I`` that generated joins use, kept in step with the state by its log of changes."""

    def __init__(self, emitter: Emitter, asked: set[tuple[int, tuple[int, ...]]]) -> None:
        self.task: Task = emitter.task
        self.size = emitter.size
        self.tables: list[dict[int, set[int]]] = []
        self.specs = {spec: emitter.indexes[spec] for spec in asked}
        self._by_predicate: dict[int, list[tuple[int, tuple[int, ...]]]] = {}
        self._mine: dict[int, set[int]] | None = None
        """Of each table that no fork shares, the keys whose sets no fork shares; ``None``: nothing is shared."""

    def build(self, facts: list[set[int]]) -> None:
        """Build the indexes that were asked for when this was made."""
        self.tables = [{} for _ in range(max(self.specs.values(), default=-1) + 1)]
        self._by_predicate = {}
        self._mine = None
        for (predicate, positions), number in self.specs.items():
            self._fill(predicate, positions, number, facts)

    def cover(self, emitter: Emitter, asked: set[tuple[int, tuple[int, ...]]], facts: list[set[int]]) -> None:
        """Add indexes that are asked for and not there yet, for a state that these indexes fit."""
        if len(asked) <= len(self.specs) and asked <= self.specs.keys():
            return
        missing = {spec: emitter.indexes[spec] for spec in asked if spec not in self.specs}
        self.specs = {**self.specs, **missing}
        self._by_predicate = {predicate: list(entries) for predicate, entries in self._by_predicate.items()}
        self.tables += [{} for _ in range(max(missing.values()) + 1 - len(self.tables))]
        for (predicate, positions), number in missing.items():
            self.tables[number] = {}
            self._fill(predicate, positions, number, facts)
            if self._mine is not None:
                self._mine[number] = set(self.tables[number])

    def _fill(self, predicate: int, positions: tuple[int, ...], number: int, facts: list[set[int]]) -> None:
        powers = self._powers(predicate, positions)
        self._by_predicate.setdefault(predicate, []).append((number, powers))
        table = self.tables[number]
        for code in facts[predicate]:
            table.setdefault(self._key(code, powers), set()).add(code)

    def fork(self) -> FactIndexes:
        """An independent copy for a state that is the same now. What neither changes is shared: constant time."""
        copy = FactIndexes.__new__(FactIndexes)
        copy.task, copy.size, copy.specs = self.task, self.size, self.specs
        copy.tables, copy._by_predicate = list(self.tables), self._by_predicate  # noqa: SLF001 - of its own class
        copy._mine, self._mine = {}, {}  # noqa: SLF001 - of its own class
        return copy

    def _powers(self, predicate: int, positions: tuple[int, ...]) -> tuple[int, ...]:
        arity = len(self.task.predicates[predicate].types)
        return tuple([self.size ** (arity - 1 - place) for place in positions])

    def _key(self, code: int, powers: tuple[int, ...]) -> int:
        key = 0
        for power in powers:
            key = key * self.size + code // power % self.size
        return key

    def reads(self, predicate: int) -> bool:
        """Whether a table is made from the facts of a predicate, so that it follows their changes."""
        return predicate in self._by_predicate

    def update(self, log: Iterable[StateChange]) -> None:
        """Follow the changes of a step."""
        by_predicate = self._by_predicate
        if not by_predicate:
            return
        for predicate, code, value in log:
            for number, powers in by_predicate.get(predicate, ()):
                key = self._key(code, powers)
                if self._mine is not None:
                    self._own(number, key)
                if value:
                    self.tables[number].setdefault(key, set()).add(code)
                else:
                    self.tables[number][key].discard(code)

    def _own(self, number: int, key: int) -> None:
        """Copy what a fork shares before it is changed."""
        assert self._mine is not None
        keys = self._mine.get(number)
        if keys is None:
            keys = self._mine[number] = set()
            self.tables[number] = dict(self.tables[number])
        if key not in keys:
            keys.add(key)
            shared = self.tables[number].get(key)
            if shared is not None:
                self.tables[number][key] = set(shared)


class InstanceIndex:
    """Which instances read a changed fact.

    Patterns that name the same parameters share a table: a rule that a mapping writes with many actions reads each of
    them by the same few.
    """

    def __init__(self, patterns: list[ReadPattern]) -> None:
        self.patterns = patterns
        self.by_predicate: dict[int, list[int]] = {}
        self._shapes = list(dict.fromkeys([pattern.parameters for pattern in patterns]))
        """The parameters that some pattern names, one entry for each table."""
        numbers = {shape: number for number, shape in enumerate(self._shapes)}
        self._keys: dict[int, list[tuple[Callable[[int], Binding | None], int]]] = {}
        """By predicate, how its patterns make keys, and of which table."""
        for number, pattern in enumerate(patterns):
            self.by_predicate.setdefault(pattern.predicate, []).append(number)
            self._keys.setdefault(pattern.predicate, []).append((pattern.key, numbers[pattern.parameters]))
        self._tables: list[dict[Binding, set[Binding]]] = [{} for _ in self._shapes]
        self._changed: list[dict[Binding, set[Binding]]] | None = None
        """What differs from the tables since a fork shares them; ``None``: nobody shares them."""

    def add(self, binding: Binding) -> None:
        """Register an instance."""
        for number, shape in enumerate(self._shapes):
            self._set(number, tuple([binding[p] for p in shape])).add(binding)

    def remove(self, binding: Binding) -> None:
        """Forget an instance."""
        for number, shape in enumerate(self._shapes):
            key = tuple([binding[p] for p in shape])
            left = self._set(number, key)
            left.discard(binding)
            if left:
                continue
            if self._changed is None:
                del self._tables[number][key]
            elif key not in self._tables[number]:
                del self._changed[number][key]

    def _set(self, number: int, key: Binding) -> set[Binding]:
        """The set behind a key, to be changed."""
        if self._changed is None:
            return self._tables[number].setdefault(key, set())
        found = self._changed[number].get(key)
        if found is None:
            found = self._changed[number][key] = set(self._tables[number].get(key, ()))
        return found

    def readers(self, predicate: int, code: int, out: set[Binding]) -> bool:
        """Add the registered instances that read the fact to ``out``; whether there are any."""
        changed, some = self._changed, False
        for key_of, number in self._keys.get(predicate, ()):
            key = key_of(code)
            if key is not None:
                found = None if changed is None else changed[number].get(key)
                if found is None:
                    found = self._tables[number].get(key)
                if found:
                    out |= found
                    some = True
        return some

    def matches(self, predicate: int, code: int) -> bool:
        """Whether some pattern reads the fact, whatever is registered."""
        keys = self._keys.get(predicate)
        return keys is not None and any([key_of(code) is not None for key_of, _ in keys])

    def read(self, predicate: int, code: int) -> bool:
        """Whether some registered instance reads the fact."""
        changed = self._changed
        for key_of, number in self._keys.get(predicate, ()):
            key = key_of(code)
            if key is not None:
                found = None if changed is None else changed[number].get(key)
                if self._tables[number].get(key) if found is None else found:
                    return True
        return False

    def fork(self) -> InstanceIndex:
        """An independent copy, at the cost of what has changed since the tables were first shared."""
        copy = shallow_copy(self)
        if self._changed is None:
            self._changed = [{} for _ in self._shapes]
        copy._changed = [{key: set(found) for key, found in changes.items()} for changes in self._changed]  # noqa: SLF001 - of its own class
        return copy
