"""The commands ``runs stats``, ``runs compare`` and ``runs export``: tables and plots of runs, differences, Parquet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from plansafe.app.options.option import Options, argument, choice, command, switch, text
from plansafe.app.runs import stats as tables
from plansafe.app.runs.run_reader import BadRun, Run, read_run
from plansafe.app.runs.stats import FINDING_COLUMNS, PLAN_COLUMNS, ColumnFilter, Table
from plansafe.app.runs.summary import Summary
from plansafe.app.runs.table_layout import format_table
from plansafe.app.system.file_writing import NotWritten, Output, save
from plansafe.app.system.process import complain, guarded, remark, standard_output
from plansafe.app.system.terminal_text import visible
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic

_MAX_LISTED = 50


class Layout(StrEnum):
    """Formats of a table."""

    MARKDOWN = "markdown"
    CSV = "csv"
    LATEX = "latex"


class Reading(StrEnum):
    """How a plan continues after a step that cannot be executed."""

    HALT = "halt"
    SKIP = "skip"
    FORCE = "force"
    ANY = "any"


class Plot(StrEnum):
    """Kinds of plots."""

    BARS = "bars"
    WHERE = "where"
    HEAT = "heat"


class _TableRequest(NamedTuple):
    """The options of a table."""

    by: str | None = None
    group: str | None = None
    labels: str | None = None
    taxonomy: str = ""
    plot: Plot | None = None
    reading: Reading = Reading.HALT


class _RefusedOption(Exception):
    def __init__(self, message: str, advice: str | None = None) -> None:
        super().__init__(message)
        self.diagnostic = Diagnostic(SC.BAD_OPTION, message, help=advice)


class RunArguments(Options):
    """Run folders."""

    runs: tuple[str, ...] = argument("RUN..", "Run folders (safecheck audit --run).", many=True, required=True)


class LayoutOption(Options):
    """The format of a table."""

    form: Layout = choice("--format", values=Layout, default=Layout.MARKDOWN, help="Write the table in this format.")


class StatsOptions(RunArguments, LayoutOption):
    """The options of ``runs stats``."""

    by: str | None = text(
        "--by",
        metavar="WHAT",
        help=f"Write a line for each {', '.join(FINDING_COLUMNS)}; {', '.join(PLAN_COLUMNS)} or column; plan; where.",
    )
    group: str | None = text("--group", metavar="COLUMN", help="Add a column of rates for each value of COLUMN.")
    only: tuple[str, ...] = text(
        "--where", metavar="COLUMN=VALUE", many=True, help="Count only these plans. May be repeated."
    )
    labels: str | None = text(
        "--labels", metavar="FILE", help="Map the values of --by to --taxonomy by this TOML file ([labels])."
    )
    taxonomy: str = text("--taxonomy", metavar="NAME", default="safel", help="Use this taxonomy for --labels.")
    reading: Reading = choice(
        "--reading",
        values=Reading,
        default=Reading.HALT,
        help="Count the findings of this reading past a step that cannot be executed, or of any reading.",
    )
    plot: Plot | None = choice("--plot", values=Plot, help="Draw a plot instead of a table (extra `plots`).")
    output: str | None = text("--output", "-o", metavar="FILE", help="Write to a file; a plot to .svg or .png.")


class CompareOptions(LayoutOption):
    """The options of ``runs compare``."""

    first: str = argument("RUN", "A run folder.", required=True)
    second: str = argument("RUN", "Another run folder, of the same plans.", required=True)
    list_all: bool = switch("--all", help=f"List all plans that differ, not the first {_MAX_LISTED}.")


class ExportOptions(RunArguments):
    """The options of ``runs export``."""

    output: str = text("--output", "-o", metavar="FILE", required=True, help="Write to this file, named .parquet.")
    with_json: bool = switch("--whole", help="Add each row's JSON, in the column `row`.")


@command(StatsOptions)
def stats(options: StatsOptions) -> int:
    """Count violations over runs: print a summary, or a table with --by.

    A plan counts once for each rule or hazard whose violation it introduced or worsened. Rates are shares of audited
    plans, with Wilson's 95 % intervals. Pre-existing violations are counted separately. Exit codes: 0, or 2 if a file
    cannot be read.
    """
    request = _TableRequest(options.by, options.group, options.labels, options.taxonomy, options.plot, options.reading)
    return guarded(
        lambda: _run_reporting_errors(lambda: _stats(options.runs, request, options.only, options.form, options.output))
    )


@command(CompareOptions)
def compare(options: CompareOptions) -> int:
    """Compare two runs plan by plan: headlines, rules, and McNemar's exact test.

    With --format csv, standard output lists all plans that differ, and standard error has the summary. Exit codes: 0,
    also if the runs differ, or 2 if a file cannot be read.
    """
    return guarded(
        lambda: _run_reporting_errors(
            lambda: _compare(options.first, options.second, options.form.value, options.list_all)
        )
    )


@command(ExportOptions)
def export(options: ExportOptions) -> int:
    """Write runs as Parquet, a row for each plan (extra `parquet`): for pandas, Polars, DuckDB, Spark.

    Exit codes: 0, or 2 if a file cannot be read or written.
    """
    return guarded(lambda: _run_reporting_errors(lambda: _export(options.runs, options.output, options.with_json)))


def _export(paths: Sequence[str], output: str, with_json: bool) -> None:
    from plansafe.app.runs.parquet import write  # noqa: PLC0415 - for this command alone

    if not output.lower().endswith(".parquet"):
        raise _RefusedOption(
            f"export writes Parquet, and {output!a} does not end with .parquet", "use --output FILE.parquet"
        )
    runs = [read_run(path) for path in paths]
    try:
        with Output(output) as file:
            write(runs, file.file, with_json)
            remark(file.commit())
    except ImportError:
        from plansafe.verifier.extras import how_to_install  # noqa: PLC0415 - where a package is missing

        raise _RefusedOption("export needs pyarrow (extra `parquet`)", how_to_install("parquet")) from None
    for run in runs:
        if not run.complete:
            remark(
                (f"{run.path} is not complete: only the audited plans are written, of {run.manifest['plans']} plans",)
            )


def _run_reporting_errors(work: Any) -> int:
    try:
        work()
    except (BadRun, _RefusedOption, NotWritten) as bad:
        return complain(bad.diagnostic)
    return 0


def _stats(paths: Sequence[str], request: _TableRequest, only: Sequence[str], form: Layout, output: str | None) -> None:
    runs = [read_run(path) for path in paths]
    for run in runs:
        if not run.complete:
            remark(
                (f"{run.path} is not complete: only the audited plans are counted, of {run.manifest['plans']} plans",)
            )
    filters = [_filter(text) for text in only]
    _check_columns(
        runs, [*[row_filter.column for row_filter in filters], *([request.group] if request.group is not None else [])]
    )

    by = request.by
    if by is not None and by not in (*FINDING_COLUMNS, "plan", "where"):
        _check_columns(runs, [by])

    def rows() -> Iterator[dict[str, Any]]:
        return _rows(runs, filters)

    if request._replace(taxonomy="") == _TableRequest():
        if form is not Layout.MARKDOWN:
            raise _RefusedOption(
                f"a summary is not a table: --format {form.value}", f"--by {', '.join(FINDING_COLUMNS)} or plan"
            )
        for run in runs:
            _print(Summary.of(_rows([run], filters)).text(run), output)
        return
    table = _table(rows(), request)
    if not table.rows:
        counted = request.by if request.by is not None and request.by != "plan" else "any finding"
        remark((f"nothing to count: no plan has {counted}" if filters == [] else "nothing to count: no plan is left",))
    if request.plot is None:
        _print(format_table(table, form.value), output)
        return
    image_format = (output or "").rpartition(".")[2].lower()
    if output is None or image_format not in ("svg", "png"):
        raise _RefusedOption("a plot is written to a file", "--output FILE.svg, or FILE.png")
    from plansafe.app.runs.plots import NoPlots, draw_plot  # noqa: PLC0415 - loads matplotlib

    try:
        image = draw_plot(table, request.plot.value, image_format)
    except NoPlots:
        from plansafe.verifier.extras import how_to_install  # noqa: PLC0415 - where a package is missing

        raise _RefusedOption("plots need matplotlib (extra `plots`)", f"{how_to_install('plots')}") from None
    with Output(output) as file:
        file.file.write(image)
        remark(file.commit())


def _table(rows: Iterator[dict[str, Any]], request: _TableRequest) -> Table:
    by, group, labels, taxonomy, plot, reading = request
    if labels is not None:
        if by is None:
            raise _RefusedOption(
                "--labels gives the values of a column a meaning, and no column is named", "name the column with --by"
            )
        if taxonomy not in tables.TAXONOMIES:
            raise _RefusedOption(f"unknown taxonomy {taxonomy!a}", f"taxonomies: {', '.join(tables.TAXONOMIES)}")
        return tables.by_labels(rows, by, taxonomy, _labels(labels), reading.value)
    if by == "where" or plot is Plot.WHERE:
        if reading is not Reading.HALT:
            raise _RefusedOption("positions are counted up to the first failed step", "leave out --reading")
        return tables.by_position(rows)
    if plot is Plot.BARS and group is not None:
        raise _RefusedOption("--plot bars has no groups", "use --plot heat, which has a column for each group")
    if plot is Plot.HEAT and group is None:
        raise _RefusedOption("a heat map has a column for each group", "name a column with --group")
    by = by or "hazard"
    if by == "plan":
        return tables.list_plans(rows, reading.value)
    if by in FINDING_COLUMNS:
        return tables.by_findings(rows, by, group, reading.value)
    if group is not None:
        raise _RefusedOption("--group needs a column of findings in --by", f"--by {', '.join(FINDING_COLUMNS)}")
    return tables.by_plans(rows, by, reading.value)


def _check_columns(runs: list[Run], columns: list[str]) -> None:
    """Reject a column that no plan has."""
    missing = [name for name in columns if name not in PLAN_COLUMNS]
    available: dict[str, None] = {}
    for row in _rows(runs, []) if missing else ():
        missing = [name for name in missing if name not in row["columns"]]
        if not missing:
            return
        if len(available) < _MAX_LISTED:
            available.update(dict.fromkeys(row["columns"]))
    if missing:
        raise _RefusedOption(f"no plan has a column {missing[0]!a}", f"columns: {', '.join(available) or 'none'}")


def _rows(runs: list[Run], filters: list[ColumnFilter]) -> Iterator[dict[str, Any]]:
    for run in runs:
        run_fields = {"run": run.path, "world": (run.manifest.get("settings") or {}).get("world") or "pddl"}
        for row in run.rows():
            row.update(run_fields)
            if all([row_filter.matches(row) for row_filter in filters]):
                yield row


def _filter(text: str) -> ColumnFilter:
    column, equals, value = text.partition("=")
    if not equals:
        raise _RefusedOption(f"--where takes COLUMN=VALUE, not {text!a}")
    return ColumnFilter(column, value)


def _labels(path: str) -> dict[str, tuple[str, ...]]:
    from plansafe.app.project.discovery import Discovery  # noqa: PLC0415 - for labels alone
    from plansafe.app.project.inputs import Choice  # noqa: PLC0415
    from plansafe.specs.toml_text import read_toml  # noqa: PLC0415

    input_file = Discovery(Choice()).read(path, "table", "--labels")
    data = input_file if isinstance(input_file, Diagnostic) else read_toml(input_file.source, SC.BAD_OPTION)
    if isinstance(data, Diagnostic):
        raise _RefusedOption(data.message, data.help)
    labels = data.get("labels")
    if not isinstance(labels, dict):
        raise _RefusedOption(f"{path} has no table [labels]", 'write "the label" = ["category", ..]')
    return {str(name): tuple(map(str, value)) for name, value in labels.items() if isinstance(value, list)}


def _compare(first: str, second: str, form: str, list_all: bool) -> None:
    from plansafe.app.runs.comparison import compare as compare_runs  # noqa: PLC0415 - for this command alone

    runs = [read_run(first), read_run(second)]
    comparison = compare_runs(runs[0].rows(), runs[1].rows())
    messages = [f"{comparison.both} plans in both runs; {comparison.only_first} in {visible(first)} alone, "]
    messages[0] += f"{comparison.only_second} in {visible(second)} alone"
    if comparison.repeated:
        messages.append(
            f"{comparison.repeated} plans have the id of another plan and are left out: --id names the column of ids"
        )
    tests = []
    for test_name, test in comparison.tests:
        p = "n/a" if test.p is None else f"{test.p:.3g}"
        tests.append(
            f"{test_name}: {test.only_first} in the first alone, {test.only_second} in the second alone, "
            f"{test.ties} alike, {test.left_out} left out; McNemar's exact p = {p}"
        )
    rows = comparison.plans.rows
    if form == Layout.CSV.value:  # only one table goes to standard output, for programs
        remark((*messages, *tests))
        _print(format_table(comparison.plans, form), None)
        return
    out = [*messages, "", format_table(comparison.changes, form), *tests]
    if rows:
        listed = comparison.plans._replace(rows=rows if list_all else rows[:_MAX_LISTED])
        out += ["", f"{len(rows)} plans differ", format_table(listed, form)]
        if len(listed.rows) < len(rows):
            out.append(f"{len(rows) - len(listed.rows)} more with --all")
    _print("\n".join(out).rstrip("\n") + "\n", None)


def _print(text: str, output: str | None) -> None:
    if output is None:
        out = standard_output()
        out.write(text)
        out.flush()
    else:
        remark(save(output, text))
