"""From flaws to demands: what would have to differ, at a flaw and before the steps that lead to it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from plansafe.verifier.execution.broken_instances import BrokenInstance
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.model.binding_search import satisfying_bindings
from plansafe.verifier.model.evaluation import Evaluator
from plansafe.verifier.model.nodes import And, Binding, Formula, Number, Variable
from plansafe.verifier.model.operations import mentions
from plansafe.verifier.repair.demands import Demand
from plansafe.verifier.repair.effects import Conditional, GroundEffects
from plansafe.verifier.repair.repair_task import DEADLINE, LETTERS, STATE, RepairTask
from plansafe.verifier.repair.search_graph import (
    ANYTHING,
    BORROW_STEP,
    FEWER,
    KEEP,
    Edge,
    Node,
)
from plansafe.verifier.rules.model import RulePart


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

    def rules(self, node: Node, broken: tuple[BrokenInstance, ...]) -> Iterable[tuple[Node, Demand, Number]]:
        """Rules are broken. One instance is enough: the one that says most precisely what must differ.

        Each demand comes with the node where it is made, and what is spent between there and here.
        """
        parts = self.task.engine.rule_set.parts
        one = min(broken, key=lambda b: self.task.views[b.part][0])
        part = parts[one.part]
        view, bound = self.task.views[one.part]
        binding = dict(zip([v.slot for v in part.parameters], one.binding, strict=False))
        if view == LETTERS:
            return [(node, Demand(ANYTHING, None, None), 0)]
        plain = view == STATE and not mentions(part.body, self.task.action_predicates)
        plain &= len(one.binding) == len(part.parameters)
        if plain and part.step is not None and not part.after and node.parents:
            return self._of_step(node, part, binding)
        # One that was violated before the plan may also stay as it was: then any change of what it reads is too much.
        stays = self.task.may_stay(one.part, binding)
        if plain and part.mode in ("always", "end") and not stays:
            demands = self.task.demander.flips(evaluator_at(node), part.body, binding, True)
            return [(node, demand, 0) for demand in demands]
        found = self._helpful(part.body, None if stays else True, binding)
        for formula in (part.guard, part.step):
            if formula is not None:
                found |= self._helpful(formula, None if stays else False, binding)
        if view == DEADLINE:
            found |= {Demand(FEWER, bound, None)}
        return [(node, demand, 0) for demand in found]

    def _of_step(self, node: Node, part: RulePart, binding: Binding) -> Iterable[tuple[Node, Demand, Number]]:
        """A step was taken in a state in which it must not be: the state should differ, or the step."""
        edge = node.parents[0]
        evaluator = evaluator_at(edge.source)
        demands = self.task.demander.flips(evaluator, part.body, binding, True)
        if part.guard is not None:
            demands |= self.task.demander.flips(evaluator, part.guard, binding, False)
        assert part.step is not None
        yield from [(edge.source, demand, edge.cost) for demand in demands]
        yield from [(node, demand, 0) for demand in self._helpful(part.step, False, binding)]

    def _helpful(self, formula: Formula, wanted: bool | None, binding: Binding) -> frozenset[Demand]:
        return self.task.demander.basic(self.task.demander.signed(formula, wanted, binding, True))

    def effect(self, node: Node, taken: GroundAction, wanted: Demand) -> Iterable[Demand]:
        """An action that can be taken does not do what is wanted."""
        every = self.task.effects.of(taken).conditionals(wanted.subject, self.task.wanted(wanted))
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
        achieves, hinders = self.task.role(own, demand)
        removable = keep and full and hinders
        if removable:
            left += earlier
        for value, condition, binding, free in own.schemas(demand.subject, self.task.wanted(demand)) if full else ():
            left += [(d, True) for d in self._deciding_any(edge.source, taken, value, condition, binding, free, demand)]
        return Crossed(left, removable, keep and achieves)

    def _across_fact(self, edge: Edge, taken: GroundAction, own: GroundEffects, demand: Demand, full: bool) -> Crossed:
        achieves, hinders = self.task.role(own, demand)
        keep = edge.kind == KEEP
        removable = keep and full and hinders
        opposed = own.sets.get((demand.subject, demand.code or 0)) is (not demand.value)
        opposed &= full and demand.value is not None and not demand.ever
        left = [(demand, full and not opposed)]
        if removable:
            left.append((Demand(BORROW_STEP, edge.step, None), True))
        for effect in own.conditionals(demand.subject, self.task.wanted(demand)) if full else ():
            left += [(d, True) for d in self._deciding(edge.source, taken, effect, demand.value)]
        return Crossed(left, removable, keep and achieves)

    def _deciding_any(
        self,
        node: Node,
        taken: GroundAction,
        value: bool | None,
        condition: Formula,
        binding: dict[int, int],
        free: list[Variable],
        demand: Demand,
    ) -> Iterable[Demand]:
        """The same for each effect that sets some fact of a pattern."""
        if value is None:
            return self._effect_reads(taken, binding)
        demander = self.task.demander
        if demand.value is None:
            return demander.basic(demander.patterns(condition, binding))
        evaluator = evaluator_at(node)
        if value is demand.value:
            return demander.able(evaluator, free, [condition], binding)
        found: set[Demand] = set()
        for inner in satisfying_bindings(evaluator, tuple(free), condition, True, binding):
            found |= demander.flips(evaluator, condition, inner, False)
        return found

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
