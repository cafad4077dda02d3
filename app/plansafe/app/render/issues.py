"""Findings and diagnostics as issues of a code review: each with level, place and text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from plansafe.app.render.finding_groups import group_findings, later_findings_text
from plansafe.app.render.folding import visible_findings
from plansafe.app.session.fingerprints import Fingerprints, place_of, relative
from plansafe.app.session.model import Result
from plansafe.app.system.terminal_text import brief
from plansafe.grammar.diagnostics import Diagnostic, Severity, Span
from plansafe.verifier.reporting.report import Finding, FindingClass, Worlds

LEVELS = ("critical", "high", "medium", "low", "note")
"""Levels of issues, the worst first: the severities of rules, and notes."""
_OF_DIAGNOSTICS = {Severity.ERROR: "high", Severity.WARNING: "medium", Severity.NOTE: "note"}


class Issue(NamedTuple):
    """One issue. Lines and columns count from 1; the end is the position after the last character.

    ``path`` is relative to the current folder, ``None`` for standard input.
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


def issues(result: Result, show_all: bool, fingerprints: Fingerprints, grouped: bool = False) -> Iterator[Issue]:
    """Diagnostics, then findings: the visible ones that are not in the baseline (docs/build-machines.md).

    ``grouped`` returns only the first finding of each rule, with the number of the others.
    """
    for diagnostic in result.report.diagnostics:
        yield _of_diagnostic(diagnostic, result, fingerprints)
    visible = {id(finding) for finding in visible_findings(result.report, show_all)}
    known_numbers = result.marks.known if result.marks is not None else ()
    chosen: list[tuple[Finding, Issue]] = []
    for number, finding in enumerate(result.report.findings):
        issue = _of_finding(finding, result, fingerprints)  # made for hidden findings as well: fingerprints count them
        if id(finding) in visible and number not in known_numbers:
            chosen.append((finding, issue))
    for group in group_findings([finding for finding, _ in chosen], show_all=not grouped):
        issue = chosen[group.numbers[0]][1]
        if group.later:
            later = later_findings_text(group, complete=not result.report.suppressed)
            issue = issue._replace(text=f"{issue.text}\nand {brief(later)}")
        yield issue


def _of_diagnostic(diagnostic: Diagnostic, result: Result, fingerprints: Fingerprints) -> Issue:
    label = diagnostic.labels[0] if diagnostic.labels else None
    name, span = place_of(label, result.plan)
    text = _lines(diagnostic.message, *diagnostic.notes, help=diagnostic.help)
    fingerprint = fingerprints.of_diagnostic(diagnostic, result)
    place = _place(name, span, result)
    return Issue(diagnostic.code, diagnostic.code, _OF_DIAGNOSTICS[diagnostic.severity], text, *place, fingerprint)


def _of_finding(finding: Finding, result: Result, fingerprints: Fingerprints) -> Issue:
    level = finding.severity if finding.severity in LEVELS else "high"
    if finding.finding_class is FindingClass.UNDECIDED:
        level = max(level, "medium", key=LEVELS.index)
    remarks = [finding.blame.value] if finding.blame is not None else []
    if finding.finding_class is FindingClass.UNDECIDED:
        remarks.append("undecided")
    elif finding.worlds is not None:
        remarks.append("in every world" if finding.worlds is Worlds.ALL else "in some worlds")
    message = f"{finding.message} ({', '.join(remarks)})" if remarks else finding.message
    fingerprint = fingerprints.of_finding(finding, result)
    place = _place(finding.source or result.plan, finding.span, result)
    check = brief(finding.rule or finding.code)
    return Issue(finding.code, check, level, _lines(message, help=finding.help), *place, fingerprint)


def _lines(*texts: str, help: str | None) -> str:
    lines = [line for text in texts for line in text.split("\n")] + ([f"help: {help}"] if help else [])
    return "\n".join([brief(line) for line in lines])


def _place(name: str, span: Span | None, result: Result) -> tuple[str | None, int, int, int, int]:
    path = None if name.startswith("<") else relative(name)[0]
    source = result.sources.get(name)
    if span is None or source is None:
        return path, 1, 1, 1, 1
    return path, *source.position(span.start), *source.position(max(span.end, span.start))
