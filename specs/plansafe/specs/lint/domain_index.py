"""An index of a domain, for all its problems: the facts that change, the actions that change them, and types."""

from __future__ import annotations

from typing import NamedTuple

from plansafe.verifier.elaborate.types import TypeTable
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.model.nodes import Action, Atom, Axiom, Effect, Snap, Variable
from plansafe.verifier.model.operations import has_comparison


class FactChange(NamedTuple):
    """An effect of an action that adds or deletes the facts of an atom."""

    action: Action
    effect: Effect
    atom: Atom


class DomainIndex:
    """The predicates, functions and actions of a domain.

    ``static[p]``: no action and no axiom changes predicate ``p``. ``has_typed_facts[p]``: the arguments of each of its
    facts have the declared types. ``action_predicates[p]``: the kind (start, end, during) and the action that the
    predicate is about. ``adders[p]``, ``deleters[p]``: the effects that add or delete facts of ``p``; ``writers[f]``:
    the actions that change function ``f``. ``temporal``: there are durative actions, so steps may happen together.
    """

    def __init__(self, engine: Engine, table: TypeTable, lenient: bool = False) -> None:
        task = engine.task
        self.task = task
        self.table = table
        self.lenient = lenient
        self.actions = task.actions
        self.temporal = any([action.end is not None for action in task.actions.values()])
        self.action_predicates = {predicate: key for key, predicate in engine.action_predicates.items()}
        self._subtypes: dict[tuple[int, ...], frozenset[int]] = {}
        self._overlaps: dict[tuple[int, int], bool] = {}
        self.axioms: dict[int, list[Axiom]] = {}
        for stratum in task.axioms:
            for axiom in stratum:
                self.axioms.setdefault(axiom.predicate, []).append(axiom)
        self.adders: dict[int, list[FactChange]] = {}
        self.deleters: dict[int, list[FactChange]] = {}
        self.writers: dict[int, set[str]] = {}
        has_typed_adds: dict[int, bool] = {}
        for action in task.actions.values():
            parameters = {v.slot: v for v in action.parameters}
            for effect in list_effects(action):
                variables_by_slot = {**parameters, **{v.slot: v for v in effect.variables}}
                for atom in effect.adds:
                    self.adders.setdefault(atom.predicate, []).append(FactChange(action, effect, atom))
                    is_well_typed = self._is_well_typed(atom, variables_by_slot)
                    has_typed_adds[atom.predicate] = has_typed_adds.get(atom.predicate, True) and is_well_typed
                for atom in effect.deletes:
                    self.deleters.setdefault(atom.predicate, []).append(FactChange(action, effect, atom))
                for assignment in effect.assignments:
                    self.writers.setdefault(assignment.function, set()).add(action.name)
        basic_predicates = [
            p for p in range(len(task.predicates)) if p not in self.axioms and p not in self.action_predicates
        ]
        self.static = [False] * len(task.predicates)
        self.has_typed_facts = [False] * len(task.predicates)
        for p in basic_predicates:
            self.static[p] = p not in self.adders and p not in self.deleters
            self.has_typed_facts[p] = not lenient and has_typed_adds.get(p, True)

    def find_subtypes(self, types: tuple[int, ...]) -> frozenset[int]:
        """Find the types below some of these, including themselves."""
        subtypes = self._subtypes.get(types)
        if subtypes is None:
            all_types = range(len(self.table.names))
            ancestors = self.table.ancestors
            members = all_types if 0 in types else [t for t in all_types if not ancestors[t].isdisjoint(types)]
            subtypes = self._subtypes[types] = frozenset(members)
        return subtypes

    def domains_overlap(self, a: int, b: int) -> bool:
        """Whether an object with one type may be in two domains."""
        do_overlap = self._overlaps.get((a, b))
        if do_overlap is None:
            first, second = self.table.get_alternatives(a), self.table.get_alternatives(b)
            do_overlap = (
                first is None or second is None or not self.find_subtypes(first).isdisjoint(self.find_subtypes(second))
            )
            self._overlaps[a, b] = do_overlap
        return do_overlap

    def _is_well_typed(self, atom: Atom, variables_by_slot: dict[int, Variable]) -> bool:
        """Whether an atom that an effect adds is well typed for all objects of its variables."""
        table = self.table
        for argument, declared in zip(atom.arguments, self.task.predicates[atom.predicate].types, strict=True):
            if argument >= 0:
                continue  # the reader has compared it with the declaration
            types = table.get_alternatives(variables_by_slot[-1 - argument].domain)
            if types is None or not all([table.object_fits((type_number,), declared) for type_number in types]):
                return False
        return True

    def find_snap(self, kind: str, action: Action) -> Snap | None:
        """Find the start or end of an action whose condition is true at a letter with its predicate of this kind."""
        if kind == "start":
            return action.start
        return action.end if kind == "end" else None


def list_effects(action: Action) -> list[Effect]:
    """List all effects of an action, at its start and at its end."""
    return [*action.start.effects, *(action.end.effects if action.end is not None else ())]


def depends_on_numbers(effect: Effect) -> bool:
    """Whether an effect happens only if a comparison of numbers is true."""
    return has_comparison(effect.condition) or has_comparison(effect.at_start)
