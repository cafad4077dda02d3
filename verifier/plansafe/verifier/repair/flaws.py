"""From flaws to demands: what would have to differ at a flaw, and before the steps that lead to it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from plansafe.verifier.execution.broken_instances import BrokenInstance
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.binding_search import find_bindings_with_value
from plansafe.verifier.model.evaluation import Evaluator
from plansafe.verifier.model.nodes import And, Binding, Formula, Number
from plansafe.verifier.model.operations import mentions
from plansafe.verifier.repair.demands import Demand
from plansafe.verifier.repair.ground_effects import ConditionalEffect, EffectSchema
from plansafe.verifier.repair.repair_task import RepairTask
from plansafe.verifier.repair.rule_scopes import ScopeKind
from plansafe.verifier.repair.search_graph import ANY_CHANGE, BORROW_STEP, FEWER_STEPS, Edge, EdgeKind, Node
from plansafe.verifier.rules.model import RulePart


class PropagatedDemands(NamedTuple):
    """The demands before an edge, each with its ``all_edits`` (see :class:`.search_graph.Node`).

    ``is_removable``: whether the removal of the edge's step may help. ``is_movable``: whether it may help to move the
    step to a later place.
    """

    demands: list[tuple[Demand, bool]]
    is_removable: bool = False
    is_movable: bool = False


class FlawDemands:
    """Finds the demands of flaws: to remove a flaw, one of its demands must be met.

    ``facts_only``: of rules that count steps, demand only changes of the facts that they read. The search is then much
    faster, but may miss repairs.
    """

    def __init__(self, task: RepairTask, facts_only: bool = False) -> None:
        self.task = task
        self.facts_only = facts_only
        self.finder = task.demand_finder

    def demand_precondition(self, node: Node, step: GroundAction) -> Iterable[Demand]:
        """Demands for a step to be applicable at a node."""
        condition = And(step.action.start.condition)
        evaluator = make_evaluator(node)
        if evaluator.holds(condition, step.binding) is not True:
            return self.finder.find(evaluator, condition, step.binding, True)
        # Its effects conflict, or one of their numbers is undefined.
        effects = self.task.effect_index.get_effects(step).find_conditional_effects()
        return frozenset().union(*[self._demand_other_inputs(step, effect.binding) for effect in effects])

    def demand_goal(self, node: Node) -> Iterable[Demand]:
        """Demands for the goal to be reached at a node."""
        return self.finder.find(make_evaluator(node), And(self.task.engine.task.goal), {}, True)

    def demand_no_violation(
        self, node: Node, broken: tuple[BrokenInstance, ...]
    ) -> Iterable[tuple[Node, Demand, Number]]:
        """Demands for one broken rule instance to be satisfied: the instance with the most specific scope.

        Each demand comes with its node, and the cost from there to ``node``.
        """
        instance = min(broken, key=lambda instance_at_risk: self.task.scope_by_part[instance_at_risk.part].kind)
        part = self.task.engine.rule_set.parts[instance.part]
        kind, letters = self.task.scope_by_part[instance.part]
        binding = dict(zip([v.slot for v in part.parameters], instance.binding, strict=False))
        if kind is ScopeKind.STEP_COUNT and not self.facts_only:
            return [(node, Demand(ANY_CHANGE, None, None), 0)]
        reads_state = kind is ScopeKind.STATE and not mentions(part.body, self.task.action_predicates)
        reads_state &= len(instance.binding) == len(part.parameters)
        if reads_state and part.step is not None and not part.after and node.parents:
            return self._demand_other_step(node, part, binding)
        # An instance that was violated before the plan may stay so: then any change of what it reads may be the flaw.
        may_stay = self.task.may_stay_violated(instance.part, binding)
        if reads_state and part.mode in ("always", "end") and not may_stay:
            return [(node, demand, 0) for demand in self.finder.find(make_evaluator(node), part.body, binding, True)]
        demands = self._demand_helpful(part.body, None if may_stay else True, binding)
        for formula in (part.guard, part.step):
            if formula is not None:
                demands |= self._demand_helpful(formula, None if may_stay else False, binding)
        if kind is ScopeKind.DEADLINE:
            demands |= {Demand(FEWER_STEPS, letters, None)}
        return [(node, demand, 0) for demand in demands]

    def _demand_other_step(self, node: Node, part: RulePart, binding: Binding) -> Iterable[tuple[Node, Demand, Number]]:
        """Demands for a rule that forbids a step in a state: another state before the step, or another step."""
        edge = node.parents[0]
        evaluator = make_evaluator(edge.source)
        demands = self.finder.find(evaluator, part.body, binding, True)
        if part.guard is not None:
            demands |= self.finder.find(evaluator, part.guard, binding, False)
        assert part.step is not None
        yield from [(edge.source, demand, edge.cost) for demand in demands]
        yield from [(node, demand, 0) for demand in self._demand_helpful(part.step, False, binding)]

    def _demand_helpful(self, formula: Formula, truth: bool | None, binding: Binding) -> frozenset[Demand]:
        return self.finder.replace_derived(self.finder.find_helpful_changes(formula, truth, binding, True))

    def demand_effect(self, node: Node, step: GroundAction, demand: Demand) -> Iterable[Demand]:
        """Demands for an applicable step to have an effect that meets ``demand``."""
        effects = self.task.effect_index.get_effects(step)
        conditional = effects.find_conditional_effects(demand.subject, self.task.get_pattern(demand))
        demands_by_effect = [
            self._demand_effect_of_condition(node, step, effect, demand.value) for effect in conditional
        ]
        return [needed for demands in demands_by_effect for needed in demands]

    def propagate(self, edge: Edge, demand: Demand, all_edits: bool) -> PropagatedDemands:
        """Translate a demand at the target of an edge that may affect it into demands at the edge's source.

        ``all_edits``: as the target received it.
        """
        demands = [(demand, all_edits)]
        step, effects = edge.step, edge.effects
        if step is None or effects is None:
            return PropagatedDemands(demands)
        is_kept = edge.kind == EdgeKind.KEEP
        moves_earlier = [(Demand(BORROW_STEP, edge.number, None), True)] if is_kept else []
        if demand.subject == ANY_CHANGE:
            return PropagatedDemands(demands + moves_earlier, is_kept)
        if demand.subject == FEWER_STEPS:
            count = (demand.code or 0) - 1
            fewer = [(demand._replace(code=count), True)] if count > 0 else []
            return PropagatedDemands(fewer + moves_earlier, is_kept)
        pattern = self.task.get_pattern(demand)
        achieves, hinders = self.task.find_role(effects, demand)
        is_removable = is_kept and all_edits and hinders
        if demand.code is not None:
            is_reversed = effects.certain_facts.get((demand.subject, demand.code)) is (not demand.value)
            is_reversed &= all_edits and demand.value is not None and not demand.ever
            demands = [(demand, all_edits and not is_reversed)]
        if is_removable:
            demands += moves_earlier
        if all_edits and demand.code is not None:
            for effect in effects.find_conditional_effects(demand.subject, pattern):
                demands += [
                    (needed, True)
                    for needed in self._demand_effect_of_condition(edge.source, step, effect, demand.value)
                ]
        elif all_edits:
            for schema in effects.find_effect_schemas(demand.subject, pattern):
                demands += [
                    (needed, True) for needed in self._demand_effect_of_schema(edge.source, step, schema, demand)
                ]
        return PropagatedDemands(demands, is_removable, is_kept and achieves)

    def _demand_effect_of_schema(
        self, node: Node, step: GroundAction, schema: EffectSchema, demand: Demand
    ) -> Iterable[Demand]:
        """Demands before a step for an effect on some fact of a pattern to meet ``demand``, or not to reverse it."""
        value, condition, binding, free_variables = schema
        if value is None:
            return self._demand_other_inputs(step, binding)
        if demand.value is None:
            return self.finder.replace_derived(self.finder.demand_any_change(condition, binding))
        evaluator = make_evaluator(node)
        if value is demand.value:
            return self.finder.find_for_instance(evaluator, free_variables, [condition], binding)
        demands: set[Demand] = set()
        for full_binding in find_bindings_with_value(evaluator, tuple(free_variables), condition, True, binding):
            demands |= self.finder.find(evaluator, condition, full_binding, False)
        return demands

    def _demand_effect_of_condition(
        self, node: Node, step: GroundAction, effect: ConditionalEffect, value: bool | None
    ) -> frozenset[Demand]:
        """Demands before a step for an effect to give its fact a value, or not to give it the opposite."""
        if effect.value is None:
            return self._demand_other_inputs(step, effect.binding)
        if value is None:
            return self.finder.replace_derived(self.finder.demand_any_change(effect.condition, effect.binding))
        return self.finder.find(make_evaluator(node), effect.condition, effect.binding, effect.value is value)

    def _demand_other_inputs(self, step: GroundAction, binding: dict[int, int]) -> frozenset[Demand]:
        """Demands that anything changes that the effects of a step read."""
        demands: frozenset[Demand] = frozenset()
        for effect in step.action.start.effects:
            demands |= self.finder.demand_any_change(effect.condition, binding)
            for assignment in effect.assignments:
                demands |= self.finder.find_fluent_changes(binding, assignment.value)
        return self.finder.replace_derived(demands)


def make_evaluator(node: Node) -> Evaluator:
    """An evaluator of formulas in the state of a node."""
    return Evaluator(node.state.task, node.state.facts, node.state.fluents)
