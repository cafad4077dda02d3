"""Compare causes and questions of random tasks with the replay of every world by the kernel."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from worlds_brute import enumerate_verdict, is_cause, is_question
from worlds_case import WorldsCase
from worlds_compare import create_checker

from plansafe.grammar.source import Source
from plansafe.verifier.model.nodes import Number, Task
from plansafe.verifier.symbolic.circuits.circuit import Circuit
from plansafe.verifier.symbolic.invariants.groups import find_restrictions
from plansafe.verifier.symbolic.worlds.completions import (
    CompletionSearch,
    OpenVariable,
)
from plansafe.verifier.symbolic.worlds.encode import encode_plan
from plansafe.verifier.symbolic.worlds.explanation import find_minimal_cause
from plansafe.verifier.symbolic.worlds.question import find_question

Fact = tuple[str, ...]


class TaskComparison(NamedTuple):
    """The differences, and the kind of case; ``kind`` is empty if nothing could be compared."""

    problems: list[str]
    kind: str = ""


def compare_cause_and_question(case: WorldsCase, engine: str = "auto") -> TaskComparison:
    """Compare one untimed, totally ordered case with finitely many worlds. Raises what the kernel raises."""
    verdict = enumerate_verdict(case)
    checker = create_checker(case, engine)
    if not checker.ok or not verdict.complete or not verdict.completions:
        return TaskComparison([])
    task = checker.engine.task
    groups = find_restrictions(task, checker.compiled.openings, checker.compiled.invariants, False).groups
    encoding = encode_plan(checker.compiled, checker.read(Source("plan", case.plan)), groups)
    if encoding.limits:
        return TaskComparison([])
    completions = CompletionSearch(encoding.circuit, encoding.allowed, encoding.encode_good_worlds(), engine)
    cause = find_minimal_cause(completions)
    question = find_question(completions)
    completions.close()
    problems = []
    good = [completion.good for completion in verdict.completions]
    if all(good):
        if (cause.note, question.note) != ("no completion is bad", "no completion is bad"):
            problems.append(f"all good, but {cause} and {question}")
        return TaskComparison(problems, "all good")
    if cause.values is None or not is_cause(
        case,
        {
            to_kernel_fact(task, encoding.circuit, variable): to_kernel_value(value)
            for variable, value in cause.values.items()
        },
    ):
        problems.append(f"no cause: {cause}")
    if not any(good):
        some_good = any([completion.some_good for completion in verdict.completions])
        if ("outcomes alone decide" in question.note) is not some_good:
            problems.append(f"some world of some bad completion is {'' if some_good else 'not '}SAFE: {question}")
        return TaskComparison(
            problems if question.variables is None else [*problems, f"all bad, but {question}"], "all bad"
        )
    if question.variables is None or not is_question(
        case, frozenset([to_kernel_fact(task, encoding.circuit, variable) for variable in question.variables])
    ):
        problems.append(f"no question: {question}")
    return TaskComparison(problems, "some bad")


def to_kernel_value(value: bool | Number) -> bool | Fraction:
    return value if isinstance(value, bool) else Fraction(value)


def to_kernel_fact(task: Task, circuit: Circuit, variable: OpenVariable) -> Fact:
    """An open fact or number as the kernel names it."""
    if isinstance(variable, tuple):
        return split_name(task.fluent_text(*variable))
    return split_name(task.fact_text(*circuit.keys[variable]))


def split_name(text: str) -> Fact:
    """``(wet cup)`` as ``("wet", "cup")``."""
    return tuple(text.strip("()").split())
