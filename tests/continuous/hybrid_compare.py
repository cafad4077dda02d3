"""Compare a random hybrid case: the kernel's trace with direct evaluation, and its verdict with the engine's."""

from __future__ import annotations

from typing import NamedTuple

from hybrid_random import HybridCase
from hybrid_rewritings import rewrite_case
from kernel_trace import record_letters
from pointwise import SampledTrace, TooShort, check_dynamics, violated_rules

from plansafe.verifier.kernel import Kernel
from plansafe.verifier.kernel.reader import KernelLimit, KernelRejects


class Comparison(NamedTuple):
    """The differences, the outcome of the case (the headline, or why it has none), and the sampled intervals."""

    differences: tuple[str, ...]
    outcome: str
    intervals: int = 0


def compare_case(case: HybridCase, samples: int, number: int = 0) -> Comparison:
    """Compare a case. The number chooses a rewriting."""
    try:
        kernel, letters = record_letters(case)
        verdict = kernel.audit(case.plan(), other_readings=())
    except KernelLimit as limit:
        return Comparison((), str(limit))
    except KernelRejects as error:
        return Comparison((f"rejected: {error}",), "rejected")
    try:
        trace = SampledTrace(letters, samples)
    except TooShort:
        return Comparison((), "too short an interval")
    differences = list(check_dynamics(case, trace))
    sampled = violated_rules(case, trace)
    reported = {finding.rule for finding in verdict.findings if "halt" in finding.readings}
    if sampled != reported:
        differences.append(f"violated at samples: {sorted(sampled)}, reported by the kernel: {sorted(reported)}")
    name, rewritten = rewrite_case(case, number)
    expected, actual = (verdict.headline, reported), _judge(rewritten)
    if expected != actual:
        differences.append(f"{name}: {expected} becomes {actual}\n{rewritten.texts()}")
    intervals = sum(letter.end is not None for letter in letters)
    return Comparison(tuple(differences), verdict.headline, intervals)


def _judge(case: HybridCase) -> tuple[str, set[str]]:
    """Return the kernel's headline (or why there is none) and the violated rules."""
    try:
        verdict = Kernel(case.domain(), case.problem(), [case.safety()] if case.rules else []).audit(
            case.plan(), other_readings=()
        )
    except KernelRejects as error:
        return str(error), set()
    return verdict.headline, {finding.rule for finding in verdict.findings if "halt" in finding.readings}


def shrink(case: HybridCase, samples: int, number: int = 0) -> HybridCase:
    """Return a case with a difference from which nothing can be left out."""
    smaller = next((c for c in case.reductions() if _differs(c, samples, number)), None)
    while smaller is not None:
        case = smaller
        smaller = next((c for c in case.reductions() if _differs(c, samples, number)), None)
    return case


def _differs(case: HybridCase, samples: int, number: int) -> bool:
    try:
        comparison = compare_case(case, samples, number)
    except (KeyError, ZeroDivisionError, IndexError):
        return False
    return bool(comparison.differences) and comparison.outcome != "rejected"
