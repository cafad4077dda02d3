"""The results of all runs: cells of worlds for each check, and cells in which the trace ends early."""

from __future__ import annotations

from typing import NamedTuple

from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.outcome import Outcome
from plansafe.verifier.model.nodes import Number
from plansafe.verifier.symbolic.durations.plan_checks import CheckKind, PlanCheck
from plansafe.verifier.symbolic.durations.world_cells import Cell, contains_world
from plansafe.verifier.symbolic.worlds.verdict import WorldVerdict


class CellResult(NamedTuple):
    """The result of a check in all worlds of a cell; ``None``: undecided."""

    cell: Cell
    holds: bool | None


class ExploredCells:
    """The cells of worlds whose results are known.

    ``results_by_check``: for each check, its results in cells. ``verdict_cells``: cells in which the verdict as a whole
    is known; every run in which a step fails adds one. In any other world, the verdict follows from the results if the
    world is in a cell of each check. ``always_violated``: the rules that have a violated instance in every run without
    a failed step; ``always_undecided``: whether some instance is undecided in each.
    """

    def __init__(self, engine: Engine, checks: list[PlanCheck]) -> None:
        self.engine = engine
        self.checks = checks
        self.results_by_check: list[list[CellResult]] = [[] for _ in checks]
        self.verdict_cells: list[tuple[Cell, WorldVerdict]] = []
        self.always_violated: frozenset[int] = frozenset()
        self.always_undecided = False
        self._cell_keys: list[set[frozenset[object]]] = [set() for _ in checks]
        self._checks_of_part: dict[int, list[int]] = {}
        for number, check in enumerate(checks):
            if check.is_about_rule:
                self._checks_of_part.setdefault(check.number, []).append(number)

    def add_result(self, check: int, result: CellResult) -> bool:
        """Add the result of a run for a check (by number); False if its cell is known."""
        key = frozenset(result.cell.items())
        if key in self._cell_keys[check]:
            return False
        self._cell_keys[check].add(key)
        self.results_by_check[check].append(result)
        return True

    def read_check_results(self, outcome: Outcome) -> list[bool | None]:
        """Return the result of each check in a run in which no step failed.

        Violated or undecided instances that belong to no check are the same in all these runs: store them as
        ``always_violated`` and ``always_undecided``.
        """
        rule_set = self.engine.rule_set
        results: list[bool | None] = [
            outcome.goal is True if plan_check.kind is CheckKind.GOAL else True for plan_check in self.checks
        ]
        always_violated, self.always_undecided = set(), False
        for part, binding in outcome.undecided:
            checks = self._find_checks_of_instance(part, binding)
            self.always_undecided |= not checks
            for check in checks:
                results[check] = None
        for violation in outcome.violations:
            rule = rule_set.parts[violation.part].rule
            checks = self._find_checks_of_instance(violation.part, violation.binding)
            if not checks and not rule_set.rules[rule].preference:
                always_violated.add(rule)
            for check in checks:
                results[check] = False
        self.always_violated = frozenset(always_violated)
        return results

    def _find_checks_of_instance(self, part: int, binding: tuple[int, ...]) -> list[int]:
        """The numbers of the checks that an instance belongs to; none for an instance that no event touches."""
        slots = [v.slot for v in self.engine.rule_set.parts[part].parameters]
        checks = self._checks_of_part.get(part, [])
        if len(binding) < len(slots):
            return checks  # something that all instances have in common is undefined
        objects = {*zip(slots, binding, strict=True)}
        checks_with_instance = [number for number in checks if self.checks[number].instances <= objects]
        return sorted(checks_with_instance, key=lambda number: len(self.checks[number].instances))[-1:]

    def is_preference(self, check: PlanCheck) -> bool:
        """Whether a check is about a preference, which is never a violation."""
        rule_set = self.engine.rule_set
        return check.is_about_rule and rule_set.rules[rule_set.parts[check.number].rule].preference

    def find_verdict(self, values: tuple[Number, ...]) -> WorldVerdict | None:
        """The verdict in a world; ``None`` if it does not follow from these runs."""
        for cell, verdict in self.verdict_cells:
            if contains_world(cell, values):
                return verdict
        if not self.checks:
            return None
        goal: bool | None = None
        violated = set(self.always_violated)
        undecided = self.always_undecided
        for check, results in zip(self.checks, self.results_by_check, strict=True):
            result = next((explored for explored in results if contains_world(explored.cell, values)), None)
            if result is None:
                return None
            if check.kind is CheckKind.GOAL:
                goal = result.holds
            elif result.holds is False and not self.is_preference(check):
                violated.add(self.engine.rule_set.parts[check.number].rule)
            undecided |= result.holds is None
        if violated:
            return WorldVerdict(True, goal, False, frozenset(violated))
        return WorldVerdict(True, goal, None if undecided else True)
