"""Proofs about groups of facts: whether actions can break a group, or make it gain or lose a true fact."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from plansafe.verifier.model.limits import WorkBudget, check_deadline
from plansafe.verifier.model.memoized import memoized
from plansafe.verifier.model.nodes import Task
from plansafe.verifier.symbolic.invariants.knowledge import (
    EQUALITY,
    DomainRelations,
    Knowledge,
    LiftedLiteral,
    MutexGroup,
)
from plansafe.verifier.symbolic.invariants.lifted_actions import (
    COPY_OFFSET,
    PATTERN,
    TWIN,
    LiftedChange,
    LiftedSnap,
    make_denial,
)
from plansafe.verifier.symbolic.invariants.refutation import PartialState

COUNTED = -1
"""The argument of a group's atom that may be any object."""
MAX_CHECKS = 50_000
"""Maximum number of checks of a candidate against an effect: about two seconds."""
_FIRST_COUNTED_VARIABLE = -3 * COPY_OFFSET
"""The variable in place of an atom's counted first argument; later places have smaller numbers."""


class GroupAtom(NamedTuple):
    """An atom of a lifted group. Each argument is the number of a parameter, or ``COUNTED``; every parameter occurs."""

    predicate: int
    arguments: tuple[int, ...]

    def find_counted_places(self) -> list[int]:
        """The places of counted arguments."""
        return [place for place, argument in enumerate(self.arguments) if argument == COUNTED]

    def divide(self, place: int, parameter: int) -> GroupAtom:
        """This atom with a parameter in place of a counted argument."""
        return self._replace(arguments=(*self.arguments[:place], parameter, *self.arguments[place + 1 :]))

    def bind(self, arguments: tuple[int, ...]) -> list[int]:
        """The values of the parameters for which a fact is an instance of this atom."""
        return [arguments[self.arguments.index(number)] for number in range(max(self.arguments, default=-1) + 1)]


GroupAtoms = tuple[GroupAtom, ...]


class Threat(NamedTuple):
    """A step after which two instances may be true, where at most one was.

    ``binding`` are the parameters of the group. An atom that covers one of the ``facts`` may remove the threat.
    """

    binding: list[int]
    facts: list[tuple[int, tuple[int, ...]]]


class GroupProofs:
    """Decides whether the actions of a task can break a group, or make it gain or lose a true fact."""

    def __init__(self, task: Task, deadline: float | None, lenient: bool) -> None:
        self.task = task
        self.deadline = deadline
        self.work = WorkBudget(MAX_CHECKS)
        self.lenient = lenient
        self.domains = DomainRelations(task)
        self._deletions: dict[int, list[LiftedChange]] = {}
        self._additions: dict[int, list[LiftedChange]] = {}
        self._changes_of_snap: dict[tuple[int, bool], list[tuple[int, LiftedChange]]] = {}
        self._index_changes()
        unusable_predicates = {axiom.predicate for stratum in task.axioms for axiom in stratum}
        unusable_predicates |= {literal.predicate for literal in task.timed_literals if not literal.fluent}
        self.usable_predicates = (self._additions.keys() | self._deletions.keys()) - unusable_predicates

    def _index_changes(self) -> None:
        """Store the changes of all snap actions by predicate, and by snap action."""
        for action in self.task.actions.values():
            self._check_limits()
            for snap_formulas in (action.start, action.end):
                if snap_formulas is None:
                    continue
                snap = LiftedSnap(action.parameters, snap_formulas, self.lenient)
                for number in range(len(snap.effects)):
                    for adds, index in ((False, self._deletions), (True, self._additions)):
                        for predicate, change in snap.iterate_changes(number, adds):
                            index.setdefault(predicate, []).append(change)
                            self._changes_of_snap.setdefault((id(snap), not adds), []).append((predicate, change))

    @memoized
    def list_changes(self, predicate: int, adds: bool) -> list[LiftedChange]:
        """The changes that add, or delete, facts of a predicate, except changes that can never happen."""
        changes = (self._additions if adds else self._deletions).get(predicate, ())
        return [change for change in changes if not self._make_state_before(change, None).closed]

    def _list_snap_changes(self, snap: LiftedSnap, deleted: bool) -> list[tuple[int, LiftedChange]]:
        """The changes by which a snap action deletes facts, or adds facts, each with its predicate."""
        return self._changes_of_snap.get((id(snap), deleted), [])

    def list_changed_facts(self, snap: LiftedSnap, deleted: bool) -> list[tuple[int, tuple[int, ...]]]:
        """The facts that a snap action deletes, or adds: predicate and arguments."""
        return [(predicate, change.arguments) for predicate, change in self._list_snap_changes(snap, deleted)]

    def _check_limits(self) -> None:
        self.work.spend()
        check_deadline(self.deadline)

    def _make_state_before(self, change: LiftedChange, assumed_group: MutexGroup | None) -> PartialState:
        state = change.snap.copy_state_before(self.domains, change.effect_number)
        state.assumed_group = assumed_group
        return state

    # -- at most one --------------------------------------------------------------------------------------------------

    def find_threat(self, atoms: GroupAtoms) -> Threat | None:
        """A step that may break a group; ``None`` if there is none."""
        for atom in atoms:
            for change in self.list_changes(atom.predicate, True):
                for second_atom in atoms:
                    self._check_limits()
                    threat = self._find_remaining_instance(atoms, atom, change, second_atom)
                    threat = threat or self._find_second_addition(atoms, atom, change, second_atom)
                    if threat is not None:
                        return threat
        return None

    def _find_remaining_instance(
        self, atoms: GroupAtoms, atom: GroupAtom, change: LiftedChange, second_atom: GroupAtom
    ) -> Threat | None:
        """A threat: next to the fact that is added, another fact was true and stays true."""
        binding = atom.bind(change.arguments)
        state_before = self._make_state_before(change, _bind_group(atoms, binding))
        arguments = self._add_instance(state_before, second_atom, binding)
        state_before.add_literal(LiftedLiteral(True, second_atom.predicate, arguments))
        if atom.predicate == second_atom.predicate:
            _add_distinctness(state_before, change.arguments, arguments)
        for predicate, deletion in self._list_snap_changes(change.snap, True):
            if predicate == second_atom.predicate:
                _deny_change(state_before, deletion, list(range(len(arguments))), list(arguments))
        return None if state_before.refute() else Threat(binding, self.list_changed_facts(change.snap, True))

    def _find_second_addition(
        self, atoms: GroupAtoms, atom: GroupAtom, change: LiftedChange, second_atom: GroupAtom
    ) -> Threat | None:
        """A threat: next to the fact that is added, another fact is added. Facts that were true may exclude that."""
        binding = atom.bind(change.arguments)
        for predicate, addition in self._list_snap_changes(change.snap, False):
            if predicate != second_atom.predicate:
                continue
            state_before = self._make_state_before(change, _bind_group(atoms, binding))
            state_before.add(change.snap.find_knowledge_if_fired(addition.effect_number, TWIN))
            arguments = change.snap.copy_arguments(addition, TWIN)
            for term, second_term in zip(binding, second_atom.bind(arguments), strict=True):
                state_before.merge(term, second_term)
            if atom.predicate == second_atom.predicate:
                _add_distinctness(state_before, change.arguments, arguments)
            if not state_before.refute():
                return Threat(
                    [state_before.find_representative(term) for term in binding], state_before.list_true_atoms()
                )
        return None

    def _add_instance(self, state: PartialState, atom: GroupAtom, binding: list[int]) -> tuple[int, ...]:
        """The arguments of any instance of an atom; adds new variables in place of the counted arguments."""
        for place in atom.find_counted_places():
            state.add_variable(_FIRST_COUNTED_VARIABLE - place, self._find_argument_domain(atom.predicate, place))
        return _make_instance(atom, binding)

    @memoized
    def _find_argument_domain(self, predicate: int, place: int) -> int | None:
        """The domain of an argument of true facts; ``None`` if an action may add a fact with a wider type."""
        declared = self.task.predicates[predicate].domains[place]
        keeps_type = not self.lenient and all(
            [
                self._make_state_before(change, None).is_within(change.arguments[place], declared)
                for change in self.list_changes(predicate, True)
            ]
        )
        return declared if keeps_type else None

    # -- gains and losses ---------------------------------------------------------------------------------------------

    def find_gains(self, atoms: GroupAtoms) -> Iterator[tuple[GroupAtom, LiftedChange]]:
        """Additions that may happen in a state without a true instance."""
        for atom in atoms:
            for change in self.list_changes(atom.predicate, True):
                self._check_limits()
                state_before = self._make_state_before(change, None)
                binding = atom.bind(change.arguments)
                for member in atoms:
                    arguments = _make_instance(member, binding)
                    any_object = dict.fromkeys(
                        [argument for argument in arguments if argument <= _FIRST_COUNTED_VARIABLE]
                    )
                    state_before.add_denial(
                        make_denial(any_object, (LiftedLiteral(True, member.predicate, arguments),))
                    )
                if not state_before.refute():
                    yield atom, change

    def find_losses(self, atoms: GroupAtoms) -> Iterator[tuple[GroupAtom, LiftedChange]]:
        """Deletions of the only true instance after which none may be true."""
        for atom in atoms:
            for change in self.list_changes(atom.predicate, False):
                self._check_limits()
                binding = atom.bind(change.arguments)
                state_before = self._make_state_before(change, _bind_group(atoms, binding))
                state_before.add_literal(LiftedLiteral(True, atom.predicate, change.arguments))
                for predicate, addition in self._list_snap_changes(change.snap, False):
                    for member in atoms:
                        if predicate == member.predicate:
                            places = [member.arguments.index(number) for number in range(len(binding))]
                            _deny_change(state_before, addition, places, binding)
                if not state_before.refute():
                    yield atom, change


def _make_instance(atom: GroupAtom, binding: list[int]) -> tuple[int, ...]:
    return tuple([_FIRST_COUNTED_VARIABLE - p if a == COUNTED else binding[a] for p, a in enumerate(atom.arguments)])


def _bind_group(atoms: GroupAtoms, binding: list[int]) -> MutexGroup:
    parts = [(atom.predicate, tuple([None if n == COUNTED else binding[n] for n in atom.arguments])) for atom in atoms]
    return MutexGroup(tuple(parts))


def _add_distinctness(state: PartialState, first: tuple[int, ...], second: tuple[int, ...]) -> None:
    """Add that two facts of one predicate are different."""
    literals = [LiftedLiteral(False, EQUALITY, pair) for pair in zip(first, second, strict=True)]
    state.add(Knowledge(splits=(tuple([Knowledge(literals=(literal,)) for literal in literals]),)))


def _deny_change(state: PartialState, change: LiftedChange, places: list[int], terms: list[int]) -> None:
    """Add that no instance of a change happens that has these terms in these places."""
    arguments = change.snap.copy_arguments(change, PATTERN)
    for condition in change.snap.find_firing_conditions(change.effect_number):
        binding: dict[int, int] = {}
        literals = list(condition.literals)
        for place, term in zip(places, terms, strict=True):
            argument = arguments[place]
            if argument in condition.variables and argument not in binding:
                binding[argument] = term
            else:
                literals.append(LiftedLiteral(True, EQUALITY, (argument, term)))
        state.add_denial(make_denial(condition.variables, tuple(literals), binding))
