"""Inference of lifted mutex groups: groups of facts such that no action can make two of them true.

``docs/worlds.md``, section 1, describes their use.

After Helmert, "Concise finite-domain representations for PDDL planning tasks", Artificial Intelligence 173 (2009),
section 5: a candidate is checked against each action; if an action adds a fact without deleting another fact of the
candidate, atoms that it deletes are added to the candidate. This check is more general: an addition is harmless if in
no state with at most one true instance another instance is true afterwards (:mod:`.refutation`). So negative
preconditions, and effects that delete every instance, are also used.

That no action can break a group says nothing about S0; :mod:`.groups` decides where it is assumed. Some groups that no
action can break are left out, because nothing suggests that S0 keeps them:

- groups with a counted variable, if no action adds a fact of such an atom (of each such atom, if the group has no
  parameter);
- *divisible* groups: with the counted variables as one more parameter, no action makes a fact true unless the group had
  a true fact. The group is then a sum of independent groups: something raw becomes cooked, yet many things may be
  either;
- *explained* groups, all of whose facts are in groups with one more parameter: an object that moves from place to place
  leaves a place free and takes another, yet many places may be free.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import combinations, islice, permutations, product
from typing import NamedTuple

from plansafe.verifier.model.limits import LimitReached
from plansafe.verifier.model.nodes import Task
from plansafe.verifier.symbolic.invariants.group_proofs import COUNTED, GroupAtom, GroupAtoms, GroupProofs

MAX_CANDIDATES = 3000
"""Maximum number of candidates that are examined."""
MAX_ATOMS = 10
"""Maximum number of atoms of a candidate."""
MAX_PARAMETERS = 4
"""Maximum number of parameters of an atom."""
MAX_COUNTED = 2
"""Maximum number of counted variables of one atom."""
MAX_DIVISIONS = 64
"""Maximum number of ways in which a group is divided by a parameter."""


class InferredInvariant(NamedTuple):
    """For each binding of the parameters: if at most one instance of the atoms is true, no action changes that.

    ``exact``: if exactly one instance is true, no action changes that either.
    """

    parameter_count: int
    atoms: GroupAtoms
    exact: bool


def infer_invariants(
    task: Task, deadline: float | None = None, about: Iterable[int] | None = None, lenient_types: bool = False
) -> list[InferredInvariant]:
    """Find the largest groups, in a fixed order, as far as possible before ``deadline`` (of ``time.monotonic``).

    ``about``: start from these predicates (by number) only. Derived predicates and predicates of timed literals are in
    no group. ``lenient_types``: the objects of steps may be of any type. The work is bounded by ``MAX_CANDIDATES``
    candidates, each checked against all actions that add its predicates, and by ``MAX_CHECKS`` of these checks.
    """
    try:
        search = _InvariantSearch(task, deadline, lenient_types)
    except LimitReached:
        return []
    with suppress(LimitReached):
        search.run(sorted(search.usable_predicates if about is None else search.usable_predicates & set(about)))
    return search.list_largest()


class _InvariantSearch:
    """Examines candidates, smallest first; an invariant is extended if an action makes it gain or lose a fact."""

    def __init__(self, task: Task, deadline: float | None, lenient: bool) -> None:
        self.task = task
        self.proofs = GroupProofs(task, deadline, lenient)
        self.usable_predicates = self.proofs.usable_predicates
        self.invariants: list[InferredInvariant] = []
        self._proposed_groups: set[GroupAtoms] = set()
        self._queue: deque[GroupAtoms] = deque()

    def run(self, predicates: list[int]) -> None:
        """Examine the candidates of one atom of these predicates, and the candidates that follow from them."""
        for counted_count in range(MAX_COUNTED + 1):
            for predicate in predicates:
                arity = len(self.task.predicates[predicate].types)
                for places in combinations(range(arity), counted_count):
                    if _is_size_allowed(arity, counted_count):
                        numbers = iter(range(arity))
                        arguments = [COUNTED if place in places else next(numbers) for place in range(arity)]
                        self._propose((GroupAtom(predicate, tuple(arguments)),))
        for _ in range(MAX_CANDIDATES):
            if not self._queue:
                return
            self._examine(self._queue.popleft())

    def _propose(self, atoms: GroupAtoms) -> None:
        """Add a candidate to the queue, unless it was proposed before or has too many atoms."""
        atoms = _make_canonical(atoms)
        if atoms not in self._proposed_groups and len(atoms) <= MAX_ATOMS:
            self._proposed_groups.add(atoms)
            self._queue.append(atoms)

    def _examine(self, atoms: GroupAtoms) -> None:
        """Store a candidate if it is an invariant, and propose larger candidates and groups that may explain it."""
        proofs = self.proofs
        threat = proofs.find_threat(atoms)
        if threat is not None:
            for atom in self._iterate_covering_atoms(atoms, threat.binding, threat.facts):
                self._propose((*atoms, atom))
            return
        losses = list(proofs.find_losses(atoms))
        gains = list(proofs.find_gains(atoms))
        for changes, deleted in ((gains, True), (losses, False)):
            for atom, change in changes:
                binding = atom.bind(change.arguments)
                for covering_atom in self._iterate_covering_atoms(
                    atoms, binding, proofs.list_changed_facts(change.snap, deleted)
                ):
                    if COUNTED not in covering_atom.arguments or proofs.list_changes(covering_atom.predicate, True):
                        self._propose((*atoms, covering_atom))
        if self._is_supported(atoms) and not self._is_divisible(atoms):
            parameter_count = _count_parameters(atoms)
            self.invariants.append(InferredInvariant(parameter_count, atoms, not losses))
            for atom in atoms:  # groups that may explain this one
                for place in atom.find_counted_places():
                    self._propose((atom.divide(place, parameter_count),))

    def _iterate_covering_atoms(
        self, atoms: GroupAtoms, binding: list[int], facts: Iterable[tuple[int, tuple[int, ...]]]
    ) -> Iterator[GroupAtom]:
        """New atoms that cover some of the facts, for this binding of the parameters."""
        for predicate, arguments in facts:
            if predicate not in self.usable_predicates:
                continue
            for places in permutations(range(len(arguments)), len(binding)):
                if not _is_size_allowed(len(arguments), len(arguments) - len(places)):
                    break
                if [arguments[place] for place in places] == binding:
                    numbers = [places.index(place) if place in places else COUNTED for place in range(len(arguments))]
                    atom = GroupAtom(predicate, tuple(numbers))
                    if atom not in atoms:
                        yield atom

    def _is_supported(self, atoms: GroupAtoms) -> bool:
        """Whether an action adds a fact of an atom with a counted variable (of each, if the group has no parameter)."""
        counting_atoms = [atom for atom in atoms if COUNTED in atom.arguments]
        if not counting_atoms:
            return len(atoms) > 1
        has_additions = [bool(self.proofs.list_changes(atom.predicate, True)) for atom in counting_atoms]
        return any(has_additions) if _count_parameters(atoms) else all(has_additions)

    def _is_divisible(self, atoms: GroupAtoms) -> bool:
        """Whether the group is divisible: a sum of independent groups with one more parameter."""
        parameter = _count_parameters(atoms)
        for places in islice(product(*[atom.find_counted_places() for atom in atoms]), MAX_DIVISIONS):
            divided_group = tuple([atom.divide(place, parameter) for atom, place in zip(atoms, places, strict=True)])
            if (
                self.proofs.find_threat(divided_group) is None
                and next(self.proofs.find_gains(divided_group), None) is None
            ):
                return True
        return False

    def list_largest(self) -> list[InferredInvariant]:
        """The invariants, except parts of another invariant with the same parameters, and explained ones."""
        largest_invariants = []
        for invariant in self.invariants:
            renumbered_groups = _list_renumberings(invariant.atoms)
            is_part = any(
                [
                    renumbered_group < set(larger_invariant.atoms)
                    for larger_invariant in self.invariants
                    for renumbered_group in renumbered_groups
                ]
            )
            if not is_part and not self._is_explained(invariant):
                largest_invariants.append(invariant)
        return sorted(largest_invariants, key=lambda invariant: (invariant.parameter_count, invariant.atoms))

    def _is_explained(self, invariant: InferredInvariant) -> bool:
        """Whether all facts of the group are in groups with one more parameter."""
        parameter = invariant.parameter_count
        finer_atoms = {
            atom
            for finer_invariant in self.invariants
            if finer_invariant.parameter_count == parameter + 1
            for renumbered_group in _list_renumberings(finer_invariant.atoms)
            for atom in renumbered_group
        }
        return all(
            [
                any([atom.divide(place, parameter) in finer_atoms for place in atom.find_counted_places()])
                for atom in invariant.atoms
            ]
        )


def _is_size_allowed(arity: int, counted_count: int) -> bool:
    """Whether an atom may have this many counted variables: one, as in Helmert's groups, or more next to parameters."""
    return counted_count <= (MAX_COUNTED if arity > counted_count else 1) and arity - counted_count <= MAX_PARAMETERS


def _count_parameters(atoms: GroupAtoms) -> int:
    return max(atoms[0].arguments, default=-1) + 1


def _make_canonical(atoms: GroupAtoms) -> GroupAtoms:
    """The smallest sorted form of a group under renumbering of its parameters."""
    return min([tuple(sorted(renumbered_group)) for renumbered_group in _list_renumberings(atoms)])


def _list_renumberings(atoms: GroupAtoms) -> list[set[GroupAtom]]:
    """The atoms under each renumbering of the parameters."""
    return [
        {
            atom._replace(arguments=tuple([n if n == COUNTED else permutation[n] for n in atom.arguments]))
            for atom in atoms
        }
        for permutation in permutations(range(_count_parameters(atoms)))
    ]
