"""Baselines: files of known findings, so that only new findings fail a plan (docs/build-machines.md).

A baseline does not change a verdict. If all findings of an INVALID or UNSAFE plan are known, the exit code is 0; every
report counts known findings. Ill-formed steps and undecided findings are never known. A plan with an incomplete list of
findings fails in any case.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from plansafe.app.session.fingerprints import KEY, Fingerprints, clean, path_of
from plansafe.app.session.model import BaselineEntry, Marks, Result
from plansafe.app.system.file_writing import Guard, save
from plansafe.domains.json_text import BadJson, read_json
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.verifier.reporting.report import Finding, FindingClass, Headline, Worlds

MAX_BYTES = 256 * 1024 * 1024
_NEVER = (FindingClass.ILL_FORMED, FindingClass.UNDECIDED)
_KEYS = BaselineEntry._fields


class BadBaseline(Exception):
    """A baseline that cannot be used."""

    def __init__(self, message: str, help: str = "write a new one: --write-baseline FILE") -> None:
        super().__init__(message)
        self.diagnostic = Diagnostic(SC.BAD_BASELINE, message, help=help)


class Baseline:
    """Marks known findings in results, and collects the entries of a new baseline file."""

    def __init__(self, file: str, entries: Iterable[BaselineEntry] = (), is_new: bool = False) -> None:
        """``is_new``: every finding counts as known, because it will be written to ``file``."""
        self._file = file
        self._is_new = is_new
        self._entries: dict[str, dict[str, BaselineEntry]] = {}
        for entry in entries:
            self._entries.setdefault(entry.plan, {})[entry.fingerprint] = entry
        self._left = set(self._entries)
        self._fingerprints = Fingerprints()
        self.collected: list[BaselineEntry] = []

    def marked(self, result: Result) -> Result:
        """Add the marks of the baseline to a result."""
        report = result.report
        entries = self._entries.get(path_of(result.plan), {})
        known_numbers, fingerprints, new_count = [], set(), 0
        for number, finding in enumerate(report.findings):
            fingerprint = self._fingerprints.of_finding(finding, result)
            if finding.finding_class in _NEVER or not finding.decides(report.verdict_basis.criteria):
                continue
            entry = _entry(finding, fingerprint, result)
            self.collected.append(entry)
            fingerprints.add(fingerprint)
            if self._is_new or fingerprint in entries:
                known_numbers.append(number)
            else:
                new_count += 1
        is_complete = _is_complete(result)
        missing = tuple([entry for key, entry in entries.items() if key not in fingerprints]) if is_complete else None
        if is_complete:
            self._left.discard(path_of(result.plan))
        marks = Marks(
            self._file,
            frozenset(known_numbers),
            new_count,
            missing,
            _exit_code(result, new_count, bool(known_numbers), is_complete),
        )
        return result._replace(marks=marks)

    def unseen(self) -> tuple[int, int]:
        """Number of entries for plans that were not audited in this run, and number of these plans."""
        return sum([len(self._entries[plan]) for plan in self._left]), len(self._left)

    def write(self, guard: Guard) -> tuple[str, ...]:
        """Write the collected entries; returns notes on side effects. Raises :class:`NotWritten`."""
        entries = [
            entry._asdict()
            for entry in sorted(
                set(self.collected), key=lambda known_entry: (known_entry.plan, known_entry.rule, known_entry)
            )
        ]
        lines = ",\n".join([f"    {json.dumps(entry)}" for entry in entries])
        listed = f"[\n{lines}\n  ]" if entries else "[]"
        text = f'{{\n  "version": 1,\n  "fingerprints": "{KEY}",\n  "findings": {listed}\n}}\n'
        return save(self._file, text, guard)


def _entry(finding: Finding, fingerprint: str, result: Result) -> BaselineEntry:
    rule = clean(finding.rule or finding.code)
    return BaselineEntry(fingerprint, path_of(result.plan), rule, finding.code, clean(finding.message))


def _is_complete(result: Result) -> bool:
    """True if the report lists every finding: a complete audit of a task with one possible world.

    With several possible worlds, the report lists the findings of witnesses (docs/worlds.md); another world may have
    different ones.
    """
    report = result.report
    if report.headline in (None, Headline.UNKNOWN) or report.suppressed or report.limits:
        return False
    if report.worlds is not None and report.headline is not Headline.SAFE:
        return False
    undecided = Worlds.UNKNOWN in (report.executable, report.goal, report.safe)
    return not undecided and not any([f.finding_class in _NEVER for f in report.findings])


def _exit_code(result: Result, new_count: int, has_known: bool, is_complete: bool) -> int:
    code = result.report.exit_code
    if code != 1 or new_count or not has_known:
        return code
    if is_complete:
        return 0
    report = result.report
    undecided = Worlds.UNKNOWN in (report.executable, report.goal, report.safe)
    return 3 if undecided and not report.suppressed and report.worlds is None else 1


def read_baseline(name: str) -> Baseline:
    """Read a baseline file. Raises :class:`BadBaseline`."""
    try:
        with open(name, "rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise BadBaseline(f"cannot read the baseline {name}: {reason}", "--write-baseline FILE writes one") from None
    if len(data) > MAX_BYTES:
        raise BadBaseline(f"the baseline {name} is larger than {MAX_BYTES // 1024 // 1024} MiB")
    try:
        table = read_json(data.decode("utf-8"))
    except (ValueError, BadJson):
        raise BadBaseline(f"the baseline {name} is not JSON") from None
    if not isinstance(table, dict) or table.get("version") != 1 or table.get("fingerprints") != KEY:
        raise BadBaseline(f"{name} is not a baseline of this version")
    items = table.get("findings")
    entries = [_read(item) for item in items] if isinstance(items, list) else [None]
    if None in entries:
        raise BadBaseline(f"the baseline {name} has an invalid finding: each needs the strings {', '.join(_KEYS)}")
    return Baseline(name, [entry for entry in entries if entry is not None])


def _read(item: Any) -> BaselineEntry | None:
    if not isinstance(item, dict) or set(item) != set(_KEYS) or not all([isinstance(v, str) for v in item.values()]):
        return None
    return BaselineEntry(**item)
