"""What the linter reads: a domain, problems and specifications, and what was wrong with them."""

from __future__ import annotations

from typing import NamedTuple

from plansafe.app.project.discovery import Discovery, Input
from plansafe.grammar.diagnostics import Diagnostic, Severity
from plansafe.grammar.source import Source


class Gathered(NamedTuple):
    """The files, read. With an error among ``notes`` they are of no use."""

    domain: Input | None
    problems: tuple[Source, ...]
    specs: tuple[Input, ...]
    notes: tuple[Diagnostic, ...]
    discovery: Discovery
    texts: tuple[Source, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether something could not be read."""
        return self.domain is None or any([note.severity is Severity.ERROR for note in self.notes])

    def resolve(self, name: str, extending: Source) -> Source | None:
        """The specification that another one extends."""
        found = self.discovery.extended(name, extending)
        return None if found is None else found.source
