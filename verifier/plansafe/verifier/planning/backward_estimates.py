"""Estimates of the distance to a goal by backward chaining: only what the goal needs and is false now is grounded.

A false literal costs one more than the cheapest action that achieves it, with the false parts of its precondition and
of the effect's condition. The costs of parts are added (Haslum and Geffner 2000, h-add, computed from the goal). For
variables that an action leaves open, only objects are tried for which its most selective part already holds. So in a
home of 300 objects a few dozen facts are looked at, however many actions there are. The result is an estimate, not a
bound: a goal that seems unreachable may be reachable, so nothing is pruned by it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import NamedTuple, assert_never

from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.state import State
from plansafe.verifier.execution.steps import GroundAction, StepKey
from plansafe.verifier.model.binding_search import SignedFormula, find_bindings_with_value, flatten_goals, is_searchable
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
    match_arguments,
)
from plansafe.verifier.model.operations import free_slots

UNREACHABLE_COST = 1_000
"""The cost of a literal for which no achiever was found."""
COST_BOUNDS = (1, 2, 3, 4, 6, 9, 14)
"""Increasing cost bounds of the search, so that cheap achievers are found first."""
MAX_CONDITIONS = 1_500
"""Conditions that are examined for one subgoal; the others count as unreachable."""
MAX_CHOICES = 8
"""Objects that are tried for a variable that an action leaves open."""
BROKEN_RULE_PENALTY = 3
"""Additional cost of a step that broke a rule somewhere."""

Literal = tuple[int, int, bool]
"""A predicate, the code of its arguments, and the value that the fact should have."""
Subgoal = tuple[Formula, Binding]
"""A condition that should hold, with the objects of its slots."""


class _Estimate(NamedTuple):
    """The cost of a condition, and the false literals that it needs directly."""

    cost: int
    literals: tuple[Literal, ...] = ()


_UNREACHABLE = _Estimate(UNREACHABLE_COST)


class _Achiever(NamedTuple):
    """An action with an effect that gives the facts of an atom a value."""

    action: Action
    effect: Effect
    atom: Atom


class _EstimatedStep(NamedTuple):
    """A step, its cost with everything that it needs, and the false literals that it needs directly."""

    step: GroundAction
    cost: int
    literals: tuple[Literal, ...]


class _FormulaSlots(NamedTuple):
    """The free slots of a formula, which is stored so that its id is not reused."""

    formula: Formula
    slots: frozenset[int]
    sorted_slots: list[int]


class BackwardEstimate(NamedTuple):
    """The cost of subgoals, the steps of a relaxed plan that achieve them, and which of these steps are applicable.

    The steps are in no order. A subgoal that seems unreachable contributes no step.
    """

    cost: int
    steps: list[GroundAction]
    applicable_steps: list[GroundAction]


class BackwardEstimator:
    """Estimates for one task.

    ``learned_conditions``: conditions without which a step breaks a rule, learned by a search. ``penalized_steps``: the
    steps that broke rules in other ways; they cost :data:`BROKEN_RULE_PENALTY` more.
    """

    def __init__(self, engine: Engine) -> None:
        self.task = engine.task
        self.learned_conditions: dict[StepKey, list[Subgoal]] = {}
        self.penalized_steps: set[StepKey] = set()
        self._slots_by_formula_id: dict[int, _FormulaSlots] = {}
        self.achievers: dict[tuple[int, bool], list[_Achiever]] = {}
        """The achievers of literals, by predicate and value."""
        for action in engine.task.actions.values():
            for effect in action.start.effects if action.end is None else ():
                for value, atoms in ((True, effect.adds), (False, effect.deletes)):
                    for atom in atoms:
                        achiever = _Achiever(action, effect, atom)
                        self.achievers.setdefault((atom.predicate, value), []).append(achiever)

    def find_free_slots(self, formula: Formula) -> frozenset[int]:
        """Return the free slots of a formula, computed once per formula."""
        return self._find_formula_slots(formula).slots

    def find_sorted_slots(self, formula: Formula) -> list[int]:
        """Return the free slots of a formula in order."""
        return self._find_formula_slots(formula).sorted_slots

    def _find_formula_slots(self, formula: Formula) -> _FormulaSlots:
        formula_slots = self._slots_by_formula_id.get(id(formula))
        if formula_slots is None:
            slots = free_slots(formula)
            formula_slots = self._slots_by_formula_id[id(formula)] = _FormulaSlots(formula, slots, sorted(slots))
        return formula_slots

    def estimate(self, state: State, subgoals: Iterable[Subgoal], max_cost: int | None = None) -> BackwardEstimate:
        """Estimate the number of steps that achieve all subgoals.

        A cost above ``max_cost`` is returned as :data:`UNREACHABLE_COST`. The number of conditions examined, not time,
        bounds the work, so that the result is the same on every machine.
        """
        return _StateEstimator(self, state).estimate(subgoals, max_cost)


class _StateEstimator:
    """Estimates for one state."""

    def __init__(self, estimator: BackwardEstimator, state: State) -> None:
        self.estimator, self.task = estimator, estimator.task
        self.evaluator = Evaluator(estimator.task, state.facts, state.fluents)
        self._cheapest_achievers: dict[Literal, _EstimatedStep] = {}
        self._exceeded_bounds: dict[Literal, int] = {}
        """The greatest bound within which no achiever of a literal was found."""
        self._literals_in_progress: set[Literal] = set()
        self._examined_count = 0
        self._satisfying_objects_cache: dict[tuple[object, ...], list[tuple[int, ...]] | None] = {}
        self._value_cache: dict[tuple[object, ...], bool | None] = {}

    def estimate(self, subgoals: Iterable[Subgoal], max_cost: int | None = None) -> BackwardEstimate:
        """Estimate the subgoals one after the other, each with increasing bounds on its cost."""
        cost, literals = 0, list[Literal]()
        for formula, binding in subgoals:
            self._examined_count = 0
            estimate = _UNREACHABLE
            cost_left = UNREACHABLE_COST if max_cost is None else max_cost - cost
            if cost_left < 0:
                return BackwardEstimate(UNREACHABLE_COST, [], [])
            for bound in dict.fromkeys([min(bound, cost_left) for bound in COST_BOUNDS]):
                estimate = self._estimate_condition(formula, True, binding, bound)
                if estimate.cost < UNREACHABLE_COST or self._examined_count > MAX_CONDITIONS:
                    break
            cost += estimate.cost
            literals += estimate.literals
        return BackwardEstimate(cost, *self._collect_steps(literals))

    def _collect_steps(self, literals: list[Literal]) -> tuple[list[GroundAction], list[GroundAction]]:
        """Collect the cheapest achievers of literals and of their preconditions; and those that are applicable now."""
        steps: dict[StepKey, GroundAction] = {}
        applicable_steps: dict[StepKey, GroundAction] = {}
        queued_literals = set(literals)
        while literals:
            achiever = self._cheapest_achievers.get(literals.pop())
            if achiever is None:
                continue
            step = achiever.step
            steps[step.key] = step
            if not achiever.literals:
                applicable_steps[step.key] = step
            literals += [literal for literal in achiever.literals if literal not in queued_literals]
            queued_literals.update(achiever.literals)
        return list(steps.values()), list(applicable_steps.values())

    def _estimate_condition(self, formula: Formula, truth: bool, binding: Binding, bound: int) -> _Estimate:
        """Estimate the cost for a formula to get a truth value, if it is at most ``bound``."""
        self._examined_count += 1
        if self._evaluate(formula, binding) is truth:
            return _Estimate(0)
        if self._examined_count > MAX_CONDITIONS or bound < 1:
            return _UNREACHABLE
        match formula:
            case Not():
                return self._estimate_condition(formula.body, not truth, binding, bound)
            case Atom():
                literal = (formula.predicate, self.task.code_of(formula.arguments, binding), truth)
                return _Estimate(self._compute_literal_cost(literal, bound), (literal,))
            case And() | Or() if isinstance(formula, And) is truth:
                return self._estimate_conjunction([(part, truth, binding) for part in formula.parts], bound)
            case And() | Or():
                best = _UNREACHABLE
                for part in formula.parts:
                    estimate = self._estimate_condition(part, truth, binding, min(bound, best.cost - 1))
                    best = estimate if estimate.cost < best.cost else best
                return best
            case Quantified() if formula.universal is truth:
                failing_bindings = find_bindings_with_value(
                    self.evaluator, formula.variables, formula.body, not truth, binding
                )
                # More failing instances than the bound cost more than it in any case.
                conditions = [(formula.body, truth, failing) for failing in islice(failing_bindings, bound + 1)]
                return self._estimate_conjunction(conditions, bound)
            case Quantified():
                return self._estimate_existential(formula.variables, [(formula.body, truth)], binding, bound)[0]
            case Truth() | Equal() | Compare() | Temporal():
                return _UNREACHABLE  # no action achieves these, or they are not estimated
            case _:
                assert_never(formula)

    def _estimate_conjunction(self, conditions: Sequence[tuple[Formula, bool, Binding]], bound: int) -> _Estimate:
        """Estimate the cost for all conditions to get their values, if it is at most ``bound``."""
        total, literals = 0, list[Literal]()
        unmet_conditions = [
            (formula, truth, binding)
            for formula, truth, binding in conditions
            if self._evaluate(formula, binding) is not truth
        ]
        if len(unmet_conditions) > bound:
            return _UNREACHABLE
        for number, (formula, truth, binding) in enumerate(unmet_conditions, 1):
            later_count = len(unmet_conditions) - number  # each costs at least 1
            estimate = self._estimate_condition(formula, truth, binding, bound - total - later_count)
            if estimate.cost >= UNREACHABLE_COST:
                return _UNREACHABLE
            total += estimate.cost
            literals += estimate.literals
        return _Estimate(total, tuple(literals))

    def _compute_literal_cost(self, literal: Literal, bound: int) -> int:
        """Return the cost of the cheapest achiever of a literal, if it is at most ``bound``."""
        known_achiever = self._cheapest_achievers.get(literal)
        if known_achiever is not None:
            return known_achiever.cost if known_achiever.cost <= bound else UNREACHABLE_COST
        if bound < 1 or self._exceeded_bounds.get(literal, 0) >= bound or literal in self._literals_in_progress:
            return UNREACHABLE_COST
        self._literals_in_progress.add(literal)
        predicate, code, value = literal
        best: _EstimatedStep | None = None
        for achiever in self.estimator.achievers.get((predicate, value), ()):
            cheaper = self._estimate_achiever(achiever, code, bound if best is None else best.cost - 1)
            best = best if cheaper is None else cheaper
        self._literals_in_progress.discard(literal)
        if best is None:
            self._exceeded_bounds[literal] = max(bound, self._exceeded_bounds.get(literal, 0))
            return UNREACHABLE_COST
        self._cheapest_achievers[literal] = best
        return best.cost

    def _estimate_achiever(self, achiever: _Achiever, code: int, bound: int) -> _EstimatedStep | None:
        """Estimate the cheapest step by which an achiever changes a fact; ``None`` if it costs more than ``bound``."""
        action, effect, atom = achiever
        domains = {v.slot: self.task.domain_sets[v.domain] for v in (*action.parameters, *effect.variables)}
        binding = match_arguments(atom.arguments, self.task.decode(code, len(atom.arguments)), domains)
        cost_left = bound - 1
        if binding is None or cost_left < 0:
            return None
        free_variables = [v for v in (*action.parameters, *effect.variables) if v.slot not in binding]
        parts = [(part, True) for part in (*action.start.condition, effect.condition)]
        estimate, full_binding = self._estimate_existential(free_variables, parts, binding, cost_left)
        if estimate.cost > cost_left or not all([v.slot in full_binding for v in action.parameters]):
            return None
        objects = tuple([full_binding[v.slot] for v in action.parameters])
        key = (action.name, objects)
        penalty = BROKEN_RULE_PENALTY if key in self.estimator.penalized_steps else 0
        learned_conditions = self.estimator.learned_conditions.get(key, ())
        learned_estimate = self._estimate_conjunction(
            [(formula, True, slots) for formula, slots in learned_conditions], cost_left - estimate.cost - penalty
        )
        cost = estimate.cost + learned_estimate.cost + penalty
        if cost > cost_left:
            return None
        return _EstimatedStep(GroundAction(action, objects), cost + 1, (*estimate.literals, *learned_estimate.literals))

    def _estimate_existential(
        self, variables: Iterable[Variable], goals: Iterable[SignedFormula], binding: Binding, bound: int
    ) -> tuple[_Estimate, Binding]:
        """Estimate the cost for goals to hold together under some binding of the variables; return that binding too."""
        flat_goals = flatten_goals(self.task, variables, goals, binding)
        if flat_goals is None:
            return _UNREACHABLE, binding
        open_variables, parts, binding = flat_goals
        open_slots, find_free_slots = {v.slot for v in open_variables}, self.estimator.find_free_slots
        closed_conditions = [
            (formula, truth, binding) for formula, truth in parts if not find_free_slots(formula) & open_slots
        ]
        closed_estimate = self._estimate_conjunction(closed_conditions, bound)
        if closed_estimate.cost > bound or not open_slots:
            return closed_estimate, binding
        best, best_binding = _UNREACHABLE, binding
        open_parts = [(formula, truth) for formula, truth in parts if find_free_slots(formula) & open_slots]
        for chosen_binding in self._list_choices(open_variables, open_parts, binding):
            unbound_variables = [v for v in open_variables if v.slot not in chosen_binding]
            estimate, full_binding = self._estimate_existential(
                unbound_variables, open_parts, chosen_binding, min(bound - closed_estimate.cost, best.cost - 1)
            )
            if estimate.cost < best.cost:
                best, best_binding = estimate, full_binding
                if not estimate.cost:
                    break
        cost = min(UNREACHABLE_COST, best.cost + closed_estimate.cost)
        return _Estimate(cost, (*closed_estimate.literals, *best.literals)), best_binding

    def _list_choices(self, variables: list[Variable], parts: list[SignedFormula], binding: Binding) -> list[Binding]:
        """List bindings of the variables of the most selective part (at least one variable) under which it holds."""
        best: list[Binding] = []
        for formula, truth in parts:
            part_slots = self.estimator.find_free_slots(formula)
            read_variables = tuple([v for v in variables if v.slot in part_slots])
            slots = [v.slot for v in read_variables]
            for disjunct in formula.parts if isinstance(formula, Or) and truth else (formula,):
                if self.estimator.find_free_slots(disjunct).issuperset(slots):
                    choices = self._list_satisfying_objects(read_variables, disjunct, truth, binding)
                    if choices and (not best or len(choices) < len(best)):
                        best = [{**binding, **dict(zip(slots, objects, strict=True))} for objects in choices]
        if not best:
            first = variables[0]
            best = [{**binding, first.slot: object_} for object_ in self.task.domains[first.domain][:MAX_CHOICES]]
        return best

    def _list_satisfying_objects(
        self, variables: tuple[Variable, ...], formula: Formula, truth: bool, binding: Binding
    ) -> list[tuple[int, ...]] | None:
        """List the first few tuples of objects under which a formula has a value; ``None``: it cannot be searched.

        Cached, since each bound on the cost asks for the same tuples.
        """
        key = (id(formula), truth, variables, *self._list_bound_objects(formula, binding))
        if key not in self._satisfying_objects_cache:
            choices = None
            if is_searchable(self.evaluator, variables, formula, truth):
                bindings = find_bindings_with_value(self.evaluator, variables, formula, truth, binding)
                choices = [tuple([full[v.slot] for v in variables]) for full in islice(bindings, MAX_CHOICES)]
            self._satisfying_objects_cache[key] = choices
        return self._satisfying_objects_cache[key]

    def _evaluate(self, formula: Formula, binding: Binding) -> bool | None:
        """Evaluate a formula in the state; cached unless it is an atom. ``None``: undefined."""
        if isinstance(formula, Atom):
            return self.evaluator.holds(formula, binding)
        key = (id(formula), *self._list_bound_objects(formula, binding))
        if key not in self._value_cache:
            self._value_cache[key] = self.evaluator.holds(formula, binding)
        return self._value_cache[key]

    def _list_bound_objects(self, formula: Formula, binding: Binding) -> list[int | None]:
        """List the objects of a formula's free slots, in the order of the slots; ``None`` for an unbound slot."""
        return [binding.get(slot) for slot in self.estimator.find_sorted_slots(formula)]
