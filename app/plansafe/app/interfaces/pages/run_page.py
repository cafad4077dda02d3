"""``safecheck runs view RUN``: show a run folder as one page, without auditing again."""

from __future__ import annotations

import os
from time import monotonic, sleep
from typing import Any, TextIO

from plansafe.app.interfaces.pages.plan_index import Book
from plansafe.app.interfaces.pages.run_figures import build_charts, select_fields
from plansafe.app.options.option import Options, argument, command, switch, text
from plansafe.app.runs.run_folder import is_being_written
from plansafe.app.runs.run_reader import BadRun, Run, read_run, shard_files
from plansafe.app.runs.stats import TAXONOMIES
from plansafe.app.system.file_writing import STANDARD_OUTPUT
from plansafe.app.system.process import complain, for_a_browser, guarded, remark, written
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic

MOST_PLANS = 200_000
"""Maximum number of plans on one page; browsers cannot display more rows."""
RELOAD_S = 2.0
"""Seconds after which a page of a run in progress is written, and loads itself, again."""
_PAUSE = 4
"""A page that takes long to write is written after a pause of this many times its duration."""
_MOST_FAILURES = 3
_NO_STEPS = "This run has no step data for the plan; run `safecheck audit --format html` on it to see the steps."


class ViewOptions(Options):
    """The options of ``runs view``."""

    run: str = argument("RUN", "A run folder (safecheck audit --run).", required=True)
    output: str | None = text(
        "--output", "-o", metavar="FILE", help="Write the page to this file; default: standard output."
    )
    live: bool = switch("--live", help="Follow a run in progress: write the page again, which loads itself again.")


@command(ViewOptions)
def view(options: ViewOptions) -> int:
    """Show a run as one HTML page without a server: a sortable table, plots, and the findings of each plan.

    Exit codes: 0, or 2 if the run cannot be read or the page cannot be written.
    """
    return guarded(lambda: _view(options))


def _view(options: ViewOptions) -> int:
    if (problem := for_a_browser(options.output)) is not None:
        return complain(problem)
    try:
        if options.live:
            return _follow(options.run, options.output)
        return _write_page(read_run(options.run), options.output)
    except BadRun as bad:
        return complain(bad.diagnostic)


def _follow(path: str, output: str | None) -> int:
    """Write the page whenever the run has new rows, and a last time when the run ends or the user stops the command."""
    if output is None or output in STANDARD_OUTPUT:
        text = "--live writes the page again and again, so it needs a file"
        return complain(Diagnostic(SC.BAD_OPTION, text, help="name a file with --output FILE.html"))
    read_run(path)
    remark((f"open {output} in a browser; it follows the run until the run ends, or until Ctrl-C",))
    written_state: object = None
    failures = 0
    try:
        while True:
            started = monotonic()
            try:
                state = _state_of(path)
                is_running = is_being_written(path)
                run = read_run(path)
                if run.complete or not is_running:
                    return _write_page(run, output)
                if state != written_state and (code := _write_page(run, output, RELOAD_S)):
                    return code
                written_state, failures = state, 0
            except BadRun:  # the run has just ended, and its shards are being deleted
                failures += 1
                if failures == _MOST_FAILURES:
                    raise
            sleep(max(RELOAD_S, _PAUSE * (monotonic() - started)))
    except KeyboardInterrupt:
        _write_page(read_run(path), output)
        raise


def _state_of(path: str) -> list[tuple[str, int]]:
    """Return the files of the rows with their sizes, which change with each new row."""
    return [(name, os.stat(name).st_size) for _, name, _ in shard_files(path) if os.path.exists(name)]


def _write_page(run: Run, output: str | None, reload_s: float | None = None) -> int:
    book = build_book(run)
    book.reload_s = reload_s
    if reload_s is None:
        remark(book.notes)

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
