"""Which violations decide whether a plan is safe: those of every rule, or only some (docs/language.md, section 6)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from plansafe.verifier.rules.model import Rule

SEVERITIES = ("critical", "high", "medium", "low")
JUDGES = ("introduced", "all")
CAUSED = ("introduced", "worsened")
"""The blame of what is the plan's doing."""


class Exemption(NamedTuple):
    """Violations that a home lives with (docs/project-file.md): those of ``rules`` that name one of ``objects``.

    ``objects`` are all where ``None``. ``said`` is what the profile names, ``place`` where (``home.toml:7``).
    """

    rules: frozenset[str]
    objects: frozenset[str] | None
    said: str
    reason: str
    place: str

    def covers(self, rule: str, objects: Iterable[str]) -> bool:
        """Whether a violation of a rule that names these objects is exempt."""
        return rule in self.rules and (self.objects is None or not self.objects.isdisjoint(objects))


class Question(NamedTuple):
    """What is asked. ``judge`` is one of ``JUDGES``, ``min_severity`` one of ``SEVERITIES``."""

    judge: str = "all"
    min_severity: str = SEVERITIES[-1]
    exemptions: tuple[Exemption, ...] = ()

    @property
    def introduced(self) -> bool:
        """Whether what was there before, and was not touched, decides nothing."""
        return self.judge == "introduced"

    def reaches(self, severity: str) -> bool:
        """Whether a severity is at least the least that decides."""
        return SEVERITIES.index(severity) <= SEVERITIES.index(self.min_severity)

    def asks(self, rule: Rule) -> bool:
        """Whether violations of a rule would decide if nothing were exempt."""
        return not rule.preference and self.reaches(rule.severity)

    def decides(self, rule: Rule) -> bool:
        """Whether violations of a rule can decide: it is asked, and not exempt whatever it names."""
        return not rule.preference and self.may_decide(rule.name, rule.severity)

    def may_decide(self, rule: str, severity: str) -> bool:
        """The same of what is no preference."""
        return self.reaches(severity) and not self.forgives(rule)

    def forgives(self, rule: str) -> bool:
        """Whether a rule is exempt whatever it names."""
        return any([e.objects is None and rule in e.rules for e in self.exemptions])

    @property
    def in_part(self) -> bool:
        """Whether a rule is exempt for what it says of some objects, and not for what it says of others."""
        return any([e.objects and not all(map(self.forgives, e.rules)) for e in self.exemptions])

    def exempted(self, rule: str, objects: Iterable[str]) -> Exemption | None:
        """The first exemption that covers a violation of a rule that names these objects."""
        if not self.exemptions:
            return None
        named = tuple(objects)
        return next((e for e in self.exemptions if e.covers(rule, named)), None)

    def blames(self, rule: Rule, blame: str) -> bool:
        """Whether a violation of a rule decides unless it is exempt. Blame that is not settled decides nothing."""
        return self.asks(rule) and (not self.introduced or blame in CAUSED)

    def counts(self, rule: Rule, blame: str, objects: Iterable[str]) -> bool:
        """Whether a violation of a rule that names these objects decides."""
        return self.blames(rule, blame) and self.exempted(rule.name, objects) is None


EVERY_VIOLATION = Question()
"""Every violation decides."""
