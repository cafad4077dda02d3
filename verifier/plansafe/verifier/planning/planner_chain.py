"""Planners one after the other: the next is asked where one gives up."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic

from plansafe.verifier.planning.forward_search import MAX_NODES, ForwardSearch
from plansafe.verifier.planning.planner import Planner, PlanningQuery, PlanningResult, PlanningStatus


class PlannerChain:
    """A planner made of planners. Those that are not installed are left out; at least one has to be.

    ``failures`` are the exceptions that mean no more than that a planner gives up: those of programs that are not ours.
    """

    def __init__(self, planners: Sequence[Planner], failures: tuple[type[Exception], ...] = ()) -> None:
        self.failures = failures
        self.planners = [planner for planner in planners if planner.available()]
        if not self.planners:
            raise ValueError("no planner is installed")
        self.name = ", ".join([planner.name for planner in self.planners])

    def available(self) -> bool:
        """It needs nothing that may be missing."""
        return True

    def solve(self, query: PlanningQuery) -> PlanningResult:
        """The first answer that is one; the best of the others if none is.

        Each planner has an equal share of the time that is left. Where the shortest plan is asked for, a plan that is
        not proved shortest counts as an answer only if no planner does better.
        """
        deadline = monotonic() + query.time_limit_s
        kept: PlanningResult | None = None
        for number, planner in enumerate(self.planners):
            left = max(deadline - monotonic(), 0.0) / (len(self.planners) - number)
            try:
                found = planner.solve(query._replace(time_limit_s=left))
            except self.failures as failure:
                found = PlanningResult(PlanningStatus.NOT_FOUND, detail=str(failure), planner=planner.name)
            if found.status is PlanningStatus.UNSOLVABLE or (
                found.status is PlanningStatus.SOLVED and (found.optimal or not query.shortest)
            ):
                return found
            if kept is None or _worth(found) > _worth(kept):
                kept = found
        assert kept is not None
        return kept


def _worth(solution: PlanningResult) -> int:
    if solution.status is PlanningStatus.SOLVED:
        return 2
    return int(solution.status is PlanningStatus.NOT_FOUND)


def default_planners(max_nodes: int = MAX_NODES) -> PlannerChain:
    """Kairos, if it is installed, then our own search, which looks at ``max_nodes`` states at most."""
    from plansafe.verifier.planning.external_planner import Disagreement  # noqa: PLC0415 - what only other planners need
    from plansafe.verifier.planning.kairos import KairosPlanner  # noqa: PLC0415

    return PlannerChain([KairosPlanner(), ForwardSearch(max_nodes)], (RuntimeError, Disagreement))
