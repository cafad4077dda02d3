"""Page data without repetitions and without absolute folders; ``assets/data.js`` restores the repetitions."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from plansafe.app.render.finding_groups import group_json_findings

MOST_TABLE_ROWS = 16
"""Maximum number of rows in the table of a finding: the initial state and the last changes."""
_HIDDEN_FINDING_FIELDS = ("span", "related", "state", "targets")
_HIDDEN_REPORT_FIELDS = ("worlds", "taxonomy", "kept", "script", "columns", "home")
_STEP_DEFAULTS = {"source": "", "time": None, "duration": None, "at": None, "lasts": None}
_SPAN_DEFAULTS = {"instances": (), "number": 0}
_MOMENT_FIELDS = ("letter", "time", "at", "steps", "changes")
_OWN_FIELDS = frozenset(("message", "step", "binding", "notes", "table"))
"""Fields that differ between the findings of a rule; all other fields are stored once if they are equal."""


def compact_detail(detail: Mapping[str, Any]) -> dict[str, Any]:
    """Return the page data of a plan in the form that the page stores."""
    out = {**detail, "report": compact_report(detail["report"])}
    out["timelines"] = [_compact_timeline(timeline) for timeline in detail["timelines"]]
    return out


def compact_report(report: Mapping[str, Any]) -> dict[str, Any]:
    """Return a report without the fields that the page does not show; fields that findings share are in ``shared``.

    A finding is a pair: the index of its shared fields, and its own fields. ``groups`` has the indices of the findings
    that the page shows under one heading.
    """
    shared: dict[str, tuple[int, dict[str, Any]]] = {}
    findings = []
    for finding in report["findings"]:
        common = {k: v for k, v in finding.items() if k not in _OWN_FIELDS and k not in _HIDDEN_FINDING_FIELDS}
        index, _ = shared.setdefault(repr(common), (len(shared), common))
        own_fields = {key: finding[key] for key in finding if key in _OWN_FIELDS}
        if own_fields.get("table"):
            own_fields["table"] = _shortened_table(own_fields["table"])
        findings.append([index, own_fields])
    return {
        **{key: value for key, value in report.items() if key not in _HIDDEN_REPORT_FIELDS},
        "shared": [common for _, common in shared.values()],
        "findings": findings,
        "groups": group_json_findings(report["findings"]),
        "rules": [rule for rule in report.get("rules", ()) if rule["instances"]],
        "inputs": [{key: file.get(key) for key in ("role", "path", "how")} for file in report.get("inputs", ())],
    }


def _shortened_table(table: Mapping[str, Any]) -> Mapping[str, Any]:
    rows = table["rows"]
    if len(rows) <= MOST_TABLE_ROWS:
        return table
    return {**table, "rows": [rows[0], *rows[1 - MOST_TABLE_ROWS :]], "omitted": len(rows) - MOST_TABLE_ROWS}


def _compact_timeline(timeline: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **timeline,
        "steps": [_without_defaults(step, _STEP_DEFAULTS) for step in timeline["steps"]],
        "moments": [
            [moment[key] for key in _MOMENT_FIELDS] + [moment["cause"]] * (moment["cause"] is not None)
            for moment in timeline["moments"]
        ],
        "tracks": [
            {"rule": track["rule"], "looks": [_without_defaults(look, _SPAN_DEFAULTS) for look in track["looks"]]}
            for track in timeline["tracks"]
        ],
    }


def _without_defaults(record: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in record.items() if key not in defaults or value != defaults[key]}


def compact_repair_rows(rows: Iterable[Sequence[Any]]) -> list[list[Any]]:
    """Return the rows of a repair, with each run of unchanged steps as ``[" ", old, new, length]``."""
    out: list[list[Any]] = []
    for row in rows:
        if row[0] != " ":
            out.append(list(row))
        elif out and out[-1][0] == " ":
            out[-1][3] += 1
        else:
            out.append([" ", row[1], row[2], 1])
    return out


# -- folders ----------------------------------------------------------------------------------------------------------


def displayed_path(path: str) -> str:
    """Return a path without the folders of this machine: relative to the current folder, or its last two parts."""
    if not os.path.isabs(path):
        return path
    current = os.path.join(os.getcwd(), "")
    if path.startswith(current) and len(current) > 1:
        return path[len(current) :]
    parts = path.strip(os.sep).split(os.sep)
    return os.sep.join(parts[-2:] if len(parts) > 2 else parts[-1:])


def folder_prefixes(paths: Iterable[str]) -> list[str]:
    """Return the beginnings that :func:`displayed_path` removes from absolute paths, longest first."""
    prefixes = {path.removesuffix(displayed_path(path)) for path in paths if os.path.isabs(path)}
    return sorted(prefixes - {"", os.sep}, key=len, reverse=True)
