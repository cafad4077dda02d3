"""The verdict on a timed plan over all durations that its tolerances allow.

A run in one world says of each item of the verdict what holds in a whole cell of worlds (:mod:`.items`, :mod:`.run`).
Worlds are judged until the cells of each item cover all worlds. A world in which a step fails is judged as a whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from plansafe.verifier.execution.compiled import CompiledTask
from plansafe.verifier.execution.monitors.program import LetterTime
from plansafe.verifier.execution.replay import Outcome
from plansafe.verifier.execution.steps import TimedStep, rounded_tolerance
from plansafe.verifier.model.limits import LimitReached
from plansafe.verifier.model.nodes import Number, normal_number
from plansafe.verifier.reporting.report import Worlds
from plansafe.verifier.reporting.summary import rule_counts, violated_rules
from plansafe.verifier.reporting.worlds import Completion
from plansafe.verifier.rules.verdict_criteria import EVERY_VIOLATION
from plansafe.verifier.symbolic.durations.affine import ConstraintTrail, NotLinear
from plansafe.verifier.symbolic.durations.duration_monitors import DurationMonitors, NeverRuledOut, monitors_at_start
from plansafe.verifier.symbolic.durations.duration_run import DurationRun
from plansafe.verifier.symbolic.durations.event_schedule import Schedule, make_schedule, with_open_durations
from plansafe.verifier.symbolic.durations.explored_cells import CellFinding, ExploredCells, WorldVerdict
from plansafe.verifier.symbolic.durations.plan_checks import EVENT, EVERYTHING, GOAL, OVER_ALL, RULE
from plansafe.verifier.symbolic.durations.world_cells import Box, Cell, cell_of, simplest_world
from plansafe.verifier.symbolic.durations.world_solver import SolverTimeout, WorldSolver
from plansafe.verifier.symbolic.worlds.verdict import RuleCounts, WorldsVerdict, mark_undecided, merge_rule_counts

Durations = tuple[tuple[int, Number], ...]
"""A world: the numbers of the steps with a tolerance, and how long they take."""
MAX_MORE = 100
"""Runs for the sake of single rules, once the plan is known to be safe in some worlds and not in others."""
ASPECTS = EXECUTABLE, REACHED, SAFE = ("executable", "goal", "safe")


class DurationAudit(NamedTuple):
    """What was found out about all worlds.

    ``examples``: for (aspect, value) a world in which it has this value; ``violations``: for a rule (by number) a world
    in which it is violated. ``complete``: the aspects that are known of every world (with ``safe``, ``violations`` are
    all there are). ``runs``: how many worlds were judged.
    """

    examples: dict[tuple[str, bool | None], Durations]
    violations: dict[int, Durations]
    complete: frozenset[str]
    runs: int
    limits: tuple[str, ...]
    knowledge: ExploredCells
    counts: RuleCounts

    def over_worlds(self, aspect: str) -> Worlds:
        """The value of an aspect over all worlds."""
        true, false, unknown = [(aspect, value) in self.examples for value in (True, False, None)]
        if true and false:
            return Worlds.SOME
        if aspect not in self.complete or unknown:
            return Worlds.UNKNOWN
        return Worlds.ALL if true else Worlds.NONE


def audit_durations(
    compiled: CompiledTask,
    steps: Sequence[TimedStep],
    intervals: Mapping[int, tuple[Number, Number]],
    deadline: float | None = None,
    decimals: int | None = None,
) -> WorldsVerdict:
    """The verdict on a timed plan over all durations in closed ``intervals`` (step number -> least and greatest).

    ``steps`` are sorted by time, as ``read_steps`` gives them; those without an interval take as long as they
    say. ``decimals``: with how many the plan writes times. Exact, unless ``deadline`` (of ``time.monotonic``)
    passes or open quantities are multiplied: what is then not decided is UNKNOWN, and ``limits`` say why. Needs Z3
    unless one run decides. The number of runs grows with the orders of those events that have to do with each
    other, in the worst case exponentially.
    """
    judgement = explore_durations(compiled, steps, intervals, deadline, decimals)
    worlds = [judgement.over_worlds(aspect) for aspect in ASPECTS]
    failing = [_world(judgement.examples.get((aspect, False))) for aspect in ASPECTS]
    rules = [(compiled.rules[rule].name, _world(world)) for rule, world in judgement.violations.items()]
    return WorldsVerdict(
        worlds[0],
        worlds[1],
        worlds[2],
        failing[0],
        failing[1],
        failing[2],
        judgement.limits,
        judgement.counts,
        tuple([(name, world) for name, world in rules if world is not None]),
    )


def _world(durations: Durations | None) -> Completion | None:
    return None if durations is None else Completion(frozenset(), {}, {}, (), durations)


def explore_durations(
    compiled: CompiledTask,
    steps: Sequence[TimedStep],
    intervals: Mapping[int, tuple[Number, Number]],
    deadline: float | None = None,
    decimals: int | None = None,
) -> DurationAudit:
    """Judge worlds until all are known, all three aspects are known to vary, or the deadline passes."""
    search = _Search(compiled, steps, intervals, deadline, decimals)
    try:
        search.run()
    except (SolverTimeout, LimitReached):
        search.limits["the time limit has passed before all durations were judged"] = None
    return DurationAudit(
        search.examples,
        search.violations,
        frozenset(search.complete),
        search.runs,
        tuple(search.limits),
        search.knowledge,
        search.counts if search.complete >= {*ASPECTS} else mark_undecided(search.counts),
    )


def _middle(given: Number | None, low: Number, high: Number) -> Number:
    """The duration that the plan gives, if it is one of those allowed."""
    if given is not None and low <= given <= high:
        return given
    return normal_number((low + high) * Fraction(1, 2))


class _Search:
    def __init__(
        self,
        compiled: CompiledTask,
        steps: Sequence[TimedStep],
        intervals: Mapping[int, tuple[Number, Number]],
        deadline: float | None,
        decimals: int | None,
    ) -> None:
        self.compiled = compiled
        self.engine = compiled.engine
        self.deadline = deadline
        self.tolerance = rounded_tolerance(compiled.options.tolerance, decimals)
        self.numbers = [number for number, (low, high) in sorted(intervals.items()) if low < high]
        self.box: Box = tuple([intervals[number] for number in self.numbers])
        fixed = {number: low for number, (low, high) in intervals.items() if low == high}
        steps = [step._replace(duration=fixed.get(step.number, step.duration)) for step in steps]
        given = {step.number: step.duration for step in steps}
        self.wanted = tuple(
            [_middle(given[n], low, high) for n, (low, high) in zip(self.numbers, self.box, strict=True)]
        )
        # Which finding a violation belongs to, and where it began, matters only where some violations do not count.
        exact = compiled.options.criteria != EVERY_VIOLATION
        self.trail = ConstraintTrail(exact)
        variables = {number: place for place, number in enumerate(self.numbers)}
        self.schedule: Schedule = make_schedule(
            self.engine, with_open_durations(steps, variables, self.trail), self.box, self.tolerance.given, exact
        )
        first = (LetterTime if exact else NeverRuledOut)(0, 0, True)
        self.prototype: DurationMonitors | None = monitors_at_start(
            self.engine, self.schedule.counting, first, self.trail
        )
        self.knowledge = ExploredCells(self.engine, [] if exact else self.schedule.items)
        self.examples: dict[tuple[str, bool | None], Durations] = {}
        self.violations: dict[int, Durations] = {}
        self.complete: set[str] = set()
        self.counts: RuleCounts = ()
        self.runs = 0
        self.more = 0
        self.limits: dict[str, None] = {}
        self._proposals: WorldSolver | None = None

    def run(self) -> None:
        """Judge the plain worlds first, then what Z3 proposes."""
        for values in (self.wanted, tuple([low for low, _ in self.box]), tuple([high for _, high in self.box])):
            if self.knowledge.judged(values) is None:
                self.judge(values)
            if self._all_known():
                self.complete.update(ASPECTS)
                return
        for aspect, items in self._stages():
            while not self._settled() or self._worth_more():
                proposed = self.proposals.next(items) if items or self.schedule.exact else None
                if proposed is None:
                    break
                self.judge(proposed)
            else:
                return
            if aspect == SAFE:
                self._look_for_more()
            if aspect:
                self.complete.add(aspect)

    def _stages(self) -> Iterator[tuple[str, list[int]]]:
        """The items of each aspect, easy ones first, so that what is known when the time is over is of some use."""
        kinds: dict[str, list[int]] = {}
        for number, item in enumerate(self.knowledge.items):
            kinds.setdefault(item.kind, []).append(number)
        yield EXECUTABLE, [*kinds.get(EVENT, []), *kinds.get(OVER_ALL, [])]
        yield REACHED, kinds.get(GOAL, [])
        for number in sorted(kinds.get(RULE, []), key=lambda number: len(self.knowledge.items[number].pairs)):
            yield "", [number]
        yield SAFE, kinds.get(EVERYTHING, [])

    @property
    def proposals(self) -> WorldSolver:
        """Z3 with all that is known; it is loaded at first use."""
        if self._proposals is None:
            self._proposals = WorldSolver(self.box, self.deadline)
            for cell, _ in self.knowledge.stops:
                self._proposals.stop(cell)
            for number, findings in enumerate(self.knowledge.findings):
                for finding in findings:
                    self._proposals.learn(number, finding.cell)
        return self._proposals

    def _settled(self) -> bool:
        return all([(aspect, value) in self.examples for aspect in ASPECTS for value in (True, False)])

    def _worth_more(self) -> bool:
        """Whether to go on for the sake of what is said of single rules, which takes a limited number of runs."""
        self.more += 1
        return self.more <= MAX_MORE and mark_undecided(self.counts) != self.counts

    def _all_known(self) -> bool:
        """Whether one run was enough: what it found out holds everywhere."""
        if any([not cell for cell, _ in self.knowledge.stops]):
            return True
        findings = self.knowledge.findings
        return bool(findings) and all([any([not finding.cell for finding in found]) for found in findings])

    def _look_for_more(self) -> None:
        """All items are known everywhere; is there a world in which they combine as in no run so far?

        One item that is violated is enough, and was seen in a run. That all are kept is another matter.
        """
        kept: list[list[Cell]] = []
        undecided: list[list[Cell]] = []
        for item, findings in zip(self.knowledge.items, self.knowledge.findings, strict=True):
            if item.kind != GOAL:
                soft = self.knowledge.is_preference(item)
                kept.append([f.cell for f in findings if f.kept or (soft and f.kept is False)])
                undecided.append([f.cell for f in findings if f.kept is None])
        if self.knowledge.always_violated or not self.knowledge.items:
            return
        if ("safe", True) not in self.examples and not self.knowledge.always_undecided:
            values = self.proposals.within(kept)
            if values is not None:
                self.judge(values)
        if ("safe", None) not in self.examples and any(undecided):
            some = [cell for cells in undecided for cell in cells]
            values = self.proposals.within([*[a + b for a, b in zip(kept, undecided, strict=True)], some])
            if values is not None:
                self.judge(values)

    def judge(self, values: tuple[Number, ...]) -> None:
        """Run the plan in a world, and note what this says about others."""
        run, outcome = self._replay(values, frozenset())
        if run.tied():
            run, outcome = self._replay(values, frozenset(run.batches[-1]))
            if run.tied():
                raise AssertionError("what fails does so whatever else is taken at that time")
        run.note_order()
        judged = WorldVerdict(None, None, None) if outcome is None else self._judged(outcome)
        if outcome is not None:
            seen = rule_counts(self.compiled, outcome)
            self.counts = merge_rule_counts([self.counts, seen if outcome.limit is None else mark_undecided(seen)])
        whole = cell_of(run.marks(), self.box)
        self.runs += 1
        self._remember(judged, whole, values)
        full = outcome is not None and not outcome.failures and outcome.limit is None
        if not full or not self.knowledge.items:
            self.knowledge.stops.append((whole, judged))
            if self._proposals is not None:
                self._proposals.stop(whole)
        kept = self.knowledge.kept(outcome) if outcome is not None and full else None
        for number, item in enumerate(self.knowledge.items):
            if kept is None and not run.succeeded(item):
                continue
            found = True if kept is None else kept[number]
            finding = CellFinding(cell_of(run.marks_of(item, found), self.box), found)
            if self.knowledge.learn(number, finding) and self._proposals is not None:
                self._proposals.learn(number, finding.cell)

    def _replay(self, values: tuple[Number, ...], first: frozenset[int]) -> tuple[DurationRun, Outcome | None]:
        self.trail.begin(values)
        run = DurationRun(self.engine, self.schedule, self.trail, self.prototype, self.tolerance, self.deadline, first)
        try:
            run.run()
            return run, run.outcome(len(self.schedule.steps))
        except NotLinear:
            self.limits["the plan multiplies durations that are open, or divides by one"] = None
            return run, None

    def _remember(self, judged: WorldVerdict, cell: Cell, values: tuple[Number, ...]) -> None:
        world: Durations | None = None
        for aspect, value in zip(ASPECTS, judged[:3], strict=True):
            if (aspect, value) not in self.examples:
                world = world or self._said(cell, values)
                self.examples[aspect, value] = world
        for rule in judged.violated - self.violations.keys():
            world = world or self._said(cell, values)
            self.violations[rule] = world

    def _said(self, cell: Cell, values: tuple[Number, ...]) -> Durations:
        return tuple(zip(self.numbers, simplest_world(cell, self.box, values, self.wanted), strict=True))

    def _judged(self, outcome: Outcome) -> WorldVerdict:
        if outcome.limit is not None:
            self.limits[outcome.limit.message] = None
        stopped = bool(outcome.failures)
        lost = outcome.limit is not None and not stopped
        violated = self._violated(outcome)
        unknown = (
            self.engine.leaves_undecided(outcome.undecided, self.compiled.options.criteria) or outcome.limit is not None
        )
        return WorldVerdict(
            None if lost else not stopped,
            None if lost else outcome.goal is True,
            False if violated else None if unknown else True,
            violated,
        )

    def _violated(self, outcome: Outcome) -> frozenset[int]:
        parts, rules, criteria = self.engine.plan.parts, self.engine.plan.rules, self.compiled.options.criteria
        hard = [v for v in outcome.violations if not rules[parts[v.part].rule].preference]
        if hard and self.schedule.exact:
            return frozenset(
                [
                    v.part.rule
                    for v in violated_rules(self.compiled, [outcome._replace(violations=tuple(hard))])
                    if criteria.is_decisive(v.rule, v.blame, [name for _, name in v.binding])
                ]
            )
        return frozenset([parts[v.part].rule for v in hard])
