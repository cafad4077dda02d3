"""One JSON object on a line for each plan. The schema is ``schema/report-1.json``."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from plansafe.app.project.inputs import Input
from plansafe.app.session.model import Result, Settings
from plansafe.grammar.diagnostics import Diagnostic, Label, Span
from plansafe.grammar.source import Source
from plansafe.verifier.reporting.report import Coverage, Finding, RuleCount, Table, UsedExemption

if TYPE_CHECKING:
    from plansafe.verifier.reporting.worlds import ShownWorld, WorldsReport
    from plansafe.verifier.rules.home_profile import ProfileEffects

SCHEMA = 1
dumps: Callable[[Any], str] = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode


class JsonRenderer:
    """Makes JSON lines. What stays the same from plan to plan (rules, inputs, settings) is encoded once."""

    def __init__(
        self, settings: Settings, version: str, quiet: Collection[str] = (), unread: str | None = None
    ) -> None:
        """``quiet``: rules of such a status are left out, which a run of many plans names elsewhere.

        ``unread``: the headline of a plan that could not be judged.
        """
        self._unread = unread
        self._version = version
        self._quiet = quiet
        self._limits = {
            "tolerance": settings.tolerance,
            "time_s": settings.time_limit,
            "max_findings": settings.max_findings,
            "max_instances": settings.max_instances,
        }
        self._rule = lru_cache(maxsize=4096)(_encode_rule)
        self._rules = lru_cache(maxsize=8)(self._encode_rules)
        self._shared_inputs = lru_cache(maxsize=8)(_encode_inputs)

    def plan(self, result: Result) -> str:
        """Render one result as a line."""
        return safe_line(self.object(result))

    def object(self, result: Result) -> str:
        """Render one result as an object, in which bytes that were not UTF-8 are still lone surrogates."""
        report = result.report
        sources = result.sources
        head = {
            "schema": SCHEMA,
            "plan": result.plan,
            "headline": report.headline.value if report.headline else self._unread,
            "exit_code": result.exit_code,
            "executable": report.executable.value,
            "goal": report.goal.value,
            "safe": report.safety.value if report.safety else None,
            "rules_checked": report.rules_checked,
            "decided": {
                "judge": report.verdict_basis.criteria.judge,
                "min_severity": report.verdict_basis.criteria.min_severity,
                "before": report.verdict_basis.before,
                "minor": report.verdict_basis.minor,
            },
            "steps": report.steps,
            "findings": [_finding(finding, sources) for finding in report.findings],
            "suppressed": report.suppressed,
            "diagnostics": [diagnostic_object(diagnostic, sources) for diagnostic in report.diagnostics],
            "readings": [
                {
                    "name": r.name,
                    "executed": r.executed,
                    "goal": r.goal.value,
                    "safe": r.safe.value if report.has_applicable_rules else None,
                }
                for r in report.readings
            ],
            "metric": report.metric,
            "preferences_violated": dict(report.preferences_violated),
            "assumptions": report.assumptions,
            "engine": {"name": report.engine, "version": self._version},
            "limits": {**self._limits, "reached": report.limits},
        }
        if result.marks is not None:
            marks = result.marks
            head["baseline"] = {
                "file": marks.file,
                "known": sorted(marks.known),
                "new": marks.new,
                "gone": None if marks.gone is None else [entry._asdict() for entry in marks.gone],
            }
        if report.home is not None:
            head["home"] = _home(report.home, report.verdict_basis.exempted, sources)
        if report.coverage is not None:
            head["coverage"] = coverage_object(report.coverage, bool(self._quiet))
        if report.worlds is not None:
            head["worlds"] = _worlds(report.worlds)
        if result.failure is not None:
            head["traceback"] = result.failure
        plans = result.inputs[:1] if result.inputs and result.inputs[0].role == "plan" else ()
        inputs = ",".join(filter(None, (_encode_inputs(plans), self._shared_inputs(result.inputs[len(plans) :]))))
        return f'{dumps(head)[:-1]},"rules":{self._rules(report.rules)},"inputs":[{inputs}]}}'

    def _encode_rules(self, rules: tuple[RuleCount, ...]) -> str:
        """What differs from plan to plan are the counts of a few."""
        return f"[{','.join([self._rule(rule) for rule in rules if rule.status not in self._quiet])}]"

    def end(self) -> str:
        """Nothing is left to say."""
        return ""


def _home(home: ProfileEffects, used: tuple[UsedExemption, ...], sources: Mapping[str, Source]) -> dict[str, Any]:
    usage = {exempted.exemption: exempted for exempted in used}
    return {
        "file": home.name,
        "exemptions": [
            {
                "said": exemption.description,
                "reason": exemption.reason,
                "place": exemption.place,
                "rules": sorted(exemption.rules),
                "objects": None if exemption.objects is None else sorted(exemption.objects),
                "used": usage[exemption].times if exemption in usage else 0,
                "findings": [_finding(f, sources) for f in usage[exemption].findings] if exemption in usage else [],
            }
            for exemption in home.exemptions
        ],
        "changes": [change._asdict() for change in home.changes],
    }


def coverage_object(coverage: Coverage, brief: bool = False) -> dict[str, Any]:
    """What the rules see of a task; ``brief`` without the reasons, and with the classes that the plan uses alone."""
    return {
        "applicable": coverage.applicable,
        "not_applicable": sum([len(group.rules) for group in coverage.not_applicable]),
        "reasons": [] if brief else [group._asdict() for group in coverage.not_applicable],
        "unclassified": [
            {
                "class": unknown.name,
                "objects": unknown.objects,
                "used": unknown.used,
                "breaks": [suspicion._asdict() for suspicion in unknown.possible_violations],
            }
            for unknown in coverage.unclassified
            if unknown.used or not brief
        ],
        "given": [
            {"class": entry.name, "kinds": entry.kinds, "reason": entry.reason, "place": entry.place}
            for entry in coverage.given_kinds
        ],
    }


def _encode_rule(rule: RuleCount) -> str:
    fields = rule._asdict()
    del fields["applicable"]
    return dumps(fields)


def _encode_inputs(inputs: tuple[Input, ...]) -> str:
    return ",".join(dumps({"role": i.role, "path": i.path, "how": i.how, "sha256": i.sha256}) for i in inputs)


def json_line(content: Mapping[str, Any]) -> str:
    """An object as one line, in ASCII and without lone surrogates, whatever is in its texts."""
    return safe_line(dumps(content))


def safe_line(encoded: str) -> str:
    """End a line of JSON; bytes that were not UTF-8 become U+FFFD: readers refuse lone surrogates."""
    if "\\ud" not in encoded:
        return encoded + "\n"
    text = json.dumps(json.loads(encoded), separators=(",", ":"), ensure_ascii=False)
    return dumps(json.loads(text.encode("utf-8", "replace"))) + "\n"


def _worlds(worlds: WorldsReport) -> dict[str, Any]:
    return {
        "open": {
            "facts": worlds.open_facts,
            "numbers": worlds.open_numbers,
            "outcomes": worlds.choices,
            "durations": worlds.durations,
            "unordered": worlds.unordered,
        },
        "relevant": worlds.relevant,
        "witnesses": [
            {"about": witness.about, "replayed": witness.replayed, **world_object(witness.world)}
            for witness in worlds.witnesses
        ],
        "cause": None if worlds.cause is None else [value._asdict() for value in worlds.cause],
        "cause_note": worlds.cause_note,
        "question": worlds.question,
        "question_note": worlds.question_note,
        "invariants": worlds.invariants,
        "solver": worlds.solver,
        "advice": worlds.advice,
        "ranges": [part._asdict() for part in worlds.ranges],
    }


def world_object(world: ShownWorld) -> dict[str, Any]:
    """A world as JSON."""
    return {
        "facts": [value._asdict() for value in world.facts],
        "outcomes": [outcome._asdict() for outcome in world.outcomes],
        "order": world.order,
        "durations": [value._asdict() for value in world.durations],
    }


def _finding(finding: Finding, sources: Mapping[str, Source]) -> dict[str, Any]:
    world_fields = {} if finding.worlds is None else {"worlds": finding.worlds.value, "world": finding.world}
    return {
        "code": finding.code,
        "class": finding.finding_class.value,
        "message": finding.message,
        "step": finding.step,
        "at_end": finding.at_end,
        "rule": finding.rule,
        "binding": dict(finding.binding),
        "readings": finding.readings,
        "follows": finding.follows,
        "blame": finding.blame.value if finding.blame else None,
        "span": _span(finding.source, finding.span, sources),
        "related": [_label(label, sources) for label in finding.related],
        "notes": finding.notes,
        "help": finding.help,
        "hazard": finding.hazard,
        "targets": finding.targets,
        "severity": finding.severity,
        "rationale": finding.rationale,
        "rationale_source": finding.rationale_source,
        **({"proposals": [proposal._asdict() for proposal in finding.proposals]} if finding.proposals else {}),
        "replayed": finding.replayed,
        "table": _table(finding.table),
        "state": finding.state,
        **world_fields,
    }


def _table(table: Table | None) -> dict[str, Any] | None:
    if table is None:
        return None
    rows = [
        {
            "step": row.step,
            "action": row.action,
            "cells": [[change.before, change.after] for change in row.cells],
            "status": row.status,
            "important": row.important,
        }
        for row in table.rows
    ]
    return {"columns": table.columns, "rows": rows}


def diagnostic_object(diagnostic: Diagnostic, sources: Mapping[str, Source]) -> dict[str, Any]:
    """A diagnostic as JSON."""
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity.value,
        "message": diagnostic.message,
        "labels": [_label(label, sources) for label in diagnostic.labels],
        "notes": diagnostic.notes,
        "help": diagnostic.help,
    }


def _label(label: Label, sources: Mapping[str, Source]) -> dict[str, Any]:
    return {"span": _span(label.source, label.span, sources), "text": label.text, "primary": label.primary}


def _span(name: str | None, span: Span | None, sources: Mapping[str, Source]) -> dict[str, Any] | None:
    """Place a span: offsets count characters from 0, lines and columns from 1; the end is exclusive."""
    if name is None or span is None:
        return None
    source = sources.get(name)
    if source is None:
        return {"source": name, "start": None, "end": None}
    ends = []
    for offset in span:
        line, column = source.position(offset)
        ends.append({"offset": offset, "line": line, "column": column})
    return {"source": name, "start": ends[0], "end": ends[1]}
