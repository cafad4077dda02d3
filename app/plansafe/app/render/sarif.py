"""SARIF 2.1.0, as code-scanning services read it: one log with one run, written when the batch is over.

A result's rule is the rule of the user where one is violated, and else the code; the code is in its properties. The
findings of a rule are one result: a service shows one alert, with the later steps as related locations.

SARIF 2.1.0 with repairs: the log of an audit, whose results have the nearest safe plan as their fix.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from plansafe.app.explain import page
from plansafe.app.render.difference import Replacement, replacements, sentence
from plansafe.app.render.finding_groups import FindingGroup, group_findings, later_findings_text
from plansafe.app.render.folding import baseline_notes, coverage_notes, home_profile_notes, nondeciding_notes
from plansafe.app.render.json import coverage_object, world_object
from plansafe.app.session.audit import combined_exit_code
from plansafe.app.session.diagnosis import Examined
from plansafe.app.session.fingerprints import KEY, Fingerprints, clean, place_of, uri
from plansafe.app.session.model import BaselineEntry, Result, Settings
from plansafe.app.system.terminal_text import not_checked
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity, Span
from plansafe.grammar.source import Source
from plansafe.verifier.reporting.report import Finding, FindingClass, Headline

if TYPE_CHECKING:
    from plansafe.verifier.reporting.worlds import WorldsReport


_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}
_OF_RULES = {"critical": "error", "high": "error", "medium": "warning", "low": "note"}
_SECURITY = {"critical": "9.5", "high": "8.0", "medium": "5.5", "low": "2.0"}
"""What code-scanning services sort by: from 0 to 10, after the bounds of CVSS."""
_ROOT = "%SRCROOT%"
_MAX_RELATED = 100
"""Maximum number of related locations of a result: GitHub shows no more, and rejects a log with more than 1,000."""
_LINKS = 5
"""Number of later steps that a message links to."""


class Fix(NamedTuple):
    """An edit of a plan's text that fixes all its findings."""

    description: str
    replacements: tuple[Replacement, ...]


class SarifRenderer:
    """Collects results; :meth:`end` writes the log."""

    def __init__(self, version: str, show_all: bool = False) -> None:
        self._version = version
        self._show_all = show_all
        self._results: list[dict[str, Any]] = []
        self._rules: dict[str, dict[str, Any]] = {}
        self._fingerprints = Fingerprints()
        self._codes: set[int] = set()
        self._complete = True
        self._notifications: list[dict[str, Any]] = []

    def plan(self, result: Result) -> str:
        """Collect one result; nothing is written yet."""
        self.add(result, result.exit_code)
        return ""

    def add(self, result: Result, exit_code: int, fix: Fix | None = None, outcome: Sequence[str] = ()) -> None:
        """Collect one result with its exit code, the fix of its findings, and the reason for a missing fix."""
        self._codes.add(exit_code)
        if result.report.headline in (None, Headline.UNKNOWN) and result.failure is None:
            self._complete = False
            status = "not decided" if result.report.headline is Headline.UNKNOWN else "not checked"
            self._notifications.append({"level": "error", "message": {"text": clean(f"{result.plan}: {status}")}})
        for diagnostic in result.report.diagnostics:
            self._results.append(self._of_diagnostic(diagnostic, result))
        known_numbers = result.marks.known if result.marks is not None else ()
        for number, sarif_result in self._of_findings(result.report.findings, result, known_numbers):
            if fix is not None:
                sarif_result["fixes"] = [_fix_object(fix, result)]
            if result.marks is not None:
                sarif_result["baselineState"] = "unchanged" if number in known_numbers else "new"
            self._results.append(sarif_result)
        self._results += [self._gone(entry, result) for entry in (result.marks and result.marks.gone) or ()]
        for used in result.report.verdict_basis.exempted:
            in_plan = used.exemption.place.startswith(f"{result.plan}:")
            why = {
                "kind": "inSource" if in_plan else "external",
                "status": "accepted",
                "justification": clean(used.exemption.reason),
            }
            for _, sarif_result in self._of_findings(used.findings, result):
                self._results.append({**sarif_result, "suppressions": [why]})
        if result.report.headline is not None:
            for line in [
                *nondeciding_notes(result.report),
                *home_profile_notes(result.report),
                *baseline_notes(result),
                *([f"findings not listed: {result.report.suppressed:,}"] if result.report.suppressed else []),
            ]:
                self._notifications.append({"level": "note", "message": {"text": clean(f"{result.plan}: {line}")}})
        summary = result.report.coverage
        if summary is not None:
            lines = coverage_notes(result.report) or [
                f"{summary.applicable} of {summary.applicable} rules can apply here"
            ]
            text = clean(f"{result.plan}: {'; '.join(lines)}")
            properties = {"coverage": json.loads(clean(json.dumps(coverage_object(summary))))}
            self._notifications.append({"level": "note", "message": {"text": text}, "properties": properties})
        if result.report.headline is not None and result.report.safety is None:
            text = f"{result.plan}: {not_checked(result.report)}"
            self._notifications.append({"level": "note", "message": {"text": clean(text)}})
        if result.failure is not None:
            self._complete = False
            self._notifications.append({"level": "error", "message": {"text": clean(result.failure)}})
        if outcome:
            text = f"{result.plan}: {'; '.join(outcome)}"
            self._notifications.append({"level": "note", "message": {"text": clean(text)}})

    def end(self) -> str:
        """Write the log that all results are in."""
        driver = {"name": "safecheck", "semanticVersion": self._version, "rules": list(self._rules.values())}
        invocation = {
            "executionSuccessful": self._complete,
            "exitCode": combined_exit_code(self._codes),
            "toolExecutionNotifications": self._notifications,
        }
        run: dict[str, Any] = {
            "tool": {"driver": driver},
            "columnKind": "unicodeCodePoints",
            "originalUriBaseIds": {_ROOT: {"description": {"text": "The folder that safecheck was started in."}}},
            "invocations": [invocation],
            "results": self._results,
        }
        log = {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}
        return json.dumps(log, indent=2) + "\n"

    def _of_diagnostic(self, diagnostic: Diagnostic, result: Result) -> dict[str, Any]:
        primary = diagnostic.labels[0] if diagnostic.labels else None
        name, span = place_of(primary, result.plan)
        text = "\n".join(
            [diagnostic.message, *diagnostic.notes, *([f"help: {diagnostic.help}"] if diagnostic.help else [])]
        )
        self._rules.setdefault(diagnostic.code, _code_rule(diagnostic.code))
        level = _LEVELS[diagnostic.severity]
        sarif_result = self._result(diagnostic.code, level, text, name, span, result.sources)
        sarif_result["partialFingerprints"] = {KEY: self._fingerprints.of_diagnostic(diagnostic, result)}
        sarif_result["properties"] = {"code": diagnostic.code}
        return _with_related(sarif_result, diagnostic.labels[1:], result.sources)

    def _of_findings(
        self, findings: Sequence[Finding], result: Result, known: Collection[int] = ()
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield a result for each group of findings, with the index of its first finding."""
        fingerprints = [self._fingerprints.of_finding(finding, result) for finding in findings]
        for group in group_findings(findings, known, self._show_all):
            number = group.numbers[0]
            yield number, self._of_group(group, result, fingerprints[number])

    def _of_group(self, group: FindingGroup, result: Result, fingerprint: str) -> dict[str, Any]:
        finding = group.first
        level = _OF_RULES.get(finding.severity or "", "error")
        if finding.finding_class is FindingClass.UNDECIDED:
            level = "warning" if level == "error" else level
        name = finding.source or result.plan
        worlds = result.report.worlds
        text = finding.message
        if finding.worlds is not None and worlds is not None:
            from plansafe.app.render.worlds import of_finding_alone  # noqa: PLC0415 - where something is open

            text = "\n".join([text, *of_finding_alone(finding, worlds)])
        text += f"\nhelp: {finding.help}" if finding.help else ""
        related = list(finding.related)
        if group.later:
            later = [(f.step, Label(f.source or name, f.span, f.message)) for f in group.later if f.span is not None]
            links = [f"[step {step}]({number})" for number, (step, _) in enumerate(later[:_LINKS], len(related) + 1)]
            text += f"\nand {later_findings_text(group, complete=not result.report.suppressed)}"
            text += f"; see {', '.join(links)}" if links else ""
            related += [label for _, label in later]
        rule = clean(finding.rule or finding.code)
        if rule not in self._rules:
            of_user = finding.rule is not None
            self._rules[rule] = _user_rule(rule, finding, result.sources) if of_user else _code_rule(finding.code)
        sarif_result = self._result(rule, level, text, name, finding.span, result.sources)
        sarif_result["partialFingerprints"] = {KEY: fingerprint}
        sarif_result["properties"] = {
            "code": finding.code,
            "step": finding.step,
            "rule": finding.rule and clean(finding.rule),
            "hazard": finding.hazard,
            "severity": finding.severity,
            "blame": finding.blame.value if finding.blame else None,
            "follows": finding.follows,
        }
        if finding.worlds is not None:
            sarif_result["properties"]["worlds"] = finding.worlds.value
            sarif_result["properties"]["world"] = _world(finding, worlds)
        if group.later:
            sarif_result["occurrenceCount"] = len(group.findings)
            sarif_result["properties"]["steps"] = [f.step for f in group.findings]
        return _with_related(sarif_result, related, result.sources)

    def _gone(self, entry: BaselineEntry, result: Result) -> dict[str, Any]:
        """A finding of the baseline that is not there any more."""
        if entry.rule not in self._rules:
            self._rules[entry.rule] = {**_code_rule(entry.code), "id": entry.rule}
        sarif_result = self._result(entry.rule, "none", entry.message, result.plan, None, result.sources)
        return {**sarif_result, "partialFingerprints": {KEY: entry.fingerprint}, "baselineState": "absent"}

    def _result(
        self, rule: str, level: str, text: str, name: str, span: Span | None, sources: Mapping[str, Source]
    ) -> dict[str, Any]:
        index = list(self._rules).index(rule)
        place = {"physicalLocation": _physical(name, span, sources)}
        message = {"text": clean(text)}
        return {"ruleId": rule, "ruleIndex": index, "level": level, "message": message, "locations": [place]}


def _world(finding: Finding, worlds: WorldsReport | None) -> dict[str, Any] | None:
    """The world that a finding was seen in; its texts may come from bytes that are not UTF-8."""
    if worlds is None or finding.world is None:
        return None
    text = json.dumps(world_object(worlds.witnesses[finding.world].world), ensure_ascii=False)
    world_properties: dict[str, Any] = json.loads(clean(text))
    return world_properties


def _with_related(
    sarif_result: dict[str, Any], labels: Sequence[Label], sources: Mapping[str, Source]
) -> dict[str, Any]:
    related = [
        {
            "id": number,
            "message": {"text": clean(label.text)},
            "physicalLocation": _physical(label.source, label.span, sources),
        }
        for number, label in enumerate(labels[:_MAX_RELATED], 1)
    ]
    if related:
        sarif_result["relatedLocations"] = related
    return sarif_result


def _physical(name: str, span: Span | None, sources: Mapping[str, Source]) -> dict[str, Any]:
    region = {"startLine": 1}
    source = sources.get(name)
    if span is not None and source is not None:
        region = _region(span, source)
    return {"artifactLocation": _artifact(name), "region": region}


def _fix_object(fix: Fix, result: Result) -> dict[str, Any]:
    source = result.inputs[0].source
    replaced = [
        {"deletedRegion": _region(span, source), "insertedContent": {"text": clean(text)}}
        for span, text in fix.replacements
    ]
    change = {"artifactLocation": _artifact(result.plan), "replacements": replaced}
    return {"description": {"text": clean(fix.description)}, "artifactChanges": [change]}


def _region(span: Span, source: Source) -> dict[str, int]:
    line, column = source.position(span.start)
    end_line, end_column = source.position(max(span.end, span.start))
    return {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}


def _artifact(name: str) -> dict[str, str]:
    """Where a file is: from the current folder, if it is below it."""
    address, is_relative = uri(name)
    return {"uri": address, "uriBaseId": _ROOT} if is_relative else {"uri": address}


def _user_rule(name: str, finding: Finding, sources: Mapping[str, Source]) -> dict[str, Any]:
    """A rule as its author wrote it: why it is there, what to do, its text, and what its class of findings is."""
    rule_labels = [label for label in finding.related if label.text.startswith("the rule") and label.source in sources]
    texts = [sources[label.source].slice(label.span) for label in rule_labels[:1]]
    reasons = [finding.rationale or "", f"Source: {finding.rationale_source}" if finding.rationale_source else ""]
    paragraphs = ["\n\n".join([text for text in reasons if text]), *texts, page(finding.code) or ""]
    plain_text = clean("\n\n".join([text for text in paragraphs if text]))
    markdown = clean("\n\n".join([paragraphs[0], *[f"```lisp\n{text}\n```" for text in texts], paragraphs[-1]]).strip())
    properties: dict[str, Any] = {"code": finding.code}
    if finding.severity in _SECURITY:
        properties |= {"severity": finding.severity, "security-severity": _SECURITY[finding.severity]}
    if finding.hazard:
        properties["tags"] = ["safety", clean(finding.hazard)]
    title = _title(finding.code)
    return {
        "id": name,
        "shortDescription": {"text": f"{name} ({title})"},
        "fullDescription": {"text": clean(finding.rationale or title)},
        "defaultConfiguration": {"level": _OF_RULES.get(finding.severity or "", "error")},
        "help": {"text": plain_text, "markdown": markdown},
        "properties": properties,
    }


def _title(code: str) -> str:
    return (page(code) or f"# {code}").split("\n", 1)[0].lstrip("# ")


def _code_rule(code: str) -> dict[str, Any]:
    text = page(code) or f"# {code}"
    title = _title(code)
    return {
        "id": code,
        "shortDescription": {"text": title},
        "fullDescription": {"text": title},
        "help": {"text": text, "markdown": text},
    }


class RepairSarifRenderer:
    """Collects the examined plans; :meth:`end` writes the log."""

    def __init__(self, settings: Settings, version: str) -> None:
        self._sarif = SarifRenderer(version, settings.every)

    def plan(self, examined: Examined, written: str | None = None) -> str:  # noqa: ARG002 - as other renderers
        """Collect one plan; nothing is written yet."""
        outcome = [] if examined.outcome is None else [examined.outcome.message, *examined.outcome.notes]
        self._sarif.add(examined.result, examined.exit_code, _fix(examined), outcome)
        return ""

    def end(self) -> str:
        """Write the log that all results are in."""
        return self._sarif.end()


def _fix(examined: Examined) -> Fix | None:
    """The repair as an edit of the plan's text; ``None`` without a repair."""
    if examined.best is None or examined.text is None or not examined.best.edits:
        return None
    plan = examined.result.inputs[0].source
    words = sentence(examined.original, examined.best)
    return Fix(f"nearest safe plan: {words}", tuple(replacements(plan.text, examined.text)))
