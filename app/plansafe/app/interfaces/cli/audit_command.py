"""The audit as a command: results to text, verdicts to an exit code."""

from __future__ import annotations

import gc
import os
import sys
from typing import TYPE_CHECKING, TextIO

from plansafe.app.render import renderer
from plansafe.app.session.audit import audit as results
from plansafe.app.session.audit import combined_exit_code, expand, guard, usage_problem, with_folders
from plansafe.app.session.model import Settings
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
    """Audit plans and print the reports; with ``fix`` or ``diff``, their repairs. The exit code of the whole."""
    # Millions of small tuples, hardly any cycles: the default would spend a third of the time on looking.
    gc.set_threshold(1_000_000, 50, 100)
    problem = usage_problem(settings) or _table(plans)
    if problem is not None:
        return complain(problem)
    settings = with_folders(settings._replace(hashes=form == "json"), plans)
    paths = expand(plans, settings)
    kept = guard(paths, settings)
    used = set(kept.inputs)  # and what the plans turn out to need
    kept = kept._replace(inputs=used)
    problem = unwritable(output, kept)
    if problem is not None:
        return complain(problem)
    if certificate is not None:
        from plansafe.app.interfaces.cli.certificate_file import save, unusable  # noqa: PLC0415 - where it is asked for

        problem = unusable(certificate, len(paths), settings, fix or diff, output) or unwritable(certificate, kept)
        if problem is not None:
            return complain(problem)
    baseline = None
    if settings.baseline is not None or write_baseline is not None:
        from plansafe.app.session.baseline import BadBaseline, Baseline, read_baseline  # noqa: PLC0415 - where there is one

        problem = _unusable(settings, fix or diff, write_baseline, output) or unwritable(write_baseline, kept)
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
        for flag, given in (("--fix", fix), ("--diff", diff), ("--certificate", certificate), ("a baseline", baseline)):
            if given:
                return complain(Diagnostic(SC.BAD_OPTION, f"{flag} goes with no page", help="leave --format html out"))
        if (problem := for_a_browser(output)) is not None:
            return complain(problem)
        from plansafe.app.interfaces.pages.audit_page import page_of_plans  # noqa: PLC0415 - loads the search

        return page_of_plans(paths, settings, output, kept, used)
    if fix or diff:
        from plansafe.app.interfaces.cli.plan_fixes import fix_plans  # noqa: PLC0415 - loads the search

        return fix_plans(paths, settings, form, output, color, diff, kept)
    progress = Progress(len(paths))

    def work(stream: TextIO) -> int:
        view = renderer(form, settings, terminal(color, stream))
        codes = set()
        for result in results(paths, settings):
            result = result if baseline is None else baseline.marked(result)
            codes.add(result.exit_code)
            used.update([file.path for file in result.inputs])
            text = view.plan(result)
            progress.clear()
            stream.write(text)
            if result.failure is not None:
                print(result.failure + REPORT, file=sys.stderr)
            elif certificate is not None:
                codes.add(save(certificate, result, kept))
            progress.step()
        progress.clear()
        stream.write(view.end())
        if baseline is not None:
            codes.add(_closed(baseline, write_baseline is not None, kept))
        return combined_exit_code(codes)

    try:
        return written(output, work, kept)
    finally:
        progress.clear()


def _table(plans: list[str]) -> Diagnostic | None:
    """Why a table of plans is no plan."""
    named = next((path for path in plans if path.lower().endswith((".jsonl", ".ndjson", ".csv"))), None)
    if named is None or not os.path.isfile(named):
        return None
    return Diagnostic(
        SC.BAD_OPTION, f"{named} is a table of plans", help="--run FOLDER judges its rows (docs/batches.md)"
    )


def _unusable(settings: Settings, repairs: bool, anew: str | None, output: str | None) -> Diagnostic | None:
    """Why no baseline can be used with these flags."""
    if repairs:
        return Diagnostic(SC.BAD_OPTION, "a baseline goes with neither --fix nor --diff", help="leave one out")
    if settings.blame:
        message = "with --blame not all findings are listed, and a baseline is about all"
        return Diagnostic(SC.BAD_OPTION, message, help="leave --blame out")
    if anew is not None and output is not None and os.path.realpath(anew) == os.path.realpath(output):
        return Diagnostic(SC.BAD_OPTION, "--write-baseline and --output name the same file", help="name two files")
    return None


def _closed(baseline: Baseline, anew: bool, kept: Guard) -> int:
    """Write the file, or say which of its plans were not looked at. An exit code."""
    if anew:
        try:
            remark(baseline.write(kept))
        except NotWritten as refused:
            return complain(refused.diagnostic)
        number = len(set(baseline.collected))
        print(f"baseline written: {number:,} finding{'' if number == 1 else 's'}", file=sys.stderr)
        return 0
    entries, plans = baseline.unseen()
    if entries:
        print(
            f"baseline: {entries:,} of its findings are in {plans:,} plans not judged to the end here", file=sys.stderr
        )
    return 0
