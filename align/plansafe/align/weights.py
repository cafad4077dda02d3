"""Step weights of a pair, from regret, first violation and point of no return (docs/alignment.md).

Steps count from 1, and the end of a plan of n steps is place n + 1, as in the records of pairs. Weights are in the
order of the actions, followed by the weight of the end. Pure functions of a record; no plan is judged here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal, NamedTuple

from plansafe.align.records import Both, Grade, Pair, even_weights
from plansafe.align.tokens import shared_actions

Scheme = Literal["regret", "divergence", "random", "even"]
"""The source of weights: the verifier, the first different step, chance; equal weights."""
Weights = Both[tuple[float, ...]]
"""A weight for each action and for the end, of both plans."""
MOST_CELLS = 1_000_000
"""Maximum number of compared pairs of steps; in longer plans no step counts as common."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The constants of the formula, all from 0 to 1; ``floor`` is above 0.

    Raw weights: ``prefix`` of a shared step, ``floor`` of a place with credit 0, 1 of a place with credit 1. Credits:
    ``before_violation`` of a step of unknown regret between the first different step and the violation, ``parted`` of
    the first different step if its regret is known and small, ``common`` of a step of the chosen plan that the rejected
    plan also has. ``doubt``: factor of an estimated regret.
    """

    prefix: float = 0.0
    floor: float = 0.1
    before_violation: float = 0.3
    parted: float = 0.5
    common: float = 0.3
    doubt: float = 0.5

    def __post_init__(self) -> None:
        values = (self.prefix, self.floor, self.before_violation, self.parted, self.common, self.doubt)
        if not (all([0.0 <= value <= 1.0 for value in values]) and self.floor > 0.0):
            raise ValueError("the constants of step weights must be from 0 to 1, and the floor above 0")


OURS = Shape()


class Evidence(NamedTuple):
    """The verifier's findings about a pair, as in its record; each may be missing.

    ``first_violation``: of the rejected plan, its length + 1 for its end. ``no_return``: the closed interval of its
    point of no return. ``regret``: by how many steps each step made the shortest safe completion longer, ``None`` if
    undefined or unknown; ``grade``: the quality of a regret.
    """

    first_violation: int | None = None
    no_return: tuple[int, int] | None = None
    regret: Both[tuple[float | None, ...]] | None = None
    grade: Both[tuple[Grade, ...]] | None = None


NO_EVIDENCE = Evidence()


def step_weights(
    chosen: Sequence[str], rejected: Sequence[str], evidence: Evidence = NO_EVIDENCE, shape: Shape = OURS
) -> Weights:
    """Our weights: 0 for shared steps, the highest for the steps that lead to the violation.

    The mean over each plan is 1. With ``prefix`` and ``floor`` 1 all weights are 1: SimPO. Raises ``ValueError`` if the
    evidence does not fit the plans.
    """
    shared = shared_actions(chosen, rejected)
    _check(len(chosen), len(rejected), evidence)
    merit = _merits(chosen, rejected, shared, evidence, shape)
    blame = _blames(len(rejected), shared, evidence, shape)
    return Both(_scaled(merit, shared, shape), _scaled(blame, shared, shape))


def divergence_weights(chosen: Sequence[str], rejected: Sequence[str], shape: Shape = OURS) -> Weights:
    """Without a verifier: all credit on the first different step. The mean over each plan is 1."""
    shared = shared_actions(chosen, rejected)
    credits = [[float(place == shared) for place in range(len(plan) + 1)] for plan in (chosen, rejected)]
    return Both(*[_scaled(side, shared, shape) for side in credits])


def random_weights(weights: Weights, seed: int | str) -> Weights:
    """The same numbers at random places (by ``seed``): an ablation of the places."""
    random = Random(f"weights/{seed}")
    return Both(*[tuple(random.sample(side, len(side))) for side in (weights.chosen, weights.rejected)])


def weights_of(pair: Pair, scheme: Scheme = "regret", seed: int = 0) -> Weights:
    """The weights of a record by any scheme, from its other fields; chance differs by pair."""
    chosen, rejected = pair.actions.chosen, pair.actions.rejected
    match scheme:
        case "even":
            return even_weights(pair.chosen, pair.rejected)
        case "divergence":
            return divergence_weights(chosen, rejected)
    evidence = Evidence(pair.first_violation, pair.no_return, pair.regret, pair.grade)
    weights = step_weights(chosen, rejected, evidence)
    return random_weights(weights, f"{seed}/{pair.id}") if scheme == "random" else weights


def _check(chosen: int, rejected: int, evidence: Evidence) -> None:
    violation, lost = evidence.first_violation, evidence.no_return
    if violation is not None and not 1 <= violation <= rejected + 1:
        raise ValueError(f"a first violation at {violation} of {rejected} steps")
    if lost is not None and not -1 <= lost[0] <= lost[1] <= rejected:
        raise ValueError(f"a point of no return in {lost[0]} to {lost[1]} of {rejected} steps")
    for values in (evidence.regret, evidence.grade):
        if values is not None and (len(values.chosen), len(values.rejected)) != (chosen, rejected):
            raise ValueError("regret and grade are one for each step")


def _wasted(regret: float | None, grade: Grade | None, shape: Shape) -> float | None:
    """The waste of a step, r / (1 + r) of its regret, from 0 to below 1; ``None`` if its regret is unknown."""
    if regret is None:
        return None
    return max(regret, 0.0) / (1.0 + max(regret, 0.0)) * (shape.doubt if grade == "estimate" else 1.0)


def _all_wasted(length: int, chosen: bool, evidence: Evidence, shape: Shape) -> list[float | None]:
    """The waste at each place of a plan of ``length`` steps; ``None`` at its end."""
    if evidence.regret is None:
        return [None] * (length + 1)
    regrets = evidence.regret.chosen if chosen else evidence.regret.rejected
    grades: tuple[Grade | None, ...] = (None,) * length
    if evidence.grade is not None:
        grades = evidence.grade.chosen if chosen else evidence.grade.rejected
    return [*[_wasted(regret, grade, shape) for regret, grade in zip(regrets, grades, strict=True)], None]


def _blames(length: int, shared: int, evidence: Evidence, shape: Shape) -> list[float]:
    """The credit of each place of the rejected plan: its strongest reason for blame."""
    violation = evidence.first_violation
    last = length + 1 if violation is None else violation
    low, high = evidence.no_return or (last, last)
    low = max(low, shared)  # the chosen plan continues safely after the shared steps
    high = max(low, high)
    waste = _all_wasted(length, False, evidence, shape)
    out = [0.0] * (length + 1)
    for place in range(shared + 1, last + 1):
        if place == violation:
            out[place - 1] = 1.0
            continue
        if place > high + 1:
            continue
        wasted = waste[place - 1]
        reasons = [shape.before_violation if wasted is None else wasted]
        if low < place:
            reasons.append(1.0 / (high + 1 - low))
        if place == shared + 1:
            reasons.append(1.0 if wasted is None else shape.parted)
        out[place - 1] = max(reasons)
    return out


def _merits(
    chosen: Sequence[str], rejected: Sequence[str], shared: int, evidence: Evidence, shape: Shape
) -> list[float]:
    """The credit of each place of the chosen plan: high for steps that the rejected plan lacks, low for detours."""
    common = _common(chosen[shared:], rejected[shared:])
    wasted = _all_wasted(len(chosen), True, evidence, shape)
    out = [0.0] * (len(chosen) + 1)
    for place in range(shared, len(chosen)):
        has = place > shared and common[place - shared]
        out[place] = (shape.common if has else 1.0) * (1.0 - (wasted[place] or 0.0))
    decides = shared == len(chosen) or evidence.first_violation == len(rejected) + 1
    out[-1] = 1.0 if decides else shape.common
    return out


def _common(first: Sequence[str], second: Sequence[str]) -> list[bool]:
    """For each step of the first plan, whether it belongs to a longest common subsequence of both."""
    if len(first) * len(second) > MOST_CELLS:
        return [False] * len(first)
    longest = [[0] * (len(second) + 1) for _ in range(len(first) + 1)]
    for i in range(len(first) - 1, -1, -1):
        for j in range(len(second) - 1, -1, -1):
            same = first[i] == second[j]
            longest[i][j] = longest[i + 1][j + 1] + 1 if same else max(longest[i + 1][j], longest[i][j + 1])
    out, j = [], 0
    for i, step in enumerate(first):
        while j < len(second) and step != second[j] and longest[i][j + 1] == longest[i][j]:
            j += 1
        has = j < len(second) and step == second[j]
        out.append(has)
        j += has
    return out


def _scaled(credits: Sequence[float], shared: int, shape: Shape) -> tuple[float, ...]:
    """Raw weights (``prefix`` for shared steps, else from ``floor`` to 1 by credit), scaled to mean 1."""
    raw = [
        shape.prefix if place < shared else shape.floor + (1.0 - shape.floor) * credit
        for place, credit in enumerate(credits)
    ]
    factor = len(raw) / sum(raw)
    return tuple([weight * factor for weight in raw])
