"""Compare a random hybrid case: the kernel's trace with direct evaluation, and its verdict with the engine's."""

from __future__ import annotations

from typing import NamedTuple

from hybrid_random import HybridCase
from kernel_trace import record_letters
from pointwise import SampledTrace, TooShort, check_dynamics, violated_rules

from plansafe.verifier.kernel.reader import KernelLimit, KernelRejects


class Comparison(NamedTuple):
    """The differences, the outcome of the case (the headline, or why it has none), and the sampled intervals."""

    differences: tuple[str, ...]
    outcome: str
    intervals: int = 0


def compare_case(case: HybridCase, samples: int) -> Comparison:
    """Compare a case."""
    try:
        kernel, letters = record_letters(case)
        verdict = kernel.audit(case.plan())
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
    intervals = sum(letter.end is not None for letter in letters)
    return Comparison(tuple(differences), verdict.headline, intervals)


def shrink(case: HybridCase, samples: int) -> HybridCase:
    """Return a case with a difference from which nothing can be left out."""
    smaller = next((c for c in case.reductions() if _differs(c, samples)), None)
    while smaller is not None:
        case = smaller
        smaller = next((c for c in case.reductions() if _differs(c, samples)), None)
    return case


def _differs(case: HybridCase, samples: int) -> bool:
    try:
        comparison = compare_case(case, samples)
    except (KeyError, ZeroDivisionError, IndexError):
        return False
    return bool(comparison.differences) and comparison.outcome != "rejected"
