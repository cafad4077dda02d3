"""Compare a random hybrid case: the kernel's trace with direct evaluation, and its verdict with the engine's."""

from __future__ import annotations

from typing import NamedTuple

from compare import OPTIONS, differences, from_judgement, from_report, only_halt
from hybrid_random import HybridCase
from hybrid_rewritings import rewrite_case
from kernel_trace import record_letters
from pointwise import SampledTrace, TooShort, check_dynamics, violated_rules

from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.readings import replay_plan
from plansafe.verifier.kernel import Kernel, KernelLimit, KernelRejects
from plansafe.verifier.reporting.report import Report

WORK_LIMIT = 300_000
"""Of the kernel on one plan, in its units: cases beyond are not compared."""
UNDECIDED = ("SC509", "SC510")
KERNEL_LIMITS = (
    "too high degree",
    "eigenvalues that are not",
    "factors that are not",
    "too many earlier moments",
    "too many terms",
    "too close",
)
"""Why the kernel gives no verdict on some cases that the engine decides."""
Judgement = tuple[str, frozenset[str]]
"""A headline (or why there is none), and the violated rules."""


class Comparison(NamedTuple):
    """The differences, the outcome of the case (the headline, or why it has none), and the sampled intervals.

    ``decided``: by the engine.
    """

    differences: tuple[str, ...]
    outcome: str
    intervals: int = 0
    decided: bool = True


def make_checker(case: HybridCase) -> Checker:
    """Return the engine's checker for a case."""
    specification = [Source("limits.safe", case.safety())] if case.rules else []
    return Checker(Source("domain.pddl", case.domain()), Source("problem.pddl", case.problem()), specification, OPTIONS)


def check_with_engine(case: HybridCase) -> Report:
    """Return the engine's report."""
    return make_checker(case).check(Source("random.plan", case.plan()))


def is_undecided(case: HybridCase) -> bool:
    """Whether the engine leaves a reading undecided; its report says so of *halt* alone."""
    outcomes = replay_plan(make_checker(case).compiled, Source("random.plan", case.plan())).outcomes
    return any(outcome.limit is not None for outcome in outcomes)


def judge_with_engine(case: HybridCase) -> Judgement:
    """Return the engine's judgement."""
    report = check_with_engine(case)
    verdict = from_report(report)
    rules = [rule for (rule, _), findings in verdict.findings.items() if any("halt" in f.readings for f in findings)]
    return verdict.headline, frozenset(rules)


def judge_with_kernel(case: HybridCase) -> Judgement:
    """Return the kernel's judgement; UNKNOWN if it gives none."""
    rules = [case.safety()] if case.rules else []
    try:
        verdict = Kernel(case.domain(), case.problem(), rules).audit(case.plan(), other_readings=())
    except KernelLimit:
        return "UNKNOWN", frozenset()
    return verdict.headline, frozenset(finding.rule for finding in verdict.findings)


def compare_engine(case: HybridCase) -> tuple[list[str], bool]:
    """Return the differences between the engine's report and the kernel's verdict; and whether the engine decides."""
    report = check_with_engine(case)
    if report.headline is None:
        return [f"the engine rejects: {[d.message for d in report.diagnostics][:3]}"], True
    ours = from_report(report)
    undecided = any(problem.code in UNDECIDED for problem in report.diagnostics)
    kernel = Kernel(case.domain(), case.problem(), [case.safety()] if case.rules else [])
    try:
        verdict = kernel.audit(case.plan(), limit=WORK_LIMIT)
    except KernelLimit as limit:
        if undecided or any(reason in str(limit) for reason in KERNEL_LIMITS) or _is_limited_elsewhere(kernel, case):
            return [], not undecided
        return [f"the engine decides {ours.headline}; the kernel does not: {limit}"], True
    theirs = from_judgement(verdict, timed=True)
    if not theirs.failed and not theirs.ill_formed:
        theirs = only_halt(theirs)
    problems = differences(ours, theirs)
    if undecided or (problems and is_undecided(case)):
        return [f"only the engine has {key}" for key in ours.findings if key not in theirs.findings], False
    return problems, True


def _is_limited_elsewhere(kernel: Kernel, case: HybridCase) -> bool:
    """Whether the reading *halt* has a verdict, and only another reading has none."""
    try:
        kernel.audit(case.plan(), other_readings=(), limit=WORK_LIMIT)
    except KernelLimit as limit:
        return "more work" in str(limit)
    return True


def compare_case(case: HybridCase, samples: int, number: int = 0) -> Comparison:
    """Compare a case. The number chooses a rewriting."""
    differing, decided = compare_engine(case)
    try:
        kernel, letters = record_letters(case)
        verdict = kernel.audit(case.plan(), other_readings=())
    except KernelLimit as limit:
        return Comparison(tuple(differing), str(limit), 0, decided)
    reported = frozenset(finding.rule for finding in verdict.findings)
    intervals = sum(letter.end is not None for letter in letters)
    try:
        trace = SampledTrace(letters, samples)
        differing += check_dynamics(case, trace, complete=not verdict.failed_steps["halt"])
        sampled = violated_rules(case, trace)
        if sampled != reported:
            differing.append(f"violated at samples: {sorted(sampled)}, reported by the kernel: {sorted(reported)}")
    except TooShort:
        intervals = 0
    name, rewritten = rewrite_case(case, number)
    judgements = {"kernel": judge_with_kernel(rewritten)}
    if decided:
        judgements["engine"] = judge_with_engine(rewritten)
    for side, actual in judgements.items():
        if actual != (verdict.headline, reported):
            differing.append(f"{name}: {verdict.headline}, {reported} becomes {side}: {actual}\n{rewritten.texts()}")
    return Comparison(tuple(differing), verdict.headline, intervals, decided)


def shrink(case: HybridCase, samples: int, number: int = 0) -> HybridCase:
    """Return a case with a difference from which nothing can be left out."""
    kinds = _difference_kinds(case, samples, number)
    smaller: HybridCase | None = case
    while smaller is not None:
        case = smaller
        smaller = next((c for c in case.reductions() if _difference_kinds(c, samples, number) & kinds), None)
    return case


def _difference_kinds(case: HybridCase, samples: int, number: int) -> set[str]:
    """Return the kinds of the differences; none if a step of the plan names no action."""
    actions = {text.split()[1] for text in case.structures}
    if any(step.split("(")[1].split(")")[0] not in actions for step in case.steps):
        return set()
    try:
        comparison = compare_case(case, samples, number)
    except (KeyError, ZeroDivisionError, IndexError, KernelRejects):
        return set()
    return {" ".join(difference.split()[:3]) for difference in comparison.differences}
