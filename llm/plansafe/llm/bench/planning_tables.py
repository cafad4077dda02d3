"""Tables of runs of the suite ``planning``: how plans end, their errors, the rules that they break, and the rounds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from plansafe.llm.bench.run_file import Run
from plansafe.llm.metrics.bootstrap import Interval, Observation, interval
from plansafe.llm.metrics.rouge import lcs_length
from plansafe.llm.metrics.shares import NOT_APPLICABLE, percent

Record = Mapping[str, Any]


def decoding_name(run: Run) -> str:
    """The decoding of a run, with its slack, and its rounds and feedback if it has more than one round."""
    settings = run.header["settings"]
    name = str(settings["decode"])
    if name in ("guided", "shield"):
        numerator, denominator = settings["slack"]
        name += f" {numerator / denominator:g}"
    if settings["rounds"] > 1:
        name += f" + {settings['rounds']} rounds, {settings['feedback']}"
    return name


def select_split(runs: Iterable[Run], split: str) -> list[Run]:
    """The runs with only the records of one split (``all``: of both)."""
    return [Run(run.header, [record for record in run.records if split in ("all", record["split"])]) for run in runs]


def outcome_table(runs: Iterable[Run]) -> Iterator[str]:
    """How plans end: shares of all tasks with 95 % intervals by families."""
    yield "| model | decoding | tasks | read | executable | process-safe | goal | SAFE | length | tokens | CPU s |"
    yield "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
    for run in runs:
        outcomes = (_is_read, _is_executable, _is_process_safe, _reaches_goal, is_safe_record)
        cells = [format_share(_share(run.records, holds)) for holds in outcomes]
        lengths = [len(record["plan"]) / len(record["reference"]) for record in run.records if is_safe_record(record)]
        length = f"{sum(lengths) / len(lengths):.2f}" if lengths else NOT_APPLICABLE
        tokens = _mean([record["cost"]["completion_tokens"] for record in run.records])
        cpu_seconds = _mean([record["cpu_s"] for record in run.records])
        cells += [length, f"{tokens:.0f}", f"{cpu_seconds:.1f}"]
        yield f"| {run.model} | {decoding_name(run)} | {len(run.records)} | {' | '.join(cells)} |"


def error_table(runs: Sequence[Run]) -> Iterator[str]:
    """The number of plans with each of SAFEL's labels. A plan can succeed and be unsafe."""
    labels = sorted({_label(record) for run in runs for record in run.records})
    yield f"| model | decoding | {' | '.join(labels)} |"
    yield f"|---|---|{'--:|' * len(labels)}"
    for run in runs:
        counts = Counter([_label(record) for record in run.records])
        cells = " | ".join([str(counts[label] or "") for label in labels])
        yield f"| {run.model} | {decoding_name(run)} | {cells} |"


def rule_table(runs: Sequence[Run]) -> Iterator[str]:
    """The number of plans that break each rule before their first failing step."""
    yield "| rule | when | " + " | ".join([f"{run.model} {decoding_name(run)}" for run in runs]) + " |"
    yield f"|---|---|{'--:|' * len(runs)}"
    counts = [_rule_counts(run) for run in runs]
    keys = {key for run_counts in counts for key in run_counts}
    for rule, moment in sorted(keys, key=lambda key: (-sum([run_counts[key] for run_counts in counts]), key)):
        cells = " | ".join([str(run_counts[rule, moment] or "") for run_counts in counts])
        yield f"| `{rule}` | {moment} | {cells} |"


def round_table(runs: Iterable[Run]) -> Iterator[str]:
    """Round by round: tasks with a SAFE plan, or one that reaches the goal, by then; then the last resort's plans.

    Of the plans of a round: how many equal the plan of the round before, step by step, and the share of the reference
    steps that they have in the reference order (longest common subsequences, over all steps of the references).
    """
    yield (
        "| model | feedback | tasks | round | SAFE by then | goal by then "
        "| plans | as before | of the reference, in order | repaired too | model's | engine's |"
    )
    yield f"|---|---|{'--:|' * 10}"
    for run in runs:
        rounds = int(run.header["settings"]["rounds"])
        style = run.header["settings"]["feedback"]
        for number in range(1, rounds + 1):
            cells = [
                format_share(_share(run.records, _by_round(holds, number))) for holds in (is_safe_record, _reaches_goal)
            ]
            cells += _round_cells(run.records, number)
            last_resort = ["", "", ""]
            if number == rounds and all(["resort" in record for record in run.records]):
                authors = Counter([_author(record) for record in run.records])
                by_model = authors["model"] + authors["repaired"]
                last_resort = [str(by_model + authors["engine"]), str(by_model), str(authors["engine"])]
            yield f"| {run.model} | {style} | {len(run.records)} | {number} | {' | '.join([*cells, *last_resort])} |"


def _round_cells(records: Sequence[Record], number: int) -> list[str]:
    """The number of plans of a round, the number that repeat the round before, and their share of reference steps."""
    reached = [record for record in records if len(record["rounds"]) >= number]
    plans = [record["rounds"][number - 1]["plan"] or [] for record in reached]
    previous = [record["rounds"][number - 2]["plan"] for record in reached] if number > 1 else []
    repeated = sum([plan == earlier for plan, earlier in zip(plans, previous, strict=False) if plan])
    common = sum([lcs_length(plan, record["reference"]) for plan, record in zip(plans, reached, strict=True)])
    reference_steps = sum([len(record["reference"]) for record in reached])
    share = f"{100 * common / reference_steps:.0f} %" if reference_steps else NOT_APPLICABLE
    return [str(len(plans)), str(repeated) if number > 1 else "", share]


def _by_round(holds: Callable[[Record], bool], number: int) -> Callable[[Record], bool]:
    """A condition that is true if ``holds`` is true in one of the first rounds."""
    return lambda record: any([holds(round_record) for round_record in record["rounds"][:number]])


def _author(record: Record) -> str:
    """The plan's author: the model, a repair (at least half of the steps are the model's), or the engine."""
    if any([is_safe_record(round_record) for round_record in record["rounds"]]):
        return "model"
    plan = record["resort"]["plan"]
    if plan is None:
        return "none"
    return "repaired" if 2 * record["resort"]["by_model"] >= len(plan) else "engine"


def _is_read(record: Record) -> bool:
    return bool(record["judged"]["read"])


def _is_executable(record: Record) -> bool:
    return record["judged"]["executable"] is True


def _is_process_safe(record: Record) -> bool:
    """Every step can be executed, and no step breaks a rule when it is executed."""
    verdict = record["judged"]
    breaks_process_rule = any([violation["moment"] == "process" for violation in verdict["violations"]])
    return _is_executable(record) and not breaks_process_rule and not verdict["suppressed"]


def _reaches_goal(record: Record) -> bool:
    return record["judged"]["goal"] is True


def is_safe_record(record: Record) -> bool:
    """Whether the plan of a record, or of a round, is SAFE, or VALID without rules."""
    return record["headline"] in ("SAFE", "VALID")


def _label(record: Record) -> str:
    if not _is_read(record):
        return "no plan"
    if record["judged"]["label"] == "success" and not is_safe_record(record):
        return "success, unsafe"
    return record["judged"]["label"] or "no label"


def _rule_counts(run: Run) -> Counter[tuple[str, str]]:
    counts: Counter[tuple[str, str]] = Counter()
    for record in run.records:
        counts.update({(violation["rule"], violation["moment"]) for violation in record["judged"]["violations"]})
    return counts


def _share(records: Iterable[Record], holds: Callable[[Record], bool]) -> Interval:
    return interval([Observation(record["family"], holds(record), 1) for record in records])


def format_share(share: Interval) -> str:
    """A share in percent with its interval."""
    if share.value is None:
        return NOT_APPLICABLE
    if share.low is None or share.high is None:
        return percent(share.value)
    return f"{100 * share.value:.0f} % ({100 * share.low:.0f} to {100 * share.high:.0f})"


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
