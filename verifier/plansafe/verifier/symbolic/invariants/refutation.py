"""Whether what is known of a state contradicts itself, for all objects at once.

A :class:`PartialState` is a state of which some literals are known. Its terms are variables with a domain, and objects;
two variables may be the same object, unless their domains or what is known forbid it. Refuting one is a small tableau:
equal terms are merged, what may *never* be so closes it or gives one more literal, alternatives are tried in turn. It
is sound and not complete, and its work is bounded. Numbers that are undefined do no harm: of a state in which a step
happens, a condition is known to be true or to be false, and only that is used.
"""

from __future__ import annotations

from typing import NamedTuple

from plansafe.verifier.model.nodes import Task

EQUALITY = -1
"""The predicate of equality. Numbers below it stand for what a vocabulary gives them to."""
MAX_SPLIT_DEPTH = 4
"""Alternatives are tried at most this deep."""
MAX_STEPS = 4000
"""Matches and alternatives, beyond which nothing is refuted."""
SMALL_DOMAIN = 12
"""The objects of a domain that are tried one by one."""


class LiftedLiteral(NamedTuple):
    """An atom, or its negation. An argument that is negative is a variable."""

    positive: bool
    predicate: int
    arguments: tuple[int, ...]


class Denial(NamedTuple):
    """For no objects in place of ``variables`` (variable -> domain, ``None``: any object) are all literals true.

    It says something only if each term of ``members`` is of its domain.
    """

    variables: dict[int, int | None]
    literals: tuple[LiftedLiteral, ...]
    members: tuple[tuple[int, int | None], ...] = ()


class Knowledge(NamedTuple):
    """What is known for some objects in place of ``variables``; of each split one alternative."""

    variables: tuple[tuple[int, int], ...] = ()
    literals: tuple[LiftedLiteral, ...] = ()
    nevers: tuple[Denial, ...] = ()
    splits: tuple[tuple[Knowledge, ...], ...] = ()


class MutexLaw(NamedTuple):
    """At most one instance of the parts is true. A part is a predicate, and for each argument its term or ``None``."""

    parts: tuple[tuple[int, tuple[int | None, ...]], ...]


class DomainRelations:
    """How the domains of a task lie to each other."""

    def __init__(self, task: Task) -> None:
        self.sets = task.domain_sets
        self.objects = len(task.objects)
        self._disjoint: dict[tuple[int, int], bool] = {}
        self._within: dict[tuple[int, int], bool] = {}

    def disjoint(self, a: int, b: int) -> bool:
        """Whether no object is in both."""
        found = self._disjoint.get((a, b))
        if found is None:
            found = self._disjoint[a, b] = a != b and self.sets[a].isdisjoint(self.sets[b])
        return found

    def within(self, a: int, b: int) -> bool:
        """Whether every object of ``a`` is in ``b``."""
        found = self._within.get((a, b))
        if found is None:
            found = self._within[a, b] = a == b or self.sets[a] <= self.sets[b]
        return found


class PartialState:
    """A state of which something is known. ``rivals``: predicates of which at most one is true of the same terms."""

    __slots__ = (
        "_apart",
        "_budget",
        "_changes",
        "_false",
        "_kinds",
        "_nevers",
        "_parent",
        "_splits",
        "_true",
        "closed",
        "domains",
        "law",
        "rivals",
    )

    def __init__(self, domains: DomainRelations, rivals: dict[int, tuple[int, ...]]) -> None:
        self.domains = domains
        self.rivals = rivals
        self.law: MutexLaw | None = None
        self.closed = False
        self._apart: list[tuple[int, int]] = []
        self._parent: dict[int, int] = {}
        self._kinds: dict[int, tuple[int, ...]] = {}
        self._true: dict[int, list[tuple[int, ...]]] = {}
        self._false: dict[int, list[tuple[int, ...]]] = {}
        self._nevers: list[Denial] = []
        self._splits: list[tuple[Knowledge, ...]] = []
        self._changes = 0
        self._budget = MAX_STEPS

    def copy(self) -> PartialState:
        """An independent copy."""
        other = PartialState(self.domains, self.rivals)
        other.law = self.law
        other.closed = self.closed
        other._apart = list(self._apart)
        other._parent = dict(self._parent)
        other._kinds = dict(self._kinds)
        other._true = {predicate: list(rows) for predicate, rows in self._true.items()}
        other._false = {predicate: list(rows) for predicate, rows in self._false.items()}
        other._nevers = list(self._nevers)
        other._splits = list(self._splits)
        return other

    # -- what is known ------------------------------------------------------------------------------------------------

    def variable(self, term: int, domain: int | None) -> None:
        """A variable and its domain; ``None`` if it may be any object."""
        if domain is not None:
            self._kinds[term] = (*self._kinds.get(term, ()), domain)
            if not self.domains.sets[domain]:
                self.closed = True

    def know(self, known: Knowledge) -> None:
        """Add what is known."""
        for term, domain in known.variables:
            self.variable(term, domain)
        for literal in known.literals:
            self.assume(literal)
        self._nevers += known.nevers
        self._splits += known.splits
        self._changes += 1

    def never(self, never: Denial) -> None:
        """Add what is never so."""
        self._nevers.append(never)

    def split(self, alternatives: tuple[Knowledge, ...]) -> None:
        """Add alternatives, of which one is so."""
        self._splits.append(alternatives)

    def assume(self, literal: LiftedLiteral) -> None:
        """Add a literal."""
        value = self.value(literal)
        if value is not None:
            self.closed |= not value
            return
        self._changes += 1
        if literal.predicate == EQUALITY:
            if literal.positive:
                self.merge(*literal.arguments)
            else:
                a, b = literal.arguments
                self._apart.append((a, b))
            return
        rows = self._true if literal.positive else self._false
        rows.setdefault(literal.predicate, []).append(literal.arguments)
        if literal.positive:
            for rival in self.rivals.get(literal.predicate, ()):
                self.assume(LiftedLiteral(False, rival, literal.arguments))

    def merge(self, a: int, b: int) -> None:
        """Two terms are one object."""
        a, b = self.find(a), self.find(b)
        if a == b:
            return
        if b >= 0:
            a, b = b, a
        if self.differ(a, b):
            self.closed = True
            return
        self._parent[b] = a
        self._kinds[a] = tuple(dict.fromkeys((*self._kinds.get(a, ()), *self._kinds.get(b, ()))))
        self._changes += 1

    def find(self, term: int) -> int:
        """The term that stands for those it is equal to."""
        parent = self._parent
        while term in parent:
            term = parent[term]
        return term

    def same(self, a: tuple[int, ...], b: tuple[int, ...]) -> bool:
        """Whether the terms are known to be equal, one by one."""
        find = self.find
        return all([x == y or find(x) == find(y) for x, y in zip(a, b, strict=True)])

    def differ(self, a: int, b: int) -> bool:
        """Whether two terms are known to be different objects."""
        a, b = self.find(a), self.find(b)
        if a == b:
            return False
        if a >= 0 and b >= 0:
            return True
        domains = self.domains
        for x, y in ((a, b), (b, a)):
            if x >= 0:
                return any([x not in domains.sets[kind] for kind in self._kinds.get(y, ())]) or self._kept_apart(a, b)
        mine, other = self._kinds.get(a, ()), self._kinds.get(b, ())
        return any([domains.disjoint(x, y) for x in mine for y in other]) or self._kept_apart(a, b)

    def _kept_apart(self, a: int, b: int) -> bool:
        find = self.find
        return any([{find(x), find(y)} == {a, b} for x, y in self._apart])

    def within(self, term: int, domain: int | None) -> bool:
        """Whether a term is known to be in a domain."""
        if domain is None:
            return True
        term = self.find(term)
        members = self.domains.sets[domain]
        if term >= 0:
            return term in members
        if len(members) == self.domains.objects:
            return True
        return any([self.domains.within(kind, domain) for kind in self._kinds.get(term, ())])

    def value(self, literal: LiftedLiteral) -> bool | None:
        """What is known of a literal."""
        if literal.predicate == EQUALITY:
            a, b = literal.arguments
            if self.find(a) == self.find(b):
                return literal.positive
            return not literal.positive if self.differ(a, b) else None
        for rows, value in ((self._true, literal.positive), (self._false, not literal.positive)):
            for row in rows.get(literal.predicate, ()):
                if self.same(row, literal.arguments):
                    return value
        return None

    def truths(self) -> list[tuple[int, tuple[int, ...]]]:
        """The atoms that are known to be true, equal terms by the one that stands for them."""
        return [(p, tuple([self.find(a) for a in row])) for p, rows in self._true.items() for row in rows]

    # -- refutation ---------------------------------------------------------------------------------------------------

    def refuted(self, depth: int = MAX_SPLIT_DEPTH) -> bool:
        """Whether no state is like this. The situation is used up."""
        self._saturate()
        if self.closed:
            return True
        if not self._splits or not depth or self._budget <= 0:
            return False
        smallest = min(self._splits, key=len)
        self._splits.remove(smallest)
        for alternative in smallest:
            branch = self.copy()
            branch._budget = self._budget  # noqa: SLF001 - of its own class
            branch.know(alternative)
            refuted = branch.refuted(depth - 1)
            self._budget = branch._budget - 1  # noqa: SLF001 - of its own class
            if not refuted:
                return False
        return True

    def _saturate(self) -> None:
        before = -1
        while not self.closed and before != self._changes and self._budget > 0:
            before = self._changes
            self._contradictions()
            self._exclude()
            self._obey()
            for never in self._nevers:
                if self.closed:
                    return
                if all([self.within(term, domain) for term, domain in never.members]):
                    self._match(never, 0, {}, None)
            self._choose()

    def _contradictions(self) -> None:
        if any([self.find(a) == self.find(b) for a, b in self._apart]):
            self.closed = True
        for predicate, rows in self._true.items():
            for other in self._false.get(predicate, ()):
                if any([self.same(row, other) for row in rows]):
                    self.closed = True

    def _exclude(self) -> None:
        """A variable that is apart from all objects of a small domain but one is that one.

        Domains of one object are left out: what holds of a single object for want of another is no law.
        """
        for term in {self.find(term) for pair in self._apart for term in pair}:
            for kind in self._kinds.get(term, ()):
                members = self.domains.sets[kind]
                if term < 0 and 1 < len(members) <= SMALL_DOMAIN:
                    left = [o for o in members if not self.differ(term, o)]
                    if not left:
                        self.closed = True
                        return
                    if len(left) == 1:
                        self.merge(term, left[0])
                        break

    def _obey(self) -> None:
        """The law: all instances that are true are one fact."""
        if self.law is None:
            return
        found: list[tuple[int, tuple[int, ...]]] = []
        for predicate, pattern in self.law.parts:
            for row in self._true.get(predicate, ()):
                found += [(predicate, row)] if self._fits(pattern, row) else []
        for predicate, row in found[1:]:
            if predicate != found[0][0]:
                self.closed = True
                return
            for a, b in zip(found[0][1], row, strict=True):
                self.merge(a, b)

    def _fits(self, pattern: tuple[int | None, ...], row: tuple[int, ...]) -> bool:
        return all([p is None or self.find(p) == self.find(a) for p, a in zip(pattern, row, strict=True)])

    def _match(self, never: Denial, number: int, binding: dict[int, int], missing: LiftedLiteral | None) -> None:
        """Find objects for which all literals of ``never`` are known from ``number`` on, or all but one."""
        self._budget -= 1
        if self.closed or self._budget < 0:
            return
        if number == len(never.literals):
            self._conclude(never, binding, missing)
            return
        literal = never.literals[number]
        arguments = tuple([binding.get(a, a) for a in literal.arguments])
        free = [a for a in arguments if a in never.variables and a not in binding]
        literal = literal._replace(arguments=arguments)
        if not free:
            value = self.value(literal)
            if value:
                self._match(never, number + 1, binding, missing)
            elif value is None and missing is None:
                self._match(never, number + 1, binding, literal)
            return
        if literal.predicate == EQUALITY:
            if literal.positive and len(free) == 1:
                other = arguments[0] if arguments[1] in free else arguments[1]
                if self.within(other, never.variables[free[0]]):
                    self._match(never, number + 1, {**binding, free[0]: other}, missing)
            return
        for row in list((self._true if literal.positive else self._false).get(literal.predicate, ())):
            extended = self._unified(never, arguments, row, binding)
            if extended is not None:
                self._match(never, number + 1, extended, missing)
        if missing is None:
            self._match(never, number + 1, binding, literal)

    def _unified(
        self, never: Denial, arguments: tuple[int, ...], row: tuple[int, ...], binding: dict[int, int]
    ) -> dict[int, int] | None:
        out = dict(binding)
        for argument, term in zip(arguments, row, strict=True):
            argument = out.get(argument, argument)
            if argument in never.variables and argument not in out:
                if not self.within(term, never.variables[argument]):
                    return None
                out[argument] = term
            elif self.find(argument) != self.find(term):
                return None
        return out

    def _conclude(self, never: Denial, binding: dict[int, int], missing: LiftedLiteral | None) -> None:
        for variable, domain in never.variables.items():
            if variable not in binding and domain is not None and not self.domains.sets[domain]:
                return
        if missing is None:
            self.closed = True
            return
        arguments = tuple([binding.get(a, a) for a in missing.arguments])
        if not any([a in never.variables and a not in binding for a in missing.arguments]):
            self.assume(LiftedLiteral(not missing.positive, missing.predicate, arguments))

    def _choose(self) -> None:
        """Drop alternatives that cannot be; where one is left, it is so."""
        splits, self._splits = self._splits, []
        for alternatives in splits:
            alive = [a for a in alternatives if all([self.value(literal) is not False for literal in a.literals])]
            if not alive:
                self.closed = True
                return
            if len(alive) == 1:
                self.know(alive[0])
            else:
                if len(alive) < len(alternatives):
                    self._changes += 1
                self._splits.append(tuple(alive))
