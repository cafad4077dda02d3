"""Which ground steps may change places, and the normal form of a plan under such changes (docs/scenarios.md)."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

from plansafe.verifier.compile.normal import expression_fluents, reads, reads_numbers
from plansafe.verifier.execution.replay import Engine
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.nodes import And, Atom, Equal, Formula, Not, Or, Quantified, Truth
from plansafe.verifier.repair.footprint import Footprints, identity

Step = tuple[str, tuple[int, ...]]
NormalForm = tuple[frozenset[Step], ...]
"""Foata's normal form: layers of independent steps, each of which depends on one of the layer before."""
MAX_READS = 20_000
_ANY = -1


class _Touched(NamedTuple):
    """Facts (predicate, code) read and written; code -1 stands for every fact of the predicate."""

    reads: frozenset[tuple[int, int]]
    adds: frozenset[tuple[int, int]]
    deletes: frozenset[tuple[int, int]]
    numbers: frozenset[tuple[int, int]]


class Independence:
    """Answers for the ground steps of one task, remembered."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.task = engine.task
        self._footprints = Footprints(engine)
        self._touched: dict[Step, _Touched] = {}
        self._known: dict[tuple[Step, Step], bool] = {}
        self._derived = engine.axioms.derived if engine.axioms is not None else frozenset()

    def independent(self, one: GroundAction, other: GroundAction) -> bool:
        """Whether neither step reads what the other writes, and they write nothing in opposite ways."""
        key = identity(one), identity(other)
        known = self._known.get(key)
        if known is None:
            known = key[0] != key[1] and not self._interfere(self._of(one), self._of(other))
            self._known[key] = self._known[key[1], key[0]] = known
        return known

    def appended(self, form: NormalForm, step: GroundAction, steps: dict[Step, GroundAction]) -> NormalForm:
        """The normal form of a plan with one more step. ``steps`` are those that occur in the form."""
        place = len(form)
        while place > 0 and all([self.independent(steps[other], step) for other in form[place - 1]]):
            place -= 1
        own = identity(step)
        if place == len(form):
            return (*form, frozenset((own,)))
        return (*form[:place], form[place] | {own}, *form[place + 1 :])

    def _interfere(self, one: _Touched, other: _Touched) -> bool:
        for first, second in ((one, other), (other, one)):
            written = first.adds | first.deletes | first.numbers
            if _meet(written, second.reads) or _meet(first.adds, second.deletes):
                return True
        return _meet(one.numbers, other.numbers)

    def _of(self, step: GroundAction) -> _Touched:
        key = identity(step)
        found = self._touched.get(key)
        if found is None:
            found = self._touched[key] = self._compute(step)
        return found

    def _compute(self, step: GroundAction) -> _Touched:
        footprint = self._footprints.of(step)
        base = len(self.task.predicates)
        adds = {fact for fact, value in footprint.sets.items() if value}
        deletes = {fact for fact, value in footprint.sets.items() if not value}
        numbers: set[tuple[int, int]] = set()
        seen: set[tuple[int, int]] = set()
        binding = step.binding
        self._reads(And(step.action.start.condition), binding, seen)
        for effect in footprint.may:
            if effect.value is None:
                numbers.add(effect.fact)
            else:
                (adds if effect.value else deletes).add(effect.fact)
            self._reads(effect.condition, effect.binding, seen)
        for whole in step.action.start.effects:
            for assignment in whole.assignments:  # what the value is computed from
                seen |= {(base + f.function, _ANY) for f in expression_fluents(assignment.value)}
        return _Touched(frozenset(seen), frozenset(adds), frozenset(deletes), frozenset(numbers))

    def _reads(self, formula: Formula, binding: dict[int, int], out: set[tuple[int, int]]) -> None:
        """The facts that decide a formula; whole predicates where numbers or too many facts are read."""
        stack: list[tuple[Formula, dict[int, int]]] = [(formula, binding)]
        while stack:
            part, own = stack.pop()
            match part:
                case Truth() | Equal():
                    pass
                case Atom() if part.predicate in self._derived:
                    assert self.engine.axioms is not None
                    out |= {
                        (p if p >= 0 else len(self.task.predicates) - 1 - p, _ANY) for p in self.engine.axioms.inputs
                    }
                case Atom():
                    if not self.task.static[part.predicate]:
                        code = self.task.encode(tuple([a if a >= 0 else own[-1 - a] for a in part.arguments]))
                        out.add((part.predicate, code))
                case Not():
                    stack.append((part.body, own))
                case And() | Or():
                    stack += [(inner, own) for inner in part.parts]
                case Quantified() if not reads_numbers(part):
                    slots = [v.slot for v in part.variables]
                    every = product(*[self.task.domains[v.domain] for v in part.variables])
                    stack += [(part.body, {**own, **dict(zip(slots, objects, strict=True))}) for objects in every]
                case _:
                    base = len(self.task.predicates)
                    for read in reads(part):
                        index = read.predicate if isinstance(read, Atom) else base + read.function
                        out.add((index, _ANY))
            if len(stack) + len(out) > MAX_READS:
                out |= {(p, _ANY) for p in range(len(self.task.predicates) + len(self.task.functions))}
                return


def _meet(one: frozenset[tuple[int, int]], other: frozenset[tuple[int, int]]) -> bool:
    if one & other:
        return True
    wild = {predicate for predicate, code in one if code == _ANY} | {p for p, code in other if code == _ANY}
    if not wild:
        return False
    return bool(wild & {predicate for predicate, _ in one} & {predicate for predicate, _ in other})
