"""The places of entries in home profiles, project files and command-line options, and mistakes in entries."""

from __future__ import annotations

from collections.abc import Mapping

from plansafe.grammar.diagnostics import Diagnostic, Label, Severity
from plansafe.grammar.source import Source
from plansafe.verifier.elaborate.context import Context


def report_entry_mistake(
    context: Context, code: str, message: str, place: Label, help: str, severity: Severity = Severity.ERROR
) -> None:
    """Report a mistake in an entry at ``place``; an ``ERROR`` also counts as an error of the task."""
    context.diagnostics.append(Diagnostic(code, message, (place,), help=help, severity=severity))
    context.errors += severity is Severity.ERROR


def format_entry_place(label: Label, sources: Mapping[str, Source]) -> str:
    """Return the place of an entry as text: the name of an option (``--ignore``), or a file and a line."""
    source = sources.get(label.source)
    if label.source.startswith("--") or source is None:
        return label.source
    return f"{label.source}:{source.position(label.span.start)[0]}"
