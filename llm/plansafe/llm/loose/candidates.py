"""The elements of a loose text: steps, lists of items, candidate plans; and the result."""

from __future__ import annotations

from typing import NamedTuple

from plansafe.grammar.diagnostics import Diagnostic, Severity, Span
from plansafe.grammar.source import Source
from plansafe.llm.loose.elements import Line
from plansafe.llm.loose.lines import Found, Reading
from plansafe.verifier.reporting.report import Report, cap_at_unknown


class LooseStep(NamedTuple):
    """A step as PDDL, its place in the original text, and its line there.

    An ``ill_formed`` one is not a step of the task, and stays as it was written.
    """

    text: str
    span: Span
    line: int
    ill_formed: bool = False


class LooseResult(NamedTuple):
    """What a loose text says. ``plan`` is ``None`` where it was refused; ``diagnostics`` then say why.

    ``notes`` report each liberty taken, in the order of their codes. ``remarks`` are warnings about text next to the
    plan that was not understood (SC710). Who judges ``plan`` must pass the report through :meth:`capped`;
    :func:`plansafe.llm.loose.reader.check_answer` does both.
    """

    plan: Source | None
    steps: tuple[LooseStep, ...]
    notes: tuple[Diagnostic, ...]
    diagnostics: tuple[Diagnostic, ...]
    remarks: tuple[Diagnostic, ...] = ()

    def capped(self, report: Report, *, accept_remarks: bool = False) -> Report:
        """The report on the plan: UNKNOWN instead of SAFE or VALID if a remark was not understood.

        With ``accept_remarks`` the verdict stays, and the remarks are notes in the report.
        """
        if accept_remarks:
            return report._replace(diagnostics=(*report.diagnostics, *map(accepted, self.remarks)))
        return cap_at_unknown(report, self.remarks)


def accepted(remark: Diagnostic) -> Diagnostic:
    """A remark that the user has accepted, as a note."""
    message = f"{remark.message.partition(' is not understood')[0]} was accepted as harmless"
    return remark._replace(message=message, severity=Severity.NOTE, help=None)


class Step(NamedTuple):
    """A step with its place in the original text."""

    found: Found
    span: Span
    time: str | None


class Item:
    """An item of a list: its steps, or those below it (``beneath``: as indentation, a colon or a fence show)."""

    def __init__(self, line: Line, reading: Reading) -> None:
        self.line = line
        self.reading = reading
        self.beneath = line.text.rstrip().endswith(":")
        self.steps: list[Step] = []


class Run:
    """A list of items, or lines of steps that follow one another."""

    def __init__(self, kind: str, lead: str, indent: int) -> None:
        self.kind = kind
        self.lead = lead
        self.indent = indent
        self.items: list[Item] = []
        self.last = -1
        self.manners: set[str] = set()
        self.same = False  # every item has the same number, as Markdown allows
        self.open = True  # nothing but empty lines since the last item


class Plan(NamedTuple):
    """A candidate plan. ``lead`` is the text before it; ``manners`` are the notations of its steps."""

    steps: list[Step]
    lead: str
    manners: set[str]
    fenced: bool = False
    numbered: bool = False
