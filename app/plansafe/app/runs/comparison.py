"""Two runs over the same plans: what differs, plan by plan, with an exact paired test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from plansafe.app.runs.rates import NOT_CHECKED, brought_about, is_checked, is_finding
from plansafe.app.runs.stats import Table
from plansafe.llm.metrics.paired import Pair, Paired, mcnemar


class _Seen(NamedTuple):
    headline: str
    executable: bool | None
    safe: bool | None
    rules: frozenset[str]


class Compared(NamedTuple):
    """Plans that differ, headlines before and after, the tests, and how many plans are in one run alone."""

    plans: Table
    changes: Table
    tests: tuple[tuple[str, Paired], ...]
    both: int
    only_first: int
    only_second: int
    repeated: int


def compare(first: Iterable[Mapping[str, Any]], second: Iterable[Mapping[str, Any]]) -> Compared:
    """Compare two runs by the ids of their plans. An id that a run has twice is counted, and its first plan taken."""
    before, twice = _seen(first)
    after, again = _seen(second)
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
    for what, at in (("executable", 1), ("no rule broken", 2)):
        pairs = [Pair(name, _truth(before[name], at), _truth(after[name], at)) for name in both]
        tests.append((what, mcnemar(pairs)))
    return Compared(
        Table(
            "plans that differ", ("plan", "first", "second", "rules in the first", "rules in the second"), tuple(lines)
        ),
        Table(
            "headlines",
            ("first", "second", "plans"),
            tuple([(*pair, count) for pair, count in sorted(changes.items(), key=lambda one: (-one[1], one[0]))]),
        ),
        tuple(tests),
        len(both),
        len(before) - len(both),
        len(after) - len(both),
        twice + again,
    )


def _truth(seen: _Seen, at: int) -> bool | None:
    return seen.executable if at == 1 else seen.safe


def _seen(rows: Iterable[Mapping[str, Any]]) -> tuple[dict[str, _Seen], int]:
    found: dict[str, _Seen] = {}
    twice = 0
    for row in rows:
        if row["id"] in found:
            twice += 1
            continue
        rules = frozenset([f["rule"] for f in row["findings"] if is_finding(f) and brought_about(f)])
        if not is_checked(row):  # counts as a plan that fails: left out, it would flatter its run
            found[row["id"]] = _Seen(NOT_CHECKED, False, False, rules)
            continue
        executable = None if row["executable"] == "UNKNOWN" else row["executable"] == "ALL"
        safe = False if rules else (True if row["safe"] == "ALL" else None)
        found[row["id"]] = _Seen(row["headline"], executable, safe, rules)
    return found, twice
