"""From flaws to demands: what would have to differ at a flaw, and before the steps that lead to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from plansafe.verifier.execution.broken_instances import BrokenInstance
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.binding_search import find_bindings_with_value
from plansafe.verifier.model.evaluation import Evaluator
from plansafe.verifier.model.nodes import And, Binding, Formula, Number
from plansafe.verifier.model.operations import mentions
from plansafe.verifier.repair.demands import Demand
from plansafe.verifier.repair.ground_effects import ConditionalEffect, EffectSchema, GroundEffects
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


class PlacedDemand(NamedTuple):
    """A demand at a node; ``cost_to_flaw``: the cost of the edits between the node and the flaw that caused it."""

    node: Node
    demand: Demand
    cost_to_flaw: Number


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

    def demand_no_violation(self, node: Node, broken: tuple[BrokenInstance, ...]) -> Iterable[PlacedDemand]:
        """Demands, at a node or before it, for one broken rule instance to be satisfied.

        Of several instances, the instance with the most specific scope is taken.
        """
        instance = min(broken, key=lambda candidate: self.task.scope_by_part[candidate.part].kind)
        part = self.task.engine.rule_set.parts[instance.part]
        kind, letters = self.task.scope_by_part[instance.part]
        binding = dict(zip([v.slot for v in part.parameters], instance.binding, strict=False))
        if kind is ScopeKind.STEP_COUNT and not self.facts_only:
            return [PlacedDemand(node, Demand(ANY_CHANGE, None, None), 0)]
        reads_state = (
            kind is ScopeKind.STATE
            and not mentions(part.body, self.task.action_predicates)
            and len(instance.binding) == len(part.parameters)
        )
        if reads_state and part.step is not None and not part.after and node.parents:
            return self._demand_other_step(node, part, binding)
        # An instance that was violated before the plan may stay so: then any change of a fact that it reads may help.
        may_stay = self.task.may_stay_violated(instance.part, binding)
        if reads_state and part.mode in ("always", "end") and not may_stay:
            demands = self.finder.find(make_evaluator(node), part.body, binding, True)
            return [PlacedDemand(node, demand, 0) for demand in demands]
        demands = self._demand_helpful_changes(part.body, None if may_stay else True, binding)
        for formula in (part.guard, part.step):
            if formula is not None:
                demands |= self._demand_helpful_changes(formula, None if may_stay else False, binding)
        if kind is ScopeKind.DEADLINE:
            demands |= {Demand(FEWER_STEPS, letters, None)}
        return [PlacedDemand(node, demand, 0) for demand in demands]

    def _demand_other_step(self, node: Node, part: RulePart, binding: Binding) -> Iterator[PlacedDemand]:
        """Demands for a rule that forbids a step in a state: another state before the step, or another step."""
        edge = node.parents[0]
        evaluator = make_evaluator(edge.source)
        demands = self.finder.find(evaluator, part.body, binding, True)
        if part.guard is not None:
            demands |= self.finder.find(evaluator, part.guard, binding, False)
        assert part.step is not None
        yield from [PlacedDemand(edge.source, demand, edge.cost) for demand in demands]
        yield from [PlacedDemand(node, demand, 0) for demand in self._demand_helpful_changes(part.step, False, binding)]

    def _demand_helpful_changes(self, formula: Formula, truth: bool | None, binding: Binding) -> frozenset[Demand]:
        return self.finder.replace_derived(self.finder.find_helpful_changes(formula, truth, binding, ever=True))

    def demand_effect(self, node: Node, step: GroundAction, demand: Demand) -> Iterable[Demand]:
        """Demands for an applicable step to have an effect that meets ``demand``."""
        effects = self.task.effect_index.get_effects(step)
        pattern = self.task.get_pattern(demand)
        return frozenset().union(
            *[
                self._demand_ground_effect(node, step, effect, demand.value)
                for effect in effects.find_conditional_effects(demand.subject, pattern)
            ]
        )

    def propagate(self, edge: Edge, demand: Demand, all_edits: bool) -> PropagatedDemands:
        """Translate a demand at the target of an edge that may affect it into demands at the edge's source.

        ``all_edits``: as the target received it.
        """
        step, effects = edge.step, edge.effects
        if step is None or effects is None:
            return PropagatedDemands([(demand, all_edits)])
        is_kept = edge.kind == EdgeKind.KEEP
        borrow_demands = [(Demand(BORROW_STEP, edge.number, None), True)] if is_kept else []
        if demand.subject == ANY_CHANGE:
            return PropagatedDemands([(demand, all_edits), *borrow_demands], is_kept)
        if demand.subject == FEWER_STEPS:
            count = (demand.code or 0) - 1
            demands = [(demand._replace(code=count), True)] if count > 0 else []
            return PropagatedDemands(demands + borrow_demands, is_kept)
        achieves, hinders = self.task.find_role(effects, demand)
        is_removable = is_kept and all_edits and hinders
        is_reversed = (
            demand.code is not None
            and demand.value is not None
            and not demand.ever
            and effects.certain_facts.get((demand.subject, demand.code)) is (not demand.value)
        )
        demands = [(demand, all_edits and not is_reversed)]
        if is_removable:
            demands += borrow_demands
        if all_edits:
            demands += [
                (source_demand, True)
                for source_demand in self._demand_uncertain_effects(edge.source, step, effects, demand)
            ]
        return PropagatedDemands(demands, is_removable, is_kept and achieves)

    def _demand_uncertain_effects(
        self, node: Node, step: GroundAction, effects: GroundEffects, demand: Demand
    ) -> Iterator[Demand]:
        """Demands before a step for an effect that depends on the state to meet ``demand``, or not to reverse it."""
        pattern = self.task.get_pattern(demand)
        if demand.code is not None:
            for effect in effects.find_conditional_effects(demand.subject, pattern):
                yield from self._demand_ground_effect(node, step, effect, demand.value)
        else:
            for schema in effects.find_effect_schemas(demand.subject, pattern):
                yield from self._demand_lifted_effect(node, step, schema, demand)

    def _demand_lifted_effect(
        self, node: Node, step: GroundAction, schema: EffectSchema, demand: Demand
    ) -> Iterable[Demand]:
        """Demands before a step for an effect on some fact of a pattern to meet ``demand``, or not to reverse it."""
        condition, binding = schema.condition, schema.binding
        if schema.value is None:
            return self._demand_other_inputs(step, binding)
        if demand.value is None:
            return self.finder.replace_derived(self.finder.demand_any_change(condition, binding))
        evaluator = make_evaluator(node)
        if schema.value is demand.value:
            return self.finder.find_for_instance(evaluator, schema.free_variables, [condition], binding)
        demands: set[Demand] = set()
        for full_binding in find_bindings_with_value(evaluator, tuple(schema.free_variables), condition, True, binding):
            demands |= self.finder.find(evaluator, condition, full_binding, False)
        return demands

    def _demand_ground_effect(
        self, node: Node, step: GroundAction, effect: ConditionalEffect, value: bool | None
    ) -> frozenset[Demand]:
        """Demands before a step for an effect to give its fact a value, or not to give it the opposite."""
        if effect.value is None:
            return self._demand_other_inputs(step, effect.binding)
        if value is None:
            return self.finder.replace_derived(self.finder.demand_any_change(effect.condition, effect.binding))
        return self.finder.find(make_evaluator(node), effect.condition, effect.binding, effect.value is value)

    def _demand_other_inputs(self, step: GroundAction, binding: dict[int, int]) -> frozenset[Demand]:
        """Demands that any fact or number changes that the effects of a step read."""
        demands: frozenset[Demand] = frozenset()
        for effect in step.action.start.effects:
            demands |= self.finder.demand_any_change(effect.condition, binding)
            for assignment in effect.assignments:
                demands |= self.finder.find_fluent_changes(binding, assignment.value)
        return self.finder.replace_derived(demands)


def make_evaluator(node: Node) -> Evaluator:
    """An evaluator of formulas in the state of a node."""
    return Evaluator(node.state.task, node.state.facts, node.state.fluents)
