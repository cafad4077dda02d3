"""Causes and questions about random tasks, against every world replayed by the kernel."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from worlds_brute import brute, brute_cause_ok, brute_question_ok
from worlds_case import WorldsCase
from worlds_compare import checker_of

from plansafe.grammar.source import Source
from plansafe.verifier.model.nodes import Task
from plansafe.verifier.symbolic.invariants.groups import find_restrictions
from plansafe.verifier.symbolic.worlds.completions import (
    CompletionSearch,
    OpenVariables,
    PartialAssignment,
    build_decision_problem,
)
from plansafe.verifier.symbolic.worlds.encode import encode_plan
from plansafe.verifier.symbolic.worlds.explanation import find_minimal_cause
from plansafe.verifier.symbolic.worlds.question import find_question

Fact = tuple[str, ...]


class TaskCompared(NamedTuple):
    """What differs, and what the case was; ``kind`` is empty where nothing could be compared."""

    problems: list[str]
    kind: str = ""


def compared_task(case: WorldsCase, engine: str = "auto") -> TaskCompared:
    """Compare one untimed, totally ordered case with finitely many worlds. Raises what the kernel raises."""
    found = brute(case)
    checker = checker_of(case, engine)
    if not checker.ok or not found.complete or not found.completions:
        return TaskCompared([])
    task = checker.engine.task
    groups = find_restrictions(task, checker.compiled.openings, checker.compiled.invariants, False).groups
    encoding = encode_plan(checker.compiled, checker.read(Source("plan", case.plan)).steps, groups)
    if encoding.limits:
        return TaskCompared([])
    decision = build_decision_problem(encoding)
    completions = CompletionSearch(decision, engine)
    cause = find_minimal_cause(completions)
    asked = find_question(completions)
    completions.close()
    problems = []
    good = [completion.good for completion in found.completions]
    if all(good):
        if (cause.note, asked.note) != ("no completion is bad", "no completion is bad"):
            problems.append(f"all good, but {cause} and {asked}")
        return TaskCompared(problems, "all good")
    if cause.values is None or not brute_cause_ok(case, given(task, cause.values)):
        problems.append(f"no cause: {cause}")
    some_good = any([completion.some_good for completion in found.completions if not completion.good])
    if asked.safe_in_bad is not some_good:
        problems.append(f"some world of some bad completion is {'' if some_good else 'not '}SAFE: {asked}")
    if not any(good):
        return TaskCompared(problems if asked.asked is None else [*problems, f"all bad, but {asked}"], "all bad")
    if asked.asked is None or not brute_question_ok(case, frozenset(opened(task, asked.asked))):
        problems.append(f"no question: {asked}")
    return TaskCompared(problems, "some bad")


def given(task: Task, partial: PartialAssignment) -> dict[Fact, bool | Fraction]:
    """A partial assignment as the kernel names it."""
    facts = {named(task.fact_text(*fact)): value for fact, value in partial.facts}
    return {**facts, **{named(task.fluent_text(*item)): Fraction(value) for item, value in partial.numbers}}


def opened(task: Task, opens: OpenVariables) -> list[Fact]:
    """What is open as the kernel names it."""
    facts = [named(task.fact_text(*fact)) for fact in opens.facts]
    return [*facts, *[named(task.fluent_text(*item)) for item in opens.numbers]]


def named(text: str) -> Fact:
    """``(wet cup)`` as ``("wet", "cup")``."""
    return tuple(text.strip("()").split())
