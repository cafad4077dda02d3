"""What each step of a pair weighs: from regret, first violation and point of no return (docs/alignment.md).

Steps count from 1, and the end of a plan of n steps is place n + 1, as in the records of pairs. Weights are in order
of the actions, with that of the end behind them. Pure functions of what a record holds; nothing is judged here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal, NamedTuple, assert_never

from plansafe.align.records import Both, Grade, Pair
from plansafe.align.tokens import shared_actions

Scheme = Literal["regret", "divergence", "random", "even", "prefix"]
"""Where weights come from: the verifier, the place where the plans part, chance; equal ones, Safe-Align's."""
Weights = Both[tuple[float, ...]]
"""What the places of both plans weigh: one number for each action and one for the end."""
MOST_CELLS = 1_000_000
"""Pairs of steps that are compared to find what a plan lacks; of longer plans every step counts as lacking."""


@dataclass(frozen=True, slots=True)
class Shape:
    """The constants of the formula, all from 0 to 1; ``floor`` is above 0.

    ``prefix`` is the raw weight of shared steps, ``floor`` that of a place without credit, and 1 that of one with all
    of it. ``way`` is the credit of a step on the way from where the plans part to the violation whose regret is not
    known, ``parted`` that of the step where they part if its regret is known and small, ``kept`` that of a step of the
    chosen plan which the rejected one has too. ``doubt``: by how much a regret that was only estimated counts less.
    """

    prefix: float = 0.0
    floor: float = 0.1
    way: float = 0.3
    parted: float = 0.5
    kept: float = 0.3
    doubt: float = 0.5

    def __post_init__(self) -> None:
        values = (self.prefix, self.floor, self.way, self.parted, self.kept, self.doubt)
        if not (all([0.0 <= value <= 1.0 for value in values]) and self.floor > 0.0):
            raise ValueError("the constants of step weights must be from 0 to 1, and the floor above 0")


OURS = Shape()


class Found(NamedTuple):
    """What the verifier says of a pair, as its record has it; all of it may be missing.

    ``first_violation``: of the rejected plan, its length + 1 for its end. ``no_return``: the closed interval of its
    point of no return. ``regret``: how many steps longer each step made the shortest safe completion, ``None`` where
    that is undefined or not known; ``grade`` says how it is known.
    """

    first_violation: int | None = None
    no_return: tuple[int, int] | None = None
    regret: Both[tuple[float | None, ...]] | None = None
    grade: Both[tuple[Grade, ...]] | None = None


NOTHING = Found()


def step_weights(
    chosen: Sequence[str], rejected: Sequence[str], found: Found = NOTHING, shape: Shape = OURS
) -> Weights:
    """Our weights: the shared steps carry no preference, the steps that lead to the violation most of it.

    The mean over each plan is 1. With ``prefix`` and ``floor`` 1 all weights are 1: SimPO. Raises ``ValueError`` where
    what was found does not fit the plans.
    """
    shared = shared_actions(chosen, rejected)
    _fits(len(chosen), len(rejected), found)
    merit = _merits(chosen, rejected, shared, found, shape)
    blame = _blames(len(rejected), shared, found, shape)
    return Both(_scaled(merit, shared, shape), _scaled(blame, shared, shape))


def prefix_weights(chosen: Sequence[str], rejected: Sequence[str], factor: float) -> Weights:
    """Safe-Align's: ``factor`` (the paper's lambda) on what is shared, 1 on the rest. Their mean is not 1."""
    shared = shared_actions(chosen, rejected)
    one, other = [(factor,) * shared + (1.0,) * (len(plan) + 1 - shared) for plan in (chosen, rejected)]
    return Both(one, other)


def divergence_weights(chosen: Sequence[str], rejected: Sequence[str], shape: Shape = OURS) -> Weights:
    """Without a verifier: all credit on the place where the plans part. The mean over each plan is 1."""
    shared = shared_actions(chosen, rejected)
    one, other = [[float(place == shared) for place in range(len(plan) + 1)] for plan in (chosen, rejected)]
    return Both(_scaled(one, shared, shape), _scaled(other, shared, shape))


def random_weights(weights: Weights, seed: int | str) -> Weights:
    """The same numbers in places drawn by chance, the same for the same seed: what their places add is lost."""
    drawn = Random(f"weights/{seed}")
    one, other = [tuple(drawn.sample(side, len(side))) for side in (weights.chosen, weights.rejected)]
    return Both(one, other)


def weights_by(
    scheme: Scheme,
    chosen: Sequence[str],
    rejected: Sequence[str],
    found: Found = NOTHING,
    *,
    shape: Shape = OURS,
    factor: float = 0.0,
    seed: int | str = 0,
) -> Weights:
    """The weights of a pair by any scheme. ``factor`` is for ``prefix``, ``seed`` for ``random``: one for each pair."""
    match scheme:
        case "regret":
            return step_weights(chosen, rejected, found, shape)
        case "random":
            return random_weights(step_weights(chosen, rejected, found, shape), seed)
        case "divergence":
            return divergence_weights(chosen, rejected, shape)
        case "even":
            return Both((1.0,) * (len(chosen) + 1), (1.0,) * (len(rejected) + 1))
        case "prefix":
            return prefix_weights(chosen, rejected, factor)
    assert_never(scheme)


def weights_of(
    pair: Pair, scheme: Scheme = "regret", *, shape: Shape = OURS, factor: float = 0.0, seed: int = 0
) -> Weights:
    """The weights of a record by any scheme, from its other fields; chance differs by pair."""
    chosen, rejected = pair.actions.chosen, pair.actions.rejected
    found = Found(pair.first_violation, pair.no_return, pair.regret, pair.grade)
    return weights_by(scheme, chosen, rejected, found, shape=shape, factor=factor, seed=f"{seed}/{pair.id}")


def _fits(chosen: int, rejected: int, found: Found) -> None:
    violation, lost = found.first_violation, found.no_return
    if violation is not None and not 1 <= violation <= rejected + 1:
        raise ValueError(f"a first violation at {violation} of {rejected} steps")
    if lost is not None and not -1 <= lost[0] <= lost[1] <= rejected:
        raise ValueError(f"a point of no return in {lost[0]} to {lost[1]} of {rejected} steps")
    for said in (found.regret, found.grade):
        if said is not None and (len(said.chosen), len(said.rejected)) != (chosen, rejected):
            raise ValueError("regret and grade are one for each step")


def _wasted(regret: float | None, grade: Grade | None, shape: Shape) -> float | None:
    """What a step wasted: r / (1 + r) of its regret, from 0 to below 1; ``None`` where its regret is not known."""
    if regret is None:
        return None
    return max(regret, 0.0) / (1.0 + max(regret, 0.0)) * (shape.doubt if grade == "estimate" else 1.0)


def _all_wasted(length: int, chosen: bool, found: Found, shape: Shape) -> list[float | None]:
    """The same of each place of a plan of so many steps; of its end nothing is known."""
    if found.regret is None:
        return [None] * (length + 1)
    regrets = found.regret.chosen if chosen else found.regret.rejected
    grades: tuple[Grade | None, ...] = (None,) * length
    if found.grade is not None:
        grades = found.grade.chosen if chosen else found.grade.rejected
    return [*[_wasted(regret, grade, shape) for regret, grade in zip(regrets, grades, strict=True)], None]


def _blames(length: int, shared: int, found: Found, shape: Shape) -> list[float]:
    """The credit of each place of the rejected plan: its strongest reason to be blamed."""
    violation = found.first_violation
    last = length + 1 if violation is None else violation
    low, high = found.no_return or (last, last)
    low = max(low, shared)  # the chosen plan goes on safely from what is shared
    high = max(low, high)
    every = _all_wasted(length, False, found, shape)
    out = [0.0] * (length + 1)
    for place in range(shared + 1, last + 1):
        if place == violation:
            out[place - 1] = 1.0
            continue
        if place > high + 1:
            continue
        wasted = every[place - 1]
        reasons = [shape.way if wasted is None else wasted]
        if low < place:
            reasons.append(1.0 / (high + 1 - low))
        if place == shared + 1:
            reasons.append(1.0 if wasted is None else shape.parted)
        out[place - 1] = max(reasons)
    return out


def _merits(chosen: Sequence[str], rejected: Sequence[str], shared: int, found: Found, shape: Shape) -> list[float]:
    """The credit of each place of the chosen plan: what the rejected one lacks, less what was a way round."""
    common = _common(chosen[shared:], rejected[shared:])
    wasted = _all_wasted(len(chosen), True, found, shape)
    out = [0.0] * (len(chosen) + 1)
    for place in range(shared, len(chosen)):
        has = place > shared and common[place - shared]
        out[place] = (shape.kept if has else 1.0) * (1.0 - (wasted[place] or 0.0))
    parts = shared == len(chosen) or found.first_violation == len(rejected) + 1
    out[-1] = 1.0 if parts else shape.kept
    return out


def _common(one: Sequence[str], other: Sequence[str]) -> list[bool]:
    """Which steps of the first belong to a longest common subsequence of both."""
    if len(one) * len(other) > MOST_CELLS:
        return [False] * len(one)
    longest = [[0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i in range(len(one) - 1, -1, -1):
        for j in range(len(other) - 1, -1, -1):
            same = one[i] == other[j]
            longest[i][j] = longest[i + 1][j + 1] + 1 if same else max(longest[i + 1][j], longest[i][j + 1])
    out, j = [], 0
    for i, step in enumerate(one):
        while j < len(other) and step != other[j] and longest[i][j + 1] == longest[i][j]:
            j += 1
        has = j < len(other) and step == other[j]
        out.append(has)
        j += has
    return out


def _scaled(credits: Sequence[float], shared: int, shape: Shape) -> tuple[float, ...]:
    """Raw weights (``prefix`` where shared, else from ``floor`` to 1 by credit), times what makes their mean 1."""
    raw = [
        shape.prefix if place < shared else shape.floor + (1.0 - shape.floor) * credit
        for place, credit in enumerate(credits)
    ]
    factor = len(raw) / sum(raw)
    return tuple([weight * factor for weight in raw])
