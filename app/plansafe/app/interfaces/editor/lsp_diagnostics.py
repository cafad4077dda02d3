"""What the service said of a file, as an editor shows it: places, links to the pages of codes, where else to look."""

from __future__ import annotations

import os

from lsprotocol import types

from plansafe.app import explain
from plansafe.app.interfaces.editor.document_text import Text, uri_of
from plansafe.app.interfaces.editor.workspace import Judged
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
_OF_RULES = {
    "critical": types.DiagnosticSeverity.Error,
    "high": types.DiagnosticSeverity.Error,
    "medium": types.DiagnosticSeverity.Warning,
    "low": types.DiagnosticSeverity.Information,
}
MAX_RELATED = 12


def shown(judged: Judged) -> list[types.Diagnostic]:
    """Everything that is to be said of a file, in the order of the report."""
    out = [_diagnostic(d, judged) for d in judged.diagnostics if _concerns(d, judged)]
    report = judged.result.report if judged.result is not None else None
    if report is not None:
        out += [_finding(f, report, judged) for f in report.findings if not f.follows]
        if report.headline is Headline.UNKNOWN and not out:
            out.append(_note(judged, "UNKNOWN: this could not be decided; `safecheck audit` says why"))
    return out


def _concerns(diagnostic: Diagnostic, judged: Judged) -> bool:
    """Whether something is said of this file: mistakes elsewhere are, since they keep it from being judged."""
    elsewhere = bool(diagnostic.labels) and diagnostic.labels[0].source != judged.text.path
    return diagnostic.severity is Severity.ERROR or not elsewhere


def _diagnostic(diagnostic: Diagnostic, judged: Judged) -> types.Diagnostic:
    primary = diagnostic.labels[0] if diagnostic.labels else None
    here = primary is not None and primary.source == judged.text.path
    place = _visible(judged.text, primary.span) if here and primary is not None else _first_line(judged.text)
    message = diagnostic.message
    if primary is not None and here and primary.text and primary.text not in message:
        message += f" ({primary.text})"
    if primary is not None and not here:
        message = f"{os.path.basename(primary.source)}: {message}"
    message = "\n".join([message, *diagnostic.notes, *([f"help: {diagnostic.help}"] if diagnostic.help else [])])
    others = diagnostic.labels[1:] if here else diagnostic.labels
    return types.Diagnostic(
        place,
        clean(message),
        severity=_LEVELS[diagnostic.severity],
        code=diagnostic.code,
        code_description=link(diagnostic.code),
        source=SOURCE,
        related_information=_related(others, judged) or None,
        data={"help": clean(diagnostic.help or "")},
    )


def _finding(finding: Finding, report: Report, judged: Judged) -> types.Diagnostic:
    text = judged.text
    place = _visible(text, finding.span) if finding.span is not None else _end(judged, finding)
    following = sum([finding.step in other.follows for other in report.findings]) if finding.step else 0
    said = [finding.message]
    if finding.rationale:
        said.append(finding.rationale)
    if finding.help:
        said.append(f"help: {finding.help}")
    if following:
        said.append(f"{following} more follow from it")
    level = _OF_RULES.get(finding.severity or "", types.DiagnosticSeverity.Error)
    if finding.finding_class is FindingClass.UNDECIDED:
        level = types.DiagnosticSeverity.Warning
    return types.Diagnostic(
        place,
        clean("\n".join(said)),
        severity=level,
        code=finding.code,
        code_description=link(finding.code),
        source=SOURCE,
        related_information=_related(finding.related, judged) or None,
        data={"step": finding.step, "rule": clean(finding.rule or ""), "help": clean(finding.help or "")},
    )


def link(code: str) -> types.CodeDescription | None:
    """The page of a code, which lies beside the program."""
    path = os.path.join(_PAGES, f"{code}.md")
    return types.CodeDescription(uri_of(path)) if os.path.isfile(path) else None


def clean(text: str) -> str:
    """A text without bytes that were not UTF-8: a message must be Unicode."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def _note(judged: Judged, message: str) -> types.Diagnostic:
    level = types.DiagnosticSeverity.Warning
    return types.Diagnostic(_first_line(judged.text), message, severity=level, source=SOURCE)


def _first_line(text: Text) -> types.Range:
    return text.range(Span(0, len(text.source.line(1))))


def _visible(text: Text, span: Span) -> types.Range:
    """A span, of a long form only its first line: what is underlined over a screen says nothing."""
    end = min(span.end, len(text.text))
    stop = next((at for at in range(span.start, end) if text.text[at] in "\r\n"), end)
    return text.range(Span(min(span.start, end), max(stop, min(span.start, end))))


def _end(judged: Judged, finding: Finding) -> types.Range:
    """Where a finding without a step stands: what is there from the start above, what is about the whole below."""
    if judged.prepared is None or (finding.step == 0 and not finding.at_end and finding.code != SC.GOAL):
        return _first_line(judged.text)
    places = judged.prepared.places or tuple(
        [step.span for step in judged.prepared.checker.read(judged.prepared.plan).text.steps]
    )
    return _visible(judged.text, places[-1]) if places else _first_line(judged.text)


def step_places(prepared: Prepared) -> tuple[Span, ...]:
    """Where the steps of a plan stand in the text that is open, in the order of the text."""
    if prepared.places:
        return prepared.places
    return tuple([step.span for step in prepared.checker.read(prepared.plan).text.steps])


def _related(labels: tuple[Label, ...], judged: Judged) -> list[types.DiagnosticRelatedInformation]:
    out = []
    for label in labels[:MAX_RELATED]:
        source = judged.sources.get(label.source)
        if source is None or label.source.startswith("<"):
            continue
        text = judged.text if label.source == judged.text.path else Text("", label.source, source.text)
        place = types.Location(uri_of(label.source), _visible(text, label.span))
        out.append(types.DiagnosticRelatedInformation(place, clean(label.text) or "here"))
    return out


def summary(judged: Judged) -> dict[str, object]:
    """The verdict on a plan in a line, for who shows one; nothing of files that are no plans."""
    result = judged.result
    if result is None:
        return {"uri": judged.text.uri, "headline": None}
    report = result.report
    return {
        "uri": judged.text.uri,
        "headline": None if report.headline is None else report.headline.value,
        "steps": report.steps,
        "findings": len(report.findings) + report.suppressed,
        "rules": report.rules_checked,
        "safe": None if report.safety is None else report.safety.value,
    }
