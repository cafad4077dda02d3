"""``audit --fix`` and ``--diff``: the nearest safe plan over the plan, and what remains; or what that would change.

Standard output has the report (under ``--diff`` the difference, for a plan from standard input the plan alone);
what was done is said on standard error.
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
from plansafe.app.session.model import Result, Settings
from plansafe.app.session.repair import ExaminationOptions, Examined, examine
from plansafe.app.system.file_writing import STANDARD_OUTPUT, Guard, NotWritten, save, unwritable
from plansafe.app.system.process import REPORT, complain, print_text, remark, terminal, written
from plansafe.app.system.terminal_text import visible
from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Severity
from plansafe.grammar.source import Source
from plansafe.verifier.repair.model import BOUNDED_WORK, RepairOptions
from plansafe.verifier.reporting.report import Headline

_BOM = b"\xef\xbb\xbf"
_FOR_PEOPLE = ("full", "concise")


def fix_plans(
    paths: list[str], settings: Settings, form: str, output: str | None, color: str, diff: bool, kept: Guard
) -> int:
    """Repair each plan where it is. An exit code: that of the repairs, or of the audit where that failed."""
    if settings.loose:
        advice = "safecheck repair --from text --output FILE"
        return complain(Diagnostic(SC.BAD_OPTION, "--fix would write PDDL over a plan in prose", help=advice))
    piped = STDIN in paths
    if piped and len(paths) > 1:
        return complain(Diagnostic(SC.BAD_OPTION, "--fix takes standard input alone or files, not both"))
    for path in paths if not diff else ():
        if path != STDIN and os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
            advice = f"safecheck --fix - < {path} prints the repaired plan"
            return complain(Diagnostic(SC.BAD_OPTION, f"--fix writes over files, and {path} is none", help=advice))
    limit = min(settings.time_limit or math.inf, RepairOptions().time_limit_s or math.inf)
    # The first of two is applied, and the report says that there is another. Folders of plans are repaired.
    options = RepairOptions(max_repairs=2, time_limit_s=limit, max_work=BOUNDED_WORK)
    used = set(kept.inputs)  # and what the plans turn out to need
    results = _noted(examine(paths, settings, ExaminationOptions(options, classes=False, after=not diff)), used)
    kept = kept._replace(inputs=used)
    if diff:
        return written(output, lambda stream: _differences(results, stream), kept)
    if piped and (output is None or output in STANDARD_OUTPUT):
        return _reported(results, settings, form, color, kept, sys.stderr)
    return written(output, lambda stream: _reported(results, settings, form, color, kept, stream), kept)


def _noted(results: Iterator[Examined], used: set[str]) -> Iterator[Examined]:
    for examined in results:
        used.update([file.path for file in examined.result.inputs])
        yield examined


def _reported(
    results: Iterator[Examined], settings: Settings, form: str, color: str, kept: Guard, stream: TextIO
) -> int:
    """Fix plan by plan, and report what remains; people are told nothing of a plan that is safe now."""
    view = renderer(form, settings, terminal(color, stream))
    codes = set()
    fixed = left = 0
    for examined in results:
        piped = examined.result.plan == "<stdin>"
        after = _fixed(examined, settings, kept) if examined.best is not None and not piped else examined.after
        remains = after or examined.result
        if form not in _FOR_PEOPLE or not _settled(remains):
            stream.write(view.plan(remains))
            stream.flush()
        if piped:
            _print(examined)
        failed = after is None and examined.best is not None
        if not failed:
            _say(examined)
        codes.add(2 if failed else examined.exit_code)
        fixed += after is not None
        left += remains.report.headline not in (Headline.SAFE, Headline.VALID)
    stream.write(view.end())
    stream.flush()
    print(f"{fixed} fixed, {left} left", file=sys.stderr)
    return combined_exit_code(codes)


def _settled(result: Result) -> bool:
    """Whether there is nothing to say of a plan: it is SAFE, and there are no remarks."""
    return result.report.headline is Headline.SAFE and not result.report.findings and not result.report.diagnostics


def _print(examined: Examined) -> None:
    """The plan that is safe, or else the one that was read, on standard output."""
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
        _say(examined, "--fix would", reported=False)
        codes.add(examined.exit_code)
    return combined_exit_code(codes)


def _fixed(examined: Examined, settings: Settings, kept: Guard) -> Result | None:
    """Write the repaired plan over the original, which must not have changed meanwhile.

    The audit of what is there now, or ``None`` if it was not written, after saying why.
    """
    path, source = examined.result.inputs[0].path, examined.result.inputs[0].source
    after = examined.after
    assert after is not None and examined.text is not None
    try:
        with open(path, "rb") as file:
            data = file.read()
        if Source.from_bytes(path, data).text != source.text:
            complain(
                Diagnostic(
                    SC.NOT_WRITTEN, f"{path} is not written: it was changed while it was repaired", help="try again"
                )
            )
            return None
        text = ("\ufeff" if data.startswith(_BOM) else "") + examined.text
        remark(save(path, text, Guard(within=kept.within), expected=data))
    except OSError as error:
        complain(unwritable(path, error))
        return None
    except NotWritten as refused:
        complain(refused.diagnostic)
        return None
    if settings.hashes:
        import hashlib  # noqa: PLC0415 - needed by some formats alone

        digest = hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
        after = after._replace(inputs=(after.inputs[0]._replace(sha256=digest), *after.inputs[1:]))
    return after


def _say(examined: Examined, did: str = "fixed:", reported: bool = True) -> None:
    """What was done, in a line or two; where no report is shown, also why a plan was not examined at all."""
    name = visible(examined.result.plan)
    if examined.result.failure is not None:
        print(examined.result.failure + REPORT, file=sys.stderr)
    elif examined.outcome is not None:
        print(f"{name}: not fixed [{examined.outcome.code}]: {visible(examined.outcome.message)}", file=sys.stderr)
    elif examined.best is not None and examined.repair is not None:
        print(f"{name}: {did} {visible(sentence(examined.original, examined.best))}", file=sys.stderr)
        if len(examined.repair.repairs) > 1:
            print(f"{name}: other plans are as near: safecheck repair {name}", file=sys.stderr)
    elif examined.repair is None and not reported:
        for diagnostic in examined.result.report.diagnostics:
            if diagnostic.severity is Severity.ERROR:
                print(f"{name}: not fixed [{diagnostic.code}]: {visible(diagnostic.message)}", file=sys.stderr)
