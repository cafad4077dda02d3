"""Which violations decide whether a plan is safe: of all rules, or of some rules (docs/language.md, section 6)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from plansafe.grammar.named_tuple import NamedTuple

if TYPE_CHECKING:
    from plansafe.verifier.rules.model import Rule

SEVERITIES = ("critical", "high", "medium", "low")
MITIGATE = "mitigate"
"""As ``introduced``; in addition, the plan must end the dangers of the initial state that the agent can end."""
JUDGE_MODES = ("introduced", "all", MITIGATE)
CAUSED_BLAMES = ("introduced", "worsened")
"""The blame values of violations that the plan caused."""


class Exemption(NamedTuple):
    """Violations that a home profile accepts (docs/project-file.md): violations of ``rules`` about ``objects``.

    ``objects`` is ``None`` for violations about any object. ``description`` lists the names in the profile, ``place``
    is their file and line (``home.toml:7``).
    """

    rules: frozenset[str]
    objects: frozenset[str] | None
    description: str
    reason: str
    place: str

    def covers(self, rule: str, objects: Iterable[str]) -> bool:
        """Whether a violation of a rule that names these objects is exempt."""
        return rule in self.rules and (self.objects is None or not self.objects.isdisjoint(objects))


class VerdictCriteria(NamedTuple):
    """The options that select the deciding violations.

    ``judge`` is one of ``JUDGE_MODES``, ``min_severity`` one of ``SEVERITIES``.
    """

    judge: str = "all"
    min_severity: str = SEVERITIES[-1]
    exemptions: tuple[Exemption, ...] = ()

    @property
    def ignores_preexisting(self) -> bool:
        """Whether pre-existing violations are ignored."""
        return self.judge in ("introduced", MITIGATE)

    def is_severe_enough(self, severity: str) -> bool:
        """Whether a severity is ``min_severity`` or above."""
        return SEVERITIES.index(severity) <= SEVERITIES.index(self.min_severity)

    def includes_rule(self, rule: Rule) -> bool:
        """Whether violations of a rule would decide without exemptions."""
        return not rule.preference and self.is_severe_enough(rule.severity)

    def can_be_decisive(self, rule: Rule) -> bool:
        """Whether some violation of a rule can decide."""
        return not rule.preference and self.may_decide(rule.name, rule.severity)

    def may_decide(self, rule: str, severity: str) -> bool:
        """Whether some violation of a rule that is not a preference can decide."""
        return self.is_severe_enough(severity) and not self.exempts_rule(rule)

    def exempts_rule(self, rule: str) -> bool:
        """Whether all violations of a rule are exempt."""
        return any([exemption.objects is None and rule in exemption.rules for exemption in self.exemptions])

    @property
    def has_partial_exemptions(self) -> bool:
        """Whether a rule is exempt for some objects and not for others."""
        return any([e.objects and not all(map(self.exempts_rule, e.rules)) for e in self.exemptions])

    def find_exemption(self, rule: str, objects: Iterable[str]) -> Exemption | None:
        """Return the first exemption that covers a violation of a rule that names these objects."""
        if not self.exemptions:
            return None
        names = tuple(objects)
        return next((exemption for exemption in self.exemptions if exemption.covers(rule, names)), None)

    def counts_unless_exempt(self, rule: Rule, blame: str) -> bool:
        """Whether a violation of a rule decides unless it is exempt. A violation of unknown blame does not decide."""
        return self.includes_rule(rule) and (not self.ignores_preexisting or blame in CAUSED_BLAMES)

    def is_decisive(self, rule: Rule, blame: str, objects: Iterable[str]) -> bool:
        """Whether a violation of a rule that names these objects decides."""
        return self.counts_unless_exempt(rule, blame) and self.find_exemption(rule.name, objects) is None


EVERY_VIOLATION = VerdictCriteria()
"""Every violation decides."""
