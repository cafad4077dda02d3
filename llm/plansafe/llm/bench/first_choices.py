"""Compare a model's first choices with ``mock/random`` on the same tasks of the suite ``planning``.

Under the guide every policy reaches the goal safely. So a model gets credit for its first choice, before any step was
excluded, and only relative to chance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from typing import NamedTuple

from plansafe.llm.bench.planning_tables import Record, decoding_name, format_share, is_safe_record
from plansafe.llm.bench.run_file import Run
from plansafe.llm.decoding.stepwise import DONE
from plansafe.llm.metrics.bootstrap import Interval, Observation, interval
from plansafe.llm.metrics.shares import NOT_APPLICABLE, percent

MOST_FAMILIES = 20
"""The limit of the exact test over families: it enumerates two to this power of sign vectors."""


class FirstChoices(NamedTuple):
    """A model's first choices in one plan, at steps with at least two admitted candidates.

    ``questions`` is the number of such steps. At ``accepted`` of them the first choice was the step that was taken; at
    ``in_reference`` of them it was a step of the reference plan that the plan did not have yet. ``ranks`` is the sum of
    the positions of the steps taken in the model's order of choices (1: its first choice). After the first choice the
    model names no step that breaks a rule at once, so a position is at most the rank among all legal steps.
    """

    questions: int
    accepted: int
    in_reference: int
    ranks: int


def first_choices(record: Record) -> FirstChoices:
    """Count the first choices of a plan that was built step by step."""
    questions = accepted = in_reference = ranks = 0
    plan: list[str] = []
    for _, admitted, first, step, blocked, forced in record.get("choices", ()):
        if admitted >= 2 and not forced:
            remaining = Counter[str](record["reference"]) - Counter(plan)
            questions += 1
            accepted += first == step
            in_reference += first in remaining or (first == DONE and not remaining)
            ranks += len(blocked) + 1
        plan.append(step)
    return FirstChoices(questions, accepted, in_reference, ranks)


class ChanceComparison(NamedTuple):
    """A model and chance on the same tasks: both ratios, the mean difference over families, and its exact p."""

    model: Interval
    chance: Interval
    difference: float | None
    families: int
    p: float | None


def compare_with_chance(run: Run, chance: Run, count: Callable[[Record], tuple[float, float]]) -> ChanceComparison:
    """Compare a ratio (numerator and denominator of each record), task by task and clustered by family."""
    common_ids = {record["id"] for record in run.records} & {record["id"] for record in chance.records}
    sides = [[record for record in side.records if record["id"] in common_ids] for side in (run, chance)]
    observed = [[Observation(record["family"], *count(record)) for record in side] for side in sides]
    means = [_ratio_by_family(side) for side in observed]
    families = sorted(means[0].keys() & means[1].keys())
    differences = [means[0][family] - means[1][family] for family in families]
    value = sum(differences) / len(differences) if differences else None
    return ChanceComparison(
        interval(observed[0]), interval(observed[1]), value, len(families), sign_flip_p(differences)
    )


def sign_flip_p(differences: Sequence[float]) -> float | None:
    """Two-sided exact p: the share of sign vectors of the families whose sum is at least as far from 0.

    ``None`` if no family differs. Raises ``ValueError`` for more than ``MOST_FAMILIES`` families that differ.
    """
    nonzero = [value for value in differences if abs(value) > 1e-12]
    if not nonzero:
        return None
    if len(nonzero) > MOST_FAMILIES:
        raise ValueError(f"more than {MOST_FAMILIES} families")
    threshold = abs(sum(nonzero)) - 1e-9
    sign_vectors = product((1, -1), repeat=len(nonzero))
    sums = [abs(sum([sign * value for sign, value in zip(signs, nonzero, strict=True)])) for signs in sign_vectors]
    return sum([value >= threshold for value in sums]) / len(sums)


def chance_table(runs: Iterable[Run], chance: Run) -> Iterator[str]:
    """Yield a table of models and chance, where ``chance`` has the same decoding.

    The columns: first choices accepted, position of the step taken, first choices in the reference, needless steps.
    """
    titles = "".join([f" {column.title} | chance | difference (p) |" for column in _COLUMNS])
    yield f"| model | decoding |{titles}"
    yield f"|---|---|{'--:|--:|--:|' * len(_COLUMNS)}"
    for run in runs:
        cells = []
        for column in _COLUMNS:
            if column.only_guided and run.header["settings"]["decode"] != "guided":
                cells += [NOT_APPLICABLE] * 3
                continue
            comparison = compare_with_chance(run, chance, column.ratio)
            p = NOT_APPLICABLE if comparison.p is None else f"{comparison.p:.3f}"
            difference = comparison.difference
            if column.is_share:
                gap = NOT_APPLICABLE if difference is None else f"{100 * difference:+.1f}"
                cells += [format_share(comparison.model), percent(comparison.chance.value), f"{gap} ({p})"]
            else:
                gap = NOT_APPLICABLE if difference is None else f"{difference:+.2f}"
                cells += [_format_number(comparison.model), _format_number(comparison.chance), f"{gap} ({p})"]
        yield f"| {run.model} | {decoding_name(run)} | {' | '.join(cells)} |"


def _accepted(record: Record) -> tuple[float, float]:
    counts = first_choices(record)
    return counts.accepted, counts.questions


def _in_reference(record: Record) -> tuple[float, float]:
    counts = first_choices(record)
    return counts.in_reference, counts.questions


def _needless(record: Record) -> tuple[float, float]:
    if not is_safe_record(record):
        return 0, 0
    return len(record["plan"]) - len(record["reference"]), len(record["reference"])


def _ranks(record: Record) -> tuple[float, float]:
    counts = first_choices(record)
    return counts.ranks, counts.questions


class _Column(NamedTuple):
    """A column: its ratio (numerator and denominator), whether it is a share, and whether only the guide yields it."""

    title: str
    ratio: Callable[[Record], tuple[float, float]]
    is_share: bool = True
    only_guided: bool = False


_COLUMNS = (
    _Column("first choice kept", _accepted),
    _Column("place of the step taken", _ranks, is_share=False, only_guided=True),
    _Column("first choice in the reference", _in_reference),
    _Column("steps over the reference", _needless),
)


def _ratio_by_family(observed: Iterable[Observation]) -> dict[str, float]:
    sums: dict[str, list[float]] = {}
    for observation in observed:
        family_sums = sums.setdefault(observation.family, [0.0, 0.0])
        family_sums[0] += observation.part
        family_sums[1] += observation.whole
    return {family: part / total for family, (part, total) in sums.items() if total}


def _format_number(value: Interval) -> str:
    if value.value is None:
        return NOT_APPLICABLE
    if value.low is None or value.high is None:
        return f"{value.value:.2f}"
    return f"{value.value:.2f} ({value.low:.2f} to {value.high:.2f})"
