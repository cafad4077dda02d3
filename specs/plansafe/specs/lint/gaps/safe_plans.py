"""Plans tried: replayed under the rules given and those that are only watched, and completed to the goal."""

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
"""States that a search for a plan visits: from S0, and from a detour."""
SAFE_HEADLINES = (Headline.SAFE, Headline.VALID)
StepPath = tuple[GroundAction, ...]


def with_actions_of(path: Sequence[GroundAction], engine: Engine) -> StepPath:
    """A path in the actions of another compilation of the same task."""
    actions = engine.task.actions
    return tuple([step._replace(action=actions[step.action.name]) for step in path])


def violated_at_end(execution: Execution, given: int) -> set[int] | None:
    """The rules from number ``given`` on that an execution breaks that ends here (what was so from the start left out).

    ``None`` if it is no plan to the goal that keeps the rules before.
    """
    if execution.engine.goal(execution.state) is not True:
        return None
    end = execution.finished_runtime()
    if end is None:
        return set()
    rules, parts = execution.engine.rules, execution.engine.rule_set.parts
    found = {parts[v.part].rule for v in end.violations() if v.blame != "pre-existing"}
    hard = {rule for rule in found if not rules[rule].preference}
    return None if end.undecided() or any([rule < given for rule in hard]) else hard


def violated_by(path: Sequence[GroundAction], engine: Engine, given: int) -> set[int] | None:
    """The rules that a plan breaks, as :func:`violated_at_end` says; ``None`` also if it cannot be executed."""
    execution = Execution.initial(engine)
    try:
        if all(execution.take(step) for step in with_actions_of(path, engine)):
            return violated_at_end(execution, given)
    except (NumberTooLarge, TooManyInstances):
        pass
    return None


class SafePlans:
    """Safe plans to the goal: those of the user, those of planners, and paths completed."""

    def __init__(self, checker: Checker, deadline: float) -> None:
        self.checker = checker
        self.engine = checker.engine
        self.deadline = deadline
        self._far = ForwardSearch(MAX_STATES_FROM_START)
        self._near = ForwardSearch(MAX_STATES_FROM_DETOUR)

    def text(self, path: Sequence[GroundAction]) -> str:
        """A path as a plan, one step in a line."""
        objects = self.engine.task.objects
        return "".join([step_text(step, objects) + "\n" for step in path])

    def steps(self, path: Sequence[GroundAction]) -> tuple[str, ...]:
        """The steps of a path as text."""
        return tuple([step_text(step, self.engine.task.objects) for step in path])

    def safe(self, path: Sequence[GroundAction]) -> bool:
        """Whether a path is a safe plan to the goal."""
        return self.checker.check(Source("<gap>", self.text(path))).headline in SAFE_HEADLINES

    def parsed(self, plan: Source) -> StepPath | None:
        """The steps of a plan without times; ``None`` for anything else."""
        read = self.checker.read(plan)
        if read.text.diagnostics or read.timed is not None or read.is_open:
            return None
        steps = [step for step in read.steps if not isinstance(step, IllFormed)]
        return tuple(steps) if len(steps) == len(read.steps) else None

    def planned(self, prefix: StepPath = (), shortest: bool = False, limit_s: float = 10.0) -> StepPath | None:
        """A safe plan to the goal with a prefix, by our own search."""
        left = min(limit_s, self.deadline - monotonic())
        if left <= 0.01:
            return None
        search = self._near if prefix else self._far
        found = search.solve(PlanningQuery(self.checker, prefix, shortest=shortest, time_limit_s=left))
        return (*prefix, *found.steps) if found.status is PlanningStatus.SOLVED else None

    def by_others(self, limit_s: float) -> StepPath | None:
        """A safe plan to the goal by the planners that are installed."""
        from plansafe.verifier.planning.planner_chain import default_planners  # noqa: PLC0415 - starts processes

        left = min(limit_s, self.deadline - monotonic())
        if left <= 0.1:
            return None
        found = default_planners().solve(PlanningQuery(self.checker, time_limit_s=left))
        return tuple(found.steps) if found.status is PlanningStatus.SOLVED else None

    def shorter(self, path: StepPath, keep: Callable[[StepPath], bool]) -> StepPath:
        """A path with steps left out, one or two at a time, as long as ``keep`` says yes. Quadratic in its length."""
        place = 0
        while place < len(path) and monotonic() < self.deadline:
            for size in (1, 2, 3):
                shorter = path[:place] + path[place + size :]
                if len(shorter) < len(path) and keep(shorter):
                    path = shorter
                    break
            else:
                place += 1
        return path
