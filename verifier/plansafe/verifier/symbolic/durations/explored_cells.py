"""The results of all runs: cells of worlds for each check, and cells in which the trace ends early."""

from __future__ import annotations

from typing import NamedTuple

from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.outcome import Outcome
from plansafe.verifier.model.nodes import Number
from plansafe.verifier.symbolic.durations.plan_checks import CheckKind, PlanCheck
from plansafe.verifier.symbolic.durations.world_cells import Cell, contains_world
from plansafe.verifier.symbolic.worlds.verdict import WorldVerdict


class CellFinding(NamedTuple):
    """The result of a check in all worlds of a cell; ``None``: undecided."""

    cell: Cell
    holds: bool | None


class ExploredCells:
    """The cells of worlds whose results are known.

    ``findings``: for each check, its results in cells. ``whole_worlds``: cells in which the verdict as a whole is
    known; every run in which a step fails adds one. In any other world, the verdict follows from the findings if the
    world is in a cell of each check.
    """

    def __init__(self, engine: Engine, checks: list[PlanCheck]) -> None:
        self.engine = engine
        self.checks = checks
        self.findings: list[list[CellFinding]] = [[] for _ in checks]
        self.whole_worlds: list[tuple[Cell, WorldVerdict]] = []
        self.always_violated: frozenset[int] = frozenset()
        self.always_undecided = False
        self._cells: list[set[frozenset[object]]] = [set() for _ in checks]
        self._checks_of_part: dict[int, list[int]] = {}
        for number, check in enumerate(checks):
            if check.kind in (CheckKind.RULE, CheckKind.EVERYTHING):
                self._checks_of_part.setdefault(check.number, []).append(number)

    def add_finding(self, check: int, finding: CellFinding) -> bool:
        """Add the result of a run for a check; False if its cell is known."""
        key = frozenset(finding.cell.items())
        if key in self._cells[check]:
            return False
        self._cells[check].add(key)
        self.findings[check].append(finding)
        return True

    def check_results(self, outcome: Outcome) -> list[bool | None]:
        """The result of each check in a run in which no step failed."""
        plan = self.engine.rule_set
        results: list[bool | None] = [
            outcome.goal is True if check.kind is CheckKind.GOAL else True for check in self.checks
        ]
        always_violated, self.always_undecided = set(), False
        for part, binding in outcome.undecided:
            owners = self._find_owners(part, binding)
            self.always_undecided |= not owners
            for owner in owners:
                results[owner] = None
        for violation in outcome.violations:
            rule = plan.parts[violation.part].rule
            owners = self._find_owners(violation.part, violation.binding)
            if not owners and not plan.rules[rule].preference:
                always_violated.add(rule)
            for owner in owners:
                results[owner] = False
        self.always_violated = frozenset(always_violated)
        return results

    def _find_owners(self, part: int, binding: tuple[int, ...]) -> list[int]:
        """The checks that an instance belongs to; none for an instance that no event touches."""
        slots = [v.slot for v in self.engine.rule_set.parts[part].parameters]
        checks = self._checks_of_part.get(part, [])
        if len(binding) < len(slots):
            return checks  # something that all instances have in common is undefined
        objects = {*zip(slots, binding, strict=True)}
        fitting = [number for number in checks if self.checks[number].instances <= objects]
        return sorted(fitting, key=lambda number: len(self.checks[number].instances))[-1:]

    def is_preference(self, check: PlanCheck) -> bool:
        """Whether a check is about a preference, which is never a violation."""
        plan = self.engine.rule_set
        return (
            check.kind in (CheckKind.RULE, CheckKind.EVERYTHING)
            and plan.rules[plan.parts[check.number].rule].preference
        )

    def find_verdict(self, values: tuple[Number, ...]) -> WorldVerdict | None:
        """The verdict in a world; ``None`` if it does not follow from these runs."""
        for cell, verdict in self.whole_worlds:
            if contains_world(cell, values):
                return verdict
        if not self.checks:
            return None
        goal: bool | None = None
        violated = set(self.always_violated)
        undecided = self.always_undecided
        for check, findings in zip(self.checks, self.findings, strict=True):
            finding = next((explored for explored in findings if contains_world(explored.cell, values)), None)
            if finding is None:
                return None
            if check.kind is CheckKind.GOAL:
                goal = finding.holds
            elif finding.holds is False and not self.is_preference(check):
                violated.add(self.engine.rule_set.parts[check.number].rule)
            undecided |= finding.holds is None
        safe = False if violated else None if undecided else True
        return WorldVerdict(True, goal, safe, frozenset(violated))
