"""Tables over the rows of runs: what breaks, how often, with intervals, by whatever a row has."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from plansafe.app.runs.rates import NOT_CHECKED, Rate, brought_about, is_checked, is_finding, seen_in

TAXONOMIES = ("safel", "safeplan-bench", "safeagentbench")
OF_FINDINGS = ("rule", "hazard", "target", "severity", "class", *TAXONOMIES)
"""What findings are counted by; a plan counts once for each."""
OF_PLANS = ("headline", "world", "run")
"""What plans are counted by, beside the columns that were kept."""
_HEADLINES = ("SAFE", "VALID", "UNSAFE", "INVALID", "UNKNOWN", NOT_CHECKED)
_EXAMPLE = 100
Cell = str | int | float | Rate | None


class Table(NamedTuple):
    """A table: a title, the heads of columns, and cells. A :class:`Rate` is a count, a share and an interval."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


class Where(NamedTuple):
    """A filter: a column of plans and the value that it has to have."""

    column: str
    value: str

    def holds(self, row: Mapping[str, Any]) -> bool:
        """Whether a row is meant."""
        return value_of(row, self.column) == self.value


@dataclass
class _Category:
    """What was counted for one category."""

    caused: set[int] = field(default_factory=set)
    before: set[int] = field(default_factory=set)
    findings: int = 0
    findings_before: int = 0
    example: str | None = None
    hazard: str | None = None
    by_group: Counter[str] = field(default_factory=Counter)


def value_of(row: Mapping[str, Any], column: str) -> str:
    """What a plan has in a column; ``headline``, ``world`` and ``run`` go for every run."""
    if column == "headline":
        return row["headline"] or NOT_CHECKED
    found = row.get(column) if column in ("world", "run") else row["columns"].get(column)
    return "" if found is None else str(found)


def _brief_name(row: Mapping[str, Any]) -> str:
    """The id of a plan; of one that is called by its path, the name of the file."""
    name = str(row["id"])
    return os.path.basename(name) if name == row["plan"] else name


def categories_of(row: Mapping[str, Any], finding: Mapping[str, Any], by: str) -> Iterator[str]:
    """The categories of a finding."""
    if by == "target":
        yield from finding["targets"] or ("nobody named",)
    elif by in TAXONOMIES:
        yield from row["taxonomy"].get(finding["rule"], {}).get(by, ()) or ("in no category",)
    else:
        yield finding[by] or "none named"


def by_findings(rows: Iterable[Mapping[str, Any]], by: str, group: str | None = None, reading: str = "halt") -> Table:
    """Plans that bring something about, by what it is; with ``group``, a column of rates for each of its values.

    ``reading`` says how plans are read past a step that cannot be taken (``counting.READINGS``). Rates are of all
    plans, of those too that were not checked; the title says how many these are.
    """
    counts: dict[str, _Category] = defaultdict(_Category)
    plans, unchecked, groups = 0, 0, Counter[str]()
    for number, row in enumerate(rows):
        plans += 1
        unchecked += not is_checked(row)
        mine = value_of(row, group) if group is not None else ""
        groups[mine] += 1
        for finding in row["findings"]:
            if not (is_finding(finding, reading) or (by == "class" and seen_in(finding, reading))):
                continue
            for name in categories_of(row, finding, by):
                one = counts[name]
                one.hazard = finding["hazard"]
                if not brought_about(finding):
                    one.before.add(number)
                    one.findings_before += 1
                    continue
                if number not in one.caused:
                    one.caused.add(number)
                    one.by_group[mine] += 1
                one.findings += 1
                if one.example is None:
                    one.example = f"{_brief_name(row)}: {finding['message'].split(': ', 1)[-1]}"[:_EXAMPLE]
    order = sorted(counts.items(), key=lambda pair: (-len(pair[1].caused), -len(pair[1].before), pair[0]))
    first = ("hazard", "rule") if by == "rule" else (by,)

    def head(name: str, one: _Category) -> tuple[Cell, ...]:
        return (one.hazard, name) if by == "rule" else (name,)

    title = f"plans that bring something about, by {by}, of {plans}"
    title += f" ({unchecked} not checked)" if unchecked else ""
    if group is not None:
        return Table(
            f"{title}, for each {group}",
            (*first, *[value or "-" for value in groups]),
            tuple([(*head(name, one), *[Rate(one.by_group[g], groups[g]) for g in groups]) for name, one in order]),
        )
    return Table(
        title,
        (*first, "plans", "findings", "had it before", "findings before", "example"),
        tuple(
            [
                (
                    *head(name, one),
                    Rate(len(one.caused), plans),
                    one.findings,
                    len(one.before - one.caused),
                    one.findings_before,
                    one.example,
                )
                for name, one in order
            ]
        ),
    )


def by_plans(rows: Iterable[Mapping[str, Any]], by: str, reading: str = "halt") -> Table:
    """How plans end, by a column: executable, breaking a rule, and each headline."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        one = counts[value_of(row, by)]
        one["plans"] += 1
        one[row["headline"] or NOT_CHECKED] += 1
        one["executable"] += row["executable"] == "ALL"
        one["breaks"] += any([is_finding(f, reading) and brought_about(f) for f in row["findings"]])
    order = sorted(counts.items(), key=lambda pair: (-pair[1]["plans"], pair[0]))
    return Table(
        f"plans by {by}",
        (by, "plans", "executable", "break a rule", *_HEADLINES),
        tuple(
            [
                _cells(
                    name or "-",
                    one["plans"],
                    Rate(one["executable"], one["plans"]),
                    Rate(one["breaks"], one["plans"]),
                    *[one[headline] for headline in _HEADLINES],
                )
                for name, one in order
            ]
        ),
    )


def by_labels(
    rows: Iterable[Mapping[str, Any]],
    column: str,
    taxonomy: str,
    meant: Mapping[str, tuple[str, ...]],
    reading: str = "halt",
) -> Table:
    """Labelled plans and what they break: in a category that the label means, or in any. ``meant`` is by label.

    A label of several categories counts in each; a last line has every labelled plan once.
    """
    total: Counter[str] = Counter()
    right: Counter[str] = Counter()
    flagged: Counter[str] = Counter()
    for row in rows:
        wanted = meant.get(value_of(row, column), ())
        if not wanted:
            continue
        found = [f for f in row["findings"] if is_finding(f, reading) and brought_about(f)]
        said = {name for f in found for name in categories_of(row, f, taxonomy)}
        for name in (*wanted, "all"):
            total[name] += 1
            right[name] += not said.isdisjoint(wanted)
            flagged[name] += bool(found)
    names = sorted(set(total) - {"all"}, key=lambda name: (-total[name], name))
    return Table(
        f"plans by what {column} means in {taxonomy}",
        ("category", "plans", "flagged as meant", "flagged"),
        tuple(
            [
                _cells(name, total[name], Rate(right[name], total[name]), Rate(flagged[name], total[name]))
                for name in [*names, *(["all"] if total else [])]
            ]
        ),
    )


def _cells(*cells: Cell) -> tuple[Cell, ...]:
    return cells


def every_plan(rows: Iterable[Mapping[str, Any]], reading: str = "halt") -> Table:
    """One line for each plan."""
    made: list[tuple[Cell, ...]] = []
    for row in rows:
        mine = [f for f in row["findings"] if is_finding(f, reading) and brought_about(f)]
        rules = " ".join(dict.fromkeys([f["rule"] for f in mine]))
        hazards = " ".join(dict.fromkeys([f["hazard"] for f in mine if f["hazard"]]))
        steps = row["steps"]
        made.append((row["id"], row["headline"] or NOT_CHECKED, row["executable"], steps, hazards, rules))
    return Table("plans", ("id", "headline", "executable", "steps", "hazards", "rules"), tuple(made))


def where(rows: Iterable[Mapping[str, Any]], bins: int = 10) -> Table:
    """Where in a plan things go wrong: violations by the part of the plan that they happen in."""
    counts = [Counter[str]() for _ in range(bins)]
    end: Counter[str] = Counter()
    for row in rows:
        steps = row["steps"]
        for finding in row["findings"]:
            if "halt" not in finding["readings"] or not brought_about(finding):
                continue
            kind = "rules" if finding["rule"] is not None else "steps that cannot be taken"
            if finding["at_end"] or finding["step"] is None or not steps:
                end[kind] += 1
            else:
                counts[min(bins - 1, (max(finding["step"], 1) - 1) * bins // steps)][kind] += 1
    kinds = ("rules", "steps that cannot be taken")
    names = [f"{100 * i // bins} to {100 * (i + 1) // bins} %" for i in range(bins)]
    lines: list[tuple[Cell, ...]] = [
        (name, *[count[kind] for kind in kinds]) for name, count in zip(names, counts, strict=True)
    ]
    lines.append(("at the end", *[end[kind] for kind in kinds]))
    return Table("where in the plan it goes wrong", ("part of the plan", *kinds), tuple(lines))
