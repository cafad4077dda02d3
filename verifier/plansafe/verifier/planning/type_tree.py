"""The domains of a task's variables as a tree of PDDL types, and static predicates where that is not enough."""

from __future__ import annotations

from plansafe.verifier.model.nodes import Task, Variable
from plansafe.verifier.planning.pddl_names import PddlNames

_DEFAULT_NAME = "kind"
"""The name of a type that the task does not declare."""


class TypeTree:
    """The object sets of a task's domains as a tree of PDDL types.

    Sets that overlap another set without being nested become static predicates, the ``guards``. ``used_domains``: the
    domains of all variables that are printed. ``guarded_domains``: domains whose sets become guards in any case.
    ``names``: the name of each type, by its set of objects. ``type_of_object``: the smallest type of each object.
    """

    def __init__(self, task: Task, used_domains: set[int], guarded_domains: set[int], names: PddlNames) -> None:
        self.task = task
        everything = frozenset(range(len(task.objects)))
        domain_sets = {frozenset(task.domains[domain]) for domain in used_domains} - {everything, frozenset()}
        nested_sets: list[frozenset[int]] = []
        for candidate in sorted(domain_sets, key=lambda members: (-len(members), sorted(members))):
            if all([candidate <= larger_set or not candidate & larger_set for larger_set in nested_sets]):
                nested_sets.append(candidate)
        declared_names = self._find_declared_names(domain_sets)
        self.names: dict[frozenset[int], str] = {everything: "object"}
        self.guards: dict[frozenset[int], str] = {}
        for members in nested_sets:
            self.names[members] = names.make_unique(declared_names.get(members, _DEFAULT_NAME))
        guarded_sets = {frozenset(task.domains[domain]) for domain in guarded_domains}
        guard_sets = (domain_sets & guarded_sets) | (domain_sets - set(nested_sets))
        for members in sorted(guard_sets, key=lambda objects: (-len(objects), sorted(objects))):
            self.guards[members] = names.make_unique("is-" + declared_names.get(members, _DEFAULT_NAME))
        # Smallest first, so that the first type that contains a set is the narrowest.
        self.types_by_size = [*reversed(nested_sets), everything]
        self.type_of_object: list[frozenset[int]] = [everything] * len(task.objects)
        for members in reversed(self.types_by_size):
            for number in members:
                self.type_of_object[number] = members

    def _find_declared_names(self, sets: set[frozenset[int]]) -> dict[frozenset[int], str]:
        """Return the names of the task's types, by their objects, as far as these are in ``sets``."""
        task = self.task
        type_names: dict[frozenset[int], str] = {}
        direct_members: dict[int, set[int]] = {}
        for number, types in enumerate(task.object_types):
            for type_number in types:
                direct_members.setdefault(type_number, set()).add(number)
        for type_number, members in direct_members.items():
            type_names.setdefault(frozenset(members), task.type_names[type_number])
        for symbol in (*task.predicates, *task.functions):
            for types, domain in zip(symbol.types, symbol.domains, strict=True):
                if len(types) == 1:
                    type_names[frozenset(task.domains[domain])] = task.type_names[types[0]]
        return {members: name for members, name in type_names.items() if members in sets}

    def find_narrowest(self, members: frozenset[int]) -> frozenset[int]:
        """Return the smallest type that contains all ``members``."""
        return next(objects for objects in self.types_by_size if members <= objects)

    def find_type_of_domain(self, domain: int) -> frozenset[int]:
        """Return the type of a variable over a domain."""
        return self.find_narrowest(frozenset(self.task.domains[domain]))

    def find_guard(self, variable: Variable, *, redundant: bool = False) -> str | None:
        """Return the static predicate that restricts a variable beyond its type; ``None`` if the type is enough.

        ``redundant``: return the static predicate, if there is one, also if the type is enough.
        """
        members = frozenset(self.task.domains[variable.domain])
        return self.guards.get(members) if redundant or members not in self.names else None

    def print_declarations(self) -> str:
        """Print the ``:types`` section, without its parentheses."""
        declarations = []
        for place, members in enumerate(self.types_by_size[:-1]):
            parent = next(objects for objects in self.types_by_size[place + 1 :] if members <= objects)
            declarations.append(f"{self.names[members]} - {self.names[parent]}")
        return " ".join(reversed(declarations))
