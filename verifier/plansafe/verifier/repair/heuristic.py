"""A lower bound on the cost of the remaining edits: remaining faults that pairwise have no common repair.

The plan is executed once with the effects of every step (reading *force*). Each fault found is a disjunctive landmark:
at least one of certain literals must change before it, or a certain step must be removed. The fault remains at a node
if those literals are still false there, or will be. Two faults are *joint* if one edit could repair both. The bound is
the size of the largest set of remaining faults without a joint pair (compare landmarks, Helmert and Domshlak 2009).
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import NamedTuple

from plansafe.verifier.execution.replay import FORCE, Replay
from plansafe.verifier.execution.steps import IllFormed
from plansafe.verifier.model.evaluation import Evaluator
from plansafe.verifier.model.footprints import StateVariable
from plansafe.verifier.model.nodes import And, Number, bind
from plansafe.verifier.repair.demands import Demand
from plansafe.verifier.repair.ground_effects import GroundEffects
from plansafe.verifier.repair.repair_task import RepairTask
from plansafe.verifier.repair.rule_scopes import ScopeKind
from plansafe.verifier.repair.search_graph import Node, Transition

MAX_FAULTS = 10
"""Faults that are counted; the bounds of all their subsets are computed in advance."""
_MAX_COMPARED_ACTIONS = 400
"""Lists of more actions are assumed to have a common action."""


class _Instance(NamedTuple):
    """An instance of a part of a rule."""

    part: int
    binding: dict[int, int]


class _Literal(NamedTuple):
    """A demand for one ``fact`` (predicate and code).

    ``falsifier``: the last step before the fault that gives the fact the opposite value; 0 if no step does.
    """

    demand: Demand
    fact: StateVariable
    falsifier: int


class _Fault(NamedTuple):
    """A fault in the state before the step number ``before`` (n + 1: at the end).

    ``step``: that step, if its removal repairs the fault, else 0. ``removable``: the steps whose removal may repair it.
    """

    before: int
    step: int
    literals: tuple[_Literal, ...]
    removable: frozenset[int]


class FaultHeuristic:
    """Lower bounds on the cost of the remaining edits by the remaining faults."""

    def __init__(self, task: RepairTask) -> None:
        self.task = task
        self._faults = self._find_faults()[:MAX_FAULTS]
        self._is_joint_pair = [[self._are_joint(first, second) for second in self._faults] for first in self._faults]
        self._steps_to_substitute = [self._find_steps_to_substitute(fault) for fault in self._faults]
        self._bounds = {faults: self._compute_bound(faults) for faults in range(1 << len(self._faults))}

    def estimate(self, node: Node) -> Number:
        """Return the lower bound at a node. A substitution instead of an earlier deletion may repair one more fault."""
        if node.remaining_faults is None:
            node.remaining_faults = self._find_remaining_faults(
                node.state.facts, node.position, node.deferred, node.borrowed, None
            )
        return self._compute_bound_with_substitutions(node.remaining_faults, node.deleted)

    def preview(self, node: Node, transition: Transition) -> Number:
        """Return the lower bound at the target of a transition, without executing it."""
        step = transition.step
        effects = None if step is None else self.task.effect_index.get_effects(step)
        faults = self._find_remaining_faults(
            node.state.facts, transition.position, transition.deferred, transition.borrowed, effects
        )
        return self._compute_bound_with_substitutions(faults, node.deleted | transition.deleted)

    def _find_remaining_faults(
        self,
        facts: list[set[int]],
        position: int,
        deferred: frozenset[int],
        borrowed: frozenset[int],
        effects: GroundEffects | None,
    ) -> int:
        """Find the remaining faults, as bits. ``effects``: of a step, if any, that ``facts`` do not include yet."""
        faults = 0
        for number, fault in enumerate(self._faults):
            if self._remains(facts, position, deferred, borrowed, fault, effects):
                faults |= 1 << number
        return faults

    def _compute_bound_with_substitutions(self, faults: int, deleted: int) -> Number:
        """Return the lower bound for faults (as bits) if ``deleted`` steps (as bits) may become substitutions."""
        bound = self._bounds[faults]
        if not deleted or not bound:
            return bound
        repairable_faults = 0
        for number, steps in enumerate(self._steps_to_substitute):
            if faults & (1 << number) and steps & deleted:
                repairable_faults |= 1 << number
        max_substitutions = min(repairable_faults.bit_count(), deleted.bit_count())
        saved_cost = max_substitutions * (self.task.min_weight - self.task.substitution_surcharge)
        return max(self._bounds[faults & ~repairable_faults], bound - saved_cost)

    # -- faults of the original plan ----------------------------------------------------------------------------------

    def _find_faults(self) -> list[_Fault]:
        """Find the faults of the original plan in its order; after :data:`MAX_FAULTS` some may be missing."""
        faults: list[_Fault] = []
        engine, finder = self.task.engine, self.task.demand_finder
        violated_instances = self._find_violated_state_instances()
        run = Replay(engine, FORCE, observer=lambda _run, _number, _changes: None)  # a replay without monitors
        evaluator = Evaluator(engine.task, run.state.facts, run.state.fluents)
        for number, step in enumerate(self.task.steps, 1):
            if len(faults) >= MAX_FAULTS:
                return faults
            self._add_rule_faults(faults, number, evaluator, violated_instances.get(number - 1, ()))
            if isinstance(step, IllFormed):
                faults.append(_Fault(number, number, (), frozenset([number])))
                continue
            condition = And(step.action.start.condition)
            if evaluator.holds(condition, step.binding) is False:
                self._add_fault(faults, number, number, finder.find(evaluator, condition, step.binding, True))
            run.run_steps([step], number - 1)
            evaluator = Evaluator(engine.task, run.state.facts, run.state.fluents)
        end = self.task.length + 1
        self._add_rule_faults(faults, end, evaluator, violated_instances.get(end - 1, ()))
        if engine.evaluate_goal(run.state) is False:
            demands = finder.find(evaluator, And(engine.task.goal), {}, True)
            if demands:
                self._add_fault(faults, end, 0, demands)
        return faults

    def _find_violated_state_instances(self) -> dict[int, list[_Instance]]:
        """Find the violated instances of rules about states, by the number of steps before."""
        run = Replay(self.task.engine, FORCE)
        run.run_steps(self.task.steps)
        violated_instances: dict[int, list[_Instance]] = {}
        for violation in run.finish(self.task.length).violations:
            if not self.task.engine.is_decisive(violation, self.task.criteria):
                continue
            part = self.task.engine.rule_set.parts[violation.part]
            scope = self.task.scope_by_part[violation.part]
            if scope.kind is not ScopeKind.STATE or part.mode not in ("always", "end"):
                continue
            binding = bind(part.parameters, violation.binding)
            if not self.task.may_stay_violated(violation.part, binding):
                violated_instances.setdefault(violation.step, []).append(_Instance(violation.part, binding))
        return violated_instances

    def _add_rule_faults(
        self, faults: list[_Fault], before: int, evaluator: Evaluator, violated_instances: Iterable[_Instance]
    ) -> None:
        engine = self.task.engine
        for part, binding in violated_instances:
            demands = self.task.demand_finder.find(evaluator, engine.rule_set.parts[part].body, binding, True)
            if demands:
                self._add_fault(faults, before, 0, demands)

    def _add_fault(self, faults: list[_Fault], before: int, step: int, demands: frozenset[Demand]) -> None:
        """Add a fault, unless another edit than a change of the demanded facts may repair it, or it is in the list."""
        literals: list[_Literal] = []
        removable = {step} if step else set()
        for demand in demands:
            if (
                demand.code is None
                or demand.value is None
                or demand.ever
                or demand.subject >= self.task.predicate_count
            ):
                return  # not a literal
            fact = (demand.subject, demand.code)
            falsifier = 0
            for number in range(before - 1, 0, -1):
                effects = self.task.step_effects[number - 1]
                if effects is None:
                    continue
                conditional = effects.find_conditional_effects(demand.subject, self.task.get_pattern(demand))
                if any([effect.value is demand.value for effect in conditional]):
                    return  # the fact may become true if the condition of an effect does
                if conditional:
                    removable.add(number)
                if effects.certain_facts.get(fact) is (not demand.value):
                    falsifier = number
                    removable.add(number)
                    break
                if effects.certain_facts.get(fact) is demand.value:
                    return  # the step that achieves it was not executed
            literals.append(_Literal(demand, fact, falsifier))
        if step or not any([set(fault.literals) == set(literals) for fault in faults]):
            faults.append(_Fault(before, step, tuple(literals), frozenset(removable)))

    # -- faults that remain at a node ---------------------------------------------------------------------------------

    def _remains(
        self,
        facts: list[set[int]],
        position: int,
        deferred: frozenset[int],
        borrowed: frozenset[int],
        fault: _Fault,
        effects: GroundEffects | None,
    ) -> bool:
        """Whether no edit on the path to the node can have repaired a fault; see :meth:`_find_remaining_faults`."""
        if position >= fault.before or (fault.step and fault.step in borrowed):
            return False
        for demand, fact, falsifier in fault.literals:
            if falsifier > position:
                if falsifier in borrowed:
                    return False
                continue
            predicate, code = fact
            holds = code in facts[predicate]
            if effects is not None:
                holds = effects.certain_facts.get(fact, holds)
                if effects.find_conditional_effects(predicate, self.task.get_pattern(demand)):
                    return False
            if holds is demand.value:
                return False
        if deferred and fault.literals:
            for number in deferred:
                moved_effects = self.task.step_effects[number - 1]
                if moved_effects is None or any(
                    [self.task.may_meet(moved_effects, literal.demand) for literal in fault.literals]
                ):
                    return False
        return True

    def _find_steps_to_substitute(self, fault: _Fault) -> int:
        """Find the steps, as bits, in whose place an action could repair a fault."""
        steps = 0
        for literal in fault.literals:
            if self.task.find_achievers(literal.demand):
                for number in range(max(literal.falsifier, 1), fault.before + 1):
                    steps |= 1 << number
        return steps

    # -- joint faults -------------------------------------------------------------------------------------------------

    def _compute_bound(self, faults: int) -> Number:
        """Return the least cost for faults (as bits), from the largest subset without a joint pair."""
        members = [number for number in range(len(self._faults)) if faults & (1 << number)]
        for size in range(len(members), 0, -1):
            for subset in combinations(members, size):
                if not any([self._is_joint_pair[first][second] for first, second in combinations(subset, 2)]):
                    return size * self.task.min_weight
        return 0

    def _are_joint(self, first: _Fault, second: _Fault) -> bool:
        """Whether one edit may repair two faults."""
        if first.removable & second.removable:
            return True
        for fault, second_fault in ((first, second), (second, first)):
            for literal in fault.literals:
                achievers = self.task.find_achievers(literal.demand)
                for number in second_fault.removable:
                    # The step is replaced by an action that achieves the literal, or is such an action and is moved.
                    if literal.falsifier <= number <= fault.before and achievers:
                        return True
                    effects = self.task.step_effects[number - 1]
                    if effects is not None and self.task.may_meet(effects, literal.demand):
                        return True
        pairs = [(left, right) for left in first.literals for right in second.literals]
        earlier_fault = min(first.before, second.before)
        return any(
            [
                self._have_common_achiever(left, right)
                for left, right in pairs
                if max(left.falsifier, right.falsifier) < earlier_fault
            ]
        )

    def _have_common_achiever(self, first: _Literal, second: _Literal) -> bool:
        """Whether one inserted (or moved) action may achieve two literals."""
        if first.demand == second.demand:
            return True
        achievers = self.task.find_achievers(first.demand), self.task.find_achievers(second.demand)
        if max(map(len, achievers)) > _MAX_COMPARED_ACTIONS:
            return True
        return not {step.key for step in achievers[0]}.isdisjoint([step.key for step in achievers[1]])
