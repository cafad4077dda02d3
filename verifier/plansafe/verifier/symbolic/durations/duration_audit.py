"""The verdict on a timed plan over all durations that its tolerances allow.

The result of a run in one world for a check holds in a whole cell of worlds (:mod:`.plan_checks`,
:mod:`.duration_run`). The plan is run in more worlds until the cells of each check cover all worlds. A run in which a
step fails decides the verdict as a whole, in the cell of the run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import cast

from plansafe.verifier.execution.compiled import CompiledTask
from plansafe.verifier.execution.monitors.trace_operators import LetterTime
from plansafe.verifier.execution.outcome import Outcome
from plansafe.verifier.execution.steps import TimedStep, widen_tolerance
from plansafe.verifier.model.limits import LimitReached
from plansafe.verifier.model.nodes import Number, normal_number
from plansafe.verifier.reporting.report import Worlds
from plansafe.verifier.reporting.summary import count_rules
from plansafe.verifier.reporting.worlds import Completion
from plansafe.verifier.rules.verdict_criteria import EVERY_VIOLATION
from plansafe.verifier.symbolic.durations.affine import ConstraintTrail, NotLinear
from plansafe.verifier.symbolic.durations.duration_monitors import OpenEndedLetterTime, start_monitors
from plansafe.verifier.symbolic.durations.duration_run import DurationRun
from plansafe.verifier.symbolic.durations.event_schedule import make_schedule
from plansafe.verifier.symbolic.durations.explored_cells import CellResult, ExploredCells
from plansafe.verifier.symbolic.durations.plan_checks import CheckKind
from plansafe.verifier.symbolic.durations.world_cells import Box, Cell, choose_simplest_world, make_cell
from plansafe.verifier.symbolic.durations.world_solver import SolverTimeout, WorldSolver
from plansafe.verifier.symbolic.worlds.verdict import (
    RuleCounts,
    WorldsVerdict,
    WorldVerdict,
    decide_in_world,
    mark_undecided,
    merge_rule_counts,
)

Durations = tuple[tuple[int, Number], ...]
"""A world: the numbers of the steps with a tolerance, and how long they take."""
MAX_EXTRA_RUNS = 100
"""Runs for the results of single rules, once the plan is known to be safe in some worlds and not in others."""
ASPECTS = EXECUTABLE, REACHED, SAFE = ("executable", "goal", "safe")


def audit_durations(
    compiled: CompiledTask,
    steps: Sequence[TimedStep],
    intervals: Mapping[int, tuple[Number, Number]],
    deadline: float | None = None,
    decimals: int | None = None,
) -> WorldsVerdict:
    """The verdict on a timed plan over all durations in closed ``intervals`` (step number -> least and greatest).

    ``steps`` are sorted by time, as ``read_steps`` returns them; steps without an interval have their written duration.
    ``decimals``: of the times in the plan. Exact, unless ``deadline`` (of ``time.monotonic``) passes or open quantities
    are multiplied: then the rest is UNKNOWN, and ``limits`` give the reasons. Needs Z3 unless one run decides. The
    number of runs grows with the orders of events that depend on each other, in the worst case exponentially.
    """
    audit = DurationAudit(compiled, steps, intervals, deadline, decimals)
    audit.run()
    executable, goal, safe = [audit.find_value_over_worlds(aspect) for aspect in ASPECTS]
    examples = [audit.examples.get((aspect, False)) for aspect in ASPECTS]
    inexecutable, unmet_goal, unsafe = [None if world is None else _make_completion(world) for world in examples]
    witnesses = tuple(
        [(compiled.rules[rule].name, _make_completion(world)) for rule, world in audit.violating_worlds.items()]
    )
    limits = tuple(audit.limits)
    return WorldsVerdict(executable, goal, safe, inexecutable, unmet_goal, unsafe, limits, audit.counts, witnesses)


def _make_completion(durations: Durations) -> Completion:
    return Completion(frozenset(), {}, {}, (), durations)


def _choose_preferred_duration(written: Number | None, low: Number, high: Number) -> Number:
    """The duration in the plan, if it is allowed; otherwise the middle."""
    if written is not None and low <= written <= high:
        return written
    return normal_number((low + high) * Fraction(1, 2))


class DurationAudit:
    """Runs a plan in worlds until the verdict over all worlds is known.

    ``examples``: for (aspect, value) a world in which it has this value; ``violating_worlds``: for a rule (by number) a
    world in which it is violated. ``complete_aspects``: the aspects that are known in every world; with ``safe``,
    ``violating_worlds`` has all violated rules. ``run_count``: the number of worlds in which the plan was run.
    """

    def __init__(
        self,
        compiled: CompiledTask,
        steps: Sequence[TimedStep],
        intervals: Mapping[int, tuple[Number, Number]],
        deadline: float | None = None,
        decimals: int | None = None,
    ) -> None:
        self.compiled = compiled
        self.engine = compiled.engine
        self.deadline = deadline
        self.tolerance = widen_tolerance(compiled.options.tolerance, decimals)
        self.step_numbers = [number for number, (low, high) in sorted(intervals.items()) if low < high]
        self.box: Box = tuple([intervals[number] for number in self.step_numbers])
        fixed_durations = {number: low for number, (low, high) in intervals.items() if low == high}
        written_durations = {step.number: step.duration for step in steps}
        bounds = zip(self.step_numbers, self.box, strict=True)
        self.preferred_durations = tuple(
            [_choose_preferred_duration(written_durations[n], low, high) for n, (low, high) in bounds]
        )
        # Which finding a violation belongs to, and where it began, matters only where some violations do not count.
        exact = compiled.options.criteria != EVERY_VIOLATION
        self.trail = ConstraintTrail(exact)
        variables = {number: cast("Number", self.trail.make_variable(n)) for n, number in enumerate(self.step_numbers)}
        durations = {**fixed_durations, **variables}
        open_steps = [step._replace(duration=durations.get(step.number, step.duration)) for step in steps]
        self.schedule = make_schedule(self.engine, open_steps, self.box, self.tolerance.exact, exact)
        first_letter_time = (LetterTime if exact else OpenEndedLetterTime)(0, 0, True)
        self.prototype = start_monitors(
            self.engine, self.schedule.parts_reading_every_happening, first_letter_time, self.trail
        )
        self.explored_cells = ExploredCells(self.engine, [] if exact else self.schedule.checks)
        self.examples: dict[tuple[str, bool | None], Durations] = {}
        self.violating_worlds: dict[int, Durations] = {}
        self.complete_aspects: set[str] = set()
        self.counts: RuleCounts = ()
        self.run_count = 0
        self.limits: dict[str, None] = {}
        self._extra_run_count = 0
        self._solver: WorldSolver | None = None

    def find_value_over_worlds(self, aspect: str) -> Worlds:
        """The value of an aspect over all worlds."""
        true, false, unknown = [(aspect, value) in self.examples for value in (True, False, None)]
        if true and false:
            return Worlds.SOME
        if aspect not in self.complete_aspects or unknown:
            return Worlds.UNKNOWN
        return Worlds.ALL if true else Worlds.NONE

    # -- which worlds -------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Run the plan until all worlds are known, all three aspects are known to vary, or the deadline passes."""
        try:
            self._run_worlds()
        except (SolverTimeout, LimitReached):
            self.limits["the time limit has passed before all durations were judged"] = None
        has_undecided_world = (EXECUTABLE, None) in self.examples
        if not self.complete_aspects >= {*ASPECTS} or has_undecided_world:
            self.counts = mark_undecided(self.counts)

    def _run_worlds(self) -> None:
        """Run the plan with preferred, least and greatest durations, then in the worlds that Z3 finds."""
        for values in (
            self.preferred_durations,
            tuple([low for low, _ in self.box]),
            tuple([high for _, high in self.box]),
        ):
            if self.explored_cells.find_verdict(values) is None:
                self._run_world(values)
            if self._is_decided_by_one_run():
                self.complete_aspects.update(ASPECTS)
                return
        for aspect, checks in self._iterate_checks_by_aspect():
            if not self._explore_checks(checks):
                return
            if aspect == SAFE:
                self._run_missing_combinations()
            if aspect is not None:
                self.complete_aspects.add(aspect)

    def _explore_checks(self, checks: list[int]) -> bool:
        """Run the plan until the cells of these checks cover all worlds; False if the runs are used up before."""
        while not self._do_all_aspects_vary() or self._take_extra_run():
            world = self.solver.find_new_world(checks) if checks or self.schedule.exact else None
            if world is None:
                return True
            self._run_world(world)
        return False

    def _iterate_checks_by_aspect(self) -> Iterator[tuple[str | None, list[int]]]:
        """The checks to explore in turn, and the aspect that is known in every world after them.

        Easy ones come first, so that a result at the deadline is of some use.
        """
        checks_by_kind: dict[CheckKind, list[int]] = {}
        for number, check in enumerate(self.explored_cells.checks):
            checks_by_kind.setdefault(check.kind, []).append(number)
        yield EXECUTABLE, [*checks_by_kind.get(CheckKind.EVENT, []), *checks_by_kind.get(CheckKind.OVER_ALL, [])]
        yield REACHED, checks_by_kind.get(CheckKind.GOAL, [])
        rule_checks = checks_by_kind.get(CheckKind.RULE, [])
        for number in sorted(rule_checks, key=lambda number: len(self.explored_cells.checks[number].pairs)):
            yield None, [number]
        yield SAFE, checks_by_kind.get(CheckKind.EVERYTHING, [])

    @property
    def solver(self) -> WorldSolver:
        """Z3 with all explored cells; it is loaded at first use."""
        if self._solver is None:
            self._solver = WorldSolver(self.box, self.deadline)
            for cell, _ in self.explored_cells.verdict_cells:
                self._solver.exclude(cell)
            for number, results in enumerate(self.explored_cells.results_by_check):
                for result in results:
                    self._solver.exclude_for_check(number, result.cell)
        return self._solver

    def _do_all_aspects_vary(self) -> bool:
        return all([(aspect, value) in self.examples for aspect in ASPECTS for value in (True, False)])

    def _take_extra_run(self) -> bool:
        """Count one more extra run; False if there were enough, or the results of all rules are final."""
        self._extra_run_count += 1
        return self._extra_run_count <= MAX_EXTRA_RUNS and mark_undecided(self.counts) != self.counts

    def _is_decided_by_one_run(self) -> bool:
        """Whether a cell without constraints, which has all worlds, is known for the verdict or for every check."""
        if any([not cell for cell, _ in self.explored_cells.verdict_cells]):
            return True
        results_by_check = self.explored_cells.results_by_check
        return bool(results_by_check) and all(
            [any([not result.cell for result in results]) for results in results_by_check]
        )

    def _run_missing_combinations(self) -> None:
        """Run worlds in which the checks combine to a value of ``safe`` that has no example yet.

        The cells of each check must cover all worlds. A single violated check makes the plan unsafe, so a run has shown
        it. But that each check holds in some cell does not mean that all hold in one world.
        """
        holding_cells: list[list[Cell]] = []
        undecided_cells: list[list[Cell]] = []
        for check, results in zip(self.explored_cells.checks, self.explored_cells.results_by_check, strict=True):
            if check.kind is not CheckKind.GOAL:
                may_fail = self.explored_cells.is_preference(check)
                holding_cells.append([r.cell for r in results if r.holds or (may_fail and r.holds is False)])
                undecided_cells.append([result.cell for result in results if result.holds is None])
        if self.explored_cells.always_violated or not self.explored_cells.checks:
            return
        if (SAFE, True) not in self.examples and not self.explored_cells.always_undecided:
            self._run_combination(holding_cells)
        if (SAFE, None) not in self.examples and any(undecided_cells):
            some_undecided_cells = [cell for cells in undecided_cells for cell in cells]
            cells_without_violation = [
                holding + undecided for holding, undecided in zip(holding_cells, undecided_cells, strict=True)
            ]
            self._run_combination([*cells_without_violation, some_undecided_cells])

    def _run_combination(self, choices: list[list[Cell]]) -> None:
        """Run the plan in a world that is in a cell of each choice, if there is one."""
        world = self.solver.find_world_in_cells(choices)
        if world is not None:
            self._run_world(world)

    # -- one world ----------------------------------------------------------------------------------------------------

    def _run_world(self, values: tuple[Number, ...]) -> None:
        """Run the plan in a world, and store the cells in which its results hold."""
        run, outcome = self._replay(values, frozenset())
        if run.ends_with_tie():
            run, outcome = self._replay(values, frozenset(run.happenings[-1]))
            if run.ends_with_tie():
                raise AssertionError("an event fails whatever other events happen at its time")
        run.constrain_orders()
        verdict = WorldVerdict(None, None, None) if outcome is None else decide_in_world(self.compiled, outcome)
        if outcome is not None:
            if outcome.limit is not None:
                self.limits[outcome.limit.message] = None
            counts = count_rules(self.compiled, outcome)
            self.counts = merge_rule_counts([self.counts, counts if outcome.limit is None else mark_undecided(counts)])
        run_cell = make_cell(run.collect_constraints(), self.box)
        self.run_count += 1
        self._store_examples(verdict, run_cell, values)
        is_complete = outcome is not None and not outcome.failures and outcome.limit is None
        if not is_complete or not self.explored_cells.checks:
            self.explored_cells.verdict_cells.append((run_cell, verdict))
            if self._solver is not None:
                self._solver.exclude(run_cell)
        self._store_check_results(run, outcome if is_complete else None)

    def _store_check_results(self, run: DurationRun, outcome: Outcome | None) -> None:
        """Store the results of the checks; without an outcome, only of checks that are certain to hold."""
        results = None if outcome is None else self.explored_cells.read_check_results(outcome)
        for number, check in enumerate(self.explored_cells.checks):
            if results is None and not run.is_certain_to_hold(check):
                continue
            holds = True if results is None else results[number]
            result = CellResult(make_cell(run.collect_check_constraints(check, holds), self.box), holds)
            if self.explored_cells.add_result(number, result) and self._solver is not None:
                self._solver.exclude_for_check(number, result.cell)

    def _replay(self, values: tuple[Number, ...], first_at_tie: frozenset[int]) -> tuple[DurationRun, Outcome | None]:
        """Run the plan in a world; no outcome if the plan multiplies open quantities."""
        self.trail.start_run(values)
        run = DurationRun(
            self.engine, self.schedule, self.trail, self.prototype, self.tolerance, self.deadline, first_at_tie
        )
        try:
            run.run()
            return run, run.finish(len(self.schedule.steps))
        except NotLinear:
            self.limits["the plan multiplies durations that are open, or divides by one"] = None
            return run, None

    def _store_examples(self, verdict: WorldVerdict, cell: Cell, values: tuple[Number, ...]) -> None:
        """Store an easily readable world of the cell for each aspect's value and each violated rule that has none."""
        new_aspect_values = [key for key in zip(ASPECTS, verdict[:3], strict=True) if key not in self.examples]
        new_rules = verdict.violated - self.violating_worlds.keys()
        if new_aspect_values or new_rules:
            world = tuple(
                zip(
                    self.step_numbers,
                    choose_simplest_world(cell, self.box, values, self.preferred_durations),
                    strict=True,
                )
            )
            self.examples.update(dict.fromkeys(new_aspect_values, world))
            self.violating_worlds.update(dict.fromkeys(new_rules, world))
