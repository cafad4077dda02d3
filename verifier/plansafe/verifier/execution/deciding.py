"""What decides whether a plan is safe, of what the engine found (docs/language.md, section 6)."""

from __future__ import annotations

from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.monitors.finding import Violation
from plansafe.verifier.execution.replay import Outcome
from plansafe.verifier.rules.question import Question


def counts(engine: Engine, violation: Violation, question: Question) -> bool:
    """Whether a violation makes a plan unsafe."""
    plan = engine.plan
    objects = engine.task.names(violation.binding) if question.exemptions else ()
    return question.counts(plan.rules[plan.parts[violation.part].rule], violation.blame, objects)


def undecided(engine: Engine, outcome: Outcome, question: Question) -> bool:
    """Whether an outcome leaves something undecided that may decide. What blame it would have, nobody knows.

    What is exempt counts here: an exemption forgives what was found, and makes nothing known.
    """
    plan = engine.plan
    return any([question.reaches(plan.rules[plan.parts[part].rule].severity) for part, _ in outcome.undecided])
