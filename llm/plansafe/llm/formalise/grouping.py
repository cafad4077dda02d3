"""Which rules mean the same: told apart by executions of the problem, or proved equal on all of its traces."""

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
    """Rules, by number, that nothing tells apart; ``proved``: of all traces of the problem. ``how``: what was done."""

    rules: tuple[int, ...]
    proved: bool
    how: str


class Grouped(NamedTuple):
    """The groups in the order of their first rules, and what executions were looked at, in words."""

    groups: tuple[Alike, ...]
    looked_at: str


def grouped(checker: Checker, limits: Limits) -> Grouped:
    """Group all rules of ``checker`` by what they say of the problem's executions.

    First all sequences of letters are read, which proves rules equal; then random executions, and plans that planners
    find where one rule is kept and the other broken, tell rules apart. A group is *proved* if each of its rules is
    equal to the first by such a proof, or since planners searched everything.
    """
    count = len(checker.rules)
    reader = Reader(checker.engine)
    same: dict[int, int] = {}
    for number in range(count):
        for other in [n for n in range(number) if n not in same]:
            if reader.compare(checker.rules[other].parts, checker.rules[number].parts).equal:
                same[number] = other
                break
    heads = [number for number in range(count) if number not in same]
    if len(heads) == 1:
        return Grouped((_alike(tuple(range(count)), True, ""),), "all sequences of states and actions of the problem")
    traces = Traces(checker.engine, count)
    traces.walk(limits.walks, limits.steps, limits.seed)
    proved = _told_apart(checker, traces, heads, limits)
    looked_at = f"{traces.count} executions of at most {limits.steps} random steps, or that planners found"
    found = []
    for own in traces.alike(heads):
        members = sorted([*own, *[number for number, head in same.items() if head in own]])
        sure = all([(own[0], number) in proved for number in own[1:]])
        found.append(_alike(tuple(members), sure, looked_at))
    return Grouped(tuple(sorted(found, key=lambda one: one.rules[0])), looked_at)


def _alike(rules: tuple[int, ...], sure: bool, looked_at: str) -> Alike:
    if len(rules) == 1:
        return Alike(rules, True, "all of one text")
    how = "PROVED equal on all traces of the problem" if sure else f"not told apart by {looked_at}"
    return Alike(rules, sure, how)


def _told_apart(checker: Checker, traces: Traces, heads: Sequence[int], limits: Limits) -> set[tuple[int, int]]:
    """Let planners look for plans that tell rules apart which are still alike; the pairs that they prove equal."""
    proved: set[tuple[int, int]] = set()
    asked: set[tuple[int, int]] = set()
    while True:
        pairs = [(own[0], n) for own in traces.alike(heads) for n in own[1:] if (own[0], n) not in asked]
        if not pairs:
            return proved
        first, second = pairs[0]
        asked.add((first, second))
        sure = True
        for kept, broken in ((first, second), (second, first)):
            search = LintProblem(checker, limits.planner_s)
            found = search.find_violating_plan(broken, frozenset([kept]))
            if found.status is PlanningStatus.SOLVED:
                traces.replay(found.steps)
            sure &= found.status is PlanningStatus.UNSOLVABLE
        if sure:
            proved.add((first, second))
