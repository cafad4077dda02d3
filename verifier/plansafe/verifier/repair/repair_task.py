"""What is to be repaired, and what the steps of its plan may do."""

from __future__ import annotations

from collections.abc import Sequence

from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.steps import GroundAction, IllFormed
from plansafe.verifier.model.evaluation import Evaluator
from plansafe.verifier.model.nodes import Binding
from plansafe.verifier.repair.demands import Demand, Demander
from plansafe.verifier.repair.effects import Effects, GroundEffects
from plansafe.verifier.repair.model import Weights
from plansafe.verifier.repair.views import view_of
from plansafe.verifier.rules.model import Part
from plansafe.verifier.rules.question import EVERY_VIOLATION, Question


class RepairTask:
    """A plan (``steps``) that is to be repaired, what edits cost, which steps must stay, and what decides."""

    def __init__(
        self,
        engine: Engine,
        steps: Sequence[GroundAction | IllFormed],
        weights: Weights,
        protected: frozenset[int],
        question: Question = EVERY_VIOLATION,
    ) -> None:
        self.engine = engine
        self.question = question
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

    def plan_achievers(self, demand: Demand) -> list[int]:
        """The steps of the original plan that may meet a demand."""
        found = self._achieving.get(demand)
        if found is None:
            found = self._achieving[demand] = [
                number for number, own in enumerate(self.prints, 1) if own is not None and may_meet(own, demand)
            ]
        return found

    def may_stay(self, part: Part, binding: Binding) -> bool:
        """Whether an instance of a rule about states may be left as it is, since it was violated before the plan."""
        return self.question.introduced and self._initial.holds(part.body, binding) is not True


def may_meet(own: GroundEffects, demand: Demand) -> bool:
    """Whether an action may do what is demanded."""
    if demand.code is None:
        return own.touches(demand.subject, None)
    fact = (demand.subject, demand.code)
    if own.action_fact == fact:
        return True
    sets = own.sets.get(fact)
    if sets is not None and (demand.value is None or sets is demand.value):
        return True
    return any([demand.value is None or e.value is not (not demand.value) for e in own.conditionals(*fact)])
