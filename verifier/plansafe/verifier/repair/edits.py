"""Edits: what may be inserted, substituted, deleted or moved at a node, tried when it can be afforded."""

from __future__ import annotations

from functools import partial
from typing import Protocol

from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.steps import GroundAction, IllFormed
from plansafe.verifier.model.nodes import And, Number
from plansafe.verifier.repair.agenda import Agenda
from plansafe.verifier.repair.candidates import Candidate, Candidates
from plansafe.verifier.repair.demands import Demand
from plansafe.verifier.repair.effects import step_key
from plansafe.verifier.repair.flaws import Flaws, evaluator_at
from plansafe.verifier.repair.search_graph import (
    ANYTHING,
    BORROW,
    BORROW_STEP,
    DEFER,
    DELETE,
    FEWER,
    HALF_SUBSTITUTE,
    HALF_SUBSTITUTED,
    INSERT,
    SUBSTITUTE,
    Node,
)


class Graph(Protocol):
    """What edits are made in."""

    def reach(
        self,
        source: Node,
        kind: int,
        step: int,
        taken: GroundAction | None,
        cost: Number,
        position: int,
        now: Execution,
        deferred: frozenset[int],
        borrowed: frozenset[int],
    ) -> None:
        """Add an edge."""

    def execute(
        self,
        node: Node,
        kind: int,
        step: int,
        taken: GroundAction,
        cost: Number,
        position: int,
        deferred: frozenset[int],
        borrowed: frozenset[int],
        wanted: Demand | None = None,
    ) -> bool:
        """Take a step, if it can be taken (and, if something is wanted of it, does that)."""

    def receive(self, node: Node, demand: Demand, extra: Number, full: bool) -> None:
        """A demand arrives."""


class Edits:
    """The edits that demands ask for. ``insertions_only``: a search for some repair, not for the nearest."""

    def __init__(self, agenda: Agenda, flaws: Flaws, graph: Graph, insertions_only: bool) -> None:
        self.task = agenda.task
        self.agenda = agenda
        self.ahead = agenda.ahead
        self.flaws = flaws
        self.graph = graph
        self.insertions_only = insertions_only
        self.candidates = Candidates(agenda.task)

    def removable(self, node: Node, extra: Number) -> None:
        """The next step of a node may be deleted, substituted or moved."""
        step = node.position + 1
        if step in self.task.protected or step in node.borrowed or node.broken:
            return
        if self.insertions_only and isinstance(self.task.steps[step - 1], GroundAction):
            return
        self.agenda.push(node, extra + self.task.weights.delete, ("delete",), partial(self._delete, node, DELETE))
        if self.task.weights.substitute < self.task.weights.delete:
            self.agenda.push(
                node,
                extra + self.task.weights.substitute,
                ("half-substitute",),
                partial(self._delete, node, HALF_SUBSTITUTE),
            )
        self.movable(node, extra)

    def _delete(self, node: Node, kind: int) -> None:
        step, borrowed = node.position + 1, node.borrowed
        cost = self.task.weights.delete
        if kind == HALF_SUBSTITUTE:
            cost, borrowed = self.task.weights.substitute, borrowed | {HALF_SUBSTITUTED}
        least = cost + self.ahead.preview(node, None, step, node.deferred, borrowed, 1 << step)
        if self.agenda.postponed(
            node,
            ("half-substitute" if kind == HALF_SUBSTITUTE else "delete",),
            partial(self._delete, node, kind),
            least,
        ):
            return
        self.graph.reach(node, kind, step, None, cost, step, node.now, node.deferred, borrowed)

    def movable(self, node: Node, extra: Number) -> None:
        """The next step of a node may be moved behind."""
        step = node.position + 1
        if step in self.task.protected or step in node.borrowed or node.broken or self.insertions_only:
            return
        if isinstance(self.task.steps[step - 1], GroundAction):
            self.agenda.push(node, extra + self.task.weights.move, ("defer",), partial(self._defer, node))

    def _defer(self, node: Node) -> None:
        step = node.position + 1
        cost = self.task.weights.move
        least = cost + self.ahead.preview(node, None, step, node.deferred | {step}, node.borrowed, 0)
        if self.agenda.postponed(node, ("defer",), partial(self._defer, node), least):
            return
        self.graph.reach(node, DEFER, step, None, cost, step, node.now, node.deferred | {step}, node.borrowed)

    def offer(self, node: Node, demand: Demand, extra: Number) -> None:
        """The insertions, substitutions and moves to this place that may meet a demand: looked at when affordable."""
        if demand.subject == FEWER:
            return
        if demand.subject == BORROW_STEP:
            self._offer_step(node, demand.code or 0, extra)
            return
        self.agenda.push(
            node,
            self.agenda.affordable(node, extra),
            ("offer", demand, extra),
            partial(self.offer_all, node, demand, extra),
        )

    def offer_all(self, node: Node, demand: Demand, extra: Number) -> None:
        """Try the edits that may meet a demand, at the cost that each needs."""
        if demand.subject == ANYTHING:
            for step in range(node.position + 1, self.task.length + 1):
                self._offer_step(node, step, extra)
            self.substitute(node, demand, extra)
            return
        self._offer_actions(node, demand, extra)
        for number in self.task.plan_achievers(demand):
            if number > node.position:
                self._offer_step(node, number, extra)

    def _offer_actions(self, node: Node, demand: Demand, extra: Number) -> None:
        """The actions that may meet a demand: those that do are tried, the others looked into at a later level."""
        if demand.value is None or demand.subject >= self.task.base:
            self._offer_candidates(node, demand, extra)
            return
        # What else an action does may undo it, or some other fact of a pattern is set that was so already.
        sure = demand.value and demand.code is not None and not demand.ever
        for taken in self.candidates.acting(node, demand):
            self._offer_action(node, taken, extra, None if sure else demand)
        least = extra + min(self.task.weights.insert, self.task.weights.substitute)
        self.agenda.flaw(node, ("enable", demand), partial(self._enable_some, node, demand, least), least)

    def _enable_some(self, node: Node, demand: Demand, extra: Number) -> None:
        """What would have to differ here for one more action to be able to meet a demand."""
        evaluator = evaluator_at(node)
        demands: dict[Demand, None] = {}
        giving = self.task.effects.giving(demand.subject, self.task.wanted(demand), demand.value)
        for action, variables, condition, known in giving:
            free = [v for v in (*action.parameters, *variables) if v.slot not in known]
            parts = (*action.start.condition, condition)
            demands.update(dict.fromkeys(self.task.demander.able(evaluator, free, parts, known)))
        for wanted in demands:
            self.graph.receive(node, wanted, extra, True)

    def _offer_candidates(self, node: Node, demand: Demand, extra: Number) -> None:
        """Look at each action that may meet a demand."""
        facts = node.state.facts
        lacking: set[tuple[int, int, bool]] = set()
        vague: list[GroundAction] = []
        asleep: list[Candidate] = []
        for candidate in self.candidates.of(demand):
            for literal in candidate.literals:
                if (literal[1] in facts[literal[0]]) is not literal[2]:
                    # One false literal of each action is enough, and many share theirs.
                    lacking.add(literal)
                    break
            else:
                if not (candidate.simple or self.candidates.legal(node, candidate.taken)):
                    vague.append(candidate.taken)
                    continue
                does = self.candidates.effect_on(node, candidate, demand)
                if does is not False:
                    self._offer_action(node, candidate.taken, extra, None if does else demand)
                elif candidate.effects:
                    asleep.append(candidate)
        if lacking or vague or asleep:
            extra += min(self.task.weights.insert, self.task.weights.substitute)
            act = partial(self._enable_all, node, lacking, vague, asleep, extra)
            self.agenda.flaw(node, ("enable", demand), act, extra)

    def _enable_all(
        self,
        node: Node,
        lacking: set[tuple[int, int, bool]],
        vague: list[GroundAction],
        asleep: list[Candidate],
        extra: Number,
    ) -> None:
        """What would have to differ for actions that cannot be taken here, or do nothing for a demand."""
        demands = {Demand(*literal): None for literal in lacking if self.task.demander.changeable(literal[0])}
        evaluator = evaluator_at(node)
        for candidate in asleep:
            for effect, _, _ in candidate.effects:
                demands.update(
                    dict.fromkeys(self.task.demander.flips(evaluator, effect.condition, effect.binding, True))
                )
        for demand in demands:
            self.graph.receive(node, demand, extra, True)
        for taken in vague:
            self.precondition(node, taken, extra)

    def _offer_step(self, node: Node, step: int, extra: Number) -> None:
        """A later step may be moved here."""
        if step <= node.position or step in node.borrowed or step in self.task.protected or self.insertions_only:
            return
        taken = self.task.steps[step - 1]
        if isinstance(taken, GroundAction):
            cost = self.task.weights.move

            self.agenda.push(node, extra + cost, ("borrow", step), partial(self._borrow, node, step, taken, extra))

    def _borrow(self, node: Node, step: int, taken: GroundAction, extra: Number) -> None:
        cost, borrowed = self.task.weights.move, node.borrowed | {step}
        if self.candidates.legal(node, taken):
            least = cost + self.ahead.preview(node, taken, node.position, node.deferred, borrowed, 0)
            act = partial(self._borrow, node, step, taken, extra)
            if self.agenda.postponed(node, ("borrow", step), act, least):
                return
            if self.graph.execute(node, BORROW, step, taken, cost, node.position, node.deferred, borrowed):
                return
        extra += cost
        self.agenda.flaw(node, ("enable step", step), partial(self.precondition, node, taken, extra), extra)

    def _offer_action(self, node: Node, taken: GroundAction, extra: Number, wanted: Demand | None) -> None:
        """A legal action may be inserted here, or take the place of the next step; ``wanted``: if it meets a demand."""
        step = node.position + 1
        ways = [(INSERT, self.task.weights.insert)]
        if step <= self.task.length and step not in node.borrowed and step not in self.task.protected:
            replaced = self.task.steps[node.position]
            if isinstance(replaced, IllFormed) or not (self.insertions_only or step_key(replaced) == step_key(taken)):
                ways.append((SUBSTITUTE, self.task.weights.substitute))
        named = step_key(taken)
        for kind, cost in ways:
            key = (kind, *named) if wanted is None else (kind, *named, wanted)
            attempt = partial(self._try, node, taken, kind, cost, extra, wanted)
            self.agenda.push(node, max(extra + cost, self.ahead.estimate(node)), key, attempt)

    def _try(
        self, node: Node, taken: GroundAction, kind: int, cost: Number, extra: Number, wanted: Demand | None
    ) -> None:
        did = ("did", kind, *step_key(taken))
        if did in node.done:
            return
        step = node.position + 1 if kind == SUBSTITUTE else 0
        position = step or node.position
        least = cost + self.ahead.preview(node, taken, position, node.deferred, node.borrowed, 0)
        key = (kind, *step_key(taken)) if wanted is None else (kind, *step_key(taken), wanted)
        act = partial(self._try, node, taken, kind, cost, extra, wanted)
        if self.agenda.postponed(node, key, act, least):
            return
        if self.graph.execute(node, kind, step, taken, cost, position, node.deferred, node.borrowed, wanted):
            node.done.add(did)
            return
        extra += cost
        self.agenda.flaw(
            node, ("enable", kind, *step_key(taken), wanted), partial(self._enable, node, taken, extra, wanted), extra
        )

    def _enable(self, node: Node, taken: GroundAction, extra: Number, wanted: Demand | None) -> None:
        """An action cannot be taken here, or does not what it should: what would have to differ for that?"""
        binding = taken.binding
        evaluator = evaluator_at(node)
        if evaluator.holds(And(taken.action.start.condition), binding) is not True:
            self.precondition(node, taken, extra)
            return
        if wanted is None:
            return
        for demand in self.flaws.effect(node, taken, wanted):
            self.graph.receive(node, demand, extra, True)

    def substitute(self, node: Node, demand: Demand, extra: Number) -> None:
        """Actions that may meet a demand at a node where the next step is left out may take its place."""
        if demand.subject >= 0:
            self._offer_actions(node, demand, extra)
        elif demand.subject == ANYTHING:
            for taken in self.candidates.legal_here(node):
                self._offer_action(node, taken, extra, None)

    def precondition(self, node: Node, taken: GroundAction, extra: Number) -> None:
        """A step cannot be taken here: send back what would have to differ."""
        for demand in self.flaws.step(node, taken):
            self.graph.receive(node, demand, extra, True)
