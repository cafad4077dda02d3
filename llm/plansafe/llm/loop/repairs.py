"""The repairs of a run's proposals: each is searched for once, though feedback and the last resort both ask for it."""

from __future__ import annotations

from plansafe.grammar.source import Source
from plansafe.llm.loop.model import PLAN
from plansafe.verifier.api import Checker
from plansafe.verifier.repair.api import repair
from plansafe.verifier.repair.model import RepairOptions, RepairResult


class Repairs:
    """Searches by the options of the run; plans are identified by their text."""

    def __init__(self, checker: Checker, options: RepairOptions) -> None:
        self._checker = checker
        self._options = options
        self._known: dict[str, RepairResult] = {}

    def of(self, plan: str) -> RepairResult:
        """What the search found for a plan."""
        if plan not in self._known:
            self._known[plan] = repair(self._checker, Source(PLAN, plan), self._options)
        return self._known[plan]
