"""Names and numbers that the readers of planners take."""

from __future__ import annotations

import re

from plansafe.verifier.model.nodes import (
    Number,
    Task,
    Variable,
)

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
"""Of PDDL, and of the readers of planners."""


class Unprintable(Exception):
    """Something that PDDL has no text for, or that no planner here reads; the text says what."""


class PddlNames:
    """Plain names, unique over all name spaces."""

    def __init__(self) -> None:
        self._taken: set[str] = set(KEYWORDS)

    def new(self, name: str) -> str:
        """A name like ``name`` that nothing has yet."""
        plain = re.sub(r"[^a-z0-9_-]", "_", name.lower())
        if not plain or not plain[0].isalpha():
            plain = "n" + plain
        found, number = plain, 2
        while found in self._taken:
            found = f"{plain}_{number}"
            number += 1
        self._taken.add(found)
        return found


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
    """Sets of objects as a tree of types; sets that do not fit are guards.

    ``told``: domains whose sets are static predicates as well, whether they fit or not.
    """

    def __init__(self, task: Task, used: set[int], told: set[int], names: PddlNames) -> None:
        self.task = task
        everything = frozenset(range(len(task.objects)))
        sets = {frozenset(task.domains[d]) for d in used} - {everything, frozenset()}
        family: list[frozenset[int]] = []
        for candidate in sorted(sets, key=lambda s: (-len(s), sorted(s))):
            if all([candidate <= other or not candidate & other for other in family]):
                family.append(candidate)
        own_names = self._own_names(sets)
        self.names: dict[frozenset[int], str] = {everything: "object"}
        self.guards: dict[frozenset[int], str] = {}
        for members in family:
            self.names[members] = names.new(own_names.get(members, "kind"))
        wanted = sets & {frozenset(task.domains[d]) for d in told} | sets - set(family)
        for members in sorted(wanted, key=lambda s: (-len(s), sorted(s))):
            self.guards[members] = names.new("is-" + own_names.get(members, "kind"))
        # From the smallest: the first that contains what is asked for is the narrowest.
        self.family = [*reversed(family), everything]
        self.of_object: list[frozenset[int]] = [everything] * len(task.objects)
        for members in reversed(self.family):
            for number in members:
                self.of_object[number] = members

    def _own_names(self, sets: set[frozenset[int]]) -> dict[frozenset[int], str]:
        """Names of the task's own types for sets that are their extensions."""
        task = self.task
        found: dict[frozenset[int], str] = {}
        direct: dict[int, set[int]] = {}
        for number, types in enumerate(task.object_types):
            for type_number in types:
                direct.setdefault(type_number, set()).add(number)
        for type_number, members in direct.items():
            found.setdefault(frozenset(members), task.type_names[type_number])
        for declared in (*task.predicates, *task.functions):
            for types, domain in zip(declared.types, declared.domains, strict=True):
                if len(types) == 1:
                    found[frozenset(task.domains[domain])] = task.type_names[types[0]]
        return {members: name for members, name in found.items() if members in sets}

    def narrowest(self, members: frozenset[int]) -> frozenset[int]:
        """The smallest type that holds all ``members``."""
        return next(t for t in self.family if members <= t)

    def of_domain(self, domain: int) -> frozenset[int]:
        """The type of a variable over a domain."""
        return self.narrowest(frozenset(self.task.domains[domain]))

    def guard(self, variable: Variable, told: bool = False) -> str | None:
        """The static predicate that a variable's objects must have beside their type; with ``told``, may."""
        members = frozenset(self.task.domains[variable.domain])
        return self.guards.get(members) if told or members not in self.names else None

    def declarations(self) -> str:
        """The ``:types`` section, without its parentheses."""
        out = []
        for place, members in enumerate(self.family[:-1]):
            parent = next(t for t in self.family[place + 1 :] if members <= t)
            out.append(f"{self.names[members]} - {self.names[parent]}")
        return " ".join(reversed(out))
