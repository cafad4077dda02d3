"""Search for detours from safe plans: other steps on the way and after the goal that violate no rule."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from time import monotonic
from typing import NamedTuple

from plansafe.specs.lint.gaps.patterns import ProposalPatterns
from plansafe.specs.lint.gaps.proposals import Proposal
from plansafe.specs.lint.gaps.safe_plans import StepPath, find_end_violations
from plansafe.specs.lint.gaps.state_graph import StateGraph, TaskGraph
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.monitors.finding import TooManyInstances
from plansafe.verifier.execution.state import NumberTooLarge
from plansafe.verifier.execution.steps import GroundAction

MAX_WITNESSES = 4
"""Maximum number of witnesses of a proposal."""
MAX_PLANS = 150
"""Maximum number of plans to the goal that are kept."""


class Witness(NamedTuple):
    """A path without violations that does what a proposal forbids, and the remaining steps of its reference plan."""

    path: StepPath
    remaining_steps: StepPath


class ExploitedProposal(NamedTuple):
    """A proposal with a few paths that violate it."""

    proposal: Proposal
    witnesses: list[Witness]


class FrontierState(NamedTuple):
    """A state on the frontier, the path to it, and the remaining steps of the reference plan that the path left."""

    execution: Execution
    graph: StateGraph
    path: StepPath
    remaining_steps: StepPath


class DetourSearch:
    """Breadth-first search for detours from every state of the reference plans.

    The rules from number ``first_proposal`` on are ``monitored_proposals``. ``exploited_by_text`` has the proposals
    that paths violate, by their text. ``found_plans`` are safe plans that the search found.
    """

    def __init__(
        self,
        task_graph: TaskGraph,
        first_proposal: int,
        monitored_proposals: Sequence[Proposal],
        max_steps: int,
        deadline: float,
    ) -> None:
        self.task_graph = task_graph
        self.first_proposal = first_proposal
        self.monitored_proposals = monitored_proposals
        self.max_steps = max_steps
        self.deadline = deadline
        self.patterns = ProposalPatterns(task_graph)
        self.exploited_by_text: dict[str, ExploitedProposal] = {}
        self.found_plans: list[StepPath] = []
        self.explored_count = 0
        self._fact_pairs: set[tuple[object, object]] = set()

    def search(self, references: Sequence[StepPath]) -> None:
        """Explore all novel states, up to a limit."""
        queue: deque[FrontierState] = deque()
        for reference in references:
            start = Execution.initial(self.task_graph.engine)
            states = [FrontierState(start, StateGraph(self.task_graph, start.state), (), reference)]
            for number, step in enumerate(reference):
                successor = self._take_step(states[-1], step, reference[number + 1 :], is_reference=True)
                if successor is None:
                    break
                states.append(successor)
            queue.extend(reversed(states))
        while queue:
            state = queue.popleft()
            for step in list(state.execution.legal()):
                if self.explored_count >= self.max_steps or monotonic() >= self.deadline:
                    return
                successor = self._take_step(state, step, state.remaining_steps, is_reference=False)
                if successor is not None:
                    queue.append(successor)

    def _take_step(
        self, state: FrontierState, step: GroundAction, remaining_steps: StepPath, is_reference: bool
    ) -> FrontierState | None:
        """Take a step, and store the proposals that the path violates.

        Return the next state if it is novel or of a reference plan; ``None`` also if a rule is violated.
        """
        self.explored_count += 1
        try:
            after = state.execution.after(step)
            end_violations = None if after is None else find_end_violations(after, self.first_proposal)
        except (NumberTooLarge, TooManyInstances):
            return None
        if after is None:
            return None
        violated_rules = {self.task_graph.engine.rule_set.parts[v.part].rule for v in after.new_violations}
        if any([rule < self.first_proposal for rule in violated_rules]):
            return None
        graph = StateGraph(self.task_graph, after.state) if after.changed else state.graph
        successor = FrontierState(after, graph, (*state.path, step), remaining_steps)
        is_expanded = (bool(after.changed) and self._is_novel(graph)) or is_reference
        proposals = self._list_proposals(state, step, successor, is_expanded)
        if end_violations is not None:  # the path is a safe plan
            proposals += self.patterns.propose_left_facts(graph)
            violated_rules |= end_violations
            if len(self.found_plans) < MAX_PLANS:
                self.found_plans.append(successor.path)
        proposals += [self.monitored_proposals[rule - self.first_proposal] for rule in violated_rules]
        for proposal in proposals:
            witnesses = self.exploited_by_text.setdefault(proposal.text, ExploitedProposal(proposal, [])).witnesses
            if len(witnesses) < MAX_WITNESSES:
                witnesses.append(Witness(successor.path, remaining_steps))
        return successor if is_expanded else None

    def _list_proposals(
        self, state: FrontierState, step: GroundAction, successor: FrontierState, is_expanded: bool
    ) -> list[Proposal]:
        """List the proposals that a step violates, and those that the next state violates, if the search expands it."""
        proposals = list(self.patterns.propose_steps_near_facts(step, state.graph))
        if not successor.execution.changed and step in state.path:
            proposals += self.patterns.propose_repeated_step(step)
        if is_expanded:
            proposals += self.patterns.propose_items_together(successor.graph)
            proposals += self.patterns.propose_exceeded_limits(successor.execution.state)
        return proposals

    def _is_novel(self, graph: StateGraph) -> bool:
        """Whether some pair of facts is true together for the first time (Lipovetzky and Geffner 2012, width 2).

        A fact of S0 that is false counts as a fact.
        """
        true_facts = set(graph.changing_facts)
        false_facts = [("not", fact) for fact in self.task_graph.initial_facts if fact not in true_facts]
        facts: list[object] = [*graph.changing_facts, *false_facts]
        old_pair_count = len(self._fact_pairs)
        self._fact_pairs.update([(first, second) for i, first in enumerate(facts) for second in facts[i:]])
        return len(self._fact_pairs) > old_pair_count
