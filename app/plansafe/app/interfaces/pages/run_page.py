"""``safecheck runs view RUN``: a run folder as one page. Nothing is judged again."""

from __future__ import annotations

from typing import Any, TextIO

from plansafe.app.interfaces.pages.plan_index import Book
from plansafe.app.interfaces.pages.run_figures import counted, slim
from plansafe.app.options.option import Options, argument, command, text
from plansafe.app.runs.run_reader import BadRun, Run, read_run
from plansafe.app.runs.stats import TAXONOMIES
from plansafe.app.system.process import complain, for_a_browser, guarded, remark, written

MOST_PLANS = 200_000
"""Plans on one page; a browser holds no more rows in one piece."""
_NO_STEPS = "The run keeps no steps of this plan: an audit of it with `--format html` shows them."


class ViewOptions(Options):
    """The options of ``runs view``."""

    run: str = argument("RUN", "A run folder (safecheck audit --run).", required=True)
    output: str | None = text(
        "--output", "-o", metavar="FILE", help="Write the page to a file; default: to standard output."
    )


@command(ViewOptions)
def view(options: ViewOptions) -> int:
    """Put a run on one page that needs no server: a table to sort and filter, plots, and each plan with its findings.

    Exit codes: 0, or 2 for what cannot be read or written.
    """
    return guarded(lambda: _view(options.run, options.output))


def _view(path: str, output: str | None) -> int:
    if (problem := for_a_browser(output)) is not None:
        return complain(problem)
    try:
        run = read_run(path)
        book = book_of(run)
    except BadRun as bad:
        return complain(bad.diagnostic)
    for note in book.notes:
        remark((note,))

    def work(stream: TextIO) -> int:
        for piece in book.pieces():
            stream.write(piece)
        return 0

    return written(output, work)


def book_of(run: Run) -> Book:
    """The page of a run. Raises :class:`BadRun`."""
    rows: list[dict[str, Any]] = []
    columns: dict[str, None] = {}
    book = Book(f"safecheck run {run.path}")
    for row in run.rows():
        if len(rows) == MOST_PLANS:
            book.notes.append(f"The first {MOST_PLANS:,} of {run.manifest['plans']:,} plans are on this page.")
            break
        rows.append(slim(row))
        columns.update(dict.fromkeys(row["columns"]))
        book.add(_detail(row), row["id"], row["seconds"])
    book.columns = tuple(columns)
    if not run.complete:
        book.notes.append(f"The run is not complete: {len(rows):,} of {run.manifest['plans']:,} plans are judged.")
    book.plots, book.tables = counted(rows)
    wanted = ("tool", "started", "ended")
    book.about = [("plans", f"{len(rows):,}")]
    book.about += [(name, str(run.manifest[name])) for name in wanted if run.manifest.get(name)]
    return book


def _detail(row: dict[str, Any]) -> dict[str, Any]:
    """A plan of a run: its report, with the categories of each finding."""
    taxonomy = row["taxonomy"]
    findings = [{**finding, "taxonomy": _categories(taxonomy.get(finding["rule"], {}))} for finding in row["findings"]]
    columns = {**row["columns"], "seconds": round(row["seconds"], 4)}
    report = {**row, "findings": findings}
    script = row.get("script") or []
    return {"report": report, "timelines": [], "script": script, "steps_note": _NO_STEPS, "columns": columns}


def _categories(of: dict[str, list[str]]) -> list[str]:
    return [f"{name}: {category}" for name in TAXONOMIES for category in of.get(name, ())]
