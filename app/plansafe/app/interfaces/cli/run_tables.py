"""The commands ``stats``, ``compare`` and ``export``: tables and pictures of runs, what differs, Parquet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from plansafe.app.options.option import Options, argument, choice, command, switch, text
from plansafe.app.runs import stats as tables
from plansafe.app.runs.run_reader import BadRun, Run, read_run
from plansafe.app.runs.stats import OF_FINDINGS, OF_PLANS, Table, Where
from plansafe.app.runs.summary import Summary
from plansafe.app.runs.table_layout import laid_out
from plansafe.app.system.file_writing import NotWritten, Output, save
from plansafe.app.system.process import complain, guarded, remark, standard_output
from plansafe.app.system.terminal_text import visible
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic

_SHOWN = 50


class Layout(StrEnum):
    """How a table is written."""

    MARKDOWN = "markdown"
    CSV = "csv"
    LATEX = "latex"


class Reading(StrEnum):
    """How plans are read past a step that cannot be taken."""

    HALT = "halt"
    SKIP = "skip"
    FORCE = "force"
    ANY = "any"


class Plot(StrEnum):
    """Pictures."""

    BARS = "bars"
    WHERE = "where"
    HEAT = "heat"


class _Asked(NamedTuple):
    """What is to be counted, and how."""

    by: str | None = None
    group: str | None = None
    labels: str | None = None
    taxonomy: str = ""
    plot: Plot | None = None
    reading: Reading = Reading.HALT


class _Refused(Exception):
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
        help=f"Write a line for each {', '.join(OF_FINDINGS)}; {', '.join(OF_PLANS)} or column; plan; where.",
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
    plot: Plot | None = choice("--plot", values=Plot, help="Draw a picture instead of a table (extra `plots`).")
    output: str | None = text("--output", "-o", metavar="FILE", help="Write to a file; a plot to .svg or .png.")


class CompareOptions(LayoutOption):
    """The options of ``runs compare``."""

    first: str = argument("RUN", "A run folder.", required=True)
    second: str = argument("RUN", "Another run folder, of the same plans.", required=True)
    every: bool = switch("--all", help=f"List all plans that differ, not the first {_SHOWN}.")


class ExportOptions(RunArguments):
    """The options of ``runs export``."""

    output: str = text("--output", "-o", metavar="FILE", required=True, help="Write to this file, named .parquet.")
    whole: bool = switch("--whole", help="Add each row's JSON, in the column `row`.")


@command(StatsOptions)
def stats(options: StatsOptions) -> int:
    """Count over runs: a summary, or a table by what is asked for.

    A plan counts once for a rule or hazard that it brings about (introduced or worsened), of the plans that were
    judged; what was there before is counted apart. Intervals are Wilson's, 95 %. Exit codes: 0, or 2 for what cannot be
    read.
    """
    asked = _Asked(options.by, options.group, options.labels, options.taxonomy, options.plot, options.reading)
    return guarded(lambda: _said(lambda: _stats(options.runs, asked, options.only, options.form, options.output)))


@command(CompareOptions)
def compare(options: CompareOptions) -> int:
    """Compare two runs plan by plan: headlines, rules, and McNemar's exact test.

    As CSV it is the plans that differ, all of them; the rest is said on standard error. Exit codes: 0, or 2 for what
    cannot be read. That runs differ is no mistake.
    """
    return guarded(lambda: _said(lambda: _compare(options.first, options.second, options.form.value, options.every)))


@command(ExportOptions)
def export(options: ExportOptions) -> int:
    """Write runs as Parquet, a line for each plan (extra `parquet`): for pandas, Polars, DuckDB, Spark.

    Exit codes: 0, or 2 for what cannot be read or written.
    """
    return guarded(lambda: _said(lambda: _export(options.runs, options.output, options.whole)))


def _export(paths: Sequence[str], output: str, whole: bool) -> None:
    from plansafe.app.runs.parquet import write  # noqa: PLC0415 - for this command alone

    if not output.lower().endswith(".parquet"):
        raise _Refused(f"export writes Parquet, and {output!a} is named otherwise", "--output FILE.parquet")
    runs = [read_run(path) for path in paths]
    try:
        with Output(output) as file:
            write(runs, file.file, whole)
            remark(file.commit())
    except ImportError:
        from plansafe.verifier.extras import how_to_install  # noqa: PLC0415 - where a package is missing

        raise _Refused("export needs pyarrow (extra `parquet`)", how_to_install("parquet")) from None
    for run in runs:
        if not run.complete:
            remark((f"{run.path} is not complete: of {run.manifest['plans']} plans those judged so far are written",))


def _said(work: Any) -> int:
    try:
        work()
    except (BadRun, _Refused, NotWritten) as bad:
        return complain(bad.diagnostic)
    return 0


def _stats(paths: Sequence[str], asked: _Asked, only: Sequence[str], form: Layout, output: str | None) -> None:
    runs = [read_run(path) for path in paths]
    for run in runs:
        if not run.complete:
            remark((f"{run.path} is not complete: of {run.manifest['plans']} plans those judged so far are counted",))
    filters = [_filter(text) for text in only]
    _known(runs, [*[one.column for one in filters], *([asked.group] if asked.group is not None else [])])

    by = asked.by
    if by is not None and by not in (*OF_FINDINGS, "plan", "where"):
        _known(runs, [by])

    def rows() -> Iterator[dict[str, Any]]:
        return _rows(runs, filters)

    if asked._replace(taxonomy="") == _Asked():
        if form is not Layout.MARKDOWN:
            raise _Refused(f"a summary is no table: --format {form.value}", f"--by {', '.join(OF_FINDINGS)} or plan")
        for run in runs:
            _print(Summary.of(_rows([run], filters)).text(run), output)
        return
    table = _table(rows(), asked)
    if not table.rows:
        what = asked.by if asked.by is not None and asked.by != "plan" else "any finding"
        remark((f"nothing to count: no plan has {what}" if filters == [] else "nothing to count: no plan is left",))
    if asked.plot is None:
        _print(laid_out(table, form.value), output)
        return
    form_of_file = (output or "").rpartition(".")[2].lower()
    if output is None or form_of_file not in ("svg", "png"):
        raise _Refused("a plot is written to a file", "--output FILE.svg, or FILE.png")
    from plansafe.app.runs.plots import NoPlots, picture  # noqa: PLC0415 - loads matplotlib

    try:
        drawn = picture(table, asked.plot.value, form_of_file)
    except NoPlots:
        from plansafe.verifier.extras import how_to_install  # noqa: PLC0415 - where a package is missing

        raise _Refused("plots need matplotlib (extra `plots`)", f"{how_to_install('plots')}") from None
    with Output(output) as file:
        file.file.write(drawn)
        remark(file.commit())


def _table(rows: Iterator[dict[str, Any]], asked: _Asked) -> Table:
    by, group, labels, taxonomy, plot, reading = asked
    if labels is not None:
        if by is None:
            raise _Refused("--labels says what the values of a column mean", "name the column with --by")
        if taxonomy not in tables.TAXONOMIES:
            raise _Refused(f"no taxonomy is named {taxonomy!a}", f"one of {', '.join(tables.TAXONOMIES)}")
        return tables.by_labels(rows, by, taxonomy, _labels(labels), reading.value)
    if by == "where" or plot is Plot.WHERE:
        if reading is not Reading.HALT:
            raise _Refused("where it goes wrong is told as the plan stops", "leave out --reading")
        return tables.where(rows)
    if plot is Plot.BARS and group is not None:
        raise _Refused("bars are about all plans", "--plot heat has a column for each group")
    if plot is Plot.HEAT and group is None:
        raise _Refused("a heat map has a column for each group", "name a column with --group")
    by = by or "hazard"
    if by == "plan":
        return tables.every_plan(rows, reading.value)
    if by in OF_FINDINGS:
        return tables.by_findings(rows, by, group, reading.value)
    if group is not None:
        raise _Refused("--group goes with what findings are counted by", f"--by {', '.join(OF_FINDINGS)}")
    return tables.by_plans(rows, by, reading.value)


def _known(runs: list[Run], columns: list[str]) -> None:
    """A column that no plan has is a mistake."""
    missing = [name for name in columns if name not in OF_PLANS]
    there: dict[str, None] = {}
    for row in _rows(runs, []) if missing else ():
        missing = [name for name in missing if name not in row["columns"]]
        if not missing:
            return
        if len(there) < _SHOWN:
            there.update(dict.fromkeys(row["columns"]))
    if missing:
        raise _Refused(f"no plan has a column {missing[0]!a}", f"columns: {', '.join(there) or 'none'}")


def _rows(runs: list[Run], filters: list[Where]) -> Iterator[dict[str, Any]]:
    for run in runs:
        about = {"run": run.path, "world": (run.manifest.get("settings") or {}).get("world") or "pddl"}
        for row in run.rows():
            row.update(about)
            if all([one.holds(row) for one in filters]):
                yield row


def _filter(text: str) -> Where:
    column, equals, value = text.partition("=")
    if not equals:
        raise _Refused(f"--where takes COLUMN=VALUE, not {text!a}")
    return Where(column, value)


def _labels(path: str) -> dict[str, tuple[str, ...]]:
    from plansafe.app.project.discovery import Discovery  # noqa: PLC0415 - for labels alone
    from plansafe.app.project.inputs import Choice  # noqa: PLC0415
    from plansafe.specs.toml_text import read_toml  # noqa: PLC0415

    given = Discovery(Choice()).read(path, "table", "--labels")
    data = given if isinstance(given, Diagnostic) else read_toml(given.source, SC.BAD_OPTION)
    if isinstance(data, Diagnostic):
        raise _Refused(data.message, data.help)
    found = data.get("labels")
    if not isinstance(found, dict):
        raise _Refused(f"{path} has no table [labels]", 'write "the label" = ["category", ..]')
    return {str(name): tuple(map(str, value)) for name, value in found.items() if isinstance(value, list)}


def _compare(first: str, second: str, form: str, every: bool) -> None:
    from plansafe.app.runs.comparison import compare as compared  # noqa: PLC0415 - for this command alone

    runs = [read_run(first), read_run(second)]
    found = compared(runs[0].rows(), runs[1].rows())
    said = [f"{found.both} plans in both runs; {found.only_first} in {visible(first)} alone, "]
    said[0] += f"{found.only_second} in {visible(second)} alone"
    if found.repeated:
        said.append(f"{found.repeated} plans have the id of another one and are left out: --id names a column")
    tests = []
    for what, test in found.tests:
        p = "n/a" if test.p is None else f"{test.p:.3g}"
        tests.append(
            f"{what}: {test.only_first} in the first alone, {test.only_second} in the second alone, {test.ties} alike, "
            f"{test.left_out} left out; McNemar's exact p = {p}"
        )
    rows = found.plans.rows
    if form == Layout.CSV.value:  # one table, for programs; the rest is for people
        remark((*said, *tests))
        _print(laid_out(found.plans, form), None)
        return
    out = [*said, "", laid_out(found.changes, form), *tests]
    if rows:
        shown = found.plans._replace(rows=rows if every else rows[:_SHOWN])
        out += ["", f"{len(rows)} plans differ", laid_out(shown, form)]
        if len(shown.rows) < len(rows):
            out.append(f"{len(rows) - len(shown.rows)} more: --all")
    _print("\n".join(out).rstrip("\n") + "\n", None)


def _print(text: str, output: str | None) -> None:
    if output is None:
        out = standard_output()
        out.write(text)
        out.flush()
    else:
        remark(save(output, text))
