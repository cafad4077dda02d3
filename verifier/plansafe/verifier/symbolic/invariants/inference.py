"""Groups of facts of which no action can make two true: lifted mutex groups (docs/worlds.md, section 1).

After Helmert, "Concise finite-domain representations for PDDL planning tasks", Artificial Intelligence 173 (2009),
section 5: a candidate is checked against each action, and where an action adds a fact without taking another one away,
atoms that it deletes are put into the candidate. The check is more general than his: an addition is harmless if in no
state with at most one true instance another instance is true afterwards, which refutation decides
(``refutation``). So negative preconditions and effects that delete every instance count.

That no action can break a group says nothing about S0; ``groups`` decides where it is assumed. So some groups that no
action can break are left out, because nothing speaks for them:

- with a counted variable, but no action adds a fact of any such atom (of each such atom, if there is no parameter);
- *divisible* ones: with the counted variables as one more parameter, no action makes a fact true unless the group had
  one. The group is then a sum of independent ones: what is raw becomes cooked, yet many things may be either;
- *explained* ones, all of whose facts are in groups with one more parameter: an object that moves from place to place
  leaves one free and takes another, yet many places may be free.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import combinations, islice, permutations, product
from time import monotonic
from typing import NamedTuple

from plansafe.verifier.model.limits import LimitKind, LimitReached, WorkBudget
from plansafe.verifier.model.nodes import Task
from plansafe.verifier.symbolic.invariants.lifted_actions import (
    COPY_OFFSET,
    PATTERN,
    TWIN,
    LiftedChange,
    LiftedSnap,
    make_denial,
)
from plansafe.verifier.symbolic.invariants.refutation import (
    EQUALITY,
    DomainRelations,
    Knowledge,
    LiftedLiteral,
    MutexLaw,
    PartialState,
)

COUNTED = -1
MAX_CANDIDATES = 3000
MAX_CHECKS = 50_000
"""Checks of a candidate against an effect: about two seconds."""
MAX_ATOMS = 10
MAX_PARAMETERS = 4
MAX_COUNTED = 2
"""Counted variables of one atom."""
MAX_DIVISIONS = 64


class GroupAtom(NamedTuple):
    """An atom of a lifted group. Each argument is the number of a parameter, or ``COUNTED``; every parameter occurs."""

    predicate: int
    arguments: tuple[int, ...]


class InferredInvariant(NamedTuple):
    """For each binding of the parameters: where at most one instance of the atoms is true, no action changes that.

    ``exact``: where exactly one is, no action changes that either.
    """

    parameters: int
    atoms: tuple[GroupAtom, ...]
    exact: bool


def infer_invariants(
    task: Task, deadline: float | None = None, about: Iterable[int] | None = None, lenient_types: bool = False
) -> list[InferredInvariant]:
    """The largest groups found, in a fixed order; what is found by ``deadline`` (of ``time.monotonic``).

    ``about``: start from these predicates (by number) only. Derived predicates and those of timed literals are in no
    group. ``lenient_types``: the objects of steps may be of any type. The work is bounded by ``MAX_CANDIDATES``
    candidates, each checked against all actions that add its predicates, and by ``MAX_CHECKS`` of these checks.
    """
    try:
        search = _Search(task, deadline, lenient_types)
    except LimitReached:
        return []
    with suppress(LimitReached):
        search.run(sorted(search.usable if about is None else search.usable & set(about)))
    return search.largest()


class _Threat(NamedTuple):
    """A step after which two instances may be true, where at most one was.

    ``bound`` are the parameters of the group; an atom for ``known`` facts about them may take the threat away.
    """

    bound: list[int]
    known: list[tuple[int, tuple[int, ...]]]


class _Search:
    """Candidates, smallest first; those that hold are grown as long as an action makes them gain or lose a fact."""

    def __init__(self, task: Task, deadline: float | None, lenient: bool) -> None:
        self.task = task
        self.proofs = _Proofs(task, deadline, lenient)
        self.usable = self.proofs.usable
        self.found: list[InferredInvariant] = []
        self._seen: set[tuple[GroupAtom, ...]] = set()
        self._queue: deque[tuple[GroupAtom, ...]] = deque()

    def run(self, predicates: list[int]) -> None:
        for counted in range(MAX_COUNTED + 1):
            for predicate in predicates:
                arity = len(self.task.predicates[predicate].types)
                for places in combinations(range(arity), counted):
                    if _allowed(arity, counted):
                        numbers = iter(range(arity))
                        arguments = [COUNTED if p in places else next(numbers) for p in range(arity)]
                        self._propose((GroupAtom(predicate, tuple(arguments)),))
        for atoms in islice(iter(self._next, None), MAX_CANDIDATES):
            self._examine(atoms)

    def _next(self) -> tuple[GroupAtom, ...] | None:
        return self._queue.popleft() if self._queue else None

    def _propose(self, atoms: tuple[GroupAtom, ...]) -> None:
        atoms = _canonical(atoms)
        if atoms not in self._seen and len(atoms) <= MAX_ATOMS:
            self._seen.add(atoms)
            self._queue.append(atoms)

    def _examine(self, atoms: tuple[GroupAtom, ...]) -> None:
        proofs = self.proofs
        threat = proofs.threat(atoms)
        if threat is not None:
            for atom in self._about(atoms, threat.bound, threat.known):
                self._propose((*atoms, atom))
            return
        lost = list(proofs.lost(atoms))
        gained = list(proofs.gained(atoms))
        for changes, deleted in ((gained, True), (lost, False)):
            for atom, change in changes:
                bound = _bound(atom, change.arguments)
                for other in self._about(atoms, bound, proofs.facts(change.snap, deleted)):
                    if COUNTED not in other.arguments or proofs.changes(other.predicate, True):
                        self._propose((*atoms, other))
        if self._speaks_for(atoms) and not self._divisible(atoms):
            self.found.append(InferredInvariant(_parameters(atoms), atoms, not lost))
            for atom in atoms:  # what may explain the group
                for place in [p for p, a in enumerate(atom.arguments) if a == COUNTED]:
                    self._propose((_divided(atom, place, _parameters(atoms)),))

    def _about(
        self, atoms: tuple[GroupAtom, ...], bound: list[int], facts: Iterable[tuple[int, tuple[int, ...]]]
    ) -> Iterator[GroupAtom]:
        """Atoms of which some of the facts are instances, for these values of the parameters."""
        for predicate, arguments in facts:
            if predicate not in self.usable:
                continue
            for places in permutations(range(len(arguments)), len(bound)):
                if not _allowed(len(arguments), len(arguments) - len(places)):
                    break
                if [arguments[p] for p in places] == bound:
                    numbers = [places.index(p) if p in places else COUNTED for p in range(len(arguments))]
                    found = GroupAtom(predicate, tuple(numbers))
                    if found not in atoms:
                        yield found

    def _speaks_for(self, atoms: tuple[GroupAtom, ...]) -> bool:
        counted = [atom for atom in atoms if COUNTED in atom.arguments]
        if not counted:
            return len(atoms) > 1
        added = [bool(self.proofs.changes(atom.predicate, True)) for atom in counted]
        return any(added) if _parameters(atoms) else all(added)

    def _divisible(self, atoms: tuple[GroupAtom, ...]) -> bool:
        number = _parameters(atoms)
        places = [[p for p, a in enumerate(atom.arguments) if a == COUNTED] for atom in atoms]
        for chosen in islice(product(*places), MAX_DIVISIONS):
            divided = tuple([_divided(atom, p, number) for atom, p in zip(atoms, chosen, strict=True)])
            if self.proofs.threat(divided) is None and next(self.proofs.gained(divided), None) is None:
                return True
        return False

    def largest(self) -> list[InferredInvariant]:
        """Without groups that are part of another one with the same parameters."""
        out = []
        for invariant in self.found:
            own = _variants(invariant.atoms)
            part = any([variant < set(other.atoms) for other in self.found for variant in own])
            if not part and not self._explained(invariant):
                out.append(invariant)
        return sorted(out, key=lambda invariant: (invariant.parameters, invariant.atoms))

    def _explained(self, invariant: InferredInvariant) -> bool:
        number = invariant.parameters
        finer = {
            atom
            for other in self.found
            if other.parameters == number + 1
            for variant in _variants(other.atoms)
            for atom in variant
        }
        for atom in invariant.atoms:
            places = [p for p, a in enumerate(atom.arguments) if a == COUNTED]
            if not any([_divided(atom, p, number) in finer for p in places]):
                return False
        return True


class _Proofs:
    """What the actions of a task can and cannot do to a group."""

    def __init__(self, task: Task, deadline: float | None, lenient: bool) -> None:
        self.task = task
        self.deadline = deadline
        self.work = WorkBudget(MAX_CHECKS)
        self.lenient = lenient
        self.domains = DomainRelations(task)
        self._indexes: tuple[dict[int, list[LiftedChange]], dict[int, list[LiftedChange]]] = {}, {}
        self._changes: dict[tuple[int, bool], list[LiftedChange]] = {}
        self._within: dict[tuple[int, bool], list[tuple[int, LiftedChange]]] = {}
        self._kinds: dict[tuple[int, int], int | None] = {}
        self._index()
        unusable = {axiom.predicate for stratum in task.axioms for axiom in stratum}
        unusable |= {literal.predicate for literal in task.timed_literals if not literal.fluent}
        deletes, adds = self._indexes
        self.usable = (adds.keys() | deletes.keys()) - unusable

    def _index(self) -> None:
        for action in self.task.actions.values():
            self._within_limits()
            for snap in (action.start, action.end):
                if snap is None:
                    continue
                moment = LiftedSnap(action.parameters, snap, self.lenient)
                for number in range(len(moment.effects)):
                    for adds, index in enumerate(self._indexes):
                        for predicate, change in moment.changes(number, bool(adds)):
                            index.setdefault(predicate, []).append(change)
                            self._within.setdefault((id(moment), not adds), []).append((predicate, change))

    def changes(self, predicate: int, adds: bool) -> list[LiftedChange]:
        """What adds, or deletes, facts of a predicate, where that can happen at all."""
        found = self._changes.get((predicate, adds))
        if found is None:
            every = self._indexes[adds].get(predicate, ())
            found = [c for c in every if not c.snap.situation(self.domains, c.effect_number).closed]
            self._changes[predicate, adds] = found
        return found

    def within(self, moment: LiftedSnap, deleted: bool) -> list[tuple[int, LiftedChange]]:
        """All that a moment deletes, or adds: predicate and change."""
        return self._within.get((id(moment), deleted), [])

    def facts(self, moment: LiftedSnap, deleted: bool) -> list[tuple[int, tuple[int, ...]]]:
        """All that a moment deletes, or adds: predicate and arguments."""
        return [(predicate, change.arguments) for predicate, change in self.within(moment, deleted)]

    def _within_limits(self) -> None:
        self.work.spend()
        if self.deadline is not None and monotonic() > self.deadline:
            raise LimitReached(LimitKind.TIME)

    # -- at most one --------------------------------------------------------------------------------------------------

    def threat(self, atoms: tuple[GroupAtom, ...]) -> _Threat | None:
        """What may break a group; ``None`` if nothing can."""
        for atom in atoms:
            for change in self.changes(atom.predicate, True):
                for other in atoms:
                    self._within_limits()
                    found = self._stays(atoms, atom, change, other) or self._comes(atoms, atom, change, other)
                    if found is not None:
                        return found
        return None

    def _stays(
        self, atoms: tuple[GroupAtom, ...], atom: GroupAtom, change: LiftedChange, other: GroupAtom
    ) -> _Threat | None:
        """Beside a fact that is added, another one that was true and stays true. What is deleted might have been it."""
        bound = _bound(atom, change.arguments)
        before = self._situation(change, _law(atoms, bound))
        arguments = self._instance(before, other, bound)
        before.assume(LiftedLiteral(True, other.predicate, arguments))
        if atom.predicate == other.predicate:
            _distinct(before, change.arguments, arguments)
        for predicate, deletion in self.within(change.snap, True):
            if predicate == other.predicate:
                _does_not_happen(before, deletion, list(range(len(arguments))), list(arguments))
        return None if before.refuted() else _Threat(bound, self.facts(change.snap, True))

    def _comes(
        self, atoms: tuple[GroupAtom, ...], atom: GroupAtom, change: LiftedChange, other: GroupAtom
    ) -> _Threat | None:
        """Beside a fact that is added, another one. What was true may exclude that."""
        bound = _bound(atom, change.arguments)
        for predicate, addition in self.within(change.snap, False):
            if predicate != other.predicate:
                continue
            before = self._situation(change, _law(atoms, bound))
            before.know(change.snap.happens(addition.effect_number, TWIN))
            arguments = change.snap.copied(addition, TWIN)
            for own, term in zip(bound, _bound(other, arguments), strict=True):
                before.merge(own, term)
            if atom.predicate == other.predicate:
                _distinct(before, change.arguments, arguments)
            if not before.refuted():
                return _Threat([before.find(term) for term in bound], before.truths())
        return None

    def _situation(self, change: LiftedChange, law: MutexLaw | None) -> PartialState:
        before = change.snap.situation(self.domains, change.effect_number)
        before.law = law
        return before

    def _instance(self, situation: PartialState, atom: GroupAtom, bound: list[int]) -> tuple[int, ...]:
        """Any instance of an atom: new variables in place of the counted ones."""
        out = []
        for place, number in enumerate(atom.arguments):
            if number == COUNTED:
                term = -3 * COPY_OFFSET - place
                situation.variable(term, self._kind(atom.predicate, place))
                out.append(term)
            else:
                out.append(bound[number])
        return tuple(out)

    def _kind(self, predicate: int, place: int) -> int | None:
        """The domain that an argument of a true fact is in; ``None`` where a fact of a wider type may come about."""
        key = predicate, place
        if key not in self._kinds:
            declared = self.task.predicates[predicate].domains[place]
            kept = not self.lenient and all(
                [
                    self._situation(change, None).within(change.arguments[place], declared)
                    for change in self.changes(predicate, True)
                ]
            )
            self._kinds[key] = declared if kept else None
        return self._kinds[key]

    # -- gains and losses ---------------------------------------------------------------------------------------------

    def gained(self, atoms: tuple[GroupAtom, ...]) -> Iterator[tuple[GroupAtom, LiftedChange]]:
        """Additions that may happen where no instance is true."""
        for atom in atoms:
            for change in self.changes(atom.predicate, True):
                self._within_limits()
                bound = _bound(atom, change.arguments)
                before = self._situation(change, None)
                for other in atoms:
                    arguments = tuple(
                        [-3 * COPY_OFFSET - p if a == COUNTED else bound[a] for p, a in enumerate(other.arguments)]
                    )
                    any_object = dict.fromkeys([a for a in arguments if a <= -3 * COPY_OFFSET])
                    before.never(make_denial(any_object, (LiftedLiteral(True, other.predicate, arguments),)))
                if not before.refuted():
                    yield atom, change

    def lost(self, atoms: tuple[GroupAtom, ...]) -> Iterator[tuple[GroupAtom, LiftedChange]]:
        """Deletions of the one true instance after which none may be true."""
        for atom in atoms:
            for change in self.changes(atom.predicate, False):
                self._within_limits()
                bound = _bound(atom, change.arguments)
                before = self._situation(change, _law(atoms, bound))
                before.assume(LiftedLiteral(True, atom.predicate, change.arguments))
                for predicate, addition in self.within(change.snap, False):
                    for other in atoms:
                        if predicate == other.predicate:
                            places = [other.arguments.index(number) for number in range(len(bound))]
                            _does_not_happen(before, addition, places, bound)
                if not before.refuted():
                    yield atom, change


def _bound(atom: GroupAtom, arguments: tuple[int, ...]) -> list[int]:
    """The parameters of the group of which a fact is an instance."""
    return [arguments[atom.arguments.index(number)] for number in range(max(atom.arguments, default=-1) + 1)]


def _law(atoms: tuple[GroupAtom, ...], bound: list[int]) -> MutexLaw:
    parts = [(a.predicate, tuple([None if n == COUNTED else bound[n] for n in a.arguments])) for a in atoms]
    return MutexLaw(tuple(parts))


def _distinct(situation: PartialState, a: tuple[int, ...], b: tuple[int, ...]) -> None:
    """Two facts of one predicate are not the same."""
    literals = [LiftedLiteral(False, EQUALITY, pair) for pair in zip(a, b, strict=True)]
    situation.split(tuple([Knowledge(literals=(literal,)) for literal in literals]))


def _does_not_happen(situation: PartialState, change: LiftedChange, places: list[int], terms: list[int]) -> None:
    """No instance of a change happens that has these terms in these places."""
    arguments = change.snap.copied(change, PATTERN)
    for way in change.snap.fires(change.effect_number):
        given: dict[int, int] = {}
        literals = list(way.literals)
        for place, term in zip(places, terms, strict=True):
            argument = arguments[place]
            if argument in way.variables and argument not in given:
                given[argument] = term
            else:
                literals.append(LiftedLiteral(True, EQUALITY, (argument, term)))
        situation.never(make_denial(way.variables, tuple(literals), given))


# ---- candidates up to the names of their parameters -----------------------------------------------------------------


def _allowed(arity: int, counted: int) -> bool:
    """Whether an atom may have so many counted variables: Helmert's one, and more beside parameters."""
    return counted <= (MAX_COUNTED if arity > counted else 1) and arity - counted <= MAX_PARAMETERS


def _divided(atom: GroupAtom, place: int, number: int) -> GroupAtom:
    """With a counted variable as a parameter."""
    return atom._replace(arguments=(*atom.arguments[:place], number, *atom.arguments[place + 1 :]))


def _parameters(atoms: tuple[GroupAtom, ...]) -> int:
    return max(atoms[0].arguments, default=-1) + 1


def _renamed(atoms: tuple[GroupAtom, ...], order: tuple[int, ...]) -> list[GroupAtom]:
    return [a._replace(arguments=tuple([n if n == COUNTED else order[n] for n in a.arguments])) for a in atoms]


def _canonical(atoms: tuple[GroupAtom, ...]) -> tuple[GroupAtom, ...]:
    orders = permutations(range(_parameters(atoms)))
    return min([tuple(sorted(set(_renamed(atoms, order)))) for order in orders])


def _variants(atoms: tuple[GroupAtom, ...]) -> list[set[GroupAtom]]:
    return [set(_renamed(atoms, order)) for order in permutations(range(_parameters(atoms)))]
