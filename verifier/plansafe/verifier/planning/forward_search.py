"""The planner of this project: best-first search over states and what the rules remember of the past.

The engine takes the steps and its monitors check the rules, so the search and the checker agree about plans, for rules
of every kind.
"""

from __future__ import annotations

from time import monotonic
from weakref import WeakKeyDictionary

from plansafe.grammar.source import Source
from plansafe.verifier.execution.compiled import CompiledTask
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.monitors.finding import TooManyInstances
from plansafe.verifier.execution.state import NumberTooLarge
from plansafe.verifier.execution.steps import GroundAction, plan_text
from plansafe.verifier.model.limits import LimitReached
from plansafe.verifier.planning.best_first_search import BestFirstSearch
from plansafe.verifier.planning.lifted_relaxation import LiftedRelaxation
from plansafe.verifier.planning.planner import PlanningQuery, PlanningResult, PlanningStatus
from plansafe.verifier.planning.state_estimates import EstimateCache
from plansafe.verifier.reporting.report import Headline, Worlds
from plansafe.verifier.rules.verdict_criteria import EVERY_VIOLATION, VerdictCriteria

MAX_NODES = 1_000_000
"""Default of the maximum number of nodes of a search."""


class ForwardSearch:
    """A planner without other packages. Complete on finite tasks without durative actions."""

    name = "own search"

    def __init__(self, max_nodes: int = MAX_NODES) -> None:
        self.max_nodes = max_nodes
        self._lifted_relaxations: WeakKeyDictionary[Engine, dict[tuple[bool, VerdictCriteria], LiftedRelaxation]] = (
            WeakKeyDictionary()
        )

    def available(self) -> bool:
        """Always true: the search needs no other package."""
        return True

    def solve(self, query: PlanningQuery) -> PlanningResult:
        """Answer a query (see :class:`plansafe.verifier.planning.planner.Planner`).

        The checker replays a plan. Raises ``AssertionError`` if it does not confirm the plan, which is a bug.
        """
        started = monotonic()
        checker = query.checker
        reason = "the domain, problem or specification has errors"
        if checker.ok:
            reason = find_unsupported_task_reason(checker.compiled, query.rules)
        if reason:
            return PlanningResult(PlanningStatus.UNSUPPORTED, detail=reason, planner=self.name)
        start = Execution.initial(checker.engine, query.rules, checker.options.criteria)
        try:
            for number, step in enumerate(query.prefix, 1):
                if not start.take(step):
                    detail = f"step {number} of the prefix cannot be taken"
                    return PlanningResult(PlanningStatus.UNSOLVABLE, detail=detail, planner=self.name)
        except (NumberTooLarge, TooManyInstances):
            return self._make_not_found_result("the prefix passes a limit of the engine")
        time_left = query.time_limit_s - (monotonic() - started)
        plan = self.solve_from(start, shortest=query.shortest, time_limit_s=time_left)
        if plan.status is PlanningStatus.SOLVED:
            is_confirmed = confirm_by_replay(query, plan.steps)
            if is_confirmed is None:
                return self._make_not_found_result("the plan could not be checked in time")
            if not is_confirmed:
                raise AssertionError("a plan that the search found does not replay: this is a bug in plansafe")
        return plan

    def _make_not_found_result(self, detail: str) -> PlanningResult:
        return PlanningResult(PlanningStatus.NOT_FOUND, detail=detail, planner=self.name)

    def solve_from(
        self,
        start: Execution,
        *,
        shortest: bool = False,
        within: int | None = None,
        time_limit_s: float = 10.0,
        max_nodes: int | None = None,
        cache: EstimateCache | None = None,
    ) -> PlanningResult:
        """Search from any state of an execution, also from one that an observation corrected.

        The task must have no :func:`find_unsupported_task_reason`. The plan is not replayed from S0. ``within``: the
        maximum length of the plan; UNSOLVABLE then means that no plan is that short. ``max_nodes`` limits this search
        alone, independently of the machine's speed. ``cache`` keeps what earlier searches of the same execution
        computed; ``start`` must be reachable from theirs by steps.
        """
        if cache is None or not cache.covers(start):
            cache = EstimateCache(start, keeps_estimates=False)
        search = BestFirstSearch(
            start,
            lambda: self.get_lifted_relaxation(start.engine, start.runtime is not None, start.criteria),
            cache,
            shortest=shortest,
            max_length=within,
            deadline=monotonic() + time_limit_s,
            max_nodes=max_nodes or self.max_nodes,
            prune_by_estimate=max_nodes is not None,
        )
        try:
            return search.run()._replace(planner=self.name)
        except (LimitReached, TooManyInstances) as limit:
            limit_text = f"{time_limit_s:g} s" if isinstance(limit, LimitReached) else "too many instances of a rule"
            return self._make_not_found_result(f"no plan found within {limit_text} and {search.visited_count} states")

    def get_lifted_relaxation(
        self, engine: Engine, rules: bool, criteria: VerdictCriteria = EVERY_VIOLATION
    ) -> LiftedRelaxation:
        """Return the lifted relaxation of an engine's task, compiled once."""
        relaxations = self._lifted_relaxations.setdefault(engine, {})
        key = rules, criteria
        if key not in relaxations:
            relaxations[key] = LiftedRelaxation(engine, rules, criteria)
        return relaxations[key]


def find_unsupported_task_reason(compiled: CompiledTask, rules: bool) -> str:
    """Return the reason why this planner does not support a task; empty if it does."""
    engine = compiled.engine
    if engine.refusal is not None:
        return engine.refusal.message
    if any([action.end is not None for action in engine.task.actions.values()]):
        return "the search does not support durative actions"
    if any([literal.time > 0 for literal in engine.task.timed_literals]):
        return "the search does not support timed initial literals"
    if not rules:
        return ""
    if engine.limit is not None or (engine.prototype is not None and engine.prototype.too_large):
        return "a rule has more instances than the limit allows"
    if compiled.options.criteria.has_partial_exemptions:
        return "the search does not support an exemption for only some objects"
    return ""


def confirm_by_replay(query: PlanningQuery, steps: tuple[GroundAction, ...]) -> bool | None:
    """Whether the checker finds a prefix with its continuation SAFE or VALID (without rules: reaching the goal).

    ``None`` if a limit of the checker ends the replay.
    """
    text = plan_text((*query.prefix, *steps), query.checker.engine.task.objects)
    report = query.checker.check(Source("<search>", text))
    if (report.headline is Headline.UNKNOWN and report.limits) or (
        report.headline is Headline.UNSAFE and query.checker.compiled.proposed_kinds
    ):
        return None
    if not query.rules:
        return report.executable is Worlds.ALL and report.goal is Worlds.ALL
    return report.headline in (Headline.SAFE, Headline.VALID)
