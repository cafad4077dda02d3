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
"""Maximum number of visited states, each with the memory of the rules."""


class Outcome(NamedTuple):
    """The rules that a trace violates, the rules that it does not satisfy, and whether it reaches the goal.

    A violated rule is also unsatisfied; an unsatisfied rule may be undecided.
    """

    violated_rules: frozenset[int]
    unsatisfied_rules: frozenset[int]
    reaches_goal: bool


class Exploration(NamedTuple):
    """The outcomes found, each with the least number of steps that leads to it.

    ``is_complete``: there are no other outcomes.
    """

    outcomes: dict[Outcome, int]
    is_complete: bool
    state_count: int


def explore(
    engine: Engine, is_enough: Callable[[Iterable[Outcome]], bool], deadline: float, max_nodes: int = MAX_NODES
) -> Exploration:
    """Visit the states of a problem, nearest first, until the outcomes are enough, or a limit is reached.

    The task of ``engine`` must have no durative actions, timed literals and open facts.
    """
    outcomes: dict[Outcome, int] = {}
    start = Execution.initial(engine)
    is_complete = not engine.resolver.lenient  # with lenient types, a plan may have steps that are not enumerated
    queue = deque([start])
    visited = {_make_node_key(start)}
    try:
        while queue:
            execution = queue.popleft()
            outcome = compute_outcome(execution)
            if outcome not in outcomes:
                outcomes[outcome] = execution.letter
                if is_enough(outcomes):
                    return Exploration(outcomes, is_complete and not queue, len(visited))
            for step in list(execution.legal()):
                if monotonic() > deadline or len(visited) > max_nodes:
                    return Exploration(outcomes, False, len(visited))
                try:
                    successor = execution.after(step)
                except NumberTooLarge:
                    is_complete = False
                    continue
                if successor is None:
                    continue
                key = _make_node_key(successor)
                if key not in visited:
                    visited.add(key)
                    queue.append(successor)
    except TooManyInstances:
        return Exploration(outcomes, False, len(visited))
    return Exploration(outcomes, is_complete, len(visited))


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
    """Compute the outcome of the trace if it ends here."""
    reaches_goal = execution.engine.evaluate_goal(execution.state) is True
    end = execution.finish_runtime()
    if end is None:
        return Outcome(frozenset(), frozenset(), reaches_goal)
    parts = execution.engine.rule_set.parts
    violated_rules = frozenset([parts[violation.part].rule for violation in end.collect_violations()])
    undecided_rules = frozenset([parts[part].rule for part, _ in end.collect_undecided()])
    return Outcome(violated_rules, violated_rules | undecided_rules, reaches_goal)


# ---- planners -------------------------------------------------------------------------------------------------------


def find_satisfying_plan(
    checker: Checker, numbers: frozenset[int], must_reach_goal: bool, time_limit_s: float
) -> PlanningResult:
    """Search for a plan that satisfies the rules with these numbers, and with ``must_reach_goal`` reaches the goal.

    ``checker`` must be ``ok``, and its task must have no unknown facts.
    """
    goal = checker.engine.task.goal if must_reach_goal else ()
    return _ask_planners(checker, _disable_other_rules(checker, numbers), goal, time_limit_s)


def find_violating_plan(
    checker: Checker,
    part: RulePart,
    objects: tuple[int, ...],
    time_limit_s: float,
    satisfied_rules: frozenset[int] = frozenset(),
) -> PlanningResult:
    """Search for a plan that violates an instance of a part, and satisfies the rules numbered ``satisfied_rules``."""
    rules = _disable_other_rules(checker, satisfied_rules)
    violation = RulePart(len(rules), (), "whole", _make_violation_formula(part, bind(part.parameters, objects)))
    rule = checker.rules[part.rule]
    rules.append(Rule(rule.name, "trajectory", (violation,), (), (), rule.at, rule.source))
    return _ask_planners(checker, rules, (), time_limit_s)


def _disable_other_rules(checker: Checker, numbers: frozenset[int]) -> list[Rule]:
    """Return the rules of a checker; rules with other numbers get no parts, so every plan satisfies them."""
    return [rule if n in numbers else rule._replace(parts=(), step_patterns=()) for n, rule in enumerate(checker.rules)]


def _ask_planners(
    checker: Checker, rules: list[Rule], goal: tuple[Formula, ...], time_limit_s: float
) -> PlanningResult:
    """Search for a plan of the checker's task, but with these rules and this goal."""
    from plansafe.verifier.planning.planner_chain import (  # noqa: PLC0415 - searches for installed planners
        make_default_planners,
    )

    task = checker.engine.task._replace(goal=goal)
    compiled = checker.compiled.make_variant(task, rules)
    variant = Checker.from_compiled(compiled._replace(options=checker.options._replace(replay="never")))
    if variant.engine.limit is not None:
        return PlanningResult(PlanningStatus.NOT_FOUND, detail=variant.engine.limit.message)
    result = make_default_planners().solve(PlanningQuery(variant, rules=bool(rules), time_limit_s=time_limit_s))
    if result.status is PlanningStatus.UNSOLVABLE and checker.options.lenient_types:
        # Steps may be taken with objects that planners do not try.
        return result._replace(status=PlanningStatus.NOT_FOUND)
    return result


def _make_violation_formula(part: RulePart, binding: dict[int, int]) -> Formula:
    """Make the formula about the whole trace that is true if and only if an instance of a part is violated."""
    negation: Formula = Not(part.body)
    match part.mode:
        case "whole":
            formula = negation
        case "end":
            formula = Temporal("at-end", (negation,))
        case _:
            is_after_step = part.after and part.step is not None
            negation_at_letter = Temporal("next", (negation,)) if is_after_step else negation
            formula = Temporal("sometime", (make_violation_condition(part, negation_at_letter),))
    return substitute(formula, binding)


def make_violation_condition(part: RulePart, negation: Formula) -> Formula:
    """Make the condition on a letter that a part's step happens, its guard is true, and its condition is false.

    ``negation`` is the negation of the part's condition, at the letter or at the next letter.
    """
    return And((*[condition for condition in (part.step, part.guard) if condition is not None], negation))
