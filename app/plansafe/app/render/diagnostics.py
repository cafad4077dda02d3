"""Diagnostics about a file of the user, printed with their places on standard error."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from plansafe.app.system.terminal_text import Style
from plansafe.grammar.diagnostics import Diagnostic
from plansafe.grammar.source import Source


def print_diagnostics(diagnostics: Iterable[Diagnostic], sources: dict[str, Source]) -> int:
    """Print diagnostics with excerpts of their sources on standard error, and return exit code 2."""
    from plansafe.app.render.full import FullRenderer  # noqa: PLC0415 - for a mistake alone
    from plansafe.app.session.model import Result  # noqa: PLC0415 - for plans alone
    from plansafe.verifier.reporting.report import make_unchecked_report  # noqa: PLC0415

    view = FullRenderer(Style(False), False)
    result = Result("", make_unchecked_report(""), (), sources)
    for diagnostic in diagnostics:
        print(view.diagnostic(diagnostic, result), file=sys.stderr)
    return 2
