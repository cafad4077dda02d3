"""The delete relaxation: facts that may be true, or false, in some state (docs/safety-rules.md, "Claims and proofs").

A fact that may be true once may be true at any time, and likewise for false (Bonet and Geffner 2001, with negation). So
a fact that is impossible here is impossible in every plan. Rules are ignored. The joins of the explicit engine find
bindings over two copies of each predicate (:class:`PossibleCertain`): the facts that may be true, and those that are
never false. Actions are not ground; an iteration costs the partial matches of their conditions. The planners use
another relaxation (``planning``), which starts from any state, includes the rules and grounds the actions.
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
"""Maximum number of bindings that a search finds."""
MATCHES_BETWEEN_CHECKS = 4096
"""Number of matches after which a search checks again whether to give up."""
Objects = tuple[int, ...]


class _DistinctMatches(list[Objects]):
    """Distinct matches of a search, which ends at a maximum number of them."""

    def __init__(self, max_matches: int) -> None:
        super().__init__()
        self.max_matches = max_matches

    def append(self, match: Objects) -> None:
        if match not in self:
            super().append(match)
            if len(self) >= self.max_matches:
                raise StopIteration


class _LimitedMatches(list[Objects]):
    """All matches of a search. Raises :class:`LimitReached` for too many of them, or too much time."""

    def __init__(self, should_give_up: Callable[[], bool], max_matches: int) -> None:
        super().__init__()
        self.should_give_up = should_give_up
        self.max_matches = max_matches

    def append(self, match: Objects) -> None:
        super().append(match)
        if len(self) > self.max_matches or (len(self) % MATCHES_BETWEEN_CHECKS == 0 and self.should_give_up()):
            raise LimitReached(LimitKind.QUESTION)


class Relaxation:
    """The fixpoint for one problem, whose open facts and numbers may have any value. Raises :class:`LimitReached`.

    ``should_give_up`` returns whether to give up. ``all_objects_domain`` is the domain of all objects if types are
    lenient: then steps may have any arguments. ``None``: types are strict.

    Comparisons may have either value. With ``fold_constants``, a comparison of numbers that never change keeps its
    value, and has none if it is undefined. No search finds more than ``max_matches`` bindings.
    """

    def __init__(
        self,
        engine: Engine,
        should_give_up: Callable[[], bool],
        openings: Sequence[OpenPredicate] = (),
        all_objects_domain: int | None = None,
        *,
        fold_constants: bool = False,
        max_matches: int = MAX_MATCHES,
    ) -> None:
        self.engine = engine
        self.task = engine.task
        self._should_give_up = should_give_up
        self._max_matches = max_matches
        self._all_objects_domain = all_objects_domain
        self.possible_certain = PossibleCertain(self.task)
        self._size = self.possible_certain.size
        state = engine.make_initial_state()
        self._fluents = state.fluents
        self._constant_functions = self._find_constant_functions() if fold_constants else frozenset()
        action_facts = [set[int]() for _ in range(self._size - len(state.facts))]  # no action is executed in S0
        may_be_true, never_false = [[set(facts) for facts in (*state.facts, *action_facts)] for _ in range(2)]
        self._facts: list[set[int]] = [*may_be_true, *never_false]
        self._derived = frozenset([axiom.predicate for stratum in self.task.axioms for axiom in stratum])
        self._derived_count = 0
        self._action_predicates = frozenset(engine.action_predicates.values())
        self._searches: dict[object, tuple[Formula, Search]] = {}
        for predicate, codes in enumerate(self.task.unknowns.facts if self.task.unknowns is not None else ()):
            self._facts[predicate] |= codes  # none of them is in S0, so they may be false
        for opening in openings:
            self._open_predicate(opening)
        for literal in self.task.timed_literals:
            if not literal.fluent:
                self.add_value(literal.predicate, self.task.encode(literal.arguments), bool(literal.value))
        self._compute_fixpoint()

    # -- queries ------------------------------------------------------------------------------------------------------

    def may_hold(self, formula: Formula, binding: Mapping[int, int], positive: bool = True) -> bool:
        """Whether a formula may have a value in some state, for these objects."""
        return bool(self.find_bindings(formula, (), positive, binding=binding))

    def find_bindings(
        self,
        formula: Formula,
        variables: Sequence[Variable],
        positive: bool = True,
        max_count: int = 1,
        binding: Mapping[int, int] | None = None,
    ) -> list[Objects]:
        """Bindings of variables for which a formula may have a value; ``binding`` gives the objects of other slots."""
        known_objects = binding or {}
        slots = (
            sorted(self.possible_certain.emitter.free_slots(formula) & known_objects.keys()) if known_objects else []
        )
        key = (id(formula), positive, tuple([v.slot for v in variables]), tuple(slots))
        search = self._compile(key, formula, lambda: self._make_possible_form(formula, positive), variables, slots)
        return self._run_search(search, [known_objects[slot] for slot in slots], max_count)

    def find_impossible_binding(self, formula: Formula, variables: Sequence[Variable]) -> list[Objects]:
        """A binding for which a formula is true in no state; empty if there is none."""
        key = ("never", id(formula))
        search = self._compile(key, formula, lambda: Not(self._make_possible_form(formula, True)), variables)
        return self._run_search(search, (), 1)

    def _compile(
        self,
        key: object,
        formula: Formula,
        make_condition: Callable[[], Formula],
        variables: Sequence[Variable],
        bound: Sequence[int] = (),
    ) -> Search:
        """The search for the bindings of a condition, compiled once for each key. The key may have the formula's id."""
        if key not in self._searches:
            search = self.possible_certain.compile_search(make_condition(), variables, bound)
            self._searches[key] = formula, search
        return self._searches[key][1]

    def _run_search(self, search: Search, values: Sequence[int], max_count: int) -> list[Objects]:
        if self._should_give_up():
            raise LimitReached(LimitKind.QUESTION)
        matches = _DistinctMatches(max_count)
        with suppress(StopIteration):
            search(self._facts, self._fluents, matches, *values)
        return matches

    def _make_possible_form(self, formula: Formula, positive: bool) -> Formula:
        """A condition on possible and certain facts that holds if a formula may have a value in some state."""
        match formula:
            case Temporal():
                return self._make_possible_temporal(formula, positive)
            case Atom() if formula.predicate in self._action_predicates and not positive:
                return TRUE  # another step may be executed
            case Compare() if self._is_constant(formula):
                return formula if positive else Not(formula)
            case Atom() | Compare():
                return self.possible_certain.make_possible_condition(formula, positive)
            case _:
                return push_negation(formula, positive, self._make_possible_form)

    def _make_possible_temporal(self, formula: Temporal, positive: bool) -> Formula:
        """The possible form of a past operator, from its last operand; other operators may have any value."""
        if formula.operator not in PAST_OPERATORS:
            return TRUE
        operator = past_operator(formula)
        match operator:
            case "weak-yesterday" | "yesterday" if positive == (operator == "weak-yesterday"):
                return TRUE  # at the first letter
            case "yesterday" | "weak-yesterday" | "once" | "historically" | "since":
                return self._make_possible_form(formula.operands[-1], positive)
            case _:
                assert_never(operator)

    def _open_predicate(self, opening: OpenPredicate) -> None:
        """Let the facts of an open predicate have both values, including those with a value in S0."""
        for objects in product(*[self.task.domains[domain] for domain in opening.domains]):
            code = self.task.encode(objects)
            self.add_value(opening.predicate, code, True)
            self.add_value(opening.predicate, code, False)
            if len(self._facts[opening.predicate]) > MAX_MATCHES:
                raise LimitReached(LimitKind.QUESTION)

    def _find_constant_functions(self) -> frozenset[int]:
        """The functions whose values are given and never change."""
        task = self.task
        snaps = [snap for action in task.actions.values() for snap in (action.start, action.end) if snap is not None]
        changing_functions = {a.function for snap in snaps for effect in snap.effects for a in effect.assignments}
        changing_functions.update([literal.predicate for literal in task.timed_literals if literal.fluent])
        if task.unknowns is not None:
            changing_functions.update(
                [function for function, intervals in enumerate(task.unknowns.intervals) if intervals]
            )
        return frozenset(range(len(task.functions))) - changing_functions

    def _is_constant(self, formula: Compare) -> bool:
        fluents = [fluent for side in (formula.left, formula.right) for fluent in expression_fluents(side)]
        return bool(self._constant_functions) and all([f.function in self._constant_functions for f in fluents])

    # -- the fixpoint -------------------------------------------------------------------------------------------------

    def add_value(self, predicate: int, code: int, value: bool) -> bool:
        """Let a fact have a value; return whether that is new."""
        may_be_true, never_false = self._facts[predicate], self._facts[predicate + self._size]
        if value:
            if code in may_be_true:
                return False
            may_be_true.add(code)
            return True
        if code in never_false:
            never_false.discard(code)
            return True
        return False

    def _compute_fixpoint(self) -> None:
        """Apply effects and axioms until no value is new, then add the actions that may be executed."""
        effects = [effect for action in self.task.actions.values() for effect in self._relax_effects(action)]
        has_changed = True
        while has_changed:
            has_changed = self._derive_facts()
            for effect in effects:
                has_changed |= effect.apply(self)
        self._derive_facts()
        for (kind, name), predicate in self.engine.action_predicates.items():
            action = self.task.actions[name]
            matches = self.find_matches(_join_conditions(action, kind), self._widen_domains(action.parameters))
            self._facts[predicate].update([self.task.encode(objects) for objects in matches])

    def _widen_domains(self, parameters: Sequence[Variable]) -> tuple[Variable, ...]:
        """The parameters of an action, with any object in their domains if types are lenient."""
        if self._all_objects_domain is None:
            return tuple(parameters)
        return tuple([v._replace(domain=self._all_objects_domain) for v in parameters])

    def _relax_effects(self, action: Action) -> Iterator[_RelaxedEffect]:
        """The effects of an action, each with a condition that some step with the effect satisfies over time."""
        parameters = self._widen_domains(action.parameters)
        for kind, snap in (("start", action.start), ("end", action.end)):
            effects = snap.effects if snap is not None else ()
            unconditional_effects = [e for e in effects if e.condition is TRUE and e.at_start is TRUE and not e.choices]
            for effect in effects:
                condition = And((*_join_conditions(action, kind).parts, effect.condition, effect.at_start))
                variables = (*parameters, *effect.variables)
                yield _RelaxedEffect(self.task, condition, variables, effect, unconditional_effects)

    def find_matches(self, condition: Formula, variables: tuple[Variable, ...]) -> list[Objects]:
        """All bindings for which a condition may hold."""
        if self._should_give_up():
            raise LimitReached(LimitKind.QUESTION)
        key = (id(condition), "all")
        return self._run_full_search(
            self._compile(key, condition, lambda: self._make_possible_form(condition, True), variables)
        )

    def _run_full_search(self, search: Search) -> list[Objects]:
        matches = _LimitedMatches(self._should_give_up, self._max_matches)
        search(self._facts, self._fluents, matches)
        return matches

    def _derive_facts(self) -> bool:
        """Compute the derived facts that may be true, and those that are never false; return whether any is new."""
        for predicate in self._derived:
            self._facts[predicate + self._size].clear()
        for stratum in self.task.axioms:
            has_changed = True
            while has_changed:
                has_changed = False
                for axiom in stratum:
                    has_changed |= self._apply_axiom(axiom, may_be_true=True)
                    has_changed |= self._apply_axiom(axiom, may_be_true=False)
        previous_count, self._derived_count = self._derived_count, sum([len(self._facts[p]) for p in self._derived])
        return self._derived_count != previous_count

    def _apply_axiom(self, axiom: Axiom, *, may_be_true: bool) -> bool:
        """Derive facts that may be true, or are never false; return whether any is new."""

        def make_condition() -> Formula:
            if may_be_true:
                return self._make_possible_form(axiom.body, True)
            return Not(self._make_possible_form(axiom.body, False))

        search = self._compile((id(axiom), may_be_true), axiom.body, make_condition, axiom.parameters)
        facts = self._facts[axiom.predicate if may_be_true else axiom.predicate + self._size]
        count = len(facts)
        facts.update([self.task.encode(objects) for objects in self._run_full_search(search)])
        return len(facts) != count


def _join_conditions(action: Action, kind: str) -> And:
    """The conditions for an action to start (``start``), or to run to its end, each of which holds at some time."""
    parts = list(action.start.condition)
    if kind != "start" and action.end is not None:
        parts += [*action.over_all, *action.end.condition]
    return And(tuple(parts))


class _RelaxedEffect:
    """An effect that may happen wherever its condition may hold."""

    def __init__(
        self,
        task: Task,
        condition: And,
        variables: tuple[Variable, ...],
        effect: Effect,
        unconditional_effects: list[Effect],
    ) -> None:
        self.task = task
        self.condition = condition
        self.variables = variables
        self._adds = effect.adds
        self._places = {variable(v.slot): place for place, v in enumerate(variables)}
        always_added = [
            (atom, {variable(v.slot): task.domain_sets[v.domain] for v in adding_effect.variables})
            for adding_effect in unconditional_effects
            for atom in adding_effect.adds
        ]
        deletes = [d for d in effect.deletes if all([d != atom or domains for atom, domains in always_added])]
        self._deletes = [
            (d, [(atom, domains) for atom, domains in always_added if atom.predicate == d.predicate]) for d in deletes
        ]
        """Each with the atoms that the action always adds: an added fact is not deleted."""

    def apply(self, relaxation: Relaxation) -> bool:
        """Add the values that the effect may cause; return whether any is new."""
        if not (self._adds or self._deletes):
            return False
        has_changed = False
        encode = self.task.encode
        for objects in set(relaxation.find_matches(self.condition, self.variables)):
            for atom in self._adds:
                has_changed |= relaxation.add_value(atom.predicate, encode(self._bind(atom, objects)), True)
            for atom, additions in self._deletes:
                arguments = self._bind(atom, objects)
                if not any([self._has_instance(a, domains, objects, arguments) for a, domains in additions]):
                    has_changed |= relaxation.add_value(atom.predicate, encode(arguments), False)
        return has_changed

    def _bind(self, atom: Atom, objects: Objects) -> Objects:
        return tuple([argument if argument >= 0 else objects[self._places[argument]] for argument in atom.arguments])

    def _has_instance(
        self, atom: Atom, domains: Mapping[int, frozenset[int]], objects: Objects, arguments: Objects
    ) -> bool:
        """Whether an atom has these arguments for some binding of its own variables, which have ``domains``."""
        binding: dict[int, int] = {}
        for term, argument in zip(atom.arguments, arguments, strict=True):
            if term in domains:
                if binding.setdefault(term, argument) != argument or argument not in domains[term]:
                    return False
            elif (term if term >= 0 else objects[self._places[term]]) != argument:
                return False
        return True
