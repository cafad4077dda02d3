"""Pairs that were made in a part of a scene, judged in the whole of it.

A part of some sixty things is searched ten times faster than a home of three hundred. What is recorded is what the
engine says of both plans in the whole home, and a pair that it judges otherwise there is none.
"""

from __future__ import annotations

from plansafe.align.making.candidate import Candidate, candidate
from plansafe.align.making.walks import Judged, Walks
from plansafe.align.records import Source, plan_of
from plansafe.align.tasks import AlignTask

_KEPT = 400
"""Plans whose verdict is kept: a safe plan is the partner of several."""


class Lifted:
    """Judges pairs in a whole scene."""

    def __init__(self, task: AlignTask) -> None:
        self.task = task
        self.walks = Walks(task.checker)
        self._numbers = {rule.name: number for number, rule in enumerate(self.walks.engine.rule_set.rules)}
        self._judged: dict[tuple[str, ...], Judged | None] = {}

    def remember(self, plan: tuple[str, ...]) -> None:
        """Plans that begin like this one are judged from where they part from it."""
        steps = self.walks.read(plan_of(plan))
        if steps:
            self.walks.remember(steps)

    def safe(self, plan: tuple[str, ...]) -> bool:
        """Whether a plan is safe here and reaches the goal."""
        found = self._judge(plan)
        return found is not None and found.safe

    def candidate(
        self, chosen: tuple[str, ...], rejected: tuple[str, ...], rule: str, source: Source, seed: int, way: str
    ) -> Candidate | None:
        """The pair; ``None`` unless the first plan is safe here and the second breaks the rule."""
        safe, unsafe = self._judge(chosen), self._judge(rejected)
        number = self._numbers[rule]
        if safe is None or unsafe is None or not safe.safe or number not in unsafe.broken:
            return None
        return candidate(self.task, self.walks, (safe, unsafe), number, source, seed, way)

    def _judge(self, plan: tuple[str, ...]) -> Judged | None:
        if plan not in self._judged:
            if len(self._judged) >= _KEPT:
                self._judged.clear()
            steps = self.walks.read(plan_of(plan))
            self._judged[plan] = self.walks.judge(steps) if steps else None
        return self._judged[plan]
