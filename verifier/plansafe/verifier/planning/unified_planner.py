"""Planners of unified-planning, by name; the default is Fast Downward (PyPI: up-fast-downward)."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from plansafe.verifier.extras import how_to_install
from plansafe.verifier.planning.external_planner import (
    CompilationCache,
    PrintedQuery,
    confirm_plan,
    make_unsolvable_result,
)
from plansafe.verifier.planning.planner import PlanningQuery, PlanningResult, PlanningStatus

FAST_DOWNWARD = "fast-downward"
_PACKAGES = {FAST_DOWNWARD: "up_fast_downward", "fast-downward-opt": "up_fast_downward"}
_UNSUPPORTED_BY_LMCUT = frozenset(
    (
        "CONDITIONAL_EFFECTS",
        "FORALL_EFFECTS",
        "DISJUNCTIVE_CONDITIONS",
        "EXISTENTIAL_CONDITIONS",
        "UNIVERSAL_CONDITIONS",
    )
)
"""Features that LM-cut does not support, some because they become axioms."""
_MAX_LOG_LENGTH = 500
"""Characters of an engine's log that an error message quotes."""


class _Configuration(NamedTuple):
    """An engine with its parameters, and whether its plans are shortest."""

    engine: str
    parameters: dict[str, str]
    is_optimal: bool


class UnifiedPlanner:
    """Plans with an engine of unified-planning.

    Unified-planning's parser does not support derived predicates. Fast Downward searches for a shortest plan by A*,
    with LM-cut if it supports the task, or else blindly.
    """

    def __init__(self, engine: str = FAST_DOWNWARD) -> None:
        self.engine = engine
        self.name = engine
        self._compilations = CompilationCache()

    def available(self) -> bool:
        """Whether unified-planning and the engine are installed."""
        if find_spec("unified_planning") is None:
            return False
        if self.engine in _PACKAGES:
            return find_spec(_PACKAGES[self.engine]) is not None
        with _enter_environment() as environment:
            return self.engine in environment.factory.engines

    def solve(self, query: PlanningQuery) -> PlanningResult:
        """Answer a query; see :class:`plansafe.verifier.planning.planner.Planner`.

        Raises ``RuntimeError`` if the engine is missing or fails, ``Disagreement`` if its plan does not replay, and
        ``ValueError`` for a checker that is not ``ok``.
        """
        if not self.available():
            raise RuntimeError(f"{self.engine} is not installed: {how_to_install('plan')}")
        printed_query = self._compilations.print_query(query)
        if isinstance(printed_query, PlanningResult):
            return printed_query._replace(planner=self.name)
        if printed_query.has_derived_predicates:
            return PlanningResult(PlanningStatus.UNSUPPORTED, detail="derived predicates", planner=self.name)
        with warnings.catch_warnings(), _enter_environment() as environment:
            warnings.simplefilter("ignore")
            return self._run_engine(query, printed_query, environment)

    def _run_engine(self, query: PlanningQuery, printed_query: PrintedQuery, environment: Any) -> PlanningResult:
        """Run the engine on a printed query, and confirm its plan."""
        from unified_planning.engines import PlanGenerationResultStatus as Status  # noqa: PLC0415 - heavy
        from unified_planning.io import PDDLReader  # noqa: PLC0415

        problem = PDDLReader(environment).parse_problem_string(printed_query.task.domain, printed_query.task.problem)
        _remove_idle_actions(problem)
        engine, parameters, is_optimal = self._choose_configuration(problem.kind, query)
        unsupported_text = f"{self.engine} does not support this task"
        if not environment.factory.engine(engine).supports(problem.kind):
            return PlanningResult(PlanningStatus.UNSUPPORTED, detail=unsupported_text, planner=self.name)
        with environment.factory.OneshotPlanner(name=engine, params=parameters) as planner:
            if self.engine in _PACKAGES:
                planner._get_cmd = _use_plan_folder(planner._get_cmd)  # noqa: SLF001 - the adapter has no option for it
            result = planner.solve(problem, timeout=query.time_limit_s)
        if result.plan is not None:
            plan = [
                (step.action.name, *[str(parameter.object().name) for parameter in step.actual_parameters])
                for step in result.plan.actions
            ]
            is_proved = query.shortest and (is_optimal or result.status is Status.SOLVED_OPTIMALLY)
            return confirm_plan(query, printed_query, plan, optimal=is_proved, planner=self.name)
        if result.status is Status.UNSOLVABLE_PROVEN:
            return make_unsolvable_result(printed_query, self.name)
        failures = {
            Status.UNSOLVABLE_INCOMPLETELY: (PlanningStatus.NOT_FOUND, "no plan found"),
            Status.TIMEOUT: (PlanningStatus.NOT_FOUND, "out of time"),
            Status.MEMOUT: (PlanningStatus.NOT_FOUND, "out of memory"),
            Status.UNSUPPORTED_PROBLEM: (PlanningStatus.UNSUPPORTED, unsupported_text),
        }
        if result.status not in failures:
            messages = "\n".join([message.message for message in result.log_messages or ()])
            raise RuntimeError(f"{self.engine} failed: {messages[-_MAX_LOG_LENGTH:]}")
        status, detail = failures[result.status]
        return PlanningResult(status, detail=detail, planner=self.name)

    def _choose_configuration(self, kind: Any, query: PlanningQuery) -> _Configuration:
        """Choose the engine and its parameters for a problem of this kind."""
        if self.engine != FAST_DOWNWARD:
            return _Configuration(self.engine, {}, is_optimal=False)
        # Also a limit of its own: otherwise an abandoned search would continue.
        parameters = {"fast_downward_search_time_limit": f"{max(int(query.time_limit_s), 1)}s"}
        if not query.shortest:
            return _Configuration(FAST_DOWNWARD, parameters, is_optimal=False)
        supports_lmcut = kind.features.isdisjoint(_UNSUPPORTED_BY_LMCUT)
        parameters["fast_downward_search_config"] = "astar(lmcut())" if supports_lmcut else "astar(blind())"
        return _Configuration(FAST_DOWNWARD, parameters, is_optimal=True)


def _remove_idle_actions(problem: Any) -> None:
    """Remove the actions without effects: no plan needs them, and Fast Downward cannot parse them."""
    effective_actions = [action for action in problem.actions if action.effects]
    if len(effective_actions) < len(problem.actions) and not problem.quality_metrics:  # a cost is written as an effect
        problem.clear_actions()
        problem.add_actions(effective_actions)


def _use_plan_folder(command: Callable[[str, str, str], list[str]]) -> Callable[[str, str, str], list[str]]:
    """Return Fast Downward's command with its intermediate file next to the plan, not in the working folder.

    In the working folder, two simultaneous runs would read each other's file.
    """

    def make_command_with_folder(domain: str, problem: str, plan: str) -> list[str]:
        python, driver, *options = command(domain, problem, plan)
        return [python, driver, "--sas-file", str(Path(plan).with_name("output.sas")), *options]

    return make_command_with_folder


@contextmanager
def _enter_environment() -> Iterator[Any]:
    """Enter the global environment (unified-planning 1.3 parses ``forall`` effects only there), without credits."""
    from unified_planning.environment import get_environment  # noqa: PLC0415 - heavy

    environment = get_environment()
    original_stream = environment.credits_stream
    environment.credits_stream = None
    try:
        yield environment
    finally:
        environment.credits_stream = original_stream
