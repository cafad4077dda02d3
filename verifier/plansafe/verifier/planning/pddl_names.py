"""Names, numbers and types of printed PDDL that the parsers of planners accept."""

from __future__ import annotations

import re

from plansafe.verifier.model.nodes import Number, Task, Variable

TOTAL_COST = "total-cost"
_WORDS = (
    "define domain problem requirements types constants predicates functions constraints action durative-action derived"
    " process event objects init goal metric length parameters precondition effect condition duration control"
    " and or not imply implies forall exists when either object number at over start end all = < > <= >= + - * /"
    " always sometime within at-most-once sometime-after sometime-before always-within hold-during hold-after"
    " preference is-violated increase decrease assign scale-up scale-down minimize maximize total-time"
    " undefined unknown oneof true false"
)
KEYWORDS = frozenset(_WORDS.split())
"""Keywords of PDDL and of the parsers of planners."""


class Unprintable(Exception):
    """A feature, named in the text, that PDDL cannot express or no supported planner parses."""


class PddlNames:
    """Simple names, unique over all name spaces."""

    def __init__(self) -> None:
        self._names: set[str] = set(KEYWORDS)

    def new(self, name: str) -> str:
        """Return a new name similar to ``name``."""
        simple = re.sub(r"[^a-z0-9_-]", "_", name.lower())
        if not simple or not simple[0].isalpha():
            simple = "n" + simple
        unique, number = simple, 2
        while unique in self._names:
            unique = f"{simple}_{number}"
            number += 1
        self._names.add(unique)
        return unique


def decimal_text(value: Number) -> str:
    """A number as an exact decimal. Raises :class:`Unprintable` if it has none."""
    if value.denominator == 1:
        return str(value.numerator)
    digits, denominator = 0, value.denominator
    for prime in (2, 5):
        power = 0
        while denominator % prime == 0:
            denominator //= prime
            power += 1
        digits = max(digits, power)
    if denominator != 1:
        raise Unprintable(f"the number {value} has no exact decimal")
    scaled = abs(value) * 10**digits
    text = str(int(scaled)).rjust(digits + 1, "0")
    return f"{'-' if value < 0 else ''}{text[:-digits]}.{text[-digits:]}"


class TypeTree:
    """The sets of objects of domains as a tree of types; sets that do not fit become static predicates (``guards``).

    ``guarded``: domains whose sets also become guards, whether they fit or not.
    """

    def __init__(self, task: Task, used: set[int], guarded: set[int], names: PddlNames) -> None:
        self.task = task
        everything = frozenset(range(len(task.objects)))
        sets = {frozenset(task.domains[d]) for d in used} - {everything, frozenset()}
        family: list[frozenset[int]] = []
        for candidate in sorted(sets, key=lambda s: (-len(s), sorted(s))):
            if all([candidate <= larger or not candidate & larger for larger in family]):
                family.append(candidate)
        declared_names = self._declared_names(sets)
        self.names: dict[frozenset[int], str] = {everything: "object"}
        self.guards: dict[frozenset[int], str] = {}
        for members in family:
            self.names[members] = names.new(declared_names.get(members, "kind"))
        guards = sets & {frozenset(task.domains[d]) for d in guarded} | sets - set(family)
        for members in sorted(guards, key=lambda s: (-len(s), sorted(s))):
            self.guards[members] = names.new("is-" + declared_names.get(members, "kind"))
        # Smallest first, so that the first type that contains a set is the narrowest.
        self.family = [*reversed(family), everything]
        self.of_object: list[frozenset[int]] = [everything] * len(task.objects)
        for members in reversed(self.family):
            for number in members:
                self.of_object[number] = members

    def _declared_names(self, sets: set[frozenset[int]]) -> dict[frozenset[int], str]:
        """The names of the task's types for the sets that are their extensions."""
        task = self.task
        type_names: dict[frozenset[int], str] = {}
        direct: dict[int, set[int]] = {}
        for number, types in enumerate(task.object_types):
            for type_number in types:
                direct.setdefault(type_number, set()).add(number)
        for type_number, members in direct.items():
            type_names.setdefault(frozenset(members), task.type_names[type_number])
        for declared in (*task.predicates, *task.functions):
            for types, domain in zip(declared.types, declared.domains, strict=True):
                if len(types) == 1:
                    type_names[frozenset(task.domains[domain])] = task.type_names[types[0]]
        return {members: name for members, name in type_names.items() if members in sets}

    def narrowest(self, members: frozenset[int]) -> frozenset[int]:
        """The smallest type that contains all ``members``."""
        return next(t for t in self.family if members <= t)

    def of_domain(self, domain: int) -> frozenset[int]:
        """The type of a variable over a domain."""
        return self.narrowest(frozenset(self.task.domains[domain]))

    def guard(self, variable: Variable, redundant: bool = False) -> str | None:
        """The static predicate that a variable's objects need in addition to their type, or a ``redundant`` one."""
        members = frozenset(self.task.domains[variable.domain])
        return self.guards.get(members) if redundant or members not in self.names else None

    def declarations(self) -> str:
        """The ``:types`` section, without its parentheses."""
        declarations = []
        for place, members in enumerate(self.family[:-1]):
            parent = next(t for t in self.family[place + 1 :] if members <= t)
            declarations.append(f"{self.names[members]} - {self.names[parent]}")
        return " ".join(reversed(declarations))
