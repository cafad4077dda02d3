"""Describe a plan step by step, for diagrams: the changes of each happening, and the status of each rule.

After a failed step, the reading is *force*, so that the steps after it are also described (docs/language.md, section
6). The audit of an untimed plan can record its timeline; otherwise the plan runs once more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from time import monotonic
from typing import NamedTuple

from plansafe.verifier.execution.broken_instances import (
    find_changed_monitors,
    find_new_violations,
    find_violations_since,
    remove_preferences,
)
from plansafe.verifier.execution.compiled import CompiledTask
from plansafe.verifier.execution.continuous.replay import ContinuousReplay, Flow
from plansafe.verifier.execution.engine import Engine
from plansafe.verifier.execution.happening import Event
from plansafe.verifier.execution.monitors.finding import TooManyInstances
from plansafe.verifier.execution.monitors.invariant import InvariantMonitor
from plansafe.verifier.execution.monitors.monitor_summary import count_candidates
from plansafe.verifier.execution.monitors.runtime import Runtime
from plansafe.verifier.execution.outcome import LetterCause
from plansafe.verifier.execution.plan_steps import ResolvedPlan
from plansafe.verifier.execution.replay import FORCE, Replay
from plansafe.verifier.execution.state import Delta, State, StateChange
from plansafe.verifier.execution.steps import GroundAction
from plansafe.verifier.execution.timed import TimedReplay
from plansafe.verifier.model.limits import LimitReached
from plansafe.verifier.model.nodes import Number
from plansafe.verifier.reporting.fluent_courses import CourseRecorder, FluentCourse
from plansafe.verifier.reporting.report import format_value

WATCHES, AT_RISK, BREAKS, BROKEN = "watches", "at risk", "breaks", "broken"
"""The statuses of a rule at a letter (:class:`RuleStatusSpan`)."""
_LASTING_STATUSES = (AT_RISK, BROKEN)
"""The statuses whose spans may have several letters."""
MAX_NAMED_INSTANCES = 8
"""Instances of a rule that are named at one letter; the others are only counted."""
MAX_TIMELINE_ENTRIES = 200_000
"""Changes and instances in the timeline of one plan; later ones are left out."""

Binding = tuple[tuple[str, str], ...]
Instance = tuple[int, tuple[int, ...]]
"""A part of a rule, and the objects of its parameters."""


class TimelineChange(NamedTuple):
    """A fact or number ``what`` that a happening changed, as text.

    The values are ``T`` or ``F``, a number, or ``undefined`` for a number without a value.
    """

    what: str
    before: str
    after: str


class TimelineLetter(NamedTuple):
    """A letter, its changes and the steps that led to it.

    ``steps``: the number of each step and its ``start`` or ``end``; empty at letter 0 and for timed literals.
    ``cause``: in continuous time, why there is a letter that no step led to. An interval has no changes of numbers.
    """

    letter: int
    time: Number
    steps: tuple[tuple[int, str], ...]
    changes: tuple[TimelineChange, ...]
    cause: LetterCause | None = None


class RuleStatusSpan(NamedTuple):
    """The status of a rule at the letters from ``first`` to ``last``.

    ``state``: the status. ``watches``: a step triggered the rule. ``at risk``: the instances would be violated if the
    plan ended here. ``breaks``: their violation begins. ``broken``: it continues. ``number`` counts the instances;
    ``instances`` has the bindings of the first ``MAX_NAMED_INSTANCES``.
    """

    first: int
    last: int
    state: str
    instances: tuple[Binding, ...] = ()
    number: int = 0


class RuleTrack(NamedTuple):
    """A rule by its place in the list of rules, and its status spans by first letter.

    The letter after the last letter of the plan is the end of the plan.
    """

    rule: int
    spans: tuple[RuleStatusSpan, ...]


class StepFailure(NamedTuple):
    """A step that cannot be executed, and in a timed plan when it fails.

    ``other``: the step with which it interferes, 0 without one. ``detail``: the fact on which they interfere.
    """

    step: int
    code: str
    detail: str
    other: int
    time: Number | None = None


class TimelineStep(NamedTuple):
    """A step of the plan in order of time; ``time`` and ``duration`` are ``None`` if it has none."""

    number: int
    text: str
    time: Number | None
    duration: Number | None


class Timeline(NamedTuple):
    """A plan step by step.

    ``initial``: the facts and numbers of the initial state, each with its value. ``tracks``: the rules with a status at
    some letter. ``complete``: no letter, change or status was left out because of a limit. ``courses``: in continuous
    time, the numbers that change, those that matter most first.
    """

    steps: tuple[TimelineStep, ...]
    initial: tuple[tuple[str, str], ...]
    letters: tuple[TimelineLetter, ...]
    tracks: tuple[RuleTrack, ...]
    failures: tuple[StepFailure, ...]
    complete: bool
    courses: tuple[FluentCourse, ...] = ()


def record_timeline(
    compiled: CompiledTask, resolved: ResolvedPlan, deadline: float | None = None, first_fluents: Sequence[str] = ()
) -> Timeline:
    """Run a resolved plan and return its timeline.

    Linear in the length of the plan: at each letter, the end of the plan is tried for the rules that changed. The rest
    is left out after ``deadline`` (monotonic) or at a limit. ``first_fluents``: the texts of the fluents whose courses
    come first. Raises :class:`~plansafe.verifier.execution.one_world.NeedsOneWorld` for a task with several possible
    worlds.
    """
    is_open = compiled.is_open or resolved.is_open
    is_continuous = compiled.task.is_continuous and resolved.timed is not None and not is_open
    if not is_continuous:
        compiled.require_one_world("the timeline of a plan", resolved)
    recorder = TimelineRecorder(compiled.engine)
    try:
        if resolved.timed is None:
            untimed_run = Replay(compiled.engine, FORCE, deadline=deadline)
            untimed_run.record_letters(recorder)
            untimed_run.run_steps(resolved.steps)
        else:
            replay = _RecordedContinuousReplay if is_continuous else _RecordedTimedReplay
            run = replay(recorder, resolved, compiled, deadline)
            recorder.begin(run)
            run.run()
    except LimitReached:
        recorder.is_complete = False
    return recorder.make_timeline(resolved, first_fluents)


def _list_steps(resolved: ResolvedPlan) -> Iterable[TimelineStep]:
    """Yield the steps of a plan in order of time."""
    for number, step in enumerate(resolved.steps, 1):
        timed = resolved.timed[number - 1] if resolved.timed is not None else None
        tokens = resolved.text.steps[timed.source_index if timed is not None else number - 1].tokens
        has_duration = timed is not None and isinstance(step, GroundAction) and step.action.end is not None
        time, duration = (None, None) if timed is None else (timed.time, timed.duration)
        yield TimelineStep(number, f"({' '.join(tokens)})", time, duration if has_duration else None)


class TimelineRecorder:
    """Records the letters of a plan and the statuses of the rules, until a limit or ``deadline`` (monotonic).

    ``run``: the replay that is recorded, ``None`` before it begins. ``is_late``: the deadline has passed.
    """

    def __init__(self, engine: Engine, deadline: float | None = None) -> None:
        self.run: Replay | None = None
        self.deadline = deadline
        self.is_late = False
        self.task = engine.task
        self.letters: list[TimelineLetter] = []
        self.spans: dict[int, list[RuleStatusSpan]] = {}
        self.is_complete = True
        self.initial: tuple[tuple[str, str], ...] = ()
        self._action_predicates = frozenset(engine.action_predicates.values())
        self._previous_runtime: Runtime | None = None
        self._broken: dict[int, set[Instance]] = {}
        """By the number of their monitor, the instances whose violation continues; no entry without one."""
        self._at_risk: dict[int, set[Instance]] = {}
        """By the number of their monitor, the instances that would be violated if the plan ended here."""
        self._instances_at_risk: dict[int, list[Instance]] = {}
        """By rule, the instances that would be violated if the plan ended here, without preferences."""
        self._recorded_count = 0
        """The number of changes, statuses and bindings that are recorded."""
        self._bindings: dict[Instance, Binding] = {}
        self._last_spans: dict[tuple[int, str], int] = {}
        """By rule and status, the position of its last span."""
        self._parts = engine.rule_set.parts
        self._preference_parts = engine.rule_set.preference_parts
        self.courses = CourseRecorder(engine)
        self._interval_log: list[StateChange] = []
        """The changes of numbers in the interval before the present letter."""

    def begin(self, run: Replay) -> None:
        """Record the initial state, unless the replay resumes another."""
        if self.run is None:
            self.record_letter(run, ())
        self.run = run

    def record_step(self, run: Replay, number: int) -> None:
        """Record the letter that a step of an untimed plan led to."""
        if self.deadline is not None and monotonic() > self.deadline:
            self.is_late, self.is_complete = True, False
        if self.is_complete:
            self.record_letter(run, ((number, "start"),))

    def make_timeline(self, resolved: ResolvedPlan, first_fluents: Sequence[str] = ()) -> Timeline:
        """Return the timeline of a plan that was recorded; ``first_fluents`` as in :func:`record_timeline`."""
        run = self.run
        assert run is not None
        is_complete = run.limit is None and self.is_complete and self.courses.is_complete
        if is_complete:
            self.record_end(run.letter)
        times = run.times if isinstance(run, _RecordedTimedReplay) else {}
        failures = [
            StepFailure(failure.step, failure.code, failure.detail, failure.interfering_step, times.get(number))
            for number, failure in enumerate(run.failures)
        ]
        return Timeline(
            tuple(_list_steps(resolved)),
            self.initial,
            tuple(self.letters),
            tuple([RuleTrack(rule, tuple(spans)) for rule, spans in sorted(self.spans.items())]),
            tuple(failures),
            is_complete,
            self.courses.finish(run, first_fluents) if isinstance(run, _RecordedContinuousReplay) else (),
        )

    def record_letter(self, run: Replay, steps: tuple[tuple[int, str], ...], cause: LetterCause | None = None) -> None:
        """Record the letter that the run has reached with ``steps``, or for another cause."""
        if not run.letter:
            self.initial = tuple(self._list_state_values(run.state))
        log = [*self._interval_log]
        self._interval_log.clear()
        if run.trace:
            last_letter, _, letter_log = run.trace[-1]
            log += letter_log if last_letter == run.letter else ()
        if cause is not None and cause.is_interval:  # numbers have their values at some time in it
            predicate_count = len(self.task.predicates)
            self._interval_log += [change for change in log if change[0] >= predicate_count]
            log = [change for change in log if change[0] < predicate_count]
        changes = tuple(self._list_changes(run.state, log))
        self._recorded_count += len(changes)
        if self._recorded_count > MAX_TIMELINE_ENTRIES or (run.trace is None and run.letter):
            self.is_complete = False
        if not self.is_complete:
            return
        self.letters.append(TimelineLetter(run.letter, run.time, steps, changes, cause))
        if run.runtime is not None:
            try:
                self._record_rules(run, run.runtime)
            except TooManyInstances:
                self.is_complete = False

    def record_end(self, letter: int) -> None:
        """Record the end of the plan: the instances at risk are violated."""
        self._record_status(letter + 1, BREAKS, self._instances_at_risk)

    def _list_state_values(self, state: State) -> Iterable[tuple[str, str]]:
        """Yield the facts and fluents of a state, each with its value, as text."""
        task = self.task
        for predicate, codes in enumerate(state.facts):
            if predicate not in self._action_predicates:
                yield from [(task.fact_text(predicate, code), "T") for code in sorted(codes)]
        for function, values in enumerate(state.fluents):
            yield from [(task.fluent_text(function, code), str(value)) for code, value in sorted(values.items())]

    def _list_changes(self, state: State, log: Iterable[StateChange]) -> Iterable[TimelineChange]:
        """Yield the differences after a happening; several changes of one fact are merged."""
        predicate_count = len(self.task.predicates)
        old_values: dict[tuple[int, int], object] = {}
        for symbol_index, code, value in log:
            if symbol_index not in self._action_predicates:
                old_value = (not value) if symbol_index < predicate_count else value
                old_values.setdefault((symbol_index, code), old_value)
        for (symbol_index, code), old in old_values.items():
            new = state.get_value(symbol_index, code)
            if old != new:
                yield TimelineChange(self.task.key_text(symbol_index, code), format_value(old), format_value(new))

    # -- rules --------------------------------------------------------------------------------------------------------

    def _record_rules(self, run: Replay, runtime: Runtime) -> None:
        """Record the statuses of the rules: compared with the letter before, and if the plan ended here.

        Only the monitors that have changed since the letter before, or read its actions, are examined.
        """
        before, now = self._previous_runtime, runtime.fork()
        self._previous_runtime = now
        if before is None:
            changed_monitors = list(range(len(now.monitors)))
            checks = [check for checks in now.checks.values() for check in checks]
            monitors = [*now.monitors, *checks]
            new_violations = remove_preferences(
                now, [b for monitor in monitors for b in find_violations_since(None, monitor)]
            )
        else:
            changed_monitors = find_changed_monitors(before, now)
            new_violations = find_new_violations(before, now)
        breaking_instances = {
            (instance.part, instance.binding) for instance in new_violations if not instance.undecided
        }
        for number in changed_monitors:
            monitor = now.monitors[number]
            if isinstance(monitor, InvariantMonitor) and not monitor.final:
                _replace_instances(self._broken, number, {(monitor.part, binding) for binding in monitor.episodes})
        letter_time = run.letter_time()
        for number in dict.fromkeys([*changed_monitors, *now.list_due_at_actions()]):
            violated_instances = {(v.part, v.binding) for v in now.monitors[number].violations}.union(
                self._broken.get(number, ())
            )
            at_end = {(v.part, v.binding) for v in now.find_violations_at_end(number, run.state, letter_time)}
            _replace_instances(self._at_risk, number, at_end - violated_instances)
        broken_instances = {instance for instances in self._broken.values() for instance in instances}
        instances_at_risk = {instance for instances in self._at_risk.values() for instance in instances}
        self._record_status(run.letter, BREAKS, self._group_by_rule(breaking_instances))
        self._record_status(run.letter, BROKEN, self._group_by_rule(broken_instances - breaking_instances))
        self._instances_at_risk = self._group_by_rule(instances_at_risk)
        self._record_status(run.letter, AT_RISK, self._instances_at_risk)
        triggered_rules = [] if before is None else self._find_triggered_rules(before, now, changed_monitors)
        self._record_status(run.letter, WATCHES, {rule: [] for rule in triggered_rules})

    def _find_triggered_rules(self, before: Runtime, now: Runtime, changed_monitors: Iterable[int]) -> list[int]:
        """Return the rules that a change or a matching step concerns, in order."""
        triggered_rules = {
            self._parts[now.monitors[number].part].rule
            for number in changed_monitors
            if count_candidates(now.monitors[number]) != count_candidates(before.monitors[number])
        }
        if now.match_counts != before.match_counts:
            counts = zip(before.match_counts, now.match_counts, strict=True)
            triggered_rules.update([rule for rule, (old, new) in enumerate(counts) if old != new])
        return sorted(triggered_rules)

    def _group_by_rule(self, instances: Iterable[Instance]) -> dict[int, list[Instance]]:
        """Return the instances of each rule that is not a preference, sorted."""
        instances_by_rule: dict[int, list[Instance]] = {}
        for part, binding in sorted(instances):
            if part not in self._preference_parts:
                instances_by_rule.setdefault(self._parts[part].rule, []).append((part, binding))
        return instances_by_rule

    def _record_status(self, letter: int, status: str, instances_by_rule: dict[int, list[Instance]]) -> None:
        """Add a status of rules at a letter, or extend the span that ended at the letter before."""
        for rule, instances in instances_by_rule.items():
            bindings = tuple(dict.fromkeys([self._show_binding(i) for i in instances[:MAX_NAMED_INSTANCES]]))
            spans = self.spans.setdefault(rule, [])
            span = RuleStatusSpan(letter, letter, status, bindings, len(instances))
            position = self._last_spans.get((rule, status))
            if position is not None and status in _LASTING_STATUSES:
                last_span = spans[position]
                if last_span == span._replace(first=last_span.first, last=letter - 1):
                    spans[position] = last_span._replace(last=letter)
                    continue
            self._last_spans[rule, status] = len(spans)
            spans.append(span)
            self._recorded_count += 1 + len(bindings)

    def _show_binding(self, instance: Instance) -> Binding:
        """Return the names of an instance's objects; they are found once, because its status may last."""
        binding = self._bindings.get(instance)
        if binding is None:
            part, objects = instance
            binding = self._bindings[instance] = self._parts[part].show_binding(self.task.names(objects))
        return binding


def _replace_instances(instances_by_monitor: dict[int, set[Instance]], number: int, instances: set[Instance]) -> None:
    """Replace the instances of a monitor; remove its entry if there are none."""
    if instances:
        instances_by_monitor[number] = instances
    else:
        instances_by_monitor.pop(number, None)


class _RecordedTimedReplay(TimedReplay):
    """Replays a timed plan and records each letter."""

    def __init__(
        self, recorder: TimelineRecorder, resolved: ResolvedPlan, compiled: CompiledTask, deadline: float | None
    ) -> None:
        assert resolved.timed is not None
        super().__init__(compiled.engine, FORCE, resolved.timed, compiled.find_tolerance(resolved), deadline)
        self._recorder = recorder
        self.trace = []
        self.times: dict[int, Number] = {}
        """By position of a failure in ``failures``, its time."""

    def run_happening(self, time: Number, events: list[Event]) -> bool:
        """Execute one happening and record the time of its failures."""
        failure_count = len(self.failures)
        continues = super().run_happening(time, events)
        self.times.update(dict.fromkeys(range(failure_count, len(self.failures)), time))
        return continues

    def _enter_state(self, number: int) -> None:
        super()._enter_state(number)
        self._record()

    def _record(self) -> None:
        """Record the present letter."""
        assert self.events is not None
        self._recorder.record_letter(self, self.events.get(self.letter, ()))


class _RecordedContinuousReplay(_RecordedTimedReplay, ContinuousReplay):
    """Replays a plan in continuous time and records each letter, and the courses of the numbers."""

    def _follow(self, flow: Flow, until: Number) -> bool:
        self._recorder.courses.set_courses(flow.courses, self.moment)
        return super()._follow(flow, until)

    def _enter_letter(self, delta: Delta, moment: Number, event: str = "", *, is_interval: bool = False) -> bool:
        """Enter a letter that no step leads to, and record the time of its failures."""
        failure_count = len(self.failures)
        continues = super()._enter_letter(delta, moment, event, is_interval=is_interval)
        self.times.update(dict.fromkeys(range(failure_count, len(self.failures)), self.time))
        return continues

    def _record(self) -> None:
        """Record the present letter."""
        cause = self.causes.get(self.letter)
        assert self.events is not None
        self._recorder.courses.record(self, cause)
        self._recorder.record_letter(self, self.events.get(self.letter, ()), cause)
