"""The verdict on a timed plan over all durations that its tolerances allow.

A run in one world is valid for a whole cell of worlds (:mod:`.run`). Cells are judged until they cover all worlds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from plansafe.verifier.api import Checker
from plansafe.verifier.engine.replay import Engine, Outcome, TimeUp
from plansafe.verifier.engine.steps import TimedStep
from plansafe.verifier.model import Number, normal_number
from plansafe.verifier.monitor.program import Moment
from plansafe.verifier.report import Worlds
from plansafe.verifier.symbolic.durations.affine import NotLinear, Trail
from plansafe.verifier.symbolic.durations.cells import Box, Cell, cell_of, inside, simplest
from plansafe.verifier.symbolic.durations.events import Schedule, opened, schedule
from plansafe.verifier.symbolic.durations.monitors import Monitors, Patient, monitors_at_start
from plansafe.verifier.symbolic.durations.proposals import Proposals, Undecided
from plansafe.verifier.symbolic.durations.run import DurationRun
from plansafe.verifier.symbolic.model import Verdict, World

Durations = tuple[tuple[int, Number], ...]
"""A world: the numbers of the steps with a tolerance, and how long they take."""
ASPECTS = ("executable", "goal", "safe")


class Judged(NamedTuple):
    """What holds in the worlds of a cell; ``None`` where that is not known. ``violated``: rules, by number."""

    executable: bool | None
    goal: bool | None
    safe: bool | None
    violated: frozenset[int] = frozenset()


class Judgement(NamedTuple):
    """What was found out about all worlds.

    ``examples``: for (aspect, value) a world in which it has this value. ``complete``: the cells cover all worlds.
    """

    examples: dict[tuple[str, bool | None], Durations]
    complete: bool
    cells: tuple[tuple[Cell, Judged], ...]
    limits: tuple[str, ...]

    def over_worlds(self, aspect: str) -> Worlds:
        """The value of an aspect over all worlds."""
        true, false, unknown = [(aspect, value) in self.examples for value in (True, False, None)]
        if true and false:
            return Worlds.SOME
        if not self.complete or unknown:
            return Worlds.UNKNOWN
        return Worlds.ALL if true else Worlds.NONE


def judge_durations(
    checker: Checker,
    steps: Sequence[TimedStep],
    intervals: Mapping[int, tuple[Number, Number]],
    deadline: float | None = None,
) -> Verdict:
    """The verdict on a timed plan over all durations in closed ``intervals`` (step number -> least and greatest).

    ``steps`` are sorted by time, as :meth:`Checker.read` gives them; those without an interval take as long as they
    say. Exact, unless ``deadline`` (of ``time.monotonic``) passes or open quantities are multiplied: what is then not
    decided is UNKNOWN, and ``limits`` say why. Needs Z3 unless one run decides. The number of runs grows with the
    orders of those events that have to do with each other, in the worst case exponentially.
    """
    judgement = explore(checker, steps, intervals, deadline)
    worlds = [judgement.over_worlds(aspect) for aspect in ASPECTS]
    failing = [_world(judgement.examples.get((aspect, False))) for aspect in ASPECTS]
    return Verdict(worlds[0], worlds[1], worlds[2], failing[0], failing[1], failing[2], judgement.limits)


def _world(durations: Durations | None) -> World | None:
    return None if durations is None else World(frozenset(), {}, {}, (), durations)


def explore(
    checker: Checker,
    steps: Sequence[TimedStep],
    intervals: Mapping[int, tuple[Number, Number]],
    deadline: float | None = None,
) -> Judgement:
    """Judge cells until they cover all worlds, all three aspects are known to vary, or the deadline passes."""
    search = _Search(checker, steps, intervals, deadline)
    try:
        search.run()
    except (Undecided, TimeUp):
        search.limits["the time limit has passed before all durations were judged"] = None
    return Judgement(search.examples, search.complete, tuple(search.cells), tuple(search.limits))


def _middle(given: Number | None, low: Number, high: Number) -> Number:
    """The duration that the plan gives, if it is one of those allowed."""
    if given is not None and low <= given <= high:
        return given
    return normal_number((low + high) * Fraction(1, 2))


class _Search:
    def __init__(
        self,
        checker: Checker,
        steps: Sequence[TimedStep],
        intervals: Mapping[int, tuple[Number, Number]],
        deadline: float | None,
    ) -> None:
        assert checker.engine is not None
        self.checker = checker
        self.engine: Engine = checker.engine
        self.deadline = deadline
        self.tolerance = normal_number(checker.options.tolerance)
        self.numbers = [number for number, (low, high) in sorted(intervals.items()) if low < high]
        self.box: Box = tuple([intervals[number] for number in self.numbers])
        fixed = {number: low for number, (low, high) in intervals.items() if low == high}
        steps = [step._replace(duration=fixed.get(step.number, step.duration)) for step in steps]
        given = {step.number: step.duration for step in steps}
        self.wanted = tuple(
            [_middle(given[n], low, high) for n, (low, high) in zip(self.numbers, self.box, strict=True)]
        )
        # Which finding a violation belongs to, and where it began, matters only to a filter of findings by blame.
        exact = "introduced" in checker.options.blame
        self.trail = Trail(exact)
        variables = {number: place for place, number in enumerate(self.numbers)}
        self.schedule: Schedule = schedule(
            self.engine, opened(steps, variables, self.trail), self.box, self.tolerance, exact
        )
        first = (Moment if exact else Patient)(0, 0, True)
        self.prototype: Monitors | None = monitors_at_start(self.engine, self.schedule.counting, first)
        self.examples: dict[tuple[str, bool | None], Durations] = {}
        self.cells: list[tuple[Cell, Judged]] = []
        self.complete = False
        self.limits: dict[str, None] = {}

    def run(self) -> None:
        """Judge the plain worlds first, then what Z3 proposes."""
        seeds = [self.wanted, tuple([low for low, _ in self.box]), tuple([high for _, high in self.box])]
        proposals = None
        while not self._settled():
            values = seeds.pop(0) if seeds else None
            if values is not None and any([inside(cell, values) for cell, _ in self.cells]):
                continue
            if values is None:
                if proposals is None:
                    proposals = Proposals(self.box)
                    for cell, _ in self.cells:
                        proposals.block(cell)
                values = proposals.next(self.deadline)
                if values is None:
                    self.complete = True
                    return
            judged, cell = self.judge(values)
            self.cells.append((cell, judged))
            self._remember(judged, cell, values)
            if not cell:
                self.complete = True
                return
            if proposals is not None:
                proposals.block(cell)

    def _settled(self) -> bool:
        return all([(aspect, value) in self.examples for aspect in ASPECTS for value in (True, False)])

    def _remember(self, judged: Judged, cell: Cell, values: tuple[Number, ...]) -> None:
        for aspect, value in zip(ASPECTS, judged[:3], strict=True):
            if (aspect, value) not in self.examples:
                found = simplest(cell, self.box, values, self.wanted)
                self.examples[aspect, value] = tuple(zip(self.numbers, found, strict=True))

    def judge(self, values: tuple[Number, ...]) -> tuple[Judged, Cell]:
        """The verdict in a world, and the worlds for which the same run says it."""
        first: frozenset[int] = frozenset()
        while True:
            self.trail.begin(values)
            run = DurationRun(self.engine, self.schedule, self.prototype, self.tolerance, self.deadline, first)
            try:
                run.run()
                if run.tied():
                    first = frozenset(run.batch)
                    continue
                judged = self._judged(run.outcome(len(self.schedule.steps)))
            except NotLinear:
                self.limits["the plan multiplies durations that are open, or divides by one"] = None
                judged = Judged(None, None, None)
            run.note_order()
            return judged, cell_of(self.trail.marks, self.box)

    def _judged(self, outcome: Outcome) -> Judged:
        if outcome.limit is not None:
            self.limits[outcome.limit.message] = None
        stopped = bool(outcome.failures)
        lost = outcome.limit is not None and not stopped
        violated = self._violated(outcome)
        unknown = bool(outcome.undecided) or outcome.limit is not None
        return Judged(
            None if lost else not stopped,
            None if lost else outcome.goal is True,
            False if violated else None if unknown else True,
            violated,
        )

    def _violated(self, outcome: Outcome) -> frozenset[int]:
        parts, rules, blame = self.engine.plan.parts, self.engine.plan.rules, self.checker.options.blame
        hard = [v for v in outcome.violations if not rules[parts[v.part].rule].preference]
        if hard and self.schedule.exact:
            from plansafe.verifier.summary import _violated  # noqa: PLC0415 - imports the report's parts

            return frozenset(
                [
                    v.part.rule
                    for v in _violated(self.checker, [outcome._replace(violations=tuple(hard))])
                    if v.blame in blame
                ]
            )
        return frozenset([parts[v.part].rule for v in hard])
