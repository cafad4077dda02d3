"""Tables over runs of the suite ``planning``: how plans end, what is wrong with them, and what rounds add."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from plansafe.llm.metrics.bootstrap import Interval, Observation, interval
from plansafe.llm.metrics.rouge import lcs_length
from plansafe.llm.metrics.shares import NOT_APPLICABLE, percent

Record = Mapping[str, Any]


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
        cells = [told_share(_shares(run.records, holds)) for holds in (_read, _executable, _process, _goal, safe)]
        longer = [len(one["plan"]) / len(one["reference"]) for one in run.records if safe(one)]
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


def rounds(runs: Iterable[Run]) -> Iterator[str]:
    """Round by round: tasks whose plan is SAFE by then, and that reach the goal; then what the last resort added.

    Of the plans that were written in a round: how many are the plan of the round before, step by step, and how many of
    the references' steps they have in the references' order (longest common subsequences, over all steps of these
    references).
    """
    yield (
        "| model | feedback | tasks | round | SAFE by then | goal by then "
        "| plans | as before | of the reference, in order | repaired too | model's | engine's |"
    )
    yield f"|---|---|{'--:|' * 10}"
    for run in runs:
        most = int(run.header["settings"]["rounds"])
        style = run.header["settings"]["feedback"]
        for number in range(1, most + 1):
            cells = [told_share(_shares(run.records, _by_then(holds, number))) for holds in (safe, _goal)]
            cells += _written(run.records, number)
            last = ["", "", ""]
            if number == most and all(["resort" in one for one in run.records]):
                ends = Counter([_whose(one) for one in run.records])
                own = ends["model"] + ends["repaired"]
                last = [str(own + ends["engine"]), str(own), str(ends["engine"])]
            yield f"| {run.model} | {style} | {len(run.records)} | {number} | {' | '.join([*cells, *last])} |"


def _written(records: Sequence[Record], number: int) -> list[str]:
    """The plans of a round: how many, how many as in the round before, and what of the references is there."""
    there = [one for one in records if len(one["rounds"]) >= number]
    plans = [one["rounds"][number - 1]["plan"] or [] for one in there]
    before = [one["rounds"][number - 2]["plan"] for one in there] if number > 1 else []
    same = sum([plan == other for plan, other in zip(plans, before, strict=False) if plan])
    common = sum([lcs_length(plan, one["reference"]) for plan, one in zip(plans, there, strict=True)])
    wanted = sum([len(one["reference"]) for one in there])
    share = f"{100 * common / wanted:.0f} %" if wanted else NOT_APPLICABLE
    return [str(len(plans)), str(same) if number > 1 else "", share]


def _by_then(holds: Callable[[Record], bool], number: int) -> Callable[[Record], bool]:
    """Whether something holds of one of the first rounds."""
    return lambda record: any([holds(one) for one in record["rounds"][:number]])


def _whose(record: Record) -> str:
    """Whose plan it is: the model's, its repair (at least half of the steps are the model's), the engine's."""
    if any([safe(one) for one in record["rounds"]]):
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


def safe(one: Record) -> bool:
    """Whether the plan of a record, or of a round, is SAFE; VALID where there is no rule."""
    return one["headline"] in ("SAFE", "VALID")


def _label(one: Record) -> str:
    if not _read(one):
        return "no plan"
    if one["judged"]["label"] == "success" and not safe(one):
        return "success, unsafe"
    return one["judged"]["label"] or "no label"


def _counts(run: Run) -> Counter[tuple[str, str]]:
    found: Counter[tuple[str, str]] = Counter()
    for one in run.records:
        found.update({(broken["rule"], broken["moment"]) for broken in one["judged"]["violations"]})
    return found


def _shares(records: Iterable[Record], holds: Callable[[Record], bool]) -> Interval:
    return interval([Observation(one["family"], holds(one), 1) for one in records])


def told_share(found: Interval) -> str:
    """A share with its interval."""
    if found.value is None:
        return NOT_APPLICABLE
    if found.low is None or found.high is None:
        return percent(found.value)
    return f"{100 * found.value:.0f} % ({100 * found.low:.0f} to {100 * found.high:.0f})"


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
