"""What is to be repaired, and what the steps of its plan may do."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.monitors.automaton import Automaton
from plansafe.verifier.execution.monitors.invariant import Invariant
from plansafe.verifier.execution.steps import GroundAction, IllFormed
from plansafe.verifier.model.evaluation import Evaluator
from plansafe.verifier.model.nodes import Binding
from plansafe.verifier.model.operations import mentions
from plansafe.verifier.repair.demands import Demand, Demander
from plansafe.verifier.repair.effects import Effects, GroundEffects, Objects
from plansafe.verifier.repair.model import Weights
from plansafe.verifier.repair.views import STATE, view_of
from plansafe.verifier.rules.verdict_criteria import EVERY_VIOLATION, VerdictCriteria


class RepairTask:
    """A plan (``steps``) that is to be repaired, what edits cost, which steps must stay, and what decides."""

    def __init__(
        self,
        engine: Engine,
        steps: Sequence[GroundAction | IllFormed],
        weights: Weights,
        protected: frozenset[int],
        criteria: VerdictCriteria = EVERY_VIOLATION,
    ) -> None:
        self.engine = engine
        self.criteria = criteria
        self.steps = list(steps)
        self.length = len(self.steps)
        self.weights = weights
        self.protected = protected
        self.lightest = min(weights)
        self.swap = min(self.lightest, max(0, weights.substitute - weights.delete))
        self.effects = Effects(engine)
        self.demander = Demander(engine)
        self.prints: list[GroundEffects | None] = [
            self.effects.of(step) if isinstance(step, GroundAction) else None for step in self.steps
        ]
        self.action_predicates = frozenset(engine.action_predicates.values())
        self.views = [view_of(part, self.action_predicates) for part in engine.plan.parts]
        self.base = len(engine.task.predicates)
        initial = engine.initial()
        self._initial = Evaluator(engine.task, initial.facts, initial.fluents)
        self._achieving: dict[Demand, list[int]] = {}
        self._wanted: dict[Demand, Objects] = {}

    def wanted(self, demand: Demand) -> Objects:
        """The objects of the facts that a demand is about."""
        found = self._wanted.get(demand)
        if found is None:
            found = self._wanted[demand] = demand.wanted(self.engine.task)
        return found

    def achievers(self, demand: Demand) -> tuple[GroundAction, ...]:
        """The ground actions that may meet a demand."""
        return self.effects.achievers(demand.subject, self.wanted(demand), demand.value)

    def plan_achievers(self, demand: Demand) -> list[int]:
        """The steps of the original plan that may meet a demand."""
        found = self._achieving.get(demand)
        if found is None:
            found = self._achieving[demand] = [
                number for number, own in enumerate(self.prints, 1) if own is not None and self.may_meet(own, demand)
            ]
        return found

    def may_stay(self, part: int, binding: Binding) -> bool:
        """Whether an instance of a rule may be left as it is, since it was violated (or triggered) before the plan.

        Then a plan may have to leave alone what the instance reads, and may not only have to mend it.
        """
        if not self.criteria.only_introduced:
            return False
        own = self.engine.plan.parts[part]
        if self.views[part][0] == STATE and own.mode in ("always", "end"):
            if not mentions(own.body, self.action_predicates) and {v.slot for v in own.parameters} <= binding.keys():
                return self._initial.holds(own.body, binding) is not True
            return True
        return part in self._early

    @cached_property
    def _early(self) -> frozenset[int]:
        """The parts of rules that remember an instance from letter 0 for the sake of blame."""
        runtime = Execution.initial(self.engine, criteria=self.criteria).runtime
        monitors = () if runtime is None else runtime.monitors
        return frozenset([m.part for m in monitors if isinstance(m, Automaton) and m.early]) | frozenset(
            [m.part for m in monitors if isinstance(m, Invariant) and m.episodes]
        )

    def touches(self, own: GroundEffects, demand: Demand) -> bool:
        """Whether an action may change what a demand is about."""
        return own.touches(demand.subject, self.wanted(demand))

    def may_meet(self, own: GroundEffects, demand: Demand) -> bool:
        """Whether an action may do what is demanded."""
        return self.role(own, demand).achieves

    def role(self, own: GroundEffects, demand: Demand) -> Role:
        """What an action may do about what is demanded."""
        subject, value, wanted = demand.subject, demand.value, self.wanted(demand)
        if value is None or subject >= self.base:
            either = own.touches(subject, wanted)
            return Role(either, either)
        if own.acts(subject, wanted):
            return Role(value, not value)
        sure = own.sure(subject, wanted)
        may = own.settable(subject, wanted)
        return Role(value in sure or value in may, (not value) in sure or (not value) in may)


class Role(NamedTuple):
    """Whether an action may do what is demanded, and whether it may do the opposite."""

    achieves: bool
    hinders: bool
