"""How far a goal is, asked backwards and lazily: only what it needs is ground, and only as far as it is false now.

A false literal costs one more than the cheapest action that gives it, with the false parts of its precondition and of
the effect's condition; parts are added up (Haslum and Geffner 2000, h-add, computed from the goal). Where an action
leaves objects open, those are tried under which its most selective part holds already. So of a home of 300 objects a
few dozen facts are looked at, however many actions there are. An estimate, no bound: what seems out of reach may be
reached, and nothing is pruned by it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import NamedTuple, assert_never

from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.state import State
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.binding_search import SignedFormula, flatten_goals, is_searchable, satisfying_bindings
from plansafe.verifier.model.evaluation import Evaluator
from plansafe.verifier.model.nodes import (
    Action,
    And,
    Atom,
    Binding,
    Compare,
    Effect,
    Equal,
    Formula,
    Not,
    Or,
    Quantified,
    Temporal,
    Truth,
    Variable,
)
from plansafe.verifier.model.operations import free_slots

UNREACHABLE_COST = 1_000
"""What a literal costs to which no way was found."""
BOUNDS = (1, 2, 3, 4, 6, 9, 14)
"""What the ways that are looked for may cost, one bound after the other: the near ones first."""
MAX_LOOKED = 1_500
"""Conditions that are looked at for one wish; beyond it, what is left is far."""
MAX_CHOICES = 8
"""Objects that are tried for what an action leaves open."""

BLAMED = 3
"""What a step costs more that broke a rule somewhere."""

Literal = tuple[int, int, bool]
Subgoal = tuple[Formula, Binding]
"""A condition that should hold, with the objects of its slots."""


class _Way(NamedTuple):
    """What something costs, and the false literals that it needs first."""

    cost: int
    needs: tuple[Literal, ...] = ()


_NO_WAY = _Way(UNREACHABLE_COST)


class BackwardEstimator:
    """Estimates for one task.

    ``lessons``: conditions under which alone a step keeps the rules, as a search met them; ``blamed``: the steps that
    broke rules in other ways, which count :data:`BLAMED` more.
    """

    def __init__(self, engine: Engine) -> None:
        self.task = engine.task
        self.lessons: dict[tuple[str, tuple[int, ...]], list[Subgoal]] = {}
        self.blamed: set[tuple[str, tuple[int, ...]]] = set()
        self._free: dict[int, tuple[Formula, frozenset[int], list[int]]] = {}
        """By identity; the formula is held, so that no other gets its place."""
        self.giving: dict[tuple[int, bool], list[tuple[Action, Effect, Atom]]] = {}
        for action in engine.task.actions.values():
            if action.end is None:
                for effect in action.start.effects:
                    for value, atoms in ((True, effect.adds), (False, effect.deletes)):
                        for atom in atoms:
                            self.giving.setdefault((atom.predicate, value), []).append((action, effect, atom))

    def free(self, formula: Formula) -> frozenset[int]:
        """Its free slots, computed once for each formula."""
        return self._known(formula)[1]

    def order(self, formula: Formula) -> list[int]:
        """Its free slots in order; from then on its identity stands for it."""
        return self._known(formula)[2]

    def _known(self, formula: Formula) -> tuple[Formula, frozenset[int], list[int]]:
        known = self._free.get(id(formula))
        if known is None:
            slots = free_slots(formula)
            known = self._free[id(formula)] = (formula, slots, sorted(slots))
        return known

    def estimate(
        self, state: State, wishes: Iterable[Subgoal], most: int | None = None
    ) -> tuple[int, list[GroundAction]]:
        """How many steps it takes, roughly, to meet all wishes; and steps to begin with, that can be taken now.

        What takes more than ``most`` is not looked for, and counts as :data:`UNREACHABLE_COST`.
        """
        found = _Chain(self, state).estimate(wishes, most)
        return found.cost, found.first

    def relevant_steps(self, state: State, wishes: Iterable[Subgoal]) -> list[GroundAction]:
        """The steps that meet all wishes, if nothing that a step undoes is missed: what is in the way of a goal.

        They are in no order in which they could be taken. Bounded by what is looked at, not by time, so that the answer
        is the same on every machine. Nothing is found of a wish that seems out of reach.
        """
        return _Chain(self, state).estimate(wishes).steps


class _Looked(NamedTuple):
    """What wishes cost, the steps that they need, and those of them that can be taken now."""

    cost: int
    steps: list[GroundAction]
    first: list[GroundAction]


class _Chain:
    def __init__(self, owner: BackwardEstimator, state: State) -> None:
        self.owner, self.task = owner, owner.task
        self.evaluator = Evaluator(owner.task, state.facts, state.fluents)
        self._ways: dict[Literal, tuple[_Way, GroundAction]] = {}
        self._dearer: dict[Literal, int] = {}  # than this
        self._open: set[Literal] = set()
        self._looked = 0
        self._found: dict[tuple[object, ...], list[tuple[int, ...]] | None] = {}
        self._values: dict[tuple[object, ...], bool | None] = {}

    def estimate(self, wishes: Iterable[Subgoal], most: int | None = None) -> _Looked:
        cost, needs = 0, list[Literal]()
        for formula, binding in wishes:
            self._looked = 0
            way = _NO_WAY
            left = UNREACHABLE_COST if most is None else most - cost
            if left < 0:
                return _Looked(UNREACHABLE_COST, [], [])
            for bound in dict.fromkeys([min(bound, left) for bound in BOUNDS]):
                way = self._needs(formula, True, binding, bound)
                if way.cost < UNREACHABLE_COST or self._looked > MAX_LOOKED:
                    break
            cost += way.cost
            needs += way.needs
        every: dict[tuple[str, tuple[int, ...]], GroundAction] = {}
        first: dict[tuple[str, tuple[int, ...]], GroundAction] = {}
        seen = set(needs)
        while needs:
            found = self._ways.get(needs.pop())
            if found is None:
                continue
            way, step = found
            every[step.action.name, step.objects] = step
            if not way.needs:
                first[step.action.name, step.objects] = step
            needs += [literal for literal in way.needs if literal not in seen]
            seen.update(way.needs)
        return _Looked(cost, list(every.values()), list(first.values()))

    def _needs(self, formula: Formula, wanted: bool, binding: Binding, bound: int) -> _Way:
        """What it takes for a formula to get a value, if that costs no more than a bound."""
        self._looked += 1
        if self._holds(formula, binding) is wanted:
            return _Way(0)
        if self._looked > MAX_LOOKED or bound < 1:
            return _NO_WAY
        match formula:
            case Not():
                return self._needs(formula.body, not wanted, binding, bound)
            case Atom():
                literal = (formula.predicate, self.task.code_of(formula.arguments, binding), wanted)
                return _Way(self._literal(literal, bound), (literal,))
            case And() | Or() if isinstance(formula, And) is wanted:
                return self._all([(part, wanted, binding) for part in formula.parts], bound)
            case And() | Or():
                best = _NO_WAY
                for part in formula.parts:
                    way = self._needs(part, wanted, binding, min(bound, best.cost - 1))
                    best = min(best, way, key=_cost)
                return best
            case Quantified() if formula.universal is wanted:
                failing = satisfying_bindings(self.evaluator, formula.variables, formula.body, not wanted, binding)
                few = list(islice(failing, bound + 1))
                return self._all([(formula.body, wanted, inner) for inner in few], bound)
            case Quantified():
                return self._some(formula.variables, [(formula.body, wanted)], binding, bound)[0]
            case Truth() | Equal() | Compare() | Temporal():
                return _NO_WAY  # no action gives these, or none that is looked for
            case other:
                assert_never(other)

    def _all(self, conditions: Sequence[tuple[Formula, bool, Binding]], bound: int) -> _Way:
        """What it takes for all conditions to have their values; those that hold are not looked at twice."""
        total, needs = 0, list[Literal]()
        false = [one for one in conditions if self._holds(one[0], one[2]) is not one[1]]
        if len(false) > bound:
            return _NO_WAY
        for number, (formula, wanted, binding) in enumerate(false, 1):
            way = self._needs(formula, wanted, binding, bound - total - (len(false) - number))
            if way.cost >= UNREACHABLE_COST:
                return _NO_WAY
            total += way.cost
            needs += way.needs
        return _Way(total, tuple(needs))

    def _literal(self, literal: Literal, bound: int) -> int:
        known = self._ways.get(literal)
        if known is not None:
            return known[0].cost if known[0].cost <= bound else UNREACHABLE_COST
        if bound < 1 or self._dearer.get(literal, 0) >= bound or literal in self._open:
            return UNREACHABLE_COST
        self._open.add(literal)
        best: tuple[_Way, GroundAction] | None = None
        for action, effect, atom in self.owner.giving.get((literal[0], literal[2]), ()):
            binding = self._unified(action, effect, atom, literal[1])
            left = (bound if best is None else best[0].cost - 1) - 1
            if binding is None or left < 0:
                continue
            free = [v for v in (*action.parameters, *effect.variables) if v.slot not in binding]
            parts = [(part, True) for part in (*action.start.condition, effect.condition)]
            way, full = self._some(free, parts, binding, left)
            if way.cost > left or not all([v.slot in full for v in action.parameters]):
                continue
            objects = tuple([full[v.slot] for v in action.parameters])
            more = BLAMED if (action.name, objects) in self.owner.blamed else 0
            lessons = self.owner.lessons.get((action.name, objects), ())
            taught = self._all([(formula, True, own) for formula, own in lessons], left - way.cost - more)
            cost = way.cost + taught.cost + more
            if cost <= left:
                best = _Way(cost + 1, (*way.needs, *taught.needs)), GroundAction(action, objects)
        self._open.discard(literal)
        if best is None:
            self._dearer[literal] = max(bound, self._dearer.get(literal, 0))
            return UNREACHABLE_COST
        self._ways[literal] = best
        return best[0].cost

    def _unified(self, action: Action, effect: Effect, atom: Atom, code: int) -> dict[int, int] | None:
        domains = {v.slot: self.task.domain_sets[v.domain] for v in (*action.parameters, *effect.variables)}
        binding: dict[int, int] = {}
        for argument, wanted in zip(atom.arguments, self.task.decode(code, len(atom.arguments)), strict=True):
            if (argument if argument >= 0 else binding.setdefault(-1 - argument, wanted)) != wanted:
                return None
            if argument < 0 and wanted not in domains[-1 - argument]:
                return None
        return binding

    def _some(
        self, variables: Iterable[Variable], goals: Iterable[SignedFormula], binding: Binding, bound: int
    ) -> tuple[_Way, Binding]:
        """What it takes for goals to be met together under some binding of the variables, and which that is."""
        flat = flatten_goals(self.task, variables, goals, binding)
        if flat is None:
            return _NO_WAY, binding
        left, parts, binding = flat
        slots, free = {v.slot for v in left}, self.owner.free
        own = self._all([(f, wanted, binding) for f, wanted in parts if not free(f) & slots], bound)
        if own.cost > bound or not slots:
            return own, binding
        best: tuple[_Way, Binding] = (_NO_WAY, binding)
        open_ = [part for part in parts if free(part[0]) & slots]
        for inner in self._choices(left, open_, binding):
            rest = [v for v in left if v.slot not in inner]
            way, full = self._some(rest, open_, inner, min(bound - own.cost, best[0].cost - 1))
            if way.cost < best[0].cost:
                best = (way, full)
                if not way.cost:
                    break
        return _Way(min(UNREACHABLE_COST, best[0].cost + own.cost), (*own.needs, *best[0].needs)), best[1]

    def _choices(self, variables: list[Variable], parts: list[SignedFormula], binding: Binding) -> list[Binding]:
        """Bindings under which the most selective part holds: of all its variables, at least one."""
        best: list[Binding] = []
        for formula, wanted in parts:
            read = self.owner.free(formula)
            own = tuple([v for v in variables if v.slot in read])
            slots = [v.slot for v in own]
            for piece in formula.parts if isinstance(formula, Or) and wanted else (formula,):
                if self.owner.free(piece).issuperset(slots):
                    found = self._chosen(own, piece, wanted, binding)
                    if found and (not best or len(found) < len(best)):
                        best = [{**binding, **dict(zip(slots, objects, strict=True))} for objects in found]
        if not best:
            first = variables[0]
            best = [{**binding, first.slot: object_} for object_ in self.task.domains[first.domain][:MAX_CHOICES]]
        return best

    def _chosen(
        self, own: tuple[Variable, ...], piece: Formula, wanted: bool, binding: Binding
    ) -> list[tuple[int, ...]] | None:
        """Objects of some variables under which a condition has a value, the first few; ``None``: too many to try.

        Kept, since each bound on the cost asks for the same of the same state.
        """
        key = (id(piece), wanted, own, *self._read(piece, binding))
        if key not in self._found:
            found = None
            if is_searchable(self.evaluator, own, piece, wanted):
                some = islice(satisfying_bindings(self.evaluator, own, piece, wanted, binding), MAX_CHOICES)
                found = [tuple([inner[v.slot] for v in own]) for inner in some]
            self._found[key] = found
        return self._found[key]

    def _holds(self, formula: Formula, binding: Binding) -> bool | None:
        """The value of a formula in the state; kept where it takes more than a look at the facts."""
        if isinstance(formula, Atom):
            return self.evaluator.holds(formula, binding)
        key = (id(formula), *self._read(formula, binding))
        if key not in self._values:
            self._values[key] = self.evaluator.holds(formula, binding)
        return self._values[key]

    def _read(self, formula: Formula, binding: Binding) -> list[int | None]:
        """The objects of the free slots of a formula, in the order of the slots; ``None``: not bound yet."""
        return [binding.get(slot) for slot in self.owner.order(formula)]


def _cost(way: _Way) -> int:
    return way.cost
