"""``audit --certificate FILE``: write the proof of a SAFE verdict that a solver decided."""

from __future__ import annotations

import os
import sys

from plansafe.app.session.model import Result, Settings
from plansafe.app.system.file_writing import Guard, NotWritten
from plansafe.app.system.file_writing import save as write
from plansafe.app.system.process import complain, remark
from plansafe.app.system.terminal_text import visible
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.verifier.reporting.report import Headline

_CONSTANT_FOLDING = "constant folding"
"""The value of :attr:`WorldsReport.solver` if no solver was called."""


def option_problem(path: str, plans: int, settings: Settings, repairs: bool, output: str | None) -> Diagnostic | None:
    """The reason why a certificate cannot be written with these options, if there is one; checked before the search."""
    if output is not None and os.path.realpath(output) == os.path.realpath(path):
        return Diagnostic(SC.BAD_OPTION, "--certificate and --output name the same file", help="name two files")
    if repairs:
        return Diagnostic(SC.BAD_OPTION, "--certificate cannot be combined with --fix or --diff")
    if plans != 1:
        return Diagnostic(SC.BAD_OPTION, f"--certificate takes one plan, not {plans}", help="name one plan")
    if settings.engine == "explicit":
        advice = "leave --engine explicit out; --engine sat uses a solver even for a single possible world"
        return Diagnostic(
            SC.BAD_OPTION, "the explicit engine calls no solver, so it cannot make a certificate", help=advice
        )
    return None


def save(path: str, result: Result, protected: Guard) -> int:
    """Write the certificate of a result, if it has one, and report the outcome.

    Returns the exit code: 2 if the file cannot be written, else 0.
    """
    name, shown_path, report = visible(result.plan), visible(path), result.report
    if report.certificate is None:
        if report.headline is None:
            return 0  # the report says why
        solver = report.worlds.solver if report.worlds is not None else ""
        if report.headline in (Headline.SAFE, Headline.VALID):
            reason = f"{solver} returned no proof" if solver and solver != _CONSTANT_FOLDING else "no solver was needed"
        else:
            reason = f"the plan is {report.headline.value}"
        unchanged = f"; {shown_path} is from an earlier audit and was not changed" if os.path.exists(path) else ""
        print(f"{name}: no certificate: {reason}{unchanged}", file=sys.stderr)
        return 0
    try:
        remark(write(path, report.certificate, protected))
    except NotWritten as error:
        return complain(error.diagnostic)
    print(f"{name}: certificate written to {shown_path}", file=sys.stderr)
    return 0
