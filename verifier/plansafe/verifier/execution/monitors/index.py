"""Indexes: facts by some of their arguments, and rule instances by the facts that they read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from plansafe.verifier.compile.code_builder import IndexKey
from plansafe.verifier.compile.emitter import Emitter, ViewFunction
from plansafe.verifier.compile.triggers import ReadPattern
from plansafe.verifier.execution.state import StateChange, shallow_copy
from plansafe.verifier.model.nodes import Number, Task

Binding = tuple[int, ...]
MAX_STORED_MATCHES = 100_000
"""The most values of variables whose matches a view stores."""


class FactIndexes(dict[int, dict[int, Any]]):
    """The indexes ``I`` of generated joins, by number, updated with each log of changes.

    An index has the facts of a predicate by the code of some of their arguments. Besides the requested indexes,
    conditions of monitors use indexes that are made at their first use, and the tables of views
    (:class:`QuantifierView`), which forks do not share.
    """

    def __init__(self, emitter: Emitter, requested: AbstractSet[IndexKey]) -> None:
        super().__init__()
        self.emitter = emitter
        self.task: Task = emitter.task
        self.requested = requested
        """The indexes that :meth:`build` makes. More are requested when the code of triggers is compiled."""
        self.facts: list[set[int]] = []
        """The facts of the present state, for indexes that are made later."""
        self._object_count = emitter.object_count
        self._indexes_of_predicate: dict[int, list[tuple[int, tuple[int, ...]]]] = {}
        """By predicate, the numbers of its indexes, each with the place values of the arguments in a fact's code."""
        self._reported_views: set[int] = set()
        """The views whose changes are all reported (:meth:`report_views`)."""
        self._unshared_keys: dict[int, set[int]] | None = None
        """By index that no fork shares, the keys whose sets no fork shares; ``None``: no fork shares anything."""

    def __missing__(self, number: int) -> dict[int, Any]:
        key = self.emitter.get_index_key(number)
        if key is None:
            self[number] = {}
        else:
            # Forks share the lists.
            self._indexes_of_predicate = {p: list(entries) for p, entries in self._indexes_of_predicate.items()}
            self._build_index(*key, number)
        return self[number]

    def build(self, facts: list[set[int]]) -> None:
        """Build the requested indexes."""
        self.clear()
        self.facts = facts
        self._indexes_of_predicate = {}
        self._unshared_keys = None
        for key in self.requested:
            self._build_index(*key, self.emitter.indexes[key])

    def cover(self, requested: AbstractSet[IndexKey], facts: list[set[int]]) -> None:
        """Add the requested indexes that are missing; ``facts`` belong to the state that the indexes describe."""
        self.facts = facts
        for key in requested:
            self[self.emitter.indexes[key]]  # builds a missing index

    def _build_index(self, predicate: int, positions: tuple[int, ...], number: int) -> None:
        """Build the index of a predicate by the arguments at the positions."""
        arity = len(self.task.predicates[predicate].types)
        place_values = tuple([self._object_count ** (arity - 1 - position) for position in positions])
        self._indexes_of_predicate.setdefault(predicate, []).append((number, place_values))
        index: dict[int, set[int]] = {}
        for code in self.facts[predicate]:
            index.setdefault(self._compute_key(code, place_values), set()).add(code)
        self[number] = index
        if self._unshared_keys is not None:
            self._unshared_keys[number] = set(index)

    def fork(self) -> FactIndexes:
        """Return an independent copy for an equal state, in constant time: unchanged indexes are shared."""
        copy = FactIndexes.__new__(FactIndexes)
        copy.__dict__ = self.__dict__.copy()
        dict.update(copy, self)
        for view in self.emitter.views:
            copy.pop(view.table, None)
        copy._unshared_keys, self._unshared_keys = {}, {}  # noqa: SLF001 - of its own class
        return copy

    def _compute_key(self, code: int, place_values: tuple[int, ...]) -> int:
        """Return the code of the arguments with these place values in a fact's code."""
        key, size = 0, self._object_count
        for place_value in place_values:
            key = key * size + code // place_value % size
        return key

    def report_views(self, symbol_indexes: set[int]) -> None:
        """Report each change of the views with these symbols, and of the views that they read.

        Other views are updated only if they store something.
        """
        # A view has a higher number than the views that it reads.
        for number, view in reversed([*enumerate(self.emitter.views)]):
            if view.change_index in symbol_indexes:
                self._reported_views.add(number)
                symbol_indexes |= {trigger.change_index for trigger in view.triggers}

    def update_views(
        self, facts: list[set[int]], fluents: list[dict[int, Number]], log: Sequence[StateChange]
    ) -> list[StateChange]:
        """Update the views after :meth:`follow`; return their changes.

        The value of such a change is ``None`` if the view may have changed in any way.
        """
        views, find_functions = self.emitter.views, self.emitter.find_view_functions
        due_triggers: dict[int, list[tuple[ViewFunction, int]]] = {}

        def add_due_triggers(index: int, code: int) -> None:
            for number, find in find_functions(index, code):
                if number in self._reported_views or self[views[number].table]:
                    due_triggers.setdefault(number, []).append((find, code))

        for symbol_index, code, _ in log:
            add_due_triggers(symbol_index, code)
        if not due_triggers:
            return []
        deleted_facts = [(p, code) for p, code, value in log if value is False and code not in facts[p]]
        changes: list[StateChange] = []
        are_restored = False  # deleted facts must be present for ``find``, and absent for ``has_match``
        try:
            while due_triggers:
                number = min(due_triggers)  # a view has a higher number than the views that it reads
                view = views[number]
                table, has_match = self[view.table], self.emitter.compile_function(view.search_name)
                affected_codes: set[int] = set()
                if deleted_facts and not are_restored:
                    self._set_facts(facts, deleted_facts, value=True)
                    are_restored = True
                for find, code in due_triggers.pop(number):
                    find(facts, fluents, self, code, affected_codes)
                if len(table) > MAX_STORED_MATCHES:
                    for later_view in views[number:]:  # their matches may depend on matches of this view
                        self[later_view.table].clear()
                for code in affected_codes:
                    before, after = table.pop(code, None), None
                    if before is not None:
                        if are_restored:
                            self._set_facts(facts, deleted_facts, value=False)
                            are_restored = False
                        after = has_match(facts, fluents, self, code)
                    if before is None or before is not after:
                        changes.append((view.change_index, code, after))
                        add_due_triggers(view.change_index, code)
        finally:
            if are_restored:
                self._set_facts(facts, deleted_facts, value=False)
        return changes

    def _set_facts(self, facts: list[set[int]], changed: list[tuple[int, int]], *, value: bool) -> None:
        """Add facts to the state and the indexes, or delete them unless ``value``."""
        for predicate, code in changed:
            if value:
                facts[predicate].add(code)
            else:
                facts[predicate].discard(code)
        self.follow([(predicate, code, value) for predicate, code in changed])

    def follow(self, log: Iterable[StateChange]) -> None:
        """Update the indexes after the changes of a step, but not the views."""
        indexes_of_predicate = self._indexes_of_predicate
        if not indexes_of_predicate:
            return
        for predicate, code, value in log:
            for number, place_values in indexes_of_predicate.get(predicate, ()):
                key = self._compute_key(code, place_values)
                if self._unshared_keys is not None:
                    self._unshare(number, key)
                if value:
                    self[number].setdefault(key, set()).add(code)
                else:
                    self[number][key].discard(code)

    def _unshare(self, number: int, key: int) -> None:
        """Copy an index and its set for a key before they are changed, if a fork shares them."""
        assert self._unshared_keys is not None
        keys = self._unshared_keys.get(number)
        if keys is None:
            keys = self._unshared_keys[number] = set()
            self[number] = dict(self[number])
        if key not in keys:
            keys.add(key)
            shared = self[number].get(key)
            if shared is not None:
                self[number][key] = set(shared)


class _KeyFunctions(dict[int, list[tuple[Callable[[int], Binding | None], int]]]):
    """By symbol, for each of its patterns the function that makes the key, and the table; made at the first use."""

    def __init__(self, patterns: dict[int, list[tuple[ReadPattern, int]]]) -> None:
        super().__init__()
        self._patterns = patterns

    def __missing__(self, symbol: int) -> list[tuple[Callable[[int], Binding | None], int]]:
        functions = [(pattern.key, table) for pattern, table in self._patterns.get(symbol, ())]
        self[symbol] = functions
        return functions


class InstanceIndex:
    """Finds the instances that read a changed fact. Patterns that name the same parameters share a table."""

    def __init__(self, patterns: list[ReadPattern]) -> None:
        self.patterns = patterns
        self.pattern_numbers: dict[int, list[int]] = {}
        """By symbol, the numbers of the patterns that read it."""
        self._table_parameters = list(dict.fromkeys([pattern.parameters for pattern in patterns]))
        """By table, the parameters that its patterns name."""
        table_numbers = {parameters: number for number, parameters in enumerate(self._table_parameters)}
        patterns_by_symbol: dict[int, list[tuple[ReadPattern, int]]] = {}
        for number, pattern in enumerate(patterns):
            self.pattern_numbers.setdefault(pattern.predicate, []).append(number)
            entry = pattern, table_numbers[pattern.parameters]
            patterns_by_symbol.setdefault(pattern.predicate, []).append(entry)
        self._key_functions = _KeyFunctions(patterns_by_symbol)
        self._tables: list[dict[Binding, set[Binding]]] = [{} for _ in self._table_parameters]
        """By table, the bindings of the registered instances by the objects of its parameters."""
        self._changed_entries: list[dict[Binding, set[Binding]]] | None = None
        """The differences from the tables since a fork shares them; ``None``: no fork shares them."""
        self._unshared_keys: list[set[Binding]] = []
        """By table, the keys whose sets in the differences no fork shares."""

    def add(self, binding: Binding) -> None:
        """Register an instance."""
        for number, parameters in enumerate(self._table_parameters):
            self._get_changeable_bindings(number, tuple([binding[p] for p in parameters])).add(binding)

    def remove(self, binding: Binding) -> None:
        """Forget an instance."""
        for number, parameters in enumerate(self._table_parameters):
            key = tuple([binding[p] for p in parameters])
            bindings = self._get_changeable_bindings(number, key)
            bindings.discard(binding)
            if bindings:
                continue
            if self._changed_entries is None:
                del self._tables[number][key]
            elif key not in self._tables[number]:
                del self._changed_entries[number][key]

    def _get_changeable_bindings(self, number: int, key: Binding) -> set[Binding]:
        """Return the bindings of a key in a table, as a set that no fork shares."""
        if self._changed_entries is None:
            return self._tables[number].setdefault(key, set())
        bindings = self._changed_entries[number].get(key)
        if bindings is None or key not in self._unshared_keys[number]:
            shared = self._tables[number].get(key, ()) if bindings is None else bindings
            bindings = self._changed_entries[number][key] = set(shared)
            self._unshared_keys[number].add(key)
        return bindings

    def add_readers(self, predicate: int, code: int, readers: set[Binding]) -> bool:
        """Add the registered instances that read a fact to ``readers``; return whether there are any."""
        changed_entries, has_readers = self._changed_entries, False
        for make_key, number in self._key_functions[predicate]:
            key = make_key(code)
            if key is not None:
                bindings = None if changed_entries is None else changed_entries[number].get(key)
                if bindings is None:
                    bindings = self._tables[number].get(key)
                if bindings:
                    readers |= bindings
                    has_readers = True
        return has_readers

    def matches(self, predicate: int, code: int) -> bool:
        """Whether some pattern reads a fact."""
        key_functions = self._key_functions[predicate]
        return bool(key_functions) and any([make_key(code) is not None for make_key, _ in key_functions])

    def has_reader(self, predicate: int, code: int) -> bool:
        """Whether some registered instance reads a fact."""
        changed_entries = self._changed_entries
        for make_key, number in self._key_functions[predicate]:
            key = make_key(code)
            if key is not None:
                bindings = None if changed_entries is None else changed_entries[number].get(key)
                if self._tables[number].get(key) if bindings is None else bindings:
                    return True
        return False

    def fork(self) -> InstanceIndex:
        """Return an independent copy; linear in the keys that have changed since the tables were first shared."""
        copy = shallow_copy(self)
        if self._changed_entries is None:
            self._changed_entries = [{} for _ in self._table_parameters]
        copy._changed_entries = [dict(changes) for changes in self._changed_entries]  # noqa: SLF001 - of its own class
        self._unshared_keys = [set() for _ in self._table_parameters]
        copy._unshared_keys = [set() for _ in self._table_parameters]  # noqa: SLF001 - of its own class
        return copy
