"""Check, complete and shorten safe plans, under the rules of a specification and monitored proposals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import monotonic

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.monitors.finding import TooManyInstances
from plansafe.verifier.execution.state import NumberTooLarge
from plansafe.verifier.execution.steps import GroundAction, IllFormed, step_text
from plansafe.verifier.planning.forward_search import ForwardSearch
from plansafe.verifier.planning.planner import PlanningQuery, PlanningStatus
from plansafe.verifier.reporting.report import Headline

MAX_STATES_FROM_START, MAX_STATES_FROM_DETOUR = 2_000, 300
"""Maximum number of states that a search for a plan visits."""
MIN_SEARCH_S, MIN_PLANNER_S = 0.01, 0.1
"""Seconds that must remain so that a search, or a planner, is started."""
SAFE_HEADLINES = (Headline.SAFE, Headline.VALID)
StepPath = tuple[GroundAction, ...]


def rebind_actions(engine: Engine, path: Sequence[GroundAction]) -> StepPath:
    """Replace the actions of a path by the actions of another compilation of the same task."""
    actions = engine.task.actions
    return tuple([step._replace(action=actions[step.action.name]) for step in path])


def find_end_violations(execution: Execution, first_proposal: int) -> set[int] | None:
    """Find the proposals that an execution violates if it ends here, except preferences, by their rule numbers.

    ``first_proposal`` is the number of the first proposal; the rules before it are the specification's. Violations by
    the initial state do not count. ``None``: the execution does not reach the goal, violates a rule of the
    specification, or leaves a rule undecided.
    """
    if execution.engine.evaluate_goal(execution.state) is not True:
        return None
    end = execution.finish_runtime()
    if end is None:
        return set()
    rules, parts = execution.engine.rules, execution.engine.rule_set.parts
    violated = {parts[v.part].rule for v in end.collect_violations() if v.blame != "pre-existing"}
    hard = {rule for rule in violated if not rules[rule].preference}
    return None if end.collect_undecided() or any([rule < first_proposal for rule in hard]) else hard


def find_plan_violations(path: Sequence[GroundAction], engine: Engine, first_proposal: int) -> set[int] | None:
    """As :func:`find_end_violations` after a plan; ``None`` also if it cannot be executed."""
    execution = Execution.initial(engine)
    try:
        if all(execution.take(step) for step in rebind_actions(engine, path)):
            return find_end_violations(execution, first_proposal)
    except (NumberTooLarge, TooManyInstances):
        pass
    return None


class SafePlanFinder:
    """Finds and checks safe plans to the goal."""

    def __init__(self, checker: Checker, deadline: float) -> None:
        self.checker = checker
        self.engine = checker.engine
        self.deadline = deadline
        self._start_search = ForwardSearch(MAX_STATES_FROM_START)
        self._detour_search = ForwardSearch(MAX_STATES_FROM_DETOUR)

    def format_steps(self, path: Sequence[GroundAction]) -> tuple[str, ...]:
        """Format the steps of a path."""
        return tuple([step_text(step, self.engine.task.objects) for step in path])

    def format_plan(self, path: Sequence[GroundAction]) -> str:
        """Format a path as a plan, with one step per line."""
        return "".join([f"{step}\n" for step in self.format_steps(path)])

    def is_safe(self, path: Sequence[GroundAction]) -> bool:
        """Whether a path is a safe plan to the goal."""
        return self.checker.check(Source("<gap>", self.format_plan(path))).headline in SAFE_HEADLINES

    def parse(self, plan: Source) -> StepPath | None:
        """Read the steps of a plan without times; ``None`` for any other plan."""
        resolved = self.checker.read(plan)
        if resolved.text.diagnostics or resolved.timed is not None or resolved.is_open:
            return None
        steps = [step for step in resolved.steps if not isinstance(step, IllFormed)]
        return tuple(steps) if len(steps) == len(resolved.steps) else None

    def find(self, prefix: StepPath = (), shortest: bool = False, limit_s: float = 10.0) -> StepPath | None:
        """Find a safe plan to the goal with a prefix, by forward search."""
        seconds = min(limit_s, self.deadline - monotonic())
        if seconds <= MIN_SEARCH_S:
            return None
        search = self._detour_search if prefix else self._start_search
        result = search.solve(PlanningQuery(self.checker, prefix, shortest=shortest, time_limit_s=seconds))
        return (*prefix, *result.steps) if result.status is PlanningStatus.SOLVED else None

    def find_with_planners(self, limit_s: float) -> StepPath | None:
        """Find a safe plan to the goal by the installed planners."""
        from plansafe.verifier.planning.planner_chain import make_default_planners  # noqa: PLC0415 - starts processes

        seconds = min(limit_s, self.deadline - monotonic())
        if seconds <= MIN_PLANNER_S:
            return None
        result = make_default_planners().solve(PlanningQuery(self.checker, time_limit_s=seconds))
        return tuple(result.steps) if result.status is PlanningStatus.SOLVED else None

    def shorten(self, path: StepPath, is_acceptable: Callable[[StepPath], bool]) -> StepPath:
        """Remove steps from a path, up to three at a time, while ``is_acceptable`` is true. Quadratic in its length."""
        place = 0
        while place < len(path) and monotonic() < self.deadline:
            for size in (1, 2, 3):
                shorter = path[:place] + path[place + size :]
                if len(shorter) < len(path) and is_acceptable(shorter):
                    path = shorter
                    break
            else:
                place += 1
        return path
