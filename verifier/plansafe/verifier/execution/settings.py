"""How to check: what a user may ask for, the same for every plan of a task."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from plansafe.verifier.rules.verdict_criteria import EVERY_VIOLATION, Exemption, VerdictCriteria

if TYPE_CHECKING:
    from plansafe.verifier.rules.home_profile import HomeProfile


class Options(NamedTuple):
    """How to check. ``judge`` and ``min_severity`` say which violations decide, ``blame`` which are listed.

    Times are in seconds; ``replay`` says when the kernel checks findings again. ``engine`` is ``auto``, ``explicit``,
    ``sat`` or ``smt`` (docs/worlds.md, section 3); ``infer_invariants``: inferred invariants restrict open predicates;
    ``certificate``: a SAFE that a solver decided comes with a proof; ``double_check``: a second solver is asked.
    ``home`` is the profile of a home; ``exemptions``: what it exempts in the task, filled in when that is compiled.
    """

    lenient_types: bool = False
    tolerance: Fraction = Fraction(1, 1000)
    blame: tuple[str, ...] = ()
    time_limit_s: float | None = None
    max_findings: int = 100
    max_instances: int = 5_000_000
    full_state: bool = False
    replay: str = "auto"
    require_rules: bool = False
    engine: str = "auto"
    infer_invariants: bool = True
    certificate: bool = False
    double_check: bool = False
    judge: str = EVERY_VIOLATION.judge
    min_severity: str = EVERY_VIOLATION.min_severity
    home: HomeProfile | None = None
    exemptions: tuple[Exemption, ...] = ()

    @property
    def criteria(self) -> VerdictCriteria:
        """Which violations decide."""
        return VerdictCriteria(self.judge, self.min_severity, self.exemptions)
