"""Convert the diagnostics and findings of a file to LSP diagnostics."""

from __future__ import annotations

import os

from lsprotocol import types

from plansafe.app import explain
from plansafe.app.interfaces.editor.document_text import Text, uri_of
from plansafe.app.interfaces.editor.workspace import Analysis
from plansafe.app.render.finding_groups import FindingGroup, group_findings, later_findings_text
from plansafe.app.session.model import Prepared
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity, Span
from plansafe.verifier.reporting.report import Finding, FindingClass, Headline, Report

SOURCE = "safecheck"
_PAGES = os.path.dirname(os.path.abspath(explain.__file__))
_LEVELS = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.NOTE: types.DiagnosticSeverity.Information,
}
_RULE_LEVELS = {
    "critical": types.DiagnosticSeverity.Error,
    "high": types.DiagnosticSeverity.Error,
    "medium": types.DiagnosticSeverity.Warning,
    "low": types.DiagnosticSeverity.Information,
}
MAX_RELATED = 12
MAX_HINTS = 100
"""Maximum number of later findings of a rule that are shown as hints."""


def file_diagnostics(analysis: Analysis) -> list[types.Diagnostic]:
    """Return the LSP diagnostics of a file, in the order of the report."""
    out = [_diagnostic(d, analysis) for d in analysis.diagnostics if _is_relevant(d, analysis)]
    report = analysis.result.report if analysis.result is not None else None
    if report is not None:
        for group in group_findings([f for f in report.findings if not f.follows]):
            out += _finding_group(group, report, analysis)
        if report.headline is Headline.UNKNOWN and not out:
            out.append(
                _note(analysis, "UNKNOWN: the audit could not decide this plan; run `safecheck audit` for the reason")
            )
    return out


def _is_relevant(diagnostic: Diagnostic, analysis: Analysis) -> bool:
    """Whether to show a diagnostic in this file; errors in other files are shown, since they prevent the analysis."""
    is_elsewhere = bool(diagnostic.labels) and diagnostic.labels[0].source != analysis.text.path
    return diagnostic.severity is Severity.ERROR or not is_elsewhere


def _diagnostic(diagnostic: Diagnostic, analysis: Analysis) -> types.Diagnostic:
    primary = diagnostic.labels[0] if diagnostic.labels else None
    here = primary is not None and primary.source == analysis.text.path
    place = _visible(analysis.text, primary.span) if here and primary is not None else _first_line(analysis.text)
    message = diagnostic.message
    if primary is not None and here and primary.text and primary.text not in message:
        message += f" ({primary.text})"
    if primary is not None and not here:
        message = f"{os.path.basename(primary.source)}: {message}"
    message = "\n".join([message, *diagnostic.notes, *([f"help: {diagnostic.help}"] if diagnostic.help else [])])
    related = diagnostic.labels[1:] if here else diagnostic.labels
    return types.Diagnostic(
        place,
        clean(message),
        severity=_LEVELS[diagnostic.severity],
        code=diagnostic.code,
        code_description=link(diagnostic.code),
        source=SOURCE,
        related_information=_related(related, analysis) or None,
        data={"help": clean(diagnostic.help or "")},
    )


def _finding_group(group: FindingGroup, report: Report, analysis: Analysis) -> list[types.Diagnostic]:
    """Return a diagnostic for the first finding of a rule, and hints for the later ones, which editors do not list."""
    first = _finding(group.first, report, analysis)
    if not group.later:
        return [first]
    later = later_findings_text(group, complete=not report.suppressed)
    first.message += clean(f"\nand {later}")
    labels = [Label(f.source, f.span, f.message) for f in group.later if f.source is not None and f.span is not None]
    free = MAX_RELATED - len(first.related_information or ())
    first.related_information = [*(first.related_information or ()), *_related(tuple(labels[:free]), analysis)] or None
    hints = [_finding(finding, report, analysis) for finding in group.later[:MAX_HINTS]]
    for hint, finding in zip(hints, group.later, strict=False):
        hint.severity = types.DiagnosticSeverity.Hint
        hint.message = clean(finding.message)
        hint.related_information = None
    return [first, *hints]


def _finding(finding: Finding, report: Report, analysis: Analysis) -> types.Diagnostic:
    text = analysis.text
    place = _visible(text, finding.span) if finding.span is not None else _end(analysis, finding)
    consequences = sum([finding.step in consequence.follows for consequence in report.findings]) if finding.step else 0
    lines = [finding.message]
    if finding.rationale:
        lines.append(finding.rationale)
    if finding.rationale_source:
        lines.append(f"source: {finding.rationale_source}")
    if finding.help:
        lines.append(f"help: {finding.help}")
    if consequences:
        findings = "finding follows" if consequences == 1 else "findings follow"
        lines.append(f"{consequences} more {findings} from this one")
    level = _RULE_LEVELS.get(finding.severity or "", types.DiagnosticSeverity.Error)
    if finding.finding_class is FindingClass.UNDECIDED:
        level = types.DiagnosticSeverity.Warning
    return types.Diagnostic(
        place,
        clean("\n".join(lines)),
        severity=level,
        code=finding.code,
        code_description=link(finding.code),
        source=SOURCE,
        related_information=_related(finding.related, analysis) or None,
        data={"step": finding.step, "rule": clean(finding.rule or ""), "help": clean(finding.help or "")},
    )


def link(code: str) -> types.CodeDescription | None:
    """Return a link to the shipped page of a diagnostic code."""
    path = os.path.join(_PAGES, f"{code}.md")
    return types.CodeDescription(uri_of(path)) if os.path.isfile(path) else None


def clean(text: str) -> str:
    """Replace bytes that are not UTF-8; LSP messages must be Unicode."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _note(analysis: Analysis, message: str) -> types.Diagnostic:
    level = types.DiagnosticSeverity.Warning
    return types.Diagnostic(_first_line(analysis.text), message, severity=level, source=SOURCE)


def _first_line(text: Text) -> types.Range:
    return text.range(Span(0, len(text.source.line(1))))


def _visible(text: Text, span: Span) -> types.Range:
    """Return the part of a span on its first line; a longer underline is not useful."""
    end = min(span.end, len(text.text))
    stop = next((offset for offset in range(span.start, end) if text.text[offset] in "\r\n"), end)
    return text.range(Span(min(span.start, end), max(stop, min(span.start, end))))


def _end(analysis: Analysis, finding: Finding) -> types.Range:
    """Return the range of a finding without a step: the first line for the initial state, else the last step."""
    if analysis.prepared is None or (finding.step == 0 and not finding.at_end and finding.code != SC.GOAL):
        return _first_line(analysis.text)
    places = _step_places(analysis.prepared)
    return _visible(analysis.text, places[-1]) if places else _first_line(analysis.text)


def _step_places(prepared: Prepared) -> tuple[Span, ...]:
    """Return the spans of the steps in the open text, in text order."""
    if prepared.places:
        return prepared.places
    return tuple([step.span for step in prepared.checker.read(prepared.plan).text.steps])


def _related(labels: tuple[Label, ...], analysis: Analysis) -> list[types.DiagnosticRelatedInformation]:
    out = []
    for label in labels[:MAX_RELATED]:
        source = analysis.sources.get(label.source)
        if source is None or label.source.startswith("<"):
            continue
        text = analysis.text if label.source == analysis.text.path else Text("", label.source, source.text)
        place = types.Location(uri_of(label.source), _visible(text, label.span))
        out.append(types.DiagnosticRelatedInformation(place, clean(label.text) or "here"))
    return out


def summary(analysis: Analysis) -> dict[str, object]:
    """Return the verdict on a plan for a status bar; the headline is ``None`` for other files."""
    result = analysis.result
    if result is None:
        return {"uri": analysis.text.uri, "headline": None}
    report = result.report
    return {
        "uri": analysis.text.uri,
        "headline": None if report.headline is None else report.headline.value,
        "steps": report.steps,
        "findings": len(report.findings) + report.suppressed,
        "rules": report.rules_checked,
        "safe": None if report.safety is None else report.safety.value,
    }
