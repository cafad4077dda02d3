"""Comparison of two runs over the same plans: differences for each plan, and an exact paired test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from plansafe.app.runs.rates import NOT_CHECKED, is_caused_by_plan, is_checked, is_finding
from plansafe.app.runs.stats import Table
from plansafe.llm.metrics.paired import Pair, Paired, mcnemar


class _PlanOutcome(NamedTuple):
    headline: str
    executable: bool | None
    safe: bool | None
    rules: frozenset[str]


class RunComparison(NamedTuple):
    """Plans that differ, counts of headline pairs, paired tests, and the number of plans in only one run."""

    plans: Table
    changes: Table
    tests: tuple[tuple[str, Paired], ...]
    both: int
    only_first: int
    only_second: int
    repeated: int


def compare(first: Iterable[Mapping[str, Any]], second: Iterable[Mapping[str, Any]]) -> RunComparison:
    """Compare two runs by plan id. Of plans with the same id, only the first counts; ``repeated`` counts the rest."""
    before, repeated_first = _outcomes(first)
    after, repeated_second = _outcomes(second)
    both = [name for name in before if name in after]
    changes = Counter([(before[name].headline, after[name].headline) for name in both])
    differing = [name for name in both if before[name] != after[name]]
    lines = [
        (
            name,
            before[name].headline,
            after[name].headline,
            " ".join(sorted(before[name].rules - after[name].rules)),
            " ".join(sorted(after[name].rules - before[name].rules)),
        )
        for name in differing
    ]
    tests = []
    for test_name, column in (("executable", 1), ("no rule broken", 2)):
        pairs = [Pair(name, _outcome_value(before[name], column), _outcome_value(after[name], column)) for name in both]
        tests.append((test_name, mcnemar(pairs)))
    return RunComparison(
        Table(
            "plans that differ", ("plan", "first", "second", "rules in the first", "rules in the second"), tuple(lines)
        ),
        Table(
            "headlines",
            ("first", "second", "plans"),
            tuple([(*pair, count) for pair, count in sorted(changes.items(), key=lambda item: (-item[1], item[0]))]),
        ),
        tuple(tests),
        len(both),
        len(before) - len(both),
        len(after) - len(both),
        repeated_first + repeated_second,
    )


def _outcome_value(outcome: _PlanOutcome, column: int) -> bool | None:
    return outcome.executable if column == 1 else outcome.safe


def _outcomes(rows: Iterable[Mapping[str, Any]]) -> tuple[dict[str, _PlanOutcome], int]:
    outcomes: dict[str, _PlanOutcome] = {}
    repeated = 0
    for row in rows:
        if row["id"] in outcomes:
            repeated += 1
            continue
        rules = frozenset([f["rule"] for f in row["findings"] if is_finding(f) and is_caused_by_plan(f)])
        if not is_checked(row):  # counts as a failed plan: leaving it out would improve the figures of its run
            outcomes[row["id"]] = _PlanOutcome(NOT_CHECKED, False, False, rules)
            continue
        executable = None if row["executable"] == "UNKNOWN" else row["executable"] == "ALL"
        safe = False if rules else (True if row["safe"] == "ALL" else None)
        outcomes[row["id"]] = _PlanOutcome(row["headline"], executable, safe, rules)
    return outcomes, repeated
