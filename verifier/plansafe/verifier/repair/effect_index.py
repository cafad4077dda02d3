"""Which ground actions of a task have an effect on given facts, in general or in a given state."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from plansafe.verifier.compile.joins import Join
from plansafe.verifier.compile.normal_forms import convert_to_dnf, find_bound_slots
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.state import State
from plansafe.verifier.execution.steps import GroundAction, StepKey
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


class GroundLiteral(NamedTuple):
    """A fact that a precondition needs to be true or false."""

    predicate: int
    code: int
    value: bool


class _LiftedEffect(NamedTuple):
    """An action's effect that gives facts of a subject with these arguments a value (``None``: a number)."""

    action: Action
    effect: Effect
    subject: int
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


def _list_lifted_effects(action: Action, predicate_count: int) -> Iterator[_LiftedEffect]:
    for effect in action.start.effects:
        for atom in effect.adds:
            yield _LiftedEffect(action, effect, atom.predicate, atom.arguments, True)
        for atom in effect.deletes:
            yield _LiftedEffect(action, effect, atom.predicate, atom.arguments, False)
        for assignment in effect.assignments:
            subject = predicate_count + assignment.function
            yield _LiftedEffect(action, effect, subject, assignment.arguments, None)


class Achiever(NamedTuple):
    """An action whose effect may give facts of a pattern a value; ``binding``: the objects that the pattern fixes."""

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
        self.has_cut_lists = False
        """Whether some list of achievers was cut at :data:`MAX_INSTANCES`."""
        self._ground_effects: dict[StepKey, GroundEffects] = {}
        self._searches: dict[tuple[int, bool, tuple[bool, ...] | None], list[_EffectSearch | None]] = {}
        self._effects_by_subject: dict[int, list[_LiftedEffect]] = {}
        self._split_preconditions: dict[StepKey, tuple[list[GroundLiteral], list[Formula]]] = {}
        self._static_conjuncts: dict[str, list[tuple[frozenset[int], Formula]]] = {}
        self.applicable_actions: dict[tuple[object, ...], list[GroundAction]] = {}
        """The applicable actions by state, and by names of actions and state."""
        self._action_names = {
            predicate: name for (kind, name), predicate in engine.action_predicates.items() if kind == "start"
        }
        for action in self.task.actions.values():
            if action.end is None:
                for lifted in _list_lifted_effects(action, len(self.task.predicates)):
                    self._effects_by_subject.setdefault(lifted.subject, []).append(lifted)

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
        self, subject: int, pattern: ObjectPattern, value: bool, state: State
    ) -> Iterator[GroundAction] | None:
        """The ground actions, applicable or not, with an effect in ``state`` that gives facts of a pattern a value.

        Searches the bindings of each effect's condition instead of testing every action. ``None`` if such a search is
        not possible: for action facts, and for effects that read numbers or have too many open variables.
        """
        if subject in self._action_names or subject >= len(self.task.predicates):
            return None
        are_known = None if pattern is None else tuple([object_ != OPEN for object_ in pattern])
        key = (subject, value, are_known)
        searches = self._searches.get(key)
        if searches is None:
            effects = [lifted for lifted in self._effects_by_subject.get(subject, ()) if lifted.value is value]
            searches = self._searches[key] = [self._compile_search(lifted, are_known) for lifted in effects]
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

    def _compile_search(self, lifted: _LiftedEffect, are_known: tuple[bool, ...] | None) -> _EffectSearch | None:
        """Compile a search for the objects for which an effect happens; ``None`` if it would enumerate too many.

        ``are_known``: which arguments of the fact are known when the search starts; ``None``: no argument is.
        """
        emitter = self.engine.emitter
        action, effect = lifted.action, lifted.effect
        is_unconditional = effect.condition is TRUE
        if is_unconditional and effect.variables:
            return None
        formula = And(action.start.condition) if is_unconditional else effect.condition
        disjuncts = None if has_comparison(formula) else convert_to_dnf(formula)
        slots: list[int] = []
        if are_known is not None:
            arguments = zip(lifted.arguments, are_known, strict=True)
            slots = sorted({-1 - argument for argument, is_known in arguments if argument < 0 and is_known})
        wide_slots = {v.slot for v in lifted.variables if len(self.task.domains[v.domain]) > MAX_ENUMERATED_OBJECTS}
        if disjuncts is None or any([len(wide_slots - find_bound_slots(d, slots)) > 1 for d in disjuncts]):
            return None
        objects = [f"x{v.slot}" for v in action.parameters]
        body = [f"out.append(({', '.join(objects)},))" if objects else "out.append(())"]
        lines: list[str] = []
        for disjunct in disjuncts:
            domains = {v.slot: v.domain for v in (*lifted.variables, *disjunct.variables)}
            join = Join(emitter, domains, "S, F, out", indexed=False)
            lines += join.emit(disjunct.literals, frozenset(slots), sorted({v.slot for v in lifted.variables}), body)
        name = emitter.make_fresh_name()
        emitter.define(name, ", ".join(["S", "F", "out", *[f"x{slot}" for slot in slots]]), lines or ["pass"])
        return _EffectSearch(lifted, emitter.compile_function(name), slots)

    # -- achievers ----------------------------------------------------------------------------------------------------

    def find_action_names(self, subject: int, value: bool) -> tuple[str, ...]:
        """The names of the actions that may give facts of a predicate a value."""
        if subject in self._action_names:
            return (self._action_names[subject],) if value else ()
        effects = self._effects_by_subject.get(subject, ())
        return tuple(dict.fromkeys([lifted.action.name for lifted in effects if lifted.value is value]))

    def find_lifted_achievers(self, subject: int, pattern: ObjectPattern, value: bool | None) -> Iterator[Achiever]:
        """The actions with an effect that may give facts of a pattern a value (``None``: any change)."""
        if subject in self._action_names:
            if value is not False:
                action = self.task.actions[self._action_names[subject]]
                objects = pattern or [OPEN for _ in action.parameters]
                pairs = zip(action.parameters, objects, strict=True)
                yield Achiever(action, (), TRUE, {v.slot: object_ for v, object_ in pairs if object_ != OPEN})
            return
        for lifted in self._effects_by_subject.get(subject, ()):
            if value is None or lifted.value is None or lifted.value is value:
                binding = unify_pattern(self.task, lifted.variables, lifted.arguments, pattern)
                if binding is not None:
                    yield Achiever(lifted.action, lifted.effect.variables, lifted.effect.condition, binding)

    @memoized
    def find_achievers(self, subject: int, pattern: ObjectPattern, value: bool | None) -> tuple[GroundAction, ...]:
        """The ground actions that may give a fact of a pattern a value (``None``: any change).

        Actions whose static preconditions are false are left out.
        """
        steps_by_key: dict[StepKey, GroundAction] = {}
        for action, _, _, binding in self.find_lifted_achievers(subject, pattern, value):
            slots = {v.slot for v in action.parameters}
            parameters = {slot: object_ for slot, object_ in binding.items() if slot in slots}
            steps_by_key.update({step.key: step for step in self._find_instances(action, parameters)})
        return tuple(steps_by_key.values())

    def _find_instances(self, action: Action, binding: dict[int, int]) -> Iterator[GroundAction]:
        """The ground instances of an action that agree with a binding and with the static facts."""
        if action.end is not None:
            return
        task = self.task
        static_conjuncts = self._find_static_conjuncts(action)
        evaluator = Evaluator(task, self._initial.facts, self._initial.fluents)
        if any([evaluator.holds(formula, {}) is False for slots, formula in static_conjuncts if not slots]):
            return
        bound_slots: set[int] = set()
        partial_bindings: list[dict[int, int]] = [{}]
        for variable in sorted(action.parameters, key=lambda v: v.slot not in binding):
            slot = variable.slot
            bound_slots.add(slot)
            conditions = [formula for slots, formula in static_conjuncts if slot in slots and slots <= bound_slots]
            objects = task.domains[variable.domain]
            if slot in binding:
                if binding[slot] not in task.domain_sets[variable.domain]:
                    return
                objects = (binding[slot],)
            extended_bindings = []
            for partial in partial_bindings:
                for object_ in objects:
                    extended = {**partial, slot: object_}
                    if all([evaluator.holds(condition, extended) is not False for condition in conditions]):
                        extended_bindings.append(extended)
                if len(extended_bindings) > MAX_INSTANCES:
                    self.has_cut_lists = True
                    break
            partial_bindings = extended_bindings
        for full in partial_bindings:
            yield GroundAction(action, tuple([full[v.slot] for v in action.parameters]))

    def split_precondition(self, step: GroundAction) -> tuple[list[GroundLiteral], list[Formula]]:
        """The literals of a ground action's precondition, and its other conjuncts."""
        key = step.key
        split = self._split_preconditions.get(key)
        if split is None:
            binding = step.binding
            literals: list[GroundLiteral] = []
            other_parts: list[Formula] = []
            derived = frozenset() if self.engine.axioms is None else self.engine.axioms.derived
            for part in conjuncts(And(step.action.start.condition)):
                atom = part.body if isinstance(part, Not) else part
                if isinstance(atom, Atom) and atom.predicate not in derived:
                    code = self.task.code_of(atom.arguments, binding)
                    literals.append(GroundLiteral(atom.predicate, code, atom is part))
                else:
                    other_parts.append(part)
            split = self._split_preconditions[key] = (literals, other_parts)
        return split

    def _find_static_conjuncts(self, action: Action) -> list[tuple[frozenset[int], Formula]]:
        """The conjuncts of a precondition that no action can change, with their slots."""
        static_conjuncts = self._static_conjuncts.get(action.name)
        if static_conjuncts is None:
            static_conjuncts = []
            for part in conjuncts(And(action.start.condition)):
                atom = part.body if isinstance(part, Not) else part
                if isinstance(atom, Equal) or (isinstance(atom, Atom) and self.task.static[atom.predicate]):
                    static_conjuncts.append((frozenset(free_slots(atom)), part))
            self._static_conjuncts[action.name] = static_conjuncts
        return static_conjuncts
