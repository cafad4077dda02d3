"""A lower bound on the cost of the remaining edits: remaining faults that pairwise have no common repair.

The plan is executed once with the effects of every step (reading *force*). Each fault found is a disjunctive landmark:
at least one of certain literals must change before it, or a certain step must be removed. The fault remains at a node
if those literals are still false there, or will be. Two faults are *joint* if one edit could repair both. The bound is
the size of the largest set of remaining faults without a joint pair (compare landmarks, Helmert and Domshlak 2009).
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

from plansafe.verifier.execution.replay import FORCE, Replay
from plansafe.verifier.execution.steps import IllFormed
from plansafe.verifier.model.evaluation import Evaluator
from plansafe.verifier.model.nodes import And, Number, bind
from plansafe.verifier.repair.demands import Demand
from plansafe.verifier.repair.ground_effects import GroundEffects
from plansafe.verifier.repair.repair_task import RepairTask, ScopeKind
from plansafe.verifier.repair.search_graph import Node, Transition

MAX_FAULTS = 10
"""Faults that are counted."""
_MAX_COMPARED_ACTIONS = 400
"""Lists of more actions are assumed to have a common action."""


class _Literal(NamedTuple):
    """A demand for a fact.

    ``falsifier``: the last step before the fault that gives the fact the opposite value; 0 if no step does.
    """

    demand: Demand
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
        self._are_pairs_joint = [[self._are_joint(first, second) for second in self._faults] for first in self._faults]
        self._repairable_at = [self._find_steps_to_substitute(fault) for fault in self._faults]
        self._bounds = {faults: self._compute_bound(faults) for faults in range(1 << len(self._faults))}

    def estimate(self, node: Node) -> Number:
        """Return the lower bound at a node. A substitution instead of an earlier deletion may repair one more fault."""
        if node.remaining_faults is None:
            node.remaining_faults = self._find_remaining(
                node.state.facts, node.position, node.deferred, node.borrowed, None
            )
        return self._compute_bound_with_substitutions(node.remaining_faults, node.deleted)

    def preview(self, node: Node, transition: Transition) -> Number:
        """Return the lower bound at the target of a transition, without executing it."""
        step = transition.step
        effects = None if step is None else self.task.effect_index.get_effects(step)
        _, _, _, _, position, deferred, borrowed = transition
        faults = self._find_remaining(node.state.facts, position, deferred, borrowed, effects)
        return self._compute_bound_with_substitutions(faults, node.deleted | transition.deleted)

    def _find_remaining(
        self,
        facts: list[set[int]],
        position: int,
        deferred: frozenset[int],
        borrowed: frozenset[int],
        effects: GroundEffects | None,
    ) -> int:
        """Find the remaining faults, as bits. ``effects``: those of a step that ``facts`` do not have yet, if any."""
        faults = 0
        for number, fault in enumerate(self._faults):
            if self._does_remain(facts, position, deferred, borrowed, fault, effects):
                faults |= 1 << number
        return faults

    def _compute_bound_with_substitutions(self, faults: int, deleted: int) -> Number:
        bound = self._bounds[faults]
        if not deleted or not bound:
            return bound
        repairable = 0
        for number, steps in enumerate(self._repairable_at):
            if faults >> number & 1 and steps & deleted:
                repairable |= 1 << number
        max_count = min(repairable.bit_count(), deleted.bit_count())
        saved_cost = max_count * (self.task.min_weight - self.task.substitution_surcharge)
        return max(self._bounds[faults & ~repairable], bound - saved_cost)

    # -- faults of the original plan ----------------------------------------------------------------------------------

    def _find_faults(self) -> list[_Fault]:
        faults: list[_Fault] = []
        engine, finder = self.task.engine, self.task.demand_finder
        broken = self._find_violated_state_rules()
        run = Replay(engine, FORCE, observer=lambda _run, _number, _changes: None)
        for number, step in enumerate([*self.task.steps, None], 1):
            if len(faults) >= MAX_FAULTS:
                break
            evaluator = Evaluator(engine.task, run.state.facts, run.state.fluents)
            for part, binding in broken.get(number - 1, ()):
                demands = finder.find(evaluator, engine.rule_set.parts[part].body, binding, True)
                if demands:
                    self._add_fault(faults, number, 0, demands)
            if step is None:
                if engine.evaluate_goal(run.state) is False:
                    demands = finder.find(evaluator, And(engine.task.goal), {}, True)
                    if demands:
                        self._add_fault(faults, number, 0, demands)
                break
            if isinstance(step, IllFormed):
                faults.append(_Fault(number, number, (), frozenset([number])))
                continue
            condition = And(step.action.start.condition)
            if evaluator.holds(condition, step.binding) is False:
                self._add_fault(faults, number, number, finder.find(evaluator, condition, step.binding, True))
            run.run_steps([step], number - 1)
        return faults

    def _find_violated_state_rules(self) -> dict[int, list[tuple[int, dict[int, int]]]]:
        """Find the violated instances (part, binding) of rules about states, by the number of steps before."""
        run = Replay(self.task.engine, FORCE)
        run.run_steps(self.task.steps)
        violated: dict[int, list[tuple[int, dict[int, int]]]] = {}
        for violation in run.finish(self.task.length).violations:
            if not self.task.engine.is_decisive(violation, self.task.criteria):
                continue
            part = self.task.engine.rule_set.parts[violation.part]
            if self.task.scopes[violation.part].kind is not ScopeKind.STATE or part.mode not in ("always", "end"):
                continue
            binding = bind(part.parameters, violation.binding)
            if not self.task.may_stay_violated(violation.part, binding):
                violated.setdefault(violation.step, []).append((violation.part, binding))
        return violated

    def _add_fault(self, faults: list[_Fault], before: int, step: int, demands: frozenset[Demand]) -> None:
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
                    return  # a condition decides
                if conditional:
                    removable.add(number)
                if effects.certain_facts.get(fact) is (not demand.value):
                    falsifier = number
                    removable.add(number)
                    break
                if effects.certain_facts.get(fact) is demand.value:
                    return  # the step that achieves it was not executed
            literals.append(_Literal(demand, falsifier))
        if step or not any([set(fault.literals) == set(literals) for fault in faults]):
            faults.append(_Fault(before, step, tuple(literals), frozenset(removable)))

    # -- faults that remain at a node ---------------------------------------------------------------------------------

    def _does_remain(
        self,
        facts: list[set[int]],
        position: int,
        deferred: frozenset[int],
        borrowed: frozenset[int],
        fault: _Fault,
        effects: GroundEffects | None,
    ) -> bool:
        if position >= fault.before or (fault.step and fault.step in borrowed):
            return False
        for demand, falsifier in fault.literals:
            subject, code, value = demand.subject, demand.code, demand.value
            if falsifier > position:
                if falsifier in borrowed:
                    return False
                continue
            holds = (code in facts[subject]) if code is not None else False
            if effects is not None:
                fact = (subject, code)
                holds = effects.certain_facts.get(fact, holds)  # type: ignore[arg-type] # a fact has a code
                if effects.find_conditional_effects(subject, self.task.get_pattern(demand)):
                    return False
            if holds is value:
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
        """The steps, as bits, in whose place an action could repair a fault."""
        steps = 0
        for literal in fault.literals:
            if self.task.find_achievers(literal.demand):
                for number in range(max(literal.falsifier, 1), fault.before + 1):
                    steps |= 1 << number
        return steps

    # -- joint faults -------------------------------------------------------------------------------------------------

    def _compute_bound(self, faults: int) -> Number:
        """The least cost for faults (as bits), by the largest subset without a joint pair."""
        members = [number for number in range(len(self._faults)) if faults >> number & 1]
        for size in range(len(members), 0, -1):
            for subset in combinations(members, size):
                if not any([self._are_pairs_joint[first][second] for first, second in combinations(subset, 2)]):
                    return size * self.task.min_weight
        return 0

    def _are_joint(self, first: _Fault, second: _Fault) -> bool:
        """Whether one edit may repair two faults."""
        if first.removable & second.removable:
            return True
        for fault, second_fault in ((first, second), (second, first)):
            for literal in fault.literals:
                achievable = self.task.find_achievers(literal.demand)
                for number in second_fault.removable:
                    # The step is replaced by an action that achieves the literal, or is such an action and is moved.
                    if literal.falsifier <= number <= fault.before and achievable:
                        return True
                    effects = self.task.step_effects[number - 1]
                    if effects is not None and self.task.may_meet(effects, literal.demand):
                        return True
        pairs = [(left, right) for left in first.literals for right in second.literals]
        in_time = min(first.before, second.before)
        in_time_pairs = [(left, right) for left, right in pairs if max(left.falsifier, right.falsifier) < in_time]
        return any([self._have_common_achiever(left, right) for left, right in in_time_pairs])

    def _have_common_achiever(self, first: _Literal, second: _Literal) -> bool:
        """Whether one inserted (or moved) action may achieve two literals."""
        if first.demand == second.demand:
            return True
        achievers = self.task.find_achievers(first.demand), self.task.find_achievers(second.demand)
        if max(map(len, achievers)) > _MAX_COMPARED_ACTIONS:
            return True
        return not {step.key for step in achievers[0]}.isdisjoint([step.key for step in achievers[1]])
