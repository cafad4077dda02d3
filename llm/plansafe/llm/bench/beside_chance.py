"""What first choices are worth: a model beside ``mock/random`` on the same tasks of the suite ``planning``.

Under the guide every policy arrives, so a model is credited with what it chose first, before anything was left out, and
only beside chance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from typing import NamedTuple

from plansafe.llm.bench.planning_tables import Record, Run, safe, told_share
from plansafe.llm.decoding.stepwise import DONE
from plansafe.llm.metrics.bootstrap import Interval, Observation, interval
from plansafe.llm.metrics.shares import NOT_APPLICABLE, percent

MOST_FAMILIES = 20
"""For exact tests over families: two to this power ways of changing signs."""


class Chosen(NamedTuple):
    """A model's first choices where at least two steps were admitted: of how many it was asked, how many were kept.

    ``named`` of them are steps of the reference plan that were not taken yet. ``places``: of the steps that were taken,
    in the order in which the model named steps, summed (1: its first choice). After the first choice it names none that
    break a rule at once, so that a place is at most the step's rank among all that could be taken.
    """

    asked: int
    kept: int
    named: int
    places: int


def choices(record: Record) -> Chosen:
    """What the first choices of one plan came to (built step by step)."""
    asked = kept = named = places = 0
    taken: list[str] = []
    for _, admitted, first, step, blocked, forced in record.get("choices", ()):
        if admitted >= 2 and not forced:
            left = Counter[str](record["reference"]) - Counter(taken)
            asked += 1
            kept += first == step
            named += first in left or (first == DONE and not left)
            places += len(blocked) + 1
        taken.append(step)
    return Chosen(asked, kept, named, places)


class Beside(NamedTuple):
    """A model beside chance on the same tasks: the shares, the mean difference over families, and its exact p."""

    model: Interval
    chance: Interval
    difference: float | None
    families: int
    p: float | None


def beside(run: Run, chance: Run, count: Callable[[Record], tuple[float, float]]) -> Beside:
    """Compare a share (part, whole of each record), task by task and clustered by family."""
    both = {one["id"] for one in run.records} & {one["id"] for one in chance.records}
    sides = [[one for one in side.records if one["id"] in both] for side in (run, chance)]
    observed = [[Observation(one["family"], *count(one)) for one in side] for side in sides]
    means = [_by_family(side) for side in observed]
    shared = sorted(means[0].keys() & means[1].keys())
    differences = [means[0][family] - means[1][family] for family in shared]
    value = sum(differences) / len(differences) if differences else None
    return Beside(interval(observed[0]), interval(observed[1]), value, len(shared), changed_signs(differences))


def changed_signs(differences: Sequence[float]) -> float | None:
    """Two-sided exact p: of all ways to change the signs of families, the share with a sum at least as far from 0.

    ``None`` where nothing differs. Raises ``ValueError`` for more than ``MOST_FAMILIES`` families that differ.
    """
    found = [value for value in differences if abs(value) > 1e-12]
    if not found:
        return None
    if len(found) > MOST_FAMILIES:
        raise ValueError(f"more than {MOST_FAMILIES} families")
    seen = abs(sum(found)) - 1e-9
    ways = product((1, -1), repeat=len(found))
    sums = [abs(sum([sign * value for sign, value in zip(signs, found, strict=True)])) for signs in ways]
    return sum([value >= seen for value in sums]) / len(sums)


def credit(runs: Iterable[Run], chance: Run) -> Iterator[str]:
    """What models are credited with beside chance, with ``chance`` decoded as they are.

    First choices kept, the place of the step that was taken, first choices that the reference has, needless steps.
    """
    yield f"| model | decoding |{''.join([f' {one.what} | chance | difference (p) |' for one in _CREDITED])}"
    yield f"|---|---|{'--:|--:|--:|' * len(_CREDITED)}"
    for run in runs:
        cells = []
        for one in _CREDITED:
            if one.guided and run.header["settings"]["decode"] != "guided":
                cells += [NOT_APPLICABLE] * 3
                continue
            found = beside(run, chance, one.counted)
            p = NOT_APPLICABLE if found.p is None else f"{found.p:.3f}"
            if one.share:
                gap = NOT_APPLICABLE if found.difference is None else f"{100 * found.difference:+.1f}"
                cells += [told_share(found.model), percent(found.chance.value), f"{gap} ({p})"]
            else:
                gap = NOT_APPLICABLE if found.difference is None else f"{found.difference:+.2f}"
                cells += [_number(found.model), _number(found.chance), f"{gap} ({p})"]
        yield f"| {run.model} | {run.mode} | {' | '.join(cells)} |"


def _kept(one: Record) -> tuple[float, float]:
    found = choices(one)
    return found.kept, found.asked


def _named(one: Record) -> tuple[float, float]:
    found = choices(one)
    return found.named, found.asked


def _needless(one: Record) -> tuple[float, float]:
    return (len(one["plan"]) - len(one["reference"]), len(one["reference"])) if safe(one) else (0, 0)


def _placed(one: Record) -> tuple[float, float]:
    found = choices(one)
    return found.places, found.asked


class _Credited(NamedTuple):
    """A column: what is counted (part, whole), as a share or as a number, and whether the guide alone gives it."""

    what: str
    counted: Callable[[Record], tuple[float, float]]
    share: bool = True
    guided: bool = False


_CREDITED = (
    _Credited("first choice kept", _kept),
    _Credited("place of the step taken", _placed, share=False, guided=True),
    _Credited("first choice in the reference", _named),
    _Credited("steps over the reference", _needless),
)


def _by_family(observed: Iterable[Observation]) -> dict[str, float]:
    sums: dict[str, list[float]] = {}
    for one in observed:
        found = sums.setdefault(one.family, [0.0, 0.0])
        found[0] += one.part
        found[1] += one.whole
    return {family: part / whole for family, (part, whole) in sums.items() if whole}


def _number(found: Interval) -> str:
    if found.value is None:
        return NOT_APPLICABLE
    if found.low is None or found.high is None:
        return f"{found.value:.2f}"
    return f"{found.value:.2f} ({found.low:.2f} to {found.high:.2f})"
