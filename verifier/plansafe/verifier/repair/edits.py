"""The edits that demands ask for at a node: insertions, substitutions, deletions and moves, tried when affordable."""

from __future__ import annotations

from functools import partial
from typing import Protocol

from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.steps import GroundAction, IllFormed
from plansafe.verifier.model.nodes import And, Number
from plansafe.verifier.repair.agenda import Agenda
from plansafe.verifier.repair.candidates import Candidate, Candidates
from plansafe.verifier.repair.demands import Demand
from plansafe.verifier.repair.flaws import FlawDemands, evaluator_at
from plansafe.verifier.repair.ground_effects import step_key
from plansafe.verifier.repair.search_graph import (
    ANY_CHANGE,
    BORROW,
    BORROW_STEP,
    DEFER,
    DELETE,
    FEWER_STEPS,
    HALF_SUBSTITUTE,
    HALF_SUBSTITUTED,
    INSERT,
    SUBSTITUTE,
    Node,
    Transition,
)


class Graph(Protocol):
    """The graph to which edits add edges."""

    def add_edge(self, source: Node, transition: Transition, execution: Execution) -> None:
        """Add an edge to a target with this execution."""

    def execute(self, node: Node, transition: Transition, demand: Demand | None = None) -> bool:
        """Execute a step and add its edge; false if the step is not applicable or does not meet a demand."""

    def receive(self, node: Node, demand: Demand, extra: Number, full: bool) -> None:
        """Receive a demand at a node."""


class EditOffers:
    """Offers the edits that demands ask for. ``insertions_only``: to find some repair, maybe not the nearest."""

    def __init__(self, agenda: Agenda, flaw_demands: FlawDemands, graph: Graph, insertions_only: bool) -> None:
        self.task = agenda.task
        self.agenda = agenda
        self.heuristic = agenda.heuristic
        self.flaw_demands = flaw_demands
        self.graph = graph
        self.insertions_only = insertions_only
        self.candidates = Candidates(agenda.task)

    def _may_edit(self, node: Node, number: int) -> bool:
        """Whether an original step may be deleted, substituted or moved."""
        return not (number in self.task.protected or number in node.borrowed)

    # -- deletions and moves to a later place -------------------------------------------------------------------------

    def offer_removal(self, node: Node, extra: Number) -> None:
        """Offer to delete, substitute or move the next step of a node."""
        number, weights = node.position + 1, self.task.weights
        if not self._may_edit(node, number) or node.broken:
            return
        if self.insertions_only and isinstance(self.task.steps[number - 1], GroundAction):
            return
        self.agenda.add(node, extra + weights.delete, ("delete",), partial(self._delete, node, DELETE))
        if weights.substitute < weights.delete:
            half_substitute = partial(self._delete, node, HALF_SUBSTITUTE)
            self.agenda.add(node, extra + weights.substitute, ("half-substitute",), half_substitute)
        self.offer_move(node, extra)

    def _delete(self, node: Node, kind: int) -> None:
        number, borrowed, cost = node.position + 1, node.borrowed, self.task.weights.delete
        if kind == HALF_SUBSTITUTE:
            cost, borrowed = self.task.weights.substitute, borrowed | {HALF_SUBSTITUTED}
        transition = Transition(kind, number, None, cost, number, node.deferred, borrowed)
        key = ("half-substitute" if kind == HALF_SUBSTITUTE else "delete",)
        least = cost + self.heuristic.preview(node, transition)
        if not self.agenda.postpone(node, key, partial(self._delete, node, kind), least):
            self.graph.add_edge(node, transition, node.execution)

    def offer_move(self, node: Node, extra: Number) -> None:
        """Offer to move the next step of a node to a later place."""
        number = node.position + 1
        if not self._may_edit(node, number) or node.broken or self.insertions_only:
            return
        if isinstance(self.task.steps[number - 1], GroundAction):
            self.agenda.add(node, extra + self.task.weights.move, ("defer",), partial(self._defer, node))

    def _defer(self, node: Node) -> None:
        number, cost = node.position + 1, self.task.weights.move
        transition = Transition(DEFER, number, None, cost, number, node.deferred | {number}, node.borrowed)
        least = cost + self.heuristic.preview(node, transition)
        if not self.agenda.postpone(node, ("defer",), partial(self._defer, node), least):
            self.graph.add_edge(node, transition, node.execution)

    # -- insertions, substitutions and moves to an earlier place ------------------------------------------------------

    def offer(self, node: Node, demand: Demand, extra: Number) -> None:
        """Offer the edits at a node that may meet a demand, as soon as they are affordable."""
        if demand.subject == FEWER_STEPS:
            return
        if demand.subject == BORROW_STEP:
            self._offer_borrowing(node, demand.code or 0, extra)
            return
        cost = self.agenda.cost_with_edit(node, extra)
        self.agenda.add(node, cost, ("offer", demand, extra), partial(self.offer_now, node, demand, extra))

    def offer_now(self, node: Node, demand: Demand, extra: Number) -> None:
        """Offer the edits at a node that may meet a demand, each at the cost that it needs."""
        if demand.subject == ANY_CHANGE:
            for number in range(node.position + 1, self.task.length + 1):
                self._offer_borrowing(node, number, extra)
            self.offer_substitutions(node, demand, extra)
            return
        self._offer_actions(node, demand, extra)
        for number in self.task.plan_achievers(demand):
            if number > node.position:
                self._offer_borrowing(node, number, extra)

    def offer_substitutions(self, node: Node, demand: Demand, extra: Number) -> None:
        """Offer actions that may meet a demand in the place of a step that an edge from the node leaves out."""
        if demand.subject >= 0:
            self._offer_actions(node, demand, extra)
        elif demand.subject == ANY_CHANGE:
            for step in self.candidates.applicable_actions(node):
                self._offer_action(node, step, extra, None)

    def _offer_actions(self, node: Node, demand: Demand, extra: Number) -> None:
        """Offer the applicable actions that may meet a demand; examine the other actions at a higher cost."""
        if demand.value is None or demand.subject >= self.task.fluent_base:
            self._offer_candidates(node, demand, extra)
            return
        # Otherwise another effect of the action may reverse it, or the fact of a pattern that it sets was set already.
        certain = demand.value and demand.code is not None and not demand.ever
        for step in self.candidates.find_applicable(node, demand):
            self._offer_action(node, step, extra, None if certain else demand)
        extra += min(self.task.weights.insert, self.task.weights.substitute)
        self.agenda.add_flaw(node, ("enable", demand), partial(self._enable_achiever, node, demand, extra), extra)

    def _enable_achiever(self, node: Node, demand: Demand, extra: Number) -> None:
        """Demand what one more action needs to meet a demand here."""
        evaluator = evaluator_at(node)
        demands: dict[Demand, None] = {}
        achievers = self.task.effect_index.lifted_achievers(demand.subject, self.task.pattern_of(demand), demand.value)
        for action, variables, condition, binding in achievers:
            free = [v for v in (*action.parameters, *variables) if v.slot not in binding]
            parts = (*action.start.condition, condition)
            demands.update(dict.fromkeys(self.task.demand_finder.find_for_instance(evaluator, free, parts, binding)))
        for needed in demands:
            self.graph.receive(node, needed, extra, True)

    def _offer_candidates(self, node: Node, demand: Demand, extra: Number) -> None:
        """Offer the candidates for a demand one by one; demand what the others need."""
        facts = node.state.facts
        false_literals: set[tuple[int, int, bool]] = set()
        inapplicable: list[GroundAction] = []
        ineffective: list[Candidate] = []
        for candidate in self.candidates.candidates_for(demand):
            for literal in candidate.literals:
                if (literal[1] in facts[literal[0]]) is not literal[2]:
                    # One false literal of each action is enough, and many actions share it.
                    false_literals.add(literal)
                    break
            else:
                if not (candidate.only_literals or self.candidates.is_applicable(node, candidate.step)):
                    inapplicable.append(candidate.step)
                    continue
                meets = self.candidates.meets_demand(node, candidate, demand)
                if meets is not False:
                    self._offer_action(node, candidate.step, extra, None if meets else demand)
                elif candidate.conditional:
                    ineffective.append(candidate)
        if false_literals or inapplicable or ineffective:
            extra += min(self.task.weights.insert, self.task.weights.substitute)
            enable = partial(self._enable_candidates, node, false_literals, inapplicable, ineffective, extra)
            self.agenda.add_flaw(node, ("enable", demand), enable, extra)

    def _enable_candidates(
        self,
        node: Node,
        false_literals: set[tuple[int, int, bool]],
        inapplicable: list[GroundAction],
        ineffective: list[Candidate],
        extra: Number,
    ) -> None:
        """Demand what candidates need that are not applicable here, or have no effect on the demanded fact."""
        finder, evaluator = self.task.demand_finder, evaluator_at(node)
        demands = {Demand(*literal): None for literal in false_literals if finder.is_changeable(literal[0])}
        for candidate in ineffective:
            for effect, _, _ in candidate.conditional:
                demands.update(dict.fromkeys(finder.find(evaluator, effect.condition, effect.binding, True)))
        for demand in demands:
            self.graph.receive(node, demand, extra, True)
        for step in inapplicable:
            self.demand_precondition(node, step, extra)

    def _offer_borrowing(self, node: Node, number: int, extra: Number) -> None:
        """Offer to move a later step to this place."""
        if number <= node.position or not self._may_edit(node, number) or self.insertions_only:
            return
        step = self.task.steps[number - 1]
        if isinstance(step, GroundAction):
            borrow = partial(self._borrow, node, number, step, extra)
            self.agenda.add(node, extra + self.task.weights.move, ("borrow", number), borrow)

    def _borrow(self, node: Node, number: int, step: GroundAction, extra: Number) -> None:
        cost, borrowed = self.task.weights.move, node.borrowed | {number}
        if self.candidates.is_applicable(node, step):
            transition = Transition(BORROW, number, step, cost, node.position, node.deferred, borrowed)
            least = cost + self.heuristic.preview(node, transition)
            if self.agenda.postpone(node, ("borrow", number), partial(self._borrow, node, number, step, extra), least):
                return
            if self.graph.execute(node, transition):
                return
        extra += cost
        enable = partial(self.demand_precondition, node, step, extra)
        self.agenda.add_flaw(node, ("enable step", number), enable, extra)

    def _offer_action(self, node: Node, step: GroundAction, extra: Number, demand: Demand | None) -> None:
        """Offer to insert an applicable action, or to replace the next step by it; ``demand``: if it meets that."""
        number = node.position + 1
        kinds = [(INSERT, self.task.weights.insert)]
        if number <= self.task.length and self._may_edit(node, number):
            replaced = self.task.steps[node.position]
            if isinstance(replaced, IllFormed) or not (self.insertions_only or step_key(replaced) == step_key(step)):
                kinds.append((SUBSTITUTE, self.task.weights.substitute))
        for kind, cost in kinds:
            key = _action_key(kind, step, demand)
            attempt = partial(self._try_action, node, step, kind, cost, extra, demand)
            self.agenda.add(node, max(extra + cost, self.heuristic.estimate(node)), key, attempt)

    def _try_action(
        self, node: Node, step: GroundAction, kind: int, cost: Number, extra: Number, demand: Demand | None
    ) -> None:
        done_key = ("did", kind, *step_key(step))
        if done_key in node.done:
            return
        number = node.position + 1 if kind == SUBSTITUTE else 0
        transition = Transition(kind, number, step, cost, number or node.position, node.deferred, node.borrowed)
        least = cost + self.heuristic.preview(node, transition)
        attempt = partial(self._try_action, node, step, kind, cost, extra, demand)
        if self.agenda.postpone(node, _action_key(kind, step, demand), attempt, least):
            return
        if self.graph.execute(node, transition, demand):
            node.done.add(done_key)
            return
        extra += cost
        enable = partial(self._enable_action, node, step, extra, demand)
        self.agenda.add_flaw(node, ("enable", kind, *step_key(step), demand), enable, extra)

    def _enable_action(self, node: Node, step: GroundAction, extra: Number, demand: Demand | None) -> None:
        """Demand what an action needs to be applicable here, or to meet a demand."""
        if evaluator_at(node).holds(And(step.action.start.condition), step.binding) is not True:
            self.demand_precondition(node, step, extra)
        elif demand is not None:
            for needed in self.flaw_demands.of_effect(node, step, demand):
                self.graph.receive(node, needed, extra, True)

    def demand_precondition(self, node: Node, step: GroundAction, extra: Number) -> None:
        """Demand what a step needs to be applicable at a node."""
        for demand in self.flaw_demands.of_precondition(node, step):
            self.graph.receive(node, demand, extra, True)


def _action_key(kind: int, step: GroundAction, demand: Demand | None) -> tuple[object, ...]:
    return (kind, *step_key(step)) if demand is None else (kind, *step_key(step), demand)
