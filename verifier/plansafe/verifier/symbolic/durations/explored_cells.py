"""What has been found out so far: cells of items, and cells of worlds in which the trace ends early."""

from __future__ import annotations

from typing import NamedTuple

from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.replay import Outcome
from plansafe.verifier.model.nodes import Number
from plansafe.verifier.symbolic.durations.plan_checks import EVERYTHING, GOAL, RULE, PlanCheck
from plansafe.verifier.symbolic.durations.world_cells import Cell, contains_world


class WorldVerdict(NamedTuple):
    """What holds in a world; ``None`` where that is not known. ``violated``: rules, by number."""

    executable: bool | None
    goal: bool | None
    safe: bool | None
    violated: frozenset[int] = frozenset()


class CellFinding(NamedTuple):
    """An item in a cell: ``kept`` says whether it succeeds, or is reached or kept (``None``: undecided)."""

    cell: Cell
    kept: bool | None


class ExploredCells:
    """``findings``: by item. ``stops``: worlds judged as a whole; all those in which a step fails are.

    In any other world that lies in a cell of each item, all is known.
    """

    def __init__(self, engine: Engine, items: list[PlanCheck]) -> None:
        self.engine = engine
        self.items = items
        self.findings: list[list[CellFinding]] = [[] for _ in items]
        self.stops: list[tuple[Cell, WorldVerdict]] = []
        self.always_violated: frozenset[int] = frozenset()
        self.always_undecided = False
        self._known: list[set[frozenset[object]]] = [set() for _ in items]
        self._of_part: dict[int, list[int]] = {}
        for number, item in enumerate(items):
            if item.kind in (RULE, EVERYTHING):
                self._of_part.setdefault(item.number, []).append(number)

    def learn(self, item: int, finding: CellFinding) -> bool:
        """Add what a run says of an item; False if that is known."""
        key = frozenset(finding.cell.items())
        if key in self._known[item]:
            return False
        self._known[item].add(key)
        self.findings[item].append(finding)
        return True

    def kept(self, outcome: Outcome) -> list[bool | None]:
        """What a run in which no step failed says of each item."""
        plan = self.engine.rule_set
        out: list[bool | None] = [True] * len(self.items)
        always, self.always_undecided = set(), False
        for part, binding in outcome.undecided:
            owners = self._owners(part, binding)
            self.always_undecided |= not owners
            for owner in owners:
                out[owner] = None
        for violation in outcome.violations:
            rule = plan.parts[violation.part].rule
            owners = self._owners(violation.part, violation.binding)
            if not owners and not plan.rules[rule].preference:
                always.add(rule)
            for owner in owners:
                out[owner] = False
        self.always_violated = frozenset(always)
        for number, item in enumerate(self.items):
            if item.kind == GOAL:
                out[number] = outcome.goal is True
        return out

    def _owners(self, part: int, binding: tuple[int, ...]) -> list[int]:
        """The items that an instance belongs to; none of an instance that no event touches."""
        slots = [v.slot for v in self.engine.rule_set.parts[part].parameters]
        items = self._of_part.get(part, [])
        if len(binding) < len(slots):
            return items  # something that all instances have in common is undefined
        objects = {*zip(slots, binding, strict=True)}
        fitting = [number for number in items if self.items[number].instances <= objects]
        return sorted(fitting, key=lambda number: len(self.items[number].instances))[-1:]

    def is_preference(self, item: PlanCheck) -> bool:
        """Whether an item is about a preference, which is no violation."""
        plan = self.engine.rule_set
        return item.kind in (RULE, EVERYTHING) and plan.rules[plan.parts[item.number].rule].preference

    def judged(self, values: tuple[Number, ...]) -> WorldVerdict | None:
        """What is known of a world; ``None`` if it has not been explored."""
        for cell, found in self.stops:
            if contains_world(cell, values):
                return found
        goal: bool | None = None
        violated = set(self.always_violated)
        undecided = self.always_undecided
        if not self.items:
            return None
        for item, findings in zip(self.items, self.findings, strict=True):
            finding = next((f for f in findings if contains_world(f.cell, values)), None)
            if finding is None:
                return None
            if item.kind == GOAL:
                goal = finding.kept
            elif finding.kept is False and not self.is_preference(item):
                violated.add(self.engine.rule_set.parts[item.number].rule)
            undecided |= finding.kept is None
        safe = False if violated else None if undecided else True
        return WorldVerdict(True, goal, safe, frozenset(violated))
