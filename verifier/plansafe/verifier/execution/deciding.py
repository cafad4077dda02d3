"""What decides whether a plan is safe, of what the engine found (docs/language.md, section 6)."""

from __future__ import annotations

from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.monitors.finding import Violation
from plansafe.verifier.execution.replay import Outcome
from plansafe.verifier.rules.verdict_criteria import VerdictCriteria


def counts(engine: Engine, violation: Violation, criteria: VerdictCriteria) -> bool:
    """Whether a violation makes a plan unsafe."""
    plan = engine.plan
    objects = engine.task.names(violation.binding) if criteria.exemptions else ()
    return criteria.is_decisive(plan.rules[plan.parts[violation.part].rule], violation.blame, objects)


def undecided(engine: Engine, outcome: Outcome, criteria: VerdictCriteria) -> bool:
    """Whether an outcome leaves something undecided that may decide. What blame it would have, nobody knows.

    What is exempt counts here: an exemption forgives what was found, and makes nothing known.
    """
    plan = engine.plan
    return any([criteria.is_severe_enough(plan.rules[plan.parts[part].rule].severity) for part, _ in outcome.undecided])
