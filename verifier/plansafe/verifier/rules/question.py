"""Which violations decide whether a plan is safe: those of every rule, or only some (docs/language.md, section 6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from plansafe.verifier.rules.model import Rule

SEVERITIES = ("critical", "high", "medium", "low")
JUDGES = ("introduced", "all")
CAUSED = ("introduced", "worsened")
"""The blame of what is the plan's doing."""


class Question(NamedTuple):
    """What is asked. ``judge`` is one of ``JUDGES``, ``min_severity`` one of ``SEVERITIES``."""

    judge: str = "all"
    min_severity: str = SEVERITIES[-1]

    @property
    def introduced(self) -> bool:
        """Whether what was there before, and was not touched, decides nothing."""
        return self.judge == "introduced"

    def reaches(self, severity: str) -> bool:
        """Whether a severity is at least the least that decides."""
        return SEVERITIES.index(severity) <= SEVERITIES.index(self.min_severity)

    def asks(self, rule: Rule) -> bool:
        """Whether violations of a rule can decide."""
        return not rule.preference and self.reaches(rule.severity)

    def counts(self, rule: Rule, blame: str) -> bool:
        """Whether a violation of a rule decides. Blame that is not settled yet decides nothing so far."""
        return self.asks(rule) and (not self.introduced or blame in CAUSED)


EVERY_VIOLATION = Question()
"""Every violation decides."""
