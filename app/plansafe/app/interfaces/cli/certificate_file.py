"""``audit --certificate FILE``: the proof behind a SAFE that a solver decided, in a file that is whole or untouched."""

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

_FOLDED = "constant folding"
"""What :attr:`WorldsReport.solver` says where no solver was asked."""


def unusable(path: str, plans: int, settings: Settings, repairs: bool, output: str | None) -> Diagnostic | None:
    """Why no certificate could be written beside the report in ``output``; better known before a long search."""
    if output is not None and os.path.realpath(output) == os.path.realpath(path):
        return Diagnostic(SC.BAD_OPTION, "--certificate and --output name the same file", help="name two files")
    if repairs:
        return Diagnostic(SC.BAD_OPTION, "--certificate goes with neither --fix nor --diff")
    if plans != 1:
        return Diagnostic(SC.BAD_OPTION, f"--certificate takes one plan, not {plans}", help="name one plan")
    if settings.engine == "explicit":
        advice = "leave --engine explicit out; --engine sat takes a solver even where nothing is open"
        return Diagnostic(SC.BAD_OPTION, "the explicit engine asks no solver, so there is no certificate", help=advice)
    return None


def save(path: str, result: Result, kept: Guard) -> int:
    """Write the certificate of a result, if it has one, and say what was done. 2 if it cannot be written, else 0."""
    name, where, report = visible(result.plan), visible(path), result.report
    if report.certificate is None:
        if report.headline is None:
            return 0  # the report says why
        solver = report.worlds.solver if report.worlds is not None else ""
        if report.headline in (Headline.SAFE, Headline.VALID):
            reason = f"{solver} gave none" if solver and solver != _FOLDED else "no solver was needed"
        else:
            reason = f"the plan is {report.headline.value}"
        left = f"; {where} is from before, and left as it is" if os.path.exists(path) else ""
        print(f"{name}: no certificate: {reason}{left}", file=sys.stderr)
        return 0
    try:
        remark(write(path, report.certificate, kept))
    except NotWritten as refused:
        return complain(refused.diagnostic)
    print(f"{name}: certificate written to {where}", file=sys.stderr)
    return 0
