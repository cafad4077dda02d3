"""A baseline: findings that are known, so that new ones alone fail a plan (docs/build-machines.md).

It changes no verdict. Where a plan is INVALID or UNSAFE for nothing but known findings, the exit code is 0; what is
known is counted in every report. Only what was judged can be known: ill-formed steps and undecided findings fail as
ever, and so does every plan of which not all findings are listed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from plansafe.app.session.fingerprints import KEY, Fingerprints, clean, path_of
from plansafe.app.session.model import Known, Marks, Result
from plansafe.app.system.file_writing import Guard, save
from plansafe.domains.json_text import BadJson, read_json
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.verifier.reporting.report import Finding, FindingClass, Headline, Worlds

MAX_BYTES = 256 * 1024 * 1024
_NEVER = (FindingClass.ILL_FORMED, FindingClass.UNDECIDED)
_KEYS = Known._fields


class BadBaseline(Exception):
    """A baseline that cannot be used."""

    def __init__(self, message: str, help: str = "write it anew: --write-baseline FILE") -> None:
        super().__init__(message)
        self.diagnostic = Diagnostic(SC.BAD_BASELINE, message, help=help)


class Baseline:
    """The findings of a file, or none; marks results one after the other, and collects what a new file would have."""

    def __init__(self, file: str, entries: Iterable[Known] = (), anew: bool = False) -> None:
        """``anew``: whatever is found is known, since it is being written to ``file``."""
        self._file = file
        self._anew = anew
        self._known: dict[str, dict[str, Known]] = {}
        for entry in entries:
            self._known.setdefault(entry.plan, {})[entry.fingerprint] = entry
        self._left = set(self._known)
        self._fingerprints = Fingerprints()
        self.found: list[Known] = []

    def marked(self, result: Result) -> Result:
        """The result with what the baseline says of it."""
        report = result.report
        entries = self._known.get(path_of(result.plan), {})
        known, seen, new = [], set(), 0
        for number, finding in enumerate(report.findings):
            fingerprint = self._fingerprints.of_finding(finding, result)
            if finding.finding_class in _NEVER or not finding.decides(report.decided.question):
                continue
            entry = _entry(finding, fingerprint, result)
            self.found.append(entry)
            seen.add(fingerprint)
            if self._anew or fingerprint in entries:
                known.append(number)
            else:
                new += 1
        whole = _whole(result)
        gone = tuple([entry for key, entry in entries.items() if key not in seen]) if whole else None
        if whole:
            self._left.discard(path_of(result.plan))
        marks = Marks(self._file, frozenset(known), new, gone, _exit_code(result, new, bool(known), whole))
        return result._replace(marks=marks)

    def unseen(self) -> tuple[int, int]:
        """How many entries belong to plans that were not judged in this run, and how many plans these are."""
        return sum([len(self._known[plan]) for plan in self._left]), len(self._left)

    def write(self, guard: Guard) -> tuple[str, ...]:
        """Write what was found; what else has changed by it, in words. Raises :class:`NotWritten`."""
        entries = [entry._asdict() for entry in sorted(set(self.found), key=lambda one: (one.plan, one.rule, one))]
        lines = ",\n".join([f"    {json.dumps(entry)}" for entry in entries])
        listed = f"[\n{lines}\n  ]" if entries else "[]"
        text = f'{{\n  "version": 1,\n  "fingerprints": "{KEY}",\n  "findings": {listed}\n}}\n'
        return save(self._file, text, guard)


def _entry(finding: Finding, fingerprint: str, result: Result) -> Known:
    rule = clean(finding.rule or finding.code)
    return Known(fingerprint, path_of(result.plan), rule, finding.code, clean(finding.message))


def _whole(result: Result) -> bool:
    """Whether every finding of a plan is listed: it was judged to the end, in the one world that there is.

    Over many worlds the findings are those of witnesses, one for each way to fail (docs/worlds.md): another world may
    have others.
    """
    report = result.report
    if report.headline in (None, Headline.UNKNOWN) or report.suppressed or report.limits:
        return False
    if report.worlds is not None and report.headline is not Headline.SAFE:
        return False
    undecided = Worlds.UNKNOWN in (report.executable, report.goal, report.safe)
    return not undecided and not any([f.finding_class in _NEVER for f in report.findings])


def _exit_code(result: Result, new: int, known: bool, whole: bool) -> int:
    code = result.report.exit_code
    if code != 1 or new or not known:
        return code
    if whole:
        return 0
    report = result.report
    undecided = Worlds.UNKNOWN in (report.executable, report.goal, report.safe)
    return 3 if undecided and not report.suppressed and report.worlds is None else 1


def read_baseline(name: str) -> Baseline:
    """Read a file. Raises :class:`BadBaseline`."""
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
        raise BadBaseline(f"{name} is no baseline of this version")
    listed = table.get("findings")
    entries = [_read(one) for one in listed] if isinstance(listed, list) else [None]
    if None in entries:
        raise BadBaseline(f"a finding in the baseline {name} is none: each has {', '.join(_KEYS)}, all of them texts")
    return Baseline(name, [entry for entry in entries if entry is not None])


def _read(one: Any) -> Known | None:
    if not isinstance(one, dict) or set(one) != set(_KEYS) or not all([isinstance(v, str) for v in one.values()]):
        return None
    return Known(**one)
