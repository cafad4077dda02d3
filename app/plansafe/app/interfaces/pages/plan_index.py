"""The index of a page: a short row per plan and shared rule texts; details are stored separately per plan."""

from __future__ import annotations

import gzip
from base64 import b64encode
from collections.abc import Iterator, Mapping
from typing import Any

from plansafe.app.interfaces.pages.compact import compact_detail, displayed_path, folder_prefixes
from plansafe.app.interfaces.pages.document import document, embedded
from plansafe.app.runs.rates import is_finding

MOST_DETAILS = 256 * 1024 * 1024
"""Maximum characters of details on one page; further plans have a row but no details."""
PLAIN_DETAILS = 2 * 1024 * 1024
"""Details with more characters than this are compressed."""
PACKED_TOGETHER = 64
"""Plans per compressed block; the page decompresses a block when a plan in it is opened."""


class Book:
    """Collect plans for one page. A plan is an object of ``report-1.json`` with additional data."""

    def __init__(self, title: str, columns: tuple[str, ...] = ()) -> None:
        self.title = title
        self.columns = columns
        self.about: list[tuple[str, str]] = []
        self.notes: list[str] = []
        self.reload_s: float | None = None
        """Seconds after which the page loads itself again; ``None`` for a page that does not change."""
        self.plots: list[dict[str, Any]] = []
        self.tables: list[dict[str, Any]] = []
        self._rows: list[list[Any]] = []
        self._details: list[str] = []
        self._size = 0
        self._names: dict[str, int] = {}
        self._rules: dict[tuple[tuple[str, str], ...], int] = {}
        self._shared: list[dict[str, Any]] = []

    def add(self, detail: dict[str, Any], name: str | None = None, seconds: float | None = None) -> None:
        """Add a plan. ``detail`` has its ``report`` and optional ``columns``; ``name`` is its displayed name."""
        report = detail["report"]
        prefixes = folder_prefixes([report["plan"], *[file["path"] for file in report.get("inputs", ())]])
        findings = [finding for finding in report["findings"] if is_finding(finding)]
        columns = detail.get("columns") or {}
        steps = [finding["step"] for finding in report["findings"]]
        self._rows.append(
            [
                displayed_path(name or report["plan"]),
                report["headline"],
                report["steps"],
                len(report["findings"]) + report["suppressed"],
                min(steps, default=None),
                self._name_indices([finding["rule"] for finding in findings]),
                None if seconds is None else round(seconds, 4),
                self._name_indices([finding["hazard"] for finding in findings if finding["hazard"]]),
                columns,
            ]
        )
        line = "null"
        if self._size <= MOST_DETAILS:
            rules = {rule: self._rule(about) for rule, about in detail.get("rules", {}).items()}
            line = embedded({**compact_detail(detail), "rules": rules})
            for prefix in prefixes:
                line = line.replace(embedded(prefix)[1:-1], "")
        self._size += len(line)
        self._details.append(line)

    def _name_indices(self, names: list[str]) -> list[int]:
        return [self._names.setdefault(name, len(self._names)) for name in dict.fromkeys(names)]

    def _rule(self, about: Mapping[str, Any]) -> int:
        """Return the index of a rule text in the shared list, adding it if it is new."""
        if about.get("source"):
            about = {**about, "source": displayed_path(about["source"])}
        key = tuple([(name, str(value)) for name, value in about.items()])
        if key not in self._rules:
            self._rules[key] = len(self._shared)
            self._shared.append(dict(about))
        return self._rules[key]

    def pieces(self) -> Iterator[str]:
        """Yield the page in pieces."""
        index: dict[str, Any] = {
            "title": self.title,
            "reload_s": self.reload_s,
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
        """Yield the details compressed with gzip and encoded in Base64; browsers load them about ten times faster."""
        for start in range(0, len(self._details), PACKED_TOGETHER):
            block = "\n".join(self._details[start : start + PACKED_TOGETHER]).encode()
            yield b64encode(gzip.compress(block, 6, mtime=0)).decode()
