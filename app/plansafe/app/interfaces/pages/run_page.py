"""``safecheck runs view RUN``: show a run folder as one page, without auditing again."""

from __future__ import annotations

import os
from typing import Any, TextIO

from plansafe.app.interfaces.pages.plan_index import Book
from plansafe.app.interfaces.pages.run_figures import build_charts, select_fields
from plansafe.app.options.option import Options, argument, command, text
from plansafe.app.runs.run_reader import BadRun, Run, read_run
from plansafe.app.runs.stats import TAXONOMIES
from plansafe.app.system.process import complain, for_a_browser, guarded, remark, written

MOST_PLANS = 200_000
"""Maximum number of plans on one page; browsers cannot display more rows."""
_NO_STEPS = "This run has no step data for the plan; run `safecheck audit --format html` on it to see the steps."


class ViewOptions(Options):
    """The options of ``runs view``."""

    run: str = argument("RUN", "A run folder (safecheck audit --run).", required=True)
    output: str | None = text(
        "--output", "-o", metavar="FILE", help="Write the page to this file; default: standard output."
    )


@command(ViewOptions)
def view(options: ViewOptions) -> int:
    """Show a run as one HTML page without a server: a sortable table, plots, and the findings of each plan.

    Exit codes: 0, or 2 if the run cannot be read or the page cannot be written.
    """
    return guarded(lambda: _view(options.run, options.output))


def _view(path: str, output: str | None) -> int:
    if (problem := for_a_browser(output)) is not None:
        return complain(problem)
    try:
        run = read_run(path)
        book = build_book(run)
    except BadRun as bad:
        return complain(bad.diagnostic)
    for note in book.notes:
        remark((note,))

    def work(stream: TextIO) -> int:
        for piece in book.pieces():
            stream.write(piece)
        return 0

    return written(output, work)


def build_book(run: Run) -> Book:
    """Build the page of a run. Raises :class:`BadRun`."""
    rows: list[dict[str, Any]] = []
    columns: dict[str, None] = {}
    book = Book(f"safecheck run: {os.path.basename(os.path.abspath(run.path))}")
    for row in run.rows():
        if len(rows) == MOST_PLANS:
            book.notes.append(f"This page shows the first {MOST_PLANS:,} of {run.manifest['plans']:,} plans.")
            break
        rows.append(select_fields(row))
        columns.update(dict.fromkeys(row["columns"]))
        book.add(_detail(row), row["id"], row["seconds"])
    book.columns = tuple(columns)
    if not run.complete:
        book.notes.append(f"The run is not complete: {len(rows):,} of {run.manifest['plans']:,} plans are audited.")
    book.plots, book.tables = build_charts(rows)
    manifest_keys = ("tool", "started", "ended")
    book.about = [("plans", f"{len(rows):,}")]
    book.about += [(name, str(run.manifest[name])) for name in manifest_keys if run.manifest.get(name)]
    return book


def _detail(row: dict[str, Any]) -> dict[str, Any]:
    """Return the page data of one plan of a run: its report with the taxonomy categories of each finding."""
    taxonomy = row["taxonomy"]
    findings = [{**finding, "taxonomy": _categories(taxonomy.get(finding["rule"], {}))} for finding in row["findings"]]
    columns = {**row["columns"], "seconds": round(row["seconds"], 4)}
    report = {**row, "findings": findings}
    script = row.get("script") or []
    return {"report": report, "timelines": [], "script": script, "steps_note": _NO_STEPS, "columns": columns}


def _categories(taxonomy: dict[str, list[str]]) -> list[str]:
    return [f"{name}: {category}" for name in TAXONOMIES for category in taxonomy.get(name, ())]
