"""The delete relaxation: facts that may be true, or false, in some state (docs/safety-rules.md, "Claims and proofs").

A fact that may be true once may be true at any time, and one that may be false once, too (Bonet and Geffner 2001, with
negation). So what cannot be here cannot be at all. Rules are not looked at. Bindings are found by the joins of the
explicit engine over two copies of each predicate (``possible_certain``): one for the facts that may be true, one for
those that are never false. Actions are not ground beforehand; an iteration costs the partial matches of their
conditions. The relaxation that guides planners (``planning/lifted.py``) is another: it starts from any state, weighs
what rules demand, and keeps its ground operators.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import product
from typing import assert_never

from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.model.limits import LimitKind, LimitReached
from plansafe.verifier.model.nodes import (
    TRUE,
    Action,
    And,
    Atom,
    Axiom,
    Compare,
    Effect,
    Formula,
    Not,
    OpenPredicate,
    Task,
    Temporal,
    Variable,
    variable,
)
from plansafe.verifier.model.operations import PAST_OPERATORS, expression_fluents, past_operator, push_negation
from plansafe.verifier.symbolic.worlds.symbolic_state import PossibleCertain, Search

MAX_MATCHES = 2_000_000


class _Few(list[tuple[int, ...]]):
    """Ends a search after so many different matches."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.most = count

    def append(self, item: tuple[int, ...]) -> None:
        if item not in self:
            super().append(item)
            if len(self) >= self.most:
                raise StopIteration


class _Some(list[tuple[int, ...]]):
    """Ends a search that finds too much, or takes too long."""

    def __init__(self, over: Callable[[], bool], most: int) -> None:
        super().__init__()
        self.over = over
        self.most = most

    def append(self, item: tuple[int, ...]) -> None:
        super().append(item)
        if len(self) > self.most or (not len(self) % 4096 and self.over()):
            raise LimitReached(LimitKind.QUESTION)


class Relaxation:
    """The fixpoint for one problem. What it leaves open may have any value. Raises :class:`LimitReached`.

    ``over``: whether to give up. ``everything`` is the domain of all objects, where types are lenient: steps may be
    taken with any of them. Comparisons may have either value; with ``constants`` those that read only numbers which
    never change, and are given, have the one that they have (none, if it is undefined). No search finds more than
    ``most`` bindings.
    """

    def __init__(
        self,
        engine: Engine,
        is_over: Callable[[], bool],
        openings: Sequence[OpenPredicate] = (),
        all_objects_domain: int | None = None,
        *,
        fold_constants: bool = False,
        max_matches: int = MAX_MATCHES,
    ) -> None:
        self.engine = engine
        self.task = engine.task
        self._over = is_over
        self._most = max_matches
        self.possible_certain = PossibleCertain(self.task)
        size = self.possible_certain.size
        state = engine.initial()
        self._fluents = state.fluents
        self._constant = self._constants() if fold_constants else frozenset()
        initial = [set(facts) for facts in state.facts]
        initial += [set() for _ in range(size - len(initial))]
        self._facts: list[set[int]] = [set(facts) for facts in initial] + initial
        self._derived = frozenset([axiom.predicate for stratum in self.task.axioms for axiom in stratum])
        self._action_predicates = {predicate: key for key, predicate in engine.action_predicates.items()}
        self._everything = all_objects_domain
        self._searches: dict[object, tuple[Formula, Search]] = {}
        self._count = 0
        """How many derived facts may be true."""
        for predicate, codes in enumerate(self.task.unknowns.facts if self.task.unknowns is not None else ()):
            self._facts[predicate] |= codes  # and none of them is in S0, so they may be false
        for opening in openings:
            self._open(opening)
        for literal in self.task.timed_literals:
            if not literal.fluent:
                self.reach(literal.predicate, self.task.encode(literal.arguments), bool(literal.value))
        self._fixpoint()

    # -- asking -------------------------------------------------------------------------------------------------------

    def may_hold(self, formula: Formula, binding: dict[int, int], positive: bool = True) -> bool:
        """Whether a formula may have a value somewhere, for these objects."""
        slots = sorted(self.possible_certain.emitter.free_slots(formula) & binding.keys())
        found = self._find(formula, positive, (), slots, [binding[slot] for slot in slots])
        return bool(found)

    def find_bindings(
        self, formula: Formula, variables: Sequence[Variable], positive: bool = True, count: int = 1
    ) -> list[tuple[int, ...]]:
        """Up to ``count`` bindings for which a formula may have a value."""
        return self._find(formula, positive, tuple(variables), (), (), count)

    def find_impossible_binding(self, formula: Formula, variables: Sequence[Variable]) -> list[tuple[int, ...]]:
        """A binding for which a formula is true nowhere, if there is one."""
        key = ("never", id(formula))
        known = self._searches.get(key)
        if known is None:
            wanted = Not(self.possible_form(formula, True))
            known = self._searches[key] = formula, self.possible_certain.compile_search(wanted, tuple(variables), ())
        return self._few(known[1], (), 1)

    def _find(
        self,
        formula: Formula,
        positive: bool,
        variables: tuple[Variable, ...],
        bound: Sequence[int],
        values: Sequence[int],
        count: int = 1,
    ) -> list[tuple[int, ...]]:
        key = (id(formula), positive, tuple([v.slot for v in variables]), tuple(bound))
        known = self._searches.get(key)
        if known is None:
            wanted = self.possible_form(formula, positive)
            known = self._searches[key] = formula, self.possible_certain.compile_search(wanted, variables, bound)
        return self._few(known[1], values, count)

    def _few(self, search: Search, values: Sequence[int], count: int) -> list[tuple[int, ...]]:
        if self._over():
            raise LimitReached(LimitKind.QUESTION)
        out = _Few(count)
        with suppress(StopIteration):
            search(self._facts, self._fluents, out, *values)
        return out

    def possible_form(self, formula: Formula, positive: bool) -> Formula:
        """Where a formula may have a value, over possible and certain facts. What was so once may be so at any time."""
        match formula:
            case Temporal():
                return self._remembered(formula, positive)
            case Atom() if formula.predicate in self._action_predicates and not positive:
                return TRUE  # another step may be taken
            case Compare() if self._is_constant(formula):
                return formula if positive else Not(formula)
            case Atom() | Compare():
                return self.possible_certain.possible_condition(formula, positive)
            case _:
                return push_negation(formula, positive, self.possible_form)

    def _remembered(self, formula: Temporal, positive: bool) -> Formula:
        if formula.operator not in PAST_OPERATORS:
            return TRUE  # of what is to come
        operator = past_operator(formula)
        match operator:
            case "weak-yesterday" | "yesterday" if positive == (operator == "weak-yesterday"):
                return TRUE  # of the first letter
            case "yesterday" | "weak-yesterday" | "once" | "historically" | "since":
                return self.possible_form(formula.operands[-1], positive)
            case _:
                assert_never(operator)

    def _open(self, opening: OpenPredicate) -> None:
        """Facts that a specification leaves open (those that S0 gives a value among them, which says more)."""
        for objects in product(*[self.task.domains[domain] for domain in opening.domains]):
            code = self.task.encode(objects)
            self.reach(opening.predicate, code, True)
            self.reach(opening.predicate, code, False)
            if len(self._facts[opening.predicate]) > MAX_MATCHES:
                raise LimitReached(LimitKind.QUESTION)

    def _constants(self) -> frozenset[int]:
        """The functions whose values are given, and that nothing changes."""
        task = self.task
        snaps = [snap for a in task.actions.values() for snap in (a.start, a.end) if snap is not None]
        changing = {a.function for snap in snaps for effect in snap.effects for a in effect.assignments}
        changing.update([literal.predicate for literal in task.timed_literals if literal.fluent])
        if task.unknowns is not None:
            changing.update([function for function, values in enumerate(task.unknowns.intervals) if values])
        return frozenset(range(len(task.functions))) - changing

    def _is_constant(self, formula: Compare) -> bool:
        read = [fluent for side in (formula.left, formula.right) for fluent in expression_fluents(side)]
        return bool(self._constant) and all([fluent.function in self._constant for fluent in read])

    # -- the fixpoint -------------------------------------------------------------------------------------------------

    def reach(self, predicate: int, code: int, value: bool) -> bool:
        """Note that a fact may be true, or false; whether that is new."""
        may_be, never_false = self._facts[predicate], self._facts[predicate + self.possible_certain.size]
        if value:
            if code in may_be:
                return False
            may_be.add(code)
            return True
        if code in never_false:
            never_false.discard(code)
            return True
        return False

    def _fixpoint(self) -> None:
        changers = [changer for action in self.task.actions.values() for changer in self._changers(action)]
        changed = True
        while changed:
            changed = self._derive()
            for changer in changers:
                changed |= changer.run(self)
        self._derive()
        for (kind, name), predicate in self.engine.action_predicates.items():
            action = self.task.actions[name]
            found = self.matches(self._conditions(action, kind), tuple(self._widened(action.parameters)))
            self._facts[predicate].update([self.task.encode(objects) for objects in found])

    def _widened(self, variables: Sequence[Variable]) -> list[Variable]:
        """Parameters of actions; of lenient ones any object may be."""
        if self._everything is None:
            return list(variables)
        return [v._replace(domain=self._everything) for v in variables]

    @staticmethod
    def _conditions(action: Action, kind: str) -> And:
        """What has to hold at some time for an action to start (``start``), or to run to its end."""
        parts = list(action.start.condition)
        if kind != "start" and action.end is not None:
            parts += [*action.over_all, *action.end.condition]
        return And(tuple(parts))

    def _changers(self, action: Action) -> Iterator[_Changer]:
        parameters = self._widened(action.parameters)
        for kind, snap in (("start", action.start), ("end", action.end)):
            effects = snap.effects if snap is not None else ()
            always = [effect for effect in effects if _happens_always(effect)]
            for effect in effects:
                condition = And((*self._conditions(action, kind).parts, effect.condition, effect.at_start))
                yield _Changer(self.task, condition, (*parameters, *effect.variables), effect, always)

    def matches(self, condition: Formula, variables: tuple[Variable, ...]) -> list[tuple[int, ...]]:
        """All bindings for which a condition may hold. Raises :class:`LimitReached`."""
        if self._over():
            raise LimitReached(LimitKind.QUESTION)
        key = (id(condition), "all")
        known = self._searches.get(key)
        if known is None:
            search = self.possible_certain.compile_search(self.possible_form(condition, True), variables, ())
            known = self._searches[key] = condition, search
        out = _Some(self._over, self._most)
        known[1](self._facts, self._fluents, out)
        return out

    def _derive(self) -> bool:
        """Derived facts: true by the least fixpoint of what may be true; never false by that of what is never false."""
        for predicate in self._derived:
            self._facts[predicate + self.possible_certain.size].clear()
        for stratum in self.task.axioms:
            again = True
            while again:
                again = False
                for axiom in stratum:
                    for may_be in (True, False):
                        again |= self._head(axiom, may_be)
        count = sum([len(self._facts[p]) for p in self._derived])
        grown, self._count = count != self._count, count
        return grown

    def _head(self, axiom: Axiom, may_be: bool) -> bool:
        key = (id(axiom), may_be)
        known = self._searches.get(key)
        if known is None:
            body = self.possible_form(axiom.body, True) if may_be else Not(self.possible_form(axiom.body, False))
            known = self._searches[key] = axiom.body, self.possible_certain.compile_search(body, axiom.parameters, ())
        out = _Some(self._over, self._most)
        known[1](self._facts, self._fluents, out)
        target = self._facts[axiom.predicate if may_be else axiom.predicate + self.possible_certain.size]
        before = len(target)
        target.update([self.task.encode(objects) for objects in out])
        return len(target) != before


class _Changer:
    """An effect: where its condition may hold, it may happen."""

    def __init__(
        self, task: Task, condition: And, variables: tuple[Variable, ...], effect: Effect, always: Sequence[Effect]
    ) -> None:
        self.task = task
        self.condition = condition
        self.variables = variables
        self._adds = effect.adds
        self._places = {variable(v.slot): place for place, v in enumerate(variables)}
        added = [
            (atom, {variable(v.slot): task.domain_sets[v.domain] for v in other.variables})
            for other in always
            for atom in other.adds
        ]
        left = [d for d in effect.deletes if all([d != atom or domains for atom, domains in added])]
        self._deletes = [(d, [pair for pair in added if pair[0].predicate == d.predicate]) for d in left]
        """Each with what is added whenever the action happens, and prevails where it is the same fact."""

    def run(self, relaxation: Relaxation) -> bool:
        """Add what may happen; whether anything is new."""
        if not (self._adds or self._deletes):
            return False
        changed = False
        encode = self.task.encode
        for objects in set(relaxation.matches(self.condition, self.variables)):
            for atom in self._adds:
                changed |= relaxation.reach(atom.predicate, encode(self._objects(atom, objects)), True)
            for atom, prevailing in self._deletes:
                deleted = self._objects(atom, objects)
                if not any([self._same(*other, objects, deleted) for other in prevailing]):
                    changed |= relaxation.reach(atom.predicate, encode(deleted), False)
        return changed

    def _objects(self, atom: Atom, objects: tuple[int, ...]) -> tuple[int, ...]:
        return tuple([a if a >= 0 else objects[self._places[a]] for a in atom.arguments])

    def _same(
        self, atom: Atom, domains: Mapping[int, frozenset[int]], objects: tuple[int, ...], wanted: tuple[int, ...]
    ) -> bool:
        """Whether an atom stands for the fact with these objects, for some binding of variables of its own."""
        own: dict[int, int] = {}
        for argument, there in zip(atom.arguments, wanted, strict=True):
            if argument in domains:
                if own.setdefault(argument, there) != there or there not in domains[argument]:
                    return False
            elif (argument if argument >= 0 else objects[self._places[argument]]) != there:
                return False
        return True


def _happens_always(effect: Effect) -> bool:
    """Whether an effect has no condition, so that it happens whenever its action does."""
    return effect.condition is TRUE and effect.at_start is TRUE and not effect.choices
