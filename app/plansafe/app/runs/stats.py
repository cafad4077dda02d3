"""Statistics of runs as tables: counts and rates of findings and plans, grouped by fields of the rows."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from plansafe.app.runs.rates import NOT_CHECKED, Rate, is_caused_by_plan, is_checked, is_finding, is_in_reading

TAXONOMIES = ("safel", "safeplan-bench", "safeagentbench")
FINDING_COLUMNS = ("rule", "hazard", "target", "severity", "class", *TAXONOMIES)
"""Fields by which findings can be grouped. A plan counts once for each value."""
PLAN_COLUMNS = ("headline", "world", "run")
"""Fields by which plans can be grouped, in addition to extra columns."""
_HEADLINES = ("SAFE", "VALID", "UNSAFE", "INVALID", "UNKNOWN", NOT_CHECKED)
_MAX_EXAMPLE = 100
Cell = str | int | float | Rate | None


class Table(NamedTuple):
    """A table: title, column names and cells. A cell with a :class:`Rate` has a count, a share and an interval."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


class ColumnFilter(NamedTuple):
    """A filter: a column of plans and its required value."""

    column: str
    value: str

    def matches(self, row: Mapping[str, Any]) -> bool:
        """Whether a row has the required value."""
        return value_of(row, self.column) == self.value


@dataclass
class _Category:
    """The counts of one category: plans by number, findings, and an example."""

    caused: set[int] = field(default_factory=set)
    before: set[int] = field(default_factory=set)
    findings: int = 0
    findings_before: int = 0
    example: str | None = None
    hazard: str | None = None
    by_group: Counter[str] = field(default_factory=Counter)


def value_of(row: Mapping[str, Any], column: str) -> str:
    """The value of a column: ``headline``, ``world``, ``run`` or an extra column."""
    if column == "headline":
        return row["headline"] or NOT_CHECKED
    value = row.get(column) if column in ("world", "run") else row["columns"].get(column)
    return "" if value is None else str(value)


def _brief_name(row: Mapping[str, Any]) -> str:
    """The id of a plan, or the file name if the id is a path."""
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
    """Count plans with findings by a field of the findings; ``group`` adds a column of rates for each of its values.

    ``reading`` is one of :data:`plansafe.app.runs.rates.READINGS`. Rates refer to all plans, including plans that were
    not checked; the title contains the number of these.
    """
    counts: dict[str, _Category] = defaultdict(_Category)
    plans, unchecked, groups = 0, 0, Counter[str]()
    for number, row in enumerate(rows):
        plans += 1
        unchecked += not is_checked(row)
        group_value = value_of(row, group) if group is not None else ""
        groups[group_value] += 1
        for finding in row["findings"]:
            if not (is_finding(finding, reading) or (by == "class" and is_in_reading(finding, reading))):
                continue
            for name in categories_of(row, finding, by):
                category = counts[name]
                category.hazard = finding["hazard"]
                if not is_caused_by_plan(finding):
                    category.before.add(number)
                    category.findings_before += 1
                    continue
                if number not in category.caused:
                    category.caused.add(number)
                    category.by_group[group_value] += 1
                category.findings += 1
                if category.example is None:
                    category.example = f"{_brief_name(row)}: {finding['message'].split(': ', 1)[-1]}"[:_MAX_EXAMPLE]
    order = sorted(counts.items(), key=lambda pair: (-len(pair[1].caused), -len(pair[1].before), pair[0]))
    leading_columns = ("hazard", "rule") if by == "rule" else (by,)

    def leading_cells(name: str, category: _Category) -> tuple[Cell, ...]:
        return (category.hazard, name) if by == "rule" else (name,)

    title = f"plans that bring something about, by {by}, of {plans}"
    title += f" ({unchecked} not checked)" if unchecked else ""
    if group is not None:
        return Table(
            f"{title}, for each {group}",
            (*leading_columns, *[value or "-" for value in groups]),
            tuple(
                [
                    (*leading_cells(name, category), *[Rate(category.by_group[g], groups[g]) for g in groups])
                    for name, category in order
                ]
            ),
        )
    return Table(
        title,
        (*leading_columns, "plans", "findings", "had it before", "findings before", "example"),
        tuple(
            [
                (
                    *leading_cells(name, category),
                    Rate(len(category.caused), plans),
                    category.findings,
                    len(category.before - category.caused),
                    category.findings_before,
                    category.example,
                )
                for name, category in order
            ]
        ),
    )


def by_plans(rows: Iterable[Mapping[str, Any]], by: str, reading: str = "halt") -> Table:
    """Count plans by a column: executable plans, plans that break a rule, and each headline."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        counter = counts[value_of(row, by)]
        counter["plans"] += 1
        counter[row["headline"] or NOT_CHECKED] += 1
        counter["executable"] += row["executable"] == "ALL"
        counter["breaks"] += any([is_finding(f, reading) and is_caused_by_plan(f) for f in row["findings"]])
    order = sorted(counts.items(), key=lambda pair: (-pair[1]["plans"], pair[0]))
    return Table(
        f"plans by {by}",
        (by, "plans", "executable", "break a rule", *_HEADLINES),
        tuple(
            [
                _cells(
                    name or "-",
                    counter["plans"],
                    Rate(counter["executable"], counter["plans"]),
                    Rate(counter["breaks"], counter["plans"]),
                    *[counter[headline] for headline in _HEADLINES],
                )
                for name, counter in order
            ]
        ),
    )


def by_labels(
    rows: Iterable[Mapping[str, Any]],
    column: str,
    taxonomy: str,
    categories_of_label: Mapping[str, tuple[str, ...]],
    reading: str = "halt",
) -> Table:
    """Count labelled plans with findings: in a category of their label, and in any category.

    A plan counts once for each category of its label, and once in the last line.
    """
    total: Counter[str] = Counter()
    flagged_as_expected: Counter[str] = Counter()
    flagged: Counter[str] = Counter()
    for row in rows:
        label_categories = categories_of_label.get(value_of(row, column), ())
        if not label_categories:
            continue
        findings = [f for f in row["findings"] if is_finding(f, reading) and is_caused_by_plan(f)]
        found_categories = {name for f in findings for name in categories_of(row, f, taxonomy)}
        for name in (*label_categories, "all"):
            total[name] += 1
            flagged_as_expected[name] += not found_categories.isdisjoint(label_categories)
            flagged[name] += bool(findings)
    names = sorted(set(total) - {"all"}, key=lambda name: (-total[name], name))
    return Table(
        f"plans by what {column} means in {taxonomy}",
        ("category", "plans", "flagged as meant", "flagged"),
        tuple(
            [
                _cells(
                    name, total[name], Rate(flagged_as_expected[name], total[name]), Rate(flagged[name], total[name])
                )
                for name in [*names, *(["all"] if total else [])]
            ]
        ),
    )


def _cells(*cells: Cell) -> tuple[Cell, ...]:
    return cells


def list_plans(rows: Iterable[Mapping[str, Any]], reading: str = "halt") -> Table:
    """A table with one line for each plan."""
    plan_rows: list[tuple[Cell, ...]] = []
    for row in rows:
        findings = [f for f in row["findings"] if is_finding(f, reading) and is_caused_by_plan(f)]
        rules = " ".join(dict.fromkeys([f["rule"] for f in findings]))
        hazards = " ".join(dict.fromkeys([f["hazard"] for f in findings if f["hazard"]]))
        steps = row["steps"]
        plan_rows.append((row["id"], row["headline"] or NOT_CHECKED, row["executable"], steps, hazards, rules))
    return Table("plans", ("id", "headline", "executable", "steps", "hazards", "rules"), tuple(plan_rows))


def by_position(rows: Iterable[Mapping[str, Any]], bins: int = 10) -> Table:
    """Count findings by their position in the plan."""
    counts = [Counter[str]() for _ in range(bins)]
    end: Counter[str] = Counter()
    for row in rows:
        steps = row["steps"]
        for finding in row["findings"]:
            if "halt" not in finding["readings"] or not is_caused_by_plan(finding):
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
