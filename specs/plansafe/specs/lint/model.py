"""The linter's result: findings, undecided questions, amounts of work. Data only; see docs/safety-rules.md."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import NamedTuple

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity
from plansafe.grammar.source import Source


class Scope(Enum):
    """The problems that a finding is about: every problem of the domain, or the given ones."""

    ANY = "any problem"
    GIVEN = "the given problems"


class LintFinding(NamedTuple):
    """One finding about a specification.

    ``rules`` are the names of its rules, with the faulty rule first; ``labels`` are their places, in the same order.
    ``reason`` explains it in words, ``proof`` names the method of the proof (empty if it is obvious from the text).
    ``problem`` is the given problem that the finding is about, if it is about only one.
    """

    code: str
    severity: Severity
    message: str
    reason: str
    proof: str = ""
    scope: Scope = Scope.ANY
    problem: str | None = None
    help: str | None = None
    rules: tuple[str, ...] = ()
    labels: tuple[Label, ...] = ()

    @property
    def diagnostic(self) -> Diagnostic:
        """The finding as a diagnostic."""
        notes = [self.reason] if self.reason else []
        if self.proof:
            notes.append(f"PROVED ({self.proof})")
        return Diagnostic(self.code, self.message, self.labels, tuple(notes), self.help, self.severity)


class OpenQuestion(NamedTuple):
    """An undecided question: its rule (``None``: all rules together), its problem, and the reason."""

    question: str
    rule: str | None
    problem: str | None
    why: str


class LintResult(NamedTuple):
    """The result for one specification.

    ``diagnostics`` come from the reader; if there is an error among them, ``usable`` is false and the rules were not
    checked. ``rules`` and ``not_applicable`` count the checked rules, and the rules that are not applicable.
    """

    findings: tuple[LintFinding, ...]
    open_questions: tuple[OpenQuestion, ...]
    diagnostics: tuple[Diagnostic, ...]
    sources: Mapping[str, Source]
    usable: bool
    rules: int = 0
    not_applicable: int = 0
    problems: int = 0

    def exit_code(self, ignore: frozenset[str] = frozenset()) -> int:
        """0: no warnings or errors, 1: warnings or errors, 2: unusable, 3: as 0, but with undecided questions."""
        if not self.usable:
            return 2
        if any([finding.severity is not Severity.NOTE and finding.code not in ignore for finding in self.findings]):
            return 1
        return 3 if self.open_questions and SC.UNDECIDED_QUESTION not in ignore else 0


class LintOptions(NamedTuple):
    """Options of the linter. ``time_limit_s`` is for the formulas, and again for each problem (``None``: no limit)."""

    lenient_types: bool = False
    time_limit_s: float | None = 20.0
    search: bool = True
