"""SARIF 2.1.0, as code-scanning services read it: one log with one run, written when the batch is over."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from plansafe.app.explain import page
from plansafe.app.render.json import world_object
from plansafe.app.service import Result
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity, Span
from plansafe.grammar.source import Source
from plansafe.verifier.report import Finding, FindingClass

if TYPE_CHECKING:
    from plansafe.verifier.symbolic.model import WorldsReport

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}


class SarifRenderer:
    """Collects results; :meth:`end` writes the log."""

    def __init__(self, version: str) -> None:
        self._version = version
        self._results: list[dict[str, Any]] = []
        self._rules: dict[str, int] = {}
        self._complete = True
        self._notifications: list[dict[str, Any]] = []

    def plan(self, result: Result) -> str:
        """Collect one result; nothing is written yet."""
        for diagnostic in result.report.diagnostics:
            self._results.append(self._of_diagnostic(diagnostic, result))
        for finding in result.report.findings:
            self._results.append(self._of_finding(finding, result))
        if result.report.headline is not None and result.report.safety is None:
            text = f"{result.plan}: safe: not checked, no rules"
            self._notifications.append({"level": "note", "message": {"text": _clean(text)}})
        if result.failure is not None:
            self._complete = False
            self._notifications.append({"level": "error", "message": {"text": _clean(result.failure)}})
        return ""

    def end(self) -> str:
        """Write the log."""
        rules = [_rule(code) for code in self._rules]
        driver = {"name": "safecheck", "semanticVersion": self._version, "rules": rules}
        run: dict[str, Any] = {
            "tool": {"driver": driver},
            "columnKind": "unicodeCodePoints",
            "invocations": [{"executionSuccessful": self._complete, "toolExecutionNotifications": self._notifications}],
            "results": self._results,
        }
        log = {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}
        return json.dumps(log, indent=2) + "\n"

    def _of_diagnostic(self, diagnostic: Diagnostic, result: Result) -> dict[str, Any]:
        primary = diagnostic.labels[0] if diagnostic.labels else None
        name, span = (primary.source, primary.span) if primary else (result.plan, None)
        text = "\n".join(
            [diagnostic.message, *diagnostic.notes, *([f"help: {diagnostic.help}"] if diagnostic.help else [])]
        )
        found = self._result(diagnostic.code, _LEVELS[diagnostic.severity], text, name, span, result.sources)
        return _with_related(found, diagnostic.labels[1:], result.sources)

    def _of_finding(self, finding: Finding, result: Result) -> dict[str, Any]:
        level = "warning" if finding.finding_class is FindingClass.UNDECIDED else "error"
        name = finding.source or result.plan
        worlds = result.report.worlds
        text = finding.message
        if finding.worlds is not None and worlds is not None:
            from plansafe.app.render.worlds import of_finding_alone  # noqa: PLC0415 - where something is open

            text = "\n".join([text, *of_finding_alone(finding, worlds)])
        text += f"\nhelp: {finding.help}" if finding.help else ""
        found = self._result(finding.code, level, text, name, finding.span, result.sources)
        found["properties"] = {
            "step": finding.step,
            "rule": finding.rule and _clean(finding.rule),
            "hazard": finding.hazard,
            "severity": finding.severity,
            "blame": finding.blame.value if finding.blame else None,
            "follows": finding.follows,
        }
        if finding.worlds is not None:
            found["properties"]["worlds"] = finding.worlds.value
            found["properties"]["world"] = _world(finding, worlds)
        return _with_related(found, finding.related, result.sources)

    def _result(
        self, code: str, level: str, text: str, name: str, span: Span | None, sources: Mapping[str, Source]
    ) -> dict[str, Any]:
        index = self._rules.setdefault(code, len(self._rules))
        place = {"physicalLocation": _physical(name, span, sources)}
        message = {"text": _clean(text)}
        return {"ruleId": code, "ruleIndex": index, "level": level, "message": message, "locations": [place]}


def _world(finding: Finding, worlds: WorldsReport | None) -> dict[str, Any] | None:
    """The world that a finding was seen in; its texts may come from bytes that are not UTF-8."""
    if worlds is None or finding.world is None:
        return None
    text = json.dumps(world_object(worlds.witnesses[finding.world].world), ensure_ascii=False)
    found: dict[str, Any] = json.loads(_clean(text))
    return found


def _with_related(found: dict[str, Any], labels: tuple[Label, ...], sources: Mapping[str, Source]) -> dict[str, Any]:
    related = [
        {
            "id": number,
            "message": {"text": _clean(label.text)},
            "physicalLocation": _physical(label.source, label.span, sources),
        }
        for number, label in enumerate(labels, 1)
    ]
    if related:
        found["relatedLocations"] = related
    return found


def _physical(name: str, span: Span | None, sources: Mapping[str, Source]) -> dict[str, Any]:
    region = {"startLine": 1}
    source = sources.get(name)
    if span is not None and source is not None:
        line, column = source.position(span.start)
        end_line, end_column = source.position(max(span.end, span.start))
        region = {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}
    return {"artifactLocation": {"uri": quote(_clean(name.strip("<>")))}, "region": region}


def _rule(code: str) -> dict[str, Any]:
    text = page(code) or f"# {code}"
    title = text.split("\n", 1)[0].lstrip("# ")
    return {
        "id": code,
        "shortDescription": {"text": title},
        "fullDescription": {"text": title},
        "help": {"text": text, "markdown": text},
    }


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")
