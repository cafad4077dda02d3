"""Detours from safe plans: what else could be done on the way and after the goal, without breaking a rule."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from time import monotonic
from typing import NamedTuple

from plansafe.specs.lint.gaps.patterns import ProposalPatterns
from plansafe.specs.lint.gaps.proposals import Proposal
from plansafe.specs.lint.gaps.safe_plans import StepPath, violated_at_end
from plansafe.specs.lint.gaps.state_graph import StateGraph, TaskGraph
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.monitors.finding import TooManyInstances
from plansafe.verifier.execution.state import NumberTooLarge
from plansafe.verifier.execution.steps import GroundAction

WITNESSES = 4
MAX_PLANS = 150


class Witness(NamedTuple):
    """A path that is safe so far and does what a proposal forbids. ``rest``: how its reference went on from there."""

    path: StepPath
    rest: StepPath


class ExploitedProposal(NamedTuple):
    """A proposal with a few paths that break it."""

    proposal: Proposal
    witnesses: list[Witness]


class FrontierState(NamedTuple):
    """A state on the frontier: how it was reached, and the rest of the plan that it left."""

    execution: Execution
    scene: StateGraph
    path: StepPath
    rest: StepPath


class DetourSearch:
    """Breadth-first detours from every state of the reference plans.

    Rules from number ``given`` on are proposals that are only watched; ``plans`` are the safe ones met on the way.
    """

    def __init__(self, shared: TaskGraph, given: int, watched: Sequence[Proposal], limit: int, deadline: float) -> None:
        self.shared = shared
        self.given = given
        self.watched = watched
        self.limit = limit
        self.deadline = deadline
        self.patterns = ProposalPatterns(shared)
        self.found: dict[str, ExploitedProposal] = {}
        self.plans: list[StepPath] = []
        self.explored = 0
        self._pairs: set[tuple[object, object]] = set()

    def run(self, references: Sequence[StepPath]) -> None:
        """Explore until nothing is new, or the time is over."""
        queue: deque[FrontierState] = deque()
        for reference in references:
            start = Execution.initial(self.shared.engine)
            nodes = [FrontierState(start, StateGraph(self.shared, start.state), (), reference)]
            for number, step in enumerate(reference):
                made = self._step(nodes[-1], step, reference[number + 1 :], True)
                if made is None:
                    break
                nodes.append(made)
            queue.extend(reversed(nodes))
        while queue:
            node = queue.popleft()
            for step in list(node.execution.legal()):
                if self.explored >= self.limit or monotonic() >= self.deadline:
                    return
                made = self._step(node, step, node.rest, False)
                if made is not None:
                    queue.append(made)

    def _step(self, node: FrontierState, step: GroundAction, rest: StepPath, keep: bool) -> FrontierState | None:
        """Take a step from a node, look at it, and return where it leads if that is worth going on from."""
        self.explored += 1
        try:
            after = node.execution.after(step)
            at_end = None if after is None else violated_at_end(after, self.given)
        except (NumberTooLarge, TooManyInstances):
            return None
        if after is None:
            return None
        broken = {self.shared.engine.rule_set.parts[found.part].rule for found in after.new_violations}
        if any([rule < self.given for rule in broken]):
            return None
        scene = StateGraph(self.shared, after.state) if after.changed else node.scene
        path = (*node.path, step)
        proposals = list(self.patterns.meanwhile(step, node.scene))
        new = bool(after.changed) and self._novel(scene)
        if not after.changed and step in node.path:
            proposals += self.patterns.again(step)
        if new or keep:
            proposals += [*self.patterns.together(scene), *self.patterns.beyond(after.state)]
        if at_end is not None:
            proposals += self.patterns.left(scene)
            if len(self.plans) < MAX_PLANS:
                self.plans.append(path)
        proposals += [self.watched[rule - self.given] for rule in broken | (at_end or set())]
        for proposal in proposals:
            witnesses = self.found.setdefault(proposal.text, ExploitedProposal(proposal, [])).witnesses
            if len(witnesses) < WITNESSES:
                witnesses.append(Witness(path, rest))
        return FrontierState(after, scene, path, rest) if new or keep else None

    def _novel(self, scene: StateGraph) -> bool:
        """Whether some pair of facts holds together for the first time (Lipovetzky and Geffner 2012, width 2).

        That a fact of S0 no longer holds is a fact, too.
        """
        now = set(scene.changing)
        facts: list[object] = [*scene.changing, *[("not", fact) for fact in self.shared.at_first if fact not in now]]
        before = len(self._pairs)
        self._pairs.update([(first, second) for i, first in enumerate(facts) for second in facts[i:]])
        return len(self._pairs) > before
