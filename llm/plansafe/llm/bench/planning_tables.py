"""Tables over runs of the suite ``planning``: how plans end, what is wrong with them, what first choices are worth.

Under the guide every policy arrives, so a model is credited with what it chose first, before anything was left out, and
only beside chance (``mock/random``) on the same tasks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from plansafe.llm.decoding.stepwise import DONE
from plansafe.llm.metrics.bootstrap import Interval, Observation, interval
from plansafe.llm.metrics.shares import NOT_APPLICABLE, percent

Record = Mapping[str, Any]
MOST_FAMILIES = 20
"""For exact tests over families: two to this power ways of changing signs."""


class Run(NamedTuple):
    """A run as its file has it."""

    header: Record
    records: Sequence[Record]

    @property
    def model(self) -> str:
        """The model as it was asked for, without the place of its file."""
        provider, _, name = str(self.header["model"]).partition("/")
        return f"{provider}/{name.rstrip('/').rsplit('/', 1)[-1]}"

    @property
    def mode(self) -> str:
        """The decoding, with what differs from one pass at slack 1.5."""
        chosen = self.header["settings"]
        said = str(chosen["decode"])
        if said == "guided" or said == "shield":
            above, below = chosen["slack"]
            said += f" {above / below:g}"
        if chosen["rounds"] > 1:
            said += f" + {chosen['rounds']} rounds, {chosen['feedback']}"
        return said


def only(runs: Iterable[Run], split: str) -> list[Run]:
    """The same runs, with the records of one split (``all``: of both)."""
    return [Run(run.header, [one for one in run.records if split in ("all", one["split"])]) for run in runs]


def outcomes(runs: Iterable[Run]) -> Iterator[str]:
    """How plans end: shares of all tasks with 95 % intervals by families."""
    yield "| model | decoding | tasks | read | executable | process-safe | goal | SAFE | length | tokens | CPU s |"
    yield "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
    for run in runs:
        cells = [_interval(_shares(run.records, holds)) for holds in (_read, _executable, _process, _goal, _safe)]
        longer = [len(one["plan"]) / len(one["reference"]) for one in run.records if _safe(one)]
        length = f"{sum(longer) / len(longer):.2f}" if longer else NOT_APPLICABLE
        tokens = _mean([one["cost"]["completion_tokens"] for one in run.records])
        spent = _mean([one["cpu_s"] for one in run.records])
        cells += [length, f"{tokens:.0f}", f"{spent:.1f}"]
        yield f"| {run.model} | {run.mode} | {len(run.records)} | {' | '.join(cells)} |"


def errors(runs: Sequence[Run]) -> Iterator[str]:
    """SAFEL's label of each plan, or why there is none; a plan may succeed and be unsafe."""
    labels = sorted({_label(one) for run in runs for one in run.records})
    yield f"| model | decoding | {' | '.join(labels)} |"
    yield f"|---|---|{'--:|' * len(labels)}"
    for run in runs:
        found = Counter([_label(one) for one in run.records])
        yield f"| {run.model} | {run.mode} | {' | '.join([str(found[label] or '') for label in labels])} |"


def rules(runs: Sequence[Run]) -> Iterator[str]:
    """The rules that plans break up to their first failing step, by the number of plans."""
    yield "| rule | when | " + " | ".join([f"{run.model} {run.mode}" for run in runs]) + " |"
    yield f"|---|---|{'--:|' * len(runs)}"
    counted = [_counts(run) for run in runs]
    every = sorted({key for found in counted for key in found}, key=lambda key: (-sum([c[key] for c in counted]), key))
    for rule, moment in every:
        yield f"| `{rule}` | {moment} | {' | '.join([str(c[rule, moment] or '') for c in counted])} |"


class Chosen(NamedTuple):
    """A model's first choices where at least two steps were admitted: of how many it was asked, how many were kept.

    ``named`` of them are steps of the reference plan that were not taken yet.
    """

    asked: int
    kept: int
    named: int


def choices(record: Record) -> Chosen:
    """What the first choices of one plan came to (built step by step)."""
    asked = kept = named = 0
    taken: list[str] = []
    for _, admitted, first, step, _, forced in record.get("choices", ()):
        if admitted >= 2 and not forced:
            left = Counter[str](record["reference"]) - Counter(taken)
            asked += 1
            kept += first == step
            named += first in left or (first == DONE and not left)
        taken.append(step)
    return Chosen(asked, kept, named)


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
    """What models are credited with beside chance: first choices kept, those that the reference has, needless steps."""
    yield f"| model | decoding |{''.join([f' {what} | chance | difference (p) |' for what, _ in _CREDITED])}"
    yield f"|---|---|{'--:|--:|--:|' * len(_CREDITED)}"
    for run in runs:
        cells = []
        for _, count in _CREDITED:
            found = beside(run, chance, count)
            p = NOT_APPLICABLE if found.p is None else f"{found.p:.3f}"
            gap = NOT_APPLICABLE if found.difference is None else f"{100 * found.difference:+.1f}"
            cells += [_interval(found.model), percent(found.chance.value), f"{gap} ({p})"]
        yield f"| {run.model} | {run.mode} | {' | '.join(cells)} |"


def rounds(runs: Iterable[Run]) -> Iterator[str]:
    """Round by round: tasks whose plan is SAFE by then, and that reach the goal; then what the last resort added."""
    yield "| model | feedback | tasks | round | SAFE by then | goal by then | repaired too | model's | engine's |"
    yield "|---|---|--:|--:|--:|--:|--:|--:|--:|"
    for run in runs:
        most = int(run.header["settings"]["rounds"])
        style = run.header["settings"]["feedback"]
        for number in range(1, most + 1):
            cells = [_interval(_shares(run.records, _by_then(holds, number))) for holds in (_safe, _goal)]
            last = ["", "", ""]
            if number == most and all(["resort" in one for one in run.records]):
                ends = Counter([_whose(one) for one in run.records])
                own = ends["model"] + ends["repaired"]
                last = [str(own + ends["engine"]), str(own), str(ends["engine"])]
            yield f"| {run.model} | {style} | {len(run.records)} | {number} | {' | '.join([*cells, *last])} |"


def _by_then(holds: Callable[[Record], bool], number: int) -> Callable[[Record], bool]:
    """Whether something holds of one of the first rounds."""
    return lambda record: any([holds(one) for one in record["rounds"][:number]])


def _whose(record: Record) -> str:
    """Whose plan it is: the model's, its repair (at least half of the steps are the model's), the engine's."""
    if any([_safe(one) for one in record["rounds"]]):
        return "model"
    found = record["resort"]["plan"]
    if found is None:
        return "none"
    return "repaired" if 2 * record["resort"]["by_model"] >= len(found) else "engine"


def _read(one: Record) -> bool:
    return bool(one["judged"]["read"])


def _executable(one: Record) -> bool:
    return one["judged"]["executable"] is True


def _process(one: Record) -> bool:
    """Every step can be taken, and none breaks a rule as it is taken."""
    judged = one["judged"]
    wrong = any([found["moment"] == "process" for found in judged["violations"]])
    return _executable(one) and not wrong and not judged["suppressed"]


def _goal(one: Record) -> bool:
    return one["judged"]["goal"] is True


def _safe(one: Record) -> bool:
    return one["headline"] in ("SAFE", "VALID")


def _label(one: Record) -> str:
    if not _read(one):
        return "no plan"
    if one["judged"]["label"] == "success" and not _safe(one):
        return "success, unsafe"
    return one["judged"]["label"] or "no label"


def _counts(run: Run) -> Counter[tuple[str, str]]:
    found: Counter[tuple[str, str]] = Counter()
    for one in run.records:
        found.update({(broken["rule"], broken["moment"]) for broken in one["judged"]["violations"]})
    return found


def _kept(one: Record) -> tuple[float, float]:
    found = choices(one)
    return found.kept, found.asked


def _named(one: Record) -> tuple[float, float]:
    found = choices(one)
    return found.named, found.asked


def _needless(one: Record) -> tuple[float, float]:
    return (len(one["plan"]) - len(one["reference"]), len(one["reference"])) if _safe(one) else (0, 0)


_CREDITED = (
    ("first choice kept", _kept),
    ("first choice in the reference", _named),
    ("steps over the reference", _needless),
)


def _shares(records: Iterable[Record], holds: Callable[[Record], bool]) -> Interval:
    return interval([Observation(one["family"], holds(one), 1) for one in records])


def _by_family(observed: Iterable[Observation]) -> dict[str, float]:
    sums: dict[str, list[float]] = {}
    for one in observed:
        found = sums.setdefault(one.family, [0.0, 0.0])
        found[0] += one.part
        found[1] += one.whole
    return {family: part / whole for family, (part, whole) in sums.items() if whole}


def _interval(found: Interval) -> str:
    if found.value is None:
        return NOT_APPLICABLE
    if found.low is None or found.high is None:
        return percent(found.value)
    return f"{100 * found.value:.0f} % ({100 * found.low:.0f} to {100 * found.high:.0f})"


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
