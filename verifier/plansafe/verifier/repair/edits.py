"""The edits that demands ask for at a node: insertions, substitutions, deletions and moves, tried when affordable."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Protocol

from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.steps import GroundAction, IllFormed
from plansafe.verifier.model.nodes import And, Number
from plansafe.verifier.repair.agenda import Agenda
from plansafe.verifier.repair.demands import Demand
from plansafe.verifier.repair.effect_index import GroundLiteral
from plansafe.verifier.repair.flaws import FlawDemands, make_evaluator
from plansafe.verifier.repair.repair_task import RepairTask
from plansafe.verifier.repair.search_graph import (
    ANY_CHANGE,
    BORROW_STEP,
    FEWER_STEPS,
    HALF_SUBSTITUTED,
    EdgeKind,
    Node,
    Transition,
)


class Graph(Protocol):
    """The graph to which edits add edges."""

    def add_edge(self, source: Node, transition: Transition, execution: Execution) -> None:
        """Add an edge to a target with this execution."""

    def execute(self, node: Node, transition: Transition, demand: Demand | None = None) -> bool:
        """Execute a step and add its edge; false if the step is not applicable or does not meet ``demand``."""

    def receive(self, node: Node, demand: Demand, cost_to_flaw: Number, all_edits: bool) -> None:
        """Receive a demand at a node; for ``cost_to_flaw`` and ``all_edits`` see :class:`.search_graph.Node`."""


class ApplicableActions:
    """The actions that are applicable at nodes."""

    def __init__(self, task: RepairTask) -> None:
        self.task = task
        self._actions_by_state = task.effect_index.applicable_actions

    def find_for_demand(self, node: Node, demand: Demand) -> Iterator[GroundAction]:
        """Yield the actions that are applicable at a node and may meet a demand there, each once."""
        index, pattern, value = self.task.effect_index, self.task.get_pattern(demand), demand.value
        assert value is not None
        effective_actions = index.find_effective_actions(demand.subject, pattern, value, node.state)
        if effective_actions is not None:
            for step in {step.key: step for step in effective_actions}.values():
                if self.is_applicable(node, step):
                    yield step
            return
        for step in self._find_by_name(node, index.find_action_names(demand.subject, value)):
            if self.task.may_meet(index.get_effects(step), demand):
                yield step

    def _find_by_name(self, node: Node, names: tuple[str, ...]) -> list[GroundAction]:
        if not names:
            return []
        key = (names, *node.execution.state_key())
        actions = self._actions_by_state.get(key)
        if actions is None:
            actions = self._actions_by_state[key] = list(node.execution.legal(*names))
        return actions

    def is_applicable(self, node: Node, step: GroundAction) -> bool:
        """Whether the precondition of an action holds; true if a number is undefined, then taking it fails."""
        literals, other_parts = self.task.effect_index.split_precondition(step)
        facts = node.state.facts
        for predicate, code, value in literals:
            if (code in facts[predicate]) is not value:
                return False
        if not other_parts:
            return True
        holds = self.task.engine.full_code.compile_precondition(step.action)
        try:
            return holds(node.state.facts, node.state.fluents, *step.objects)
        except (KeyError, ZeroDivisionError):
            return True

    def find_all(self, node: Node) -> list[GroundAction]:
        """Return the actions that are applicable at a node."""
        key = node.execution.state_key()
        actions = self._actions_by_state.get(key)
        if actions is None:
            actions = self._actions_by_state[key] = list(node.execution.legal())
        return actions


class EditOffers:
    """Offers the edits that demands ask for.

    ``cost_to_flaw`` in the methods: the cost of the edits between the node and the flaw that caused the demand.
    ``insertions_only``: offer no deletions, substitutions and moves of correct steps. This finds a repair sooner, but
    maybe not the nearest.
    """

    def __init__(self, agenda: Agenda, flaw_demands: FlawDemands, graph: Graph, insertions_only: bool) -> None:
        self.task = agenda.task
        self.agenda = agenda
        self.heuristic = agenda.heuristic
        self.flaw_demands = flaw_demands
        self.graph = graph
        self.insertions_only = insertions_only
        self.applicable_actions = ApplicableActions(agenda.task)

    def _may_edit(self, node: Node, number: int) -> bool:
        """Whether an original step may be deleted, substituted or moved."""
        return not (number in self.task.protected or number in node.borrowed)

    # -- deletions and moves to a later place -------------------------------------------------------------------------

    def offer_removal(self, node: Node, cost_to_flaw: Number) -> None:
        """Offer to delete, substitute or move the next step of a node."""
        number, weights = node.position + 1, self.task.weights
        if not self._may_edit(node, number) or node.broken_instances:
            return
        if self.insertions_only and isinstance(self.task.steps[number - 1], GroundAction):
            return
        self.agenda.add(node, cost_to_flaw + weights.delete, ("delete",), partial(self._delete, node, EdgeKind.DELETE))
        if weights.substitute < weights.delete:  # see `EdgeKind.HALF_SUBSTITUTE`
            half_substitute = partial(self._delete, node, EdgeKind.HALF_SUBSTITUTE)
            self.agenda.add(node, cost_to_flaw + weights.substitute, ("half-substitute",), half_substitute)
        self.offer_move(node, cost_to_flaw)

    def _delete(self, node: Node, kind: EdgeKind) -> None:
        """Add the edge that leaves out the next step, or postpone it if its target needs a higher cost."""
        number, borrowed, cost = node.position + 1, node.borrowed, self.task.weights.delete
        if kind == EdgeKind.HALF_SUBSTITUTE:
            cost, borrowed = self.task.weights.substitute, borrowed | {HALF_SUBSTITUTED}
        transition = Transition(kind, number, None, cost, number, node.deferred, borrowed)
        key = ("half-substitute" if kind == EdgeKind.HALF_SUBSTITUTE else "delete",)
        least_cost = cost + self.heuristic.preview(node, transition)
        if not self.agenda.postpone(node, key, partial(self._delete, node, kind), least_cost):
            self.graph.add_edge(node, transition, node.execution)

    def offer_move(self, node: Node, cost_to_flaw: Number) -> None:
        """Offer to move the next step of a node to a later place."""
        number = node.position + 1
        if not self._may_edit(node, number) or node.broken_instances or self.insertions_only:
            return
        if isinstance(self.task.steps[number - 1], GroundAction):
            self.agenda.add(node, cost_to_flaw + self.task.weights.move, ("defer",), partial(self._defer, node))

    def _defer(self, node: Node) -> None:
        """Add the edge that takes the next step out, to be placed later, or postpone it as :meth:`_delete` does."""
        number, cost = node.position + 1, self.task.weights.move
        transition = Transition(EdgeKind.DEFER, number, None, cost, number, node.deferred | {number}, node.borrowed)
        least_cost = cost + self.heuristic.preview(node, transition)
        if not self.agenda.postpone(node, ("defer",), partial(self._defer, node), least_cost):
            self.graph.add_edge(node, transition, node.execution)

    # -- insertions, substitutions and moves to an earlier place ------------------------------------------------------

    def schedule_offer(self, node: Node, demand: Demand, cost_to_flaw: Number) -> None:
        """Offer the edits at a node that may meet a demand, as soon as they are affordable."""
        if demand.subject == FEWER_STEPS:
            return
        if demand.subject == BORROW_STEP:
            self._offer_borrowing(node, demand.code or 0, cost_to_flaw)
            return
        cost = self.agenda.bound_with_edit(node, cost_to_flaw)
        self.agenda.add(node, cost, ("offer", demand, cost_to_flaw), partial(self.offer, node, demand, cost_to_flaw))

    def offer(self, node: Node, demand: Demand, cost_to_flaw: Number) -> None:
        """Offer the edits at a node that may meet a demand, each at the cost that it needs."""
        if demand.subject == ANY_CHANGE:
            for number in range(node.position + 1, self.task.length + 1):
                self._offer_borrowing(node, number, cost_to_flaw)
            self.offer_substitutions(node, demand, cost_to_flaw)
            return
        self._offer_actions(node, demand, cost_to_flaw)
        for number in self.task.find_achieving_steps(demand):
            if number > node.position:
                self._offer_borrowing(node, number, cost_to_flaw)

    def offer_substitutions(self, node: Node, demand: Demand, cost_to_flaw: Number) -> None:
        """Offer actions that may replace a step that was deleted or moved away at this node, and may meet a demand."""
        if demand.subject >= 0:
            self._offer_actions(node, demand, cost_to_flaw)
        elif demand.subject == ANY_CHANGE:
            for step in self.applicable_actions.find_all(node):
                self._offer_action(node, step, cost_to_flaw, None)

    def _offer_actions(self, node: Node, demand: Demand, cost_to_flaw: Number) -> None:
        """Offer the applicable actions that may meet a demand; examine the other actions at a higher cost."""
        if demand.value is None:
            self._offer_numeric_changes(node, demand, cost_to_flaw)
            return
        # An action that adds the one demanded fact meets the demand for certain. Any other action must be executed to
        # see whether it does: another effect may reverse its effect, or a fact of the pattern may have been true
        # before.
        meets_for_certain = demand.value and demand.code is not None and not demand.ever
        for step in self.applicable_actions.find_for_demand(node, demand):
            self._offer_action(node, step, cost_to_flaw, None if meets_for_certain else demand)
        cost_to_flaw += min(self.task.weights.insert, self.task.weights.substitute)
        self.agenda.add_flaw(
            node, ("enable", demand), partial(self._enable_achiever, node, demand, cost_to_flaw), cost_to_flaw
        )

    def _enable_achiever(self, node: Node, demand: Demand, cost_to_flaw: Number) -> None:
        """Demand what one more action needs to meet a demand here."""
        evaluator = make_evaluator(node)
        demands: dict[Demand, None] = {}
        achievers = self.task.effect_index.find_lifted_achievers(
            demand.subject, self.task.get_pattern(demand), demand.value
        )
        for action, variables, condition, binding in achievers:
            free_variables = [v for v in (*action.parameters, *variables) if v.slot not in binding]
            parts = (*action.start.condition, condition)
            demands.update(
                dict.fromkeys(self.task.demand_finder.find_for_instance(evaluator, free_variables, parts, binding))
            )
        for enabling_demand in demands:
            self.graph.receive(node, enabling_demand, cost_to_flaw, all_edits=True)

    def _offer_numeric_changes(self, node: Node, demand: Demand, cost_to_flaw: Number) -> None:
        """Offer the applicable actions that may change a number; demand the preconditions of the others."""
        facts = node.state.facts
        false_literals: set[GroundLiteral] = set()
        inapplicable_actions: list[GroundAction] = []
        for step in self.task.find_achievers(demand):
            literals, _ = self.task.effect_index.split_precondition(step)
            for literal in literals:
                if (literal.code in facts[literal.predicate]) is not literal.value:
                    # One false literal of each action is enough, and many actions share it.
                    false_literals.add(literal)
                    break
            else:
                if self.applicable_actions.is_applicable(node, step):
                    self._offer_action(node, step, cost_to_flaw, demand)
                else:
                    inapplicable_actions.append(step)
        if false_literals or inapplicable_actions:
            cost_to_flaw += min(self.task.weights.insert, self.task.weights.substitute)
            enable = partial(self._enable_actions, node, false_literals, inapplicable_actions, cost_to_flaw)
            self.agenda.add_flaw(node, ("enable", demand), enable, cost_to_flaw)

    def _enable_actions(
        self,
        node: Node,
        false_literals: set[GroundLiteral],
        inapplicable_actions: list[GroundAction],
        cost_to_flaw: Number,
    ) -> None:
        """Demand the false literals of preconditions, and what makes the ``inapplicable_actions`` applicable.

        The preconditions of these actions are false in a part that is not a literal.
        """
        for predicate, code, value in false_literals:
            if self.task.demand_finder.is_changeable(predicate):
                self.graph.receive(node, Demand(predicate, code, value), cost_to_flaw, all_edits=True)
        for step in inapplicable_actions:
            self.demand_precondition(node, step, cost_to_flaw)

    def _offer_borrowing(self, node: Node, number: int, cost_to_flaw: Number) -> None:
        """Offer to move a later step to this place."""
        if number <= node.position or not self._may_edit(node, number) or self.insertions_only:
            return
        step = self.task.steps[number - 1]
        if isinstance(step, GroundAction):
            borrow = partial(self._borrow, node, number, step, cost_to_flaw)
            self.agenda.add(node, cost_to_flaw + self.task.weights.move, ("borrow", number), borrow)

    def _borrow(self, node: Node, number: int, step: GroundAction, cost_to_flaw: Number) -> None:
        """Add the edge that takes a later step here; examine why that is impossible; or postpone it."""
        cost, borrowed = self.task.weights.move, node.borrowed | {number}
        if self.applicable_actions.is_applicable(node, step):
            transition = Transition(EdgeKind.BORROW, number, step, cost, node.position, node.deferred, borrowed)
            least_cost = cost + self.heuristic.preview(node, transition)
            borrow = partial(self._borrow, node, number, step, cost_to_flaw)
            if self.agenda.postpone(node, ("borrow", number), borrow, least_cost):
                return
            if self.graph.execute(node, transition):
                return
        cost_to_flaw += cost
        enable = partial(self.demand_precondition, node, step, cost_to_flaw)
        self.agenda.add_flaw(node, ("enable step", number), enable, cost_to_flaw)

    def _offer_action(self, node: Node, step: GroundAction, cost_to_flaw: Number, demand: Demand | None) -> None:
        """Offer to insert an applicable action, or to replace the next step by it.

        ``demand``: use the action only if its execution meets this demand; ``None``: in any case.
        """
        number = node.position + 1
        costs_by_kind = [(EdgeKind.INSERT, self.task.weights.insert)]
        if number <= self.task.length and self._may_edit(node, number):
            next_step = self.task.steps[node.position]
            if isinstance(next_step, IllFormed) or not (self.insertions_only or next_step.key == step.key):
                costs_by_kind.append((EdgeKind.SUBSTITUTE, self.task.weights.substitute))
        for kind, cost in costs_by_kind:
            key = _make_action_key(kind, step, demand)
            try_action = partial(self._try_action, node, step, kind, cost, cost_to_flaw, demand)
            self.agenda.add(node, max(cost_to_flaw + cost, self.heuristic.estimate(node)), key, try_action)

    def _try_action(
        self, node: Node, step: GroundAction, kind: EdgeKind, cost: Number, cost_to_flaw: Number, demand: Demand | None
    ) -> None:
        """Add the edge that takes an action; examine why that is impossible; or postpone it."""
        tried_key = ("tried", kind, *step.key)
        if tried_key in node.done:
            return
        number = node.position + 1 if kind == EdgeKind.SUBSTITUTE else 0
        transition = Transition(kind, number, step, cost, number or node.position, node.deferred, node.borrowed)
        least_cost = cost + self.heuristic.preview(node, transition)
        try_action = partial(self._try_action, node, step, kind, cost, cost_to_flaw, demand)
        if self.agenda.postpone(node, _make_action_key(kind, step, demand), try_action, least_cost):
            return
        if self.graph.execute(node, transition, demand):
            node.done.add(tried_key)
            return
        cost_to_flaw += cost
        enable = partial(self._enable_action, node, step, cost_to_flaw, demand)
        self.agenda.add_flaw(node, ("enable", kind, *step.key, demand), enable, cost_to_flaw)

    def _enable_action(self, node: Node, step: GroundAction, cost_to_flaw: Number, demand: Demand | None) -> None:
        """Demand what an action needs to be applicable here, or to meet a demand."""
        if make_evaluator(node).holds(And(step.action.start.condition), step.binding) is not True:
            self.demand_precondition(node, step, cost_to_flaw)
        elif demand is not None:
            for enabling_demand in self.flaw_demands.demand_effect(node, step, demand):
                self.graph.receive(node, enabling_demand, cost_to_flaw, all_edits=True)

    def demand_precondition(self, node: Node, step: GroundAction, cost_to_flaw: Number) -> None:
        """Demand what a step needs to be applicable at a node."""
        for demand in self.flaw_demands.demand_precondition(node, step):
            self.graph.receive(node, demand, cost_to_flaw, all_edits=True)


def _make_action_key(kind: EdgeKind, step: GroundAction, demand: Demand | None) -> tuple[object, ...]:
    return (kind, *step.key) if demand is None else (kind, *step.key, demand)
