"""A plan to be repaired: which of its steps and which actions may meet a demand."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.monitors.automaton import Automaton
from plansafe.verifier.execution.monitors.invariant import InvariantMonitor
from plansafe.verifier.execution.steps import GroundAction, IllFormed
from plansafe.verifier.model.evaluation import Evaluator
from plansafe.verifier.model.memoized import memoized
from plansafe.verifier.model.nodes import Binding
from plansafe.verifier.model.operations import mentions
from plansafe.verifier.repair.demands import Demand, DemandFinder
from plansafe.verifier.repair.effect_index import EffectIndex
from plansafe.verifier.repair.ground_effects import GroundEffects, ObjectPattern
from plansafe.verifier.repair.model import Weights
from plansafe.verifier.repair.rule_scopes import ScopeKind, find_rule_scope
from plansafe.verifier.rules.verdict_criteria import VerdictCriteria


class Role(NamedTuple):
    """Whether an action may meet a demand, and whether it may do the opposite."""

    achieves: bool
    hinders: bool


class RepairTask:
    """A plan (``steps``) to be repaired, the weights of edits, the protected steps, and what decides a verdict."""

    def __init__(
        self,
        engine: Engine,
        steps: Sequence[GroundAction | IllFormed],
        weights: Weights,
        protected: frozenset[int],
        criteria: VerdictCriteria,
        effect_index: EffectIndex,
    ) -> None:
        self.engine = engine
        self.criteria = criteria
        self.steps = list(steps)
        self.length = len(self.steps)
        self.weights = weights
        self.protected = protected
        self.min_weight = min(weights.step_edit_costs)
        self.substitution_surcharge = min(self.min_weight, max(0, weights.substitute - weights.delete))
        """What a substitution costs at least in addition to a deletion."""
        self.effect_index = effect_index
        self.demand_finder = DemandFinder(engine)
        self.step_effects: list[GroundEffects | None] = [
            self.effect_index.get_effects(step) if isinstance(step, GroundAction) else None for step in self.steps
        ]
        self.action_predicates = frozenset(engine.action_predicates.values())
        self.scope_by_part = [find_rule_scope(part, self.action_predicates) for part in engine.rule_set.parts]
        self.predicate_count = len(engine.task.predicates)
        initial = engine.make_initial_state()
        self._initial_evaluator = Evaluator(engine.task, initial.facts, initial.fluents)

    @memoized
    def get_pattern(self, demand: Demand) -> ObjectPattern:
        """The objects of the facts that a demand is about."""
        return demand.make_pattern(self.engine.task)

    def find_achievers(self, demand: Demand) -> tuple[GroundAction, ...]:
        """The ground actions that may meet a demand."""
        return self.effect_index.find_achievers(demand.subject, self.get_pattern(demand), demand.value)

    @memoized
    def find_achieving_steps(self, demand: Demand) -> list[int]:
        """The numbers of the original steps that may meet a demand."""
        return [
            number
            for number, effects in enumerate(self.step_effects, 1)
            if effects is not None and self.may_meet(effects, demand)
        ]

    def may_stay_violated(self, part: int, binding: Binding) -> bool:
        """Whether an instance of a part of a rule may stay violated, because it was violated (or triggered) initially.

        Then a repair may have to keep the facts that the instance reads, instead of changing them.
        """
        if not self.criteria.ignores_preexisting:
            return False
        rule_part = self.engine.rule_set.parts[part]
        body = rule_part.body
        if self.scope_by_part[part].kind is ScopeKind.STATE and rule_part.mode in ("always", "end"):
            slots = {v.slot for v in rule_part.parameters}
            if not mentions(body, self.action_predicates) and slots <= binding.keys():
                return self._initial_evaluator.holds(body, binding) is not True
            return True
        return part in self._parts_tracking_initial_violations

    @cached_property
    def _parts_tracking_initial_violations(self) -> frozenset[int]:
        """The parts of rules that distinguish instances that were violated at letter 0."""
        runtime = Execution.initial(self.engine, criteria=self.criteria).runtime
        monitors = () if runtime is None else runtime.monitors
        return frozenset(
            [
                monitor.part
                for monitor in monitors
                if (isinstance(monitor, Automaton) and monitor.violation_log.tracks_initial)
                or (isinstance(monitor, InvariantMonitor) and monitor.episodes)
            ]
        )

    def may_change(self, effects: GroundEffects, demand: Demand) -> bool:
        """Whether an action may change a fact that a demand is about."""
        return effects.may_change(demand.subject, self.get_pattern(demand))

    def may_meet(self, effects: GroundEffects, demand: Demand) -> bool:
        """Whether an action may meet a demand."""
        return self.find_role(effects, demand).achieves

    def find_role(self, effects: GroundEffects, demand: Demand) -> Role:
        """Whether an action may meet a demand or do the opposite."""
        subject, value, pattern = demand.subject, demand.value, self.get_pattern(demand)
        if value is None or subject >= self.predicate_count:
            may_change = effects.may_change(subject, pattern)
            return Role(may_change, may_change)
        if effects.matches_action_fact(subject, pattern):
            return Role(value, not value)
        values = effects.find_certain_values(subject, pattern) | effects.find_possible_values(subject, pattern)
        return Role(value in values, (not value) in values)
