"""What the linter knows of a domain, whatever the problem: which facts change, by which actions, and as what types."""

from __future__ import annotations

from plansafe.verifier.elaborate.types import TypeTable
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.model.nodes import Action, Atom, Axiom, Effect, Snap, Variable
from plansafe.verifier.model.operations import has_comparison


class DomainIndex:
    """The predicates, functions and actions of a domain.

    ``static[p]``: no action and no axiom changes predicate ``p``. ``typed[p]``: every fact of it has arguments of the
    declared types. ``action_predicates[p]``: the kind (start, end, during) and the action that a predicate stands for.
    ``temporal``: there are durative actions, so that steps may happen together.
    """

    def __init__(self, engine: Engine, table: TypeTable, lenient: bool = False) -> None:
        task = engine.task
        self.task = task
        self.table = table
        self.lenient = lenient
        self.actions = task.actions
        self.temporal = any([action.end is not None for action in task.actions.values()])
        self.action_predicates = {predicate: key for key, predicate in engine.action_predicates.items()}
        self._below: dict[tuple[int, ...], frozenset[int]] = {}
        self._overlaps: dict[tuple[int, int], bool] = {}
        self.axioms: dict[int, list[Axiom]] = {}
        for stratum in task.axioms:
            for axiom in stratum:
                self.axioms.setdefault(axiom.predicate, []).append(axiom)
        self.adders: dict[int, list[tuple[Action, Effect, Atom]]] = {}
        self.deleters: dict[int, list[tuple[Action, Effect, Atom]]] = {}
        self.writers: dict[int, set[str]] = {}
        types: dict[int, bool] = {}
        for action in task.actions.values():
            slots = {v.slot: v for v in action.parameters}
            for effect in effects(action):
                bound = {**slots, **{v.slot: v for v in effect.variables}}
                for atom in effect.adds:
                    self.adders.setdefault(atom.predicate, []).append((action, effect, atom))
                    types[atom.predicate] = types.get(atom.predicate, True) and self._fits(atom, bound)
                for atom in effect.deletes:
                    self.deleters.setdefault(atom.predicate, []).append((action, effect, atom))
                for assignment in effect.assignments:
                    self.writers.setdefault(assignment.function, set()).add(action.name)
        basic = [p for p in range(len(task.predicates)) if p not in self.axioms and p not in self.action_predicates]
        self.static = [False] * len(task.predicates)
        self.typed = [False] * len(task.predicates)
        for p in basic:
            self.static[p] = p not in self.adders and p not in self.deleters
            self.typed[p] = not lenient and types.get(p, True)

    def below(self, wanted: tuple[int, ...]) -> frozenset[int]:
        """The types below some of these, themselves included."""
        found = self._below.get(wanted)
        if found is None:
            every = range(len(self.table.names))
            ancestors = self.table.ancestors
            inside = every if 0 in wanted else [t for t in every if not ancestors[t].isdisjoint(wanted)]
            found = self._below[wanted] = frozenset(inside)
        return found

    def overlap(self, a: int, b: int) -> bool:
        """Whether an object with one type may be in two domains."""
        found = self._overlaps.get((a, b))
        if found is None:
            first, second = self.table.alternatives(a), self.table.alternatives(b)
            apart = first is not None and second is not None and self.below(first).isdisjoint(self.below(second))
            found = self._overlaps[a, b] = not apart
        return found

    def _fits(self, atom: Atom, bound: dict[int, Variable]) -> bool:
        """Whether an atom that an effect adds is well typed whatever its variables stand for."""
        table = self.table
        for argument, wanted in zip(atom.arguments, self.task.predicates[atom.predicate].types, strict=True):
            if argument >= 0:
                continue  # the reader has compared it with the declaration
            types = table.alternatives(bound[-1 - argument].domain)
            if types is None or not all([table.object_fits((t,), wanted) for t in types]):
                return False
        return True

    def condition(self, kind: str, action: Action) -> tuple[Snap | None, bool]:
        """What happens where a letter has this start or end, and whether its condition is read at that letter."""
        if kind == "start":
            return action.start, True
        return (action.end, True) if kind == "end" else (None, False)


def effects(action: Action) -> list[Effect]:
    """All effects of an action, at its start and at its end."""
    return [*action.start.effects, *(action.end.effects if action.end is not None else ())]


def depends_on_numbers(effect: Effect) -> bool:
    """Whether it depends on numbers that an effect happens."""
    return has_comparison(effect.condition) or has_comparison(effect.at_start)
