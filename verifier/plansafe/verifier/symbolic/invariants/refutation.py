"""Refutation of partial states: whether the known facts of a state contradict each other, for all objects at once.

A :class:`PartialState` has some known literals. Its terms are objects, and variables with a domain (negative numbers);
two variables may be the same object, unless their domains or known facts exclude it. Refutation is a small tableau:
equal terms are merged, a denial closes the state or implies one more literal, and alternatives are tried in turn. It is
sound but incomplete, and its work is bounded. Undefined numbers do no harm: in a state in which a step happens, a
condition is known to be true or to be false, and only that is used.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from plansafe.verifier.symbolic.invariants.knowledge import (
    EQUALITY,
    Denial,
    DomainRelations,
    Knowledge,
    LiftedLiteral,
    MutexGroup,
)

MAX_SPLIT_DEPTH = 4
"""Maximum nesting of alternatives that are tried."""
MAX_MATCHES = 4000
"""Maximum number of matches of denials and of alternatives; if it is exceeded, nothing is refuted."""
MAX_TRIED_OBJECTS = 12
"""Maximum size of a domain whose objects are tried one by one."""

AtomTable = dict[int, list[tuple[int, ...]]]
"""By predicate, the arguments of its atoms."""


class PartialState:
    """A state with some known facts. It is ``closed`` if they contradict each other.

    ``rivals`` has, by predicate, the predicates that are false of a tuple of terms of which the predicate is true.
    ``assumed_group``: a mutex group to assume as well; ``None`` if there is none.
    """

    def __init__(self, domains: DomainRelations, rivals: dict[int, tuple[int, ...]]) -> None:
        self.domains = domains
        self.rivals = rivals
        self.assumed_group: MutexGroup | None = None
        self.closed = False
        self._unequal_pairs: list[tuple[int, int]] = []
        self._parents: dict[int, int] = {}  # a union-find forest of equal terms; its roots are the representatives
        self._variable_domains: dict[int, tuple[int, ...]] = {}
        self._true_atoms: AtomTable = {}
        self._false_atoms: AtomTable = {}
        self._denials: list[Denial] = []
        self._splits: list[tuple[Knowledge, ...]] = []
        self._change_count = 0  # grows with each addition
        self._budget = MAX_MATCHES

    def copy(self) -> PartialState:
        """An independent copy."""
        state = PartialState(self.domains, self.rivals)
        state.assumed_group = self.assumed_group
        state.closed = self.closed
        state._unequal_pairs = list(self._unequal_pairs)
        state._parents = dict(self._parents)
        state._variable_domains = dict(self._variable_domains)
        state._true_atoms = {predicate: list(rows) for predicate, rows in self._true_atoms.items()}
        state._false_atoms = {predicate: list(rows) for predicate, rows in self._false_atoms.items()}
        state._denials = list(self._denials)
        state._splits = list(self._splits)
        return state

    # -- adding knowledge ---------------------------------------------------------------------------------------------

    def add_variable(self, term: int, domain: int | None) -> None:
        """Add a variable with its domain; ``None`` if it may be any object."""
        if domain is not None:
            self._variable_domains[term] = (*self._variable_domains.get(term, ()), domain)
            if not self.domains.sets[domain]:
                self.closed = True

    def add(self, knowledge: Knowledge) -> None:
        """Add the variables, literals, denials and splits of some knowledge."""
        for term, domain in knowledge.variables:
            self.add_variable(term, domain)
        for literal in knowledge.literals:
            self.add_literal(literal)
        self._denials += knowledge.denials
        self._splits += knowledge.splits
        self._change_count += 1

    def add_denial(self, denial: Denial) -> None:
        """Add a denial, which :meth:`refute` applies."""
        self._denials.append(denial)

    def add_literal(self, literal: LiftedLiteral) -> None:
        """Add a literal. The state is ``closed`` afterwards if the literal is known to be false."""
        value = self.find_value(literal)
        if value is not None:
            self.closed |= not value
            return
        self._change_count += 1
        if literal.predicate == EQUALITY:
            if literal.positive:
                self.merge(*literal.arguments)
            else:
                first, second = literal.arguments
                self._unequal_pairs.append((first, second))
            return
        atoms = self._true_atoms if literal.positive else self._false_atoms
        atoms.setdefault(literal.predicate, []).append(literal.arguments)
        if literal.positive:
            for rival in self.rivals.get(literal.predicate, ()):
                self.add_literal(LiftedLiteral(False, rival, literal.arguments))

    def merge(self, first: int, second: int) -> None:
        """Make two terms the same object. The state is ``closed`` afterwards if they are known to be different."""
        first, second = self.find_representative(first), self.find_representative(second)
        if first == second:
            return
        if second >= 0:
            first, second = second, first
        if self.differ(first, second):
            self.closed = True
            return
        self._parents[second] = first
        self._variable_domains[first] = tuple(
            dict.fromkeys((*self._variable_domains.get(first, ()), *self._variable_domains.get(second, ())))
        )
        self._change_count += 1

    # -- queries ------------------------------------------------------------------------------------------------------

    def find_representative(self, term: int) -> int:
        """Return the representative of the terms that equal a term: an object, if one of them is."""
        parents = self._parents
        while term in parents:
            term = parents[term]
        return term

    def are_equal(self, first: tuple[int, ...], second: tuple[int, ...]) -> bool:
        """Whether the terms are known to be equal, one by one."""
        find = self.find_representative
        return all([left == right or find(left) == find(right) for left, right in zip(first, second, strict=True)])

    def differ(self, first: int, second: int) -> bool:
        """Whether two terms are known to be different objects."""
        first, second = self.find_representative(first), self.find_representative(second)
        if first == second:
            return False
        if first >= 0 and second >= 0:
            return True
        domains = self.domains
        for term, variable in ((first, second), (second, first)):
            if term >= 0:
                is_outside = any(
                    [term not in domains.sets[domain] for domain in self._variable_domains.get(variable, ())]
                )
                return is_outside or self._are_unequal(first, second)
        first_domains, second_domains = self._variable_domains.get(first, ()), self._variable_domains.get(second, ())
        return any(
            [domains.are_disjoint(left, right) for left in first_domains for right in second_domains]
        ) or self._are_unequal(first, second)

    def _are_unequal(self, first: int, second: int) -> bool:
        find = self.find_representative
        return any([{find(left), find(right)} == {first, second} for left, right in self._unequal_pairs])

    def is_within(self, term: int, domain: int | None) -> bool:
        """Whether a term is known to be in a domain."""
        if domain is None:
            return True
        term = self.find_representative(term)
        members = self.domains.sets[domain]
        if term >= 0:
            return term in members
        if len(members) == self.domains.object_count:
            return True
        return any(
            [
                self.domains.is_contained(narrower_domain, domain)
                for narrower_domain in self._variable_domains.get(term, ())
            ]
        )

    def find_value(self, literal: LiftedLiteral) -> bool | None:
        """The truth value of a literal; ``None`` if it is unknown."""
        if literal.predicate == EQUALITY:
            first, second = literal.arguments
            if self.find_representative(first) == self.find_representative(second):
                return literal.positive
            return not literal.positive if self.differ(first, second) else None
        for atoms, value in ((self._true_atoms, literal.positive), (self._false_atoms, not literal.positive)):
            for row in atoms.get(literal.predicate, ()):
                if self.are_equal(row, literal.arguments):
                    return value
        return None

    def list_true_atoms(self) -> list[tuple[int, tuple[int, ...]]]:
        """The atoms that are known to be true, as predicate and arguments; each argument is a representative."""
        return [
            (predicate, tuple(map(self.find_representative, row)))
            for predicate, rows in self._true_atoms.items()
            for row in rows
        ]

    # -- refutation ---------------------------------------------------------------------------------------------------

    def refute(self, depth: int = MAX_SPLIT_DEPTH) -> bool:
        """Whether no state has the known facts. Modifies this object: use it for nothing else afterwards."""
        self._saturate()
        if self.closed:
            return True
        if not self._splits or not depth or self._budget <= 0:
            return False
        smallest_split = min(self._splits, key=len)
        self._splits.remove(smallest_split)
        for alternative in smallest_split:
            branch = self.copy()
            branch._budget = self._budget  # noqa: SLF001 - of its own class
            branch.add(alternative)
            is_refuted = branch.refute(depth - 1)
            self._budget = branch._budget - 1  # noqa: SLF001 - of its own class
            if not is_refuted:
                return False
        return True

    def _saturate(self) -> None:
        """Draw conclusions until none is new, the state is closed, or the budget is spent."""
        change_count = -1
        while not self.closed and change_count != self._change_count and self._budget > 0:
            change_count = self._change_count
            self._find_contradictions()
            self._eliminate_objects()
            self._apply_group()
            for denial in self._denials:
                if self.closed:
                    return
                if all([self.is_within(term, domain) for term, domain in denial.members]):
                    self._match_denial(denial, 0, {}, None)
            self._reduce_splits()

    def _find_contradictions(self) -> None:
        """Close the state if a pair is both equal and unequal, or an atom both true and false."""
        find = self.find_representative
        if any([find(left) == find(right) for left, right in self._unequal_pairs]):
            self.closed = True
        for predicate, rows in self._true_atoms.items():
            for false_arguments in self._false_atoms.get(predicate, ()):
                if any([self.are_equal(row, false_arguments) for row in rows]):
                    self.closed = True

    def _eliminate_objects(self) -> None:
        """Merge a variable with an object of a small domain if it differs from all other objects of the domain.

        Domains of one object are left out: a property that holds for lack of a second object does not hold in general.
        """
        for term in {self.find_representative(term) for pair in self._unequal_pairs for term in pair}:
            for domain in self._variable_domains.get(term, ()):
                members = self.domains.sets[domain]
                if term < 0 and 1 < len(members) <= MAX_TRIED_OBJECTS:
                    possible_members = [member for member in members if not self.differ(term, member)]
                    if not possible_members:
                        self.closed = True
                        return
                    if len(possible_members) == 1:
                        self.merge(term, possible_members[0])
                        break

    def _apply_group(self) -> None:
        """Merge all true instances of the assumed group's parts into one fact."""
        if self.assumed_group is None:
            return
        instances = [
            (predicate, row)
            for predicate, pattern in self.assumed_group.parts
            for row in self._true_atoms.get(predicate, ())
            if self._matches_pattern(pattern, row)
        ]
        for (first_predicate, first_row), (predicate, row) in pairwise(instances):
            if predicate != first_predicate:
                self.closed = True
                return
            for first, second in zip(first_row, row, strict=True):
                self.merge(first, second)

    def _matches_pattern(self, pattern: tuple[int | None, ...], row: tuple[int, ...]) -> bool:
        """Whether terms equal the terms of a pattern, of which ``None`` equals any term."""
        return all(
            [
                expected is None or self.find_representative(expected) == self.find_representative(argument)
                for expected, argument in zip(pattern, row, strict=True)
            ]
        )

    def _match_denial(
        self, denial: Denial, number: int, binding: dict[int, int], unknown_literal: LiftedLiteral | None
    ) -> None:
        """Find objects for which all literals of a denial from ``number`` on are known to be true, or all but one.

        ``unknown_literal``: the literal before ``number`` whose value is not known; ``None`` if all are known to be
        true.
        """
        self._budget -= 1
        if self.closed or self._budget < 0:
            return
        if number == len(denial.literals):
            self._apply_matched_denial(denial, binding, unknown_literal)
            return
        literal = denial.literals[number]
        arguments = tuple([binding.get(argument, argument) for argument in literal.arguments])
        unbound_variables = [
            argument for argument in arguments if argument in denial.variables and argument not in binding
        ]
        literal = literal._replace(arguments=arguments)
        if not unbound_variables:
            value = self.find_value(literal)
            if value:
                self._match_denial(denial, number + 1, binding, unknown_literal)
            elif value is None and unknown_literal is None:
                self._match_denial(denial, number + 1, binding, literal)
            return
        for extended_binding in self._extend_binding(denial, literal, unbound_variables, binding):
            self._match_denial(denial, number + 1, extended_binding, unknown_literal)
        if unknown_literal is None and literal.predicate != EQUALITY:
            self._match_denial(denial, number + 1, binding, literal)

    def _extend_binding(
        self, denial: Denial, literal: LiftedLiteral, unbound_variables: list[int], binding: dict[int, int]
    ) -> Iterator[dict[int, int]]:
        """Yield the bindings of a literal's unbound variables for which it is known to be true."""
        if literal.predicate == EQUALITY:
            if literal.positive and len(unbound_variables) == 1:
                left, right = literal.arguments
                term = left if right in unbound_variables else right
                if self.is_within(term, denial.variables[unbound_variables[0]]):
                    yield {**binding, unbound_variables[0]: term}
            return
        for row in list((self._true_atoms if literal.positive else self._false_atoms).get(literal.predicate, ())):
            extended_binding = self._unify(denial, literal.arguments, row, binding)
            if extended_binding is not None:
                yield extended_binding

    def _unify(
        self, denial: Denial, arguments: tuple[int, ...], row: tuple[int, ...], binding: dict[int, int]
    ) -> dict[int, int] | None:
        """Extend a binding so that arguments equal the terms of a row; ``None`` if this is impossible."""
        extended_binding = dict(binding)
        for argument, term in zip(arguments, row, strict=True):
            argument = extended_binding.get(argument, argument)
            if argument in denial.variables and argument not in extended_binding:
                if not self.is_within(term, denial.variables[argument]):
                    return None
                extended_binding[argument] = term
            elif self.find_representative(argument) != self.find_representative(term):
                return None
        return extended_binding

    def _apply_matched_denial(
        self, denial: Denial, binding: dict[int, int], unknown_literal: LiftedLiteral | None
    ) -> None:
        """Close the state if all literals of a denial are true; if one is unknown, conclude that it is false."""
        for variable, domain in denial.variables.items():
            if variable not in binding and domain is not None and not self.domains.sets[domain]:
                return
        if unknown_literal is None:
            self.closed = True
            return
        arguments = tuple([binding.get(argument, argument) for argument in unknown_literal.arguments])
        if not any(
            [argument in denial.variables and argument not in binding for argument in unknown_literal.arguments]
        ):
            self.add_literal(LiftedLiteral(not unknown_literal.positive, unknown_literal.predicate, arguments))

    def _reduce_splits(self) -> None:
        """Drop alternatives that are known to be false; add the last one that remains."""
        splits, self._splits = self._splits, []
        for alternatives in splits:
            possible_alternatives = [
                a for a in alternatives if all([self.find_value(literal) is not False for literal in a.literals])
            ]
            if not possible_alternatives:
                self.closed = True
                return
            if len(possible_alternatives) == 1:
                self.add(possible_alternatives[0])
            else:
                if len(possible_alternatives) < len(alternatives):
                    self._change_count += 1
                self._splits.append(tuple(possible_alternatives))
