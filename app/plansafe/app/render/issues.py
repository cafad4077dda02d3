"""What services of code review show at a line: findings and diagnostics as issues, each with level, place and text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from plansafe.app.render.folding import shown
from plansafe.app.session.fingerprints import Fingerprints, place_of, relative
from plansafe.app.session.model import Result
from plansafe.app.system.terminal_text import brief
from plansafe.grammar.diagnostics import Diagnostic, Severity, Span
from plansafe.verifier.reporting.report import Finding, FindingClass, Worlds

LEVELS = ("critical", "high", "medium", "low", "note")
"""How bad an issue is, the worst first: the severities of rules, and what is only said."""
_OF_DIAGNOSTICS = {Severity.ERROR: "high", Severity.WARNING: "medium", Severity.NOTE: "note"}


class Issue(NamedTuple):
    """One thing to show. Lines and columns count from 1; the end is the place behind the last character.

    ``path`` is that of the file from the current folder, ``None`` for standard input.
    """

    code: str
    check: str
    level: str
    text: str
    path: str | None
    line: int
    column: int
    end_line: int
    end_column: int
    fingerprint: str


def issues(result: Result, every: bool, fingerprints: Fingerprints) -> Iterator[Issue]:
    """Diagnostics, then findings: those that are shown, and that no baseline knows (docs/build-machines.md)."""
    for diagnostic in result.report.diagnostics:
        yield _of_diagnostic(diagnostic, result, fingerprints)
    visible = {id(finding) for finding in shown(result.report, every)}
    known = result.marks.known if result.marks is not None else ()
    for number, finding in enumerate(result.report.findings):
        issue = _of_finding(finding, result, fingerprints)  # also of what is not shown: they are counted
        if id(finding) in visible and number not in known:
            yield issue


def _of_diagnostic(diagnostic: Diagnostic, result: Result, fingerprints: Fingerprints) -> Issue:
    label = diagnostic.labels[0] if diagnostic.labels else None
    name, span = place_of(label, result.plan)
    text = _lines(diagnostic.message, *diagnostic.notes, help=diagnostic.help)
    found = fingerprints.of_diagnostic(diagnostic, result)
    place = _place(name, span, result)
    return Issue(diagnostic.code, diagnostic.code, _OF_DIAGNOSTICS[diagnostic.severity], text, *place, found)


def _of_finding(finding: Finding, result: Result, fingerprints: Fingerprints) -> Issue:
    level = finding.severity if finding.severity in LEVELS else "high"
    if finding.finding_class is FindingClass.UNDECIDED:
        level = max(level, "medium", key=LEVELS.index)
    remarks = [finding.blame.value] if finding.blame is not None else []
    if finding.finding_class is FindingClass.UNDECIDED:
        remarks.append("undecided")
    elif finding.worlds is not None:
        remarks.append("in every world" if finding.worlds is Worlds.ALL else "in some worlds")
    said = f"{finding.message} ({', '.join(remarks)})" if remarks else finding.message
    found = fingerprints.of_finding(finding, result)
    place = _place(finding.source or result.plan, finding.span, result)
    check = brief(finding.rule or finding.code)
    return Issue(finding.code, check, level, _lines(said, help=finding.help), *place, found)


def _lines(*texts: str, help: str | None) -> str:
    lines = [line for text in texts for line in text.split("\n")] + ([f"help: {help}"] if help else [])
    return "\n".join([brief(line) for line in lines])


def _place(name: str, span: Span | None, result: Result) -> tuple[str | None, int, int, int, int]:
    path = None if name.startswith("<") else relative(name)[0]
    source = result.sources.get(name)
    if span is None or source is None:
        return path, 1, 1, 1, 1
    return path, *source.position(span.start), *source.position(max(span.end, span.start))
