"""Which ground actions of a task have an effect on given facts, in general or in a given state."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from plansafe.verifier.compile.joins import Join
from plansafe.verifier.compile.normal_forms import convert_to_dnf, find_bound_slots
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.state import State
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.evaluation import Evaluator
from plansafe.verifier.model.memoized import memoized
from plansafe.verifier.model.nodes import TRUE, Action, And, Atom, Effect, Equal, Formula, Not, Variable
from plansafe.verifier.model.operations import conjuncts, free_slots, has_comparison
from plansafe.verifier.repair.ground_effects import (
    OPEN,
    GroundEffects,
    ObjectPattern,
    unify_pattern,
)

MAX_INSTANCES = 20_000
"""Ground instances of one action that are listed for one fact; beyond it the list is incomplete, which is reported."""
MAX_ENUMERATED_OBJECTS = 4
"""Objects of a variable that a search may try one by one, for any number of such variables."""


class _LiftedEffect(NamedTuple):
    """An action's effect that gives facts with these arguments a value (``None``: a number)."""

    action: Action
    effect: Effect
    arguments: tuple[int, ...]
    value: bool | None

    @property
    def variables(self) -> tuple[Variable, ...]:
        return (*self.action.parameters, *self.effect.variables)


class _EffectSearch(NamedTuple):
    """Finds the objects for which an effect happens in a state, given the objects that the fact determines."""

    lifted: _LiftedEffect
    find: Callable[..., None]
    slots: list[int]


class Achiever(NamedTuple):
    """An action whose effect may give facts of a pattern a value; ``binding``: what the pattern determines."""

    action: Action
    variables: tuple[Variable, ...]
    condition: Formula
    binding: dict[int, int]


class EffectIndex:
    """The effects and achievers of one task."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.task = engine.task
        self._initial = engine.make_initial_state()
        self.is_cut = False
        """Whether some list of achievers was cut at :data:`MAX_INSTANCES`."""
        self._ground_effects: dict[tuple[str, tuple[int, ...]], GroundEffects] = {}
        self._searches: dict[tuple[int, bool, tuple[bool, ...] | None], list[_EffectSearch | None]] = {}
        self._effects: dict[int, list[_LiftedEffect]] = {}
        self._literals: dict[tuple[str, tuple[int, ...]], tuple[list[tuple[int, int, bool]], list[Formula]]] = {}
        self._statics: dict[str, list[tuple[frozenset[int], Formula]]] = {}
        self.applicable_actions: dict[tuple[object, ...], list[GroundAction]] = {}
        """The applicable actions by state, and by names of actions and state."""
        self._action_names = {
            predicate: name for (kind, name), predicate in engine.action_predicates.items() if kind == "start"
        }
        predicate_count = len(self.task.predicates)
        for action in self.task.actions.values():
            if action.end is not None:
                continue
            for effect in action.start.effects:
                changes = [(atom.predicate, atom.arguments, True) for atom in effect.adds]
                changes += [(atom.predicate, atom.arguments, False) for atom in effect.deletes]
                numeric = [(predicate_count + a.function, a.arguments, None) for a in effect.assignments]
                for index, arguments, value in (*changes, *numeric):
                    lifted = _LiftedEffect(action, effect, arguments, value)
                    self._effects.setdefault(index, []).append(lifted)

    def get_effects(self, step: GroundAction) -> GroundEffects:
        """The effects of a ground action."""
        key = step.key
        effects = self._ground_effects.get(key)
        if effects is None:
            effects = GroundEffects(self.task, step, self.engine.find_action_fact("start", step))
            self._ground_effects[key] = effects
        return effects

    # -- effects in a state -------------------------------------------------------------------------------------------

    def find_effective_actions(
        self, index: int, pattern: ObjectPattern, value: bool, state: State
    ) -> Iterator[GroundAction] | None:
        """The ground actions, applicable or not, with an effect in ``state`` that gives facts of a pattern a value.

        Searches the bindings of each effect's condition instead of testing every action. ``None`` if such a search is
        not possible: for action facts, and for effects that read numbers or have too many open variables.
        """
        if index in self._action_names or index >= len(self.task.predicates):
            return None
        key = (index, value, None if pattern is None else tuple([object_ != OPEN for object_ in pattern]))
        searches = self._searches.get(key)
        if searches is None:
            effects = [lifted for lifted in self._effects.get(index, ()) if lifted.value is value]
            searches = self._searches[key] = [self._compile_search(lifted, key[2]) for lifted in effects]
        return None if any([search is None for search in searches]) else self._search(searches, pattern, state)

    def _search(
        self, searches: Sequence[_EffectSearch | None], pattern: ObjectPattern, state: State
    ) -> Iterator[GroundAction]:
        for search in searches:
            assert search is not None
            lifted, find, slots = search
            binding = unify_pattern(self.task, lifted.variables, lifted.arguments, pattern)
            if binding is not None:
                matches: list[tuple[int, ...]] = []
                find(state.facts, state.fluents, matches, *[binding[slot] for slot in slots])
                yield from [GroundAction(lifted.action, objects) for objects in matches]

    def _compile_search(self, lifted: _LiftedEffect, is_given: tuple[bool, ...] | None) -> _EffectSearch | None:
        """Compile a search for the objects for which an effect happens; ``is_given``: which arguments are known."""
        emitter = self.engine.emitter
        action, effect, arguments, _ = lifted
        unconditional = effect.condition is TRUE
        if unconditional and effect.variables:
            return None
        formula = And(action.start.condition) if unconditional else effect.condition
        disjuncts = None if has_comparison(formula) else convert_to_dnf(formula)
        slots = sorted({-1 - a for i, a in enumerate(arguments) if a < 0 and is_given is not None and is_given[i]})
        outputs = [v.slot for v in action.parameters]
        wide_slots = {v.slot for v in lifted.variables if len(self.task.domains[v.domain]) > MAX_ENUMERATED_OBJECTS}
        if disjuncts is None or any(
            [len(wide_slots - find_bound_slots(disjunct, slots)) > 1 for disjunct in disjuncts]
        ):
            return None
        body = [f"out.append(({', '.join([f'x{slot}' for slot in outputs])},))" if outputs else "out.append(())"]
        lines: list[str] = []
        for disjunct in disjuncts:
            domains = {v.slot: v.domain for v in (*lifted.variables, *disjunct.variables)}
            join = Join(emitter, domains, "S, F, out", indexed=False)
            lines += join.emit(disjunct.literals, frozenset(slots), sorted({v.slot for v in lifted.variables}), body)
        name = emitter.fresh_name()
        emitter.define(name, ", ".join(["S", "F", "out", *[f"x{slot}" for slot in slots]]), lines or ["pass"])
        return _EffectSearch(lifted, emitter.compile_function(name), slots)

    # -- achievers ----------------------------------------------------------------------------------------------------

    def find_action_names(self, index: int, value: bool) -> tuple[str, ...]:
        """The names of the actions that may give facts of a predicate a value."""
        if index in self._action_names:
            return (self._action_names[index],) if value else ()
        effects = self._effects.get(index, ())
        return tuple(dict.fromkeys([lifted.action.name for lifted in effects if lifted.value is value]))

    def find_lifted_achievers(self, index: int, pattern: ObjectPattern, value: bool | None) -> Iterator[Achiever]:
        """The actions with an effect that may give facts of a pattern a value (``None``: any change)."""
        if index in self._action_names:
            if value is not False:
                action = self.task.actions[self._action_names[index]]
                objects = pattern or [OPEN for _ in action.parameters]
                pairs = zip(action.parameters, objects, strict=True)
                yield Achiever(action, (), TRUE, {v.slot: object_ for v, object_ in pairs if object_ != OPEN})
            return
        for lifted in self._effects.get(index, ()):
            if value is None or lifted.value is None or lifted.value is value:
                binding = unify_pattern(self.task, lifted.variables, lifted.arguments, pattern)
                if binding is not None:
                    yield Achiever(lifted.action, lifted.effect.variables, lifted.effect.condition, binding)

    @memoized
    def find_achievers(self, index: int, pattern: ObjectPattern, value: bool | None) -> tuple[GroundAction, ...]:
        """The ground actions that may give a fact of a pattern a value (``None``: any change).

        Without those whose static preconditions are false.
        """
        step_by_key: dict[tuple[str, tuple[int, ...]], GroundAction] = {}
        for action, _, _, binding in self.find_lifted_achievers(index, pattern, value):
            slots = {v.slot for v in action.parameters}
            parameters = {slot: object_ for slot, object_ in binding.items() if slot in slots}
            step_by_key.update({step.key: step for step in self._find_instances(action, parameters)})
        return tuple(step_by_key.values())

    def _find_instances(self, action: Action, binding: dict[int, int]) -> Iterator[GroundAction]:
        """The ground instances of an action that agree with a binding and with the static facts."""
        if action.end is not None:
            return
        task = self.task
        statics = self._find_static_conjuncts(action)
        evaluator = Evaluator(task, self._initial.facts, self._initial.fluents)
        parameters = [v for v in action.parameters if v.slot in binding]
        parameters += [v for v in action.parameters if v.slot not in binding]
        conditions_by_place: list[list[Formula]] = []
        bound: set[int] = set()
        for variable in parameters:
            bound.add(variable.slot)
            conditions_by_place.append(
                [formula for slots, formula in statics if variable.slot in slots and slots <= bound]
            )
        if any([evaluator.holds(formula, {}) is False for slots, formula in statics if not slots]):
            return
        partial_bindings: list[dict[int, int]] = [{}]
        for variable, conditions in zip(parameters, conditions_by_place, strict=True):
            domain = task.domains[variable.domain]
            if variable.slot in binding:
                object_ = binding[variable.slot]
                if object_ not in task.domain_sets[variable.domain]:
                    return
                domain = (object_,)
            extended_bindings = []
            for partial in partial_bindings:
                for object_ in domain:
                    extended = {**partial, variable.slot: object_}
                    if all([evaluator.holds(condition, extended) is not False for condition in conditions]):
                        extended_bindings.append(extended)
                if len(extended_bindings) > MAX_INSTANCES:
                    self.is_cut = True
                    break
            partial_bindings = extended_bindings
        for full in partial_bindings:
            yield GroundAction(action, tuple([full[v.slot] for v in action.parameters]))

    def split_precondition(self, step: GroundAction) -> tuple[list[tuple[int, int, bool]], list[Formula]]:
        """The literals (predicate, code, value) of a ground action's precondition, and its other conjuncts."""
        key = step.key
        split = self._literals.get(key)
        if split is None:
            binding = step.binding
            literals: list[tuple[int, int, bool]] = []
            other_parts: list[Formula] = []
            derived = frozenset() if self.engine.axioms is None else self.engine.axioms.derived
            for part in conjuncts(And(step.action.start.condition)):
                atom = part.body if isinstance(part, Not) else part
                if isinstance(atom, Atom) and atom.predicate not in derived:
                    literals.append((atom.predicate, self.task.code_of(atom.arguments, binding), atom is part))
                else:
                    other_parts.append(part)
            split = self._literals[key] = (literals, other_parts)
        return split

    def _find_static_conjuncts(self, action: Action) -> list[tuple[frozenset[int], Formula]]:
        """The conjuncts of a precondition that no action can change, with their slots."""
        statics = self._statics.get(action.name)
        if statics is None:
            statics = []
            for part in conjuncts(And(action.start.condition)):
                atom = part.body if isinstance(part, Not) else part
                if isinstance(atom, Equal) or (isinstance(atom, Atom) and self.task.static[atom.predicate]):
                    statics.append((frozenset(free_slots(atom)), part))
            self._statics[action.name] = statics
        return statics
