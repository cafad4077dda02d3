"""Several planners as one: the next is asked if one gives up."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic

from plansafe.verifier.planning.forward_search import MAX_NODES, ForwardSearch
from plansafe.verifier.planning.planner import Planner, PlanningQuery, PlanningResult, PlanningStatus


class PlannerChain:
    """A planner made of the installed ones among ``planners``; at least one must be installed.

    ``failure_types``: the exceptions that mean that a planner gives up, such as failures of external programs.
    """

    def __init__(self, planners: Sequence[Planner], failure_types: tuple[type[Exception], ...] = ()) -> None:
        self.failure_types = failure_types
        self.planners = [planner for planner in planners if planner.available()]
        if not self.planners:
            raise ValueError("no planner is installed")
        self.name = ", ".join([planner.name for planner in self.planners])

    def available(self) -> bool:
        """Always true: at least one planner is installed."""
        return True

    def solve(self, query: PlanningQuery) -> PlanningResult:
        """Return the first definite answer, or else the best indefinite answer.

        Each planner has an equal share of the remaining time. If a shortest plan is asked for, a plan that is not
        proved shortest is indefinite.
        """
        deadline = monotonic() + query.time_limit_s
        best: PlanningResult | None = None
        for number, planner in enumerate(self.planners):
            time_left = max(deadline - monotonic(), 0.0) / (len(self.planners) - number)
            try:
                result = planner.solve(query._replace(time_limit_s=time_left))
            except self.failure_types as failure:
                result = PlanningResult(PlanningStatus.NOT_FOUND, detail=str(failure), planner=planner.name)
            if result.status is PlanningStatus.UNSOLVABLE or (
                result.status is PlanningStatus.SOLVED and (result.optimal or not query.shortest)
            ):
                return result
            if best is None or _rank_status(result) > _rank_status(best):
                best = result
        assert best is not None
        return best


def _rank_status(result: PlanningResult) -> int:
    """Return the rank of an indefinite answer: the higher, the better."""
    return (PlanningStatus.UNSUPPORTED, PlanningStatus.NOT_FOUND, PlanningStatus.SOLVED).index(result.status)


def make_default_planners(max_nodes: int = MAX_NODES) -> PlannerChain:
    """Return a chain of kairos, if installed, and the forward search, which visits at most ``max_nodes`` states."""
    from plansafe.verifier.planning.external_planner import Disagreement  # noqa: PLC0415 - only for external planners
    from plansafe.verifier.planning.kairos import KairosPlanner  # noqa: PLC0415

    return PlannerChain([KairosPlanner(), ForwardSearch(max_nodes)], (RuntimeError, Disagreement))
