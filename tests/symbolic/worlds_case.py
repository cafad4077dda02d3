"""The texts of a task with open facts, numbers or outcomes, its specifications and a plan."""

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
        """The whole case, to reproduce a difference."""
        parts = [self.name, self.domain, self.problem, *self.specs, self.plan]
        return "\n".join(part.rstrip("\n") for part in parts) + "\n"
