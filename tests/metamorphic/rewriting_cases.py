"""A case is a task and a rewriting: judged before and after, and reduced where the two differ."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from random import Random
from typing import Any, NamedTuple

from metamorphic_task import Task, section, with_sections
from rewritings import REWRITINGS, Rewriting
from verdicts import Judge, differences

MOST_REDUCTIONS = 600


class Outcome(NamedTuple):
    """What a case showed. ``applied`` is false where the rewriting changes nothing."""

    applied: bool
    problems: tuple[str, ...] = ()


def find_rewriting(name: str) -> Rewriting:
    """The rewriting of this name."""
    return next(rewriting for rewriting in REWRITINGS if rewriting.name == name)


def examine(task: Task, rewriting: Rewriting, seed: int, most_cost: int = 0, judge: Judge | None = None) -> Outcome:
    """Compare a task with its rewriting, and the cost of repairs up to ``most_cost``. A crash is a difference."""
    rewritten = rewriting.apply(task, Random(f"{rewriting.name} {seed} {task.name}"))
    if rewritten is None:
        return Outcome(False)
    judge = judge or Judge(task)
    if judge.problem:
        return Outcome(True, (f"the original is rejected: {judge.problem}",))
    try:
        rewritten_judge = Judge(rewritten.task)
        if rewritten_judge.problem:
            return Outcome(True, (f"rejected: {rewritten_judge.problem}",))
        names = rewritten.names
        occurring = frozenset(names.rules.get(name, name) for name in rewritten_judge.facts.occurring)
        cautious = frozenset(names.rules.get(name, name) for name in rewritten_judge.facts.cautious)
        facts = judge.facts._replace(cautious=judge.facts.cautious | cautious)
        out = []
        for number, (ours, theirs) in enumerate(zip(judge.reports, rewritten_judge.reports, strict=True)):
            lines = differences(ours, theirs, names, rewriting.invariants, facts, occurring)
            out += [f"plan {number}: {line}" for line in lines]
        if most_cost and not out and not rewritten.task.is_timed():  # plans with times are not repaired
            costs = judge.repair_costs(most_cost), rewritten_judge.repair_costs(most_cost)
            if costs[0] != costs[1]:
                out.append(f"repairs: {costs[0]}, rewritten {costs[1]}")
    except Exception as error:
        return Outcome(True, (f"crash: {type(error).__name__} {error}",))
    return Outcome(True, tuple(out))


def signature(problem: str) -> str:
    """The sort of a problem, without what differs between tasks."""
    text = problem.split(": ", 1)[1] if problem.startswith("plan ") else problem
    if text.startswith("finding"):
        return text[:12]
    return text[:40] if text.startswith(("crash", "rejected")) else text.split(":")[0]


def reduced(task: Task, shows: Callable[[Task], bool]) -> Task:
    """A smaller task for which ``shows`` is true."""
    left = MOST_REDUCTIONS
    changed = True
    while changed and left > 0:
        changed = False
        for smaller in reductions(task):
            left -= 1
            if left <= 0:
                break
            if shows(smaller):
                task, changed = smaller, True
                break
    return task


def reductions(task: Task) -> Iterator[Task]:
    """The task with a plan, rule, section, step, fact or part of a formula left out; large cuts first."""
    for number in range(len(task.plans)) if len(task.plans) > 1 else ():
        yield task._replace(plans=(task.plans[number],))
    rules = list(task.rules())
    for size in (len(rules) // 2, len(rules) // 4, 1):
        for first in range(0, len(rules), size) if size else ():
            yield task.with_rules([*rules[:first], *rules[first + size :]])
    for field in ("domain", "problem"):
        tree = getattr(task, field)
        for number, part in enumerate(tree[2:], 2):
            if part[0] not in (":domain", ":goal"):
                yield _with(task, field, (*tree[:number], *tree[number + 1 :]))
    if section(task.problem, ":goal") != (("and",),):
        goal = [(":goal", ("and",)) if part[0] == ":goal" else part for part in task.problem[2:]]
        yield _with(task, "problem", with_sections(task.problem, goal))
    for number, plan in enumerate(task.plans):
        for smaller in _without_one(plan):
            yield task._replace(plans=(*task.plans[:number], smaller, *task.plans[number + 1 :]))
    for number, rule in enumerate(rules):
        for smaller in _smaller(rule[2:]):
            yield task.with_rules([*rules[:number], (*rule[:2], *smaller), *rules[number + 1 :]])
    for field in ("problem", "domain"):
        tree = getattr(task, field)
        for number, part in enumerate(tree[2:], 2):
            for smaller in _smaller(part[1:]):
                yield _with(task, field, (*tree[:number], (part[0], *smaller), *tree[number + 1 :]))


def _with(task: Task, field: str, value: Any) -> Task:
    changes: dict[str, Any] = {field: value}
    return task._replace(**changes)


def _without_one(plan: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    timed = any(isinstance(entry, str) for entry in plan)
    starts = [n for n, entry in enumerate(plan) if not timed or (isinstance(entry, str) and entry.endswith(":"))]
    for start, end in pairwise([*starts, len(plan)]):
        yield (*plan[:start], *plan[end:])


def _smaller(tree: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """The tree with one part replaced by one of its own parts, or left out."""
    for number, part in enumerate(tree):
        if isinstance(part, tuple):
            for inner in part:
                if isinstance(inner, tuple):
                    yield (*tree[:number], inner, *tree[number + 1 :])
    for number in range(len(tree)):
        yield (*tree[:number], *tree[number + 1 :])
        if str(tree[number]).startswith(":"):
            yield (*tree[:number], *tree[number + 2 :])
    for number, part in enumerate(tree):
        if isinstance(part, tuple):
            for smaller in _smaller(part):
                yield (*tree[:number], smaller, *tree[number + 1 :])


def reproduction(task: Task, rewriting: Rewriting, seed: int, problem: str, most_cost: int = 0) -> str:
    """The smallest task found that shows a problem of this sort, and its rewriting, as Markdown."""
    sort = signature(problem)

    def shows(smaller: Task) -> bool:
        try:
            if Judge(smaller).problem:
                return False
            lines = examine(smaller, rewriting, seed, most_cost).problems
        except Exception:
            return False
        return any(signature(line) == sort for line in lines)

    small = reduced(task, shows)
    rewritten = rewriting.apply(small, Random(f"{rewriting.name} {seed} {small.name}"))
    problems = examine(small, rewriting, seed, most_cost).problems
    texts = "".join(small.texts())
    rewritten_texts = "".join(rewritten.task.texts()) if rewritten else ""
    return (
        f"### {rewriting.name} of {task.name}\n"
        + "\n".join(problems)
        + f"\n```lisp\n{texts}```\n```lisp\n{rewritten_texts}```\n"
    )
