"""Compare engine and kernel on one random task, and shrink the task if they differ."""

from __future__ import annotations

import re
from typing import NamedTuple

from case import Case, plan_text
from command import command_differences
from compare import Both
from generate import case
from shrink import shrink

from plansafe.verifier.rules.verdict_criteria import EVERY_VIOLATION, VerdictCriteria


class Examined(NamedTuple):
    """One task: the number of compared traces and cases, and the differences."""

    stream: str
    number: int
    traces: int
    cases: int
    problems: list[str]


class Work(NamedTuple):
    """Which task to examine, and how."""

    stream: str
    seed: int
    number: int
    command: bool
    criteria: VerdictCriteria = EVERY_VIOLATION


def examine(work: Work) -> Examined:
    """Generate a task and compare engine (or command) and kernel on it; a crash of either is a difference."""
    candidate = case(work.stream, work.seed, work.number)
    problems = problems_of(candidate, work.command, work.criteria)
    count = len(candidate.rules) + len(candidate.constraints) + len(candidate.laws)
    return Examined(work.stream, work.number, len(candidate.plans), count * len(candidate.plans), problems)


def problems_of(candidate: Case, command: bool = False, criteria: VerdictCriteria = EVERY_VIOLATION) -> list[str]:
    """All differences that a task shows."""
    try:
        if command:
            return command_differences(candidate)
        both = Both(candidate, criteria)
        if both.problem:
            return [both.problem]
        return [line for plan in candidate.plans for line in both.differences(plan)]
    except Exception as error:
        return [f"crash: {type(error).__name__} {error}"]


def signature(problem: str) -> str:
    """The kind of a problem, without names and numbers; it stays the same while a task shrinks."""
    if problem.startswith("findings"):
        return "findings " + re.sub(r"step \d+\??|\d+", "", problem.partition("}: ")[2])[:120]
    if problem.startswith(("crash", "rejected")):
        return problem[:90]
    return problem.split(":")[0]


def smallest(candidate: Case, problem: str, criteria: VerdictCriteria = EVERY_VIOLATION) -> str:
    """The smallest task found with a problem of the same kind, as Markdown."""
    target = signature(problem)

    def find_same_problems(task: Case) -> list[str]:
        return [text for text in problems_of(task, criteria=criteria) if signature(text) == target]

    small = shrink(candidate, lambda task: bool(find_same_problems(task)))
    description = next(iter(find_same_problems(small)), problem)
    plans = "\n".join(f"; plan\n{plan_text(plan)}" for plan in small.plans)
    texts = f"{small.domain_text()}{small.problem_text()}{small.safety_text()}{plans}"
    return f"\n### {small.name}: {description[:400]}\n```lisp\n{texts}```\n"
