"""What can be done with which thing at all: most things of a kind cannot be taken, so most that are drawn are no use.

A wardrobe and a chair are heavy, and the chair alone can be dropped: dropping asks for what is held, and held is what
was grabbed, and the wardrobe cannot be. Each thing is looked at by itself, whatever the others are: a fact may come to
be so for it if it is so at first, or if some action gives it that may be done with it (relaxed reachability with one
object at a time, after Bonet and Geffner 2001). What is left out is never of use; what is left may be none.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from typing import assert_never

from plansafe.verifier.model.nodes import (
    Action,
    And,
    Atom,
    Compare,
    Effect,
    Equal,
    Formula,
    Not,
    Or,
    Quantified,
    Task,
    Temporal,
    Truth,
)

Fitting = frozenset[int] | None
"""Objects; ``None`` for all."""


class Usable:
    """The objects that may stand at a place of an action, or of a fact that is ever so, in one task.

    Timed literals and derived facts are taken to be so of everything.
    """

    def __init__(self, task: Task) -> None:
        self._task = task
        arities = [len(task.predicates[index].types) for index in range(len(task.initial_facts))]
        self._ever: list[list[set[int]]] = [[set() for _ in range(size)] for size in arities]
        for facts, arity, places in zip(task.initial_facts, arities, self._ever, strict=True):
            for code in facts if arity else ():
                for place, number in zip(places, task.decode(code, arity), strict=True):
                    place.add(number)
        self._anything = {literal.predicate for literal in task.timed_literals if not literal.fluent} | {
            axiom.predicate for axioms in task.axioms for axiom in axioms
        }
        self._actions: dict[tuple[str, int], frozenset[int]] = {}
        while self._grown():
            pass

    def at(self, action: Action, place: int) -> frozenset[int]:
        """The objects for which this parameter of an action may stand, when one looks at nothing else."""
        return self._actions[action.name, place]

    def fit(self, formula: Formula, slot: int) -> Fitting:
        """The objects of a slot for which a formula may come to hold."""
        return self._fit(formula, True, slot, {})

    def _grown(self) -> bool:
        """One round: what can be done with what is known, and the facts that this gives; whether that was more."""
        grown = False
        for action in self._task.actions.values():
            for place, variable in enumerate(action.parameters):
                domain = self._task.domain_sets[variable.domain]
                found = self._fit(And(action.start.condition), True, variable.slot, {})
                self._actions[action.name, place] = domain if found is None else domain & found
            own = {v.slot: self._actions[action.name, place] for place, v in enumerate(action.parameters)}
            for moment in (action.start, action.end):
                for effect in moment.effects if moment is not None else ():
                    grown |= any([self._given(atom, effect, own) for atom in effect.adds])
        return grown

    def _given(self, atom: Atom, effect: Effect, own: Mapping[int, frozenset[int]]) -> bool:
        sets = {**own, **{v.slot: self._task.domain_sets[v.domain] for v in effect.variables}}
        if atom.predicate >= len(self._ever):
            return False
        grown = False
        for known, argument in zip(self._ever[atom.predicate], atom.arguments, strict=True):
            new = frozenset([argument]) if argument >= 0 else sets[-1 - argument]
            grown |= not new <= known
            known |= new
        return grown

    def _fit(self, formula: Formula, wanted: bool, slot: int, bound: dict[int, frozenset[int]]) -> Fitting:
        match formula:
            case Not():
                return self._fit(formula.body, not wanted, slot, bound)
            case And() | Or():
                found = [self._fit(part, wanted, slot, bound) for part in formula.parts]
                if isinstance(formula, And) is wanted:
                    return reduce(_both, found, None)
                known = [one for one in found if one is not None]
                return frozenset[int]().union(*known) if len(known) == len(found) else None
            case Quantified() if formula.universal is not wanted:
                mine = {v.slot: self._task.domain_sets[v.domain] for v in formula.variables}
                return self._fit(formula.body, wanted, slot, {**bound, **mine})
            case Atom() if -1 - slot in formula.arguments:
                return self._atom(formula, slot) if wanted else self._never(formula)
            case Equal() if wanted and -1 - slot in formula:
                other = formula.right if formula.left == -1 - slot else formula.left
                return frozenset([other]) if other >= 0 else bound.get(-1 - other)
            case Truth():
                return None if formula.value is wanted else frozenset()
            case Quantified() | Atom() | Equal() | Compare() | Temporal():
                return None
            case _:
                assert_never(formula)

    def _atom(self, atom: Atom, slot: int) -> Fitting:
        if atom.predicate >= len(self._ever) or atom.predicate in self._anything:
            return None  # an action, or what nothing is known of
        places = zip(self._ever[atom.predicate], atom.arguments, strict=True)
        return reduce(_both, [frozenset(known) for known, argument in places if argument == -1 - slot], None)

    def _never(self, atom: Atom) -> Fitting:
        """The objects for which a fact with one argument is not always so."""
        static = self._task.static
        if atom.predicate >= len(static) or not static[atom.predicate] or len(atom.arguments) != 1:
            return None
        return frozenset(range(len(self._task.objects))) - self._ever[atom.predicate][0]


def _both(one: Fitting, other: Fitting) -> Fitting:
    return one if other is None else other if one is None else one & other
