"""What ground actions may do to facts, and which ground actions may do something to a fact.

Facts are pairs (index, code); an index beyond the predicates is a fluent's, one of a mirror predicate stands for the
step itself. Everything here errs on the side of "may".
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

from plansafe.verifier.compile.normal import free_slots
from plansafe.verifier.engine.replay import Engine
from plansafe.verifier.engine.steps import Taken
from plansafe.verifier.evaluate import Evaluator
from plansafe.verifier.model import TRUE, Action, And, Atom, Effect, Equal, Formula, Not, bind

Fact = tuple[int, int]
MAX_GROUNDINGS = 20_000
"""Ground instances of one action that are listed for one fact; beyond it the list is cut, and the search says so."""


def identity(step: Taken) -> tuple[str, tuple[int, ...]]:
    """What tells ground actions apart; an action itself is deep, and must be neither hashed nor compared."""
    return (step.action.name, step.objects)


class Conditional(NamedTuple):
    """An effect that happens only if a condition holds, or whose value is a number: ``value`` is ``None`` there."""

    fact: Fact
    value: bool | None
    condition: Formula
    binding: dict[int, int]


class Footprint(NamedTuple):
    """The effects of a ground action: facts surely set, facts set under a condition. ``mirror``: the step itself."""

    sets: dict[Fact, bool]
    may: tuple[Conditional, ...]
    mirror: Fact | None

    def touches(self, predicate: int) -> bool:
        """Whether it may change any fact of a predicate (or fluent)."""
        return (
            any([fact[0] == predicate for fact in self.sets])
            or any([effect.fact[0] == predicate for effect in self.may])
            or (self.mirror is not None and self.mirror[0] == predicate)
        )


class Footprints:
    """Footprints and achievers of one task, remembered."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.task = engine.task
        self.cut = False
        """Whether some list of achievers was cut at :data:`MAX_GROUNDINGS`."""
        self._known: dict[tuple[str, tuple[int, ...]], Footprint] = {}
        self._effects: dict[int, list[tuple[Action, Effect, tuple[int, ...], bool | None]]] = {}
        self._literals: dict[tuple[str, tuple[int, ...]], tuple[list[tuple[int, int, bool]], list[Formula]]] = {}
        self._statics: dict[str, list[tuple[frozenset[int], Formula]]] = {}
        self._achievers: dict[tuple[int, int | None, bool | None], tuple[Taken, ...]] = {}
        self._mirrored = {predicate: name for (kind, name), predicate in engine.mirrors.items() if kind == "start"}
        base = len(self.task.predicates)
        for action in self.task.actions.values():
            if action.end is not None:
                continue
            for effect in action.start.effects:
                for atom in effect.adds:
                    self._effects.setdefault(atom.predicate, []).append((action, effect, atom.arguments, True))
                for atom in effect.deletes:
                    self._effects.setdefault(atom.predicate, []).append((action, effect, atom.arguments, False))
                for a in effect.assignments:
                    self._effects.setdefault(base + a.function, []).append((action, effect, a.arguments, None))

    def of(self, step: Taken) -> Footprint:
        """The footprint of a ground action."""
        key = identity(step)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._compute(step)
        return found

    def _compute(self, step: Taken) -> Footprint:
        task, base = self.task, len(self.task.predicates)
        own = step.binding
        sets: dict[Fact, bool] = {}
        may: list[Conditional] = []
        adds: set[Fact] = set()
        for effect in step.action.start.effects:
            for objects in product(*[task.domains[v.domain] for v in effect.variables]):
                binding = {**own, **bind(effect.variables, objects)}
                changes: list[tuple[Fact, bool | None]] = []
                changes += [((a.predicate, self._code(a.arguments, binding)), False) for a in effect.deletes]
                changes += [((a.predicate, self._code(a.arguments, binding)), True) for a in effect.adds]
                changes += [((base + a.function, self._code(a.arguments, binding)), None) for a in effect.assignments]
                for fact, value in changes:
                    if effect.condition is TRUE and value is not None:
                        if value:
                            adds.add(fact)
                        sets[fact] = value
                    else:
                        may.append(Conditional(fact, value, effect.condition, binding))
        for fact in adds:
            sets[fact] = True
        mirror = self.engine.mirror("start", step)
        return Footprint(sets, tuple(may), mirror)

    def _code(self, arguments: tuple[int, ...], binding: dict[int, int]) -> int:
        return self.task.encode(tuple([a if a >= 0 else binding[-1 - a] for a in arguments]))

    # -- achievers ----------------------------------------------------------------------------------------------------

    def achievers(self, index: int, code: int | None, value: bool | None) -> tuple[Taken, ...]:
        """The ground actions that may give a fact a value (``None``: any change; code ``None``: any fact of it).

        Only those whose static preconditions hold.
        """
        key = (index, code, value)
        found = self._achievers.get(key)
        if found is None:
            each = {identity(step): step for step in self._search(index, code, value)}
            found = self._achievers[key] = tuple(each.values())
        return found

    def _search(self, index: int, code: int | None, value: bool | None) -> Iterator[Taken]:
        task = self.task
        if index in self._mirrored:
            action = task.actions[self._mirrored[index]]
            if code is None:
                yield from self.groundings(action, {})
            else:
                objects = task.decode(code, len(action.parameters))
                yield from self.groundings(action, bind(action.parameters, objects))
            return
        base = len(task.predicates)
        arity = len((task.predicates[index] if index < base else task.functions[index - base]).types)
        wanted = None if code is None else task.decode(code, arity)
        for action, effect, arguments, sets in self._effects.get(index, ()):
            if value is not None and sets is not None and sets is not value:
                continue
            binding = self._unify(action, effect, arguments, wanted)
            if binding is not None:
                yield from self.groundings(action, binding)

    def _unify(
        self, action: Action, effect: Effect, arguments: tuple[int, ...], wanted: tuple[int, ...] | None
    ) -> dict[int, int] | None:
        """The slots of an action's parameters that an effect on a fact determines; ``None`` if it cannot be that."""
        if wanted is None:
            return {}
        domains = {v.slot: v.domain for v in (*action.parameters, *effect.variables)}
        binding: dict[int, int] = {}
        for argument, object_ in zip(arguments, wanted, strict=True):
            if argument >= 0:
                if argument != object_:
                    return None
                continue
            slot = -1 - argument
            if binding.setdefault(slot, object_) != object_:
                return None
            if object_ not in self.task.domain_sets[domains[slot]]:
                return None
        own = {v.slot for v in action.parameters}
        return {slot: object_ for slot, object_ in binding.items() if slot in own}

    def groundings(self, action: Action, binding: dict[int, int]) -> Iterator[Taken]:
        """The ground instances of an action that agree with a binding and with the static facts."""
        if action.end is not None:
            return
        task = self.task
        statics = self._static_parts(action)
        evaluator = Evaluator(task, self.engine._initial.facts, self.engine._initial.fluents)
        order = [v for v in action.parameters if v.slot in binding]
        order += [v for v in action.parameters if v.slot not in binding]
        due: list[list[Formula]] = []
        known: set[int] = set()
        for variable in order:
            known.add(variable.slot)
            due.append([f for slots, f in statics if variable.slot in slots and slots <= known])
        if any([evaluator.holds(f, {}) is False for slots, f in statics if not slots]):
            return
        partial: list[dict[int, int]] = [{}]
        for variable, conditions in zip(order, due, strict=True):
            domain = task.domains[variable.domain]
            if variable.slot in binding:
                object_ = binding[variable.slot]
                if object_ not in task.domain_sets[variable.domain]:
                    return
                domain = (object_,)
            grown = []
            for one in partial:
                for object_ in domain:
                    extended = {**one, variable.slot: object_}
                    if all([evaluator.holds(f, extended) is not False for f in conditions]):
                        grown.append(extended)
                if len(grown) > MAX_GROUNDINGS:
                    self.cut = True
                    break
            partial = grown
        for one in partial:
            yield Taken(action, tuple([one[v.slot] for v in action.parameters]))

    def precondition(self, step: Taken) -> tuple[list[tuple[int, int, bool]], list[Formula]]:
        """The literals of a ground action's precondition (predicate, code, value), and its other parts."""
        key = identity(step)
        found = self._literals.get(key)
        if found is None:
            own = step.binding
            literals: list[tuple[int, int, bool]] = []
            others: list[Formula] = []
            derived = frozenset() if self.engine.axioms is None else self.engine.axioms.derived
            parts: list[Formula] = list(step.action.start.condition)
            while parts:
                part = parts.pop(0)
                inner = part.body if isinstance(part, Not) else part
                if isinstance(part, And):
                    parts[:0] = part.parts
                elif isinstance(inner, Atom) and inner.predicate not in derived:
                    literals.append((inner.predicate, self._code(inner.arguments, own), inner is part))
                else:
                    others.append(part)
            found = self._literals[key] = (literals, others)
        return found

    def _static_parts(self, action: Action) -> list[tuple[frozenset[int], Formula]]:
        """The conjuncts of a precondition that no action can change, with the slots they read."""
        found = self._statics.get(action.name)
        if found is None:
            found = []
            stack: list[Formula] = list(action.start.condition)
            while stack:
                part = stack.pop()
                if isinstance(part, And):
                    stack.extend(part.parts)
                    continue
                inner = part.body if isinstance(part, Not) else part
                fixed = isinstance(inner, Equal) or (isinstance(inner, Atom) and self.task.static[inner.predicate])
                if fixed:
                    found.append((frozenset(free_slots(inner)), part))
            self._statics[action.name] = found
        return found
