"""``audit --format html``: audit and examine plans, and write one page."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from time import monotonic
from typing import Any, TextIO

from plansafe.app.interfaces.pages.compact import displayed_path
from plansafe.app.interfaces.pages.plan_index import Book
from plansafe.app.interfaces.pages.report_view import PlanView, build_plan_view, build_report_view
from plansafe.app.interfaces.pages.run_figures import build_charts, select_fields
from plansafe.app.render.json import JsonRenderer
from plansafe.app.session.audit import Session, combined_exit_code
from plansafe.app.session.model import Prepared, Result, Settings
from plansafe.app.system.file_writing import Guard
from plansafe.app.system.process import REPORT, written
from plansafe.app.system.progress import Progress
from plansafe.app.system.version import version

REPAIR_S = 10.0
"""Time limit for the repair of one plan."""
REPAIRS_S = 120.0
"""Time limit for all repairs of one page; plans after it have no repair."""
_GRACE = 120.0


def page_of_plans(paths: list[str], settings: Settings, output: str | None, guard: Guard, used: set[str]) -> int:
    """Audit plans and write their page. Return the exit code of the audit."""

    def work(stream: TextIO) -> int:
        progress = Progress(len(paths))
        title = f"safecheck {displayed_path(paths[0])}" if len(paths) == 1 else f"safecheck: {len(paths):,} plans"
        book, codes = Book(title), set()
        rows: list[dict[str, Any]] = []
        try:
            for view in audit_plans(paths, settings):
                codes.add(view.result.exit_code)
                used.update([file.path for file in view.result.inputs])
                book.add(view.detail)
                rows.append(select_fields(view.detail["report"]))
                if view.result.failure is not None:
                    progress.clear()
                    print(view.result.failure + REPORT, file=sys.stderr)
                progress.step()
        finally:
            progress.clear()
        if len(paths) > 1:
            book.plots, book.tables = build_charts(rows)
        for piece in book.pieces():
            stream.write(piece)
        return combined_exit_code(codes)

    return written(output, work, guard)


def audit_plans(paths: list[str], settings: Settings) -> Iterator[PlanView]:
    """Audit plans one after the other and yield the page data of each."""
    session, repair_budget = Session(settings), REPAIRS_S
    encode = _make_encoder(settings)
    verdict_views: list[PlanView] = []

    def work(prepared: Prepared) -> PlanView:
        nonlocal repair_budget
        started = monotonic()
        try:
            return build_plan_view(
                session, prepared, encode, REPAIR_S if repair_budget > 0 else 0.0, verdict_views.append
            )
        finally:
            repair_budget -= monotonic() - started

    limit = settings.time_limit + _GRACE if settings.time_limit else 0.0
    for outcome in session.process(paths, work, limit):
        if (
            isinstance(outcome, Result) and verdict_views and outcome.report.limits
        ):  # the time limit passed after the verdict
            yield verdict_views[0]
        else:
            yield build_report_view(outcome, encode) if isinstance(outcome, Result) else outcome
        verdict_views.clear()


def _make_encoder(settings: Settings) -> Callable[[Result], dict[str, Any]]:
    renderer = JsonRenderer(settings, version())

    def encode(result: Result) -> dict[str, Any]:
        report: dict[str, Any] = json.loads(renderer.plan(result))
        return report

    return encode
