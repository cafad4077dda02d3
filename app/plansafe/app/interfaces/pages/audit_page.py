"""``audit --format html``: plans are judged, and looked into, and put on one page."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from time import monotonic
from typing import Any, TextIO

from plansafe.app.interfaces.pages.plan_index import Book
from plansafe.app.interfaces.pages.report_view import Told, told, unprepared
from plansafe.app.interfaces.pages.run_figures import counted, slim
from plansafe.app.render.json import JsonRenderer
from plansafe.app.session.audit import Session, combined_exit_code
from plansafe.app.session.model import Prepared, Result, Settings
from plansafe.app.system.file_writing import Guard
from plansafe.app.system.process import REPORT, written
from plansafe.app.system.progress import Progress
from plansafe.app.system.version import version

REPAIR_S = 10.0
"""Seconds for the repair of one plan."""
REPAIRS_S = 120.0
"""Seconds for the repairs of all plans of one page; later plans get none."""
_GRACE = 120.0


def page_of_plans(paths: list[str], settings: Settings, output: str | None, kept: Guard, used: set[str]) -> int:
    """Audit plans and write their page. The exit code of the audit."""

    def work(stream: TextIO) -> int:
        progress = Progress(len(paths))
        title = f"safecheck {paths[0]}" if len(paths) == 1 else f"safecheck: {len(paths):,} plans"
        book, codes = Book(title), set()
        rows: list[dict[str, Any]] = []
        try:
            for one in audited(paths, settings):
                codes.add(one.result.exit_code)
                used.update([file.path for file in one.result.inputs])
                book.add(one.detail)
                rows.append(slim(one.detail["report"]))
                if one.result.failure is not None:
                    progress.clear()
                    print(one.result.failure + REPORT, file=sys.stderr)
                progress.step()
        finally:
            progress.clear()
        if len(paths) > 1:
            book.plots, book.tables = counted(rows)
        for piece in book.pieces():
            stream.write(piece)
        return combined_exit_code(codes)

    return written(output, work, kept)


def audited(paths: list[str], settings: Settings) -> Iterator[Told]:
    """Judge plans one after the other, and find out what a page says of each."""
    session, left = Session(settings), REPAIRS_S
    encoded = _encoder(settings)
    known: list[Told] = []

    def work(prepared: Prepared) -> Told:
        nonlocal left
        began = monotonic()
        try:
            return told(session, prepared, encoded, REPAIR_S if left > 0 else 0.0, known.append)
        finally:
            left -= monotonic() - began

    limit = settings.time_limit + _GRACE if settings.time_limit else 0.0
    for done in session.each(paths, work, limit):
        if isinstance(done, Result) and known and done.report.limits:  # what came behind the verdict took too long
            yield known[0]
        else:
            yield unprepared(done, encoded) if isinstance(done, Result) else done
        known.clear()


def _encoder(settings: Settings) -> Callable[[Result], dict[str, Any]]:
    renderer = JsonRenderer(settings, version())

    def encoded(result: Result) -> dict[str, Any]:
        report: dict[str, Any] = json.loads(renderer.plan(result))
        return report

    return encoded
