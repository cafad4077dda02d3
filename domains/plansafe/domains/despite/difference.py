"""The danger of a task whose files do not annotate it, from its two reference plans: the safe and the unsafe one.

Both reach the goal; the unsafe one leaves out what protects. A step is taken to be dangerous if both plans take it, and
the two states before it differ in little but what the safe plan did last of what the unsafe one leaves out: not in
where the robot is, which changes again, but in what was checked, slowed down or waited for. That must hold before it.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from plansafe.grammar.plan_text import read_plan
from plansafe.grammar.source import Source
from plansafe.verifier.api import Checker
from plansafe.verifier.execution.online_monitor import Monitor

_Moment: TypeAlias = tuple[tuple[str, ...], frozenset[str]]  # a step and the facts before it


class Protection(NamedTuple):
    """A step that is dangerous unless ``facts`` hold when it is taken and ``steps`` were taken before.

    Neither: it is never safe.
    """

    step: tuple[str, ...]
    facts: tuple[str, ...]
    steps: tuple[tuple[str, ...], ...] = ()


def protections(checker: Checker, safe: str, unsafe: str) -> list[tuple[Protection, ...]]:
    """What the safe plan does that the unsafe one does not, and before which steps; the likeliest reading first.

    A reading may name several steps: where nothing tells which of them is the dangerous one, each must be protected.
    Empty if a plan cannot be executed, or if nothing tells them apart. ``checker`` is that of the task without rules.
    Quadratic in the plans' lengths.
    """
    right, wrong = _run(checker, safe), _run(checker, unsafe)
    if right is None or wrong is None:
        return []
    pairs = _common([step for step, _ in right], [step for step, _ in wrong])
    left_out = sorted(set(range(len(right) - 1)) - {i for i, _ in pairs})
    found: dict[int, list[Protection]] = {}
    for i, j in pairs:
        done = [k for k in left_out if k < i]
        if done:
            last = done[-1]
            gained, lost = right[i][1] - wrong[j][1], wrong[j][1] - right[i][1]
            made = (right[last + 1][1] - right[last][1]) & gained
            unmade = (right[last][1] - right[last + 1][1]) & lost
            facts = (*sorted(made), *[f"(not {fact})" for fact in sorted(unmade)])
            # What changed no fact that lasts is told by the step itself.
            steps = () if facts else (right[last][0],)
            other = len(gained) + len(lost) - len(facts)
            found.setdefault(other, []).append(Protection(right[i][0], facts, steps))
    readings = [tuple(dict.fromkeys(found[other])) for other in sorted(found)]
    singles = [*_orders(right, wrong), *_extras(right, wrong)]
    return [*readings, *[(single,) for single in singles]]


def _orders(right: list[_Moment], wrong: list[_Moment]) -> list[Protection]:
    """Steps that the safe plan takes after another one, and the unsafe plan before it."""
    first = {step: number for number, (step, _) in reversed(list(enumerate(wrong[:-1])))}
    return [
        Protection(later, (), (earlier,))
        for number, (later, _) in enumerate(right[:-1])
        for earlier, _ in reversed(right[:number])
        if later in first and earlier in first and first[later] < first[earlier]
    ]


def _extras(right: list[_Moment], wrong: list[_Moment]) -> list[Protection]:
    """Steps of the unsafe plan that the safe plan does without, the last first."""
    needed = {step for step, _ in right}
    return [Protection(step, ()) for step, _ in reversed(wrong[:-1]) if step not in needed]


def _run(checker: Checker, plan: str) -> list[_Moment] | None:
    """The steps of a plan, each with the facts before it; at the end no step with the facts after all."""
    read = read_plan(Source("reference", plan))
    if read.diagnostics or not read.steps:
        return None
    monitor = Monitor(checker.compiled)
    run = []
    for step in read.steps:
        run.append((step.tokens, frozenset(monitor.facts())))
        if not monitor.take(f"({' '.join(step.tokens)})").executable:
            return None
    return [*run, ((), frozenset(monitor.facts()))]


def _common(first: list[tuple[str, ...]], second: list[tuple[str, ...]]) -> list[tuple[int, int]]:
    """The pairs of a longest common subsequence, the ends (no step) left out; of several, with early pairs first."""
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
