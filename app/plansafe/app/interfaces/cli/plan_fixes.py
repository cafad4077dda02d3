"""``audit --fix`` and ``--diff``: replace plans by the nearest safe plans, or print the changes.

Standard output has the report on the remaining findings; with ``--diff`` the difference, and for a plan from standard
input only the plan. A line on standard error reports the outcome for each plan.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Iterator
from typing import TextIO

from plansafe.app.project.shipped_files import STDIN
from plansafe.app.render import renderer
from plansafe.app.render.difference import sentence, unified
from plansafe.app.session.audit import combined_exit_code
from plansafe.app.session.diagnosis import Examined
from plansafe.app.session.model import Result, Settings
from plansafe.app.session.repair import ExaminationOptions, examine
from plansafe.app.system.file_writing import STANDARD_OUTPUT, Guard, NotWritten, save, unwritable
from plansafe.app.system.process import REPORT, complain, print_text, remark, terminal, written
from plansafe.app.system.terminal_text import visible
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Severity
from plansafe.grammar.source import Source
from plansafe.verifier.repair.model import BOUNDED_WORK, RepairOptions
from plansafe.verifier.reporting.report import Headline

_BOM = b"\xef\xbb\xbf"
_TEXT_FORMATS = ("full", "concise")


def fix_plans(
    paths: list[str], settings: Settings, form: str, output: str | None, color: str, diff: bool, protected: Guard
) -> int:
    """Repair each plan in its file. Returns the exit code of the repairs, or of the audit if a repair failed."""
    if settings.loose:
        advice = "safecheck repair --from text --output FILE"
        return complain(Diagnostic(SC.BAD_OPTION, "--fix would replace a plan in prose by PDDL", help=advice))
    piped = STDIN in paths
    if piped and len(paths) > 1:
        return complain(Diagnostic(SC.BAD_OPTION, "--fix takes standard input or files, not both"))
    for path in paths if not diff else ():
        if path != STDIN and os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
            advice = f"safecheck --fix - < {path} prints the repaired plan"
            return complain(Diagnostic(SC.BAD_OPTION, f"--fix replaces files, and {path} is not a file", help=advice))
    limit = min(settings.time_limit or math.inf, RepairOptions().time_limit_s or math.inf)
    # The first of two repairs is applied; the second one shows that the nearest plan is not unique.
    options = RepairOptions(max_repairs=2, time_limit_s=limit, max_work=BOUNDED_WORK)
    input_paths = set(protected.inputs)  # and, later, the files that are found for the plans
    results = _record_inputs(
        examine(paths, settings, ExaminationOptions(options, classes=False, after=not diff)), input_paths
    )
    protected = protected._replace(inputs=input_paths)
    if diff:
        return written(output, lambda stream: _differences(results, stream), protected)
    if piped and (output is None or output in STANDARD_OUTPUT):
        return _write_report(results, settings, form, color, protected, sys.stderr)
    return written(output, lambda stream: _write_report(results, settings, form, color, protected, stream), protected)


def _record_inputs(results: Iterator[Examined], input_paths: set[str]) -> Iterator[Examined]:
    for examined in results:
        input_paths.update([file.path for file in examined.result.inputs])
        yield examined


def _write_report(
    results: Iterator[Examined], settings: Settings, form: str, color: str, protected: Guard, stream: TextIO
) -> int:
    """Fix plan by plan, and report the remaining findings; text formats leave out plans that are safe now."""
    view = renderer(form, settings, terminal(color, stream))
    codes = set()
    fixed_count = left_count = 0
    for examined in results:
        piped = examined.result.plan == "<stdin>"
        fixed_result = (
            _write_repair(examined, settings, protected) if examined.best is not None and not piped else examined.after
        )
        remaining = fixed_result or examined.result
        if form not in _TEXT_FORMATS or not _has_nothing_to_report(remaining):
            stream.write(view.plan(remaining))
            stream.flush()
        if piped:
            _print_plan(examined)
        failed = fixed_result is None and examined.best is not None
        if not failed:
            _report_outcome(examined)
        codes.add(2 if failed else examined.exit_code)
        fixed_count += fixed_result is not None
        left_count += remaining.report.headline not in (Headline.SAFE, Headline.VALID)
    stream.write(view.end())
    stream.flush()
    print(f"{fixed_count} fixed, {left_count} left", file=sys.stderr)
    return combined_exit_code(codes)


def _has_nothing_to_report(result: Result) -> bool:
    """Whether a plan is SAFE, without findings and without diagnostics."""
    return result.report.headline is Headline.SAFE and not result.report.findings and not result.report.diagnostics


def _print_plan(examined: Examined) -> None:
    """Print the repaired plan on standard output, or the original plan if there is no repair."""
    text = examined.text
    if text is None:
        text = "".join([i.source.text for i in examined.result.inputs[:1] if i.role == "plan"])
    print_text(text)


def _differences(results: Iterator[Examined], stream: TextIO) -> int:
    codes = set()
    for examined in results:
        if examined.text is not None:
            name = visible(examined.result.plan)
            stream.writelines(unified(examined.result.inputs[0].source.text, examined.text, name, name))
        _report_outcome(examined, "--fix would", has_report=False)
        codes.add(examined.exit_code)
    return combined_exit_code(codes)


def _write_repair(examined: Examined, settings: Settings, protected: Guard) -> Result | None:
    """Replace the original plan by the repaired plan, unless the file has changed since it was read.

    Returns the audit of the new plan. If the file was not written, reports why and returns ``None``.
    """
    path, source = examined.result.inputs[0].path, examined.result.inputs[0].source
    after = examined.after
    assert after is not None and examined.text is not None
    try:
        with open(path, "rb") as file:
            data = file.read()
        if Source.from_bytes(path, data).text != source.text:
            complain(
                Diagnostic(SC.NOT_WRITTEN, f"{path} is not written: it changed during the repair", help="try again")
            )
            return None
        text = ("\ufeff" if data.startswith(_BOM) else "") + examined.text
        remark(save(path, text, Guard(within=protected.within), expected=data))
    except OSError as error:
        complain(unwritable(path, error))
        return None
    except NotWritten as refused:
        complain(refused.diagnostic)
        return None
    if settings.hashes:
        import hashlib  # noqa: PLC0415 - for some formats alone

        digest = hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
        after = after._replace(inputs=(after.inputs[0]._replace(sha256=digest), *after.inputs[1:]))
    return after


def _report_outcome(examined: Examined, action: str = "fixed:", has_report: bool = True) -> None:
    """Report the outcome for a plan on standard error; without a report, also why the plan could not be read."""
    name = visible(examined.result.plan)
    if examined.result.failure is not None:
        print(examined.result.failure + REPORT, file=sys.stderr)
    elif examined.outcome is not None:
        print(f"{name}: not fixed [{examined.outcome.code}]: {visible(examined.outcome.message)}", file=sys.stderr)
    elif examined.best is not None and examined.repair is not None:
        print(f"{name}: {action} {visible(sentence(examined.original, examined.best))}", file=sys.stderr)
        if len(examined.repair.repairs) > 1:
            print(f"{name}: other safe plans are equally near: safecheck repair {name}", file=sys.stderr)
    elif examined.repair is None and not has_report:
        for diagnostic in examined.result.report.diagnostics:
            if diagnostic.severity is Severity.ERROR:
                print(f"{name}: not fixed [{diagnostic.code}]: {visible(diagnostic.message)}", file=sys.stderr)
