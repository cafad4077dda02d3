"""The report on a loose text: reasons for refusing it, and liberties taken."""

from __future__ import annotations

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity, Span
from plansafe.grammar.source import Source
from plansafe.llm.loose.cleaned import Cleaned
from plansafe.llm.loose.names import Refused, Tolerance

MAX_REFUSALS = 20
MAX_NOTES = 200
SKIPPED = Tolerance(SC.TEXT_LEFT_OUT, "text beside the plan was left out")
REMOVED = Tolerance(SC.TEXT_LEFT_OUT, "steps that are marked as removed were left out")
COMMENTS = Tolerance(SC.TEXT_LEFT_OUT, "comments were left out")


class Report:
    """The report on one text: refusals, and the liberties taken, each with its place in the original."""

    def __init__(self, source: Source, cleaned: Cleaned) -> None:
        self.source = source
        self.refusals: list[Diagnostic] = []
        self._cleaned = cleaned
        self._notes: dict[tuple[str, str], list[Diagnostic]] = {}

    def fresh(self) -> Report:
        """An empty report on the same text."""
        return Report(self.source, self._cleaned)

    def refuse(self, refused: Refused, start: int, end: int) -> None:
        """Refuse a place of the cleaned text."""
        self.refuse_at(refused, self.place(start, end))

    def refuse_at(self, refused: Refused, span: Span, text: str = "here", *more: Label) -> None:
        """Refuse a place of the original; only the first twenty are kept."""
        if len(self.refusals) < MAX_REFUSALS:
            labels = (Label(self.source.name, span, text), *more)
            self.refusals.append(Diagnostic(refused.code, refused.message, labels, help=refused.help))

    def note(self, tolerance: Tolerance, span: Span) -> None:
        """Note a liberty."""
        diagnostics = self._notes.setdefault((tolerance.code, tolerance.message), [])
        label = Label(self.source.name, span, "here")
        diagnostics.append(
            Diagnostic(tolerance.code, tolerance.message, (label,), help=tolerance.help, severity=Severity.NOTE)
        )

    def place(self, start: int, end: int) -> Span:
        """The place in the original of a place in the cleaned text."""
        return self._cleaned.origin(start, max(end, start + 1))

    def why(self) -> tuple[Diagnostic, ...]:
        """The reasons for a missing plan."""
        if self.refusals:
            return tuple(self.refusals)
        label = Label(self.source.name, Span(0, min(1, len(self.source.text))), "in this text")
        message = "there is no step in this text" if self.source.text.strip() else "the text is empty"
        return (Diagnostic(SC.NO_PLAN, message, (label,), help="write each step as `(action object ..)`"),)

    def notes(self) -> tuple[Diagnostic, ...]:
        """The liberties, in the order of their codes, each once."""
        notes = []
        for _, diagnostics in sorted(self._notes.items(), key=lambda item: (item[0][0], item[1][0].labels[0].span)):
            more = (
                (f"and in {len(diagnostics) - 1} more places",) if len(diagnostics) > 2 else ("and in one more place",)
            )
            notes.append(diagnostics[0]._replace(notes=more if len(diagnostics) > 1 else ()))
        return tuple(notes[:MAX_NOTES])
