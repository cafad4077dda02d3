"""What traces of one problem do with the rules: breadth-first search with all rules watched, and planners for the rest.

A state with what the rules remember, and which of them are broken, decides all that can follow; so a search that ends
has seen every outcome there is.
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
    """What a trace does, if it ends here: the rules that it breaks, those it does not keep, and whether the goal holds.

    The second contain the first.
    """

    violated: frozenset[int]
    not_satisfied: frozenset[int]
    goal: bool


class Exploration(NamedTuple):
    """The outcomes met. ``complete``: there are no others. ``states``: how many were visited."""

    outcomes: dict[Outcome, int]
    complete: bool
    states: int


def explore(
    engine: Engine, enough: Callable[[Iterable[Outcome]], bool], deadline: float, max_nodes: int = MAX_NODES
) -> Exploration:
    """Visit the states of a problem, nearest first, until ``enough`` says so of the outcomes, or a limit is reached.

    An outcome is mapped to the least number of steps that leads to it. ``engine`` must be of a task without durative
    actions, timed literals and open facts.
    """
    outcomes: dict[Outcome, int] = {}
    start = Execution.initial(engine)
    complete = not engine.resolver.lenient
    queue = deque([start])
    seen = {_mark(start)}
    try:
        while queue:
            execution = queue.popleft()
            outcome = outcome_of(execution)
            if outcome not in outcomes:
                outcomes[outcome] = execution.letter
                if enough(outcomes):
                    return Exploration(outcomes, complete and not queue, len(seen))
            for step in list(execution.legal()):
                if monotonic() > deadline or len(seen) > max_nodes:
                    return Exploration(outcomes, False, len(seen))
                try:
                    after = execution.after(step)
                except NumberTooLarge:
                    complete = False
                    continue
                if after is None:
                    continue
                mark = _mark(after)
                if mark not in seen:
                    seen.add(mark)
                    queue.append(after)
    except TooManyInstances:
        return Exploration(outcomes, False, len(seen))
    return Exploration(outcomes, complete, len(seen))


def _mark(execution: Execution) -> object:
    runtime = execution.runtime
    if runtime is None:
        return execution.state_key()
    return execution.key(), frozenset([v.part for v in runtime.violations()]), frozenset(runtime.undecided())


def outcome_of(execution: Execution) -> Outcome:
    """What the trace up to here does if it ends here."""
    goal = execution.engine.goal(execution.state) is True
    end = execution.finished_runtime()
    if end is None:
        return Outcome(frozenset(), frozenset(), goal)
    plan = execution.engine.rule_set
    broken = frozenset([plan.parts[v.part].rule for v in end.violations()])
    undecided = frozenset([plan.parts[part].rule for part, _ in end.undecided()])
    return Outcome(broken, broken | undecided, goal)


# ---- planners -------------------------------------------------------------------------------------------------------


def find_satisfying_plan(checker: Checker, numbers: frozenset[int], reach_goal: bool, seconds: float) -> PlanningResult:
    """Whether some plan keeps these rules (all of them), and with ``goal`` reaches the goal.

    ``checker`` must be ``ok``, and leave nothing open.
    """
    rules = [
        rule if n in numbers else rule._replace(parts=(), step_patterns=()) for n, rule in enumerate(checker.rules)
    ]
    return _solved(checker, rules, checker.engine.task.goal if reach_goal else (), seconds)


def find_violating_plan(
    checker: Checker,
    part: RulePart,
    objects: tuple[int, ...],
    seconds: float,
    satisfied: frozenset[int] = frozenset(),
) -> PlanningResult:
    """Whether some plan breaks an instance of a part, that is, keeps the opposite; it keeps the rules ``satisfied``."""
    rules = [
        rule if n in satisfied else rule._replace(parts=(), step_patterns=()) for n, rule in enumerate(checker.rules)
    ]
    opposite = RulePart(len(rules), (), "whole", _opposite(part, bind(part.parameters, objects)))
    like = checker.rules[part.rule]
    rules.append(Rule(like.name, "trajectory", (opposite,), (), (), like.at, like.source))
    return _solved(checker, rules, (), seconds)


def _solved(checker: Checker, rules: list[Rule], goal: tuple[Formula, ...], seconds: float) -> PlanningResult:
    """What planners say of the task with other rules, and another goal."""
    from plansafe.verifier.planning.planner_chain import default_planners  # noqa: PLC0415 - searches for installed planners

    task = checker.engine.task._replace(goal=goal)
    compiled = checker.compiled.variant(task, rules)
    own = Checker.from_compiled(compiled._replace(options=checker.options._replace(replay="never")))
    if own.engine.limit is not None:
        return PlanningResult(PlanningStatus.NOT_FOUND, detail=own.engine.limit.message)
    found = default_planners().solve(PlanningQuery(own, rules=bool(rules), time_limit_s=seconds))
    if found.status is PlanningStatus.UNSOLVABLE and checker.options.lenient_types:
        # Steps may be taken with objects that planners do not try.
        return found._replace(status=PlanningStatus.NOT_FOUND)
    return found


def _opposite(part: RulePart, objects: dict[int, int]) -> Formula:
    """What a trace is like that breaks an instance of a part."""
    wrong: Formula = Not(part.body)
    match part.mode:
        case "whole":
            found = wrong
        case "end":
            found = Temporal("at-end", (wrong,))
        case _:
            after = part.after and part.step is not None
            found = Temporal("sometime", (violation_condition(part, Temporal("next", (wrong,)) if after else wrong),))
    return substitute(found, objects)


def violation_condition(part: RulePart, wrong: Formula) -> Formula:
    """A letter that a part is about, and where something is ``wrong``."""
    return And((*[condition for condition in (part.step, part.guard) if condition is not None], wrong))
