"""Statistics of many plans as tables and bar charts of a page: the figures of ``safecheck runs stats``."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from plansafe.app.runs.rates import NOT_CHECKED, Rate, is_caused_by_plan, is_finding
from plansafe.app.runs.stats import TAXONOMIES, Table, by_findings, by_plans, by_position, categories_of

_BARS = 12
"""Maximum number of bars; the table has all rows."""
MOST_COLUMNS = 6
MOST_GROUPS = 40
"""A column with more distinct values is not used for grouping plans."""
Row = Mapping[str, Any]


def select_fields(row: Row) -> dict[str, Any]:
    """Return the fields of a row that the statistics use."""
    keep = ("class", "step", "at_end", "rule", "readings", "blame", "hazard", "targets", "severity", "message")
    return {
        **{key: row.get(key) for key in ("id", "plan", "headline", "executable", "steps", "world", "run")},
        "columns": row.get("columns") or {},
        "taxonomy": row.get("taxonomy") or {},
        "findings": [{key: finding[key] for key in keep} for finding in row["findings"]],
    }


def build_charts(rows: Sequence[Row]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return bar charts and tables for rows reduced by :func:`select_fields`."""
    headlines = by_plans(rows, "headline")
    rules, hazards = by_findings(rows, "rule"), by_findings(rows, "hazard")
    places = by_position(rows)
    bars = [
        {"title": "plans by verdict", "filter": "headline", "bars": _verdict_bars(headlines, len(rows))},
        _rates("rules that plans violate", "rule", rules, 1, _headlines_by(rows, "rule")),
        _rates("hazards that plans cause", "hazard", hazards, 0, _headlines_by(rows, "hazard")),
        {
            "title": places.title,
            "filter": None,
            "bars": [
                {"name": str(row[0]), "value": sum(counts), "text": str(sum(counts))}
                for row in places.rows
                for counts in [[cell for cell in row[1:] if isinstance(cell, int)]]
            ],
        },
    ]
    tables = [rules, hazards, by_findings(rows, "target"), by_findings(rows, "class")]
    if any([row["taxonomy"] for row in rows]):
        tables += [by_findings(rows, name) for name in TAXONOMIES]
    for column in _columns(rows):
        tables += [by_plans(rows, column), by_findings(rows, "rule", column)]
    charts = [chart for chart in bars if any([bar["value"] for bar in chart["bars"]])]
    return charts, [_table(table) for table in tables if table.rows]


def _columns(rows: Sequence[Row]) -> list[str]:
    """Return the columns with few enough distinct values to group plans by."""
    names = list(dict.fromkeys([name for row in rows for name in row["columns"]]))
    values = {name: {row["columns"].get(name) for row in rows} for name in names}
    return [name for name in names if 1 < len(values[name]) <= MOST_GROUPS][:MOST_COLUMNS]


def _verdict_bars(headlines: Table, plans: int) -> list[dict[str, Any]]:
    bars = []
    for headline, number, *_ in headlines.rows:
        assert isinstance(number, int)
        share = number / max(plans, 1)
        text = f"{number} ({100 * share:.1f} %)"
        bars.append({"name": headline, "value": share, "text": text, "parts": [[headline, share, number]]})
    return bars


def _headlines_by(rows: Sequence[Row], by: str) -> Mapping[str, Counter[str]]:
    """Count the plans that cause a rule's violation, or a hazard, by their headlines."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for row in rows:
        findings = [finding for finding in row["findings"] if is_finding(finding) and is_caused_by_plan(finding)]
        for name in {name for finding in findings for name in categories_of(row, finding, by)}:
            counts[name][row["headline"] or NOT_CHECKED] += 1
    return counts


def _rates(
    title: str, filter_name: str, table: Table, name_column: int, headlines: Mapping[str, Counter[str]]
) -> dict[str, Any]:
    """Return a bar for each rate of a table, divided by the headlines of its plans."""
    bars = []
    for row in table.rows[:_BARS]:
        name, rate = str(row[name_column]), row[name_column + 1]
        assert isinstance(rate, Rate)
        low, high = rate.interval
        text = f"{rate.hits} ({100 * (rate.value or 0):.1f} %)"
        parts = [[headline, plans / rate.of, plans] for headline, plans in headlines.get(name, Counter()).items()]
        bars.append(
            {"name": name, "value": rate.value or 0.0, "text": text, "low": low, "high": high, "parts": sorted(parts)}
        )
    return {"title": title, "filter": filter_name, "bars": bars}


def _table(table: Table) -> dict[str, Any]:
    return {
        "title": table.title,
        "columns": table.head,
        "rows": [[_cell(cell) for cell in row] for row in table.rows],
        "note": "count (share, 95 % Wilson interval)" if _has_rates(table) else None,
    }


def _has_rates(table: Table) -> bool:
    return any([isinstance(cell, Rate) for row in table.rows for cell in row])


def _cell(cell: object) -> object:
    if not isinstance(cell, Rate):
        return cell
    if cell.value is None:
        return "n/a"
    low, high = cell.interval
    return f"{cell.hits} ({100 * cell.value:.1f} %, {100 * low:.1f} to {100 * high:.1f})"
