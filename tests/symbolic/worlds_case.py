"""A task with something open, a plan and specifications, as texts."""

from __future__ import annotations

from typing import NamedTuple

from plansafe.verifier.rules.verdict_criteria import EVERY_VIOLATION, VerdictCriteria


class WorldsCase(NamedTuple):
    """A case to audit. The name consists of mode, seed and number."""

    domain: str
    problem: str
    specs: tuple[str, ...]
    plan: str
    name: str = ""
    criteria: VerdictCriteria = EVERY_VIOLATION

    def show(self) -> str:
        """All of it, for a report."""
        parts = [self.name, self.domain, self.problem, *self.specs, self.plan]
        return "\n".join(part.rstrip("\n") for part in parts) + "\n"
