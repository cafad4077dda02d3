"""The audit as a command: results to text, verdicts to an exit code."""

from __future__ import annotations

import gc
import sys
from typing import TextIO

from plansafe.app.checking import Settings
from plansafe.app.progress import Progress
from plansafe.app.render import renderer
from plansafe.app.running import REPORT, complain, terminal, written
from plansafe.app.service import audit as results
from plansafe.app.service import combined_exit_code, expand, guard, usage_problem, with_folders
from plansafe.app.writing import problem as unwritable


def audit_plans(
    plans: list[str],
    settings: Settings,
    form: str,
    output: str | None = None,
    color: str = "auto",
    fix: bool = False,
    diff: bool = False,
    certificate: str | None = None,
) -> int:
    """Audit plans and print the reports; with ``fix`` or ``diff``, their repairs. The exit code of the whole."""
    # Millions of small tuples, hardly any cycles: the default would spend a third of the time on looking.
    gc.set_threshold(1_000_000, 50, 100)
    problem = usage_problem(settings)
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
        from plansafe.app.certificate import save, unusable  # noqa: PLC0415 - where it is asked for

        problem = unusable(certificate, len(paths), settings, fix or diff, output) or unwritable(certificate, kept)
        if problem is not None:
            return complain(problem)
    if fix or diff:
        from plansafe.app.fixing import fix_plans  # noqa: PLC0415 - loads the search

        return fix_plans(paths, settings, form, output, color, diff, kept)
    progress = Progress(len(paths))

    def work(stream: TextIO) -> int:
        view = renderer(form, settings, terminal(color, stream))
        codes = set()
        for result in results(paths, settings):
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
        return combined_exit_code(codes)

    try:
        return written(output, work, kept)
    finally:
        progress.clear()
