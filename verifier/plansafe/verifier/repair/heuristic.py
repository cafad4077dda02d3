"""A lower bound on what is left to repair: faults ahead that no single edit can mend together.

The plan is run once with the effects of every step happening (reading *force*). Each fault found there is a disjunctive
landmark: of certain literals at least one must change before it, or a certain step must go. A node still has the fault
ahead if those literals are as they were, or will be. Two faults are *joint* if one edit could serve both; the bound is
the greatest number of faults ahead of which no two are joint. (Landmarks as in Helmert and Domshlak 2009, of a plan
instead of a task.)
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

from plansafe.verifier.execution.replay import FORCE, Replay
from plansafe.verifier.execution.steps import GroundAction, IllFormed
from plansafe.verifier.model.evaluation import Evaluator
from plansafe.verifier.model.nodes import And, Number, bind
from plansafe.verifier.model.operations import mentions
from plansafe.verifier.repair.demands import Demand
from plansafe.verifier.repair.effects import GroundEffects, step_key
from plansafe.verifier.repair.repair_task import STATE, RepairTask
from plansafe.verifier.repair.search_graph import Node

MAX_FAULTS = 10
"""Faults that are counted; the rest is found on the way."""
_FEW = 400
"""Actions that are compared one by one; longer lists are taken to overlap."""


class _Literal(NamedTuple):
    """A fact with the value that is wanted, and the last step before the fault that gives it the other one (or 0)."""

    demand: Demand
    falsifier: int


class _Fault(NamedTuple):
    """``before``: the fault shows in the state before this step (n + 1: at the end). ``step``: that step, if it may go.

    ``removable``: the steps whose removal may mend it.
    """

    before: int
    step: int
    literals: tuple[_Literal, ...]
    removable: frozenset[int]


class FaultHeuristic:
    """Counts the faults ahead of nodes."""

    def __init__(self, task: RepairTask) -> None:
        self.task = task
        self._faults = self._find()[:MAX_FAULTS]
        self._joint = [[self._are_joint(a, b) for b in self._faults] for a in self._faults]
        self._gaps = [self._mendable_at(fault) for fault in self._faults]
        self._bounds = {mask: self._bound(mask) for mask in range(1 << len(self._faults))}

    def estimate(self, node: Node) -> Number:
        """See the module. A deletion on the way may turn into a substitution that mends one more fault."""
        if node.bound is None:
            node.bound = self._mask(node.state.facts, node.position, node.deferred, node.borrowed, None)
        return self._least(node.bound, node.swaps)

    def preview(
        self,
        node: Node,
        taken: GroundAction | None,
        position: int,
        deferred: frozenset[int],
        borrowed: frozenset[int],
        swaps: int,
    ) -> Number:
        """The estimate of the node that an edit will lead to, without making it."""
        own = None if taken is None else self.task.effects.of(taken)
        return self._least(self._mask(node.state.facts, position, deferred, borrowed, own), node.swaps | swaps)

    def _mask(
        self,
        facts: list[set[int]],
        position: int,
        deferred: frozenset[int],
        borrowed: frozenset[int],
        own: GroundEffects | None,
    ) -> int:
        """The faults ahead, as bits. ``own``: what is still done to the state."""
        mask = 0
        for number, fault in enumerate(self._faults):
            if self._ahead(facts, position, deferred, borrowed, fault, own):
                mask |= 1 << number
        return mask

    def _least(self, mask: int, swaps: int) -> Number:
        bound = self._bounds[mask]
        if not swaps or not bound:
            return bound
        mendable = 0
        for number, gaps in enumerate(self._gaps):
            if mask >> number & 1 and gaps & swaps:
                mendable |= 1 << number
        most = min(mendable.bit_count(), swaps.bit_count())
        return max(self._bounds[mask & ~mendable], bound - most * (self.task.lightest - self.task.swap))

    # -- faults of the original plan ----------------------------------------------------------------------------------

    def _find(self) -> list[_Fault]:
        out: list[_Fault] = []
        broken = self._broken_states()
        run = Replay(self.task.engine, FORCE, observer=lambda _run, _number, _changes: None)
        for number, step in enumerate([*self.task.steps, None], 1):
            if len(out) >= MAX_FAULTS:
                break
            evaluator = Evaluator(self.task.engine.task, run.state.facts, run.state.fluents)
            for part, binding in broken.get(number - 1, ()):
                formula = self.task.engine.rule_set.parts[part].body
                demands = self.task.demander.flips(evaluator, formula, binding, True)
                if demands:
                    self._add(out, number, 0, demands)
            if step is None:
                if self.task.engine.goal(run.state) is False:
                    demands = self.task.demander.flips(evaluator, And(self.task.engine.task.goal), {}, True)
                    if demands:
                        self._add(out, number, 0, demands)
                break
            if isinstance(step, IllFormed):
                out.append(_Fault(number, number, (), frozenset([number])))
                continue
            binding = step.binding
            condition = And(step.action.start.condition)
            if evaluator.holds(condition, binding) is False:
                self._add(out, number, number, self.task.demander.flips(evaluator, condition, binding, True))
            run.run_steps([step], number - 1)
        return out

    def _broken_states(self) -> dict[int, list[tuple[int, dict[int, int]]]]:
        """The instances of rules about states that are violated, by the number of steps before."""
        run = Replay(self.task.engine, FORCE)
        run.run_steps(self.task.steps)
        action_predicates = self.task.action_predicates
        out: dict[int, list[tuple[int, dict[int, int]]]] = {}
        for violation in run.outcome(self.task.length).violations:
            if not self.task.engine.decides(violation, self.task.criteria):
                continue
            part = self.task.engine.rule_set.parts[violation.part]
            simple = self.task.views[violation.part][0] == STATE and part.mode in ("always", "end")
            if not simple or mentions(part.body, action_predicates) or len(violation.binding) != len(part.parameters):
                continue
            binding = bind(part.parameters, violation.binding)
            if not self.task.may_stay(violation.part, binding):  # else leaving it alone is enough
                out.setdefault(violation.step, []).append((violation.part, binding))
        return out

    def _add(self, out: list[_Fault], before: int, step: int, demands: frozenset[Demand]) -> None:
        literals: list[_Literal] = []
        removable = {step} if step else set()
        for demand in demands:
            if demand.code is None or demand.value is None or demand.ever or demand.subject >= self.task.base:
                return  # too vague to be counted
            fact = (demand.subject, demand.code)
            falsifier = 0
            for number in range(before - 1, 0, -1):
                own = self.task.prints[number - 1]
                if own is None:
                    continue
                may = own.conditionals(demand.subject, self.task.wanted(demand))
                if any([e.value is demand.value for e in may]):
                    return  # a condition decides
                if may:
                    removable.add(number)
                if own.sets.get(fact) is (not demand.value):
                    falsifier = number
                    removable.add(number)
                    break
                if own.sets.get(fact) is demand.value:
                    return  # the step that gives it was not taken
            literals.append(_Literal(demand, falsifier))
        if step or not any([set(fault.literals) == set(literals) for fault in out]):
            out.append(_Fault(before, step, tuple(literals), frozenset(removable)))

    # -- which are ahead of a node ------------------------------------------------------------------------------------

    def _ahead(
        self,
        facts: list[set[int]],
        position: int,
        deferred: frozenset[int],
        borrowed: frozenset[int],
        fault: _Fault,
        own: GroundEffects | None,
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
            if own is not None:
                fact = (subject, code)
                holds = own.sets.get(fact, holds)  # type: ignore[arg-type] # a fact without a code is not found
                if own.conditionals(subject, self.task.wanted(demand)):
                    return False
            if holds is value:
                return False
        if deferred and fault.literals:
            for step in deferred:
                waiting = self.task.prints[step - 1]
                if waiting is None or any([self.task.may_meet(waiting, literal.demand) for literal in fault.literals]):
                    return False
        return True

    def _mendable_at(self, fault: _Fault) -> int:
        """The steps, as bits, in whose place an action could mend a fault."""
        out = 0
        for literal in fault.literals:
            if self.task.achievers(literal.demand):
                for step in range(max(literal.falsifier, 1), fault.before + 1):
                    out |= 1 << step
        return out

    # -- which can be mended together ---------------------------------------------------------------------------------

    def _bound(self, mask: int) -> Number:
        """The greatest number of faults of a set of which no two are joint."""
        members = [number for number in range(len(self._faults)) if mask >> number & 1]
        for size in range(len(members), 0, -1):
            for chosen in combinations(members, size):
                if not any([self._joint[a][b] for a, b in combinations(chosen, 2)]):
                    return size * self.task.lightest
        return 0

    def _are_joint(self, one: _Fault, other: _Fault) -> bool:
        """Whether one edit may serve two faults."""
        if one.removable & other.removable:
            return True
        for a, b in ((one, other), (other, one)):
            for literal in a.literals:
                for step in b.removable:
                    # The step is replaced by an action that gives the literal, or is itself such an action and moved.
                    achievable = self.task.achievers(literal.demand)
                    if literal.falsifier <= step <= a.before and achievable:
                        return True
                    own = self.task.prints[step - 1]
                    if own is not None and self.task.may_meet(own, literal.demand):
                        return True
        return any([self._one_action(x, one, y, other) for x in one.literals for y in other.literals])

    def _one_action(self, x: _Literal, one: _Fault, y: _Literal, other: _Fault) -> bool:
        """Whether one inserted (or moved) action may give two literals in time."""
        if max(x.falsifier, y.falsifier) >= min(one.before, other.before):
            return False
        if x.demand == y.demand:
            return True
        first, second = self.task.achievers(x.demand), self.task.achievers(y.demand)
        if len(first) > _FEW or len(second) > _FEW:
            return True
        return bool({step_key(step) for step in first} & {step_key(step) for step in second})
