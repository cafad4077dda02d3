"""Group rules by meaning: distinguished by executions of the problem, or proved equal on all of its traces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from plansafe.llm.formalise.asking import Limits
from plansafe.llm.formalise.equivalence import Reader
from plansafe.llm.formalise.traces import Traces
from plansafe.specs.lint.lint_problem import LintProblem
from plansafe.verifier.api import Checker
from plansafe.verifier.planning.planner import PlanningStatus


class Alike(NamedTuple):
    """Rules, by number, without a known difference; ``proved``: on all traces of the problem. ``how``: the method."""

    rules: tuple[int, ...]
    proved: bool
    how: str


class Grouped(NamedTuple):
    """The groups in the order of their first rules, and what executions were looked at, in words."""

    groups: tuple[Alike, ...]
    looked_at: str


def grouped(checker: Checker, limits: Limits) -> Grouped:
    """Group all rules of ``checker`` by their verdicts on the problem's executions.

    First all sequences of letters are read, which proves rules equal; then random executions, and plans that planners
    find where one rule is kept and the other broken, tell rules apart. A group is *proved* if each of its rules is
    equal to the first by such a proof, or since planners searched everything.
    """
    count = len(checker.rules)
    reader = Reader(checker.engine)
    same: dict[int, int] = {}
    for number in range(count):
        for earlier in [n for n in range(number) if n not in same]:
            if reader.compare(checker.rules[earlier].parts, checker.rules[number].parts).equal:
                same[number] = earlier
                break
    heads = [number for number in range(count) if number not in same]
    if len(heads) == 1:
        return Grouped((_alike(tuple(range(count)), True, ""),), "all sequences of states and actions of the problem")
    traces = Traces(checker.engine, count)
    traces.walk(limits.walks, limits.steps, limits.seed)
    proved = _split_by_plans(checker, traces, heads, limits)
    looked_at = f"{traces.count} executions of at most {limits.steps} random steps, or that planners found"
    groups = []
    for numbers in traces.alike(heads):
        members = sorted([*numbers, *[number for number, head in same.items() if head in numbers]])
        sure = all([(numbers[0], number) in proved for number in numbers[1:]])
        groups.append(_alike(tuple(members), sure, looked_at))
    return Grouped(tuple(sorted(groups, key=lambda group: group.rules[0])), looked_at)


def _alike(rules: tuple[int, ...], sure: bool, looked_at: str) -> Alike:
    if len(rules) == 1:
        return Alike(rules, True, "all of one text")
    how = "PROVED equal on all traces of the problem" if sure else f"no difference in {looked_at}"
    return Alike(rules, sure, how)


def _split_by_plans(checker: Checker, traces: Traces, heads: Sequence[int], limits: Limits) -> set[tuple[int, int]]:
    """Let planners look for plans that tell rules apart which are still alike; the pairs that they prove equal."""
    proved: set[tuple[int, int]] = set()
    tried: set[tuple[int, int]] = set()
    while True:
        pairs = [
            (numbers[0], n) for numbers in traces.alike(heads) for n in numbers[1:] if (numbers[0], n) not in tried
        ]
        if not pairs:
            return proved
        first, second = pairs[0]
        tried.add((first, second))
        sure = True
        for satisfied, broken in ((first, second), (second, first)):
            search = LintProblem(checker, limits.planner_s)
            plan = search.find_violating_plan(broken, frozenset([satisfied]))
            if plan.status is PlanningStatus.SOLVED:
                traces.replay(plan.steps)
            sure &= plan.status is PlanningStatus.UNSOLVABLE
        if sure:
            proved.add((first, second))
