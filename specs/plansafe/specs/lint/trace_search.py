"""The outcomes of the traces of one problem for its rules, by breadth-first search and by planners.

A state, the memory of the rules, and the violated rules decide all that can follow. So a search that ends has found
every possible outcome.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from time import monotonic
from typing import NamedTuple

from plansafe.verifier.api import Checker
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.execution import Execution
from plansafe.verifier.execution.monitors.finding import TooManyInstances
from plansafe.verifier.execution.state import NumberTooLarge
from plansafe.verifier.model.nodes import And, Formula, Not, Temporal, bind
from plansafe.verifier.model.operations import substitute
from plansafe.verifier.planning.planner import PlanningQuery, PlanningResult, PlanningStatus
from plansafe.verifier.rules.model import Rule, RulePart

MAX_NODES = 1_500


class Outcome(NamedTuple):
    """The rules that a trace violates if it ends here, the rules that it does not satisfy, and whether the goal holds.

    A violated rule is also not satisfied.
    """

    violated: frozenset[int]
    not_satisfied: frozenset[int]
    goal: bool


class Exploration(NamedTuple):
    """The outcomes found. ``complete``: there are no others. ``states``: the number of visited states."""

    outcomes: dict[Outcome, int]
    complete: bool
    states: int


def explore(
    engine: Engine, is_enough: Callable[[Iterable[Outcome]], bool], deadline: float, max_nodes: int = MAX_NODES
) -> Exploration:
    """Visit the states of a problem, nearest first, until the outcomes are enough, or a limit is reached.

    An outcome is mapped to the least number of steps that leads to it. The task of ``engine`` must have no durative
    actions, timed literals and open facts.
    """
    outcomes: dict[Outcome, int] = {}
    start = Execution.initial(engine)
    complete = not engine.resolver.lenient
    queue = deque([start])
    visited = {_make_node_key(start)}
    try:
        while queue:
            execution = queue.popleft()
            outcome = compute_outcome(execution)
            if outcome not in outcomes:
                outcomes[outcome] = execution.letter
                if is_enough(outcomes):
                    return Exploration(outcomes, complete and not queue, len(visited))
            for step in list(execution.legal()):
                if monotonic() > deadline or len(visited) > max_nodes:
                    return Exploration(outcomes, False, len(visited))
                try:
                    successor = execution.after(step)
                except NumberTooLarge:
                    complete = False
                    continue
                if successor is None:
                    continue
                key = _make_node_key(successor)
                if key not in visited:
                    visited.add(key)
                    queue.append(successor)
    except TooManyInstances:
        return Exploration(outcomes, False, len(visited))
    return Exploration(outcomes, complete, len(visited))


def _make_node_key(execution: Execution) -> object:
    runtime = execution.runtime
    if runtime is None:
        return execution.state_key()
    return (
        execution.key(),
        frozenset([v.part for v in runtime.collect_violations()]),
        frozenset(runtime.collect_undecided()),
    )


def compute_outcome(execution: Execution) -> Outcome:
    """The outcome of the trace if it ends here."""
    goal = execution.engine.evaluate_goal(execution.state) is True
    end = execution.finish_runtime()
    if end is None:
        return Outcome(frozenset(), frozenset(), goal)
    rule_set = execution.engine.rule_set
    violated = frozenset([rule_set.parts[v.part].rule for v in end.collect_violations()])
    undecided = frozenset([rule_set.parts[part].rule for part, _ in end.collect_undecided()])
    return Outcome(violated, violated | undecided, goal)


# ---- planners -------------------------------------------------------------------------------------------------------


def find_satisfying_plan(checker: Checker, numbers: frozenset[int], reach_goal: bool, seconds: float) -> PlanningResult:
    """Search for a plan that satisfies all of these rules, and with ``reach_goal`` reaches the goal.

    ``checker`` must be ``ok``, and its task must have no unknown facts.
    """
    return _solve(checker, _keep_parts_of(checker, numbers), checker.engine.task.goal if reach_goal else (), seconds)


def find_violating_plan(
    checker: Checker,
    part: RulePart,
    objects: tuple[int, ...],
    seconds: float,
    satisfied: frozenset[int] = frozenset(),
) -> PlanningResult:
    """Search for a plan that violates an instance of a part, and satisfies the rules ``satisfied``."""
    rules = _keep_parts_of(checker, satisfied)
    violation_formula = RulePart(len(rules), (), "whole", _make_violation_formula(part, bind(part.parameters, objects)))
    rule = checker.rules[part.rule]
    rules.append(Rule(rule.name, "trajectory", (violation_formula,), (), (), rule.at, rule.source))
    return _solve(checker, rules, (), seconds)


def _keep_parts_of(checker: Checker, numbers: frozenset[int]) -> list[Rule]:
    """The rules of the checker, all but some without any parts."""
    return [rule if n in numbers else rule._replace(parts=(), step_patterns=()) for n, rule in enumerate(checker.rules)]


def _solve(checker: Checker, rules: list[Rule], goal: tuple[Formula, ...], seconds: float) -> PlanningResult:
    """The result of the planners for the task with other rules, and another goal."""
    from plansafe.verifier.planning.planner_chain import (  # noqa: PLC0415 - searches for installed planners
        make_default_planners,
    )

    task = checker.engine.task._replace(goal=goal)
    compiled = checker.compiled.make_variant(task, rules)
    variant = Checker.from_compiled(compiled._replace(options=checker.options._replace(replay="never")))
    if variant.engine.limit is not None:
        return PlanningResult(PlanningStatus.NOT_FOUND, detail=variant.engine.limit.message)
    result = make_default_planners().solve(PlanningQuery(variant, rules=bool(rules), time_limit_s=seconds))
    if result.status is PlanningStatus.UNSOLVABLE and checker.options.lenient_types:
        # Steps may be taken with objects that planners do not try.
        return result._replace(status=PlanningStatus.NOT_FOUND)
    return result


def _make_violation_formula(part: RulePart, objects: dict[int, int]) -> Formula:
    """The formula over the trace that is true exactly if an instance of a part is violated."""
    negation: Formula = Not(part.body)
    match part.mode:
        case "whole":
            violation_formula = negation
        case "end":
            violation_formula = Temporal("at-end", (negation,))
        case _:
            after = part.after and part.step is not None
            at_letter = Temporal("next", (negation,)) if after else negation
            violation_formula = Temporal("sometime", (make_violation_condition(part, at_letter),))
    return substitute(violation_formula, objects)


def make_violation_condition(part: RulePart, negation: Formula) -> Formula:
    """The step and the guard of a part, and the ``negation`` of its condition."""
    return And((*[condition for condition in (part.step, part.guard) if condition is not None], negation))
