"""What a page begins with: a short row for each plan, and what several of them share; details wait for their plan."""

from __future__ import annotations

import gzip
from base64 import b64encode
from collections.abc import Iterator, Mapping
from typing import Any

from plansafe.app.interfaces.pages.document import document, embedded
from plansafe.app.runs.rates import is_finding

_UNSHOWN = ("span", "related", "state", "targets")
MOST_DETAILS = 256 * 1024 * 1024
"""Letters of details on one page; plans beyond have a row, and no details."""
PLAIN_DETAILS = 2 * 1024 * 1024
"""Letters of details that stand as they are; more are packed."""
PACKED_TOGETHER = 64
"""So many plans are packed as one, and unpacked when one of them is opened."""


class Book:
    """Collects plans for one page. A plan is an object of ``report-1.json`` with what else is known of it."""

    def __init__(self, title: str, columns: tuple[str, ...] = ()) -> None:
        self.title = title
        self.columns = columns
        self.about: list[tuple[str, str]] = []
        self.notes: list[str] = []
        self.plots: list[dict[str, Any]] = []
        self.tables: list[dict[str, Any]] = []
        self._rows: list[list[Any]] = []
        self._details: list[str] = []
        self._size = 0
        self._names: dict[str, int] = {}
        self._rules: dict[tuple[tuple[str, str], ...], int] = {}
        self._shared: list[dict[str, Any]] = []

    def add(self, detail: dict[str, Any], name: str | None = None, seconds: float | None = None) -> None:
        """Add a plan. ``detail`` holds its ``report``, and kept ``columns``; ``name`` is what it is called."""
        report = detail["report"]
        broken = [one for one in report["findings"] if is_finding(one)]
        kept = detail.get("columns") or {}
        steps = [one["step"] for one in report["findings"]]
        self._rows.append(
            [
                name or report["plan"],
                report["plan"] if name is None else name,
                report["headline"],
                report["steps"],
                len(report["findings"]) + report["suppressed"],
                min(steps, default=None),
                self._named([one["rule"] for one in broken]),
                None if seconds is None else round(seconds, 4),
                self._named([one["hazard"] for one in broken if one["hazard"]]),
                kept,
            ]
        )
        detail = {**detail, "report": trimmed(report)}
        detail = {**detail, "rules": {rule: self._rule(about) for rule, about in detail.get("rules", {}).items()}}
        line = embedded(detail) if self._size <= MOST_DETAILS else "null"
        self._size += len(line)
        self._details.append(line)

    def _named(self, names: list[str]) -> list[int]:
        return [self._names.setdefault(name, len(self._names)) for name in dict.fromkeys(names)]

    def _rule(self, about: Mapping[str, Any]) -> int:
        """What is said of a rule, once for all plans of which the same is said."""
        key = tuple([(name, str(value)) for name, value in about.items()])
        if key not in self._rules:
            self._rules[key] = len(self._shared)
            self._shared.append(dict(about))
        return self._rules[key]

    def pieces(self) -> Iterator[str]:
        """The page."""
        index: dict[str, Any] = {
            "title": self.title,
            "about": self.about,
            "notes": self.notes,
            "columns": self.columns,
            "names": list(self._names),
            "rules": self._shared,
            "plots": self.plots,
            "tables": self.tables,
            "rows": [[*row[:-1], [row[-1].get(column) for column in self.columns]] for row in self._rows],
        }
        if self._size <= PLAIN_DETAILS:
            return document(self.title, index, self._details)
        index["packed"] = PACKED_TOGETHER
        return document(self.title, index, self._packed())

    def _packed(self) -> Iterator[str]:
        """The details by gzip, in letters: a browser reads ten thousand plans in the time that a tenth would take."""
        for start in range(0, len(self._details), PACKED_TOGETHER):
            several = "\n".join(self._details[start : start + PACKED_TOGETHER]).encode()
            yield b64encode(gzip.compress(several, 6, mtime=0)).decode()


def trimmed(report: dict[str, Any]) -> dict[str, Any]:
    """A report without what a page does not show: rules that had nothing to check, places in texts, hashes."""
    findings = [{key: value for key, value in one.items() if key not in _UNSHOWN} for one in report["findings"]]
    return {
        **{
            key: value
            for key, value in report.items()
            if key not in ("worlds", "taxonomy", "kept", "script", "columns", "home")
        },
        "findings": findings,
        "rules": [rule for rule in report.get("rules", ()) if rule["instances"]],
        "inputs": [{key: one.get(key) for key in ("role", "path", "how")} for one in report.get("inputs", ())],
    }
