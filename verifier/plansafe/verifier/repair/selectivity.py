"""How many ground actions can give a fact a value, roughly: the fewer, the more a demand for it says."""

from __future__ import annotations

from math import prod

from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.model.nodes import Action

_MOST = 1_000_000


class Selectivity:
    """Counts by predicate and value, for one task."""

    def __init__(self, engine: Engine) -> None:
        self.task = engine.task
        self._base = len(engine.task.predicates)
        self._counts: dict[tuple[int, bool | None], int] = {}
        for action in engine.task.actions.values():
            for effect in action.start.effects:
                for atom in effect.adds:
                    self._add(action, atom.predicate, True, atom.arguments)
                for atom in effect.deletes:
                    self._add(action, atom.predicate, False, atom.arguments)
                for assignment in effect.assignments:
                    self._add(action, self._base + assignment.function, None, assignment.arguments)

    def _add(self, action: Action, subject: int, value: bool | None, arguments: tuple[int, ...]) -> None:
        left = [v for v in action.parameters if -1 - v.slot not in arguments]
        count = prod([len(self.task.domains[v.domain]) for v in left])
        for key in {(subject, value), (subject, None)}:
            self._counts[key] = min(self._counts.get(key, 0) + count, _MOST)

    def of(self, subject: int, value: bool | None) -> int:
        """The ground actions with an effect on one fact of a subject; at least 1."""
        return max(1, self._counts.get((subject, value), 0))
