"""The linter's result: findings, undecided questions, amounts of work. Data only; see docs/safety-rules.md."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import NamedTuple

from plansafe.grammar.codes import SC
from plansafe.grammar.diagnostics import Diagnostic, Label, Severity
from plansafe.grammar.source import Source


class Scope(Enum):
    """What a claim is about: every problem of the domain, or those that were given."""

    ANY = "any problem"
    GIVEN = "the given problems"


class LintFinding(NamedTuple):
    """One finding about a specification.

    ``rules`` are the names of the rules it is about, the one it blames first; ``labels`` the places, that rule's first.
    ``reason`` says why in words, ``proof`` how it was proved (empty where it can be read off the text). ``problem`` is
    the one given problem that a claim is about, if it is about one alone.
    """

    code: str
    severity: Severity
    message: str
    rules: tuple[str, ...]
    labels: tuple[Label, ...]
    reason: str
    proof: str = ""
    scope: Scope = Scope.ANY
    problem: str | None = None
    help: str | None = None

    @property
    def diagnostic(self) -> Diagnostic:
        """The finding as a diagnostic."""
        notes = [self.reason] if self.reason else []
        if self.proof:
            notes.append(f"PROVED ({self.proof})")
        return Diagnostic(self.code, self.message, self.labels, tuple(notes), self.help, self.severity)


class OpenQuestion(NamedTuple):
    """A question that was not decided: about which rule (``None``: about all together), in which problem, and why."""

    question: str
    rule: str | None
    problem: str | None
    why: str


class LintResult(NamedTuple):
    """The result for one specification.

    ``diagnostics`` are what was found while reading; with an error among them (``usable`` is false) nothing else was
    looked at. ``rules`` and ``idle`` count the rules looked at, and those that are not applicable.
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
        """0 nothing found, 1 warnings or errors, 2 unusable, 3 nothing found but something undecided."""
        if not self.usable:
            return 2
        if any([f.severity is not Severity.NOTE and f.code not in ignore for f in self.findings]):
            return 1
        return 3 if self.open_questions and SC.UNDECIDED_QUESTION not in ignore else 0


class LintOptions(NamedTuple):
    """How to look. ``time_limit_s`` is for the formulas, and again for each problem (``None``: no limit)."""

    lenient_types: bool = False
    time_limit_s: float | None = 20.0
    search: bool = True
