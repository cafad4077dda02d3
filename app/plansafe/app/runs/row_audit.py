"""Audit one plan of a run and write its row. All workers execute this code; :class:`Session` decides the verdict."""

from __future__ import annotations

import gc
import os
import time
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from plansafe.app.project.discovery import Discovery
from plansafe.app.project.inputs import Choice
from plansafe.app.render.json import JsonRenderer, dumps, safe_line
from plansafe.app.runs.item import AuditedRow, Item, unreadable_row
from plansafe.app.runs.rates import NOT_CHECKED
from plansafe.app.session.audit import Session
from plansafe.app.session.model import Prepared, Result, Settings
from plansafe.app.system.version import version
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.grammar.plan_text import read_plan
from plansafe.grammar.source import Source
from plansafe.specs.taxonomy import RuleLike, load_taxonomies
from plansafe.verifier.reporting.report import Report, make_unchecked_report

if TYPE_CHECKING:
    from plansafe.verifier.api import Checker

QUIET = frozenset(("kept", "never applied", "not applicable"))
"""Statuses of rules that a row does not report in detail."""

MAX_STEPS = 500
"""Maximum length of a plan whose steps the row contains; the row of a longer plan does not contain any."""


class RowAuditor:
    """Audits the plans of a run. Consecutive plans of one task share the compiled task."""

    def __init__(self, settings: Settings) -> None:
        # A batch creates many small tuples and hardly any cycles.
        gc.set_threshold(1_000_000, 50, 100)
        self._settings = settings._replace(hashes=True, retell=True)
        self._renderer = JsonRenderer(self._settings, version(), QUIET, NOT_CHECKED)
        self._key: object = None
        self._session = Session(self._settings)
        self._checker: Checker | None = None
        self._known_rules: set[str] = set()
        self._new_rules: dict[str, dict[str, Any]] = {}
        self._inputs: dict[str, str] = {}
        self._steps: list[str] = []

    def audit_item(self, item: Item) -> AuditedRow:
        """Audit a plan and return its row."""
        start = time.perf_counter()
        self._steps = []
        result = self._result(item)
        seconds = time.perf_counter() - start
        self._new_rules, new = {}, self._new_rules
        used = {i.path: i.sha256 for i in result.inputs if i.role != "plan" and i.sha256 is not None}
        inputs = {path: digest for path, digest in used.items() if self._inputs.get(path) != digest}
        self._inputs.update(inputs)
        return AuditedRow(item.number, self._row(item, result, seconds), new, inputs)

    def audit_item_safely(self, item: Item) -> AuditedRow:
        """Audit a plan; an exception that the session does not catch results in an error row."""
        try:
            return self.audit_item(item)
        except Exception as error:
            return self.failed_row(item, f"with {type(error).__name__}")

    def failed_row(self, item: Item, how: str) -> AuditedRow:
        """The row of a plan whose worker ended during the audit."""
        self._steps = []
        advice = (
            "it may need more memory than is available: set --memory-limit, which ends such an audit with a message"
        )
        bug = Diagnostic(SC.INTERNAL_ERROR, f"the process that audited this plan ended {how}", help=advice)
        return AuditedRow(
            item.number, self._row(item, Result(item.name, make_unchecked_report(item.name, bug), (), {}), 0.0), {}, {}
        )

    def _result(self, item: Item) -> Result:
        if item.wrong is not None:
            return Result(item.name, make_unchecked_report(item.name, unreadable_row(item)), (), {})
        if item.key != self._key:
            self._key = item.key
            files: dict[str, Any] = dict(item.files)
            settings = self._settings._replace(**files)
            finder = None if item.task is None else _discovery_with_goal(settings, files["goal"], item.task)
            self._session = Session(settings, finder)
            self._checker = None
            self._inputs.clear()
        plan = item.path if item.text is None else Source(item.name, item.text)
        assert plan is not None
        (result,) = self._session.process([plan], self._audit, self._settings.time_limit)
        return result

    def _audit(self, prepared: Prepared) -> Result:
        if prepared.checker is not self._checker:
            self._checker = prepared.checker
            for rule in prepared.checker.rules:
                if rule.name not in self._known_rules:
                    self._known_rules.add(rule.name)
                    self._new_rules[rule.name] = {
                        "hazard": rule.hazard,
                        "targets": list(rule.targets),
                        "severity": rule.severity,
                        "message": rule.message,
                        "taxonomy": categories(rule),
                    }
        result = self._session.audit(prepared)
        if result.report.headline is not None:
            self._steps = plan_steps(prepared.plan)
        return result

    def _row(self, item: Item, result: Result, seconds: float) -> bytes:
        head = {
            "id": item.id,
            "number": item.number,
            "columns": item.columns,
            "seconds": round(seconds, 6),
            "taxonomy": _taxonomy(result.report),
            "kept": [rule.name for rule in result.report.rules if rule.status == "kept"],
            "script": self._steps,
        }
        return safe_line(f"{dumps(head)[:-1]},{self._renderer.object(result)[1:]}").encode()


def plan_steps(plan: Source) -> list[str]:
    """The steps of a plan, for display. Empty if the plan is long, timed or partially ordered."""
    read = read_plan(plan)
    if len(read.steps) > MAX_STEPS or read.ordering is not None or any([step.time is not None for step in read.steps]):
        return []
    return [" ".join(step.tokens) for step in read.steps]


def _discovery_with_goal(settings: Settings, name: str, text: str) -> Discovery:
    """File discovery in which the goal file ``name`` has the contents ``text``, a row of a table."""
    choice = Choice(
        settings.domain,
        settings.problem,
        settings.specs,
        settings.default_spec,
        settings.gate,
        settings.project,
        settings.ltl,
    )
    return Discovery(choice, True, {os.path.realpath(name): text})


class _RuleKey(NamedTuple):
    name: str
    hazard: str | None
    targets: tuple[str, ...]


def categories(rule: RuleLike) -> dict[str, list[str]]:
    """The categories of a rule in each shipped taxonomy."""
    return _categories(_RuleKey(rule.name, rule.hazard, tuple(rule.targets)))


@lru_cache(maxsize=4096)
def _categories(rule: _RuleKey) -> dict[str, list[str]]:
    by_taxonomy = {
        taxonomy.name: [category.name for category in taxonomy.find_categories(rule)]
        for taxonomy in load_taxonomies().taxonomies
    }
    return {name: names for name, names in by_taxonomy.items() if names}


def _taxonomy(report: Report) -> dict[str, dict[str, list[str]]]:
    """The categories of all rules in the findings, by rule name."""
    return {f.rule: categories(_RuleKey(f.rule, f.hazard, f.targets)) for f in report.findings if f.rule is not None}
