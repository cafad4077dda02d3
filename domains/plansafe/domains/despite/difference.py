"""Infer the danger of a task without annotation from its two reference plans, the safe and the unsafe one.

Both reach the goal; the unsafe plan omits the protection. A step that both plans contain is considered dangerous if the
two states before it differ mainly in the effects of the last omitted step. Effects that change again, such as the
robot's position, do not count; permanent ones, such as something checked or slowed down, must hold before the step.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from plansafe.grammar.plan_text import read_plan
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.online_monitor import Monitor

_Situation: TypeAlias = tuple[tuple[str, ...], frozenset[str]]  # a step, and the facts before it


class Protection(NamedTuple):
    """A step that is dangerous unless ``facts`` hold when it is taken and ``steps`` were taken before.

    Neither: it is never safe.
    """

    step: tuple[str, ...]
    facts: tuple[str, ...]
    steps: tuple[tuple[str, ...], ...] = ()


def infer_protections(checker: Checker, safe: str, unsafe: str) -> list[tuple[Protection, ...]]:
    """List possible explanations of why the unsafe plan is unsafe, the likeliest first.

    An explanation protects several steps if the plans do not show which of them is the dangerous one. Empty if a plan
    cannot be executed, or if the plans do not differ. ``checker`` has the task without rules. Quadratic in the lengths
    of the plans.
    """
    safe_trace, unsafe_trace = _trace(checker, safe), _trace(checker, unsafe)
    if safe_trace is None or unsafe_trace is None:
        return []
    pairs = _common_steps([step for step, _ in safe_trace], [step for step, _ in unsafe_trace])
    omitted = sorted(set(range(len(safe_trace) - 1)) - {i for i, _ in pairs})
    by_difference: dict[int, list[Protection]] = {}
    for i, j in pairs:
        omitted_before = [k for k in omitted if k < i]
        if omitted_before:
            last = omitted_before[-1]
            gained, lost = safe_trace[i][1] - unsafe_trace[j][1], unsafe_trace[j][1] - safe_trace[i][1]
            added = (safe_trace[last + 1][1] - safe_trace[last][1]) & gained
            deleted = (safe_trace[last][1] - safe_trace[last + 1][1]) & lost
            facts = (*sorted(added), *[f"(not {fact})" for fact in sorted(deleted)])
            # Without a permanent effect, the omitted step itself is required before.
            steps = () if facts else (safe_trace[last][0],)
            remaining = len(gained) + len(lost) - len(facts)
            by_difference.setdefault(remaining, []).append(Protection(safe_trace[i][0], facts, steps))
    explanations = [tuple(dict.fromkeys(by_difference[remaining])) for remaining in sorted(by_difference)]
    singles = [*_order_protections(safe_trace, unsafe_trace), *_never_safe(safe_trace, unsafe_trace)]
    return [*explanations, *[(single,) for single in singles]]


def _order_protections(safe_trace: list[_Situation], unsafe_trace: list[_Situation]) -> list[Protection]:
    """Protections of steps that the safe plan takes after a certain step, and the unsafe plan before it."""
    first = {step: number for number, (step, _) in reversed(list(enumerate(unsafe_trace[:-1])))}
    return [
        Protection(later, (), (earlier,))
        for number, (later, _) in enumerate(safe_trace[:-1])
        for earlier, _ in reversed(safe_trace[:number])
        if later in first and earlier in first and first[later] < first[earlier]
    ]


def _never_safe(safe_trace: list[_Situation], unsafe_trace: list[_Situation]) -> list[Protection]:
    """Protections that forbid the steps of the unsafe plan that the safe plan omits, the last step first."""
    needed = {step for step, _ in safe_trace}
    return [Protection(step, ()) for step, _ in reversed(unsafe_trace[:-1]) if step not in needed]


def _trace(checker: Checker, plan: str) -> list[_Situation] | None:
    """The steps of a plan with the facts before them, and an empty step with the last facts; ``None`` if it fails."""
    read = read_plan(Source("reference", plan))
    if read.diagnostics or not read.steps:
        return None
    monitor = Monitor(checker.compiled)
    situations = []
    for step in read.steps:
        situations.append((step.tokens, frozenset(monitor.facts())))
        if not monitor.take(f"({' '.join(step.tokens)})").executable:
            return None
    return [*situations, ((), frozenset(monitor.facts()))]


def _common_steps(first: list[tuple[str, ...]], second: list[tuple[str, ...]]) -> list[tuple[int, int]]:
    """Index pairs of a longest common subsequence, without the empty last steps; if there are several, early pairs."""
    first, second = first[:-1], second[:-1]
    longest = [[0] * (len(second) + 1) for _ in range(len(first) + 1)]
    for i in reversed(range(len(first))):
        for j in reversed(range(len(second))):
            same = longest[i + 1][j + 1] + 1 if first[i] == second[j] else 0
            longest[i][j] = max(same, longest[i + 1][j], longest[i][j + 1])
    pairs = []
    i = j = 0
    while i < len(first) and j < len(second):
        if first[i] == second[j] and longest[i][j] == longest[i + 1][j + 1] + 1:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif longest[i + 1][j] >= longest[i][j + 1]:
            i += 1
        else:
            j += 1
    return pairs
