"""Run the command ``audit``: audit the plans, print the reports, return the exit code."""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING, TextIO

from plansafe.app.render import renderer
from plansafe.app.session.audit import audit as results
from plansafe.app.session.audit import combined_exit_code, expand, guard, with_folders
from plansafe.app.session.model import Settings, usage_problem
from plansafe.app.system.file_writing import Guard, NotWritten
from plansafe.app.system.file_writing import problem as unwritable
from plansafe.app.system.process import REPORT, complain, for_a_browser, remark, terminal, written
from plansafe.app.system.progress import Progress
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic

if TYPE_CHECKING:
    from plansafe.app.session.baseline import Baseline


def audit_plans(
    plans: list[str],
    settings: Settings,
    form: str,
    output: str | None = None,
    color: str = "auto",
    fix: bool = False,
    diff: bool = False,
    certificate: str | None = None,
    write_baseline: str | None = None,
) -> int:
    """Audit plans and print the reports; with ``fix`` or ``diff``, their repairs. Returns the exit code."""
    # Millions of small tuples and few cycles: by default, the collector would take a third of the time.
    gc.set_threshold(1_000_000, 50, 100)
    problem = usage_problem(settings) or _refuse_table(plans)
    if problem is not None:
        return complain(problem)
    settings = with_folders(settings._replace(hashes=form == "json"), plans)
    paths = expand(plans, settings)
    protected = guard(paths, settings)
    input_paths = set(protected.inputs)  # and, later, the files that are found for the plans
    protected = protected._replace(inputs=input_paths)
    problem = unwritable(output, protected)
    if problem is not None:
        return complain(problem)
    if certificate is not None:
        from plansafe.app.interfaces.cli.verify_certificate import option_problem, save  # noqa: PLC0415 - for --certificate alone

        problem = option_problem(certificate, len(paths), settings, fix or diff, output) or unwritable(
            certificate, protected
        )
        if problem is not None:
            return complain(problem)
    baseline = None
    if settings.baseline is not None or write_baseline is not None:
        from plansafe.app.session.baseline import BadBaseline, Baseline, read_baseline  # noqa: PLC0415 - for a baseline alone

        problem = _baseline_problem(settings, fix or diff, write_baseline, output) or unwritable(
            write_baseline, protected
        )
        if problem is not None:
            return complain(problem)
        try:
            if write_baseline is not None:
                baseline = Baseline(write_baseline, is_new=True)
            else:
                baseline = read_baseline(settings.baseline or "")
        except BadBaseline as bad:
            return complain(bad.diagnostic)
    if form == "html":
        for flag, is_set in (
            ("--fix", fix),
            ("--diff", diff),
            ("--certificate", certificate),
            ("a baseline", baseline),
        ):
            if is_set:
                return complain(
                    Diagnostic(
                        SC.BAD_OPTION, f"{flag} cannot be combined with --format html", help="leave one of them out"
                    )
                )
        if (problem := for_a_browser(output)) is not None:
            return complain(problem)
        from plansafe.app.interfaces.pages.audit_page import page_of_plans  # noqa: PLC0415 - loads the search

        return page_of_plans(paths, settings, output, protected, input_paths)
    if fix or diff:
        from plansafe.app.interfaces.cli.plan_fixes import fix_plans  # noqa: PLC0415 - loads the search

        return fix_plans(paths, settings, form, output, color, diff, protected)
    progress = Progress(len(paths))

    def work(stream: TextIO) -> int:
        view = renderer(form, settings, terminal(color, stream))
        codes = set()
        for result in results(paths, settings):
            result = result if baseline is None else baseline.marked(result)
            codes.add(result.exit_code)
            input_paths.update([file.path for file in result.inputs])
            text = view.plan(result)
            progress.clear()
            stream.write(text)
            if result.failure is not None:
                print(result.failure + REPORT, file=sys.stderr)
            elif certificate is not None:
                codes.add(save(certificate, result, protected))
            progress.step()
        progress.clear()
        stream.write(view.end())
        if baseline is not None:
            codes.add(_finish_baseline(baseline, write_baseline is not None, protected))
        return combined_exit_code(codes)

    try:
        return written(output, work, protected)
    finally:
        progress.clear()


def _refuse_table(plans: list[str]) -> Diagnostic | None:
    """The diagnostic for a table of plans, which is audited as a run."""
    table = next((path for path in plans if path.lower().endswith((".jsonl", ".ndjson", ".csv"))), None)
    if table is None or not os.path.isfile(table):
        return None
    return Diagnostic(
        SC.BAD_OPTION, f"{table} is a table of plans", help="audit its rows with --run FOLDER (docs/batches.md)"
    )


def _baseline_problem(
    settings: Settings, repairs: bool, new_baseline: str | None, output: str | None
) -> Diagnostic | None:
    """The reason why a baseline cannot be used with these options, if there is one."""
    if repairs:
        return Diagnostic(SC.BAD_OPTION, "a baseline cannot be combined with --fix or --diff", help="leave one out")
    if settings.blame:
        message = "a baseline needs all findings, and --blame leaves some out"
        return Diagnostic(SC.BAD_OPTION, message, help="leave --blame out")
    if new_baseline is not None and output is not None and os.path.realpath(new_baseline) == os.path.realpath(output):
        return Diagnostic(SC.BAD_OPTION, "--write-baseline and --output name the same file", help="name two files")
    return None


def _finish_baseline(baseline: Baseline, is_new: bool, protected: Guard) -> int:
    """Write the baseline, or report which of its plans were not audited. Returns an exit code."""
    if is_new:
        try:
            remark(baseline.write(protected))
        except NotWritten as refused:
            return complain(refused.diagnostic)
        number = len(set(baseline.collected))
        print(f"baseline written: {number:,} finding{'' if number == 1 else 's'}", file=sys.stderr)
        return 0
    entries, plans = baseline.unseen()
    if entries:
        print(
            f"baseline: {entries:,} of its findings are in {plans:,} plans that were not audited to the end",
            file=sys.stderr,
        )
    return 0
