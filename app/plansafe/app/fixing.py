"""``audit --fix`` and ``--diff``: the report, then the nearest safe plan over the plan; or what that would change.

Standard output has the report (under ``--diff`` the difference, for a plan from standard input the plan alone);
what was done is said on standard error.
"""

from __future__ import annotations

import difflib
import math
import sys
from collections.abc import Iterator
from typing import TextIO

from plansafe.app.discovery import STDIN
from plansafe.app.render import renderer
from plansafe.app.render.difference import sentence
from plansafe.app.render.text import visible
from plansafe.app.repairing import Examined, Wishes, examine
from plansafe.app.running import REPORT, complain, replace_file, unwritable, wants_color, written
from plansafe.app.service import Settings, combined_exit_code
from plansafe.grammar.diagnostics import Diagnostic, Severity
from plansafe.grammar.source import Source
from plansafe.verifier.repair.model import RepairOptions

_BOM = b"\xef\xbb\xbf"


def fix_plans(paths: list[str], settings: Settings, form: str, output: str | None, color: str, diff: bool) -> int:
    """Repair each plan where it is. An exit code: that of the repairs, or of the audit where that failed."""
    if settings.loose:
        advice = "safecheck repair --from text --output FILE"
        return complain(Diagnostic("SC607", "--fix would write PDDL over a plan in prose", help=advice))
    piped = STDIN in paths
    if piped and len(paths) > 1:
        return complain(Diagnostic("SC607", "--fix takes standard input alone or files, not both"))
    limit = min(settings.time_limit or math.inf, RepairOptions().time_limit_s or math.inf)
    options = RepairOptions(max_repairs=2, time_limit_s=limit)  # the first is applied; that there is another is said
    results = examine(paths, settings, Wishes(options, classes=False))
    if diff:
        return written(output, lambda stream: _differences(results, stream))
    if piped and output is None:
        return _piped(results, settings, form, color)
    return written(output, lambda stream: _reported(results, settings, form, color, stream))


def _reported(results: Iterator[Examined], settings: Settings, form: str, color: str, stream: TextIO) -> int:
    view = renderer(form, settings, wants_color(color, stream))
    codes = set()
    for examined in results:
        stream.write(view.plan(examined.result))
        stream.flush()
        codes.add(_fixed(examined))
    stream.write(view.end())
    return combined_exit_code(codes)


def _piped(results: Iterator[Examined], settings: Settings, form: str, color: str) -> int:
    """A plan from standard input: the plan that is safe, or the one that was read, on standard output."""
    view = renderer(form, settings, wants_color(color, sys.stderr))
    examined = next(results)
    sys.stderr.write(view.plan(examined.result) + view.end())
    _say(examined)
    text = examined.text
    if text is None:
        text = "".join([i.source.text for i in examined.result.inputs[:1] if i.role == "plan"])
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))
    sys.stdout.flush()
    return examined.exit_code


def _differences(results: Iterator[Examined], stream: TextIO) -> int:
    codes = set()
    for examined in results:
        if examined.text is not None:
            name = visible(examined.result.plan)
            old = examined.result.inputs[0].source.text.splitlines(keepends=True)
            new = examined.text.splitlines(keepends=True)
            for line in difflib.unified_diff(old, new, name, name):
                stream.write(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n")
        _say(examined, "--fix would", reported=False)
        codes.add(examined.exit_code)
    return combined_exit_code(codes)


def _fixed(examined: Examined) -> int:
    """Write the repaired plan over the original, which must not have changed meanwhile."""
    if examined.best is None or examined.text is None:
        _say(examined)
        return examined.exit_code
    path, source = examined.result.inputs[0].path, examined.result.inputs[0].source
    try:
        with open(path, "rb") as file:
            data = file.read()
        if Source.from_bytes(path, data).text != source.text:
            return complain(Diagnostic("SC607", f"{visible(path)} was changed while it was repaired: left as it is"))
        mark = _BOM if data.startswith(_BOM) else b""
        replace_file(path, mark + examined.text.encode("utf-8", "surrogateescape"))
    except OSError as error:
        return complain(unwritable(visible(path), error))
    _say(examined)
    return examined.exit_code


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
