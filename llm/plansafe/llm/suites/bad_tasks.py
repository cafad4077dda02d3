"""Tasks that cannot be used, with what is said of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from plansafe.grammar.diagnostics import Diagnostic
from plansafe.grammar.source import Source


class BadTasks(Exception):
    """The tasks cannot be used; ``diagnostics`` say why, ``sources`` are the texts that they point into."""

    def __init__(self, diagnostics: Iterable[Diagnostic], sources: Mapping[str, Source]) -> None:
        self.diagnostics = tuple(diagnostics)
        self.sources = dict(sources)
        super().__init__(self.diagnostics[0].message if self.diagnostics else "no tasks")
