"""A plan step by step: what each happening changed, and what each rule said then. Data for who draws it.

Nothing of this is kept while a plan is judged: the plan runs once more, by *force*, so that what stands behind a step
that cannot be taken is told, too (docs/language.md, section 6).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from plansafe.verifier.execution.broken_instances import new_violations, violations_since, without_preferences
from plansafe.verifier.execution.compiled import CompiledTask
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.monitors.finding import TooManyInstances
from plansafe.verifier.execution.monitors.invariant import Invariant
from plansafe.verifier.execution.monitors.runtime import Runtime
from plansafe.verifier.execution.plan_steps import ResolvedPlan
from plansafe.verifier.execution.replay import FORCE, Replay
from plansafe.verifier.execution.state import State, StateChange
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.execution.timed import Event, TimedReplay
from plansafe.verifier.model.limits import LimitReached
from plansafe.verifier.model.nodes import Number
from plansafe.verifier.rules.model import RulePart, shown_names

WATCHES, AT_RISK, BREAKS, BROKEN = "watches", "at risk", "breaks", "broken"
_LASTING = (AT_RISK, BROKEN)
MAX_INSTANCES_TOLD = 8
"""So many instances of a rule are named at one letter; the others are counted."""
MAX_TOLD = 200_000
"""So many changes and instances are told of one plan; what comes later is left out."""

Binding = tuple[tuple[str, str], ...]
Instance = tuple[int, tuple[int, ...]]
"""A part of a rule, and the objects of its parameters."""


class TimelineChange(NamedTuple):
    """A fact (``T``, ``F``) or number that a happening changed, as text; a number may have been ``undefined``."""

    what: str
    before: str
    after: str


class TimelineMoment(NamedTuple):
    """A letter and what led to it.

    ``steps``: the number of each step and its ``start`` or ``end``; none at letter 0, or where literals alone happen.
    """

    letter: int
    time: Number
    steps: tuple[tuple[int, str], ...]
    changes: tuple[TimelineChange, ...]


class RuleStatusSpan(NamedTuple):
    """What a rule says at the letters from ``first`` to ``last``.

    ``watches``: the step brought its condition into play. ``at risk``: if the plan ended here, the instances would be
    violated, and are not yet. ``breaks``: their violation begins. ``broken``: it goes on. ``number``: how many there
    are, of which ``instances`` names the first.
    """

    first: int
    last: int
    state: str
    instances: tuple[Binding, ...] = ()
    number: int = 0


class RuleTrack(NamedTuple):
    """A rule that came into play (by its place in the list of rules), and what it said, in order of first letters.

    One more letter than the plan has stands for its end.
    """

    rule: int
    looks: tuple[RuleStatusSpan, ...]


class StepFailure(NamedTuple):
    """A step that cannot be taken, and in a timed plan when that is found.

    ``other``: the step that it interferes with, if it does (``detail``: over what).
    """

    step: int
    code: str
    detail: str
    other: int
    time: Number | None = None


class TimelineStep(NamedTuple):
    """A step of the plan in order of time. ``time`` and ``duration`` are ``None`` where it has none."""

    number: int
    text: str
    time: Number | None
    duration: Number | None


class Timeline(NamedTuple):
    """A plan step by step. ``initial``: facts and numbers of the state before it. ``whole``: nothing was left out."""

    steps: tuple[TimelineStep, ...]
    initial: tuple[tuple[str, str], ...]
    moments: tuple[TimelineMoment, ...]
    tracks: tuple[RuleTrack, ...]
    mishaps: tuple[StepFailure, ...]
    whole: bool


def timeline(compiled: CompiledTask, read: ResolvedPlan, deadline: float | None = None) -> Timeline:
    """Run a plan that was read, and tell what happens.

    Linear in its length: at each letter the end of the plan is asked of the rules that changed. Past ``deadline``
    (monotonic), and where a limit is hit, the rest is left out. Raises
    :class:`~plansafe.verifier.execution.one_world.LeavesOpen` where something is left open.
    """
    compiled.require_one_world("the timeline of a plan", read)
    engine = compiled.engine
    book = _Book(engine)
    run: _Untimed | _Timed
    try:
        if read.timed is None:
            run = _Untimed(engine, book, deadline)
            book.note(run, ())
            run.run_steps(read.steps)
        else:
            run = _Timed(engine, book, read, compiled, deadline)
            book.note(run, ())
            run.run()
        whole = run.limit is None and book.whole
    except LimitReached:
        whole = False
    if whole:
        book.end(run.letter)
    return Timeline(
        tuple(_steps(read)),
        book.initial,
        tuple(book.moments),
        tuple([RuleTrack(rule, tuple(looks)) for rule, looks in sorted(book.looks.items())]),
        tuple(
            [
                StepFailure(f.step, f.code, f.detail, f.interfering_step, run.times.get(n))
                for n, f in enumerate(run.failures)
            ]
        ),
        whole,
    )


def _steps(read: ResolvedPlan) -> Iterable[TimelineStep]:
    for number, taken in enumerate(read.steps, 1):
        timed = read.timed[number - 1] if read.timed is not None else None
        written = read.text.steps[timed.source_index if timed is not None else number - 1]
        lasts = isinstance(taken, GroundAction) and taken.action.end is not None
        yield TimelineStep(
            number,
            "(" + " ".join(written.tokens) + ")",
            None if timed is None else timed.time,
            timed.duration if timed is not None and lasts else None,
        )


class _Book:
    """Keeps book of one run."""

    def __init__(self, engine: Engine) -> None:
        self.task = engine.task
        self.moments: list[TimelineMoment] = []
        self.looks: dict[int, list[RuleStatusSpan]] = {}
        self.whole = True
        self.initial: tuple[tuple[str, str], ...] = ()
        self._hidden = frozenset(engine.action_predicates.values())
        self._before: Runtime | None = None
        self._risks: dict[int, list[Instance]] = {}
        self._told = 0
        self._open: dict[tuple[int, str], int] = {}
        """By rule and state, the last look."""
        self._parts: list[RulePart] = engine.rule_set.parts
        self._soft = engine.rule_set.preference_parts

    def note(self, run: Replay, steps: tuple[tuple[int, str], ...]) -> None:
        """A letter has been reached."""
        if not run.letter:
            self.initial = tuple(self._state(run.state))
        log = run.trace[-1][2] if run.trace and run.trace[-1][0] == run.letter else ()
        changes = tuple(self._changes(run.state, log))
        self._told += len(changes)
        if self._told > MAX_TOLD or (run.trace is None and run.letter):
            self.whole = False
        if not self.whole:
            return
        self.moments.append(TimelineMoment(run.letter, run.time, steps, changes))
        if run.runtime is not None:
            try:
                self._look(run, run.runtime)
            except TooManyInstances:
                self.whole = False

    def _state(self, state: State) -> Iterable[tuple[str, str]]:
        task = self.task
        for predicate, codes in enumerate(state.facts):
            if predicate not in self._hidden:
                yield from [(task.fact_text(predicate, code), "T") for code in sorted(codes)]
        for function, values in enumerate(state.fluents):
            yield from [(task.fluent_text(function, code), str(value)) for code, value in sorted(values.items())]

    def _changes(self, state: State, log: Iterable[StateChange]) -> Iterable[TimelineChange]:
        """What is different after a happening: of a fact that changed more than once, from the first to the last."""
        base = len(self.task.predicates)
        before: dict[tuple[int, int], object] = {}
        for index, code, value in log:
            if index not in self._hidden:
                before.setdefault((index, code), (not value) if index < base else value)
        for (index, code), old in before.items():
            new = code in state.facts[index] if index < base else state.fluents[index - base].get(code)
            if old != new:
                yield TimelineChange(self.task.key_text(index, code), _shown(old), _shown(new))

    # -- rules --------------------------------------------------------------------------------------------------------

    def _look(self, run: Replay, runtime: Runtime) -> None:
        """What the rules say at this letter: of what was found against the last one, and if the plan ended here."""
        end = runtime.fork()
        end.finish(run.state, run.moment())
        now = runtime.fork()
        before = self._before
        if before is None:
            monitors = [*now.monitors, *[check for checks in now.checks.values() for check in checks]]
            fresh = without_preferences(now, [one for monitor in monitors for one in violations_since(None, monitor)])
        else:
            fresh = new_violations(before, now)
        breaks = {(one.part, one.binding) for one in fresh if not one.undecided}
        standing = {(m.part, b) for m in now.monitors if isinstance(m, Invariant) and not m.final for b in m.episodes}
        known = {(v.part, v.binding) for v in now.violations()} | standing
        risks = {(v.part, v.binding) for v in end.violations()} - known - breaks
        earlier = now.touches() if before is None else before.touches()
        moved = [n for n, (old, new) in enumerate(zip(earlier, now.touches(), strict=True)) if old != new]
        self._tell(run.letter, BREAKS, self._by_rule(breaks))
        self._tell(run.letter, BROKEN, self._by_rule(standing - breaks))
        self._risks = self._by_rule(risks)
        self._tell(run.letter, AT_RISK, self._risks)
        self._tell(run.letter, WATCHES, {rule: [] for rule in moved})
        self._before = now

    def _by_rule(self, instances: Iterable[Instance]) -> dict[int, list[Instance]]:
        found: dict[int, list[Instance]] = {}
        for part, binding in sorted(instances):
            if part not in self._soft:
                found.setdefault(self._parts[part].rule, []).append((part, binding))
        return found

    def _tell(self, letter: int, state: str, found: dict[int, list[Instance]]) -> None:
        for rule, instances in found.items():
            named = tuple(dict.fromkeys([self._named(*one) for one in instances[:MAX_INSTANCES_TOLD]]))
            looks = self.looks.setdefault(rule, [])
            place = self._open.get((rule, state), -1)
            if place >= 0 and looks[place][1:] == (letter - 1, state, named, len(instances)) and state in _LASTING:
                looks[place] = looks[place]._replace(last=letter)
                continue
            self._open[rule, state] = len(looks)
            looks.append(RuleStatusSpan(letter, letter, state, named, len(instances)))
            self._told += 1 + len(named)

    def _named(self, part: int, binding: tuple[int, ...]) -> Binding:
        """An instance as findings name it."""
        names = shown_names([variable.name for variable in self._parts[part].parameters])
        return tuple(sorted(zip(names, self.task.names(binding), strict=True)))

    def end(self, letter: int) -> None:
        """The plan has ended: what was at risk is violated."""
        self._tell(letter + 1, BREAKS, self._risks)


class _Untimed(Replay):
    """A run that keeps book of each letter."""

    def __init__(self, engine: Engine, book: _Book, deadline: float | None) -> None:
        super().__init__(engine, FORCE, deadline=deadline)
        self._book = book
        self.code, self.trace = engine.full_code, []
        self.times: dict[int, Number] = {}

    @property
    def _quick(self) -> bool:
        return False

    def _arrive(self, number: int) -> None:
        super()._arrive(number)
        self._book.note(self, ((number, "start"),))


class _Timed(TimedReplay):
    """The same of a timed plan."""

    def __init__(
        self, engine: Engine, book: _Book, read: ResolvedPlan, compiled: CompiledTask, deadline: float | None
    ) -> None:
        assert read.timed is not None
        super().__init__(engine, FORCE, read.timed, compiled.tolerance(read), deadline)
        self._book = book
        self.trace = []
        self.times: dict[int, Number] = {}
        """When each failure, by its place among all, was found."""

    def happening(self, time: Number, events: list[Event]) -> bool:
        """One happening; when something fails in it is noted."""
        known = len(self.failures)
        done = super().happening(time, events)
        self.times.update(dict.fromkeys(range(known, len(self.failures)), time))
        return done

    def _arrive(self, number: int) -> None:
        super()._arrive(number)
        assert self.events is not None
        self._book.note(self, self.events.get(self.letter, ()))


def _shown(value: object) -> str:
    return "T" if value is True else "F" if value is False else "undefined" if value is None else str(value)
