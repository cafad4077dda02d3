"""From flaws to demands: what would have to differ, at a flaw and before the steps that lead to it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from plansafe.verifier.execution.broken import Broken
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.evaluation import Evaluator
from plansafe.verifier.model.nodes import And, Formula
from plansafe.verifier.model.operations import mentions
from plansafe.verifier.repair.demands import Demand
from plansafe.verifier.repair.effects import Conditional, GroundEffects
from plansafe.verifier.repair.node import (
    ANYTHING,
    BORROW_STEP,
    FEWER,
    KEEP,
    Edge,
    Node,
)
from plansafe.verifier.repair.repair_task import RepairTask
from plansafe.verifier.repair.views import DEADLINE, LETTERS, STATE


class Crossed(NamedTuple):
    """What of a demand is left before an edge, each with whether in full; and what may be done to the step there."""

    left: list[tuple[Demand, bool]]
    removable: bool = False
    movable: bool = False


class Flaws:
    """What would have to differ for a flaw to be gone, as demands."""

    def __init__(self, task: RepairTask) -> None:
        self.task = task

    def step(self, node: Node, taken: GroundAction) -> Iterable[Demand]:
        """A step cannot be taken here: some fact of its precondition should differ."""
        condition = And(taken.action.start.condition)
        evaluator = evaluator_at(node)
        if evaluator.holds(condition, taken.binding) is not True:
            return self.task.demander.flips(evaluator, condition, taken.binding, True)
        # Its effects conflict, or one of their numbers is undefined.
        reads = [self._effect_reads(taken, e.binding) for e in self.task.effects.of(taken).may]
        return frozenset().union(*reads)

    def goal(self, node: Node) -> Iterable[Demand]:
        """The plan ends here, and the goal is unmet."""
        return self.task.demander.flips(evaluator_at(node), And(self.task.engine.task.goal), {}, True)

    def rules(self, node: Node, broken: tuple[Broken, ...]) -> Iterable[Demand]:
        """Rules are broken. One instance is enough: the one that says most precisely what must differ."""
        parts = self.task.engine.plan.parts
        one = min(broken, key=lambda b: self.task.views[b.part][0])
        part = parts[one.part]
        view, bound = self.task.views[one.part]
        binding = dict(zip([v.slot for v in part.parameters], one.binding, strict=False))
        if view == LETTERS:
            return (Demand(ANYTHING, None, None),)
        demands: set[Demand] = set()
        formulas: list[Formula] = [f for f in (part.body, part.guard, part.step) if f is not None]
        of_states = (
            view == STATE and part.mode in ("always", "end") and not mentions(part.body, self.task.action_predicates)
        )
        # One that was violated before the plan may also stay as it was: then any change of what it reads is too much.
        if of_states and len(one.binding) == len(part.parameters) and not self.task.may_stay(part, binding):
            demands |= self.task.demander.flips(evaluator_at(node), part.body, binding, True)
        else:
            for formula in formulas:
                demands |= self.task.demander.basic(self.task.demander.patterns(formula, binding))
        if view == DEADLINE:
            demands.add(Demand(FEWER, bound, None))
        return demands

    def effect(self, node: Node, taken: GroundAction, wanted: Demand) -> Iterable[Demand]:
        """An action that can be taken does not do what is wanted."""
        every = self.task.effects.of(taken).conditionals(wanted.subject, wanted.code)
        return [demand for effect in every for demand in self._deciding(node, taken, effect, wanted.value)]

    def across(self, edge: Edge, demand: Demand, full: bool) -> Crossed:
        """A demand at the target of an edge that is not indifferent to it, seen from its source."""
        left = [(demand, full)]
        taken, own = edge.taken, edge.own
        if taken is None or own is None:
            return Crossed(left)
        keep = edge.kind == KEEP
        earlier = [(Demand(BORROW_STEP, edge.step, None), True)] if keep else []
        if demand.subject == ANYTHING:
            return Crossed(left + earlier, keep)
        if demand.subject == FEWER:
            fewer = (demand.code or 0) - 1
            return Crossed([(demand._replace(code=fewer), True), *earlier] if fewer > 0 else earlier, keep)
        if demand.code is not None:
            return self._across_fact(edge, taken, own, demand, full)
        left += earlier
        for effect in own.conditionals(demand.subject):
            left += [(d, True) for d in self._deciding(edge.source, taken, effect, None)]
        return Crossed(left, keep)

    def _across_fact(self, edge: Edge, taken: GroundAction, own: GroundEffects, demand: Demand, full: bool) -> Crossed:
        fact = (demand.subject, demand.code or 0)
        sets, may, acts = own.sets.get(fact), own.conditionals(*fact), own.action_fact == fact
        hinders = achieves = True
        if demand.value is not None and not acts:
            hinders = sets is (not demand.value) or any([e.value is not demand.value for e in may])
            achieves = sets is demand.value or any([e.value is not (not demand.value) for e in may])
        keep = edge.kind == KEEP
        removable = keep and full and hinders
        opposed = full and demand.value is not None and sets is (not demand.value)
        left = [(demand, full and not opposed)]
        if removable:
            left.append((Demand(BORROW_STEP, edge.step, None), True))
        for effect in may if full else ():
            left += [(d, True) for d in self._deciding(edge.source, taken, effect, demand.value)]
        return Crossed(left, removable, keep and achieves)

    def _deciding(self, node: Node, taken: GroundAction, effect: Conditional, wanted: bool | None) -> frozenset[Demand]:
        """What would have to differ before a step for an effect to bring about, or not to prevent, what is wanted."""
        evaluator = evaluator_at(node)
        if effect.value is None:
            return self._effect_reads(taken, effect.binding)
        if wanted is None:
            return self.task.demander.basic(self.task.demander.patterns(effect.condition, effect.binding))
        return self.task.demander.flips(evaluator, effect.condition, effect.binding, effect.value is wanted)

    def _effect_reads(self, taken: GroundAction, binding: dict[int, int]) -> frozenset[Demand]:
        out: frozenset[Demand] = frozenset()
        for effect in taken.action.start.effects:
            out |= self.task.demander.patterns(effect.condition, binding)
            for assignment in effect.assignments:
                out |= self.task.demander.numbers(binding, assignment.value)
        return self.task.demander.basic(out)


def evaluator_at(node: Node) -> Evaluator:
    """Evaluates formulas in the state of a node."""
    return Evaluator(node.state.task, node.state.facts, node.state.fluents)
