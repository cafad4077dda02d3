"""Text next to a plan: harmless, or a remark that caps the verdict at UNKNOWN (docs/loose-text.md)."""

from __future__ import annotations

from collections.abc import Sequence

from plansafe.grammar.diagnostics import Diagnostic, Span
from plansafe.grammar.source import Source
from plansafe.llm.loose.candidates import LooseStep
from plansafe.llm.loose.names import Names


def find_remarks(
    source: Source, outside: Sequence[Span], steps: Sequence[LooseStep], names: Names
) -> tuple[Diagnostic, ...]:
    """Return a warning (SC710) for each sentence outside the steps that is not known to be harmless.

    ``outside`` are the ranges of the original text that hold no step: prose, comments, descriptions, fields of a
    structured answer that are not part of a step.
    """
    return ()
