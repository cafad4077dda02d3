"""One plan of a run to its row: what a worker does, whoever started it. The verdict is that of the one service."""

from __future__ import annotations

import gc
import os
import time
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from plansafe.app.project.discovery import Discovery
from plansafe.app.project.inputs import Choice
from plansafe.app.render.json import JsonRenderer, dumps, safe_line
from plansafe.app.runs.items import Item, not_a_row
from plansafe.app.runs.rates import NOT_CHECKED
from plansafe.app.session.audit import Session
from plansafe.app.session.model import Prepared, Result, Settings
from plansafe.app.system.version import version
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.grammar.plan_text import read_plan
from plansafe.grammar.source import Source
from plansafe.specs.taxonomy import RuleLike, load
from plansafe.verifier.reporting.report import Report, unjudged

if TYPE_CHECKING:
    from plansafe.verifier.api import Checker

QUIET = frozenset(("kept", "never applied", "not applicable"))
"""Rules of which a row says no more than that they were kept, or nothing."""


MOST_STEPS = 500
"""Steps of a plan that its row keeps; of a longer plan it keeps none."""


class Judged(NamedTuple):
    """What came of a plan: its number, its row as a line, and what no row of this judge spoke of before.

    That are rules by name, and the hashes of files by path (those of plans are in their rows).
    """

    number: int
    line: bytes
    rules: dict[str, dict[str, Any]]
    inputs: dict[str, str]


class Judge:
    """Judges the plans of a run. Plans of one task one after the other share what is compiled for it."""

    def __init__(self, settings: Settings) -> None:
        # As for every batch: many small tuples, hardly any cycles.
        gc.set_threshold(1_000_000, 50, 100)
        self._settings = settings._replace(hashes=True, retell=True)
        self._renderer = JsonRenderer(self._settings, version(), QUIET, NOT_CHECKED)
        self._key: object = None
        self._session = Session(self._settings)
        self._seen: Checker | None = None
        self._told: set[str] = set()
        self._new: dict[str, dict[str, Any]] = {}
        self._inputs: dict[str, str] = {}
        self._script: list[str] = []

    def one(self, item: Item) -> Judged:
        """The row of a plan."""
        start = time.perf_counter()
        self._script = []
        result = self._result(item)
        seconds = time.perf_counter() - start
        self._new, new = {}, self._new
        used = {i.path: i.sha256 for i in result.inputs if i.role != "plan" and i.sha256 is not None}
        inputs = {path: digest for path, digest in used.items() if self._inputs.get(path) != digest}
        self._inputs.update(inputs)
        return Judged(item.number, self._row(item, result, seconds), new, inputs)

    def surely(self, item: Item) -> Judged:
        """The row of a plan, also where a bug is met outside of what the service itself catches."""
        try:
            return self.one(item)
        except Exception as error:
            return self.died(item, f"with {type(error).__name__}")

    def died(self, item: Item, how: str) -> Judged:
        """The row of a plan with which the process that judged it ended."""
        self._script = []
        advice = "it may take more memory than there is: --memory-limit makes that an answer"
        bug = Diagnostic(SC.INTERNAL_ERROR, f"the process that judged this plan ended {how}", help=advice)
        return Judged(item.number, self._row(item, Result(item.name, unjudged(item.name, bug), (), {}), 0.0), {}, {})

    def _result(self, item: Item) -> Result:
        if item.wrong is not None:
            return Result(item.name, unjudged(item.name, not_a_row(item)), (), {})
        if item.key != self._key:
            self._key = item.key
            files: dict[str, Any] = dict(item.files)
            settings = self._settings._replace(**files)
            finder = None if item.task is None else _with_row(settings, files["goal"], item.task)
            self._session = Session(settings, finder)
            self._seen = None
            self._inputs.clear()
        plan = item.path if item.text is None else Source(item.name, item.text)
        assert plan is not None
        (result,) = self._session.each([plan], self._audit, self._settings.time_limit)
        return result

    def _audit(self, prepared: Prepared) -> Result:
        if prepared.checker is not self._seen:
            self._seen = prepared.checker
            for rule in prepared.checker.rules:
                if rule.name not in self._told:
                    self._told.add(rule.name)
                    self._new[rule.name] = {
                        "hazard": rule.hazard,
                        "targets": list(rule.targets),
                        "severity": rule.severity,
                        "message": rule.message,
                        "taxonomy": categories(rule),
                    }
        result = self._session.audit(prepared)
        if result.report.headline is not None:
            self._script = script(prepared.plan)
        return result

    def _row(self, item: Item, result: Result, seconds: float) -> bytes:
        head = {
            "id": item.id,
            "number": item.number,
            "columns": item.columns,
            "seconds": round(seconds, 6),
            "taxonomy": _taxonomy(result.report),
            "kept": [rule.name for rule in result.report.rules if rule.status == "kept"],
            "script": self._script,
        }
        return safe_line(f"{dumps(head)[:-1]},{self._renderer.object(result)[1:]}").encode()


def script(plan: Source) -> list[str]:
    """The steps of a plan in their order, to be looked at; none where times or orderings say another order."""
    read = read_plan(plan)
    if len(read.steps) > MOST_STEPS or read.ordering is not None or any([step.time is not None for step in read.steps]):
        return []
    return [" ".join(step.tokens) for step in read.steps]


def _with_row(settings: Settings, name: str, text: str) -> Discovery:
    """Files as ever, but for the goal: that is the row of a table."""
    own = Choice(
        settings.domain,
        settings.problem,
        settings.specs,
        settings.default_spec,
        settings.gate,
        settings.project,
        settings.ltl,
    )
    return Discovery(own, True, {os.path.realpath(name): text})


class _Named(NamedTuple):
    name: str
    hazard: str | None
    targets: tuple[str, ...]


def categories(rule: RuleLike) -> dict[str, list[str]]:
    """The categories of a rule in each taxonomy that is shipped."""
    return _categories(_Named(rule.name, rule.hazard, tuple(rule.targets)))


@lru_cache(maxsize=4096)
def _categories(rule: _Named) -> dict[str, list[str]]:
    found = {one.name: [category.name for category in one.categories_of(rule)] for one in load().taxonomies}
    return {name: names for name, names in found.items() if names}


def _taxonomy(report: Report) -> dict[str, dict[str, list[str]]]:
    """The categories of the rules of findings, by rule."""
    return {f.rule: categories(_Named(f.rule, f.hazard, f.targets)) for f in report.findings if f.rule is not None}
